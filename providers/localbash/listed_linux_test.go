package localbash_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestReadListed tests files whose sizes are about those of a page and of the first read.
func TestReadListed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fsys := open(t, dir, nil)
	for _, size := range []int{0, 1, 4095, 4096, 4097, 8192, 65535, 65536, 65537, 131072, 300_001} {
		content := make([]byte, size)
		for i := range content {
			content[i] = 'a' + byte(i%23)
		}
		name := strconv.Itoa(size)
		put(t, filepath.Join(dir, name), string(content))
		for _, full := range []bool{false, true} {
			for _, text := range []bool{false, true} {
				got, err := fsys.ReadListed(name, full, scan.ReadOptions{Text: text})
				if err != nil || !bytes.Equal(got, content) {
					t.Errorf("reading a file of %d bytes, full = %v, text = %v: %d bytes, %v", size, full, text, len(got), err)
				}
			}
			if size < 2 {
				continue // as no limit is less
			}
			if _, err := fsys.ReadListed(name, full, scan.ReadOptions{Limit: int64(size) - 1}); !errors.Is(err, workspace.ErrTooLarge) {
				t.Errorf("reading a file of %d bytes with a limit below, full = %v: %v, want ErrTooLarge", size, full, err)
			}
		}
	}
}

// TestReadListedReplaced tests what takes the place of a file after it was listed.
func TestReadListedReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fsys := open(t, dir, nil)
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if _, err := writer.WriteString("for another reader"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "dir"), 0o777); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "file"), "content")
	if err := os.Symlink("file", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, full := range []bool{false, true} {
		for name, want := range map[string]error{"fifo": fs.ErrInvalid, "dir": workspace.ErrIsDir, "link": workspace.ErrSymlink, "none": fs.ErrNotExist} {
			if got, err := fsys.ReadListed(name, full, scan.ReadOptions{}); !errors.Is(err, want) {
				t.Errorf("reading %s, full = %v: %q, %v, want %v", name, full, got, err, want)
			}
		}
	}
	left := make([]byte, 64)
	if n, err := writer.Read(left); err != nil || string(left[:n]) != "for another reader" {
		t.Errorf("the FIFO has %q, %v, want all that was written", left[:n], err)
	}
}
