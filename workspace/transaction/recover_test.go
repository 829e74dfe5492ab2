package transaction_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/policy"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

// leave lets a program make a change in a transaction of store, and be killed then.
func leave(t *testing.T, store workspace.FileSystem, change func(ctx context.Context, ws *workspace.Workspace) error) {
	t.Helper()
	all, err := policy.Sub(store, ".")
	if err != nil {
		t.Fatal(err)
	}
	killed := &stopper{SubFS: all, fsys: store, left: 1000}
	ws := workspace.New("test", newFS(t, killed), nil)
	_ = ws.Transaction(t.Context(), func(ctx context.Context) error {
		if err := change(ctx, ws); err != nil {
			t.Fatal(err)
		}
		killed.left = 0
		return nil
	})
}

// later returns store with transactions, so late that all that was left is undone.
func later(t *testing.T, store workspace.FileSystem) *transaction.FS {
	fsys := newFS(t, store)
	transaction.Later(fsys, tooLate)
	return fsys
}

// TestSessions tests that the changes of several sessions in one transaction are undone
// together.
func TestSessions(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	fill(t, store, start)
	before := contents(t, store)
	ws := workspace.New("test", newFS(t, store), nil)
	failed := errors.New("failed")
	err := ws.Transaction(t.Context(), func(ctx context.Context) error {
		for i := range 9 {
			in := session.WithID(ctx, fmt.Sprint("session", i%3))
			if _, err := ws.WriteFile(in, "a", []byte(fmt.Sprint(i)), nil); err != nil {
				return err
			}
		}
		return failed
	})
	if !errors.Is(err, failed) || errors.Is(err, workspace.ErrConflict) {
		t.Errorf("Transaction() = %v, want %v alone", err, failed)
	}
	if diff := cmp.Diff(before, contents(t, store)); diff != "" {
		t.Errorf("after the transaction (-want +got):\n%s", diff)
	}
}

