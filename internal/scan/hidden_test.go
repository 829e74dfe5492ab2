package scan_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// hideNamed hides the names, wherever they are. Where tested is not nil, it counts
// the directories that it is called with.
func hideNamed(tested *atomic.Int64, names ...string) scan.Hidden {
	return func(string) func(name string, isDir bool) bool {
		if tested != nil {
			tested.Add(1)
		}
		return func(name string, _ bool) bool { return slices.Contains(names, name) }
	}
}

// TestHidesTheSame hides names from random trees that are listed directory by
// directory, and as one listing.
func TestHidesTheSame(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	hidden := hideNamed(nil, "src", ".env", "b.go")
	for range 20 {
		fsys := forest(t, random)
		for _, pattern := range []string{"**", "**/", "src/**/*.go", "a/src", "a/*/b.go", "*/c/**", "a/b.go/c/z.txt", "{a,a/src}", "*"} {
			for _, opts := range []workspace.GlobOptions{{}, {Gitignore: true}, {After: "a/src"}, {Limit: 3}, {Dir: "a"}} {
				all, _ := scan.Glob(t.Context(), newListed(fsys), pattern, &workspace.GlobOptions{Dir: opts.Dir, Gitignore: opts.Gitignore}, nil)
				want := shown(all, opts)
				for _, src := range []scan.Source{newListed(fsys), walked{newListed(fsys)}} {
					got, err := scan.Glob(t.Context(), src, pattern, &opts, hidden)
					if errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrNotDir) {
						continue // the directory
					}
					if diff := cmp.Diff(want, got); diff != "" || err != nil {
						t.Fatalf("Glob of a %T (%q, %+v) = %v (-want +got):\n%s", src, pattern, opts, err, diff)
					}
				}
			}
		}
	}
}

// shown returns the paths without hidden elements that opts choose.
func shown(paths []string, opts workspace.GlobOptions) []string {
	want := []string{}
	for _, path := range paths {
		below := strings.Split(path, "/")
		hides := slices.ContainsFunc(below, func(name string) bool { return name == "src" || name == ".env" || name == "b.go" })
		if !hides && path > opts.After && (opts.Limit == 0 || len(want) < opts.Limit) {
			want = append(want, path)
		}
	}
	return want
}

// TestHiddenIsNotAskedFor hides what a source must not be asked for: the
// directory that a pattern spells out, and the file that a search begins at.
func TestHiddenIsNotAskedFor(t *testing.T) {
	src := walked{newListed(forestOf(t, "keys/a", "keys/b/c", "d/keys", "d/e"))}
	hidden := hideNamed(nil, "keys")
	for _, pattern := range []string{"keys/*", "keys/a", "keys/b/**", "d/keys", "keys/", "keys"} {
		paths, err := scan.Glob(t.Context(), src, pattern, nil, hidden)
		if err != nil || len(paths) > 0 {
			t.Errorf("Glob(%q) = %v, %v, want nothing", pattern, paths, err)
		}
	}
	for asked := range src.calls {
		if strings.Contains(asked, "keys") {
			t.Errorf("the source was asked for %q", asked)
		}
	}
	for _, src := range []scan.Source{src, src.listed} {
		if _, err := scan.Grep(t.Context(), src, ".", &workspace.GrepOptions{Path: "d/keys"}, 1, hidden); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Grep of the hidden file in a %T = %v, want fs.ErrNotExist", src, err)
		}
	}
}

// TestHiddenOncePerDir tests that a search asks for each directory once, and not
// at all below one in which nothing is hidden.
func TestHiddenOncePerDir(t *testing.T) {
	var tested atomic.Int64
	fsys := forestOf(t, "a/b/c/d", "a/b/e", "f/g/h")
	some := hideNamed(&tested, "x")
	belowF := func(dir string) func(name string, isDir bool) bool {
		if in := some(dir); dir != "f" {
			return in
		}
		return nil
	}
	for _, src := range []scan.Source{newListed(fsys), walked{newListed(fsys)}} {
		tested.Store(0)
		if _, err := scan.Grep(t.Context(), src, ".", nil, 2, belowF); err != nil {
			t.Fatal(err)
		}
		if n := tested.Load(); n != 5 { // the root, a, a/b, a/b/c and f
			t.Errorf("Grep of a %T asked for %d directories, want 5", src, n)
		}
	}
}

func TestNames(t *testing.T) {
	names := scan.NewNames(hideNamed(nil, "keys"), "a")
	for _, test := range []struct {
		path string
		want bool
	}{
		{"a/b", false}, {"a/b/c/keys", true}, {"a/b/c/d", false}, {"a/keys", true}, {"a/keys/x/y", true}, {"a/keys-", false},
		{"a/z/keys/k", true}, {"a/z/x", false}, {"a/b", false},
	} {
		if got := names.Hides(test.path, false); got != test.want {
			t.Errorf("Hides(%q) = %v, want %v", test.path, got, test.want)
		}
	}
	if scan.NewNames(nil, ".").Hides("keys", false) {
		t.Error("without a Hidden, a name is hidden")
	}
}

// TestWalkFunc hides a directory that a walk enters without reporting it, because
// it continues after a name in it.
func TestWalkFunc(t *testing.T) {
	var got []string
	visit := hideNamed(nil, "keys").WalkFunc(".", func(info workspace.FileInfo, _ error) error {
		got = append(got, info.Path)
		return nil
	})
	for _, path := range []string{"a", "d/keys/a", "d/keys/b", "d/l"} {
		if err := visit(workspace.FileInfo{Path: path, Type: workspace.TypeFile}, nil); err != nil {
			t.Errorf("the function returns %v for %q, want nil", err, path)
		}
	}
	dir := workspace.FileInfo{Path: "keys", Type: workspace.TypeDirectory}
	if err := visit(dir, errLocked); err != fs.SkipDir {
		t.Errorf("the function returns %v for a hidden directory that cannot be listed, want fs.SkipDir", err)
	}
	if diff := cmp.Diff([]string{"a", "d/l"}, got); diff != "" {
		t.Errorf("visited (-want +got):\n%s", diff)
	}
}

// forestOf returns a tree of the files, whose contents are their names.
func forestOf(t *testing.T, names ...string) workspace.FileSystem {
	t.Helper()
	fsys := memory.New(nil)
	for _, name := range names {
		if _, err := fsys.WriteFile(t.Context(), name, []byte(fmt.Sprintln(name)), nil); err != nil {
			t.Fatal(err)
		}
	}
	return fsys
}
