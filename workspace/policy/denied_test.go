package policy_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// deniedRules deny names everywhere, a directory in one place, and the names of
// one kind below another directory.
var deniedRules = policy.Rules{DeniedPaths: []string{".env*", "conf/keys", "app/**/*.pem", "STRASSE"}}

// deniedFiles are denied by deniedRules, as what is in deniedRoots. freeFiles are
// not.
var (
	deniedFiles = []string{".env", "app/.env.local", "src/.ENV/x", "conf/keys/a", "conf/Keys/in/b", "app/in/deep/key.PEM", "src/straſſe"}
	deniedRoots = []string{".env", "app/.env.local", "src/.ENV", "conf/keys", "conf/Keys", "app/in/deep/key.PEM", "src/straſſe"}
	freeFiles   = []string{"top.txt", "src/a.go", "app/main.go", "conf/other", "in/conf/keys", "key.pem", "app/env", "x.env"}
)

// newDenied returns fsys, with the files, as deniedRules show it.
func newDenied(t *testing.T, fsys workspace.FileSystem) *policy.RestrictedFS {
	t.Helper()
	for _, name := range slices.Concat(deniedFiles, freeFiles) {
		write(t, fsys, name, "needle in "+name+"\n")
	}
	r, err := policy.Restrict(fsys, deniedRules)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// stores are file systems to try policies on.
func stores() map[string]func(t *testing.T) workspace.FileSystem {
	return map[string]func(t *testing.T) workspace.FileSystem{
		"memory": func(*testing.T) workspace.FileSystem { return memory.New(nil) },
		"local":  func(t *testing.T) workspace.FileSystem { return openLocal(t, t.TempDir()) },
	}
}

// contents returns what names hold in fsys.
func contents(t *testing.T, fsys workspace.FileSystem, names []string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range names {
		data, err := fsys.ReadFile(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	return files
}

// TestDeniedNames tries every operation on denied names, spelled in several
// ways, whether there is such a file or not.
func TestDeniedNames(t *testing.T) {
	every := concat(readCalls(), lookCalls(), writeCalls(), removeCalls(), makeCalls(), resolveCalls())
	names := slices.Concat(deniedFiles, []string{
		".ENV", ".env.production", ".envrc", "a/b/.env", ".env/below", "conf/keys", "conf/keys/new", "CONF/KEYS/a", "app/new.pem", "app/x.pem/y", "straße/STRASSE", "strasse",
	})
	for store, open := range stores() {
		t.Run(store, func(t *testing.T) {
			fsys := open(t)
			r := newDenied(t, fsys)
			before := contents(t, fsys, deniedFiles)
			for _, name := range names {
				for _, c := range every {
					if err := c.do(t.Context(), r, name); !errors.Is(err, workspace.ErrPolicy) {
						t.Errorf("%s(%q) = %v, want ErrPolicy", c.op, name, err)
					}
				}
			}
			if diff := cmp.Diff(before, contents(t, fsys, deniedFiles)); diff != "" {
				t.Errorf("what is denied has changed (-before +after):\n%s", diff)
			}
			if got := contents(t, r, freeFiles); len(got) != len(freeFiles) {
				t.Errorf("of %q only %q can be read", freeFiles, got)
			}
		})
	}
}

// TestDeniedTrees tries to remove or to move what is denied with a directory
// that is not, and to move something so that it becomes denied.
func TestDeniedTrees(t *testing.T) {
	for store, open := range stores() {
		t.Run(store, func(t *testing.T) {
			fsys := open(t)
			r := newDenied(t, fsys)
			write(t, fsys, "innocent/keys/a", "x")
			before := contents(t, fsys, deniedFiles)
			for _, dir := range []string{"app", "conf", "src", "app/in", "app/in/deep"} {
				for _, c := range removeCalls() {
					err := c.do(t.Context(), r, dir)
					if !errors.Is(err, workspace.ErrPolicy) && !errors.Is(err, workspace.ErrNotEmpty) && !errors.Is(err, fs.ErrInvalid) {
						t.Errorf("%s(%q) = %v, want ErrPolicy", c.op, dir, err)
					}
				}
			}
			for _, pair := range [][2]string{{"innocent", "conf/keys"}, {"innocent", ".env"}, {"innocent/keys", "conf/keys"}} {
				if err := r.Move(t.Context(), pair[0], pair[1]); !errors.Is(err, workspace.ErrPolicy) {
					t.Errorf("Move(%q, %q) = %v, want ErrPolicy", pair[0], pair[1], err)
				}
			}
			remove(t, fsys, "conf")
			if err := r.Move(t.Context(), "innocent", "conf"); !errors.Is(err, workspace.ErrPolicy) {
				t.Errorf("Move of a directory to where what it holds is denied = %v, want ErrPolicy", err)
			}
			delete(before, "conf/keys/a")
			delete(before, "conf/Keys/in/b")
			if diff := cmp.Diff(before, contents(t, fsys, slices.Collect(maps.Keys(before)))); diff != "" {
				t.Errorf("what is denied has changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestDeniedIsNotListed looks for denied names in everything that lists names.
func TestDeniedIsNotListed(t *testing.T) {
	for store, open := range stores() {
		t.Run(store, func(t *testing.T) {
			ctx := t.Context()
			r := newDenied(t, open(t))
			want := slices.Sorted(slices.Values(freeFiles))
			for _, gitignore := range []bool{false, true} {
				globbed, err := r.Glob(ctx, "**", &workspace.GlobOptions{Gitignore: gitignore})
				if diff := cmp.Diff(want, globbed); err != nil || diff != "" {
					t.Errorf("Glob: %v, names (-want +got):\n%s", err, diff)
				}
				found, err := r.Grep(ctx, "needle", &workspace.GrepOptions{Gitignore: gitignore})
				if err != nil {
					t.Fatal(err)
				}
				var grepped []string
				for _, match := range found.Matches {
					grepped = append(grepped, match.Path)
				}
				if diff := cmp.Diff(want, grepped); diff != "" || len(found.Skipped) > 0 {
					t.Errorf("Grep: skipped %v, names (-want +got):\n%s", found.Skipped, diff)
				}
			}
			var walked []string
			err := r.Walk(ctx, ".", nil, func(info workspace.FileInfo, err error) error {
				if !info.IsDir() {
					walked = append(walked, info.Path)
				}
				return err
			})
			if diff := cmp.Diff(want, walked); err != nil || diff != "" {
				t.Errorf("Walk: %v, names (-want +got):\n%s", err, diff)
			}
			for _, dir := range []string{".", "app", "conf", "src", "app/in/deep"} {
				infos, err := r.Ls(ctx, dir, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, info := range infos {
					if slices.Contains(deniedRoots, info.Path) {
						t.Errorf("Ls(%q) shows %q", dir, info.Path)
					}
				}
			}
		})
	}
}

// TestDeniedWatch tests that no event reports a denied name.
func TestDeniedWatch(t *testing.T) {
	m := memory.New(nil)
	r := newDenied(t, m)
	events, err := r.Watch(t.Context(), ".", nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, m, ".env", "changed")
	write(t, m, "new/.env", "changed")
	remove(t, m, "conf/keys")
	write(t, m, "top.txt", "changed")
	want := []workspace.Event{{Op: workspace.EventCreate, Path: "new"}, {Op: workspace.EventWrite, Path: "top.txt"}}
	if diff := cmp.Diff(want, take(t, events, len(want))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestDeniedSymlinks tries to reach denied names through symlinks.
func TestDeniedSymlinks(t *testing.T) {
	dir := t.TempDir()
	r := newDenied(t, openLocal(t, dir))
	before := contents(t, openLocal(t, dir), deniedFiles)
	makeSymlink(t, dir, ".env", "link")
	makeSymlink(t, dir, "link", "linklink")
	makeSymlink(t, dir, "conf/keys", "way")
	makeSymlink(t, dir, "conf", "half")
	makeSymlink(t, dir, ".env.new", "dangling")
	for _, name := range []string{"link", "linklink", "way", "way/a", "half/keys", "half/keys/a", "dangling"} {
		for _, c := range concat(readCalls(), writeCalls()[:2]) {
			if err := c.do(t.Context(), r, name); !errors.Is(err, workspace.ErrPolicy) {
				t.Errorf("%s(%q) = %v, want ErrPolicy", c.op, name, err)
			}
		}
	}
	if diff := cmp.Diff(before, contents(t, openLocal(t, dir), deniedFiles)); diff != "" {
		t.Errorf("what is denied has changed (-before +after):\n%s", diff)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".env.new")); err == nil {
		t.Error("a write through a symlink created a denied file")
	}
}

// TestDeniedConformance runs the suite with patterns that deny nothing in it.
func TestDeniedConformance(t *testing.T) {
	open := func(t *testing.T, fsys workspace.FileSystem) workspace.FileSystem {
		r, err := policy.Restrict(fsys, policy.Rules{DeniedPaths: []string{"denied-*", "**/denied/**"}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.Restrict(r, policy.Rules{ReadOnlyPaths: []string{"*.readonly"}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	t.Run("memory", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) workspace.FileSystem { return open(t, memory.New(nil)) },
			&conformance.Options{Short: !exhaustive.On()})
	})
	t.Run("local", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) workspace.FileSystem { return open(t, openLocal(t, t.TempDir())) },
			ofFolders())
	})
}

// TestDenialNamesTheRule tests what a refusal says, with and without
// AllowedPaths.
func TestDenialNamesTheRule(t *testing.T) {
	m := memory.New(nil)
	r := newDenied(t, m)
	both, err := policy.Restrict(m, policy.Rules{AllowedPaths: []string{"src/**"}, DeniedPaths: []string{".env*"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		fsys       *policy.RestrictedFS
		name, want string
	}{
		{r, "conf/keys/none", `read_file conf/keys/none: forbidden by policy: it matches deniedPaths[1], "conf/keys"`},
		{both, "src/.env", `read_file src/.env: forbidden by policy: it matches deniedPaths[0], ".env*"`},
		{both, "top.txt", `read_file top.txt: forbidden by policy: neither one of the allowed paths (src/**) nor a directory that leads to one`},
	} {
		if _, err := tt.fsys.ReadFile(t.Context(), tt.name); err == nil || err.Error() != tt.want {
			t.Errorf("ReadFile(%q) = %v, want %s", tt.name, err, tt.want)
		}
	}
}

// TestReadOnlyPaths tries every change of read-only names, and reads them.
func TestReadOnlyPaths(t *testing.T) {
	for store, open := range stores() {
		t.Run(store, func(t *testing.T) {
			fsys := open(t)
			for _, name := range []string{"top.txt", ".git/config", "lib/vendor/a.go", "docs/x.GEN.md", "src/a.go"} {
				write(t, fsys, name, "as it was")
			}
			p, err := policy.Restrict(fsys, policy.Rules{ReadOnlyPaths: []string{".git", "vendor", "docs/*.gen.md"}})
			if err != nil {
				t.Fatal(err)
			}
			r, err := policy.Restrict(p, policy.Rules{AllowedPaths: []string{"**/*"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{".git/config", ".git/new", "sub/.git/x", "lib/vendor/a.go", "lib/VENDOR/b", "docs/x.GEN.md", "docs/new.gen.md"} {
				for _, c := range concat(writeCalls(), removeCalls(), makeCalls()) {
					if err := c.do(t.Context(), r, name); !errors.Is(err, workspace.ErrPolicy) && !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("%s(%q) = %v, want ErrPolicy", c.op, name, err)
					}
				}
			}
			for _, dir := range []string{"lib", ".git", "docs"} {
				if err := r.Rm(t.Context(), dir, &workspace.RmOptions{Recursive: true}); !errors.Is(err, workspace.ErrPolicy) {
					t.Errorf("Rm(%q) = %v, want ErrPolicy", dir, err)
				}
			}
			for name, text := range contents(t, r, []string{"top.txt", ".git/config", "lib/vendor/a.go", "docs/x.GEN.md"}) {
				if text != "as it was" {
					t.Errorf("%s = %q now", name, text)
				}
			}
		})
	}
}

// TestPathPatterns tests which patterns are refused.
func TestPathPatterns(t *testing.T) {
	for pattern, want := range map[string]error{
		".env": nil, "a/b/": nil, "**/x": nil, "*": nil, strings.Repeat("a", 4096): nil, `\!a`: nil, "a/!b": nil,
		"": workspace.ErrPattern, strings.Repeat("a", 4097): workspace.ErrPattern, "/a": workspace.ErrPattern, "../a": workspace.ErrEscape, "[": workspace.ErrPattern,
		"!a": workspace.ErrPattern,
	} {
		if err := policy.CheckDeniedPath(pattern); !errors.Is(err, want) {
			t.Errorf("CheckDeniedPath(%q) = %v, want %v", pattern, err, want)
		}
		if _, err := policy.Restrict(memory.New(nil), policy.Rules{DeniedPaths: []string{pattern}}); !errors.Is(err, want) {
			t.Errorf("Restrict with the denied path %q = %v, want %v", pattern, err, want)
		}
	}
}
