package conformance

import (
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/workspacekit/workspacekit/workspace"
)

// grepFileCases are about what is in the files that are searched. A file can be
// binary, huge, without line breaks, or named like the output of grep.
var grepFileCases = []testCase{
	{"carriage-return-kept", "S4", needFiles, grepCarriageReturn},
	{"long-line", "S1 S4", needFiles, grepLongLine},
	{"many-lines", "S4 S5", needFiles, grepManyLines},
	{"every-line", "S4 S5", needFiles, grepEveryLine},
	{"names-like-matches", "S5", needFiles, grepNamesLikeMatches},
	{"match-is-counted-once", "S1", needFiles, grepCountedOnce},
	{"binary-skipped", "S15", needFiles, grepBinary},
	{"late-nul-searched", "S15", needFiles, grepLateNUL},
	{"max-file-size", "S16", needFiles, grepMaxFileSize},
	{"skipped-sorted", "S15 S16", needFiles, grepSkippedSorted},
	{"skipped-without-match", "S15", needFiles, grepSkippedWithoutMatch},
	{"skipped-only-if-asked-for", "S15 S8 S9", needFiles, grepSkippedOnlyIfAskedFor},
	{"follows-writes", "S1", needWrite, grepFollowsWrites},
	{"lines-of-a-match", "S20 S10 S18", needFiles, grepLinesOfMatch},
	{"multiline-in-large-file", "S19 S20", needFiles, grepMultilineLarge},
	{"first-only", "S22", needFiles, grepFirstOnly},
	{"first-only-in-large-file", "S22 S15", needFiles, grepFirstOnlyLarge},
	{"count", "S23", needFiles, grepCount},
	{"searched", "S24", needFiles, grepSearched},
}

// grepCarriageReturn tests that "\r" is a part of the line. A model that gets
// the line without it, and replaces it by an exact text, does not find the text
// in the file.
func grepCarriageReturn(e *env) {
	e.given(files{"file": "one\r\ntwo\r\n\r\nlast\r"})
	e.finds("o", workspace.GrepOptions{Before: 1, After: 1},
		workspace.Match{Path: "file", LineNumber: 1, Line: "one\r", After: []string{"two\r"}},
		workspace.Match{Path: "file", LineNumber: 2, Line: "two\r", Before: []string{"one\r"}, After: []string{"\r"}})
	e.finds("^last\r$", workspace.GrepOptions{}, workspace.Match{Path: "file", LineNumber: 4, Line: "last\r"})
	e.finds("^\r$", workspace.GrepOptions{}, workspace.Match{Path: "file", LineNumber: 3, Line: "\r"})
}

// grepLongLine tests a line that is longer than usual buffers. A line of 1 MiB,
// as in minified code, is more than bufio.Scanner takes by default. The search
// must neither fail, nor cut the line, nor lose the lines after it.
func grepLongLine(e *env) {
	line := strings.Repeat("0123456789abcdef", 1<<16) + "needle"
	e.given(files{"file": "short\n" + line + "\nneedle too\n"})
	e.finds("needle", workspace.GrepOptions{},
		workspace.Match{Path: "file", LineNumber: 2, Line: line},
		workspace.Match{Path: "file", LineNumber: 3, Line: "needle too"})
	e.finds("^short$", workspace.GrepOptions{After: 1},
		workspace.Match{Path: "file", LineNumber: 1, Line: "short", After: []string{line}})
}

// grepManyLines has its matches on both sides of every usual buffer size. A
// chunk that ends within a line must not lose the match or count the line
// twice: an edit at a wrong line number changes other code.
func grepManyLines(e *env) {
	var b strings.Builder
	var want []int
	for line := 1; line <= 50000; line++ {
		if line%7001 == 0 {
			b.WriteString("a needle here\n")
			want = append(want, line)
			continue
		}
		b.WriteString("hay and more hay\n")
	}
	e.given(files{"file": b.String()})
	var got []int
	for _, m := range e.grep("needle", nil).Matches {
		got = append(got, m.LineNumber)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		e.Errorf("Grep(%q) line numbers (-want +got):\n%s", "needle", diff)
	}
}

