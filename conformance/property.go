package conformance

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/workspacekit/workspacekit/conformance/internal/compare"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"pgregory.net/rapid"
)

// propertyCases are the cases that draw their input at random. They find
// combinations that nobody thought of. rapid makes a failing input smaller and
// prints the seed that repeats it.
var propertyCases = []testCase{
	{"random-operations", "W1 W2 W3 R1 L1 L2 G1 G2 T1 X1 X2 X3 X4 X7 M1 M2 M3 M4 M5 M6 MV1 MV2 MV3 MV4 E3 E4 E5", needWrite, randomOperations},
	{"random-contents", "W1 R1 OP1", needWrite, randomContents},
	{"random-pages", "L6 L7 G6 G7", needWrite, randomPages},
	{"random-lines", "S1 S4 S10 S18 S22 S23", needWrite, randomLines},
}

// randomLines compares Grep with package regexp on one line after the other.
// The letters are few, so that patterns match often, with ends of lines of
// every kind between them.
func randomLines(e *env) {
	patterns := rapid.SampledFrom([]string{
		"a", "ab", "^a", "b$", "a.b", "a*b", "(a|b)+$", "[^a]", "^$", "", `\s`, "a{2}", "(?i)A", `\bab\b`, "é", "^.$", "a?b?$",
	})
	rapid.Check(e, func(t *rapid.T) {
		content := rapid.StringMatching(`[abAé \n\r]{0,40}`).Draw(t, "content")
		pattern := patterns.Draw(t, "pattern")
		opts := &workspace.GrepOptions{
			Path: "file", Before: rapid.IntRange(0, 2).Draw(t, "before"), After: rapid.IntRange(0, 2).Draw(t, "after"),
			FirstOnly: rapid.IntRange(0, 3).Draw(t, "first") == 3, Count: rapid.IntRange(0, 3).Draw(t, "count") == 3,
		}
		e.write("file", content)
		want := grepModel(content, regexp.MustCompile(pattern), opts)
		got := e.grep(pattern, opts).Matches
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("Grep(%q, %+v) of %q (-want +got):\n%s", pattern, *opts, content, diff)
		}
	})
}

// operation is one step of a random sequence. Its content, if it writes, is the
// number of the step.
type operation struct {
	Verb        string
	Name        string
	Destination string // of a move
}

// String returns the operation as a call, for failures.
func (o operation) String() string {
	if o.Verb == ops.Move {
		return fmt.Sprintf("%s %q %q", o.Verb, o.Name, o.Destination)
	}
	return fmt.Sprintf("%s %q", o.Verb, o.Name)
}

// The verbs of operations with Recursive. All other verbs are constants of
// package ops.
const (
	rmAll    = "rm -r"
	mkdirAll = "mkdir -p"
)

// anyName is a name from so few elements that operations meet each other. "a-b"
// and "ab" begin with "a", and sort on both sides of "a/".
func anyName() *rapid.Generator[string] {
	element := rapid.SampledFrom([]string{"a", "b", "a-b", "ab"})
	return rapid.Custom(func(t *rapid.T) string {
		name := element.Draw(t, "element")
		for range rapid.IntRange(0, 2).Draw(t, "deeper") {
			name += "/" + element.Draw(t, "element")
		}
		return name
	})
}

// anyOperation draws operations with the given verbs. A verb that is in verbs
// twice is drawn more often.
func anyOperation(verbs []string) *rapid.Generator[operation] {
	return rapid.Custom(func(t *rapid.T) operation {
		o := operation{Verb: rapid.SampledFrom(verbs).Draw(t, "verb"), Name: anyName().Draw(t, "name")}
		if o.Verb == ops.Move {
			o.Destination = anyName().Draw(t, "destination")
		}
		return o
	})
}

// randomOperations runs each sequence in a directory of its own and compares
// every step, and what is left at the end, with the model. A case has one file
// system, so what a sequence leaves behind is removed before the next.
func randomOperations(e *env) {
	verbs := []string{
		ops.WriteFile, ops.WriteFile, ops.ReadFile, ops.Stat, ops.Ls,
		ops.Glob, ops.Mkdir, mkdirAll, ops.Rm, rmAll,
	}
	if e.caps.Move {
		verbs = append(verbs, ops.Move, ops.Move)
	}
	sequences := rapid.SliceOfN(anyOperation(verbs), 1, 20)
	run := 0
	rapid.Check(e, func(t *rapid.T) {
		run++
		base := fmt.Sprintf("run%d", run)
		e.mkdir(base, nil)
		defer e.rm(base, &workspace.RmOptions{Recursive: true})
		m := model{}
		for step, o := range sequences.Draw(t, "operations") {
			e.step(t, base, m, o, step)
		}
		e.compare(t, base, m)
	})
}

// step does o in base and in m, and compares how they end. An operation that
// fails must be one of the model's errors; which of several is up to the file
// system.
func (e *env) step(t *rapid.T, base string, m model, o operation, step int) {
	content := fmt.Sprintf("step %d", step)
	want := m.do(o, content)
	got, err := e.do(base, o, content)
	if err == nil && len(want.errs) > 0 || err != nil && !isAny(err, want.errs) {
		t.Fatalf("step %d, %v = %v, want %v", step, o, err, want.errs)
	}
	if err == nil && !slices.Equal(got, want.found) {
		t.Fatalf("step %d, %v = %q, want %q", step, o, got, want.found)
	}
}

