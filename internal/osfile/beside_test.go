package osfile_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/osfile"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// hooked is a file system that calls functions after a removal or a move has taken place, and
// before a write does, and after a file has been read or described.
type hooked struct {
	*memory.FS
	removed, moved, write, read, described func()
	unconditional                          bool
}

func (h *hooked) Capabilities() workspace.Capabilities {
	all := h.FS.Capabilities()
	all.ConditionalWrite = all.ConditionalWrite && !h.unconditional
	return all
}

func (h *hooked) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	stream, info, err := h.FS.Open(ctx, name, opts)
	once(&h.read)
	return stream, info, err
}

func (h *hooked) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	info, err := h.FS.Stat(ctx, name)
	once(&h.described)
	return info, err
}

func (h *hooked) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	err := h.FS.Rm(ctx, name, opts)
	once(&h.removed)
	return err
}

func (h *hooked) Move(ctx context.Context, source, destination string) error {
	err := h.FS.Move(ctx, source, destination)
	once(&h.moved)
	return err
}

func (h *hooked) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	once(&h.write)
	return h.FS.WriteFile(ctx, name, data, opts)
}

// once calls a hook if there is one, and forgets it.
func once(hook *func()) {
	if call := *hook; call != nil {
		*hook = nil
		call()
	}
}

// settle is how long a call beside another gets to end. A call that waits for the other needs all
// of it.
const settle = 50 * time.Millisecond

// beside starts a call, and returns when it has ended or waits. The channel has its error.
func beside(call func() error) <-chan error {
	ended, result := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(ended)
		result <- call()
	}()
	select {
	case <-ended:
	case <-time.After(settle):
	}
	return result
}

// TestOpenBesideChange opens a file while a removal or a rename is under way that has already taken
// place in the workspace. What is written to the file is not dropped.
func TestOpenBesideChange(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		call   string
		change func(f *osfile.FS) error
		name   string
		flag   int
		want   string
	}{
		{"Remove(a)", func(f *osfile.FS) error { return f.Remove("a") }, "a", os.O_CREATE | os.O_EXCL, "mine"},
		{"RemoveAll(a)", func(f *osfile.FS) error { return f.RemoveAll("a") }, "a", os.O_CREATE, "mine"},
		{"Rename(a, new)", func(f *osfile.FS) error { return f.Rename("a", "new") }, "new", os.O_APPEND, "oldmine"},
		{"Rename(a, new)", func(f *osfile.FS) error { return f.Rename("a", "new") }, "a", os.O_CREATE | os.O_EXCL, "mine"},
		{"Rename(a, there)", func(f *osfile.FS) error { return f.Rename("a", "there") }, "there", os.O_APPEND, "oldmine"},
	} {
		fsys := &hooked{FS: memory.New(nil)}
		write(t, fsys, "a", "old")
		write(t, fsys, "there", "there")
		f := osfile.New(t.Context(), workspace.New("test", fsys, nil), nil)
		var file *osfile.File
		var opened <-chan error
		hook := func() {
			opened = beside(func() (err error) {
				file, err = f.OpenFile(test.name, os.O_WRONLY|test.flag, 0o644)
				return err
			})
		}
		fsys.removed, fsys.moved = hook, hook
		if err := test.change(f); err != nil {
			t.Fatalf("%s = %v", test.call, err)
		}
		if err := <-opened; err != nil {
			t.Fatalf("beside %s, OpenFile(%s) = %v", test.call, test.name, err)
		}
		if err := errors.Join(appendMine(file), file.Close()); err != nil {
			t.Errorf("after %s, %s cannot be written: %v", test.call, test.name, err)
		}
		if data, err := fsys.ReadFile(t.Context(), test.name); err != nil || string(data) != test.want {
			t.Errorf("after %s, %s has %q, %v, want %q", test.call, test.name, data, err, test.want)
		}
	}
}

