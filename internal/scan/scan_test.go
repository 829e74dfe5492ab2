package scan_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// tree is a source of files by path. The directory and the file called
// "locked" cannot be read, whatever they are in.
type tree struct {
	files map[string]string
	reads atomic.Int64
}

var errLocked = errors.New("locked")

func (s *tree) List(ctx context.Context, dir string, _ bool) ([]scan.Child, error) {
	if _, base := workspace.Split(dir); base == "locked" {
		return nil, errLocked
	}
	kinds := map[string]workspace.FileType{}
	for name := range s.files {
		rest, ok := strings.CutPrefix(name, dir+"/")
		if dir == "." {
			rest, ok = name, true
		}
		if !ok {
			continue
		}
		first, _, deeper := strings.Cut(rest, "/")
		kinds[first] = workspace.TypeFile
		if deeper {
			kinds[first] = workspace.TypeDirectory
		}
	}
	var children []scan.Child
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		children = append(children, scan.Child{Name: name, Type: kinds[name]})
	}
	return children, ctx.Err()
}

func (s *tree) Read(ctx context.Context, name string, _ *[]byte, opts scan.ReadOptions) ([]byte, error) {
	s.reads.Add(1)
	if _, base := workspace.Split(name); base == "locked" {
		return nil, errLocked
	}
	content, ok := s.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	if err := ops.CheckSize("read", name, int64(len(content)), opts.Limit); err != nil {
		return nil, err
	}
	return []byte(content), ctx.Err()
}

func (s *tree) Stat(_ context.Context, name string) (workspace.FileType, error) {
	if _, ok := s.files[name]; ok {
		return workspace.TypeFile, nil
	}
	return workspace.TypeDirectory, nil
}

// naive is Grep for a literal without anything that could go wrong.
func (s *tree) naive(text string) []workspace.Match {
	var matches []workspace.Match
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		number := 0
		for line := range strings.Lines(s.files[name]) {
			number++
			if line = strings.TrimSuffix(line, "\n"); strings.Contains(line, text) {
				matches = append(matches, workspace.Match{Path: name, LineNumber: number, Line: line})
			}
		}
	}
	return matches
}

// unnamed is a tree in which what has an "!" in its name has no valid one.
type unnamed struct{ tree }

func (s *unnamed) List(ctx context.Context, dir string, top bool) ([]scan.Child, error) {
	children, err := s.tree.List(ctx, dir, top)
	for i, child := range children {
		if strings.Contains(child.Name, "!") {
			children[i].Type, _ = scan.Unnamed(child.Type)
		}
	}
	return children, err
}

// TestSkippedDirectories reads a search page by page, and wants each directory
// that it cannot look into listed once, where it belongs.
func TestSkippedDirectories(t *testing.T) {
	t.Parallel()
	src := &unnamed{tree{files: map[string]string{
		"-a": "x", "a!": "x", "b/a": "x", "b-b": "x", "b/locked/c": "x", "b/locked-c": "x\nx", "b/locked0": "x",
		"d/!/a": "x", "d-a": "x\nx", "d/e/a": "x", "d/e/b!": "x", "d/e/c!": "x", "d/e/d": "x", "e/b!.md": "x", "e/b.go": "x", "z": "x",
	}}}
	want := []workspace.Skipped{
		{Path: ".", Reason: workspace.SkipInvalidNames}, {Path: "b/locked", Reason: workspace.SkipUnreadable},
		{Path: "d", Reason: workspace.SkipInvalidNames}, {Path: "d/e", Reason: workspace.SkipInvalidNames},
		{Path: "e", Reason: workspace.SkipInvalidNames},
	}
	for limit := range 12 {
		skipped, paths := skippedOfPages(t, src, workspace.GrepOptions{MaxResults: limit})
		if diff := cmp.Diff(want, skipped); diff != "" {
			t.Errorf("the pages of %d skip (-want +got):\n%s", limit, diff)
		}
		if len(paths) != 12 || slices.ContainsFunc(paths, func(path string) bool { return strings.Contains(path, "!") }) {
			t.Errorf("the pages of %d find matches in %q, want 12 with valid names", limit, paths)
		}
	}
	skipped, _ := skippedOfPages(t, src, workspace.GrepOptions{IncludeGlob: "*.md"})
	want = []workspace.Skipped{want[1], want[2], want[4]}
	if diff := cmp.Diff(want, skipped); diff != "" {
		t.Errorf("Grep with IncludeGlob %q skips (-want +got):\n%s", "*.md", diff)
	}
	paths, err := scan.Glob(t.Context(), src, "**", nil, nil)
	if err != nil || slices.ContainsFunc(paths, func(path string) bool { return strings.Contains(path, "!") }) {
		t.Errorf("Glob = %q, %v, want valid names alone", paths, err)
	}
}

