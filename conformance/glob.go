package conformance

import (
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// globCases returns the cases for Glob. A provider may match with a shell, with
// a program or with a library of its own. A model that has learned one dialect
// must find the same files in each.
func globCases() []testCase {
	cases := []testCase{
		{"order", "G2", needFiles, globOrder},
		{"dir", "G5", needFiles, globDir},
		{"limit", "G6", needFiles, globLimit},
		{"after", "G7", needFiles, globAfter},
		{"pages", "G6 G7", needFiles, globPages},
		{"limit-of-directories", "G3 G6 G7", needFiles, globDirectoryPages},
		{"empty-file-system", "G8", 0, globEmpty},
		{"malformed", "G9 E1 E2", needFiles, globMalformed},
		{"odd-element", "G9 E1 E2", needFiles, globOddElement},
		{"absolute", "G9 E1 E2", needFiles | needRefusal, globAbsolute},
		{"brace-bomb", "G10 E1 E2", needFiles, globBraceBomb},
		{"escape", "G11 E1 E2", needFiles, globEscape},
		{"dir-is-file", "G12 E1 E2", needFiles, globDirIsFile},
		{"negative-limit", "O2 E1 E2", needFiles, globNegativeLimit},
		{"result-is-the-callers", "B1", needFiles, globResultIsTheCallers},
	}
	for _, theme := range globThemes() {
		cases = append(cases, testCase{theme.name, theme.clauses, needFiles, theme.run})
	}
	return cases
}

// glob runs a Glob, and ends the case if that fails. An empty list must not be
// nil.
func (e *env) glob(pattern string, opts *workspace.GlobOptions) []string {
	e.Helper()
	matches, err := e.fsys.Glob(e.ctx, pattern, opts)
	if err != nil {
		e.Fatalf("Glob(%q, %+v) = %v, want nil", pattern, opts, err)
	}
	if matches == nil {
		e.Errorf("Glob(%q, %+v) = nil, want an empty list", pattern, opts)
	}
	return matches
}

// run compares the result of every pattern of the theme.
func (theme globTheme) run(e *env) {
	e.given(globTree())
	for _, c := range theme.patterns {
		want := strings.Fields(c.want)
		e.equal(e.glob(c.pattern, nil), want, "Glob(%q)", c.pattern)
	}
}

// globOrder tests that paths are sorted bytewise, so that "a-b" comes before
// "a/b". A walk lists "a/b" right after "a". Pages depend on the order: with
// another one, After leaves out paths that no page has had.
func globOrder(e *env) {
	tree := make(files)
	var want []string
	for _, name := range orderedNames() {
		tree[name+"/in"] = ""
		tree[name+"/sub/in"] = ""
		tree[name+".f"] = ""
		want = append(want, name+"/in", name+"/sub/in", name+".f")
	}
	e.given(tree)
	slices.Sort(want)
	e.equal(e.glob("**", nil), want, "Glob(%q)", "**")
	e.equal(e.glob("{a*,b*,**}", nil), want, "Glob(%q)", "{a*,b*,**}")
}

// globDir tests that patterns start at Dir and results at the root. A result
// can be given to the next call as it is. "**" also stands for no element, so a
// file that is spelled out in front of it matches.
func globDir(e *env) {
	e.given(globTree())
	for _, c := range []struct{ dir, pattern, want string }{
		{"", "*.md", "README.md"},
		{".", "*.md", "README.md"},
		{"a", "*", "a/b.go a/x.txt"},
		{"a", "**/*.go", "a/b.go a/deep/c.go a/deep/d_test.go a/deep/er/e.go"},
		{"a", "*/", "a/deep"},
		{"a", "**/", "a/deep a/deep/er"},
		{"a", "a/*", ""},
		{"a", "b.go/**", "a/b.go"},
		{"a", "b.go/**/", ""},
		{"a", "none/**/", ""},
		{"a", "deep/er/**/", "a/deep/er"},
		{"a/deep", "er/*", "a/deep/er/e.go"},
		{"a-b", "**", "a-b/x.txt"},
		{"empty", "**", ""},
		{"empty", "**/", "empty/inner"},
	} {
		got := e.glob(c.pattern, &workspace.GlobOptions{Dir: c.dir})
		e.equal(got, strings.Fields(c.want), "Glob(%q, Dir: %q)", c.pattern, c.dir)
	}
}

// globLimit tests that a limit keeps the first paths. It finds a search that
// stops at the first paths that it meets, which are others each time, and one that
// computes with the limit, which can be the greatest number.
func globLimit(e *env) {
	e.given(globTree())
	all := e.glob("**", nil)
	for _, limit := range []int{1, 2, 3, len(all) - 1, len(all), len(all) + 1, math.MaxInt} {
		got := e.glob("**", &workspace.GlobOptions{Limit: limit})
		e.equal(got, all[:min(limit, len(all))], "Glob(%q, Limit: %d)", "**", limit)
	}
}

// globAfter tests that a Glob continues after a path, whether or not that path
// exists. The last file of a page may have been removed before the next page,
// and a cursor that a model makes up can be anything.
func globAfter(e *env) {
	e.given(globTree())
	all := e.glob("**", nil)
	for _, after := range append([]string{"0", "a/deep", "a/deep/c", "a0", "zzz", "a/", "\x00"}, all...) {
		i, found := slices.BinarySearch(all, after)
		if found {
			i++
		}
		got := e.glob("**", &workspace.GlobOptions{After: after})
		e.equal(got, append([]string{}, all[i:]...), "Glob(%q, After: %q)", "**", after)
	}
}

// globPages tests that pages of any size add up to the whole.
func globPages(e *env) {
	e.given(globTree())
	for _, pattern := range []string{"**", "**/*.go", "{a*/**,c*/**}"} {
		all := e.glob(pattern, nil)
		for limit := 1; limit <= 3; limit++ {
			e.equal(e.globPaged(pattern, limit), all, "Glob(%q) in pages of %d", pattern, limit)
		}
	}
}

// globDirectoryPages is globPages for a pattern that returns directories. A
// directory that is known only by what is in it must not come back on each page
// that has a part of it.
func globDirectoryPages(e *env) {
	e.given(globTree())
	all := strings.Fields(globDirectories()[1].want)
	for limit := 1; limit <= 3; limit++ {
		e.equal(e.globPaged("**/", limit), all, "Glob(%q) in pages of %d", "**/", limit)
	}
}

// globPaged ends, as paged does, at the first page that is not full, or brings
// nothing new.
func (e *env) globPaged(pattern string, limit int) []string {
	e.Helper()
	all := []string{}
	opts := &workspace.GlobOptions{Limit: limit}
	for {
		page := e.glob(pattern, opts)
		if len(page) > limit {
			e.Fatalf("Glob(%q, %+v) = %d paths, want at most %d", pattern, *opts, len(page), limit)
		}
		if len(page) < limit || page[0] <= opts.After {
			return append(all, page...)
		}
		all = append(all, page...)
		opts.After = page[len(page)-1]
	}
}

// globEmpty tests that no match is an empty list. In JSON nil is null, which a
// client that expects a list may not read.
func globEmpty(e *env) {
	for _, pattern := range []string{"*", "**", "**/", "*/", "none", "{a,b}/**/c"} {
		e.equal(e.glob(pattern, nil), []string{}, "Glob(%q)", pattern)
	}
}

// globMalformed tests patterns that doublestar refuses. In some of them no name
// is ever compared with the malformed element. A matcher that goes element by
// element then returns nothing, and a model believes that there is no such
// file.
func globMalformed(e *env) {
	e.given(files{"a/file": "x"})
	for _, pattern := range []string{
		"[", "a[", "[a", "[a-", "[]", "[^]", "[]a]", "[z-a", "}", "a}", "{a", "{a,b", "a/{b", "{a,{b,c}", `a\`, `a/\`, "none/[", "**/[", "{a,[}", "a/**/{",
	} {
		_, err := e.fsys.Glob(e.ctx, pattern, nil)
		e.refused(err, workspace.ErrPattern, at(ops.Glob, pattern), "Glob(%q)", pattern)
	}
}

// globOddElement has elements that no name has. A "./" in front is cleaned by
// who cleans names. Without an error, a model that writes "./src//*.go" is told
// that there is no such file.
func globOddElement(e *env) {
	e.given(files{"file": "x", "a/b": "x", "a/dir/b": "x"})
	for _, pattern := range oddGlobs() {
		_, err := e.fsys.Glob(e.ctx, pattern, nil)
		e.refused(err, workspace.ErrPattern, at(ops.Glob, pattern), "Glob(%q)", pattern)
	}
	for _, pattern := range []string{"./", "./*", "./file", "././a/b", "./**/"} {
		if e.opts.CleanNames {
			break
		}
		_, err := e.fsys.Glob(e.ctx, pattern, nil)
		e.refused(err, workspace.ErrPattern, at(ops.Glob, pattern), "Glob(%q)", pattern)
	}
}

// oddGlobs have a "." or an empty element, in one of their alternatives at
// least.
func oddGlobs() []string {
	return []string{
		".", "a/.", "a/./", "a/./b", "**/.", "*/./*", "none/./b", `a/\./b`, "{a,.}/b", "a/{.,dir}/b", "{file,.}",
		"a//b", "a//", "*//", "a/**//b", "a/{dir/,}/b", "{a/,file}", "{file,}",
	}
}

// atPattern is the place of an error in an option: about the pattern,
// or what is searched.
func atPattern(op, pattern string) place { return at(op, pattern, "", ".") }

// globAbsolute tests that a pattern from the root of the host is refused. Nor
// is it a pattern from the root of the workspace: the model would believe that
// it sees the host's files, and "/etc/passwd" would be one of them.
func globAbsolute(e *env) {
	e.given(files{"x": "x", "etc/passwd": "x"})
	for _, pattern := range []string{"/x", "/", "/**", "/*", "//x", "/etc/passwd"} {
		_, err := e.fsys.Glob(e.ctx, pattern, nil)
		e.refused(err, workspace.ErrPattern, at(ops.Glob, pattern), "Glob(%q)", pattern)
	}
}

// bombs are patterns of a few hundred bytes that stand for billions. The first
// has 2^30 expansions, the last 4^20.
func bombs() []string {
	return []string{
		strings.Repeat("{a,b}", 30),
		strings.Repeat("{a,b}/", 30) + "x",
		strings.Repeat("{a,b,c,d,e,f,g,h}", 12) + "*",
		strings.Repeat("{{a,b},{c,d}}", 20),
	}
}

// globBraceBomb tests that alternatives that multiply are refused, and soon. A
// matcher that expands them first runs out of memory or time, for one call of a
// model.
func globBraceBomb(e *env) {
	e.given(files{"a/file": "x", strings.Repeat("a", 30): "x"})
	start := time.Now()
	for _, pattern := range bombs() {
		_, err := e.fsys.Glob(e.ctx, pattern, nil)
		e.refused(err, workspace.ErrPattern, at(ops.Glob, pattern), "Glob(%q)", pattern)
	}
	if took := time.Since(start); took > 10*time.Second {
		e.Errorf("Glob of patterns with too many alternatives took %v, want them refused at once", took)
	}
}

// globEscape tests that a pattern cannot climb out. A cleaned pattern would
// mean something else, and an empty result would not tell a model that it has
// looked outside.
func globEscape(e *env) {
	e.given(files{"a/file": "x"})
	for _, pattern := range []string{"..", "../x", "../*", "a/../file", "a/..", "**/../*", "*/..", "../"} {
		_, err := e.fsys.Glob(e.ctx, pattern, nil)
		e.refused(err, workspace.ErrEscape, at(ops.Glob, pattern), "Glob(%q)", pattern)
	}
}

// globDirIsFile tests the errors of a Dir that is a file or missing, for
// patterns of every form. A pattern that can be answered without a listing must
// not hide that. "No file" is what a model hears about a directory that it has
// misspelled.
func globDirIsFile(e *env) {
	e.given(files{"file": "x", "dir/file": "x"})
	for _, dir := range []string{"file", "dir/file"} {
		for _, pattern := range []string{"*", "**", "*/", "none"} {
			_, err := e.fsys.Glob(e.ctx, pattern, &workspace.GlobOptions{Dir: dir})
			e.refused(err, workspace.ErrNotDir, at(ops.Glob, dir), "Glob(%q, Dir: %q)", pattern, dir)
		}
	}
	for _, pattern := range []string{"*", "none", "a/b"} {
		_, err := e.fsys.Glob(e.ctx, pattern, &workspace.GlobOptions{Dir: "none"})
		e.refused(err, fs.ErrNotExist, at(ops.Glob, "none"), "Glob(%q, Dir: %q)", pattern, "none")
	}
}

// globNegativeLimit tests that a negative limit is refused. In many libraries
// -1 means all, which would bring a model that has miscounted a page of a
// million paths.
func globNegativeLimit(e *env) {
	e.given(files{"file": "x"})
	_, err := e.fsys.Glob(e.ctx, "*", &workspace.GlobOptions{Limit: -1})
	e.refused(err, fs.ErrInvalid, atPattern(ops.Glob, "*"), "Glob(%q, Limit: -1)", "*")
}

// globResultIsTheCallers tests that the caller may change the list. A cache
// that returns its own slice is changed by the first caller who sorts or
// shortens the list.
func globResultIsTheCallers(e *env) {
	e.given(files{"a": "", "b": ""})
	clear(e.glob("*", nil))
	e.equal(e.glob("*", nil), []string{"a", "b"}, "Glob(%q) after an earlier result was changed", "*")
}
