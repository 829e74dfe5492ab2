package policy_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// TestRestrictConformance runs the suite with rules that allow everything: with
// a pattern that shows it at once, and with one that must be tested for each
// name.
func TestRestrictConformance(t *testing.T) {
	for name, patterns := range map[string][]string{
		"whole":     {"**"},
		"each-name": {"**/*"},
		"each-tree": {"*/**"},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func(t *testing.T) workspace.FileSystem {
				return restrict(t, memory.New(nil), patterns...)
			}, &conformance.Options{Short: name != "each-name" && !exhaustive.On()})
		})
	}
}

// TestRestrictLocalConformance is for what a folder has and memory does not:
// symlinks.
func TestRestrictLocalConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T) workspace.FileSystem {
		return restrict(t, openLocal(t, t.TempDir()), "**/*")
	}, ofFolders())
}

// ofFolders are the options of a run in a folder of what has a run in memory: what a
// folder adds are symlinks, and names that are resolved.
func ofFolders() *conformance.Options {
	opts := &conformance.Options{Symlink: symlinkIn, Short: !exhaustive.On()}
	if !exhaustive.On() {
		opts.Only = []string{"Symlink", "Exact", "Resolve", "Errors", "Rm", "Move", "Stat", "WriteFile/replace", "Glob/order", "Grep/order", "Walk/order"}
	}
	return opts
}

// TestExactConformance runs the suite on the exact views of the wrappers.
func TestExactConformance(t *testing.T) {
	for name, wrap := range map[string]func(t *testing.T, fsys workspace.FileSystem) workspace.FileSystem{
		"Restrict": func(t *testing.T, fsys workspace.FileSystem) workspace.FileSystem { return restrict(t, fsys, "**/*") },
		"Sub": func(t *testing.T, fsys workspace.FileSystem) workspace.FileSystem {
			if err := fsys.Mkdir(t.Context(), "real", nil); err != nil {
				t.Fatal(err)
			}
			makeSymlink(t, fallback.Root(fsys), "real", "link")
			sub, err := policy.Sub(fsys, "link")
			if err != nil {
				t.Fatal(err)
			}
			return sub
		},
	} {
		t.Run(name, func(t *testing.T) {
			opts := ofFolders()
			opts.Symlink = nil // it follows none
			conformance.Run(t, func(t *testing.T) workspace.FileSystem {
				exact, err := workspace.Exact(wrap(t, openLocal(t, t.TempDir())))
				if err != nil {
					t.Fatal(err)
				}
				return exact
			}, opts)
		})
	}
}

func restrict(t *testing.T, fsys workspace.FileSystem, patterns ...string) *policy.RestrictedFS {
	t.Helper()
	r, err := policy.Restrict(fsys, policy.Rules{AllowedPaths: patterns})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func openLocal(t *testing.T, dir string) *localbash.FS {
	t.Helper()
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

// symlinkIn makes a symlink in the folder of fsys.
func symlinkIn(t *testing.T, fsys workspace.FileSystem, target, name string) {
	t.Helper()
	makeSymlink(t, fallback.Root(fsys), target, name)
}

func makeSymlink(t *testing.T, dir, target, name string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.FromSlash(target), path); err != nil {
		t.Skipf("this computer makes no symlinks here: %v", err)
	}
}
