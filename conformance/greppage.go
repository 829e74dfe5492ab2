package conformance

import (
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// grepPageCases are about results in parts. A model reads pages, and goes on
// with the last position that it has seen.
var grepPageCases = []testCase{
	{"max-results", "S11", needFiles, grepMaxResults},
	{"truncated-exactly", "S12", needFiles, grepTruncated},
	{"max-results-in-one-file", "S11 S12", needFiles, grepMaxInFile},
	{"start-after", "S13", needFiles, grepStartAfter},
	{"start-after-in-path", "S13 S6", needFiles, grepStartAfterInPath},
	{"start-after-missing-path", "S13 E3 E4", needFiles, grepStartAfterMissing},
	{"pages", "S11 S12 S13", needFiles, grepPages},
	{"pages-with-context", "S10 S13", needFiles, grepPagesWithContext},
	{"pages-of-skipped", "S13 S15", needFiles, grepPagesOfSkipped},
	{"truncated-skipped", "S15", needFiles, grepTruncatedSkipped},
	{"many-files", "S5 S11", needFiles, grepManyFiles},
}

// grepStartAfterMissing is about paths with nothing in them that is searched.
// Nothing can come after the position, but that is no reason not to look: an
// empty last page would say that the search is complete.
func grepStartAfterMissing(e *env) {
	e.given(files{"file": "needle\n"})
	for name, want := range map[string]error{"none": fs.ErrNotExist, "file/x": workspace.ErrNotDir} {
		for _, after := range []string{name, "zzz"} {
			opts := &workspace.GrepOptions{Path: name, StartAfter: workspace.Position{Path: after, LineNumber: 1}}
			_, err := e.fsys.Grep(e.ctx, "needle", opts)
			e.refused(err, want, at(ops.Grep, name), "Grep(%q, %+v)", "needle", *opts)
		}
	}
}

// givenPages prepares files that sort otherwise than a walk goes, and returns
// the positions of "needle" in them.
func (e *env) givenPages() []string {
	e.Helper()
	e.given(files{
		"a/b": "needle 1\nhay\nneedle 3\n", "a-b": "needle 1\n", "a.txt": "hay\n",
		"b/c/d": "needle 1\nneedle 2\nneedle 3\n", "b/e": "hay\nneedle 2", "c": "needle 1\nhay\nneedle 3\n",
	})
	return []string{"a-b:1", "a/b:1", "a/b:3", "b/c/d:1", "b/c/d:2", "b/c/d:3", "b/e:2", "c:1", "c:3"}
}

// grepMaxResults tests that a limit keeps the first matches. They are the first
// in order, not the first that some worker found. The greatest numbers are no limit in
// practice, unless a search computes with them.
func grepMaxResults(e *env) {
	all := e.givenPages()
	for limit := 1; limit <= len(all)+2; limit++ {
		result := e.grep("needle", &workspace.GrepOptions{MaxResults: limit})
		e.equal(positions(result.Matches), all[:min(limit, len(all))], "Grep(%q, MaxResults: %d)", "needle", limit)
	}
	greatest := workspace.GrepOptions{MaxResults: math.MaxInt, MaxFileSize: math.MaxInt64, Before: math.MaxInt, After: math.MaxInt}
	e.equal(positions(e.grep("needle", &greatest).Matches), all, "Grep(%q, %+v)", "needle", greatest)
	greatest.StartAfter = workspace.Position{Path: "b/c/d", LineNumber: math.MaxInt}
	e.equal(positions(e.grep("needle", &greatest).Matches), all[6:], "Grep(%q, %+v)", "needle", greatest)
}

// grepTruncated tests that Truncated is exact at the limit. A search must look
// for one match more than it returns. If it says "more" whenever the page is
// full, the model asks for an empty page; if it never does, the model stops too
// early.
func grepTruncated(e *env) {
	all := e.givenPages()
	for limit := 0; limit <= len(all)+2; limit++ {
		want := limit > 0 && limit < len(all)
		if got := e.grep("needle", &workspace.GrepOptions{MaxResults: limit}).Truncated; got != want {
			e.Errorf("Grep(%q, MaxResults: %d).Truncated = %v of %d matches, want %v", "needle", limit, got, len(all), want)
		}
	}
}

// grepMaxInFile tests a limit that ends within a file.
func grepMaxInFile(e *env) {
	e.given(files{"file": "x\nx\nx\n"})
	for limit, want := range map[int]bool{1: true, 2: true, 3: false, 4: false} {
		result := e.grep("x", &workspace.GrepOptions{Path: "file", MaxResults: limit})
		if result.Truncated != want || len(result.Matches) != min(limit, 3) {
			e.Errorf("Grep(%q, MaxResults: %d) = %d matches, Truncated %v, want %v", "x", limit, len(result.Matches), result.Truncated, want)
		}
	}
}

// grepStartAfter tests that a search continues after a position. The order is
// by path and then by line as a number. A position need not be a match, nor its
// path exist, and a line number of 0 comes before the first line.
func grepStartAfter(e *env) {
	all := e.givenPages()
	for after, want := range map[workspace.Position]int{
		{}:                              0,
		{Path: "a-b", LineNumber: 1}:    1,
		{Path: "a-b", LineNumber: 99}:   1,
		{Path: "a-b"}:                   0,
		{Path: "a/b"}:                   1,
		{Path: "a/b", LineNumber: 1}:    2,
		{Path: "a/b", LineNumber: 2}:    2,
		{Path: "a/b", LineNumber: 3}:    3,
		{Path: "a", LineNumber: 5}:      0,
		{Path: "b/c/d", LineNumber: 2}:  5,
		{Path: "b/c/zz", LineNumber: 1}: 6,
		{Path: "c", LineNumber: 1}:      8,
		{Path: "c", LineNumber: 3}:      9,
		{Path: "zzz", LineNumber: 1}:    9,
	} {
		result := e.grep("needle", &workspace.GrepOptions{StartAfter: after})
		e.equal(positions(result.Matches), append([]string{}, all[want:]...), "Grep(%q, StartAfter: %+v)", "needle", after)
	}
}

// grepStartAfterInPath tests positions in and around the path that is searched.
// A position after the whole path leaves nothing, and one before it everything.
func grepStartAfterInPath(e *env) {
	e.givenPages()
	for _, c := range []struct {
		path  string
		after workspace.Position
		want  []string
	}{
		{"b", workspace.Position{Path: "b/c/d", LineNumber: 2}, []string{"b/c/d:3", "b/e:2"}},
		{"b/c/d", workspace.Position{Path: "b/c/d", LineNumber: 2}, []string{"b/c/d:3"}},
		{"b/c/d", workspace.Position{Path: "c", LineNumber: 1}, []string{}},
		{"a", workspace.Position{Path: "b", LineNumber: 1}, []string{}},
		{"a", workspace.Position{Path: "a-b"}, []string{"a/b:1", "a/b:3"}},
		{"c", workspace.Position{Path: "c-"}, []string{}},
		{"c", workspace.Position{Path: "b.c"}, []string{"c:1", "c:3"}},
	} {
		result := e.grep("needle", &workspace.GrepOptions{Path: c.path, StartAfter: c.after})
		e.equal(positions(result.Matches), c.want, "Grep(%q, Path: %q, StartAfter: %+v)", "needle", c.path, c.after)
	}
}

// grepPaged searches page by page and returns all matches and all that was
// skipped. It ends when a page says that it is the last, or brings nothing.
func (e *env) grepPaged(opts workspace.GrepOptions) (matches []workspace.Match, skipped []workspace.Skipped) {
	e.Helper()
	for {
		result := e.grep("needle", &opts)
		if len(result.Matches) > opts.MaxResults {
			e.Fatalf("Grep(%q, %+v) = %d matches, want at most %d", "needle", opts, len(result.Matches), opts.MaxResults)
		}
		if result.Truncated && len(result.Matches) < opts.MaxResults {
			e.Errorf("Grep(%q, %+v) = %d matches and Truncated, want them all or %d", "needle", opts, len(result.Matches), opts.MaxResults)
		}
		matches = append(matches, result.Matches...)
		skipped = append(skipped, result.Skipped...)
		if !result.Truncated || len(result.Matches) == 0 {
			return matches, skipped
		}
		last := result.Matches[len(result.Matches)-1]
		next := workspace.Position{Path: last.Path, LineNumber: last.LineNumber}
		if next == opts.StartAfter {
			e.Fatalf("Grep(%q, %+v) ends where it started", "needle", opts)
		}
		opts.StartAfter = next
	}
}

// grepPages tests that pages of any size add up to the whole. Most limits end a
// page within a file, where the next one must go on by line.
func grepPages(e *env) {
	all := e.givenPages()
	for limit := 1; limit <= 4; limit++ {
		matches, _ := e.grepPaged(workspace.GrepOptions{MaxResults: limit})
		e.equal(positions(matches), all, "Grep(%q) in pages of %d", "needle", limit)
	}
}

// grepPagesWithContext tests that context does not stop at the ends of a page.
// The lines before the first match of a page may have been on the page before,
// and are still its context.
func grepPagesWithContext(e *env) {
	e.givenPages()
	opts := workspace.GrepOptions{Before: 2, After: 2}
	want := e.grep("needle", &opts).Matches
	for opts.MaxResults = 1; opts.MaxResults <= 3; opts.MaxResults++ {
		got, _ := e.grepPaged(opts)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			e.Errorf("Grep(%q) with context in pages of %d (-whole +paged):\n%s", "needle", opts.MaxResults, diff)
		}
	}
}

