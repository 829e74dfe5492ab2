package localbash_test

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/mounttest"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestFullDisk writes to a file system without space: the error says so, the
// old content stays, and nothing is left of the write.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	mounttest.Tmpfs(t, dir, "size=64k")
	f, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteFile(t.Context(), "a", []byte("old"), nil); err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteFile(t.Context(), "a", bytes.Repeat([]byte("x"), 1<<20), nil)
	if !errors.Is(err, workspace.ErrNoSpace) || tools.CodeOf(err) != tools.CodeNoSpace {
		t.Errorf("WriteFile to a full disk = %v, want %v", err, workspace.ErrNoSpace)
	}
	w, err := f.Create(t.Context(), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<20)); !errors.Is(err, workspace.ErrNoSpace) {
		t.Errorf("Write to a full disk = %v, want %v", err, workspace.ErrNoSpace)
	}
	if _, err := w.Commit(); !errors.Is(err, workspace.ErrNoSpace) {
		t.Errorf("Commit after it = %v, want %v", err, workspace.ErrNoSpace)
	}
	if err := w.Close(); err != nil {
		t.Errorf("Close after it = %v, want nil", err)
	}
	if data, err := f.ReadFile(t.Context(), "a"); err != nil || string(data) != "old" {
		t.Errorf("ReadFile after it = %q, %v, want the old content", data, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("ReadDir after it = %v, %v, want the file alone", left, err)
	}
}

// TestCopyToFullDisk copies a file to a file system without room for it, and wants the error
// to name the destination (E2).
func TestCopyToFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "big"), bytes.Repeat([]byte("x"), 1<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(dir, "full")
	if err := os.Mkdir(full, 0o777); err != nil {
		t.Fatal(err)
	}
	mounttest.Tmpfs(t, full, "size=64k")
	var pathError *fs.PathError
	err := discard(open(t, dir, nil).Copy(t.Context(), "big", "full/big"))
	if !errors.Is(err, workspace.ErrNoSpace) || !errors.As(err, &pathError) || pathError.Path != "full/big" {
		t.Errorf("Copy to a full disk = %v, want %v for %s", err, workspace.ErrNoSpace, "full/big")
	}
}

// TestRefusedCallsMakeNoParents wants calls that fail after they have made the parents of a
// name to leave none (E5).
func TestRefusedCallsMakeNoParents(t *testing.T) {
	for name, opts := range map[string]localbash.Options{"confined": {}, "relaxed": {Relaxed: true}} {
		t.Run(name, func(t *testing.T) { refusedCallsMakeNoParents(t, opts) })
	}
}

func refusedCallsMakeNoParents(t *testing.T, opts localbash.Options) {
	const deep = "full/1/2/3/4/5/6/7/8/9"
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "content")
	put(t, filepath.Join(dir, "tree/file"), "content")
	for _, name := range []string{"other/there", "full/there"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		mounttest.Tmpfs(t, filepath.Join(dir, filepath.Dir(name)), "nr_inodes=8")
		put(t, filepath.Join(dir, name), "content")
	}
	link(t, "full", filepath.Join(dir, "link"))
	f := open(t, dir, &opts)
	names := func() []string { return slices.Sorted(maps.Keys(tree(t, dir))) }
	before := names()
	ctx := t.Context()
	for call, do := range map[string]func() error{
		"Move of a file":      func() error { return f.Move(ctx, "file", "other/n1/n2/file") },
		"Move of a directory": func() error { return f.Move(ctx, "tree", "other/n1/n2/tree") },
		"Mkdir":               func() error { return f.Mkdir(ctx, deep, &workspace.MkdirOptions{Recursive: true}) },
		"Mkdir over a symlink": func() error {
			return f.Mkdir(ctx, "link"+strings.TrimPrefix(deep, "full"), &workspace.MkdirOptions{Recursive: true})
		},
		"WriteFile":           func() error { return discard(f.WriteFile(ctx, deep+"/file", []byte("x"), nil)) },
		"Copy":                func() error { return discard(f.Copy(ctx, "file", deep+"/file")) },
		"Move to a full disk": func() error { return f.Move(ctx, "full/there", deep+"/file") },
		"Commit": func() error {
			w, err := f.Create(ctx, deep+"/file", nil)
			if err != nil {
				return err
			}
			defer w.Close()
			return discard(w.Commit())
		},
	} {
		want := workspace.ErrNoSpace
		if strings.HasPrefix(call, "Move of") {
			want = errors.ErrUnsupported
		}
		if err := do(); !errors.Is(err, want) {
			t.Errorf("%s = %v, want %v", call, err, want)
		}
		if diff := cmp.Diff(before, names()); diff != "" {
			t.Errorf("%s has changed something (-before +after):\n%s", call, diff)
		}
	}
}

// TestMountedNamesStay changes names on which something is mounted, which the system refuses.
func TestMountedNamesStay(t *testing.T) {
	for name, opts := range map[string]localbash.Options{"confined": {}, "relaxed": {Relaxed: true}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"file", "source"} {
				put(t, filepath.Join(dir, name), "content")
			}
			mount := filepath.Join(dir, "mount")
			if err := os.Mkdir(mount, 0o777); err != nil {
				t.Fatal(err)
			}
			mounttest.Tmpfs(t, mount, "")
			file := filepath.Join(dir, "file")
			if err := syscall.Mount(filepath.Join(dir, "source"), file, "", syscall.MS_BIND, ""); err != nil {
				t.Fatal(err)
			}
			defer syscall.Unmount(file, syscall.MNT_DETACH)
			f, ctx := open(t, dir, &opts), t.Context()
			for call, err := range map[string]error{
				"rm mount":        f.Rm(ctx, "mount", nil),
				"rm file":         f.Rm(ctx, "file", nil),
				"move mount":      f.Move(ctx, "mount", "new/mount"),
				"move file":       f.Move(ctx, "file", "new"),
				"write_file file": discard(f.WriteFile(ctx, "file", []byte("new"), nil)),
			} {
				op, name, _ := strings.Cut(call, " ")
				var pathError *fs.PathError
				if !errors.Is(err, fs.ErrPermission) || !errors.As(err, &pathError) || pathError.Op != op || pathError.Path != name {
					t.Errorf("%s = %v, want %v for %s", op, err, fs.ErrPermission, name)
				}
			}
			if _, err := f.Stat(ctx, "new"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Stat of the destination = %v, want %v", err, fs.ErrNotExist)
			}
		})
	}
}

// discard returns err.
func discard(_ workspace.Version, err error) error { return err }
