package backup_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// stopper is a FileSystem whose program is killed: after so many changes, it makes no
// more. With answered, the last one is made and its answer gets lost.
type stopper struct {
	*policy.SubFS
	fsys  workspace.FileSystem
	left  int
	after bool // the last change is made, and the program is killed before it knows
}

var errKilled = errors.New("the program was killed")

// change calls do, unless the program has been killed.
func (s *stopper) change(do func() error) error {
	s.left--
	switch {
	case s.left > 0:
		return do()
	case s.left == 0 && s.after:
		_ = do()
	}
	return errKilled
}

func (s *stopper) Exact() (workspace.FileSystem, error) { return s, nil }

func (s *stopper) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (version workspace.Version, err error) {
	err = s.change(func() error { version, err = s.fsys.WriteFile(ctx, name, data, opts); return err })
	return version, err
}

func (s *stopper) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
	w, err := workspace.Create(ctx, s.fsys, name, opts)
	return stopWriter{w, s}, err
}

type stopWriter struct {
	workspace.Writer
	s *stopper
}

func (w stopWriter) Commit() (version workspace.Version, err error) {
	err = w.s.change(func() error { version, err = w.Writer.Commit(); return err })
	return version, err
}

func (s *stopper) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	return s.change(func() error { return s.fsys.Rm(ctx, name, opts) })
}

func (s *stopper) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	return s.change(func() error { return s.fsys.Mkdir(ctx, name, opts) })
}

func (s *stopper) Move(ctx context.Context, source, destination string) error {
	return s.change(func() error { return workspace.Move(ctx, s.fsys, source, destination) })
}

func (s *stopper) Copy(ctx context.Context, source, destination string) (version workspace.Version, err error) {
	err = s.change(func() error { version, err = workspace.Copy(ctx, s.fsys, source, destination); return err })
	return version, err
}

// stopping returns b over raw as a program sees it that is killed after some changes.
func stopping(t *testing.T, raw workspace.FileSystem, changes int, after bool) *backup.FS {
	t.Helper()
	all, err := policy.Sub(raw, ".")
	if err != nil {
		t.Fatal(err)
	}
	return newFS(t, &stopper{SubFS: all, fsys: raw, left: changes, after: after}, nil)
}

// TestStop kills the program at each change that an edit makes in the store, and again
// at each change that the undo makes. What is left is the old state or the new one,
// and an undo brings back the old one.
func TestStop(t *testing.T) {
	exhaustive.Long(t)
	for _, provider := range []string{"memory", "bucket"} {
		for name, edit := range edits {
			if testing.Short() && provider == "bucket" && (strings.Contains(name, "large") || name == "move dir") {
				continue // many seconds
			}
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/%t", provider, name, after), func(t *testing.T) {
					if provider == "bucket" {
						exhaustive.Draw(t, 2)
					}
					t.Parallel()
					for k := 1; stopAt(t, provider, edit, k, after); k++ {
					}
				})
			}
		}
	}
}

// stopAt kills the program at the change k of an edit. It reports whether the edit makes
// that many changes.
func stopAt(t *testing.T, provider string, edit func(context.Context, workspace.FileSystem) error, k int, after bool) bool {
	t.Helper()
	raw := providers[provider](t)
	fill(t, raw, start)
	before := tree(t, raw)
	killed := stopping(t, raw, k, after)
	err := edit(t.Context(), killed)
	left := tree(t, raw)
	if err == nil {
		return stopUndo(t, raw, before, left, after)
	}
	if !errors.Is(err, errKilled) && !errors.Is(err, workspace.ErrUnavailable) {
		t.Fatalf("killed at change %d: %v", k, err)
	}
	old := cmp.Equal(before, left)
	changes, err := newFS(t, raw, nil).Undo(t.Context(), &backup.UndoOptions{All: true})
	if old != (len(changes) == 0) || err != nil && !(old && errors.Is(err, fs.ErrNotExist)) {
		t.Errorf("killed at change %d, which left the old state: %t: Undo = %+v, %v", k, old, changes, err)
	}
	if diff := cmp.Diff(before, tree(t, raw)); diff != "" {
		t.Errorf("killed at change %d, after Undo (-want +got):\n%s", k, diff)
	}
	return true
}

// stopUndo kills the program at each change that an undo makes. Two programs then continue:
// one undoes, and the other one redoes.
func stopUndo(t *testing.T, raw workspace.FileSystem, before, after map[string]string, late bool) bool {
	t.Helper()
	for k := 1; ; k++ {
		_, err := stopping(t, raw, k, late).Undo(t.Context(), nil)
		b := newFS(t, raw, nil)
		if _, err := b.Undo(t.Context(), nil); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("the undo was killed at change %d, the next Undo = %v", k, err)
		}
		if diff := cmp.Diff(before, tree(t, raw)); diff != "" {
			t.Fatalf("the undo was killed at change %d, after the next Undo (-want +got):\n%s", k, diff)
		}
		if err == nil {
			return false
		}
		if _, err := b.Undo(t.Context(), &backup.UndoOptions{Redo: true}); err != nil {
			t.Fatalf("the undo was killed at change %d, Redo = %v", k, err)
		}
		if diff := cmp.Diff(after, tree(t, raw)); diff != "" {
			t.Fatalf("the undo was killed at change %d, after Redo (-want +got):\n%s", k, diff)
		}
	}
}

// TestStopTwice kills two programs in a row that undo changes of one file: the third one
// knows what both have done, and takes it for nobody else's.
func TestStopTwice(t *testing.T) {
	for i := range 4 {
		late, lateAgain := i%2 == 1, i > 1
		t.Run(fmt.Sprintf("%t/%t", late, lateAgain), func(t *testing.T) {
			t.Parallel()
			for first, more := 1, true; more; first++ {
				for second := 1; ; second++ {
					raw := providers["memory"](t)
					fill(t, raw, start)
					before := tree(t, raw)
					b := newFS(t, raw, nil)
					for i := range 3 {
						if _, err := b.WriteFile(t.Context(), "a", fmt.Append(nil, "new ", i), nil); err != nil {
							t.Fatal(err)
						}
					}
					all := &backup.UndoOptions{All: true}
					_, err := stopping(t, raw, first, late).Undo(t.Context(), all)
					more = err != nil
					_, err = stopping(t, raw, second, lateAgain).Undo(t.Context(), all)
					if _, err := newFS(t, raw, nil).Undo(t.Context(), all); err != nil && !errors.Is(err, fs.ErrNotExist) {
						t.Fatalf("killed at changes %d and %d: Undo = %v", first, second, err)
					}
					if diff := cmp.Diff(before, tree(t, raw)); diff != "" {
						t.Fatalf("killed at changes %d and %d, after Undo (-want +got):\n%s", first, second, diff)
					}
					if err == nil || errors.Is(err, fs.ErrNotExist) {
						break
					}
				}
			}
		})
	}
}
