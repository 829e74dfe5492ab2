package conformance

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/workspacekit/workspacekit/conformance/internal/compare"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// grepCases returns the cases for Grep. Searches are what a model does most. A
// match that is missing is never noticed: the model concludes that a name is
// not used, and removes it.
func grepCases() []testCase {
	cases := []testCase{
		{"order", "S5 G2", needFiles, grepOrder},
		{"path-file", "S6 S7", needFiles, grepPathFile},
		{"path-directory", "S6", needFiles, grepPathDirectory},
		{"include-glob", "S8", needFiles, grepInclude},
		{"exclude-glob", "S9", needFiles, grepExclude},
		{"include-and-exclude", "S8 S9", needFiles, grepIncludeAndExclude},
		{"context", "S10", needFiles, grepContext},
		{"context-of-neighbours", "S10", needFiles, grepContextOfNeighbours},
		{"malformed-pattern", "S14 E1 E2", needFiles, grepMalformed},
		{"line-break-in-pattern", "S14 E1 E2", needFiles, grepLineBreak},
		{"malformed-glob", "S14 E1 E2", needFiles, grepMalformedGlob},
		{"brace-bomb", "S14 G10 E1 E2", needFiles, grepBraceBomb},
		{"negative-options", "O2 E1 E2", needFiles, grepNegative},
		{"no-match", "S1 S5", needFiles, grepNoMatch},
		{"empty-file-system", "S1", 0, grepNothing},
		{"gitignore", "S17", needFiles, grepGitignore},
		{"result-is-the-callers", "B1", needFiles, grepResultIsTheCallers},
	}
	for _, theme := range grepThemes() {
		cases = append(cases, testCase{theme.name, theme.clauses, needFiles, theme.run})
	}
	return cases
}

// grep runs a Grep, and ends the case if that fails.
func (e *env) grep(pattern string, opts *workspace.GrepOptions) *workspace.GrepResult {
	e.Helper()
	result, err := e.fsys.Grep(e.ctx, pattern, opts)
	if err != nil || result == nil {
		e.Fatalf("Grep(%q, %+v) = %v, %v, want nil", pattern, opts, result, err)
	}
	if result.Matches == nil {
		e.Errorf("Grep(%q, %+v) has nil for its matches, want an empty list", pattern, opts)
	}
	return result
}

// paths returns the path of each match once. The matches must be sorted.
func paths(matches []workspace.Match) []string {
	found := []string{}
	for _, m := range matches {
		if len(found) == 0 || found[len(found)-1] != m.Path {
			found = append(found, m.Path)
		}
	}
	return found
}

// positions shows matches as "path:line".
func positions(matches []workspace.Match) []string {
	found := []string{}
	for _, m := range matches {
		found = append(found, fmt.Sprintf("%s:%d", m.Path, m.LineNumber))
	}
	return found
}

// finds fails the case unless the matches are want. Everything in a Match is
// compared, a nil list of lines being the same as an empty one.
func (e *env) finds(pattern string, opts workspace.GrepOptions, want ...workspace.Match) {
	e.Helper()
	got := e.grep(pattern, &opts).Matches
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		e.Errorf("Grep(%q, %+v) (-want +got):\n%s", pattern, opts, diff)
	}
}

// run compares the result of every pattern of the theme. A match of several
// lines is shown as the first and the negative of the last, as in the corpus.
func (theme grepTheme) run(e *env) {
	e.given(files{"file": theme.content})
	for _, c := range theme.patterns {
		opts := c.opts
		opts.Path = "file"
		got := []int{}
		for _, m := range e.grep(c.pattern, &opts).Matches {
			got = append(got, m.LineNumber)
			if m.LastLine > 0 {
				got = append(got, -m.LastLine)
			}
		}
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
			e.Errorf("Grep(%q, %+v) of %s finds lines %v, want %v", c.pattern, opts, compare.Brief(theme.content), got, c.want)
		}
	}
}

// grepOrder tests that matches are sorted by path and then by line. Workers
// that search files side by side end in another order each time, so the search
// is repeated.
func grepOrder(e *env) {
	tree := make(files)
	var want []string
	for _, name := range orderedNames() {
		tree[name+"/in"] = "needle\n-\nneedle\n"
		tree[name+".f"] = "needle"
		want = append(want, name+"/in", name+".f")
	}
	e.given(tree)
	var lines []string
	for _, name := range sorted(want) {
		lines = append(lines, name+":1")
		if strings.HasSuffix(name, "/in") {
			lines = append(lines, name+":3")
		}
	}
	for range 3 {
		e.equal(positions(e.grep("needle", nil).Matches), lines, "Grep(%q)", "needle")
	}
}

