package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
)

// tree returns the files below the root with their contents, and the directories
// with a slash.
func tree(t testing.TB, fsys workspace.FileSystem) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := workspace.Walk(t.Context(), fsys, ".", nil, func(info workspace.FileInfo, err error) error {
		switch {
		case err != nil:
			return err
		case info.Path == ".workspacekit": // which backups create
			return fs.SkipDir
		case info.IsDir():
			all[info.Path+"/"] = ""
			return nil
		}
		data, err := fsys.ReadFile(t.Context(), info.Path)
		all[info.Path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// fill creates files, and directories for names with a slash at the end.
func fill(t testing.TB, fsys workspace.FileSystem, files map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		var err error
		if dir, isDir := strings.CutSuffix(name, "/"); isDir {
			err = fsys.Mkdir(t.Context(), dir, &workspace.MkdirOptions{Recursive: true})
		} else {
			_, err = fsys.WriteFile(t.Context(), name, []byte(files[name]), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// start is what the workspaces of tests begin with.
var start = map[string]string{
	"a": "A", "d/": "", "d/x": "X", "d/e/": "", "d/e/y": "Y", "d/empty/": "", "zero": "",
}

// edits are changes of start, each with a name.
var edits = map[string]func(ctx context.Context, fsys workspace.FileSystem) error{
	"write": func(ctx context.Context, fsys workspace.FileSystem) error {
		_, err := fsys.WriteFile(ctx, "a", []byte("changed"), nil)
		return err
	},
	"write new": func(ctx context.Context, fsys workspace.FileSystem) error {
		_, err := fsys.WriteFile(ctx, "new/deep/file", []byte("new"), nil)
		return err
	},
	"write only if new": func(ctx context.Context, fsys workspace.FileSystem) error {
		_, err := fsys.WriteFile(ctx, "new", nil, &workspace.WriteOptions{IfNotExist: true})
		return err
	},
	"write version": func(ctx context.Context, fsys workspace.FileSystem) error {
		_, version, err := workspace.ReadVersioned(ctx, fsys, "zero", 0)
		if err == nil {
			_, err = fsys.WriteFile(ctx, "zero", []byte("more"), &workspace.WriteOptions{IfVersion: version})
		}
		return err
	},
	"create": func(ctx context.Context, fsys workspace.FileSystem) error { return create(ctx, fsys, "a", 10) },
	"create large": func(ctx context.Context, fsys workspace.FileSystem) error {
		return create(ctx, fsys, "a", 3<<20)
	},
	"create large new": func(ctx context.Context, fsys workspace.FileSystem) error {
		return create(ctx, fsys, "sub/new", 3<<20)
	},
	"mkdir": func(ctx context.Context, fsys workspace.FileSystem) error { return fsys.Mkdir(ctx, "dir", nil) },
	"mkdir -p": func(ctx context.Context, fsys workspace.FileSystem) error {
		return fsys.Mkdir(ctx, "d/e/f/g", &workspace.MkdirOptions{Recursive: true})
	},
	"rm":       func(ctx context.Context, fsys workspace.FileSystem) error { return fsys.Rm(ctx, "a", nil) },
	"rm empty": func(ctx context.Context, fsys workspace.FileSystem) error { return fsys.Rm(ctx, "zero", nil) },
	"rmdir":    func(ctx context.Context, fsys workspace.FileSystem) error { return fsys.Rm(ctx, "d/empty", nil) },
	"rm -r": func(ctx context.Context, fsys workspace.FileSystem) error {
		return fsys.Rm(ctx, "d", &workspace.RmOptions{Recursive: true})
	},
	"move": func(ctx context.Context, fsys workspace.FileSystem) error {
		return workspace.Move(ctx, fsys, "a", "new/b")
	},
	"move dir": func(ctx context.Context, fsys workspace.FileSystem) error {
		return workspace.Move(ctx, fsys, "d", "new/d2")
	},
	"copy": func(ctx context.Context, fsys workspace.FileSystem) error {
		_, err := workspace.Copy(ctx, fsys, "a", "new/c")
		return err
	},
}

func create(ctx context.Context, fsys workspace.FileSystem, name string, size int) error {
	w, err := workspace.Create(ctx, fsys, name, nil)
	if err != nil {
		return err
	}
	defer w.Close()
	for part := range slices.Chunk(bytes.Repeat([]byte("x"), size), 64<<10) {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	_, err = w.Commit()
	return err
}

// providers are the FileSystems that the tests of this package run on.
var providers = map[string]func(t testing.TB) workspace.FileSystem{
	"memory": func(testing.TB) workspace.FileSystem { return memory.New(nil) },
	"local":  func(t testing.TB) workspace.FileSystem { return openLocal(t, t.TempDir()) },
	"bucket": openBucket,
}

// TestUndo makes each change, and undoes, redoes and undoes it again.
func TestUndo(t *testing.T) {
	for provider, open := range providers {
		for name, edit := range edits {
			t.Run(provider+"/"+name, func(t *testing.T) {
				exhaustive.Sample(t, 1) // all, but for -short
				t.Parallel()
				ctx := t.Context()
				raw := open(t)
				fill(t, raw, start)
				b := newFS(t, raw, nil)
				before := tree(t, b)
				if err := edit(ctx, b); err != nil {
					t.Fatal(err)
				}
				after := tree(t, b)
				if cmp.Equal(before, after) {
					t.Fatal("the edit changes nothing")
				}
				for _, step := range []struct {
					redo bool
					want map[string]string
				}{{false, before}, {true, after}, {false, before}} {
					opts := &backup.UndoOptions{Redo: step.redo, DryRun: true}
					if changes, err := b.Undo(ctx, opts); err != nil || len(changes) != 1 {
						t.Fatalf("Undo(%+v) = %+v, %v, want one change", opts, changes, err)
					}
					opts.DryRun = false
					if changes, err := b.Undo(ctx, opts); err != nil || len(changes) != 1 {
						t.Fatalf("Undo(%+v) = %+v, %v, want one change", opts, changes, err)
					}
					if diff := cmp.Diff(step.want, tree(t, b)); diff != "" {
						t.Fatalf("after Undo(%+v) (-want +got):\n%s", opts, diff)
					}
				}
				if _, err := b.Undo(ctx, nil); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("Undo of nothing = %v, want ErrNotExist", err)
				}
			})
		}
	}
}

// TestUndoSameContent undoes writes one by one; some wrote what was there.
func TestUndoSameContent(t *testing.T) {
	t.Parallel()
	for provider, open := range providers {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			b := newFS(t, open(t), nil)
			for _, write := range []string{"a=1", "b=1", "a=2", "a=2", "a=2", "c=1"} {
				name, content, _ := strings.Cut(write, "=")
				if _, err := b.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
					t.Fatal(err)
				}
			}
			for _, want := range []map[string]string{{"a": "2", "b": "1"}, {"a": "1", "b": "1"}, {"a": "1"}, {}} {
				if _, err := b.Undo(t.Context(), nil); err != nil {
					t.Errorf("Undo() = %v", err)
				}
				if diff := cmp.Diff(want, tree(t, b)); diff != "" {
					t.Errorf("after Undo() (-want +got):\n%s", diff)
				}
			}
			if _, err := b.Undo(t.Context(), nil); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Undo of nothing = %v, want ErrNotExist", err)
			}
		})
	}
}

// TestUndoAll undoes many changes of two sessions, one after the other.
func TestUndoAll(t *testing.T) {
	ctx := t.Context()
	b := newFS(t, memory.New(nil), nil)
	fill(t, b, start)
	before := tree(t, b)
	first, second := session.WithID(ctx, "first"), session.WithID(ctx, "second")
	for i := range 5 {
		if _, err := b.WriteFile(first, "a", fmt.Append(nil, i), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := b.WriteFile(second, "zero", fmt.Append(nil, i), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Rm(first, "d", &workspace.RmOptions{Recursive: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Undo(ctx, &backup.UndoOptions{Last: -1}); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("Undo of -1 changes = %v, want %v", err, fs.ErrInvalid)
	}
	changes, err := b.Undo(ctx, &backup.UndoOptions{Last: 2})
	if err != nil || len(changes) != 2 || changes[0].Op != "rm" || changes[1].Path != "a" || changes[0].Session != "first" {
		t.Fatalf("Undo of two = %+v, %v", changes, err)
	}
	if data, _ := b.ReadFile(ctx, "a"); string(data) != "3" {
		t.Errorf("a is %q after two are undone, want 3", data)
	}
	for _, name := range []string{"first", "second"} {
		opts := &backup.UndoOptions{Session: name, All: true, DryRun: true}
		planned, err := b.Undo(ctx, opts)
		if err != nil {
			t.Fatal(err)
		}
		opts.DryRun = false
		if changes, err = b.Undo(ctx, opts); err != nil || len(changes) != len(planned) {
			t.Errorf("Undo(%+v) = %+v, %v, want what the dry run said: %+v", opts, changes, err, planned)
		}
	}
	if diff := cmp.Diff(before, tree(t, b)); diff != "" {
		t.Errorf("after all is undone (-want +got):\n%s", diff)
	}
	list, err := b.Changes(ctx, "second")
	if err != nil || len(list) != 10 || list[0].Undoes == 0 || list[9].Undoes != 0 {
		t.Errorf("Changes(second) = %+v, %v, want five changes and five undos", list, err)
	}
}

// TestKeepGit tests that changes of .git that a journal has are not reverted where the name
// cannot be changed, and others are.
func TestKeepGit(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	open := func(keep func(name string) bool) *backup.FS {
		fsys, err := backup.New(store, &backup.Options{KeepGit: keep})
		if err != nil {
			t.Fatal(err)
		}
		return fsys
	}
	planting := open(nil)
	ctx := session.WithID(t.Context(), "s")
	for _, name := range []string{"a", ".git/hooks/x", "d/.GIT/x", ".git/free"} {
		if _, err := planting.WriteFile(ctx, name, []byte("old"), nil); err != nil {
			t.Fatal(err)
		}
		if err := planting.Rm(ctx, name, nil); err != nil {
			t.Fatal(err)
		}
	}
	fsys := open(func(name string) bool { return name != ".git/free" })
	if _, err := fsys.Undo(t.Context(), &backup.UndoOptions{Last: 2}); err != nil {
		t.Errorf("Undo of what is not kept = %v", err)
	}
	before := tree(t, store)
	if _, err := fsys.Undo(t.Context(), nil); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("Undo = %v, want %v", err, workspace.ErrPolicy)
	}
	if diff := cmp.Diff(before, tree(t, store)); diff != "" {
		t.Errorf("after Undo (-want +got):\n%s", diff)
	}
	if _, err := fsys.Undo(t.Context(), &backup.UndoOptions{Session: "s", All: true}); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("Undo of all = %v, want %v", err, workspace.ErrPolicy)
	}
	after := tree(t, store)
	if after[".git/hooks/x"] != "" || after["d/.GIT/x"] != "" {
		t.Errorf("Undo of all left %q", after)
	}
}
