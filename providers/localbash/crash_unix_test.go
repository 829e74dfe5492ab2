//go:build unix

package localbash_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// TestKill kills a writer again and again, at random moments.
func TestKill(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 5
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	leftovers := 0
	for round := 0; round < rounds || leftovers == 0 && round < 10*rounds; round++ {
		killWriter(t, dir, time.Duration(random.IntN(20_000))*time.Microsecond)
		leftovers += len(temps(t, filepath.Join(dir, "*")))
		checkWhole(t, dir)
		checkSwept(t, dir)
	}
	if leftovers == 0 {
		t.Errorf("no writer left a temporary file in %d rounds, so that nothing was tested", 10*rounds)
	}
}

// killWriter lets a child write until a while after it has begun to.
func killWriter(t *testing.T, dir string, after time.Duration) {
	t.Helper()
	cmd := child(t, "write", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(dir, "dir0", "file0")
	before, _ := os.Stat(mark)
	poll(t, "a first write of the child", func() bool {
		now, err := os.Stat(mark)
		return err == nil && (before == nil || !os.SameFile(before, now))
	})
	<-time.After(after)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
}

// poll waits until done reports true.
func poll(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		<-time.After(time.Millisecond)
	}
}

// checkWhole wants every file to be one that was written, from its first byte
// to its last, and no other file to be seen.
func checkWhole(t *testing.T, dir string) {
	t.Helper()
	ctx := context.Background()
	fsys := open(t, dir, nil)
	paths, err := fsys.Glob(ctx, "**", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range paths {
		if strings.Contains(name, "tmp") {
			t.Errorf("Glob found the temporary file %q", name)
		}
		if info, err := fsys.Stat(ctx, name); err != nil || info.IsDir() {
			continue
		}
		var dir, file int
		if _, err := fmt.Sscanf(name, "dir%d/file%d", &dir, &file); err != nil {
			t.Fatalf("there is a file %q", name)
		}
		data, err := fsys.ReadFile(ctx, name)
		if size := crashSize(file); err != nil || len(data) != size || !bytes.Equal(data, bytes.Repeat(data[:1], size)) {
			t.Errorf("%q is torn: %d bytes, %v", name, len(data), err)
		}
	}
}

// checkSwept wants changes of the folders to remove the leftovers.
func checkSwept(t *testing.T, dir string) {
	t.Helper()
	fsys := open(t, dir, nil)
	for i := range 4 {
		folder := fmt.Sprintf("dir%d", i)
		if _, err := fsys.Ls(context.Background(), folder, nil); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		write(t, fsys, folder+"/mark", "")
		if err := fsys.Rm(context.Background(), folder+"/mark", nil); err != nil {
			t.Fatal(err)
		}
	}
	if found := temps(t, filepath.Join(dir, "*")); len(found) > 0 {
		t.Errorf("temporary files are left after a listing and a change: %q", found)
	}
}

// leave makes a leftover in dir, as a process that dies would.
func leave(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, ".workspacekit-tmp-ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	put(t, path, "leftover")
	return path
}

// TestSweep lists folders with leftovers, in each way, and then changes them.
// Listing alone must not remove anything.
func TestSweep(t *testing.T) {
	ctx := context.Background()
	for name, list := range map[string]func(fsys *localbash.FS) (found any, err error){
		"Ls":   func(fsys *localbash.FS) (any, error) { return fsys.Ls(ctx, "dir", nil) },
		"Glob": func(fsys *localbash.FS) (any, error) { return fsys.Glob(ctx, "**", nil) },
		"Grep": func(fsys *localbash.FS) (any, error) {
			result, err := fsys.Grep(ctx, "leftover", nil)
			if err != nil {
				return nil, err
			}
			return result.Matches, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := leave(t, filepath.Join(dir, "dir"))
			fsys := open(t, dir, nil)
			if found, err := list(fsys); err != nil || fmt.Sprint(found) != "[]" {
				t.Fatalf("%s = %v, %v, want nothing", name, found, err)
			}
			if _, err := os.Lstat(path); err != nil {
				t.Fatalf("%s removed the leftover: %v", name, err)
			}
			write(t, fsys, "other/file", "")
			if _, err := os.Lstat(path); err != nil {
				t.Fatalf("a change of another folder removed the leftover: %v", err)
			}
			write(t, fsys, "dir/file", "")
			if _, err := os.Lstat(path); err == nil {
				t.Error("the leftover is there after a change of its folder")
			}
		})
	}
}

// TestRmSweeps removes a folder with nothing but leftovers.
func TestRmSweeps(t *testing.T) {
	for _, recursive := range []bool{false, true} {
		dir := t.TempDir()
		path := leave(t, filepath.Join(dir, "dir"))
		err := open(t, dir, nil).Rm(context.Background(), "dir", &workspace.RmOptions{Recursive: recursive})
		if _, statErr := os.Lstat(path); err != nil || statErr == nil {
			t.Errorf("Rm with Recursive %t = %v, and Stat of the leftover %v, want both removed", recursive, err, statErr)
		}
	}
}

// TestReadOnlyDeletesNothing reads all of a folder with leftovers.
func TestReadOnlyDeletesNothing(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path := leave(t, filepath.Join(dir, "dir"))
	fsys := policy.ReadOnly(open(t, dir, nil))
	for range 2 {
		if _, err := fsys.Ls(ctx, "dir", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := fsys.Grep(ctx, "x", nil); err != nil {
			t.Fatal(err)
		}
		for _, change := range []func() error{
			func() error { _, err := fsys.WriteFile(ctx, "dir/file", nil, nil); return err },
			func() error { return fsys.Rm(ctx, "dir", &workspace.RmOptions{Recursive: true}) },
		} {
			if err := change(); !errors.Is(err, workspace.ErrPolicy) {
				t.Fatalf("a change of a read-only workspace = %v, want %v", err, workspace.ErrPolicy)
			}
		}
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("a read-only workspace deleted a file: %v", err)
	}
}

// TestSweepSparesTheLiving lists folders in which files are being written.
func TestSweepSparesTheLiving(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	fsys, other := open(t, dir, nil), open(t, dir, nil)
	w, err := fsys.Create(ctx, "file", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Write([]byte("content")); err != nil {
		t.Fatal(err)
	}
	for _, lister := range []*localbash.FS{fsys, other} {
		infos, err := lister.Ls(ctx, ".", nil)
		if err != nil || len(infos) != 0 {
			t.Errorf("Ls while a file is being written = %v, %v, want nothing", infos, err)
		}
	}
	if _, err := w.Commit(); err != nil {
		t.Fatalf("Commit after listings = %v, want nil", err)
	}
	if got := content(t, filepath.Join(dir, "file")); got != "content" {
		t.Errorf("the file has %q, want %q", got, "content")
	}
}

// TestSweepSparesOthers lists what has the prefix and is none of ours.
func TestSweepSparesOthers(t *testing.T) {
	dir := t.TempDir()
	prefix := filepath.Join(dir, ".workspacekit-tmp-")
	put(t, prefix+"of-somebody-else", "")
	put(t, filepath.Join(prefix+"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "file"), "")
	link(t, "nowhere", prefix+"ZBCDEFGHIJKLMNOPQRSTUVWXYZ")
	if infos, err := open(t, dir, nil).Ls(context.Background(), ".", nil); err != nil || len(infos) != 0 {
		t.Errorf("Ls = %v, %v, want nothing", infos, err)
	}
	if found := temps(t, dir); len(found) != 3 {
		t.Errorf("after a listing there are %q, want all three", found)
	}
}