// grepTree is a small tree for the options that choose files. Every file but
// one has the match, so that the globs alone decide.
func grepTree() files {
	return files{
		"a.go": "needle\n", "a.txt": "needle\n", "sub/a.go": "needle\n", "sub/b.txt": "needle\n",
		"sub/deep/a.go": "needle\n", "sub-x/a.go": "needle\n", ".hidden": "needle\n", "other": "hay\n", "empty/": "",
	}
}

// grepPathFile tests a search of one file. A model that names a file has
// decided already: a glob that an earlier call needed must not hide the
// matches.
func grepPathFile(e *env) {
	e.given(grepTree())
	for _, opts := range []workspace.GrepOptions{
		{Path: "sub/b.txt"},
		{Path: "sub/b.txt", IncludeGlob: "*.go"},
		{Path: "sub/b.txt", ExcludeGlob: "*.txt"},
		{Path: "sub/b.txt", ExcludeGlob: "/sub/**"},
	} {
		e.finds("needle", opts, workspace.Match{Path: "sub/b.txt", LineNumber: 1, Line: "needle"})
	}
	e.finds("needle", workspace.GrepOptions{Path: "other"})
}

// grepPathDirectory tests a search of a directory, with paths from the root. A
// search for keys with the prefix "sub" would also find those of "sub-x".
func grepPathDirectory(e *env) {
	e.given(grepTree())
	for dir, want := range map[string]string{
		"":         ".hidden a.go a.txt sub-x/a.go sub/a.go sub/b.txt sub/deep/a.go",
		".":        ".hidden a.go a.txt sub-x/a.go sub/a.go sub/b.txt sub/deep/a.go",
		"sub":      "sub/a.go sub/b.txt sub/deep/a.go",
		"sub/deep": "sub/deep/a.go",
		"empty":    "",
	} {
		result := e.grep("needle", &workspace.GrepOptions{Path: dir})
		e.equal(paths(result.Matches), strings.Fields(want), "Grep(%q, Path: %q)", "needle", dir)
	}
}

// filterCase is a glob for IncludeGlob or ExcludeGlob and what it matches below
// dir.
type filterCase struct{ dir, glob, want string }

// filterCases has globs on files, each with the files that it lets through.
// Globs without a slash are about names at any depth, and those with one begin
// at Path. A glob that matches a directory matches none of its files.
func filterCases() []filterCase {
	return []filterCase{
		{"", "*.go", "a.go sub-x/a.go sub/a.go sub/deep/a.go"},
		{"", "a.*", "a.go a.txt sub-x/a.go sub/a.go sub/deep/a.go"},
		{"", "*.{txt,md}", "a.txt sub/b.txt"},
		{"", "sub/*.go", "sub/a.go"},
		{"", "/sub/*.go", "sub/a.go"},
		{"", "/*.go", "a.go"},
		{"", "/a.*", "a.go a.txt"},
		{"", "**/*.go", "a.go sub-x/a.go sub/a.go sub/deep/a.go"},
		{"", "sub/**", "sub/a.go sub/b.txt sub/deep/a.go"},
		{"", "deep/*.go", ""},
		{"", "**/deep/*.go", "sub/deep/a.go"},
		{"", "sub", ""},
		{"", ".*", ".hidden"},
		{"", "[ab].txt", "a.txt sub/b.txt"},
		{"sub", "*.go", "sub/a.go sub/deep/a.go"},
		{"sub", "deep/*.go", "sub/deep/a.go"},
		{"sub", "sub/deep/*.go", ""},
		{"sub", "/a.go", "sub/a.go"},
		{"sub", "*/*.go", "sub/deep/a.go"},
		{"sub/deep", "*/*", ""},
		{"sub/deep", "/*", "sub/deep/a.go"},
	}
}

// grepInclude tests that IncludeGlob searches only the files that it matches.
func grepInclude(e *env) {
	e.given(grepTree())
	for _, c := range filterCases() {
		result := e.grep("needle", &workspace.GrepOptions{Path: c.dir, IncludeGlob: c.glob})
		e.equal(paths(result.Matches), strings.Fields(c.want), "Grep(%q, Path: %q, IncludeGlob: %q)", "needle", c.dir, c.glob)
	}
}

