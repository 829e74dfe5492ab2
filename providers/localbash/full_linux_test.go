package localbash_test

import (
	"bytes"
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestFullDisk writes to a file system without space: the error says so, the
// old content stays, and nothing is left of the write.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("a full file system needs the right to mount one, which root has: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("Unmount(%q) = %v", dir, err)
		}
	})
	f, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteFile(t.Context(), "a", []byte("old"), nil); err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteFile(t.Context(), "a", bytes.Repeat([]byte("x"), 1<<20), nil)
	if !errors.Is(err, workspace.ErrNoSpace) || tools.CodeOf(err) != tools.CodeNoSpace {
		t.Errorf("WriteFile to a full disk = %v, want %v", err, workspace.ErrNoSpace)
	}
	if data, err := f.ReadFile(t.Context(), "a"); err != nil || string(data) != "old" {
		t.Errorf("ReadFile after it = %q, %v, want the old content", data, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("ReadDir after it = %v, %v, want the file alone", left, err)
	}
}