// TestUndoAfterFailure tests that the undo of a journal below passes over what a transaction
// has undone, as its changes and their undo are one call there, which changed nothing.
func TestUndoAfterFailure(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]func(context.Context) context.Context{
		"no session": func(ctx context.Context) context.Context { return ctx },
		"session":    func(ctx context.Context) context.Context { return session.WithID(ctx, "session") },
		"call":       func(ctx context.Context) context.Context { return session.WithCall(session.WithID(ctx, "session")) },
	} {
		for _, killed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s killed=%v", name, killed), func(t *testing.T) {
				t.Parallel()
				store := memory.New(nil)
				fill(t, store, start)
				before := contents(t, store)
				journal, err := backup.New(store, &backup.Options{Store: memory.New(nil)})
				if err != nil {
					t.Fatal(err)
				}
				notes := memory.New(nil)
				all, err := policy.Sub(notes, ".")
				if err != nil {
					t.Fatal(err)
				}
				stopped := &stopper{SubFS: all, fsys: notes, left: 1000}
				fsys, err := transaction.New(journal, &transaction.Options{Store: stopped})
				if err != nil {
					t.Fatal(err)
				}
				failed := errors.New("failed")
				err = fsys.Transaction(in(t.Context()), func(ctx context.Context) error {
					_, err := fsys.WriteFile(ctx, "a", []byte("refused"), nil)
					err = errors.Join(err, fsys.Rm(ctx, "old", nil))
					if killed {
						stopped.left = 0
						return err
					}
					return errors.Join(err, failed)
				})
				if killed {
					fsys, err = transaction.New(journal, &transaction.Options{Store: notes})
					if err != nil {
						t.Fatal(err)
					}
					transaction.Later(fsys, tooLate)
					err = fsys.Transaction(t.Context(), nil)
				} else if errors.Is(err, failed) && !errors.Is(err, workspace.ErrConflict) {
					err = nil
				}
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(before, contents(t, store)); diff != "" {
					t.Fatalf("after the transaction (-want +got):\n%s", diff)
				}
				undone, err := journal.Undo(t.Context(), nil)
				if !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("Undo() = %v, %v, want %v", undone, err, fs.ErrNotExist)
				}
				if diff := cmp.Diff(before, contents(t, store)); diff != "" {
					t.Errorf("after Undo() (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// watched is a FileSystem that calls wrote after each write.
type watched struct {
	*policy.SubFS
	wrote func(name string)
}

func (w *watched) Exact() (workspace.FileSystem, error) { return w, nil }

func (w *watched) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	version, err := w.SubFS.WriteFile(ctx, name, data, opts)
	w.wrote(name)
	return version, err
}

func watch(t *testing.T, store workspace.FileSystem, wrote func(name string)) *watched {
	t.Helper()
	all, err := policy.Sub(store, ".")
	if err != nil {
		t.Fatal(err)
	}
	return &watched{all, wrote}
}

// TestBegins tests that a transaction that has just begun is not undone by another one of
// the same program.
func TestBegins(t *testing.T) {
	t.Parallel()
	var fsys *transaction.FS
	var once sync.Once
	fsys = newFS(t, watch(t, memory.New(nil), func(string) {
		once.Do(func() {
			if err := fsys.Transaction(t.Context(), nil); err != nil {
				t.Error(err)
			}
		})
	}))
	if err := fsys.Transaction(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Errorf("Transaction() = %v", err)
	}
}

// TestUndoneOnce tests that what is being undone is not undone at the same time by another
// transaction of the same program.
func TestUndoneOnce(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	fill(t, store, start)
	before := contents(t, store)
	leave(t, store, func(ctx context.Context, ws *workspace.Workspace) error { return changeAll(ctx, ws) })
	reached, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	fsys := later(t, watch(t, store, func(name string) {
		if name == "a" {
			once.Do(func() { close(reached); <-release })
		}
	}))
	first := make(chan error)
	go func() { first <- fsys.Transaction(t.Context(), nil) }()
	<-reached
	left := contents(t, store)
	for range 2 {
		if err := fsys.Transaction(t.Context(), nil); err != nil {
			t.Errorf("Transaction() while another one undoes = %v", err)
		}
	}
	if diff := cmp.Diff(left, contents(t, store)); diff != "" {
		t.Errorf("it was undone twice at the same time:\n%s", diff)
	}
	close(release)
	if err := <-first; err != nil {
		t.Errorf("Transaction() = %v", err)
	}
	if diff := cmp.Diff(before, contents(t, store)); diff != "" {
		t.Errorf("after the recovery (-want +got):\n%s", diff)
	}
}

// TestFirstChange tests that the first change undoes what was left, also if one before it
// was given up.
func TestFirstChange(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	fill(t, store, start)
	want := contents(t, store)
	leave(t, store, func(ctx context.Context, ws *workspace.Workspace) error { return changeAll(ctx, ws) })
	fsys := later(t, store)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, ctx := range []context.Context{ended, t.Context()} {
		if _, err := fsys.WriteFile(ctx, "n", []byte("n"), nil); !errors.Is(err, ctx.Err()) {
			t.Errorf("WriteFile() = %v, want %v", err, ctx.Err())
		}
	}
	want["n"] = "n"
	if diff := cmp.Diff(want, contents(t, store)); diff != "" {
		t.Errorf("after the first change (-want +got):\n%s", diff)
	}
}

// TestPlanted tests that a journal of another computer, which may have come with a clone of
// a repository, changes nothing in .git, and that neither it nor a state that cannot be
// read keeps transactions from being made.
func TestPlanted(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(ctx context.Context, ws *workspace.Workspace) error{
		"created": func(ctx context.Context, ws *workspace.Workspace) error { return ws.Rm(ctx, ".git/x", nil) },
		"moved":   func(ctx context.Context, ws *workspace.Workspace) error { return ws.Move(ctx, ".git/x", "x") },
		"below":   func(ctx context.Context, ws *workspace.Workspace) error { return ws.Rm(ctx, "d/.GIT/x", nil) },
		"damaged": nil, "large": nil, "directory": nil, "no journal": nil,
	} {
		for _, foreign := range []bool{true, false} {
			if name == "no journal" && !foreign {
				continue
			}
			t.Run(fmt.Sprintf("%s/%t", name, foreign), func(t *testing.T) {
				t.Parallel()
				store := memory.New(nil)
				fill(t, store, files{"a": "1", ".git/x": "x", "d/.GIT/x": "x"})
				before := contents(t, store)
				leave(t, store, func(ctx context.Context, ws *workspace.Workspace) error {
					if change == nil {
						return nil
					}
					return change(ctx, ws)
				})
				names, err := store.Glob(t.Context(), transaction.DefaultDir+"/*/state.json", nil)
				if err != nil || len(names) != 1 {
					t.Fatalf("states: %q, %v", names, err)
				}
				data, err := store.ReadFile(t.Context(), names[0])
				if err != nil {
					t.Fatal(err)
				}
				var state struct{ Process string }
				if err := json.Unmarshal(data, &state); err != nil {
					t.Fatal(err)
				}
				if foreign {
					data = bytes.Replace(data, []byte(state.Process), []byte("0."+after(state.Process, 1)), 1)
				}
				switch name {
				case "damaged":
					data = []byte("{")
				case "large":
					data = bytes.Repeat([]byte(" "), 1<<20)
				case "no journal":
					fill(t, store, files{path.Dir(names[0]) + "/changes": "no directory"})
				}
				if name == "directory" {
					err = errors.Join(store.Rm(t.Context(), names[0], nil), store.Mkdir(t.Context(), names[0], nil))
				} else {
					_, err = store.WriteFile(t.Context(), names[0], data, nil)
				}
				if err != nil {
					t.Fatal(err)
				}
				left := contents(t, store)
				undone := !foreign && change != nil
				err = later(t, store).Transaction(t.Context(), nil)
				if undone != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), "transaction "+path.Dir(names[0])+": ") {
					t.Errorf("Transaction() = %v", err)
				}
				want := left
				if undone {
					want = before
				}
				if diff := cmp.Diff(want, contents(t, store)); diff != "" {
					t.Errorf("after the recovery (-want +got):\n%s", diff)
				}
				ws := workspace.New("test", later(t, store), nil)
				err = ws.Transaction(t.Context(), func(ctx context.Context) error {
					_, err := ws.WriteFile(ctx, "a", []byte("2"), nil)
					return err
				})
				if data, readErr := store.ReadFile(t.Context(), "a"); err != nil || readErr != nil || string(data) != "2" {
					t.Errorf("Transaction() = %v, and then a is %q, %v", err, data, readErr)
				}
			})
		}
	}
}