// grepExclude tests that ExcludeGlob leaves out the files that it matches. The
// files that are left are those that IncludeGlob with the same glob does not
// search, so the two options cannot differ in dialect.
func grepExclude(e *env) {
	e.given(grepTree())
	for _, c := range filterCases() {
		want := []string{}
		for _, name := range paths(e.grep("needle", &workspace.GrepOptions{Path: c.dir}).Matches) {
			if !strings.Contains(" "+c.want+" ", " "+name+" ") {
				want = append(want, name)
			}
		}
		result := e.grep("needle", &workspace.GrepOptions{Path: c.dir, ExcludeGlob: c.glob})
		e.equal(paths(result.Matches), want, "Grep(%q, Path: %q, ExcludeGlob: %q)", "needle", c.dir, c.glob)
	}
}

// grepIncludeAndExclude tests that a file must pass both globs.
func grepIncludeAndExclude(e *env) {
	e.given(grepTree())
	result := e.grep("needle", &workspace.GrepOptions{IncludeGlob: "*.go", ExcludeGlob: "sub/**"})
	e.equal(paths(result.Matches), []string{"a.go", "sub-x/a.go"}, "Grep(%q, IncludeGlob: %q, ExcludeGlob: %q)", "needle", "*.go", "sub/**")
}

// grepContext tests the lines around a match, up to the ends of a file and
// across other matches. GNU grep prints each line once, so a provider that
// reads its output must give a line to each of the matches around it. A model
// edits by what it sees there, and a wrong line makes a wrong edit.
func grepContext(e *env) {
	e.given(files{"file": "x1\n2\n3\nx4\n5\n6\nx7"})
	e.finds("x", workspace.GrepOptions{Before: 1, After: 2},
		workspace.Match{Path: "file", LineNumber: 1, Line: "x1", After: []string{"2", "3"}},
		workspace.Match{Path: "file", LineNumber: 4, Line: "x4", Before: []string{"3"}, After: []string{"5", "6"}},
		workspace.Match{Path: "file", LineNumber: 7, Line: "x7", Before: []string{"6"}})
	e.finds("4", workspace.GrepOptions{Before: 100, After: 100},
		workspace.Match{Path: "file", LineNumber: 4, Line: "x4", Before: []string{"x1", "2", "3"}, After: []string{"5", "6", "x7"}})
	e.finds("4", workspace.GrepOptions{Before: 2},
		workspace.Match{Path: "file", LineNumber: 4, Line: "x4", Before: []string{"2", "3"}})
	e.finds("4", workspace.GrepOptions{After: 2},
		workspace.Match{Path: "file", LineNumber: 4, Line: "x4", After: []string{"5", "6"}})
}

// grepContextOfNeighbours has matches in the context of others, an end of line
// at the end of the file, and a next file that is no context of the first.
func grepContextOfNeighbours(e *env) {
	e.given(files{"a": "x1\nx2\n\nx4\n", "b": "x1\n"})
	e.finds("x", workspace.GrepOptions{Before: 2, After: 1},
		workspace.Match{Path: "a", LineNumber: 1, Line: "x1", After: []string{"x2"}},
		workspace.Match{Path: "a", LineNumber: 2, Line: "x2", Before: []string{"x1"}, After: []string{""}},
		workspace.Match{Path: "a", LineNumber: 4, Line: "x4", Before: []string{"x2", ""}},
		workspace.Match{Path: "b", LineNumber: 1, Line: "x1"})
}

