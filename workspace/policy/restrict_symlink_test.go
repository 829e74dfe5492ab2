package policy_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// TestRestrictSymlinks tests that a symlink opens nothing that is denied.
func TestRestrictSymlinks(t *testing.T) {
	dir := t.TempDir()
	local := openLocal(t, dir)
	write(t, local, "src/real/a.go", "fine")
	write(t, local, "vault/key", "secret")
	for _, link := range []struct{ target, name string }{
		{"real", "src/good"}, {"../vault", "src/tree"}, {"../vault/key", "src/key"},
		{"../vault/none", "src/dangling"}, {"src", "away"},
	} {
		makeSymlink(t, dir, link.target, link.name)
	}
	r := restrict(t, local, "src/**")
	follows := concat(readCalls(), lookCalls()[:5], makeCalls()[1:], resolveCalls())
	every := concat(follows, makeCalls()[:1])
	for _, tt := range []struct {
		name, path string
		calls      []call
	}{
		{"file", "src/key", follows}, {"tree", "src/tree", follows}, {"in-tree", "src/tree/key", every},
		{"dangling", "src/dangling", follows}, {"denied-symlink", "away", every},
		{"through-denied-symlink", "away/real/a.go", every},
	} {
		for _, c := range tt.calls {
			t.Run(tt.name+"/"+c.op, func(t *testing.T) {
				if err := c.do(t.Context(), r, tt.path); !errors.Is(err, workspace.ErrPolicy) {
					t.Errorf("%s(%q) = %v, want %v", c.op, tt.path, err, workspace.ErrPolicy)
				}
			})
		}
	}
	t.Run("write", func(t *testing.T) {
		for _, path := range []string{"src/key", "src/tree/new", "src/dangling"} {
			if _, err := r.WriteFile(t.Context(), path, []byte("x"), nil); !errors.Is(err, workspace.ErrPolicy) {
				t.Errorf("WriteFile(%q) = %v, want %v", path, err, workspace.ErrPolicy)
			}
		}
		if data, err := os.ReadFile(filepath.Join(dir, "vault", "key")); string(data) != "secret" {
			t.Errorf("the denied file is %q, %v", data, err)
		}
	})
	t.Run("text", func(t *testing.T) {
		denied, err := policy.Restrict(local, policy.Rules{DeniedPaths: []string{"vault"}})
		if err != nil {
			t.Fatal(err)
		}
		const want = "read_file src/key: forbidden by policy: it leads to a denied name"
		if _, err := denied.ReadFile(t.Context(), "src/key"); err == nil || err.Error() != want {
			t.Errorf("ReadFile(src/key) = %v, want %s, which does not say where it leads", err, want)
		}
	})
	t.Run("allowed", func(t *testing.T) {
		if data, err := r.ReadFile(t.Context(), "src/good/a.go"); string(data) != "fine" {
			t.Errorf("ReadFile(src/good/a.go) = %q, %v", data, err)
		}
		if err := r.Rm(t.Context(), "src/key", nil); err != nil {
			t.Errorf("Rm(src/key), the symlink itself, = %v", err)
		}
	})
}

// TestRestrictSymlinkedListing tests that what is listed through a symlink is
// allowed where it is.
func TestRestrictSymlinkedListing(t *testing.T) {
	dir := t.TempDir()
	local := openLocal(t, dir)
	write(t, local, "docs/a.md", "needle")
	write(t, local, "docs/key", "needle")
	makeSymlink(t, dir, "../docs", "src/docs")
	r := restrict(t, local, "src/**", "docs/*.md")
	infos, err := r.Ls(t.Context(), "src/docs", nil)
	if diff := cmp.Diff([]string{"src/docs/a.md"}, paths(infos)); diff != "" || err != nil {
		t.Errorf("Ls(src/docs) = %v (-want +got):\n%s", err, diff)
	}
	found, err := r.Glob(t.Context(), "**", &workspace.GlobOptions{Dir: "src/docs"})
	if diff := cmp.Diff([]string{"src/docs/a.md"}, found); diff != "" || err != nil {
		t.Errorf("Glob(**, Dir: src/docs) = %v (-want +got):\n%s", err, diff)
	}
	result, err := r.Grep(t.Context(), "needle", &workspace.GrepOptions{Path: "src/docs"})
	if err != nil || len(result.Matches) != 1 || result.Matches[0].Path != "src/docs/a.md" || len(result.Skipped) > 0 {
		t.Errorf("Grep(needle, Path: src/docs) = %+v, %v, want one match, in src/docs/a.md", result, err)
	}
	if _, err := r.ReadFile(t.Context(), "src/docs/key"); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("ReadFile(src/docs/key) = %v, want %v", err, workspace.ErrPolicy)
	}
}

