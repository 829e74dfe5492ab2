//go:build unix

package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/workspacekit/workspacekit/workspace/config"
)

// TestFindOfOthers tests that a file in a folder above that belongs to somebody
// else is not used unasked.
func TestFindOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	root := t.TempDir()
	deep := filepath.Join(root, "a")
	if err := os.Mkdir(deep, 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, config.FileName)
	writeFile(t, path, "")
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Find(deep); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Find(%q) = %v, want %v", deep, err, fs.ErrPermission)
	}
	expectFound(t, root, path) // where one has gone oneself
	mine := filepath.Join(t.TempDir(), "mine")
	writeFile(t, mine, "")
	if err := errors.Join(os.Remove(path), os.Symlink(mine, path)); err != nil {
		t.Fatal(err)
	}
	expectFound(t, deep, path)
	if err := os.Lchown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Find(deep); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Find(%q) with a symlink of somebody else = %v, want %v", deep, err, fs.ErrPermission)
	}
}
