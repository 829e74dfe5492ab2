//go:build unix

package localbash_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// swapRounds returns how often each operation is tried while a folder and a
// symlink to outside take turns in its way.
func swapRounds() int {
	if testing.Short() {
		return 60
	}
	return 300
}

// TestSwappedFolder does everything in a folder that another goroutine swaps
// for a symlink to outside and back, all the time.
func TestSwappedFolder(t *testing.T) {
	exhaustive.Long(t)
	for _, test := range []struct {
		name     string
		absolute bool
		portable bool
		links    int // that lead to the folder
	}{
		{"relative", false, false, 0},
		{"absolute", true, false, 0},
		{"relative-old-kernel", false, true, 0},
		{"absolute-old-kernel", true, true, 0},
		{"chain", false, false, 12},
		{"chain-old-kernel", false, true, 12},
	} {
		t.Run(test.name, func(t *testing.T) { swapTest(t, test.absolute, test.portable, test.links) })
	}
}

func swapTest(t *testing.T, absolute, portable bool, links int) {
	base := t.TempDir()
	target := "../outside"
	if absolute {
		target = filepath.Join(base, "outside")
	}
	for _, name := range []string{"root/dir/file", "root/dir/sub/file", "root/mine"} {
		put(t, filepath.Join(base, name), "mine")
	}
	for _, name := range []string{"outside/file", "outside/secret", "outside/sub/file"} {
		put(t, filepath.Join(base, name), secret)
	}
	before := outside(tree(t, base))
	fsys := open(t, filepath.Join(base, "root"), nil)
	if portable {
		withoutQuick(t, fsys)
	}
	way := "dir"
	for i := range links {
		next := fmt.Sprint("way", i)
		link(t, way, filepath.Join(base, "root", next))
		way = next
	}
	stop := swap(filepath.Join(base, "root", "dir"), target)
	var seen tally
	hammer(t, fsys, way, &seen)
	// On a busy machine the swapping may not have had its turn yet.
	for until := time.Now().Add(time.Minute); (seen.escapes == 0 || seen.successes == 0) && time.Now().Before(until); {
		hammer(t, fsys, way, &seen)
	}
	stop()
	if diff := cmp.Diff(before, outside(tree(t, base))); diff != "" {
		t.Errorf("what is outside changed (-before +after):\n%s", diff)
	}
	if seen.escapes == 0 || seen.successes == 0 {
		t.Errorf("%d operations were refused and %d succeeded, want some of both, or nothing was tested", seen.escapes, seen.successes)
	}
}

// swap swaps dir for a symlink to target and back, until stop is called.
func swap(dir, target string) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	away := dir + "-away"
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
			}
			// A write may have created dir again: then there is nothing to swap.
			if os.Rename(dir, away) != nil {
				os.RemoveAll(dir)
				os.Rename(away, dir)
				continue
			}
			os.Symlink(target, dir)
			os.Remove(dir)
			os.Rename(away, dir)
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// tally counts what became of operations.
type tally struct{ escapes, successes int }

// hammer tries every operation again and again in the folder "dir", which has
// the name way, too, and adds to seen.
func hammer(t *testing.T, fsys *localbash.FS, way string, seen *tally) {
	t.Helper()
	suffixes := []string{"", "/file", "/sub", "/sub/file"}
	if way != "dir" {
		suffixes[0] = "/new" // way itself is a symlink, which some operations remove
	}
	for _, op := range operations() {
		if op.name == "Watch" { // it reports what exists, and has tests of its own
			continue
		}
		for i := range swapRounds() {
			name := way + suffixes[i%len(suffixes)]
			text, err := op.do(context.Background(), fsys, name)
			seen.add(t, op.name, name, text, err)
		}
		restore(t, fsys)
	}
}

func (s *tally) add(t *testing.T, op, name, text string, err error) {
	t.Helper()
	switch {
	case strings.Contains(text, secret) || strings.Contains(text, "secret"):
		t.Errorf("%s(%q) = %q, want nothing of what is outside", op, name, text)
	case errors.Is(err, workspace.ErrEscape):
		s.escapes++
	case err == nil:
		s.successes++
	case strings.Contains(err.Error(), os.TempDir()):
		t.Errorf("%s(%q) = %v, want no host path", op, name, err)
	}
}

// restore creates the files that an operation may have removed.
func restore(t *testing.T, fsys *localbash.FS) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for _, name := range []string{"mine", "dir/file", "dir/sub/file"} {
		for {
			_, err := fsys.WriteFile(context.Background(), name, []byte("mine"), nil)
			if err == nil || errors.Is(err, workspace.ErrIsDir) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("WriteFile(%q) = %v all the time, want nil", name, err)
			}
		}
	}
}

// TestRmNeverFollows removes a folder again and again that takes turns with a
// symlink to another folder of the workspace, which must keep what it has.
func TestRmNeverFollows(t *testing.T) {
	exhaustive.Long(t)
	dir := t.TempDir()
	keep := filepath.Join(dir, "keep", "sub", "file")
	put(t, keep, "kept")
	fsys := open(t, dir, nil)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
				takeTurns(filepath.Join(dir, "turns"), "keep")
			}
		}
	}()
	removeOften(t, fsys, "turns")
	close(done)
	<-ended
	if _, err := os.Stat(keep); err != nil {
		t.Errorf("Rm followed a symlink: %v", err)
	}
}

// removeOften removes name until it has found it often, or for a while.
func removeOften(t *testing.T, fsys *localbash.FS, name string) {
	t.Helper()
	found, enough := 0, exhaustive.Some(t, "most rounds", 900, 100)
	for deadline := time.Now().Add(20 * time.Second); found < enough && time.Now().Before(deadline); {
		err := fsys.Rm(context.Background(), name, &workspace.RmOptions{Recursive: true})
		if !errors.Is(err, os.ErrNotExist) {
			found++
		}
	}
	if found < 30 {
		t.Errorf("Rm found %q only %d times, so that nothing was tested", name, found)
	}
}

// takeTurns makes dir a folder, and then a symlink to target.
func takeTurns(dir, target string) {
	away := dir + "-away"
	os.MkdirAll(filepath.Join(dir, "sub"), 0o777)
	os.Rename(dir, away)
	os.Symlink(target, dir)
	os.Remove(dir)
	os.RemoveAll(away)
}

// TestWriteBesideSymlink writes to a name that has a symlink from time to time.
func TestWriteBesideSymlink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fsys := open(t, dir, nil)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
				os.Remove(filepath.Join(dir, "name"))
				os.Symlink("target", filepath.Join(dir, "name"))
			}
		}
	}()
	for range 3 * swapRounds() {
		_, err := fsys.WriteFile(t.Context(), "name", []byte("content"), nil)
		if err != nil && !errors.Is(err, workspace.ErrUnavailable) {
			t.Errorf("WriteFile = %v, want nil or %q", err, workspace.ErrUnavailable)
		}
	}
	close(done)
	<-ended
}