// TestLostContents tests that a journal without the contents that it names keeps no
// transaction from being made, that all else is undone, and that the rest is when the
// contents are back.
func TestLostContents(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(ctx context.Context, store workspace.FileSystem, name string) error{
		"missing": func(ctx context.Context, store workspace.FileSystem, name string) error {
			return store.Rm(ctx, name, nil)
		},
		"damaged": func(ctx context.Context, store workspace.FileSystem, name string) error {
			_, err := store.WriteFile(ctx, name, []byte("other"), nil)
			return err
		},
		"directory": func(ctx context.Context, store workspace.FileSystem, name string) error {
			return errors.Join(store.Rm(ctx, name, nil), store.Mkdir(ctx, name, nil))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			store := memory.New(nil)
			fill(t, store, files{"a": "1", "d/b": "2", "d/c": "3", "e": "4"})
			leave(t, store, func(ctx context.Context, ws *workspace.Workspace) error {
				_, err := ws.WriteFile(ctx, "a", []byte("new"), nil)
				return errors.Join(err, ws.Rm(ctx, "d", &workspace.RmOptions{Recursive: true}))
			})
			sum := sha256.Sum256([]byte("2"))
			kept, err := store.Glob(ctx, transaction.DefaultDir+"/*/changes/objects/*/"+hex.EncodeToString(sum[:]), nil)
			if err != nil || len(kept) != 1 {
				t.Fatalf("the contents of d/b: %q, %v", kept, err)
			}
			if err := spoil(ctx, store, kept[0]); err != nil {
				t.Fatal(err)
			}
			dir := strings.Join(strings.Split(kept[0], "/")[:3], "/")
			recovered := later(t, store)
			if err := recovered.Transaction(ctx, nil); !errors.Is(err, workspace.ErrConflict) || !strings.HasPrefix(err.Error(), "transaction "+dir+": ") || !strings.Contains(err.Error(), "d/b") {
				t.Errorf("Transaction() = %v, want a conflict of %s with d/b", err, dir)
			}
			for name, want := range map[string]string{"a": "1", "d/c": "3"} {
				if data, err := store.ReadFile(ctx, name); err != nil || string(data) != want {
					t.Errorf("%s is %q, %v, want %q", name, data, err, want)
				}
			}
			again := newFS(t, store)
			transaction.Later(again, 2*tooLate)
			ws := workspace.New("test", again, nil)
			err = ws.Transaction(ctx, func(ctx context.Context) error {
				_, err := ws.WriteFile(ctx, "e", []byte("5"), nil)
				return err
			})
			if data, readErr := store.ReadFile(ctx, "e"); err != nil || readErr != nil || string(data) != "5" {
				t.Errorf("Transaction() = %v, and then e is %q, %v", err, data, readErr)
			}
			_ = store.Rm(ctx, kept[0], nil)
			fill(t, store, files{kept[0]: "2"})
			last := newFS(t, store)
			transaction.Later(last, 3*tooLate)
			if err := last.Transaction(ctx, nil); err != nil {
				t.Errorf("Transaction() with the contents = %v", err)
			}
			want := files{"a": "1", "d/": "", "d/b": "2", "d/c": "3", "e": "5"}
			if diff := cmp.Diff(want, contents(t, store)); diff != "" {
				t.Errorf("after the recovery (-want +got):\n%s", diff)
			}
		})
	}
}
