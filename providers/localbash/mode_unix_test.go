//go:build unix

package localbash_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

// writeSizes are a small and a large size of files, which are written in two ways.
var writeSizes = []int{3, 100 << 10}

// TestModeKept replaces files of all sorts of modes, in each way there is.
func TestModeKept(t *testing.T) {
	ctx := context.Background()
	for _, perm := range []fs.FileMode{0o755, 0o600, 0o644, 0o777, 0o640, 0o606} {
		t.Run(fmt.Sprintf("%o", perm), func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "file")
			put(t, file, "old")
			if err := os.Chmod(file, perm); err != nil {
				t.Fatal(err)
			}
			fsys := open(t, dir, nil)
			for _, size := range writeSizes {
				write(t, fsys, "file", strings.Repeat("x", size))
				if got := mode(t, file); got != perm {
					t.Errorf("mode after WriteFile of %d bytes = %v, want %v", size, got, perm)
				}
			}
			if err := create(ctx, fsys, "file"); err != nil {
				t.Fatalf("Create and Commit = %v, want nil", err)
			}
			if got := mode(t, file); got != perm {
				t.Errorf("mode after Commit = %v, want %v", got, perm)
			}
			if _, err := fsys.Copy(ctx, "file", "deep/copy"); err != nil {
				t.Fatalf("Copy = %v, want nil", err)
			}
			if got := mode(t, filepath.Join(dir, "deep", "copy")); got != perm {
				t.Errorf("mode of the copy = %v, want %v", got, perm)
			}
			if err := fsys.Move(ctx, "file", "moved"); err != nil {
				t.Fatalf("Move = %v, want nil", err)
			}
			if got := mode(t, filepath.Join(dir, "moved")); got != perm {
				t.Errorf("mode after Move = %v, want %v", got, perm)
			}
		})
	}
}

// TestUmask compares what is new with what os makes.
func TestUmask(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o027, 0o077} {
		t.Run(fmt.Sprintf("%03o", mask), func(t *testing.T) {
			dir := t.TempDir()
			defer syscall.Umask(syscall.Umask(mask))
			put(t, filepath.Join(dir, "os", "file"), "")
			fsys := open(t, dir, nil)
			write(t, fsys, "ours/file", "")
			write(t, fsys, "ours/small", "")
			for name, like := range map[string]string{"": "", "file": "file", "small": "file"} {
				got, want := mode(t, filepath.Join(dir, "ours", name)), mode(t, filepath.Join(dir, "os", like))
				if got != want {
					t.Errorf("mode of new %q with umask %03o = %v, want %v", name, mask, got, want)
				}
			}
		})
	}
}

// TestOwnerKept replaces the file of somebody else.
func TestOwnerKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the super-user can give files away")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	put(t, path, "old")
	if err := errors.Join(os.Chown(path, nobody, nobody), os.Chmod(path, 0o640)); err != nil {
		t.Fatal(err)
	}
	for _, size := range writeSizes {
		write(t, open(t, dir, nil), "file", strings.Repeat("x", size))
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != nobody || owner.Gid != nobody || info.Mode() != 0o640 {
			t.Errorf("after WriteFile of %d bytes the file has owner %d:%d and mode %v, want %d:%[5]d and 0640", size, owner.Uid, owner.Gid, info.Mode(), nobody)
		}
	}
}