// grepEveryLine looks for what a whole file consists of, between files in which
// it is once. A bound on what one file may return, or a buffer that is full,
// loses the rest without a word.
func grepEveryLine(e *env) {
	e.given(files{"a": "needle\n", "b": strings.Repeat("needle\n", 3000), "c": "needle\n"})
	want := []string{"a:1"}
	for line := range 3000 {
		want = append(want, fmt.Sprintf("b:%d", line+1))
	}
	if diff := cmp.Diff(append(want, "c:1"), positions(e.grep("needle", nil).Matches)); diff != "" {
		e.Errorf("Grep(%q) (-want +got):\n%s", "needle", diff)
	}
}

// grepNamesLikeMatches has names in which a program that finds lines might
// write them. Output such as "a:2:needle" can then be read in two ways, unless
// names end in a NUL.
func grepNamesLikeMatches(e *env) {
	e.given(files{"a": "hay\nneedle\n", "a:2": "needle", "a:2:needle": "hay", "a:3:": "needle: 1\nneedle:2:", "b-2-needle": "hay", "b": "hay"})
	want := []workspace.Match{
		{Path: "a", LineNumber: 2, Line: "needle"}, {Path: "a:2", LineNumber: 1, Line: "needle"},
		{Path: "a:3:", LineNumber: 1, Line: "needle: 1"}, {Path: "a:3:", LineNumber: 2, Line: "needle:2:"},
	}
	e.finds("needle", workspace.GrepOptions{}, want...)
}

// grepCountedOnce tests that a line with several matches is one match. A limit
// of ten matches is for ten lines.
func grepCountedOnce(e *env) {
	e.given(files{"file": "x x x\nxx\n"})
	e.equal(positions(e.grep("x", nil).Matches), []string{"file:1", "file:2"}, "Grep(%q)", "x")
}

// skips fails the case unless the files that were skipped are want.
func (e *env) skips(opts workspace.GrepOptions, want ...workspace.Skipped) {
	e.Helper()
	got := e.grep("needle", &opts).Skipped
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		e.Errorf("Grep(%q, %+v).Skipped (-want +got):\n%s", "needle", opts, diff)
	}
}

// grepBinary tests that a NUL anywhere in the first 8 KiB makes a file binary.
// The bytes of a binary file are no lines, and fill the context of a model. It
// is listed, so that nobody believes it was searched.
func grepBinary(e *env) {
	e.given(files{
		"a.bin": "\x00needle\n", "b.bin": "needle\nmore\x00", "c.txt": "needle\n",
		"d.bin": "needle\n" + strings.Repeat("x", 8192-8) + "\x00",
	})
	e.finds("needle", workspace.GrepOptions{}, workspace.Match{Path: "c.txt", LineNumber: 1, Line: "needle"})
	e.skips(workspace.GrepOptions{},
		workspace.Skipped{Path: "a.bin", Reason: workspace.SkipBinary},
		workspace.Skipped{Path: "b.bin", Reason: workspace.SkipBinary},
		workspace.Skipped{Path: "d.bin", Reason: workspace.SkipBinary})
	e.skips(workspace.GrepOptions{Path: "b.bin"}, workspace.Skipped{Path: "b.bin", Reason: workspace.SkipBinary})
}

// grepLateNUL has its NUL as the first byte after the 8 KiB that decide.
// Otherwise whether a file is text depends on the size of a provider's buffer.
// The NUL is part of its line.
func grepLateNUL(e *env) {
	e.given(files{"file": "needle\n" + strings.Repeat("x", 8192-7) + "\x00\nneedle\x00\n"})
	e.finds("^needle", workspace.GrepOptions{},
		workspace.Match{Path: "file", LineNumber: 1, Line: "needle"},
		workspace.Match{Path: "file", LineNumber: 3, Line: "needle\x00"})
	e.skips(workspace.GrepOptions{})
}