// grepMalformed tests patterns that are not RE2. Lookaround and backreferences
// are syntax elsewhere: a provider that passes the pattern to "grep -P" would
// find matches that no other provider finds. The limit of 1,000 repetitions is
// RE2's.
func grepMalformed(e *env) {
	e.given(files{"file": "x"})
	for _, pattern := range []string{"(", ")", "[", "a**", "*a", "?", `\`, "a{2,1}", `\8`, "(?=x)", "(?<!x)", `(a)\1`, "(?P<n", "a{1001}", "\xff"} {
		_, err := e.fsys.Grep(e.ctx, pattern, nil)
		e.refused(err, workspace.ErrPattern, at(ops.Grep, pattern), "Grep(%q)", pattern)
	}
}

// grepLineBreak asks for a line break as such, and for one of several
// characters, as which it never matches. An error tells the model to ask for
// Multiline, where an empty result would tell it that there is nothing.
func grepLineBreak(e *env) {
	e.given(files{"file": "a\nb\n"})
	for _, pattern := range []string{"a\nb", `a\nb`, "\n", `[\n]`, `ab|\n`, `(\n)?`, `(\n)?|a`, `(\n)|(ab)`, `\x0a`, `\n*`} {
		_, err := e.fsys.Grep(e.ctx, pattern, nil)
		e.refused(err, workspace.ErrPattern, at(ops.Grep, pattern), "Grep(%q)", pattern)
	}
	_, err := e.fsys.Grep(e.ctx, "a\nb", &workspace.GrepOptions{Literal: true})
	e.refused(err, workspace.ErrPattern, at(ops.Grep, "a\nb"), "Grep(%q, Literal)", "a\nb")
	for _, pattern := range []string{`a|\n`, `[a\n]`, `a|[\n]`, "[a\n]", `(?:\n|a)`, `\n|(a)`, `(\n)|((a))`, `^(?i)((\n)|A|(\r))$`} {
		e.finds(pattern, workspace.GrepOptions{}, workspace.Match{Path: "file", LineNumber: 1, Line: "a"})
	}
	e.finds(`a[^b]b|a|[\n]`, workspace.GrepOptions{}, workspace.Match{Path: "file", LineNumber: 1, Line: "a"})
}

// grepMalformedGlob tests that a glob on files is checked like one of a Glob.
// It is refused whether or not a file is ever compared with it.
func grepMalformedGlob(e *env) {
	e.given(files{"file": "x"})
	for _, glob := range append(oddGlobs(), "[", "{a", `a\`, "a/[", "/{", "/") {
		where := at(ops.Grep, glob)
		_, err := e.fsys.Grep(e.ctx, "x", &workspace.GrepOptions{IncludeGlob: glob})
		e.refused(err, workspace.ErrPattern, where, "Grep(%q, IncludeGlob: %q)", "x", glob)
		_, err = e.fsys.Grep(e.ctx, "x", &workspace.GrepOptions{ExcludeGlob: glob})
		e.refused(err, workspace.ErrPattern, where, "Grep(%q, ExcludeGlob: %q)", "x", glob)
	}
	_, err := e.fsys.Grep(e.ctx, "x", &workspace.GrepOptions{IncludeGlob: "../*"})
	e.refused(err, workspace.ErrEscape, at(ops.Grep, "../*"), "Grep(%q, IncludeGlob: %q)", "x", "../*")
}

// grepBraceBomb tests that a glob on files that multiplies is refused.
func grepBraceBomb(e *env) {
	e.given(files{"file": "x"})
	for _, glob := range bombs() {
		where := at(ops.Grep, glob)
		_, err := e.fsys.Grep(e.ctx, "x", &workspace.GrepOptions{IncludeGlob: glob})
		e.refused(err, workspace.ErrPattern, where, "Grep(%q, IncludeGlob: %q)", "x", glob)
		_, err = e.fsys.Grep(e.ctx, "x", &workspace.GrepOptions{ExcludeGlob: glob})
		e.refused(err, workspace.ErrPattern, where, "Grep(%q, ExcludeGlob: %q)", "x", glob)
	}
}

// grepNegative tests that negative numbers in the options are refused. They
// come from a model's arithmetic. A negative number of lines, used as it is,
// panics in a slice expression.
func grepNegative(e *env) {
	e.given(files{"file": "x"})
	for _, opts := range []workspace.GrepOptions{{Before: -1}, {After: -1}, {MaxResults: -1}, {MaxFileSize: -1}} {
		_, err := e.fsys.Grep(e.ctx, "x", &opts)
		e.refused(err, fs.ErrInvalid, atPattern(ops.Grep, "x"), "Grep(%q, %+v)", "x", opts)
	}
}

// grepNoMatch tests that no match is an empty list, and not truncated.
func grepNoMatch(e *env) {
	e.given(grepTree())
	result := e.grep("nowhere", nil)
	if len(result.Matches) != 0 || result.Truncated || len(result.Skipped) != 0 {
		e.Errorf("Grep(%q) = %+v, want an empty result", "nowhere", result)
	}
}

// grepNothing tests a search of an empty tree. An object store without objects
// has no directory to list, which must not be an error.
func grepNothing(e *env) {
	result := e.grep("x", nil)
	if len(result.Matches) != 0 || result.Truncated || len(result.Skipped) != 0 {
		e.Errorf("Grep(%q) of an empty file system = %+v, want an empty result", "x", result)
	}
}

// grepResultIsTheCallers tests that the caller may change the result. Lines may
// share the memory of the file that they come from, but no caller may see the
// changes of another.
func grepResultIsTheCallers(e *env) {
	e.given(files{"a": "1\nneedle\n3\n"})
	opts := &workspace.GrepOptions{Before: 1, After: 1}
	result := e.grep("needle", opts)
	result.Matches[0].Before[0], result.Matches[0].Line = "#", "#"
	e.finds("needle", *opts, workspace.Match{Path: "a", LineNumber: 2, Line: "needle", Before: []string{"1"}, After: []string{"3"}})
}
