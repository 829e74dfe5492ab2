// Package afero turns any [github.com/spf13/afero] file system into a workspace
// ([FromAfero]), and any workspace into an afero file system ([ToAfero]):
//
//	fsys := afero.FromAfero(zipfs.New(archive), nil) // with an entry for each directory
//	afs := afero.ToAfero(ctx, ws)
package afero

import (
	"archive/zip"
	"cmp"
	"context"
	"embed"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"sync"

	"github.com/spf13/afero"
	"github.com/spf13/afero/zipfs"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// Options are the settings of an [FS].
type Options struct {
	// ReadOnly says that the file system cannot be written to: the workspace
	// declares no Write. False means that this depends on its type:
	// [afero.ReadOnlyFs], [afero.FromIOFS] and that of package zipfs are known to
	// be read-only. One that is wrapped, as in [afero.NewBasePathFs], is not known.
	ReadOnly bool
	// NoSymlinks says that the backend has no symlinks. False means that this
	// depends on its type: [afero.MemMapFs], that of package zipfs and an
	// [afero.FromIOFS] of a [zip.Reader] or an [embed.FS] are known to have none. Any
	// other has no exact view, so that [workspace.Exact] and policies on paths are
	// [errors.ErrUnsupported].
	NoSymlinks bool
}

// FS is an [afero.Fs] as a [workspace.FileSystem]: SFTP, any [fs.FS] such as a
// [zip.Reader], and anything else with an afero backend whose files can be read
// more than once, which those of its package tarfs cannot. Its package zipfs
// needs archives with an entry for each directory. A write goes to a temporary
// file that is renamed, so it is as atomic as the backend's rename.
//
// An afero.Fs has no versions, no change events and no conditional operations.
// So FS declares none of them, nor Move and Copy. It has no contexts either: one that
// ends is noticed after each call of the backend. Watch polls, noticing what changes
// a size or a modification time. Symlinks are whatever the backend makes of them: it
// follows them or not, and nothing here confines them. [afero.NewBasePathFs]
// confines names, but a symlink below its path may lead anywhere. Of one that is
// followed, Ls describes the symlink, and Stat the target. Policies on paths
// need a backend without symlinks ([Options].NoSymlinks): a local folder is
// for package localbash.
//
// An FS is safe for concurrent use, if nothing else writes to the afero.Fs at
// the same time.
type FS struct{ *provider.FS }

// FromAfero returns afs as a workspace provider. The root is afs's ".". Nil
// opts mean the zero Options.
func FromAfero(afs afero.Fs, opts *Options) *FS {
	readOnly := opts != nil && opts.ReadOnly
	switch afs.(type) {
	case *afero.ReadOnlyFs, *zipfs.Fs, afero.FromIOFS, *afero.FromIOFS:
		readOnly = true
	}
	noSymlinks := opts != nil && opts.NoSymlinks || hasNoSymlinks(afs)
	return &FS{provider.New(&store{afs: afs, noSymlinks: noSymlinks}, provider.Facts{
		Capabilities: workspace.Capabilities{Write: !readOnly, Watch: workspace.WatchPolled},
	})}
}

// hasNoSymlinks reports whether afs is known to have no symlinks. A wrapper does
// not tell what it wraps, and a backend that follows symlinks, such as SFTP, need not
// be an [afero.Lstater].
func hasNoSymlinks(afs afero.Fs) bool {
	if pointer, ok := afs.(*afero.FromIOFS); ok {
		afs = *pointer
	}
	switch afs := afs.(type) {
	case *afero.MemMapFs, *zipfs.Fs:
		return true
	case afero.FromIOFS:
		switch afs.FS.(type) {
		case *zip.Reader, *zip.ReadCloser, embed.FS:
			return true
		}
	}
	return false
}

// store is an afero.Fs.
type store struct {
	afs        afero.Fs
	noSymlinks bool
	mu         sync.RWMutex // guards afs: many readers, or one writer
}

var (
	_ provider.Store   = (*store)(nil)
	_ provider.Opener  = (*store)(nil)
	_ provider.Exacter = (*store)(nil)
)

// Exact implements [provider.Exacter].
func (s *store) Exact() (provider.Store, error) {
	if !s.noSymlinks {
		return nil, provider.Errorf(errors.ErrUnsupported,
			"the afero file system may follow symlinks; set NoSymlinks if it has none, or open a folder with package localbash")
	}
	return s, nil
}

// stat describes name, after it has made sure that its parents are
// directories: some backends do not care. Every method begins with it, so it also
// sees that ctx has ended while the lock was held by others.
func (s *store) stat(ctx context.Context, name string) (fs.FileInfo, error) {
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		parent, err := s.afs.Stat(filepath.FromSlash(name[:i]))
		if err != nil {
			return nil, err
		}
		if !parent.IsDir() {
			return nil, workspace.ErrNotDir
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	info, err := s.afs.Stat(filepath.FromSlash(name))
	return info, cmp.Or(ctx.Err(), err)
}

// describe turns what afero says about a name into a FileInfo.
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

// Stat implements [provider.Store].
func (s *store) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	info, err := s.stat(ctx, name)
	if err != nil {
		return workspace.FileInfo{}, err
	}
	return describe(name, info), nil
}

// ReadFile implements [provider.Store].
func (s *store) ReadFile(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	stream, info, err := s.Open(ctx, name, workspace.OpenOptions{})
	if err != nil {
		return nil, "", err
	}
	defer stream.Close()
	if err := ops.CheckSize(ops.ReadFile, name, info.Size, limit); err != nil {
		return nil, "", err
	}
	data, err := io.ReadAll(stream)
	return data, "", cmp.Or(ctx.Err(), err)
}

// Ls implements [provider.Store].
func (s *store) Ls(ctx context.Context, dir string, opts workspace.LsOptions) ([]workspace.FileInfo, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found, err := s.children(ctx, dir)
	if err != nil {
		return nil, err
	}
	infos := make([]workspace.FileInfo, 0, len(found))
	for _, info := range found {
		if name := workspace.Join(dir, info.Name()); ops.ValidName(name) {
			infos = append(infos, describe(name, info))
		}
	}
	return provider.Page(infos, opts), nil
}

// children returns the children of dir, also those that cannot be named. s.mu is held.
func (s *store) children(ctx context.Context, dir string) ([]fs.FileInfo, error) {
	info, err := s.stat(ctx, dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, workspace.ErrNotDir
	}
	infos, err := afero.ReadDir(s.afs, filepath.FromSlash(dir))
	return infos, cmp.Or(ctx.Err(), err)
}