// grepMaxFileSize tests the limit on sizes at its exact value. A file of
// exactly the limit is searched. The limit holds for a file that Path names,
// too.
func grepMaxFileSize(e *env) {
	e.given(files{"a": "needle\n", "b": "needle ", "c": "needle", "d/e": "needle and much more\n"})
	e.equal(paths(e.grep("needle", &workspace.GrepOptions{MaxFileSize: 7}).Matches), []string{"a", "b", "c"}, "Grep(%q, MaxFileSize: 7)", "needle")
	e.skips(workspace.GrepOptions{MaxFileSize: 7}, workspace.Skipped{Path: "d/e", Reason: workspace.SkipTooLarge})
	e.skips(workspace.GrepOptions{MaxFileSize: 6},
		workspace.Skipped{Path: "a", Reason: workspace.SkipTooLarge},
		workspace.Skipped{Path: "b", Reason: workspace.SkipTooLarge},
		workspace.Skipped{Path: "d/e", Reason: workspace.SkipTooLarge})
	e.skips(workspace.GrepOptions{MaxFileSize: 6, Path: "a"}, workspace.Skipped{Path: "a", Reason: workspace.SkipTooLarge})
	e.skips(workspace.GrepOptions{})
}

// grepSkippedSorted tests that skipped files are sorted by path, whatever the
// reason.
func grepSkippedSorted(e *env) {
	tree := make(files)
	var want []workspace.Skipped
	for i, name := range orderedNames() {
		tree[name+"/in"] = []string{"\x00", "needle is too large"}[i%2]
		tree[name+".f"] = "\x00"
	}
	e.given(tree)
	for _, name := range e.glob("**", nil) {
		reason := workspace.SkipBinary
		if tree[name] != "\x00" {
			reason = workspace.SkipTooLarge
		}
		want = append(want, workspace.Skipped{Path: name, Reason: reason})
	}
	e.skips(workspace.GrepOptions{MaxFileSize: 10}, want...)
}

// grepSkippedWithoutMatch tests that a file is listed whether or not it would
// have matched: the search has not looked.
func grepSkippedWithoutMatch(e *env) {
	e.given(files{"bin": "\x00", "large": strings.Repeat("x", 100)})
	e.skips(workspace.GrepOptions{MaxFileSize: 50},
		workspace.Skipped{Path: "bin", Reason: workspace.SkipBinary},
		workspace.Skipped{Path: "large", Reason: workspace.SkipTooLarge})
}

// grepSkippedOnlyIfAskedFor tests that files that globs leave out are not
// listed as skipped. A list of all the pictures of a tree would hide the one
// file that the model should know about.
func grepSkippedOnlyIfAskedFor(e *env) {
	e.given(files{"a.bin": "\x00", "b.txt": "needle", "sub/c.bin": "\x00"})
	e.skips(workspace.GrepOptions{IncludeGlob: "*.txt"})
	e.skips(workspace.GrepOptions{ExcludeGlob: "*.bin"})
	e.skips(workspace.GrepOptions{Path: "sub"}, workspace.Skipped{Path: "sub/c.bin", Reason: workspace.SkipBinary})
}

// grepFollowsWrites tests that a search sees every write that has returned: no
// cache is stale. The contents alternate between match and no match, also with
// the same question as before. An agent checks its edit by a search.
func grepFollowsWrites(e *env) {
	for _, content := range []string{"hay", "needle", "hay again", "", "the needle"} {
		e.write("file", content)
		want := []string{}
		if strings.Contains(content, "needle") {
			want = []string{"file"}
		}
		e.equal(paths(e.grep("needle", nil).Matches), want, "Grep(%q) after WriteFile(%q, %q)", "needle", "file", content)
	}
}

// grepLinesOfMatch tests what a match that spans lines has in it, also where
// lines end with "\r\n". The pattern sees "\n" where the file has "\r\n", but
// what is returned is the file's bytes, so that an edit finds them again.
func grepLinesOfMatch(e *env) {
	e.given(files{"file": "0\r\na {\r\n}\r\n3\n4 {\n}"})
	opts := workspace.GrepOptions{Multiline: true, Before: 1, After: 2}
	e.finds(`\{\s*\}`, opts,
		workspace.Match{Path: "file", LineNumber: 2, LastLine: 3, Line: "a {\r\n}\r", Before: []string{"0\r"}, After: []string{"3", "4 {"}},
		workspace.Match{Path: "file", LineNumber: 5, LastLine: 6, Line: "4 {\n}", Before: []string{"3"}})
	e.finds("3", opts, workspace.Match{Path: "file", LineNumber: 4, Line: "3", Before: []string{"}\r"}, After: []string{"4 {", "}"}})
}

