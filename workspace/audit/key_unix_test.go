//go:build unix

package audit_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/workspace/audit"
)

// TestKeyThatIsNoRegularFile has LoadKey refuse what it can neither read nor create.
func TestKeyThatIsNoRegularFile(t *testing.T) {
	dir := t.TempDir()
	link, key, fifo := filepath.Join(dir, "link"), filepath.Join(dir, "missing"), filepath.Join(dir, "fifo")
	if err := os.Symlink(key, link); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	loaded(t, link, "a symlink to a missing file")
	loaded(t, fifo, "not a regular file")
	loaded(t, dir, "not a regular file")
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("ReadDir = %v, %v, want that nothing was created", left, err)
	}
	want := loaded(t, key, "")
	if got := loaded(t, link, ""); !bytes.Equal(got, want) {
		t.Errorf("LoadKey of a symlink to a key = %x, want %x", got, want)
	}
}

// loaded returns the key in a file, which is expected to fail with an error that has a text
// if this is not empty, and to end.
func loaded(t *testing.T, path, wantError string) []byte {
	t.Helper()
	var key []byte
	done := make(chan error, 1)
	go func() {
		var err error
		key, err = audit.LoadKey(path)
		done <- err
	}()
	select {
	case err := <-done:
		if wantError == "" && err != nil || wantError != "" && (err == nil || !strings.Contains(err.Error(), wantError)) {
			t.Errorf("LoadKey(%s) = %v, want the error %q", filepath.Base(path), err, wantError)
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("LoadKey(%s) does not end", filepath.Base(path))
	}
	return key
}
