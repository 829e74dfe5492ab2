package localbash_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// TestConformance runs the whole suite on a confined FS, and what the options
// can change on the others.
func TestConformance(t *testing.T) {
	short := !exhaustive.On()
	for _, test := range []struct {
		name  string
		opts  localbash.Options
		suite conformance.Options
	}{
		{name: "confined", suite: conformance.Options{Short: !exhaustive.IsLong()}},
		{name: "sync", opts: localbash.Options{Sync: true}, suite: conformance.Options{Short: short, Only: syncGroups(t)}},
		{name: "relaxed", opts: localbash.Options{Relaxed: true}, suite: conformance.Options{Short: short, Only: ofNames(), Skip: map[string]string{
			"Symlink/escape":            "a relaxed FS lets symlinks out",
			"Symlink/escape-by-writing": "a relaxed FS lets symlinks out",
		}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if testing.Short() && test.name != "confined" {
				t.Skip("-short: one kind of folder is enough")
			}
			test.suite.Symlink = symlink
			conformance.Run(t, func(t *testing.T) workspace.FileSystem {
				return open(t, t.TempDir(), &test.opts)
			}, &test.suite)
		})
	}
}

// syncGroups returns the groups about changes, and all if tests try everything.
func syncGroups(t *testing.T) []string {
	return exhaustive.Some(t, "what Sync makes of methods that change nothing", nil,
		[]string{"WriteFile", "Rm", "Mkdir", "Create", "Move", "Copy"})
}

// TestExactConformance runs the suite on the view that follows no symlinks.
func TestExactConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T) workspace.FileSystem { return exact(t, open(t, t.TempDir(), nil)) },
		&conformance.Options{Short: !exhaustive.On(), Only: ofNames()})
}

// ofNames returns what a variant of an FS runs, where the plain FS runs the suite: the
// cases about the way from a name to a file.
func ofNames() []string {
	if exhaustive.On() {
		return nil
	}
	return []string{
		"Symlink", "Exact", "Resolve", "Errors", "Rm", "Mkdir", "Move", "Copy", "Stat", "ReadFile/content",
		"WriteFile/replace", "Glob/order", "Grep/order", "Ls/describes", "Walk/order", "Watch/at-depth",
	}
}

// exact returns the exact view of fsys.
func exact(t testing.TB, fsys workspace.FileSystem) workspace.FileSystem {
	t.Helper()
	view, err := workspace.Exact(fsys)
	if err != nil {
		t.Fatalf("Exact() = %v, want nil", err)
	}
	return view
}

// open opens dir for the length of the test.
func open(t testing.TB, dir string, opts *localbash.Options) *localbash.FS {
	t.Helper()
	fsys, err := localbash.Open(dir, opts)
	if err != nil {
		t.Fatalf("Open(%q) = %v, want nil", dir, err)
	}
	t.Cleanup(func() {
		if err := fsys.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
	})
	return fsys
}

// symlink makes a symlink in the folder of fsys.
func symlink(t *testing.T, fsys workspace.FileSystem, target, name string) {
	t.Helper()
	link := filepath.Join(fallback.Root(fsys), name)
	if err := os.MkdirAll(filepath.Dir(link), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}