// grepMultilineLarge has a match on both sides of every usual buffer size,
// among files that have a part of it. It finds a search in chunks, which loses
// a match that goes over the end of one.
func grepMultilineLarge(e *env) {
	text := strings.Repeat("hay and more hay\n", 50000)
	e.given(files{"a": "begin\n", "b": text + "begin\n" + text + "end\nend\n", "c": "end\n", "d": "begin end\n"})
	e.equal(spansOf(e.grep(`(?s)begin.*?end`, &workspace.GrepOptions{Multiline: true}).Matches),
		[]string{"b:50001-100002", "d:1-0"}, "Grep(%q, Multiline)", "(?s)begin.*?end")
}

// spansOf shows matches as "path:first-last".
func spansOf(matches []workspace.Match) []string {
	found := []string{}
	for _, m := range matches {
		found = append(found, fmt.Sprintf("%s:%d-%d", m.Path, m.LineNumber, m.LastLine))
	}
	return found
}

// grepCounted is a tree with files that have several matches.
func grepCounted() files {
	return files{
		"a": "hay\nneedle\nneedle needle\n", "a-b": "needle", "bin": "needle\n\x00", "d/e": strings.Repeat("needle\n", 300), "d/f": "hay\n",
		"d/g:1": "\nneedle\nneedle\n",
	}
}

// grepFirstOnly tests that each file has one match, the first, for any kind of
// pattern, and that pages continue with the next file. The first match of the
// file decides, not the first one after StartAfter: a file that has been
// reported must not come again with its next line. The form of the pattern
// chooses another way of searching in most engines.
func grepFirstOnly(e *env) {
	e.given(grepCounted())
	all := []string{"a:2", "a-b:1", "d/e:1", "d/g:1:2"}
	for _, pattern := range []string{"needle", "(?i)NEEDLE", "n[e]+dle", "^needle"} {
		opts := workspace.GrepOptions{FirstOnly: true}
		e.equal(positions(e.grep(pattern, &opts).Matches), all, "Grep(%q, FirstOnly)", pattern)
		opts.Multiline = true
		e.equal(positions(e.grep(pattern, &opts).Matches), all, "Grep(%q, FirstOnly, Multiline)", pattern)
	}
	for limit := 1; limit <= 3; limit++ {
		matches, _ := e.grepPaged(workspace.GrepOptions{FirstOnly: true, MaxResults: limit})
		e.equal(positions(matches), all, "Grep(%q, FirstOnly) in pages of %d", "needle", limit)
	}
	for line, want := range map[int][]string{0: {"a:2"}, 1: {"a:2"}, 2: {}} {
		after := workspace.Position{Path: "a", LineNumber: line}
		got := e.grep("needle", &workspace.GrepOptions{Path: "a", FirstOnly: true, StartAfter: after}).Matches
		e.equal(positions(got), want, "Grep(%q, FirstOnly, StartAfter: %+v)", "needle", after)
	}
	e.finds("needle", workspace.GrepOptions{Path: "a", FirstOnly: true, After: 1},
		workspace.Match{Path: "a", LineNumber: 2, Line: "needle", After: []string{"needle needle"}})
}

// grepFirstOnlyLarge has the first match at places in large files up to which
// something might read, and a large file that is binary. A search may stop
// reading at the first match, but not before it, and a file that would be
// skipped is skipped all the same.
func grepFirstOnlyLarge(e *env) {
	tree, want := files{}, []string{}
	for i, before := range []int{0, 100, 8190, 60_000, 65_530, 262_140, 600_000} {
		name := fmt.Sprintf("%d", i)
		tree[name] = strings.Repeat("hay\n", before/4) + "needle needle\n" + strings.Repeat("more hay\n", 100_000) + "needle\n"
		want = append(want, fmt.Sprintf("%s:%d", name, before/4+1))
	}
	tree["bin"] = "needle\n\x00" + strings.Repeat("needle\n", 200_000)
	tree["none"] = strings.Repeat("more hay\n", 100_000) + "need\nle"
	e.given(tree)
	for _, pattern := range []string{"needle", "n[e]{2}dle"} {
		e.equal(positions(e.grep(pattern, &workspace.GrepOptions{FirstOnly: true}).Matches), want, "Grep(%q, FirstOnly)", pattern)
	}
	for i, name := range []string{"0", "6"} {
		e.equal(positions(e.grep("needle", &workspace.GrepOptions{FirstOnly: true, Path: name}).Matches), []string{want[6*i]}, "Grep(%q, FirstOnly, Path: %q)", "needle", name)
	}
	e.skips(workspace.GrepOptions{FirstOnly: true}, workspace.Skipped{Path: "bin", Reason: workspace.SkipBinary})
}