// TestChangeBesideOpen removes or renames a file while it is opened, when it has been read or described
// already: what is written follows it.
func TestChangeBesideOpen(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		call   string
		change func(f *osfile.FS) error
		flag   int
		want   map[string]string // empty for a file that must not exist
	}{
		{"Remove(d/a)", func(f *osfile.FS) error { return f.Remove("d/a") }, os.O_CREATE | os.O_APPEND, map[string]string{"d/a": ""}},
		{"Remove(d/a)", func(f *osfile.FS) error { return f.Remove("d/a") }, os.O_TRUNC, map[string]string{"d/a": ""}},
		{"RemoveAll(d)", func(f *osfile.FS) error { return f.RemoveAll("d") }, os.O_APPEND, map[string]string{"d/a": ""}},
		{"Rename(d/a, new)", func(f *osfile.FS) error { return f.Rename("d/a", "new") }, os.O_APPEND, map[string]string{"d/a": "", "new": "oldmine"}},
		{"Rename(d, e)", func(f *osfile.FS) error { return f.Rename("d", "e") }, os.O_TRUNC, map[string]string{"d/a": "", "e/a": "mine"}},
	} {
		for _, unconditional := range []bool{false, true} {
			fsys := &hooked{FS: memory.New(nil), unconditional: unconditional}
			write(t, fsys, "d/a", "old")
			f := osfile.New(t.Context(), workspace.New("test", fsys, nil), nil)
			var changed <-chan error
			hook := func() {
				fsys.read, fsys.described = nil, nil
				changed = beside(func() error { return test.change(f) })
			}
			fsys.read, fsys.described = hook, hook
			file := open(t, f, "d/a", os.O_WRONLY|test.flag)
			if err := <-changed; err != nil {
				t.Errorf("%s = %v", test.call, err)
			}
			if err := errors.Join(appendMine(file), file.Close()); err != nil {
				t.Errorf("beside %s, d/a cannot be written: %v", test.call, err)
			}
			for name, want := range test.want {
				data, err := fsys.ReadFile(t.Context(), name)
				if want == "" && !errors.Is(err, fs.ErrNotExist) || string(data) != want {
					t.Errorf("flags %#x, unconditional %t, beside %s, %s has %q, %v, want %q", test.flag, unconditional, test.call, name, data, err, want)
				}
			}
		}
	}
}

// TestWriteBesideRemoval writes other files of the view while one is removed.
func TestWriteBesideRemoval(t *testing.T) {
	t.Parallel()
	fsys := &hooked{FS: memory.New(nil)}
	write(t, fsys, "a/b", "old")
	f := osfile.New(t.Context(), workspace.New("test", fsys, nil), nil)
	fsys.removed = func() { // in a call of the file system, which a lock of all names would never end
		file := open(t, f, "log", os.O_WRONLY|os.O_CREATE)
		writeString(t, file, "removed")
		if err := errors.Join(file.Close(), f.Rename("log", "log2")); err != nil {
			t.Error(err)
		}
	}
	if err := f.RemoveAll("a"); err != nil {
		t.Error(err)
	}
	if data, err := fsys.ReadFile(t.Context(), "log2"); err != nil || string(data) != "removed" {
		t.Errorf("log2 has %q, %v, want %q", data, err, "removed")
	}
}

// TestChangeBesideStore removes or renames a file while it is stored, which comes first.
func TestChangeBesideStore(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		call   string
		change func(f *osfile.FS) error
		want   map[string]string // empty for a file that must not exist
	}{
		{"Remove(a)", func(f *osfile.FS) error { return f.Remove("a") }, map[string]string{"a": ""}},
		{"RemoveAll(a)", func(f *osfile.FS) error { return f.RemoveAll("a") }, map[string]string{"a": ""}},
		{"Rename(a, new)", func(f *osfile.FS) error { return f.Rename("a", "new") }, map[string]string{"a": "", "new": "mine"}},
		{"Rename(there, a)", func(f *osfile.FS) error { return f.Rename("there", "a") }, map[string]string{"a": "there", "there": ""}},
	} {
		for _, syncs := range []bool{true, false} {
			fsys := &hooked{FS: memory.New(nil)}
			write(t, fsys, "a", "old")
			write(t, fsys, "there", "there")
			f := osfile.New(t.Context(), workspace.New("test", fsys, nil), nil)
			file := open(t, f, "a", os.O_WRONLY|os.O_TRUNC)
			writeString(t, file, "mine")
			store := file.Close
			if syncs {
				store = file.Sync
			}
			var changed <-chan error
			fsys.write = func() { changed = beside(func() error { return test.change(f) }) }
			if err := store(); err != nil {
				t.Errorf("beside %s, the file cannot be stored: %v", test.call, err)
			}
			if err := <-changed; err != nil {
				t.Errorf("%s = %v", test.call, err)
			}
			if syncs {
				if err := file.Close(); err != nil {
					t.Errorf("after %s, Close() = %v", test.call, err)
				}
			}
			for name, want := range test.want {
				data, err := fsys.ReadFile(t.Context(), name)
				if want == "" && !errors.Is(err, fs.ErrNotExist) || string(data) != want {
					t.Errorf("with Sync %t, after %s, %s has %q, %v, want %q", syncs, test.call, name, data, err, want)
				}
			}
		}
	}
}