// grepPagesOfSkipped tests that each skipped file is told. It may be told
// twice if it lies between the last match of a page and the next.
func grepPagesOfSkipped(e *env) {
	tree := make(files)
	for _, name := range []string{"a", "c", "e", "g"} {
		tree[name] = "\x00"
	}
	for _, name := range []string{"b", "d", "f"} {
		tree[name] = "needle\nneedle\n"
	}
	e.given(tree)
	want := e.grep("needle", nil).Skipped
	for limit := 1; limit <= 3; limit++ {
		_, got := e.grepPaged(workspace.GrepOptions{MaxResults: limit})
		if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
			e.Errorf("Grep(%q).Skipped in pages of %d (-whole +paged):\n%s", "needle", limit, diff)
		}
	}
}

// grepTruncatedSkipped tests that what comes after the end of the search is not
// listed as skipped. It was not searched for this page, and the next page lists
// it.
func grepTruncatedSkipped(e *env) {
	e.given(files{"a": "\x00", "b": "needle\nneedle\n", "z": "\x00"})
	e.skips(workspace.GrepOptions{MaxResults: 1}, workspace.Skipped{Path: "a", Reason: workspace.SkipBinary})
	e.skips(workspace.GrepOptions{MaxResults: 2},
		workspace.Skipped{Path: "a", Reason: workspace.SkipBinary},
		workspace.Skipped{Path: "z", Reason: workspace.SkipBinary})
}