// isAny reports whether err is one of the kinds.
func isAny(err error, kinds []error) bool {
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

// do runs o below base. What it finds is shown without base.
func (e *env) do(base string, o operation, content string) (found []string, err error) {
	name := base + "/" + o.Name
	switch o.Verb {
	case ops.WriteFile:
		_, err = e.fsys.WriteFile(e.ctx, name, []byte(content), nil)
	case ops.ReadFile:
		data, err := e.fsys.ReadFile(e.ctx, name)
		return []string{string(data)}, err
	case ops.Stat:
		info, err := e.fsys.Stat(e.ctx, name)
		return []string{fmt.Sprint(info.Type, info.Size)}, err
	case ops.Ls:
		infos, err := e.fsys.Ls(e.ctx, name, nil)
		for _, info := range infos {
			found = append(found, info.Name)
		}
		return found, err
	case ops.Glob:
		matches, err := e.fsys.Glob(e.ctx, "**/"+o.Name, &workspace.GlobOptions{Dir: base})
		for _, match := range matches {
			found = append(found, match[len(base)+1:])
		}
		return found, err
	case ops.Mkdir, mkdirAll:
		err = e.fsys.Mkdir(e.ctx, name, &workspace.MkdirOptions{Recursive: o.Verb == mkdirAll})
	case ops.Rm, rmAll:
		err = e.fsys.Rm(e.ctx, name, &workspace.RmOptions{Recursive: o.Verb == rmAll})
	case ops.Move:
		err = workspace.Move(e.ctx, e.fsys, name, base+"/"+o.Destination)
	}
	return nil, err
}

// compare compares the tree below base with the model.
func (e *env) compare(t *rapid.T, base string, m model) {
	got := make(files)
	e.collect(base, got)
	want := make(files)
	for name, content := range m {
		want[base+"/"+name] = content
	}
	if diff := want.diff(got); diff != "" {
		t.Fatalf("the operations left another tree than they should:%s", diff)
	}
}

// randomContents tests that any bytes can be written and read back.
func randomContents(e *env) {
	rapid.Check(e, func(t *rapid.T) {
		content := string(rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "content"))
		window := workspace.OpenOptions{
			Offset: int64(rapid.IntRange(0, 2100).Draw(t, "offset")), Length: int64(rapid.IntRange(0, 2100).Draw(t, "length")),
		}
		e.write("file", content)
		if got := e.read("file"); got != content {
			t.Fatalf("ReadFile = %s, want %s", compare.Brief(got), compare.Brief(content))
		}
		if got, _ := e.open("file", &window); got != string(ops.Window([]byte(content), window.Offset, window.Length)) {
			t.Fatalf("Open(%+v) = %s, want that window of %s", window, compare.Brief(got), compare.Brief(content))
		}
	})
}

// randomPages tests that pages of Ls and Glob add up to the whole, for trees
// and sizes drawn at random. "-", "." and "!" sort before a slash, and "0"
// after it, so the order of paths is not the order of their directories.
func randomPages(e *env) {
	run := 0
	rapid.Check(e, func(t *rapid.T) {
		run++
		base := fmt.Sprintf("run%d", run)
		element := rapid.StringMatching(`[a-c.\-0!]{1,3}`).Filter(func(s string) bool { return s != "." && s != ".." })
		names := rapid.SliceOfNDistinct(element, 1, 8, rapid.ID).Draw(t, "names")
		var below []string
		for _, name := range names {
			e.write(base+"/"+name+"/x", "")
			below = append(below, base+"/"+name+"/x")
		}
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		if got, want := e.paged(base, limit), sorted(names); !slices.Equal(got, want) {
			t.Fatalf("Ls in pages of %d = %q, want %q", limit, got, want)
		}
		if got, want := e.globPaged(base+"/**", limit), sorted(below); !slices.Equal(got, want) {
			t.Fatalf("Glob in pages of %d = %q, want %q", limit, got, want)
		}
	})
}

// grepModel is Grep of the file content, as the contract words it. It splits
// the lines and asks package regexp about each, and knows no option that the
// case does not draw.
func grepModel(content string, pattern *regexp.Regexp, opts *workspace.GrepOptions) []workspace.Match {
	if content == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	var matches []workspace.Match
	for i, line := range lines {
		if pattern.MatchString(strings.TrimSuffix(line, "\r")) {
			matches = append(matches, workspace.Match{
				Path: opts.Path, LineNumber: i + 1, Line: line,
				Before: lines[max(0, i-opts.Before):i],
				After:  lines[i+1 : min(len(lines), i+1+opts.After)],
			})
		}
	}
	if len(matches) > 0 && opts.Count {
		matches[0].Count = len(matches)
	}
	if len(matches) > 0 && (opts.FirstOnly || opts.Count) {
		matches = matches[:1]
	}
	return matches
}
