package localbash_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/workspacekit/workspacekit/workspace"
)

// TestEditNoneLost lets two processes, and two goroutines on each of two FS in
// this one, add to the same number.
func TestEditNoneLost(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "count"), "0")
	var editors sync.WaitGroup
	for range 2 {
		cmd := child(t, "edit", dir)
		editors.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Errorf("child: %v", err)
			}
		})
		fsys := open(t, dir, nil)
		for range 2 {
			editors.Go(func() {
				if err := countUp(fsys); err != nil {
					t.Errorf("Edit = %v, want nil", err)
				}
			})
		}
	}
	editors.Wait()
	if got, want := content(t, filepath.Join(dir, "count")), strconv.Itoa(6*counts); got != want {
		t.Errorf("after 6 times %d edits that add one, the number is %s, want %s", counts, got, want)
	}
}

// TestIfNotExistOneWinner lets the users of two FS create the same names.
func TestIfNotExistOneWinner(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	first, second := open(t, dir, nil), open(t, dir, nil)
	for i := range 50 {
		name := "deep/" + strconv.Itoa(i) + "/file"
		won := make(chan bool, 8)
		var writers sync.WaitGroup
		for j := range cap(won) {
			fsys := first
			if j%2 == 1 {
				fsys = second
			}
			writers.Go(func() {
				_, err := fsys.WriteFile(ctx, name, []byte(strconv.Itoa(j)), &workspace.WriteOptions{IfNotExist: true})
				won <- err == nil
				if err != nil && !errors.Is(err, os.ErrExist) {
					t.Errorf("WriteFile(%q, IfNotExist) = %v, want %q", name, err, os.ErrExist)
				}
			})
		}
		writers.Wait()
		winners := 0
		for range cap(won) {
			if <-won {
				winners++
			}
		}
		if winners != 1 {
			t.Errorf("%d writers created %q, want one", winners, name)
		}
	}
}

// TestIfNotExistAgainstOthers lets another program, which knows no locks,
// create the same names.
func TestIfNotExistAgainstOthers(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	fsys := open(t, dir, nil)
	for i := range 500 {
		name := strconv.Itoa(i)
		start, other := make(chan struct{}), make(chan error)
		go func() {
			<-start
			file, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
			if err == nil {
				file.Close()
			}
			other <- err
		}()
		w, err := fsys.Create(ctx, name, &workspace.WriteOptions{IfNotExist: true})
		if err != nil {
			t.Fatal(err)
		}
		close(start)
		_, err = w.Commit()
		w.Close()
		if otherErr := <-other; (err == nil) == (otherErr == nil) {
			t.Fatalf("Commit of %q, IfNotExist = %v and another program's O_EXCL = %v, want one to succeed", name, err, otherErr)
		}
	}
}