// TestTempIsPrivate looks at the mode of a file that is being written.
func TestTempIsPrivate(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "old")
	if err := os.Chmod(filepath.Join(dir, "file"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := open(t, dir, nil).Create(context.Background(), "file", nil)
	if err != nil {
		t.Fatalf("Create = %v, want nil", err)
	}
	defer w.Close()
	found := temps(t, dir)
	if len(found) != 1 {
		t.Fatalf("temporary files are %q, want one", found)
	}
	if got := mode(t, found[0]); got != 0o600 {
		t.Errorf("mode of the temporary file for one of mode 0600 = %v, want the same", got)
	}
}

// TestWriteThroughSymlink wants the target written and the link left.
func TestWriteThroughSymlink(t *testing.T) {
	ctx := context.Background()
	for i, relaxed := range []bool{false, true, false, true} {
		text := strings.Repeat("new", writeSizes[i/2])
		dir := t.TempDir()
		put(t, filepath.Join(dir, "real", "file"), "old")
		link(t, "../real/file", filepath.Join(dir, "links", "one"))
		link(t, "links/one", filepath.Join(dir, "two"))
		link(t, "real/fresh/new", filepath.Join(dir, "dangling"))
		fsys := open(t, dir, &localbash.Options{Relaxed: relaxed})
		write(t, fsys, "two", text)
		write(t, fsys, "dangling", text)
		for _, name := range []string{"real/file", "real/fresh/new"} {
			if got := content(t, filepath.Join(dir, name)); got != text {
				t.Errorf("%q has %d bytes, want the %d that were written", name, len(got), len(text))
			}
		}
		for _, name := range []string{"two", "links/one", "dangling"} {
			if mode(t, filepath.Join(dir, name))&fs.ModeSymlink == 0 {
				t.Errorf("%q is no symlink any more", name)
			}
		}
		link(t, "nowhere", filepath.Join(dir, "empty"))
		_, err := fsys.WriteFile(ctx, "empty", nil, &workspace.WriteOptions{IfNotExist: true})
		if !errors.Is(err, fs.ErrExist) {
			t.Errorf("WriteFile of a dangling symlink, IfNotExist = %v, want %q", err, fs.ErrExist)
		}
	}
}

// TestMkdirToReserved creates directories by symlinks that lead to reserved names, which no list
// would show.
func TestMkdirToReserved(t *testing.T) {
	for _, relaxed := range []bool{false, true} {
		dir := t.TempDir()
		link(t, ".workspacekit-tmp-zz", filepath.Join(dir, "link"))
		link(t, "new/.workspacekit-tmp-zz", filepath.Join(dir, "deep"))
		fsys := open(t, dir, &localbash.Options{Relaxed: relaxed})
		for _, name := range []string{"link", "link/a/b", "deep", "deep/a"} {
			if err := fsys.Mkdir(t.Context(), name, &workspace.MkdirOptions{Recursive: true}); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("Mkdir(%q) = %v, want %q", name, err, fs.ErrInvalid)
			}
			if _, err := fsys.WriteFile(t.Context(), name+"/file", nil, nil); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("WriteFile(%q) = %v, want %q", name+"/file", err, fs.ErrInvalid)
			}
		}
		if made := temps(t, dir); len(made) > 0 {
			t.Errorf("made %q, want nothing", made)
		}
	}
}

// TestRelaxed wants symlinks to lead out, and names not.
func TestRelaxed(t *testing.T) {
	ctx := context.Background()
	base := t.TempDir()
	put(t, filepath.Join(base, "outside", "file"), "outside")
	dir := filepath.Join(base, "root")
	link(t, filepath.Join(base, "outside"), filepath.Join(dir, "absolute"))
	link(t, "../outside/file", filepath.Join(dir, "relative"))
	fsys := open(t, dir, &localbash.Options{Relaxed: true})
	for _, name := range []string{"absolute/file", "relative"} {
		write(t, fsys, name, name)
		data, err := fsys.ReadFile(ctx, name)
		if err != nil || string(data) != name {
			t.Errorf("ReadFile(%q) = %q, %v, want what was written", name, data, err)
		}
		if got := content(t, filepath.Join(base, "outside", "file")); got != name {
			t.Errorf("the file outside has %q after WriteFile(%q), want %q", got, name, name)
		}
		if _, err := fsys.Resolve(ctx, name); !errors.Is(err, workspace.ErrEscape) {
			t.Errorf("Resolve(%q) = %v, want %q", name, err, workspace.ErrEscape)
		}
	}
	if _, err := fsys.ReadFile(ctx, "../outside/file"); !errors.Is(err, workspace.ErrEscape) {
		t.Errorf("ReadFile(%q) = %v, want %q", "../outside/file", err, workspace.ErrEscape)
	}
	if _, err := fsys.ReadFile(ctx, "absolute/missing"); err == nil || strings.Contains(err.Error(), base) {
		t.Errorf("ReadFile(%q) = %v, want an error without a host path", "absolute/missing", err)
	}
}

// TestRelaxedSymlinkToLongName creates files where a symlink has the name, whose
// target nothing can have.
func TestRelaxedSymlinkToLongName(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	put(t, filepath.Join(dir, "file"), "content")
	link(t, strings.Repeat("x", 300), filepath.Join(dir, "long"))
	fsys := open(t, dir, &localbash.Options{Relaxed: true})
	if _, err := fsys.WriteFile(ctx, "long", nil, &workspace.WriteOptions{IfNotExist: true}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("WriteFile(%q, IfNotExist) = %v, want %q", "long", err, fs.ErrExist)
	}
	if _, err := fsys.Copy(ctx, "file", "long"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Copy(%q, %q) = %v, want %q", "file", "long", err, fs.ErrExist)
	}
	if _, err := fsys.WriteFile(ctx, "long", nil, nil); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("WriteFile(%q) = %v, want %q", "long", err, fs.ErrInvalid)
	}
}
