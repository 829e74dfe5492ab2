package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/observe"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// TestConflict changes what each edit left, as another program, and then undoes the
// edit. Nothing that the other program wrote may be lost.
func TestConflict(t *testing.T) {
	exhaustive.NotShort(t, "makes changes in several stores")
	put := func(name string) func(context.Context, workspace.FileSystem) error {
		return func(ctx context.Context, fsys workspace.FileSystem) error {
			_, err := fsys.WriteFile(ctx, name, []byte("foreign"), nil)
			return err
		}
	}
	rm := func(name string) func(context.Context, workspace.FileSystem) error {
		return func(ctx context.Context, fsys workspace.FileSystem) error {
			return fsys.Rm(ctx, name, &workspace.RmOptions{Recursive: true})
		}
	}
	for _, c := range []struct {
		edit, path string // path is at fault
		foreign    func(context.Context, workspace.FileSystem) error
	}{
		{"write", "a", put("a")},
		{"write", "a", rm("a")},
		{"write new", "new/deep/file", put("new/deep/file")},
		{"write only if new", "new", put("new")},
		{"write version", "zero", put("zero")},
		{"create", "a", put("a")},
		{"create large", "a", put("a")},
		{"rm", "a", put("a")},
		{"rm -r", "d", put("d")},
		{"rmdir", "d/empty", put("d/empty")},
		{"move", "new/b", put("new/b")},
		{"move", "new/b", rm("new/b")},
		{"move", "a", put("a")},
		{"move dir", "d", put("d")},
		{"move dir", "new/d2", func(ctx context.Context, fsys workspace.FileSystem) error {
			return errors.Join(rm("new/d2")(ctx, fsys), put("new/d2")(ctx, fsys))
		}},
		{"copy", "new/c", put("new/c")},
	} {
		for provider, open := range providers {
			t.Run(provider+"/"+c.edit+" "+c.path, func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				raw := open(t)
				fill(t, raw, start)
				b := newFS(t, raw, nil)
				if err := edits[c.edit](ctx, b); err != nil {
					t.Fatal(err)
				}
				if err := c.foreign(ctx, raw); err != nil {
					t.Fatal(err)
				}
				want := tree(t, b)
				for _, opts := range []backup.UndoOptions{{DryRun: true}, {}, {All: true}} {
					changes, err := b.Undo(ctx, &opts)
					var pathError *fs.PathError
					if !errors.Is(err, workspace.ErrConflict) || !errors.As(err, &pathError) || pathError.Path != c.path || len(changes) > 0 {
						t.Errorf("Undo(%+v) = %v, %v, want ErrConflict for %s", opts, changes, err, c.path)
					}
				}
				if diff := cmp.Diff(want, tree(t, b)); diff != "" {
					t.Errorf("a refused undo has changed something (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestConflictInside changes a part of what each edit left, as another program. An undo of
// one change is refused, and an undo of all leaves that part alone. The part is undone when
// it is again what the edit left.
func TestConflictInside(t *testing.T) {
	exhaustive.NotShort(t, "makes changes in several stores")
	for _, c := range []struct {
		edit, path string // path is what the other program changes
		foreign    string // empty removes it
		want       map[string]string
	}{
		{"rm -r", "d/x", "foreign", map[string]string{"d/": "", "d/x": "foreign", "d/e/": "", "d/e/y": "Y", "d/empty/": ""}},
		{"move dir", "d/x", "foreign", map[string]string{"d/": "", "d/x": "foreign", "d/e/": "", "d/e/y": "Y", "d/empty/": "", "new/": "", "new/d2/": "", "new/d2/x": "X"}},
		{"move dir", "new/d2/x", "foreign", map[string]string{"d/": "", "d/e/": "", "d/e/y": "Y", "d/empty/": "", "new/": "", "new/d2/": "", "new/d2/x": "foreign"}},
		{"move dir", "new/d2/e/y", "", map[string]string{"d/": "", "d/x": "X", "d/e/": "", "d/empty/": ""}},
	} {
		for provider, open := range providers {
			t.Run(provider+"/"+c.edit+" "+c.path, func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				raw := open(t)
				fill(t, raw, start)
				b := newFS(t, raw, nil)
				after := func(opts backup.UndoOptions, conflict string, reverted int, want map[string]string) {
					t.Helper()
					changes, err := b.Undo(ctx, &opts)
					pathError, _ := errors.AsType[*fs.PathError](err)
					if len(changes) != reverted || (conflict != "") != errors.Is(err, workspace.ErrConflict) || conflict != "" && pathError.Path != conflict || conflict == "" && err != nil {
						t.Errorf("Undo(%+v) = %v, %v, want %d changes and a conflict of %q", opts, changes, err, reverted, conflict)
					}
					if diff := cmp.Diff(want, tree(t, b)); diff != "" {
						t.Errorf("after Undo(%+v) (-want +got):\n%s", opts, diff)
					}
				}
				if err := edits[c.edit](ctx, b); err != nil {
					t.Fatal(err)
				}
				edited := tree(t, b)
				if c.foreign != "" {
					fill(t, raw, map[string]string{c.path: c.foreign})
				} else if err := raw.Rm(ctx, c.path, nil); err != nil {
					t.Fatal(err)
				}
				foreign := tree(t, b)
				c.want["a"], c.want["zero"] = "A", ""
				after(backup.UndoOptions{}, c.path, 0, foreign)
				after(backup.UndoOptions{All: true, DryRun: true}, c.path, 1, foreign)
				after(backup.UndoOptions{All: true}, c.path, 1, c.want)
				after(backup.UndoOptions{All: true}, c.path, 0, c.want)
				after(backup.UndoOptions{Redo: true}, "", 1, foreign)
				after(backup.UndoOptions{All: true}, c.path, 1, c.want)
				if c.path != "d/x" {
					return // it cannot be again what the edit left: that has a version, and no hash
				}
				if err := raw.Rm(ctx, c.path, nil); err != nil {
					t.Fatal(err)
				}
				after(backup.UndoOptions{}, "", 1, start)
				edited["d/"] = "" // which the other program created
				after(backup.UndoOptions{Redo: true}, "", 2, edited)
				after(backup.UndoOptions{}, "", 1, start)
			})
		}
	}
}

// TestUndoPassesUnkept undoes a write whose bytes were not kept, and then what is before it:
// what the write left is not what somebody else has written.
func TestUndoPassesUnkept(t *testing.T) {
	t.Parallel()
	for provider, open := range providers {
		for _, all := range []bool{false, true} {
			t.Run(fmt.Sprint(provider, " all=", all), func(t *testing.T) {
				t.Parallel()
				raw := open(t)
				b := newFS(t, raw, &backup.Options{MaxChange: 10, AllowUnkept: true})
				for _, content := range []string{"first", strings.Repeat("big", 100), "small"} {
					fill(t, b, map[string]string{"a": content})
				}
				opts := backup.UndoOptions{All: all}
				if _, err := b.Undo(t.Context(), &opts); !errors.Is(err, errors.ErrUnsupported) || errors.Is(err, workspace.ErrConflict) {
					t.Errorf("Undo(%+v) of what was not kept = %v, want ErrUnsupported alone", opts, err)
				}
				if !all {
					for _, want := range []map[string]string{{"a": "first"}, {}} {
						if _, err := b.Undo(t.Context(), nil); err != nil {
							t.Errorf("Undo() after it = %v", err)
						}
						if diff := cmp.Diff(want, tree(t, b)); diff != "" {
							t.Errorf("after Undo() (-want +got):\n%s", diff)
						}
					}
				}
				if diff := cmp.Diff(map[string]string{}, tree(t, b)); diff != "" {
					t.Errorf("after all is undone (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestUndoPassesUnkeptOfOther tests that what was not kept of one session is no reason to
// replace what it wrote by the undo of another.
func TestUndoPassesUnkeptOfOther(t *testing.T) {
	t.Parallel()
	b := newFS(t, memory.New(nil), &backup.Options{MaxChange: 10, AllowUnkept: true})
	write := func(id, content string) {
		if _, err := b.WriteFile(session.WithID(t.Context(), id), "a", []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	write("first", strings.Repeat("big", 100))
	write("second", "small")
	for _, test := range []struct {
		session string
		want    error
	}{{"second", errors.ErrUnsupported}, {"first", workspace.ErrConflict}} {
		if _, err := b.Undo(t.Context(), &backup.UndoOptions{Session: test.session}); !errors.Is(err, test.want) {
			t.Errorf("Undo of the session %s = %v, want %v", test.session, err, test.want)
		}
	}
}

// TestUndoAround undoes all changes of a session but the one in whose file somebody
// else has written.
func TestUndoAround(t *testing.T) {
	ctx := session.WithID(t.Context(), "mine")
	raw := memory.New(nil)
	b := newFS(t, raw, nil)
	for _, name := range []string{"a/1", "a/2", "b/3"} {
		fill(t, raw, map[string]string{name: "old"})
		if _, err := b.WriteFile(ctx, name, []byte("new"), nil); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, raw, map[string]string{"a/2": "foreign"})
	changes, err := b.Undo(ctx, &backup.UndoOptions{All: true})
	if !errors.Is(err, workspace.ErrConflict) || len(changes) != 2 {
		t.Errorf("Undo of all = %+v, %v, want two changes and a conflict", changes, err)
	}
	want := map[string]string{"a/": "", "a/1": "old", "a/2": "foreign", "b/": "", "b/3": "old"}
	if diff := cmp.Diff(want, tree(t, b)); diff != "" {
		t.Errorf("after Undo of all (-want +got):\n%s", diff)
	}
}

// TestHidden tries to reach the backups through the wrapper.
func TestHidden(t *testing.T) {
	for _, dir := range []string{backup.DefaultDir, "top", "!odd[1]*{a}/b"} {
		for provider, open := range providers {
			if provider == "bucket" && strings.Contains(dir, "*") {
				continue
			}
			t.Run(provider+"/"+dir, func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				raw := open(t)
				b := newFS(t, raw, &backup.Options{Dir: dir})
				fill(t, b, map[string]string{"a": "secret", "sub/top/file": "visible"})
				fill(t, b, map[string]string{"a": "changed"})
				if _, err := raw.Stat(ctx, dir+"/journal"); err != nil {
					t.Fatalf("the backups are not in %s: %v", dir, err)
				}
				inside := dir + "/journal/000000000001.json"
				for _, name := range []string{dir, inside, strings.ToUpper(dir), dir + "/new"} {
					for what, try := range tries(b, name) {
						if err := try(ctx); !errors.Is(err, workspace.ErrPolicy) {
							t.Errorf("%s(%q) = %v, want ErrPolicy", what, name, err)
						}
					}
				}
				parent, _ := workspace.Split(dir)
				if parent != "." {
					if err := b.Rm(ctx, parent, &workspace.RmOptions{Recursive: true}); !errors.Is(err, workspace.ErrPolicy) {
						t.Errorf("Rm(%q) = %v, want ErrPolicy", parent, err)
					}
					if err := b.Move(ctx, parent, "elsewhere"); !errors.Is(err, workspace.ErrPolicy) {
						t.Errorf("Move(%q) = %v, want ErrPolicy", parent, err)
					}
				}
				found, err := b.Grep(ctx, "secret|sha256", nil)
				if err != nil || len(found.Matches) > 0 {
					t.Errorf("Grep finds backups: %+v, %v", found, err)
				}
				paths, err := b.Glob(ctx, "**", nil)
				if want := []string{"a", "sub/top/file"}; err != nil || !slices.Equal(paths, want) {
					t.Errorf("Glob = %q, %v, want %q", paths, err, want)
				}
			})
		}
	}
}

// tries are ways to use a name.
func tries(fsys workspace.FileSystem, name string) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"ReadFile":  func(ctx context.Context) error { _, err := fsys.ReadFile(ctx, name); return err },
		"WriteFile": func(ctx context.Context) error { _, err := fsys.WriteFile(ctx, name, nil, nil); return err },
		"Stat":      func(ctx context.Context) error { _, err := fsys.Stat(ctx, name); return err },
		"Ls":        func(ctx context.Context) error { _, err := fsys.Ls(ctx, name, nil); return err },
		"Rm": func(ctx context.Context) error {
			return fsys.Rm(ctx, name, &workspace.RmOptions{Recursive: true})
		},
		"Mkdir": func(ctx context.Context) error { return fsys.Mkdir(ctx, name, nil) },
		"Move":  func(ctx context.Context) error { return workspace.Move(ctx, fsys, name, "x") },
		"Copy":  func(ctx context.Context) error { _, err := workspace.Copy(ctx, fsys, name, "x"); return err },
		"Create": func(ctx context.Context) error {
			w, err := workspace.Create(ctx, fsys, name, nil)
			if err == nil {
				_, err = w.Commit()
			}
			return err
		},
		"Open": func(ctx context.Context) error { _, _, err := workspace.Open(ctx, fsys, name, nil); return err },
	}
}

// noStreams is a store that has no space for a stream.
type noStreams struct{ workspace.FileSystem }

func (noStreams) Create(_ context.Context, name string, _ *workspace.WriteOptions) (workspace.Writer, error) {
	return nil, &fs.PathError{Op: "create", Path: name, Err: workspace.ErrNoSpace}
}

func (n noStreams) Exact() (workspace.FileSystem, error) { return n, nil }

// TestCommitAfterFailedWrite commits a file whose stream could not begin: the bytes before it
// must not be stored.
func TestCommitAfterFailedWrite(t *testing.T) {
	b := newFS(t, noStreams{memory.New(nil)}, nil)
	w, err := workspace.Create(t.Context(), b, "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	data := make([]byte, 1<<20)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); !errors.Is(err, workspace.ErrNoSpace) {
		t.Errorf("Write = %v, want ErrNoSpace", err)
	}
	if _, err := w.Commit(); !errors.Is(err, workspace.ErrNoSpace) {
		t.Errorf("Commit after it = %v, want ErrNoSpace", err)
	}
	if _, err := b.Stat(t.Context(), "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat after it = %v, want ErrNotExist", err)
	}
}

// TestStoreBehindSymlink leads the directory of the backups to a place that anybody
// can read.
func TestStoreBehindSymlink(t *testing.T) {
	raw := openLocal(t, t.TempDir())
	fill(t, raw, map[string]string{"open/": "", "a": "old"})
	symlinkIn(t, raw, "open", ".workspacekit")
	b := newFS(t, raw, nil)
	_, err := b.WriteFile(t.Context(), "a", []byte("new"), nil)
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("WriteFile = %v, want ErrUnsupported", err)
	}
	if data, _ := b.ReadFile(t.Context(), "a"); string(data) != "old" {
		t.Errorf("a is %q, want what it was", data)
	}
	if infos, _ := raw.Ls(t.Context(), "open", nil); len(infos) > 0 {
		t.Errorf("backups are in a directory that can be read: %v", infos)
	}
}

// TestUndoAllAroundSymlink undoes a session that has also removed a symlink, which was
// not kept.
func TestUndoAllAroundSymlink(t *testing.T) {
	ctx := t.Context()
	raw := openLocal(t, t.TempDir())
	fill(t, raw, map[string]string{"a": "old", "b": "kept"})
	symlinkIn(t, raw, "a", "link")
	b := newFS(t, raw, nil)
	fill(t, b, map[string]string{"a": "new"})
	for _, name := range []string{"link", "b"} {
		if err := b.Rm(ctx, name, nil); err != nil {
			t.Fatal(err)
		}
	}
	changes, err := b.Undo(ctx, &backup.UndoOptions{All: true})
	if len(changes) != 2 || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Undo = %v, %v, want two changes and ErrUnsupported", changes, err)
	}
	for name, want := range map[string]string{"a": "old", "b": "kept"} {
		if data, err := raw.ReadFile(ctx, name); err != nil || string(data) != want {
			t.Errorf("ReadFile(%q) = %q, %v, want %q", name, data, err, want)
		}
	}
}

// TestUndoPastSymlink undoes one change after the other. One removed a symlink, and
// another a directory with symlinks in it.
func TestUndoPastSymlink(t *testing.T) {
	ctx := session.WithID(t.Context(), "s")
	raw := openLocal(t, t.TempDir())
	fill(t, raw, map[string]string{"a": "old", "d/x": "kept", "e/": ""})
	for name, target := range map[string]string{"link": "a", "d/link": "x", "e/link": "../a"} {
		symlinkIn(t, raw, target, name)
	}
	b := newFS(t, raw, nil)
	before := tree(t, b)
	if _, err := b.WriteFile(ctx, "a", []byte("new"), nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "d", "e"} {
		if err := b.Rm(ctx, name, &workspace.RmOptions{Recursive: true}); err != nil {
			t.Fatal(err)
		}
	}
	undo := func(opts backup.UndoOptions, path string, want error) {
		t.Helper()
		undone, err := b.Undo(ctx, &opts)
		if !errors.Is(err, want) || len(undone) != len(path) || path != "" && undone[0].Path != path {
			t.Errorf("Undo(%+v) = %+v, %v, want the change of %q and %v", opts, undone, err, path, want)
		}
	}
	undo(backup.UndoOptions{}, "e", nil)
	undo(backup.UndoOptions{}, "d", nil)
	undo(backup.UndoOptions{DryRun: true}, "", errors.ErrUnsupported)
	undo(backup.UndoOptions{Last: 2}, "", errors.ErrUnsupported)
	undo(backup.UndoOptions{}, "a", nil)
	undo(backup.UndoOptions{}, "", fs.ErrNotExist)
	for _, name := range []string{"link", "d/link", "e/link"} {
		delete(before, name)
	}
	if diff := cmp.Diff(before, tree(t, b)); diff != "" {
		t.Errorf("after all is undone (-want +got):\n%s", diff)
	}
	undo(backup.UndoOptions{Redo: true}, "a", nil)
	undo(backup.UndoOptions{Redo: true}, "d", nil)
	undo(backup.UndoOptions{}, "d", nil)
	undo(backup.UndoOptions{}, "a", nil)
}

// TestRefusedBelow has the files below refuse to remove or move a directory, because of a log
// in it that grows afterwards. The journal cannot know how far they got, and the change
// before can be undone all the same.
func TestRefusedBelow(t *testing.T) {
	ctx := t.Context()
	for name, change := range map[string]func(b *backup.FS) error{
		"rm":   func(b *backup.FS) error { return b.Rm(ctx, "log", &workspace.RmOptions{Recursive: true}) },
		"move": func(b *backup.FS) error { return b.Move(ctx, "log", "new") },
	} {
		for _, all := range []bool{false, true} {
			raw := memory.New(nil)
			fill(t, raw, map[string]string{"log/a": "A", "log/r": "1\n"})
			protected, err := policy.Protect(raw, func(name string) string {
				if name == "log/r" {
					return "it is a log"
				}
				return ""
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			b := newFS(t, protected, &backup.Options{Store: raw})
			want := tree(t, protected)
			fill(t, b, map[string]string{"f": "F"})
			if err := change(b); !errors.Is(err, workspace.ErrPolicy) {
				t.Fatalf("%s of a directory with a protected file = %v, want ErrPolicy", name, err)
			}
			fill(t, raw, map[string]string{"log/r": "1\n2\n"})
			want["log/r"] = "1\n2\n"
			undone, err := b.Undo(ctx, &backup.UndoOptions{All: all})
			if err != nil || len(undone) != 1 || undone[0].Path != "f" {
				t.Errorf("Undo (all: %t) after a refused %s = %+v, %v, want the change of f", all, name, undone, err)
			}
			got := tree(t, protected)
			for path := range got {
				if strings.HasPrefix(path, ".workspacekit") {
					delete(got, path)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("after the undo (-want +got):\n%s", diff)
			}
		}
	}
}

// TestTooMuch changes more bytes than a change may replace.
func TestTooMuch(t *testing.T) {
	ctx := t.Context()
	large := bytes.Repeat([]byte("x"), 100)
	for name, change := range map[string]func(b *backup.FS) error{
		"write": func(b *backup.FS) error { _, err := b.WriteFile(ctx, "d/large", nil, nil); return err },
		"rm":    func(b *backup.FS) error { return b.Rm(ctx, "d/large", nil) },
		"rm -r": func(b *backup.FS) error { return b.Rm(ctx, "d", &workspace.RmOptions{Recursive: true}) },
	} {
		for _, allow := range []bool{false, true} {
			raw := memory.New(nil)
			fill(t, raw, map[string]string{"d/large": string(large)})
			b := newFS(t, raw, &backup.Options{MaxChange: 99, AllowUnkept: allow})
			err := change(b)
			switch _, undoErr := b.Undo(ctx, nil); {
			case !allow && (!errors.Is(err, workspace.ErrTooLarge) || !errors.Is(undoErr, fs.ErrNotExist)):
				t.Errorf("%s of too many bytes = %v, and Undo = %v, want ErrTooLarge and nothing to undo", name, err, undoErr)
			case !allow && !strings.HasSuffix(err.Error(), "more than the 99 bytes that can be kept to undo it"):
				t.Errorf("%s of too many bytes = %v, which has to hold for transactions, too", name, err)
			case allow && (err != nil || !errors.Is(undoErr, errors.ErrUnsupported)):
				t.Errorf("%s of too many bytes with AllowUnkept = %v, and Undo = %v, want nil and ErrUnsupported", name, err, undoErr)
			}
		}
	}
}

// TestUndoTooMuch undoes changes that left more bytes than a change may replace: Undo says
// which of them cannot be redone.
func TestUndoTooMuch(t *testing.T) {
	ctx := t.Context()
	b := newFS(t, memory.New(nil), &backup.Options{MaxChange: 99})
	fill(t, b, map[string]string{"small": "x"})
	fill(t, b, map[string]string{"large": strings.Repeat("x", 100)})
	for _, opts := range []*backup.UndoOptions{{Last: 2, DryRun: true}, {Last: 2}} {
		undone, err := b.Undo(ctx, opts)
		if err != nil || len(undone) != 2 || undone[0].Path != "large" || !undone[0].Unkept || undone[1].Unkept {
			t.Errorf("Undo(%+v) = %+v, %v, want two changes, and that large was not kept", opts, undone, err)
		}
	}
	if redone, err := b.Undo(ctx, &backup.UndoOptions{Redo: true}); err != nil || len(redone) != 1 || redone[0].Unkept {
		t.Errorf("redo of small = %+v, %v, want one change that is kept", redone, err)
	}
	if _, err := b.Undo(ctx, &backup.UndoOptions{Redo: true}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("redo of large = %v, want ErrUnsupported", err)
	}
}

// TestPrune makes more changes than are kept.
func TestPrune(t *testing.T) {
	ctx := t.Context()
	store := memory.New(nil)
	b := newFS(t, memory.New(nil), &backup.Options{Store: store, Dir: "kept", Keep: 3})
	now := time.Now()
	backup.SetNow(b, func() time.Time { return now })
	for i := range 10 {
		fill(t, b, map[string]string{"a": strings.Repeat("x", i)})
		now = now.Add(time.Minute)
	}
	now = now.Add(3 * time.Hour)
	if err := backup.Prune(ctx, b); err != nil {
		t.Fatal(err)
	}
	contents, err := store.Glob(ctx, "kept/objects/*/*", nil)
	if err != nil || len(contents) != 3 {
		t.Errorf("contents after pruning = %q, %v, want three", contents, err)
	}
	changes, err := b.Undo(ctx, &backup.UndoOptions{All: true})
	if err != nil || len(changes) != 3 {
		t.Errorf("Undo of all after pruning = %+v, %v, want three changes", changes, err)
	}
	if data, _ := b.ReadFile(ctx, "a"); len(data) != 6 {
		t.Errorf("a has %d bytes, want 6", len(data))
	}
}

// TestPruneByPrograms makes each change with a new FS, as each call of the command does. Only
// one in pruneEvery reads the records of the others.
func TestPruneByPrograms(t *testing.T) {
	ctx := t.Context()
	raw, reads := memory.New(nil), 0
	store := observe.New(memory.New(nil), "", observe.Func(func(_ context.Context, e observe.Event) {
		if e.Op == ops.ReadFile {
			reads++
		}
	}))
	change := func(i int) {
		fill(t, newFS(t, raw, &backup.Options{Store: store, Dir: "kept", Keep: 3}), map[string]string{"a": strings.Repeat("x", i)})
	}
	for i := 1; i < 32; i++ {
		change(i)
	}
	if reads != 0 {
		t.Errorf("31 changes read %d records, want none", reads)
	}
	change(32)
	if records, err := store.Ls(ctx, "kept/journal", nil); err != nil || len(records) != 3 || reads == 0 {
		t.Errorf("after 32 changes there are %d records, %v, want 3", len(records), err)
	}
}

// TestPruneKeepsUndos undoes one change at a time, which must not use up what is kept.
func TestPruneKeepsUndos(t *testing.T) {
	ctx := t.Context()
	b := newFS(t, memory.New(nil), &backup.Options{Keep: 3})
	for i := range 5 {
		fill(t, b, map[string]string{"a": strings.Repeat("x", i)})
	}
	undo := func(opts *backup.UndoOptions, want int) {
		t.Helper()
		if err := backup.Prune(ctx, b); err != nil {
			t.Fatal(err)
		}
		if changes, err := b.Undo(ctx, opts); err != nil || len(changes) != 1 {
			t.Errorf("Undo(%+v) = %+v, %v, want one change", opts, changes, err)
		}
		if data, _ := b.ReadFile(ctx, "a"); len(data) != want {
			t.Errorf("after Undo(%+v), a has %d bytes, want %d", opts, len(data), want)
		}
	}
	for _, want := range []int{3, 2, 1} {
		undo(nil, want)
	}
	if _, err := b.Undo(ctx, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Undo of more than is kept = %v, want ErrNotExist", err)
	}
	for _, want := range []int{2, 3, 4} {
		undo(&backup.UndoOptions{Redo: true}, want)
	}
	undo(nil, 3)
}

// TestKeepHolds tests that no more changes can be undone than Keep says, also before the next
// prune.
func TestKeepHolds(t *testing.T) {
	ctx := t.Context()
	b := newFS(t, memory.New(nil), &backup.Options{Keep: 3})
	for i := range 10 {
		fill(t, b, map[string]string{"a": strings.Repeat("x", i)})
	}
	if changes, err := b.Changes(ctx, ""); err != nil || len(changes) != 3 {
		t.Errorf("Changes = %d changes, %v, want 3", len(changes), err)
	}
	if undone, err := b.Undo(ctx, &backup.UndoOptions{All: true}); err != nil || len(undone) != 3 {
		t.Errorf("Undo(All) = %d changes, %v, want 3", len(undone), err)
	}
	if data, err := b.ReadFile(ctx, "a"); string(data) != strings.Repeat("x", 6) {
		t.Errorf("a = %q, %v, want what the seventh change wrote", data, err)
	}
}

// TestConflictKeepsNothing tests that whoever tries an old version again and again does not
// fill the store.
func TestConflictKeepsNothing(t *testing.T) {
	ctx := t.Context()
	raw, store := memory.New(nil), memory.New(nil)
	b := newFS(t, raw, &backup.Options{Store: store, Dir: "kept"})
	for i := range 9 {
		if _, err := raw.WriteFile(ctx, "a", []byte(strings.Repeat("x", i)), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := b.WriteFile(ctx, "a", []byte("mine"), &workspace.WriteOptions{IfVersion: "old"}); !errors.Is(err, workspace.ErrConflict) {
			t.Errorf("WriteFile with an old version = %v, want ErrConflict", err)
		}
	}
	if kept, err := store.Glob(ctx, "kept/objects/*/*", nil); err != nil || len(kept) != 0 {
		t.Errorf("kept after conflicts: %q, %v, want nothing", kept, err)
	}
}

// TestKeepCutsCalls tests that an undo says which calls it reverts in part, before and after
// the next prune, and to the next program.
func TestKeepCutsCalls(t *testing.T) {
	raw := memory.New(nil)
	b := newFS(t, raw, &backup.Options{Keep: 3})
	calls := []context.Context{session.WithCall(t.Context()), session.WithCall(t.Context())}
	for i, call := range []int{0, 1, 0, 1, 1} {
		if _, err := b.WriteFile(calls[call], fmt.Sprint(i), []byte("x"), nil); err != nil {
			t.Fatal(err)
		}
	}
	cut := func() (names string) {
		t.Helper()
		changes, err := newFS(t, raw, &backup.Options{Keep: 3}).Changes(t.Context(), "")
		if err != nil || len(changes) != 3 {
			t.Errorf("Changes = %v, %v, want 3", changes, err)
		}
		for _, c := range changes {
			if c.Cut {
				names += c.Path
			}
		}
		return names
	}
	if got := cut(); got != "32" {
		t.Errorf("before the prune, cut = %q, want the first that is left of each call", got)
	}
	if err := backup.Prune(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if got := cut(); got != "32" {
		t.Errorf("after the prune, cut = %q", got)
	}
	undone, err := b.Undo(t.Context(), nil)
	if err != nil || len(undone) != 2 || undone[0].Cut || !undone[1].Cut {
		t.Errorf("Undo = %+v, %v, want two changes, the last one cut", undone, err)
	}
}

// TestKeepCutsSessions tests that an undo says that a session has older changes that are no
// longer kept, before and after the next prune, and to the next program.
func TestKeepCutsSessions(t *testing.T) {
	raw := memory.New(nil)
	opts := &backup.Options{Keep: 4}
	b := newFS(t, raw, opts)
	for _, name := range []string{"a1", "b1", "b2", "a2", "a3", "a4", "c1"} {
		if _, err := b.WriteFile(session.WithID(t.Context(), name[:1]), name, []byte("x"), nil); err != nil {
			t.Fatal(err)
		}
	}
	cut := func() (names string) {
		t.Helper()
		changes, err := newFS(t, raw, opts).Changes(t.Context(), "")
		if err != nil || len(changes) != 4 {
			t.Errorf("Changes = %v, %v, want 4", changes, err)
		}
		for _, c := range changes {
			if c.SessionCut {
				names += c.Path
			}
		}
		return names
	}
	if got := cut(); got != "a2" {
		t.Errorf("before the prune, cut = %q, want the first that is left of the session", got)
	}
	if err := backup.Prune(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if got := cut(); got != "a2" {
		t.Errorf("after the prune, cut = %q", got)
	}
	undone, err := b.Undo(t.Context(), &backup.UndoOptions{Session: "a", All: true})
	if err != nil || len(undone) != 3 || undone[1].SessionCut || !undone[2].SessionCut {
		t.Errorf("Undo = %+v, %v, want three changes, the last one cut", undone, err)
	}
}

// TestKeepBytesAndAge prunes by size and by age.
func TestKeepBytesAndAge(t *testing.T) {
	ctx := t.Context()
	for name, opts := range map[string]backup.Options{
		"bytes": {KeepBytes: 250},
		"age":   {KeepFor: 150 * time.Second},
	} {
		b := newFS(t, memory.New(nil), &opts)
		now := time.Now()
		backup.SetNow(b, func() time.Time { return now })
		for i := range 6 {
			fill(t, b, map[string]string{"a": strings.Repeat(string(rune('a'+i)), 100)})
			now = now.Add(time.Minute)
		}
		if err := backup.Prune(ctx, b); err != nil {
			t.Fatal(err)
		}
		if changes, err := b.Changes(ctx, ""); err != nil || len(changes) != 2 {
			t.Errorf("limited by %s, %d changes are left, %v, want 2", name, len(changes), err)
		}
	}
}

// TestHostileJournal reads a journal that somebody else has written.
func TestHostileJournal(t *testing.T) {
	ctx := t.Context()
	hash := strings.Repeat("0", 64)
	step := `{"path":"a","before":{"type":"file","size":3,"sha256":"` + hash + `","kept":1},"after":{"type":"file","size":1,"sha256":"559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd"}}`
	for name, record := range map[string]string{
		"climbs":        `{"session":"s","op":"write_file","path":"../a","done":true,"steps":[` + step + `]}`,
		"step climbs":   `{"session":"s","op":"write_file","path":"a","done":true,"steps":[` + strings.Replace(step, `"a"`, `"../a"`, 1) + `]}`,
		"hash is path":  `{"session":"s","op":"write_file","path":"a","done":true,"steps":[` + strings.Replace(step, hash, "../../a", 1) + `]}`,
		"session":       `{"session":"../s","op":"write_file","path":"a","done":true,"steps":[` + step + `]}`,
		"no steps":      `{"session":"s","op":"move","path":"a","to":"b","done":true}`,
		"no JSON":       `{"session":`,
		"wrong content": `{"session":"s","op":"write_file","path":"a","done":true,"steps":[` + step + `]}`,
		"into backups":  `{"session":"s","op":"write_file","path":"a","done":true,"steps":[` + strings.Replace(step, `"a"`, `".workspacekit/backups/x"`, 1) + `]}`,
	} {
		raw := memory.New(nil)
		fill(t, raw, map[string]string{
			"a": "A", ".workspacekit/backups/journal/000000000001.json": record, ".workspacekit/backups/objects/1/" + hash: "old",
		})
		b := newFS(t, raw, nil)
		if changes, err := b.Undo(ctx, &backup.UndoOptions{All: true}); err == nil {
			t.Errorf("%s: Undo = %+v, want an error", name, changes)
		}
		if data, _ := b.ReadFile(ctx, "a"); string(data) != "A" {
			t.Errorf("%s: a is %q, want what it was", name, data)
		}
	}
}

// TestBadOptions gives New what it cannot use.
func TestBadOptions(t *testing.T) {
	for _, opts := range []backup.Options{{Dir: "."}, {Dir: "../x"}, {Dir: "/x"}, {Dir: ".git"}, {Dir: "a/.GIT/kept"}, {Keep: -1}, {KeepBytes: -1}, {KeepFor: -1}, {MaxChange: -1}} {
		if _, err := backup.New(memory.New(nil), &opts); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("New(%+v) = %v, want ErrInvalid", opts, err)
		}
	}
}

// TestCutOffBeforeTheFile undoes a change that created a directory and was killed before
// it created the file in it.
func TestCutOffBeforeTheFile(t *testing.T) {
	ctx := t.Context()
	raw := memory.New(nil)
	killed := stopping(t, raw, 3, false) // .gitignore, the record, and the file, which is not written
	if _, err := killed.WriteFile(ctx, "sub/new", []byte("text"), nil); err == nil {
		t.Fatal("the write was not killed")
	}
	fill(t, raw, map[string]string{"sub/": ""})
	if _, err := newFS(t, raw, nil).Undo(ctx, nil); err != nil {
		t.Errorf("Undo = %v, want nil", err)
	}
	if _, err := raw.Stat(ctx, "sub"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
}

// TestHiddenReason reads a name in the directory of the backups, under rules of the caller: no
// pattern of theirs is the reason.
func TestHiddenReason(t *testing.T) {
	t.Parallel()
	b := newFS(t, memory.New(nil), nil)
	fsys, err := policy.Restrict(b, policy.Rules{DeniedPaths: []string{"keys"}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "it is a directory of backups or transactions, or in one"
	_, _, err = workspace.ReadVersioned(t.Context(), fsys, backup.DefaultDir+"/journal", 0)
	denied, ok := errors.AsType[*policy.DeniedError](err)
	if !ok || denied.Decision().Reason != want || denied.Rule() != "" {
		t.Errorf("ReadVersioned = %v, want a DeniedError without a rule: %s", err, want)
	}
}

// TestBackupInTheWay tests that a file in the place of a directory of the backups is not
// called a temporary fault, and is named.
func TestBackupInTheWay(t *testing.T) {
	for name, edit := range map[string]string{".workspacekit": "write", ".workspacekit/backups": "rm", ".workspacekit/backups/journal": "write new", ".workspacekit/backups/objects": "write"} {
		t.Run(name, func(t *testing.T) {
			raw := memory.New(nil)
			fill(t, raw, start)
			b := newFS(t, raw, nil)
			fill(t, raw, map[string]string{name: "in the way"})
			err := edits[edit](t.Context(), b)
			if want := "move " + name + " away, which is in the place of a directory of the backups"; !errors.Is(err, errors.ErrUnsupported) || ops.RemedyOf(err) != want {
				t.Errorf("%s = %v with the remedy %q, want ErrUnsupported with %q", edit, err, ops.RemedyOf(err), want)
			}
		})
	}
}

// denying is memory without the right to write in .workspacekit.
type denying struct{ *memory.FS }

func (d denying) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	if strings.HasPrefix(name, ".workspacekit/") {
		return "", ops.Error(ops.WriteFile, name, fs.ErrPermission, nil)
	}
	return d.FS.WriteFile(ctx, name, data, opts)
}

func (d denying) Exact() (workspace.FileSystem, error) { return d, nil }

// TestBackupDenied tests that the error of a change names the directory of the backups if
// they cannot be written there.
func TestBackupDenied(t *testing.T) {
	t.Parallel()
	for _, edit := range []string{"write", "write new", "rm"} {
		raw := memory.New(nil)
		fill(t, raw, start)
		err := edits[edit](t.Context(), newFS(t, denying{raw}, nil))
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(ops.RemedyOf(err), " .workspacekit/backups") {
			t.Errorf("%s = %v with the remedy %q, want ErrPermission with one that names .workspacekit/backups", edit, err, ops.RemedyOf(err))
		}
	}
}

// TestUndoBehindObstacle tests that an undo names a file in the place of the journal, as a
// change does.
func TestUndoBehindObstacle(t *testing.T) {
	const name = ".workspacekit/backups/journal"
	raw := memory.New(nil)
	fill(t, raw, map[string]string{name: "in the way"})
	b := newFS(t, raw, nil)
	_, undoErr := b.Undo(t.Context(), nil)
	_, listErr := b.Changes(t.Context(), "")
	for _, err := range []error{undoErr, listErr} {
		want := "move " + name + " away, which is in the place of a directory of the backups"
		if !errors.Is(err, errors.ErrUnsupported) || ops.RemedyOf(err) != want || ops.Path(err) != "." {
			t.Errorf("error = %v with the remedy %q, want ErrUnsupported with %q", err, ops.RemedyOf(err), want)
		}
	}
}

// TestPruneForeign prunes backups in a directory in which somebody has files of their own.
func TestPruneForeign(t *testing.T) {
	store := memory.New(nil)
	b := newFS(t, memory.New(nil), &backup.Options{Store: store, Dir: "media", Keep: 1})
	hash := strings.Repeat("0", 64)
	foreign := map[string]string{
		"media/objects/2024/photo.jpg": "photo", "media/objects/2025/": "", "media/objects/22/" + hash: "blob",
		"media/objects/+480000/" + hash: "hash", "media/objects/480000/photo.jpg": "photo", "media/objects/480001/" + hash + "/": "",
		"media/journal/1.json": "{}", "media/journal/000000000001.txt": "text", "media/journal/1000000000001.json": "{}",
	}
	fill(t, store, foreign)
	ours := "media/objects/480000/" + hash
	fill(t, store, map[string]string{ours: "old", "a": "", "media/objects/480002/" + hash: "old"})
	fill(t, b, map[string]string{"a": "1", "b": "2"})
	if err := backup.Prune(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	left := tree(t, store)
	for name, content := range foreign {
		if data, ok := left[name]; !ok || data != content {
			t.Errorf("%s is %q after pruning, %t, want %q", name, data, ok, content)
		}
	}
	for _, name := range []string{ours, "media/objects/480002/", "media/journal/000000000001.json"} {
		if _, ok := left[name]; ok {
			t.Errorf("%s is still there after pruning", name)
		}
	}
}

// TestForeignNumber makes changes beside files in the journal that have names which no change
// gets.
func TestForeignNumber(t *testing.T) {
	for _, name := range []string{"999999999999.json", "1000000000000.json", "9223372036854775807.json"} {
		store := memory.New(nil)
		fill(t, store, map[string]string{"kept/journal/" + name: "{}"})
		for i := range 3 {
			b := newFS(t, store, &backup.Options{Dir: "kept"})
			for j := range 2 {
				if _, err := b.WriteFile(t.Context(), "a", fmt.Append(nil, i, j), nil); err != nil {
					t.Fatalf("WriteFile() beside %s = %v", name, err)
				}
			}
		}
		if changes, err := newFS(t, store, &backup.Options{Dir: "kept"}).Changes(t.Context(), ""); err != nil || len(changes) != 6 {
			t.Errorf("Changes() beside %s = %d changes, %v, want 6", name, len(changes), err)
		}
	}
}

// TestNumbersOfOthers makes a change in a program that has not seen how others made many, and
// deleted the first records.
func TestNumbersOfOthers(t *testing.T) {
	for provider, open := range providers {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			raw := open(t)
			opts := &backup.Options{Keep: 3}
			first := newFS(t, raw, opts)
			fill(t, first, map[string]string{"a": "1"})
			others := newFS(t, raw, opts)
			for i := range 5 {
				fill(t, others, map[string]string{fmt.Sprint("b", i): ""})
			}
			if err := backup.Prune(t.Context(), others); err != nil {
				t.Fatal(err)
			}
			fill(t, first, map[string]string{"a": "2"})
			changes, err := first.Undo(t.Context(), nil)
			if err != nil || len(changes) != 1 || changes[0].Path != "a" || changes[0].Number != 7 {
				t.Errorf("Undo() = %+v, %v, want the change 7 of a", changes, err)
			}
			if data, err := first.ReadFile(t.Context(), "a"); string(data) != "1" {
				t.Errorf("a is %q, %v after Undo, want 1", data, err)
			}
		})
	}
}

// TestMoveBackKnownOnly undoes the move of a directory in which there is by now what the move
// knows nothing of.
func TestMoveBackKnownOnly(t *testing.T) {
	for provider, open := range providers {
		for _, all := range []bool{false, true} {
			t.Run(fmt.Sprint(provider, all), func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				raw := open(t)
				fill(t, raw, map[string]string{"a/": "", "a/b": "B", "a/c/": ""})
				b := newFS(t, raw, nil)
				if err := workspace.Move(ctx, b, "a", "d"); err != nil {
					t.Fatal(err)
				}
				fill(t, raw, map[string]string{"d/x": "foreign", "d/e/": ""})
				changes, err := b.Undo(ctx, &backup.UndoOptions{All: all})
				if err != nil || len(changes) != 1 || !changes[0].Stays {
					t.Errorf("Undo() = %+v, %v, want one that says that a directory stays", changes, err)
				}
				want := map[string]string{"a/": "", "a/b": "B", "a/c/": "", "d/": "", "d/x": "foreign", "d/e/": ""}
				if diff := cmp.Diff(want, tree(t, b)); diff != "" {
					t.Errorf("after Undo() (-want +got):\n%s", diff)
				}
				if _, err := b.Undo(ctx, &backup.UndoOptions{Redo: true}); err != nil {
					t.Errorf("Redo = %v", err)
				}
				want = map[string]string{"d/b": "B", "d/c/": "", "d/": "", "d/x": "foreign", "d/e/": ""}
				if diff := cmp.Diff(want, tree(t, b)); diff != "" {
					t.Errorf("after Redo (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestMoveBackConflict undoes a move and a write into the directory, whose file somebody else
// has written since.
func TestMoveBackConflict(t *testing.T) {
	ctx := t.Context()
	raw := memory.New(nil)
	b := newFS(t, raw, nil)
	if err := errors.Join(b.Mkdir(ctx, "a", nil), workspace.Move(ctx, b, "a", "d")); err != nil {
		t.Fatal(err)
	}
	fill(t, b, map[string]string{"d/x": "ours"})
	fill(t, raw, map[string]string{"d/x": "foreign"})
	if _, err := b.Undo(ctx, &backup.UndoOptions{All: true}); !errors.Is(err, workspace.ErrConflict) {
		t.Errorf("Undo() = %v, want %v", err, workspace.ErrConflict)
	}
	if diff := cmp.Diff(map[string]string{"d/": "", "d/x": "foreign"}, tree(t, b)); diff != "" {
		t.Errorf("after Undo() (-want +got):\n%s", diff)
	}
}
