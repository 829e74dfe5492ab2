package localbash_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/workspacekit/workspacekit/workspace"
)

// TestIOFSFollowsSymlinks looks at a folder with symlinks through the io/fs
// view, which has none: a symlink is what it leads to, under its own name.
func TestIOFSFollowsSymlinks(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "real", "file"), "content")
	for link, target := range map[string]string{"link": "real/file", "folder": "real"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skipf("this system makes no symlinks: %v", err)
		}
	}
	view := workspace.New("test", open(t, dir, nil), nil).FS(t.Context())
	info, err := fs.Stat(view, "link")
	if err != nil || info.Name() != "link" || info.Size() != int64(len("content")) || !info.Mode().IsRegular() {
		t.Errorf("Stat(link) = %v, %v, want a regular file called link with the size of its target", info, err)
	}
	info, err = fs.Stat(view, "folder")
	if err != nil || info.Name() != "folder" || !info.IsDir() {
		t.Errorf("Stat(folder) = %v, %v, want a directory called folder", info, err)
	}
	if data, err := fs.ReadFile(view, "folder/file"); err != nil || string(data) != "content" {
		t.Errorf("ReadFile(folder/file) = %q, %v, want content", data, err)
	}
	if err := fstest.TestFS(view, "real/file", "link"); err != nil {
		t.Error(err)
	}
}
