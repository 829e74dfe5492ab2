package localbash_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// keptDir is a folder large enough for its listing to be kept.
func keptDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i := range 1100 {
		put(t, filepath.Join(dir, fmt.Sprintf("file-%04d", i)), "")
	}
	return dir
}

// needsDates skips the test where nothing is ever kept.
func needsDates(t *testing.T, fsys *localbash.FS) {
	t.Helper()
	if kept, err := fsys.KeepsListing(".", 1); err != nil || !kept {
		t.Skipf("the file system of %s is not one that dates changes (%v)", os.TempDir(), err)
	}
}

// count lists the root by pages.
func count(t *testing.T, fsys *localbash.FS) int {
	t.Helper()
	for after, count := "", 0; ; {
		infos, err := fsys.Ls(context.Background(), ".", &workspace.LsOptions{After: after, Limit: 400})
		if err != nil {
			t.Fatal(err)
		}
		if len(infos) == 0 {
			return count
		}
		count += len(infos)
		after = infos[len(infos)-1].Name
	}
}

// TestLsKeepsNames wants the names of a large folder kept, and no longer than
// they are true.
func TestLsKeepsNames(t *testing.T) {
	t.Parallel()
	dir := keptDir(t)
	fsys := open(t, dir, nil)
	needsDates(t, fsys)
	poll(t, "names to be kept", func() bool {
		return count(t, fsys) == 1100 && fsys.KeptNames() == 1100
	})
	if !fsys.ForgetLastName() || count(t, fsys) != 1099 {
		t.Errorf("Ls read the folder again, want the names that were kept")
	}
	put(t, filepath.Join(dir, "new"), "")
	if got := count(t, fsys); got != 1101 {
		t.Errorf("Ls after a file was created has %d entries, want 1101", got)
	}
	if err := fsys.Close(); err != nil || fsys.KeptNames() != 0 {
		t.Errorf("%d names are kept after Close = %v, want none", fsys.KeptNames(), err)
	}
}

// TestLsKeepsFewNames lists many large folders.
func TestLsKeepsFewNames(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "needs thousands of files")
	dir := t.TempDir()
	for folder := range 3 {
		for i := range 1100 {
			put(t, filepath.Join(dir, fmt.Sprint(folder), fmt.Sprint(i)), "")
		}
	}
	fsys := open(t, dir, nil).WithKeptNames(2500)
	for range 2 {
		if paths, err := fsys.Glob(context.Background(), "**", nil); err != nil || len(paths) != 3*1100 {
			t.Errorf("Glob = %d paths, %v, want %d", len(paths), err, 3*1100)
		}
	}
	if got := fsys.KeptNames(); got > 2500 {
		t.Errorf("%d names are kept, want 2500 at most", got)
	}
}

// TestLsSeesEveryChange changes a large folder as another program does, as
// fast as it can, and lists it after each change.
func TestLsSeesEveryChange(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := keptDir(t)
	fsys := open(t, dir, nil)
	there := map[string]bool{}
	for round := range 300 {
		name := fmt.Sprintf("new-%d", random.IntN(5))
		if random.IntN(4) > 0 {
			changeAtRandom(t, random, dir, name, there)
		}
		infos, err := fsys.Ls(context.Background(), ".", &workspace.LsOptions{After: "file-9"})
		if err != nil {
			t.Fatal(err)
		}
		if len(infos) != len(there) {
			t.Fatalf("round %d: Ls = %v, want %v", round, infos, there)
		}
		for _, info := range infos {
			if !there[info.Name] {
				t.Fatalf("round %d: Ls has %q, want %v", round, info.Name, there)
			}
		}
	}
}

// TestCoarseClock wants no listing kept that began in the tick of the clock in
// which the folder was changed, as another change would get the same time.
func TestCoarseClock(t *testing.T) {
	fsys := open(t, t.TempDir(), nil)
	needsDates(t, fsys)
	for later, want := range map[time.Duration]bool{-1: false, 0: false, 1: true} {
		if got, err := fsys.KeepsListing(".", later); got != want || err != nil {
			t.Errorf("a listing that begins %v after the last change is kept: %t, %v, want %t", later, got, err, want)
		}
	}
}

// changeAtRandom creates, removes or renames the file name.
func changeAtRandom(t *testing.T, random *rand.Rand, dir, name string, there map[string]bool) {
	t.Helper()
	path := filepath.Join(dir, name)
	switch {
	case !there[name]:
		put(t, path, "")
	case random.IntN(2) == 0:
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		delete(there, name)
		return
	default:
		if err := os.Rename(path, path+"-renamed"); err != nil {
			t.Fatal(err)
		}
		there[name+"-renamed"] = true
		delete(there, name)
		return
	}
	there[name] = true
}
