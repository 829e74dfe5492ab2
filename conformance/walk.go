package conformance

import (
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// walkCases are the cases for Walk. Backups, polled watches and searches are
// walks, and a name that a walk leaves out is missing in all of them.
var walkCases = []testCase{
	{"order", "WK1", needFiles, walkOrder},
	{"describes", "WK2", needFiles, walkDescribes},
	{"below-dir", "WK1", needFiles, walkBelowDir},
	{"empty-directory", "WK1", needFiles, walkEmpty},
	{"after", "WK3", needFiles, walkAfter},
	{"skip-dir", "WK4", needFiles, walkSkipDir},
	{"skip-dir-of-file", "WK4", needFiles, walkSkipDirOfFile},
	{"skip-all", "WK4", needFiles, walkSkipAll},
	{"error-of-function", "WK4", needFiles, walkError},
	{"uncomparable-error", "WK4", needFiles, walkUncomparable},
	{"file", "WK5 E1 E2", needFiles, walkFile},
	{"eleven-hundred", "WK1 WK3", needFiles | needTime, walkEleven},
	{"one-call-at-a-time", "WK6", needFiles, walkOneCall},
	{"call-in-function", "WK6", needFiles, walkCallInFunction},
	{"types-only", "WK7", needFiles, walkTypesOnly},
}

// walked returns the paths that a walk reports. result is called with each,
// after it has been added, and decides how the walk goes on; it may be nil. An
// error of the walk ends the case.
func (e *env) walked(dir, after string, result func(path string) error) []string {
	e.Helper()
	found := []string{}
	err := workspace.Walk(e.ctx, e.fsys, dir, &workspace.WalkOptions{After: after}, func(info workspace.FileInfo, err error) error {
		found = append(found, info.Path)
		if err != nil || result == nil {
			return err
		}
		return result(info.Path)
	})
	if err != nil {
		e.Fatalf("Walk(%q, After: %q) = %v, want nil", dir, after, err)
	}
	return found
}

// givenOrdered prepares names whose order is easy to get wrong, and returns
// them in order.
func (e *env) givenOrdered() []string {
	e.Helper()
	tree := make(files)
	var want []string
	for _, name := range orderedNames() {
		tree[name+"/in/deep"] = ""
		tree[name+"/in-deep"] = ""
		tree[name+".f"] = ""
		want = append(want, name, name+".f", name+"/in", name+"/in-deep", name+"/in/deep")
	}
	e.given(tree)
	slices.Sort(want)
	return want
}

// walkOrder tests that paths come in bytewise order, which is not the order of
// names in each directory. The children of "a" come after "a-b" and "a.f",
// because "/" is greater than "-" and ".". A recursion that lists a directory
// where it meets it is out of order, and After then leaves out what has not
// been reported.
func walkOrder(e *env) {
	want := e.givenOrdered()
	e.equal(e.walked(".", "", nil), want, "Walk(%q)", ".")
}

// walkDescribes tests that Walk and Stat describe a name in the same way. A
// walk from one listing of a whole bucket has other fields than a Stat of one
// object. ModTime of a directory means nothing, and is not compared.
func walkDescribes(e *env) {
	e.given(files{"dir/file": "12345", "dir/empty": "", "dir/sub/": ""})
	err := workspace.Walk(e.ctx, e.fsys, ".", nil, func(info workspace.FileInfo, err error) error {
		want := e.stat(info.Path)
		if info.IsDir() {
			info.ModTime = want.ModTime
		}
		if diff := cmp.Diff(want, info); diff != "" {
			e.Errorf("Walk(%q) describes %q otherwise than Stat (-Stat +Walk):\n%s", ".", info.Path, diff)
		}
		return err
	})
	if err != nil {
		e.Errorf("Walk(%q) = %v, want nil", ".", err)
	}
}

// walkTypesOnly tests that a walk for the types alone reports what any walk
// does. A program that needs no sizes may be given less, but not fewer names,
// and the same errors.
func walkTypesOnly(e *env) {
	all := e.givenOrdered()
	for _, opts := range []workspace.WalkOptions{{}, {After: "a"}, {After: all[len(all)/2]}} {
		var want, got []workspace.FileInfo
		for _, list := range []*[]workspace.FileInfo{&want, &got} {
			err := workspace.Walk(e.ctx, e.fsys, ".", &opts, func(info workspace.FileInfo, err error) error {
				*list = append(*list, workspace.FileInfo{Name: info.Name, Path: info.Path, Type: info.Type})
				return err
			})
			if err != nil {
				e.Fatalf("Walk(%q, %+v) = %v, want nil", ".", opts, err)
			}
			opts.TypesOnly = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			e.Errorf("Walk(%q, %+v) finds something else than without TypesOnly (-without +with):\n%s", ".", opts, diff)
		}
	}
	for name, kind := range map[string]error{orderedNames()[0] + ".f": workspace.ErrNotDir, "missing": fs.ErrNotExist} {
		err := workspace.Walk(e.ctx, e.fsys, name, &workspace.WalkOptions{TypesOnly: true}, func(workspace.FileInfo, error) error { return nil })
		e.refused(err, kind, at(ops.Walk, name), "Walk(%q, TypesOnly)", name)
	}
}

// walkBelowDir tests that a walk of a directory reports what is below it, and
// no other name with the same beginning.
func walkBelowDir(e *env) {
	e.given(files{"a/x": "", "a/sub/y": "", "a-b/z": "", "ab": ""})
	e.equal(e.walked("a", "", nil), []string{"a/sub", "a/sub/y", "a/x"}, "Walk(%q)", "a")
	e.equal(e.walked("a/sub", "", nil), []string{"a/sub/y"}, "Walk(%q)", "a/sub")
}

// walkEmpty tests that an empty directory has nothing to report.
func walkEmpty(e *env) {
	e.given(files{"dir/empty/": ""})
	e.equal(e.walked("dir/empty", "", nil), []string{}, "Walk(%q)", "dir/empty")
	e.equal(e.walked("dir", "", nil), []string{"dir/empty"}, "Walk(%q)", "dir")
}

// walkAfter tests that a walk continues after any path. Paths that do not
// exist, and those that are in the middle of a directory, have their place. A
// directory that is not greater than After is not reported, and what is below
// it and greater is.
func walkAfter(e *env) {
	all := e.givenOrdered()
	for _, after := range append([]string{".", "0", "a/", "a/i", "a/in/", "a/in/zzz", "a0", "zzz", "\U0010ffff", "a-" + strings.Repeat("z/", 4000)}, all...) {
		i, found := slices.BinarySearch(all, after)
		if found {
			i++
		}
		e.equal(e.walked(".", after, nil), append([]string{}, all[i:]...), "Walk(%q, After: %q)", ".", after)
	}
	e.equal(e.walked("a", "a/in", nil), []string{"a/in-deep", "a/in/deep"}, "Walk(%q, After: %q)", "a", "a/in")
}

// walkSkipDir tests that SkipDir leaves out a directory's children and nothing
// else. A walk of a whole listing must pass over what it already has. "a-b"
// comes between "a" and what is below it, and must not be left out.
func walkSkipDir(e *env) {
	e.given(files{"a/x": "", "a-b": "", "b/c/x": "", "b/d": "", "c/x": ""})
	got := e.walked(".", "", func(path string) error {
		if path == "a" || path == "b/c" {
			return fs.SkipDir
		}
		return nil
	})
	e.equal(got, []string{"a", "a-b", "b", "b/c", "b/d", "c", "c/x"}, "Walk(%q) with SkipDir for a and b/c", ".")
}

// walkSkipDirOfFile must not do as fs.WalkDir, which skips the rest of the
// directory: SkipDir of a file is an error like any other.
func walkSkipDirOfFile(e *env) {
	e.given(files{"a": "", "b": ""})
	calls := 0
	err := workspace.Walk(e.ctx, e.fsys, ".", nil, func(workspace.FileInfo, error) error {
		calls++
		return fs.SkipDir
	})
	if !errors.Is(err, fs.SkipDir) || calls != 1 {
		e.Errorf("Walk(%q) with SkipDir for a file = %v after %d calls, want %q after 1", ".", err, calls, fs.SkipDir)
	}
}

// walkSkipAll tests that SkipAll ends a walk without an error. Nothing is
// reported after it, so a program that has found what it looks for stops
// paying.
func walkSkipAll(e *env) {
	e.given(files{"a/x": "", "a/y": "", "b": ""})
	for _, last := range []string{"a", "a/x"} {
		got := e.walked(".", "", func(path string) error {
			if path == last {
				return fs.SkipAll
			}
			return nil
		})
		if got[len(got)-1] != last {
			e.Errorf("Walk(%q) with SkipAll for %q reports %q", ".", last, got)
		}
	}
}

// walkError tests that an error of the function ends the walk and is returned.
// A walk that swallows it returns a part of a tree as the whole.
func walkError(e *env) {
	e.given(files{"a/x": "", "b": ""})
	want := errors.New("enough")
	for _, last := range []string{"a", "b", "a/x"} {
		err := workspace.Walk(e.ctx, e.fsys, ".", nil, func(info workspace.FileInfo, err error) error {
			if info.Path == last {
				return want
			}
			return err
		})
		if !errors.Is(err, want) {
			e.Errorf("Walk(%q), whose function fails for %q = %v, want %v", ".", last, err, want)
		}
	}
}

// problems is an error that panics when it is compared with another, as
// scanner.ErrorList does.
type problems []string

// Error implements error.
func (p problems) Error() string { return strings.Join(p, ", ") }

// walkUncomparable tests that the function may return an error of any type. A walk that
// compares errors to find the function's own does not find this one, or panics.
func walkUncomparable(e *env) {
	e.given(files{"a/x": "", "b": ""})
	want := problems{"line 1", "line 2"}
	for _, last := range []string{"a", "b", "a/x"} {
		for _, opts := range []*workspace.WalkOptions{nil, {TypesOnly: true}} {
			err := workspace.Walk(e.ctx, e.fsys, ".", opts, func(info workspace.FileInfo, err error) error {
				if info.Path == last {
					return want
				}
				return err
			})
			if got, ok := errors.AsType[problems](err); !ok || !slices.Equal(got, want) {
				e.Errorf("Walk(%q, %+v), whose function fails for %q = %v, want %v", ".", opts, last, err, want)
			}
		}
	}
}

// walkFile tests that a file cannot be walked.
func walkFile(e *env) {
	e.given(files{"file": "x", "dir/file": "x"})
	for _, dir := range []string{"file", "dir/file"} {
		err := callWalk(e.ctx, e.fsys, dir)
		e.refused(err, workspace.ErrNotDir, at(ops.Walk, dir), "Walk(%q)", dir)
	}
}

// walkEleven tests a directory with more names than a store lists at once. The
// second walk begins in the middle of the second page.
func walkEleven(e *env) {
	var want []string
	for _, name := range e.many("dir", 1100) {
		want = append(want, "dir/"+name)
	}
	e.equal(e.walked("dir", "", nil), want, "Walk(%q)", "dir")
	e.equal(e.walked(".", want[1049], nil), want[1050:], "Walk(%q, After: %q)", ".", want[1049])
}

// walkOneCall gives other calls the time to begin. Callers collect into a slice
// without a lock. A provider that lists directories side by side must make one
// call after the other.
func walkOneCall(e *env) {
	e.givenOrdered()
	var calls atomic.Int64
	err := workspace.Walk(e.ctx, e.fsys, ".", nil, func(info workspace.FileInfo, err error) error {
		if calls.Add(1) > 1 {
			e.Errorf("Walk(%q) calls its function for %q during another call, want one call at a time", ".", info.Path)
		}
		for range 20 {
			runtime.Gosched()
		}
		calls.Add(-1)
		return err
	})
	if err != nil {
		e.Errorf("Walk(%q) = %v, want nil", ".", err)
	}
}

// walkCallInFunction makes other calls on the way: a walk holds no lock. A
// program that changes files on its way would wait for ever for a walk that
// holds one. Whether the walk reports the new files is not tested; what it creates for
// one of them would have no end.
func walkCallInFunction(e *env) {
	e.given(files{"a/x": "", "b": ""})
	e.walked(".", "", func(path string) error {
		e.stat(path)
		if e.caps.Write && !strings.HasPrefix(path, "written") {
			e.write("written/"+path+".new", "x")
		}
		return nil
	})
}
