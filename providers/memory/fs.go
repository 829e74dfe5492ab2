// Package memory holds a workspace in memory, for tests and for scratch space.
package memory

import (
	"context"
	"io/fs"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// FS is a tree of files in memory. It supports everything the contract has:
// versions by counter, conditional writes, native watch events. It has no
// symlinks. The zero FS is not valid; use [New]. It is safe for concurrent
// use.
type FS struct {
	now func() time.Time

	mu      sync.RWMutex // guards what follows, and all nodes
	root    *node
	changes uint64 // counts content changes; the last version given out
	watches map[*watch]struct{}
}

var (
	_ workspace.FileSystem      = (*FS)(nil)
	_ workspace.Capable         = (*FS)(nil)
	_ workspace.VersionedReader = (*FS)(nil)
	_ workspace.Opener          = (*FS)(nil)
	_ workspace.Mover           = (*FS)(nil)
	_ workspace.Copier          = (*FS)(nil)
	_ workspace.Rooter          = (*FS)(nil)
)

// Options are the settings of an [FS].
type Options struct {
	// Now tells the modification times. Nil means [time.Now].
	Now func() time.Time
}

// New returns an empty FS. Nil opts mean the zero Options.
func New(opts *Options) *FS {
	m := &FS{now: time.Now, watches: map[*watch]struct{}{}}
	if opts != nil && opts.Now != nil {
		m.now = opts.Now
	}
	m.root = newNode(workspace.TypeDirectory, ".")
	m.root.info.ModTime = m.now()
	return m
}

// Capabilities implements [workspace.Capable]: everything is supported.
func (m *FS) Capabilities() workspace.Capabilities {
	return workspace.Capabilities{
		Write: true, Versions: true, ConditionalWrite: true,
		Watch: workspace.WatchNative, Move: true, Copy: true,
	}
}

// Root implements [workspace.Rooter]: the root is known as "/".
func (m *FS) Root() string { return "/" }

// ReadFile implements [workspace.FileSystem].
func (m *FS) ReadFile(ctx context.Context, name string) ([]byte, error) {
	data, _, err := m.ReadVersioned(ctx, name, 0)
	return data, err
}

// ReadVersioned implements [workspace.VersionedReader].
func (m *FS) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	data, info, err := m.content(ctx, workspace.OpReadFile, name)
	if err != nil {
		return nil, "", err
	}
	if err := workspace.CheckSize(workspace.OpReadFile, name, info.Size, limit); err != nil {
		return nil, "", err
	}
	return append(make([]byte, 0, len(data)), data...), info.Version, nil
}

// content returns the bytes of the file name, which are never changed in
// place, and its description.
func (m *FS) content(ctx context.Context, op, name string) ([]byte, workspace.FileInfo, error) {
	if err := workspace.Check(ctx, op, name); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.lookup(name)
	if err == nil && n.info.IsDir() {
		err = workspace.ErrIsDir
	}
	if err != nil {
		return nil, workspace.FileInfo{}, workspace.NewPathError(op, name, err, nil)
	}
	return n.data, n.info, nil
}

// Stat implements [workspace.FileSystem].
func (m *FS) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	if err := workspace.Check(ctx, workspace.OpStat, name); err != nil {
		return workspace.FileInfo{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.lookup(name)
	if err != nil {
		return workspace.FileInfo{}, workspace.NewPathError(workspace.OpStat, name, err, nil)
	}
	return n.info, nil
}

// Mkdir implements [workspace.FileSystem].
func (m *FS) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	if err := workspace.Check(ctx, workspace.OpMkdir, name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.mkdir(name, opts != nil && opts.Recursive); err != nil {
		return workspace.NewPathError(workspace.OpMkdir, name, err, nil)
	}
	return nil
}

func (m *FS) mkdir(name string, recursive bool) error {
	n, err := m.lookup(name)
	switch {
	case err == nil && !recursive:
		return fs.ErrExist
	case err == nil && !n.info.IsDir():
		return workspace.ErrNotDir
	case err == nil:
		return nil
	case recursive:
		_, err = m.ensureDir(name)
		return err
	}
	dir, _ := workspace.Split(name)
	parent, err := m.lookupDir(dir)
	if err != nil {
		return err
	}
	m.attach(parent, newNode(workspace.TypeDirectory, name))
	return nil
}