// TestRestrictTellsNothingThroughSymlinks tests that an error does not depend on
// what is where a symlink leads, if that is denied.
func TestRestrictTellsNothingThroughSymlinks(t *testing.T) {
	exhaustive.NotShort(t, "makes every call in many folders")
	kinds := map[string]func(t *testing.T, dir string, local *localbash.FS){
		"file":       func(t *testing.T, _ string, local *localbash.FS) { write(t, local, "vault/deep/key", "secret") },
		"directory":  func(t *testing.T, _ string, local *localbash.FS) { write(t, local, "vault/deep/key/x", "secret") },
		"symlink":    func(t *testing.T, dir string, _ *localbash.FS) { makeSymlink(t, dir, "nowhere", "vault/deep/key") },
		"file-above": func(t *testing.T, _ string, local *localbash.FS) { write(t, local, "vault/deep", "secret") },
	}
	every := concat(readCalls(), lookCalls(), writeCalls(), removeCalls(), makeCalls(), resolveCalls())
	for _, path := range []string{"src/v/deep/key", "src/v/deep/key/x", "src/w", "src/w/x", "src/w/x/y"} {
		for _, c := range every {
			t.Run(path+"/"+c.op, func(t *testing.T) {
				t.Parallel()
				tell := func(make func(t *testing.T, dir string, local *localbash.FS)) string {
					dir := t.TempDir()
					local := openLocal(t, dir)
					write(t, local, "top.txt", "")
					write(t, local, "vault/other", "")
					makeSymlink(t, dir, "../vault", "src/v")
					makeSymlink(t, dir, "../vault/deep/key", "src/w")
					if make != nil {
						make(t, dir, local)
					}
					return fmt.Sprint(c.do(t.Context(), restrict(t, local, "src/**", "*.txt"), path))
				}
				want := tell(nil)
				for kind, make := range kinds {
					if got := tell(make); got != want {
						t.Errorf("%s(%q) = %s if the denied name is a %s, want %s, as if it is missing", c.op, path, got, kind, want)
					}
				}
			})
		}
	}
}

// TestRestrictUnlisted tests that no policy is blamed for a directory that is not empty because
// of a name that no file system lists: the error says that there is one. A policy is blamed for a
// denied name.
func TestRestrictUnlisted(t *testing.T) {
	dir := t.TempDir()
	local := openLocal(t, dir)
	write(t, local, "denied/.env", "secret")
	if err := os.Mkdir(filepath.Join(dir, "odd"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "odd", "\xff"), nil, 0o644); err != nil {
		t.Skip("this file system has no such names: ", err)
	}
	r, err := policy.Restrict(local, policy.Rules{DeniedPaths: []string{"**/.env"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"odd": workspace.ErrNotEmpty, "denied": workspace.ErrPolicy} {
		if err := r.Rm(t.Context(), name, nil); !errors.Is(err, want) {
			t.Errorf("Rm(%q) = %v, want %v", name, err, want)
		}
	}
	err = r.Rm(t.Context(), "odd", &workspace.RmOptions{Recursive: true})
	if want := "rm odd: directory not empty: it holds names that no listing shows"; err == nil || err.Error() != want {
		t.Errorf("recursive Rm(%q) = %v, want %s", "odd", err, want)
	}
}