// skippedOfPages returns what all pages of a search list as skipped, and the
// paths of their matches.
func skippedOfPages(t *testing.T, src scan.Source, opts workspace.GrepOptions) (skipped []workspace.Skipped, paths []string) {
	t.Helper()
	for {
		page, err := scan.Grep(t.Context(), src, "x", &opts, 2, nil)
		if err != nil {
			t.Fatalf("Grep(x, %+v) = %v", opts, err)
		}
		skipped = append(skipped, page.Skipped...)
		for _, match := range page.Matches {
			paths = append(paths, match.Path)
			opts.StartAfter = workspace.Position{Path: match.Path, LineNumber: match.LineNumber}
		}
		if !page.Truncated {
			return skipped, paths
		}
	}
}

func drawTree(t *rapid.T) *tree {
	files := rapid.MapOfN(
		rapid.StringMatching(`[ab](-|/[ab]|b){0,3}`), rapid.StringMatching("(x\n|y\n|xy\n|\n){0,5}(x|y)?"), 0, 40,
	).Draw(t, "files")
	for name := range files { // a name cannot be both file and directory
		for other := range files {
			if strings.HasPrefix(other, name+"/") {
				delete(files, name)
			}
		}
	}
	return &tree{files: files}
}

// rotated is a tree whose directories, once open, list their first child last.
type rotated struct{ *tree }

func (s rotated) OpenDir(dir string, top bool) (scan.Dir, error) {
	return rotatedDir{s.tree, dir, top}, nil
}

type rotatedDir struct {
	*tree
	dir string
	top bool
}

func (d rotatedDir) List(ctx context.Context) ([]scan.Child, error) {
	children, err := d.tree.List(ctx, d.dir, d.top)
	if len(children) > 0 {
		children = append(children[1:], children[0])
	}
	return children, err
}

func (rotatedDir) Close() error { return nil }

// drawSource returns files, or the same as a [scan.Opener] in which nothing is sorted.
func drawSource(t *rapid.T, files *tree) scan.Source {
	if rapid.Bool().Draw(t, "rotated") {
		return rotated{files}
	}
	return files
}

// TestPagesAreTheWhole reads a search page by page, with several workers, and
// compares with the naive search.
func TestPagesAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files := drawTree(t)
		src := drawSource(t, files)
		limit := rapid.IntRange(0, 7).Draw(t, "limit")
		workers := rapid.IntRange(0, 4).Draw(t, "workers")
		var got []workspace.Match
		var after workspace.Position
		for page := 0; ; page++ {
			result, err := scan.Grep(context.Background(), src, "x", &workspace.GrepOptions{MaxResults: limit, StartAfter: after}, workers, nil)
			if err != nil || page > 300 {
				t.Fatalf("Grep(x, MaxResults: %d, StartAfter: %v) = %v on page %d", limit, after, err, page)
			}
			got = append(got, result.Matches...)
			if !result.Truncated {
				break
			}
			if len(result.Matches) != limit {
				t.Fatalf("a truncated page of %d has %d matches", limit, len(result.Matches))
			}
			last := result.Matches[limit-1]
			after = workspace.Position{Path: last.Path, LineNumber: last.LineNumber}
		}
		if diff := cmp.Diff(files.naive("x"), got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("the pages of %d with %d workers are not the whole (-want +got):\n%s", limit, workers, diff)
		}
	})
}

func TestGlobPagesAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files := drawTree(t)
		src := drawSource(t, files)
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		want := slices.Sorted(maps.Keys(files.files))
		var got []string
		for after := ""; ; after = got[len(got)-1] {
			page, err := scan.Glob(context.Background(), src, "**", &workspace.GlobOptions{Limit: limit, After: after}, nil)
			if err != nil {
				t.Fatalf("Glob(**, After: %q) = %v", after, err)
			}
			got = append(got, page...)
			if len(page) < limit {
				break
			}
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("the pages of %d are not the whole (-want +got):\n%s", limit, diff)
		}
	})
}