// grepCount tests that the first match of each file says how many there are,
// also with a limit, and from a position on. A count of what is left after
// StartAfter, or of what fits in the page, differs from page to page. The last
// call has no Count, which must be 0.
func grepCount(e *env) {
	e.given(grepCounted())
	want := []workspace.Match{
		{Path: "a", LineNumber: 2, Line: "needle", Count: 2}, {Path: "a-b", LineNumber: 1, Line: "needle", Count: 1},
		{Path: "d/e", LineNumber: 1, Line: "needle", Count: 300}, {Path: "d/g:1", LineNumber: 2, Line: "needle", Count: 2},
	}
	for _, opts := range []workspace.GrepOptions{{Count: true}, {Count: true, FirstOnly: true}, {Count: true, Multiline: true}} {
		e.finds("needle", opts, want...)
		e.finds("n[e]+dle", opts, want...)
	}
	for limit := 1; limit <= 3; limit++ {
		got, _ := e.grepPaged(workspace.GrepOptions{Count: true, MaxResults: limit})
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			e.Errorf("Grep(%q, Count) in pages of %d (-want +got):\n%s", "needle", limit, diff)
		}
	}
	e.finds("needle", workspace.GrepOptions{Path: "a", Count: true, StartAfter: workspace.Position{Path: "a", LineNumber: 1}}, want[0])
	e.finds("needle", workspace.GrepOptions{Path: "a", Count: true, StartAfter: workspace.Position{Path: "a", LineNumber: 2}})
	e.finds("needle needle", workspace.GrepOptions{}, workspace.Match{Path: "a", LineNumber: 3, Line: "needle needle"})
}

// grepSearched tests how many files a search says that it has searched. "No
// match in 0 files" tells a model that its globs are wrong, "no match in 500
// files" that the text is nowhere. With Truncated nobody knows the number.
func grepSearched(e *env) {
	e.given(files{
		"a": "needle\n", "b/c": "hay\n", "b/d.go": "", "b/e.bin": "\x00", "b-x": "needle\nneedle\n", "large": strings.Repeat("x", 100),
	})
	for _, c := range []struct {
		opts workspace.GrepOptions
		want int
	}{
		{workspace.GrepOptions{}, 5},
		{workspace.GrepOptions{MaxFileSize: 50}, 4},
		{workspace.GrepOptions{IncludeGlob: "*.go"}, 1},
		{workspace.GrepOptions{IncludeGlob: "*.none"}, 0},
		{workspace.GrepOptions{ExcludeGlob: "b/**"}, 3},
		{workspace.GrepOptions{Path: "b"}, 2},
		{workspace.GrepOptions{Path: "b/c"}, 1},
		{workspace.GrepOptions{Path: "b/e.bin"}, 0},
		{workspace.GrepOptions{FirstOnly: true}, 5},
		{workspace.GrepOptions{Multiline: true, Count: true}, 5},
		{workspace.GrepOptions{MaxResults: 3}, 5},
		{workspace.GrepOptions{MaxResults: 1}, 0},
		{workspace.GrepOptions{StartAfter: workspace.Position{Path: "b/c", LineNumber: 1}}, 3},
		{workspace.GrepOptions{Path: "a", StartAfter: workspace.Position{Path: "b"}}, 0},
	} {
		for _, pattern := range []string{"needle", "n[e]edle"} {
			if got := e.grep(pattern, &c.opts).Searched; got != c.want {
				e.Errorf("Grep(%q, %+v).Searched = %d, want %d", pattern, c.opts, got, c.want)
			}
		}
	}
}
