package backup_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
)

// The variables that make a child process of this test binary.
const (
	childDir  = "BACKUP_TEST_DIR"
	childSeed = "BACKUP_TEST_SEED"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		fmt.Fprintln(os.Stderr, changeForever(dir))
		os.Exit(1)
	}
	exhaustive.Quicken()
	os.Exit(m.Run())
}

// changeForever makes random changes until the process is killed. It prints a line after
// the first one.
func changeForever(dir string) error {
	seed, err := strconv.ParseUint(os.Getenv(childSeed), 10, 64)
	if err != nil {
		return err
	}
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		return err
	}
	b, err := backup.New(fsys, &backup.Options{Keep: 1 << 20})
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(seed, 0))
	names := slices.Sorted(maps.Keys(edits))
	ctx := session.WithID(context.Background(), "child")
	for done := false; ; {
		if err := changeSomething(ctx, b, random, edits[names[random.IntN(len(names))]]); err != nil {
			return err
		}
		if !done {
			fmt.Println("changed")
			done = true
		}
	}
}

// changeSomething makes an edit, or puts back what the edits need: after some of them,
// most of the others fail.
func changeSomething(ctx context.Context, b *backup.FS, random *rand.Rand, edit func(context.Context, workspace.FileSystem) error) error {
	err := edit(ctx, b)
	if err == nil || errors.Is(err, workspace.ErrUnavailable) {
		return err
	}
	for name, content := range start {
		if content == "" {
			continue
		}
		content += fmt.Sprint(random.Uint64())
		if _, err := b.WriteFile(ctx, name, []byte(content), nil); err != nil {
			return err
		}
	}
	for _, name := range []string{"new", "dir", "sub"} {
		if err := b.Rm(ctx, name, &workspace.RmOptions{Recursive: true}); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// TestKill kills a process in the middle of its changes, and undoes all of them.
func TestKill(t *testing.T) {
	exhaustive.Long(t)
	rounds := exhaustive.Some(t, "most kills", 200, 20)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	cut, changes := 0, 0
	for range rounds {
		made, wasCut := killChild(t, random.Uint64(), time.Duration(random.IntN(20_000))*time.Microsecond)
		changes += made
		if wasCut {
			cut++
		}
	}
	t.Logf("%d changes, %d kills in the middle of one", changes, cut)
	if cut == 0 && exhaustive.On() {
		t.Error("no kill met a change, so that nothing was tested")
	}
}

// killChild lets a child make changes for a while, kills it, and undoes the changes. It
// returns how many they were, and whether the last one was cut off.
func killChild(t *testing.T, seed uint64, after time.Duration) (changes int, cut bool) {
	t.Helper()
	dir := t.TempDir()
	fsys := openLocal(t, dir)
	fill(t, fsys, start)
	before := tree(t, fsys)
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childDir+"="+dir, childSeed+"="+strconv.FormatUint(seed, 10))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatalf("the child with the seed %d ended: %v", seed, err)
	}
	<-time.After(after)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // whose error is the kill

	b := newFS(t, fsys, nil)
	list, err := b.Changes(t.Context(), "child")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Undo(t.Context(), &backup.UndoOptions{All: true}); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("seed %d: Undo of all = %v", seed, err)
	}
	if diff := cmp.Diff(before, tree(t, b)); diff != "" {
		t.Errorf("seed %d: after Undo of all %d changes (-want +got):\n%s", seed, len(list), diff)
	}
	return len(list), len(list) > 0 && !list[0].Done
}