// grepManyFiles has the matches that come first in files that take longest. A
// search that stops at enough matches has those of the small files by then,
// which are not the first in order.
func grepManyFiles(e *env) {
	tree := make(files)
	for i := range 60 {
		name := fmt.Sprintf("dir%d/file%02d", i%5, i)
		tree[name] = "needle\n"
		if i%10 == 0 {
			tree[name] = large()[:1<<19] + "\nneedle\n"
		}
	}
	for name, content := range tree {
		tree[name] = "text\n" + string(withoutNUL([]byte(content)))
	}
	e.given(tree)
	all := positions(e.grep("^needle$", nil).Matches)
	if len(all) != len(tree) {
		e.Errorf("Grep(%q) = %d matches, want %d", "^needle$", len(all), len(tree))
	}
	for _, limit := range []int{1, 2, 10, 59} {
		got := positions(e.grep("^needle$", &workspace.GrepOptions{MaxResults: limit}).Matches)
		e.equal(got, all[:min(limit, len(all))], "Grep(%q, MaxResults: %d)", "^needle$", limit)
	}
}

// withoutNUL makes text of data, in place, so that a search does not skip it as
// binary.
func withoutNUL(data []byte) []byte {
	for i, b := range data {
		if b == 0 {
			data[i] = '0'
		}
	}
	return data
}