func TestUnreadableIsSkippedAndSaid(t *testing.T) {
	src := &tree{files: map[string]string{"a": "x", "b/locked/c": "x", "b/z": "x", "d/locked": "x", "e": "\x00"}}
	result, err := scan.Grep(t.Context(), src, "x", nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []workspace.Skipped{
		{Path: "b/locked", Reason: workspace.SkipUnreadable},
		{Path: "d/locked", Reason: workspace.SkipUnreadable},
		{Path: "e", Reason: workspace.SkipBinary},
	}
	if diff := cmp.Diff(want, result.Skipped); diff != "" || len(result.Matches) != 2 {
		t.Errorf("Grep = %d matches, want 2; skipped (-want +got):\n%s", len(result.Matches), diff)
	}
	paths, err := scan.Glob(t.Context(), src, "**", nil, nil)
	if diff := cmp.Diff([]string{"a", "b/z", "d/locked", "e"}, paths); err != nil || diff != "" {
		t.Errorf("Glob = %v (-want +got):\n%s", err, diff)
	}
	for _, dir := range []string{"b/locked", "d/locked"} {
		if _, err := scan.Grep(t.Context(), src, "x", &workspace.GrepOptions{Path: dir}, 0, nil); !errors.Is(err, errLocked) {
			t.Errorf("Grep(x, Path: %q) = %v, want the error of its top", dir, err)
		}
	}
}

// TestSkippedIsSaidOnce pages through a search: each file that is not searched
// is listed on one page, beside the matches that it lies between.
func TestSkippedIsSaidOnce(t *testing.T) {
	src := &tree{files: map[string]string{"a": "x", "b": "\x00", "c": "x\nx", "d": "\x00", "e": "x", "f": "\x00"}}
	var got []string
	var after workspace.Position
	for {
		result, err := scan.Grep(t.Context(), src, "x", &workspace.GrepOptions{MaxResults: 1, StartAfter: after}, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, skipped := range result.Skipped {
			got = append(got, fmt.Sprintf("%s after %v", skipped.Path, after))
		}
		if !result.Truncated {
			break
		}
		after = workspace.Position{Path: result.Matches[0].Path, LineNumber: result.Matches[0].LineNumber}
	}
	want := []string{"b after {a 1}", "d after {c 2}", "f after {c 2}"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("skipped files by page (-want +got):\n%s", diff)
	}
	result, err := scan.Grep(t.Context(), src, "x", &workspace.GrepOptions{StartAfter: workspace.Position{Path: "d", LineNumber: 1}}, 1, nil)
	if diff := cmp.Diff([]workspace.Skipped{{Path: "f", Reason: workspace.SkipBinary}}, result.Skipped); err != nil || diff != "" {
		t.Errorf("skipped after line 1 of d (-want +got): %v\n%s", err, diff)
	}
}

// TestLimitEndsTheSearch makes sure that what lies far behind the last match is
// not read.
func TestLimitEndsTheSearch(t *testing.T) {
	src := &tree{files: map[string]string{}}
	const files = 20000
	for i := range files {
		src.files[fmt.Sprintf("f%05d", i)] = "x"
	}
	result, err := scan.Grep(t.Context(), src, "x", &workspace.GrepOptions{MaxResults: 3}, 0, nil)
	if err != nil || !result.Truncated || len(result.Matches) != 3 {
		t.Fatalf("Grep(x, MaxResults: 3) = %+v, %v", result, err)
	}
	if reads := src.reads.Load(); reads > files/10 {
		t.Errorf("Grep(x, MaxResults: 3) read %d of %d files", reads, files)
	}
}

// TestLimitKeepsTheOrder has files beside directories that come before them.
func TestLimitKeepsTheOrder(t *testing.T) {
	s := &tree{files: map[string]string{"z": "needle\n", "b/z": "needle\n", "b/a/1": "needle\n", "a": "needle\n"}}
	result, err := scan.Grep(t.Context(), s, "needle", &workspace.GrepOptions{MaxResults: 1}, 1, nil)
	if err != nil || !result.Truncated || len(result.Matches) != 1 || result.Matches[0].Path != "a" {
		t.Fatalf("Grep = %+v, %v, want one match, in %q", result, err, "a")
	}
	if n := s.reads.Load(); n != 2 {
		t.Errorf("Grep read %d files for one match, want 2: one more to know that there are others", n)
	}
}

// TestLimitSortsChildren has directories that are not listed in order.
func TestLimitSortsChildren(t *testing.T) {
	files := &tree{files: map[string]string{"a": "x", "b": "x", "c": "x", "d": "x"}}
	result, err := scan.Grep(t.Context(), rotated{files}, "x", &workspace.GrepOptions{MaxResults: 1}, 0, nil)
	if err != nil || !result.Truncated || len(result.Matches) != 1 || result.Matches[0].Path != "a" {
		t.Errorf("Grep = %+v, %v, want one match, in %q", result, err, "a")
	}
}

func TestCancelEndsTheSearch(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	src := &canceling{tree: tree{files: map[string]string{"a": "x", "b": "x", "c/d": "x"}}, cancel: cancel}
	if _, err := scan.Grep(ctx, src, "x", nil, 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Grep = %v, want context.Canceled", err)
	}
	ctx, src.cancel = context.WithCancel(t.Context())
	src.files[".gitignore"] = "a"
	paths, err := scan.Glob(ctx, src, "**", &workspace.GlobOptions{Gitignore: true}, nil)
	if pathError, ok := err.(*fs.PathError); !ok || pathError.Path != "." || !errors.Is(err, context.Canceled) {
		t.Errorf("Glob = %q, %#v, want context.Canceled in a PathError for %q", paths, err, ".")
	}
}

// canceling ends the context when it is first read.
type canceling struct {
	tree
	cancel context.CancelFunc
}

func (s *canceling) Read(ctx context.Context, name string, scratch *[]byte, opts scan.ReadOptions) ([]byte, error) {
	s.cancel()
	return s.tree.Read(ctx, name, scratch, opts)
}
