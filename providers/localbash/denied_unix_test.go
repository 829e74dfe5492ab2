//go:build unix

package localbash_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestFull writes files larger than the operating system allows.
func TestFull(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "old")
	put(t, filepath.Join(dir, "large"), strings.Repeat("x", 4*fullLimit))
	before := tree(t, dir)
	if err := child(t, "full", dir).Run(); err != nil {
		t.Errorf("child: %v", err)
	}
	if after := tree(t, dir); len(after) != len(before) || after["file"] != before["file"] {
		t.Errorf("after failed writes there is %v, want %v", after, before)
	}
}

// TestOutOfDescriptors wants an error that is worth retrying.
func TestOutOfDescriptors(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "dir", "file"), "old")
	if err := child(t, "fewfiles", dir).Run(); err != nil {
		t.Errorf("child: %v", err)
	}
}

// TestRmOfADeepTree removes more levels than there are descriptors.
func TestRmOfADeepTree(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("the depth is limited here")
	}
	dir := t.TempDir()
	if err := child(t, "deep", dir).Run(); err != nil {
		t.Errorf("child: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("after Rm of the tree there are %v, %v, want one file", entries, err)
	}
}

// TestPermission does what only some users may, as a user who may not.
func TestPermission(t *testing.T) {
	dir := t.TempDir()
	for name, perm := range map[string]os.FileMode{
		"mine": 0o666, "unreadable": 0o222, "readonly": 0o444, "free/any": 0o666, "fixed/file": 0o666, "closed/file": 0o666,
	} {
		put(t, filepath.Join(dir, name), "content")
		if err := os.Chmod(filepath.Join(dir, name), perm); err != nil {
			t.Fatal(err)
		}
	}
	for name, perm := range map[string]os.FileMode{"..": 0o755, ".": 0o777, "free": 0o777, "fixed": 0o555, "closed": 0} {
		path := filepath.Join(dir, name)
		if err := os.Chmod(path, perm); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(path, 0o777) })
	}
	if err := child(t, "nobody", dir).Run(); err != nil {
		t.Errorf("child: %v", err)
	}
	if got := content(t, filepath.Join(dir, "readonly")); got != "content" {
		t.Errorf("the read-only file has %q, want %q", got, "content")
	}
}
