// Package billy shows a workspace as a [billy.Filesystem], so that go-git can work in it: a
// repository and its work tree can be in memory, in a bucket or in a container.
//
//	files := billy.New(ctx, ws)
//	dot, err := files.Chroot(".git")
//	storage := filesystem.NewStorage(dot, cache.NewObjectLRUDefault())
//	repository, err := git.Clone(storage, files, &git.CloneOptions{URL: url})
//
// # Files
//
// A file that is open for writing is kept in memory, up to the limit of the workspace, and
// stored when it is closed. Others see the old content until then, and never a part of the
// new one. Users of the same Filesystem see what has been written at once, as go-git needs
// it for packs. A file that none of them has opened with O_TRUNC is stored only if nobody
// else has changed it meanwhile: go-git's change of a reference fails then, instead of losing
// the other change. Where a workspace has no conditional writes, the last writer wins.
//
// A file of a repository is a file of the workspace. A pack larger than its limit
// ([workspace.Options]) cannot be fetched: raise the limit, or clone less (Depth).
//
// # What a workspace does not have
//
// It has no modes. A Filesystem remembers which files it has created as executable, and
// forgets it with itself: with another one, go-git reports their mode as changed.
//
// Symlinks cannot be created, and are followed where they exist: Symlink and Readlink
// return [billy.ErrNotSupported], and go-git cannot check out a tree with symlinks.
//
// Chroot is no boundary for symlinks within the workspace. To confine somebody to a
// directory, use Sub of package workspace/policy.
package billy

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/util"

	"github.com/workspacekit/workspacekit/internal/osfile"
	"github.com/workspacekit/workspacekit/workspace"
)

// New returns a view of ws, for as long as ctx lasts. It is safe for concurrent use.
// Besides those of [billy.Filesystem] it has the methods of [billy.Chmod] and
// [billy.Capable].
func New(ctx context.Context, ws *workspace.Workspace) billy.Filesystem {
	return &view{fs: osfile.New(ctx, ws, &osfile.Options{Parents: true}), write: ws.Capabilities().Write}
}

// view is a workspace, or a directory of it. Those that Chroot returns share their files.
type view struct {
	fs    *osfile.FS
	write bool
	base  string // "" or a directory of the workspace
}

var (
	_ billy.Filesystem = (*view)(nil)
	_ billy.Chmod      = (*view)(nil)
	_ billy.Capable    = (*view)(nil)
)

// resolve returns the name in the workspace, and the one in v, without a slash before it.
func (v *view) resolve(name string) (full, local string, err error) {
	local = path.Clean("./" + strings.TrimLeft(filepath.ToSlash(name), "/"))
	if local == ".." || strings.HasPrefix(local, "../") {
		return "", "", billy.ErrCrossedBoundary
	}
	return path.Join(v.base, local), filepath.FromSlash(local), nil
}

// do calls one of the functions of v.fs that take a name.
func (v *view) do(name string, call func(string) error) error {
	full, _, err := v.resolve(name)
	if err != nil {
		return err
	}
	return supported(call(full))
}

// get calls one of the functions of v.fs that describe something.
func get[T any](v *view, name string, call func(string) (T, error)) (result T, err error) {
	err = v.do(name, func(full string) error {
		result, err = call(full)
		return err
	})
	return result, err
}

// supported returns err, or what billy has for what is not supported.
func supported(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return billy.ErrNotSupported
	}
	return err
}

// Capabilities implements [billy.Capable]. A lock excludes users of the same view.
func (v *view) Capabilities() billy.Capability {
	if !v.write {
		return billy.ReadCapability | billy.SeekCapability
	}
	return billy.AllCapabilities
}

// Create implements [billy.Basic].
func (v *view) Create(name string) (billy.File, error) {
	return v.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open implements [billy.Basic].
func (v *view) Open(name string) (billy.File, error) { return v.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile implements [billy.Basic].
func (v *view) OpenFile(name string, flag int, perm fs.FileMode) (billy.File, error) {
	full, local, err := v.resolve(name)
	if err != nil {
		return nil, err
	}
	f, err := v.fs.OpenFile(full, flag, perm)
	if err != nil {
		return nil, supported(err)
	}
	return &file{f, local}, nil
}

// file is an open file. Its name is the one in its view.
type file struct {
	*osfile.File
	name string
}

// Name implements [billy.File].
func (f *file) Name() string { return f.name }

// Stat implements [billy.Basic].
func (v *view) Stat(name string) (fs.FileInfo, error) { return get(v, name, v.fs.Stat) }

// Lstat implements [billy.Symlink].
func (v *view) Lstat(name string) (fs.FileInfo, error) { return get(v, name, v.fs.Lstat) }

// ReadDir implements [billy.Dir].
func (v *view) ReadDir(name string) ([]fs.FileInfo, error) { return get(v, name, v.fs.ReadDir) }

// Rename implements [billy.Basic].
func (v *view) Rename(from, to string) error {
	target, _, err := v.resolve(to)
	if err != nil {
		return err
	}
	return v.do(from, func(source string) error { return v.fs.Rename(source, target) })
}

// Remove implements [billy.Basic].
func (v *view) Remove(name string) error { return v.do(name, v.fs.Remove) }

// MkdirAll implements [billy.Dir].
func (v *view) MkdirAll(name string, _ fs.FileMode) error { return v.do(name, v.fs.MkdirAll) }

// Chmod implements [billy.Chmod]. Only whether a file can be executed is kept.
func (v *view) Chmod(name string, mode fs.FileMode) error {
	return v.do(name, func(full string) error { return v.fs.Chmod(full, mode) })
}

// Join implements [billy.Basic].
func (v *view) Join(elements ...string) string { return filepath.Join(elements...) }

// TempFile implements [billy.TempFile]. Without a directory, the file is in the root.
func (v *view) TempFile(dir, prefix string) (billy.File, error) {
	if dir == "" {
		dir = "."
	}
	return util.TempFile(v, dir, prefix)
}

// Symlink implements [billy.Symlink].
func (v *view) Symlink(_, _ string) error { return billy.ErrNotSupported }

// Readlink implements [billy.Symlink].
func (v *view) Readlink(name string) (string, error) {
	if _, err := v.Lstat(name); err != nil {
		return "", err
	}
	return "", billy.ErrNotSupported
}

// Chroot implements [billy.Chroot].
func (v *view) Chroot(name string) (billy.Filesystem, error) {
	full, _, err := v.resolve(name)
	if err != nil {
		return nil, err
	}
	below := *v
	below.base = full
	return &below, nil
}

// Root implements [billy.Chroot].
func (v *view) Root() string { return string(filepath.Separator) + filepath.FromSlash(v.base) }
