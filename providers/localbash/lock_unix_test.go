//go:build unix

package localbash_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

const lockFile = ".workspacekit-tmp-lock"

// flock locks the file or directory path as a process does.
func flock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() { file.Close() }
}

// lockFolder locks dir as another process with a workspace does.
func lockFolder(t *testing.T, dir string) (unlock func()) {
	t.Helper()
	path := filepath.Join(dir, lockFile)
	put(t, path, "")
	release := flock(t, path)
	return func() {
		if err := os.Remove(path); err != nil {
			t.Errorf("the lock file of another process was removed: %v", err)
		}
		release()
	}
}

// changes are changes of "file" in "dir", in each way.
func changes(ctx context.Context, fsys *localbash.FS) map[string]func() error {
	return map[string]func() error{
		"WriteFile": func() error {
			_, err := fsys.WriteFile(ctx, "dir/file", []byte("new"), nil)
			return err
		},
		"WriteFile of much": func() error {
			_, err := fsys.WriteFile(ctx, "dir/file", make([]byte, writeSizes[1]), nil)
			return err
		},
		"Copy": func() error {
			_, err := fsys.Copy(ctx, "dir/file", "dir/copy")
			return err
		},
		"Move": func() error {
			return errors.Join(fsys.Move(ctx, "dir/file", "dir/moved"), fsys.Move(ctx, "dir/moved", "dir/file"))
		},
		"Rm": func() error {
			if err := fsys.Rm(ctx, "dir/file", nil); err != nil {
				return err
			}
			_, err := fsys.WriteFile(ctx, "dir/file", []byte("old"), nil)
			return err
		},
	}
}

// TestLocksOfOthers changes files while another program holds locks on the
// folder and the file, as "flock DIR make" does.
func TestLocksOfOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	put(t, filepath.Join(dir, "file"), "old")
	defer flock(t, dir)()
	defer flock(t, filepath.Join(dir, "file"))()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for name, change := range changes(ctx, open(t, filepath.Dir(dir), nil)) {
		if err := change(); err != nil {
			t.Errorf("%s in a folder that another program has locked = %v, want nil", name, err)
		}
	}
	if found := temps(t, dir); len(found) > 0 {
		t.Errorf("the changes leave %q, want nothing", found)
	}
}

// TestFailureKeepsDirectories cancels a move that has created a directory, after Mkdir has
// reported the directory to somebody else.
func TestFailureKeepsDirectories(t *testing.T) {
	for _, mkdir := range []bool{true, false} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "file"), "")
		unlock := lockFolder(t, dir)
		fsys := open(t, dir, nil)
		ctx, cancel := context.WithCancel(t.Context())
		moved := make(chan error)
		go func() { moved <- fsys.Move(ctx, "file", "new/file") }()
		for made := false; !made && t.Context().Err() == nil; {
			_, err := os.Stat(filepath.Join(dir, "new"))
			made = err == nil
		}
		if mkdir {
			if err := fsys.Mkdir(t.Context(), "new", &workspace.MkdirOptions{Recursive: true}); err != nil {
				t.Error(err)
			}
		}
		cancel()
		if err := <-moved; !errors.Is(err, context.Canceled) {
			t.Errorf("Move = %v, want Canceled", err)
		}
		if _, err := os.Stat(filepath.Join(dir, "new")); (err == nil) != mkdir {
			t.Errorf("Stat of the directory after the move = %v, it was reported: %t", err, mkdir)
		}
		unlock()
	}
}

// TestLockIsBounded waits for a process that does not unlock the folder.
func TestLockIsBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	put(t, filepath.Join(dir, "file"), "old")
	unlock := lockFolder(t, dir)
	fsys := open(t, filepath.Dir(dir), nil).WithLockWait(20 * time.Millisecond)
	for name, change := range changes(context.Background(), fsys) {
		err := change()
		if !errors.Is(err, workspace.ErrUnavailable) || !strings.Contains(err.Error(), "another process has locked the directory") {
			t.Errorf("%s in a locked folder = %v, want %v and what it waits for", name, err, workspace.ErrUnavailable)
		}
		if want := "delete that file if no program works in the folder"; ops.RemedyOf(err) != want {
			t.Errorf("%s in a locked folder = %v with the remedy %q, want %q", name, err, ops.RemedyOf(err), want)
		}
	}
	checkUntouched(t, dir)
	unlock()
	write(t, fsys, "dir/file", "new")
}

// checkUntouched wants dir to be as it was, and locked.
func checkUntouched(t *testing.T, dir string) {
	t.Helper()
	if got, found := content(t, filepath.Join(dir, "file")), temps(t, dir); got != "old" || len(found) != 1 {
		t.Errorf("the file has %q and the temporary files are %q, want %q and the lock", got, found, "old")
	}
}

// TestLockHonoursContext waits for a process that does not unlock the folder.
func TestLockHonoursContext(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	put(t, filepath.Join(dir, "file"), "old")
	unlock := lockFolder(t, dir)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	fsys := open(t, filepath.Dir(dir), nil)
	for name, change := range changes(ctx, fsys) {
		if err := change(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s in a locked folder = %v, want %q", name, err, context.DeadlineExceeded)
		}
	}
	checkUntouched(t, dir)
	unlock()
	write(t, fsys, "dir/file", "new")
}

// TestLockOfTheDead changes files in a folder that a killed process had locked.
func TestLockOfTheDead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	put(t, filepath.Join(dir, "file"), "old")
	fsys := open(t, filepath.Dir(dir), nil)
	for name, change := range changes(context.Background(), fsys) {
		put(t, filepath.Join(dir, lockFile), "half of a fi")
		if err := change(); err != nil {
			t.Errorf("%s in a folder with the lock of a dead process = %v, want nil", name, err)
		}
		os.Remove(filepath.Join(dir, "copy"))
		if found := temps(t, dir); len(found) > 0 {
			t.Errorf("%s leaves %q, want nothing", name, found)
		}
	}
}
