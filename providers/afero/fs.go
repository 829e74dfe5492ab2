// Package afero makes a workspace of any [github.com/spf13/afero] file system,
// and an afero file system of any workspace.
package afero

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/afero"
	"github.com/spf13/afero/tarfs"
	"github.com/spf13/afero/zipfs"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// Options are the settings of an [FS].
type Options struct {
	// ReadOnly says that the file system cannot be written to: the workspace
	// declares no Write, and changes are [fs.ErrPermission]. False means that
	// this depends on its type: [afero.ReadOnlyFs], [afero.FromIOFS], and those
	// of the packages zipfs and tarfs are known to be read-only. One that is
	// wrapped, as in [afero.NewBasePathFs], is not known.
	ReadOnly bool
}

// FS is an [afero.Fs] as a [workspace.FileSystem]: zip and tar archives, SFTP,
// and whatever else has an afero backend. A write goes to a temporary file that
// is renamed, so it is as atomic as the backend's rename.
//
// An afero.Fs has no versions, no change events and no conditional operations.
// So FS declares none: conditional writes, Move and Copy are
// [errors.ErrUnsupported], and Watch polls, noticing what changes a size or a
// modification time. Symlinks are whatever the backend makes of them: it
// follows them or not, and nothing here confines them. Wrap a backend that
// reaches real files in [afero.NewBasePathFs].
//
// An FS is safe for concurrent use, if nothing else writes to the afero.Fs at
// the same time.
type FS struct {
	afs      afero.Fs
	readOnly bool

	mu sync.RWMutex // guards afs: many readers, or one writer
}

var (
	_ workspace.FileSystem = (*FS)(nil)
	_ workspace.Capable    = (*FS)(nil)
	_ workspace.Opener     = (*FS)(nil)
)

// FromAfero returns afs as a workspace provider. The root is afs's ".". Nil
// opts mean the zero Options.
func FromAfero(afs afero.Fs, opts *Options) *FS {
	a := &FS{afs: afs}
	switch afs.(type) {
	case *afero.ReadOnlyFs, *zipfs.Fs, *tarfs.Fs, afero.FromIOFS, *afero.FromIOFS:
		a.readOnly = true
	}
	if opts != nil && opts.ReadOnly {
		a.readOnly = true
	}
	return a
}

// ToAfero returns a read-only view of ws as an [afero.Fs], for as long as ctx
// lasts.
func ToAfero(ctx context.Context, ws *workspace.Workspace) afero.Fs {
	return afero.FromIOFS{FS: ws.FS(ctx)}
}

// Capabilities implements [workspace.Capable].
func (a *FS) Capabilities() workspace.Capabilities {
	return workspace.Capabilities{Write: !a.readOnly, Watch: workspace.WatchPolled}
}

// stat describes name, after it has made sure that its parents are
// directories: some backends do not care.
func (a *FS) stat(name string) (fs.FileInfo, error) {
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		parent, err := a.afs.Stat(filepath.FromSlash(name[:i]))
		if err != nil {
			return nil, kindOf(err)
		}
		if !parent.IsDir() {
			return nil, workspace.ErrNotDir
		}
	}
	info, err := a.afs.Stat(filepath.FromSlash(name))
	return info, kindOf(err)
}

// kindOf takes the kind out of a backend's error and leaves its text, which
// may name the host's files, behind.
func kindOf(err error) error {
	if err == nil {
		return nil
	}
	for _, kind := range []error{
		fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid, fs.ErrClosed, errors.ErrUnsupported,
		workspace.ErrIsDir, workspace.ErrNotDir, workspace.ErrNotEmpty, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return kindOfErrno(errno)
	}
	return errors.New("the afero file system failed")
}

func kindOfErrno(errno syscall.Errno) error {
	switch errno {
	case syscall.ENOTDIR:
		return workspace.ErrNotDir
	case syscall.EISDIR:
		return workspace.ErrIsDir
	}
	return errno
}

func describe(name string, info fs.FileInfo) workspace.FileInfo {
	described := workspace.FileInfo{Name: path.Base(name), Path: name, ModTime: info.ModTime()}
	switch {
	case info.IsDir():
		described.Type = workspace.TypeDirectory
	case info.Mode().IsRegular():
		described.Type, described.Size = workspace.TypeFile, info.Size()
	case info.Mode()&fs.ModeSymlink != 0:
		described.Type = workspace.TypeSymlink
	default:
		described.Type = workspace.TypeOther
	}
	return described
}

// Stat implements [workspace.FileSystem].
func (a *FS) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	if err := workspace.Check(ctx, workspace.OpStat, name); err != nil {
		return workspace.FileInfo{}, err
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	info, err := a.stat(name)
	if err != nil {
		return workspace.FileInfo{}, workspace.NewPathError(workspace.OpStat, name, err, nil)
	}
	return describe(name, info), nil
}

// ReadFile implements [workspace.FileSystem].
func (a *FS) ReadFile(ctx context.Context, name string) ([]byte, error) {
	stream, _, err := a.Open(ctx, name, nil)
	if err != nil {
		return nil, workspace.RenameError(err, workspace.OpReadFile, name)
	}
	defer stream.Close()
	data, err := io.ReadAll(stream)
	return data, workspace.RenameError(err, workspace.OpReadFile, name)
}

// Ls implements [workspace.FileSystem].
func (a *FS) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	var o workspace.LsOptions
	if opts != nil {
		o = *opts
	}
	if err := workspace.Check(ctx, workspace.OpLs, dir); err != nil {
		return nil, err
	}
	if err := o.Check(dir); err != nil {
		return nil, err
	}
	a.mu.RLock()
	infos, err := a.children(dir)
	a.mu.RUnlock()
	if err != nil {
		return nil, workspace.NewPathError(workspace.OpLs, dir, err, nil)
	}
	page := []workspace.FileInfo{}
	for _, info := range infos {
		if info.Name() > o.After && (o.Limit == 0 || len(page) < o.Limit) {
			page = append(page, describe(workspace.Join(dir, info.Name()), info))
		}
	}
	return page, nil
}

// children returns the children of dir that can be named, sorted. a.mu is
// held.
func (a *FS) children(dir string) ([]fs.FileInfo, error) {
	info, err := a.stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, workspace.ErrNotDir
	}
	infos, err := afero.ReadDir(a.afs, filepath.FromSlash(dir))
	if err != nil {
		return nil, kindOf(err)
	}
	infos = slices.DeleteFunc(infos, func(info fs.FileInfo) bool {
		return !workspace.ValidName(info.Name())
	})
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	return infos, nil
}

// Glob implements [workspace.FileSystem].
func (a *FS) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	return fallback.Glob(ctx, a, pattern, opts)
}

// Grep implements [workspace.FileSystem].
func (a *FS) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	return fallback.Grep(ctx, a, pattern, opts)
}

// Watch implements [workspace.FileSystem], by polling.
func (a *FS) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	return fallback.Poll(ctx, a, dir, opts)
}
