package kind_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/workspacekit/workspacekit/workspace/kind"
)

// TestInside checks what is inside of a folder that is named, and of the current one.
func TestInside(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "dir")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"in": "sub", "out": "../other", "loop": "loop", "again": "out", "absolute": filepath.Join(base, "other"), "new": "sub/new",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skipf("no symlinks: %v", err)
		}
	}
	t.Chdir(dir)
	for name, want := range map[string]bool{
		"": true, ".": true, "sub": true, "missing": true, "missing/deep": true, "in": true, "in/missing": true, "new": true, "loop": true,
		"..": false, "../other": false, "out": false, "out/deep": false, "again": false, "absolute": false, base: false, dir: true,
	} {
		for _, from := range []string{"", dir} {
			if got := (kind.Input{Dir: from}).Inside(name); got != want {
				t.Errorf("Input{Dir: %q}.Inside(%q) = %v, want %v", from, name, got, want)
			}
		}
	}
}

// TestConfigNames checks that ConfigIn gets an absolute path.
func TestConfigNames(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, from := range []string{"", dir} {
		in := kind.Input{Dir: from, ConfigIn: func(path string) []string { return []string{path} }}
		got, want := in.ConfigNames("sub"), kind.RealPath(filepath.Join(dir, "sub"))
		if kind.RealPath(got[0]) != want || !filepath.IsAbs(got[0]) {
			t.Errorf("Input{Dir: %q}.ConfigNames(%q) asks for %q, want %q", from, "sub", got, want)
		}
	}
}
