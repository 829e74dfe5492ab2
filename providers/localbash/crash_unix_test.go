//go:build unix

package localbash_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
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
	for range rounds {
		killWriter(t, dir, time.Duration(random.IntN(20_000))*time.Microsecond)
		leftovers += len(temps(t, filepath.Join(dir, "*")))
		checkWhole(t, dir)
		checkSwept(t, dir)
	}
	if leftovers == 0 {
		t.Errorf("no writer left a temporary file in %d rounds, so that nothing was tested", rounds)
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
		data, err := fsys.ReadFile(ctx, name)
		if err != nil || len(data) != crashSize || !bytes.Equal(data, bytes.Repeat(data[:1], crashSize)) {
			t.Errorf("%q is torn: %d bytes, %v", name, len(data), err)
		}
	}
}

// checkSwept wants the listings of checkWhole to have removed the leftovers.
func checkSwept(t *testing.T, dir string) {
	t.Helper()
	if found := temps(t, filepath.Join(dir, "*")); len(found) > 0 {
		t.Errorf("temporary files are left after a listing: %q", found)
	}
}

// leave makes a leftover in dir, as a process that dies would.
func leave(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, ".workspacekit-tmp-ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	put(t, path, "leftover")
	return path
}

// TestSweep lists folders with leftovers, in each way.
func TestSweep(t *testing.T) {
	ctx := context.Background()
	for _, list := range []struct {
		name string
		do   func(fsys *localbash.FS) error
	}{
		{"Ls", func(fsys *localbash.FS) error {
			infos, err := fsys.Ls(ctx, "dir", nil)
			if len(infos) != 0 {
				t.Errorf("Ls = %v, want nothing", infos)
			}
			return err
		}},
		{"Glob", func(fsys *localbash.FS) error {
			paths, err := fsys.Glob(ctx, "**", nil)
			if len(paths) != 0 {
				t.Errorf("Glob = %v, want nothing", paths)
			}
			return err
		}},
		{"Grep", func(fsys *localbash.FS) error {
			result, err := fsys.Grep(ctx, "leftover", nil)
			if err == nil && len(result.Matches) != 0 {
				t.Errorf("Grep = %v, want nothing", result)
			}
			return err
		}},
		{"Rm", func(fsys *localbash.FS) error { return fsys.Rm(ctx, "dir", nil) }},
		{"Rm-recursive", func(fsys *localbash.FS) error {
			return fsys.Rm(ctx, "dir", &workspace.RmOptions{Recursive: true})
		}},
	} {
		t.Run(list.name, func(t *testing.T) {
			dir := t.TempDir()
			path := leave(t, filepath.Join(dir, "dir"))
			fsys := open(t, dir, nil)
			if _, err := os.Lstat(path); err != nil {
				t.Fatalf("Open removed the leftover, or it was not there: %v", err)
			}
			if err := list.do(fsys); err != nil {
				t.Fatalf("%s = %v, want nil", list.name, err)
			}
			if _, err := os.Lstat(path); err == nil {
				t.Errorf("the leftover is there after %s", list.name)
			}
		})
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
