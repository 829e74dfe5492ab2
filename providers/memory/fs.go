// Package memory holds a workspace in memory, for tests and for scratch space.
//
//	ws := workspace.New("scratch", memory.New(nil), nil)
package memory

import (
	"context"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// FS is a tree of files in memory. Versions are counters, watches are native, and
// moves and removals are atomic, of directories too. A copy shares the bytes. It has
// no symlinks and runs no commands. Texts that are searched often get a summary, an
// eighth of their size, which lets a search pass over them if its pattern cannot match.
// Its root is known as "/". The zero FS is not valid; use [New]. It is safe for
// concurrent use.
type FS struct {
	*provider.FS
	tree *tree // its store
}

// Options are the settings of an [FS].
type Options struct {
	// Now returns the modification times. Nil means [time.Now].
	Now func() time.Time
}

// New returns an empty FS. Nil opts mean the zero Options.
func New(opts *Options) *FS {
	t := &tree{now: time.Now}
	if opts != nil && opts.Now != nil {
		t.now = opts.Now
	}
	t.root = newNode(workspace.TypeDirectory, ".")
	t.root.info.ModTime = t.now()
	return &FS{tree: t, FS: provider.New(t, provider.Facts{Root: "/", Capabilities: workspace.Capabilities{
		Write: true, Versions: true, ConditionalWrite: true,
		Watch: workspace.WatchNative, Move: true, Copy: true,
	}})}
}

// tree is the store of an FS: nodes with children, from the root down. One lock guards all of
// it, and no method waits for anything while it holds it, so contexts need not be looked at
// here.
//
//	node.go      nodes, how a name is found, and how one is added or removed
//	content.go   the bytes of a file, which many nodes and readers can share
//	listing.go   the children of a directory as searches and Ls want them
//	search.go    the tree as package scan sees it
//	watch.go     events, which attach and detach cause
//
// Bytes are never changed in place. So whoever has found a content under the lock can read it
// without.
type tree struct {
	now func() time.Time

	mu      sync.RWMutex // guards what follows, and all nodes
	root    *node
	changes uint64              // counts content changes; the last version given out
	watches map[*watch]struct{} // nil before the first
}

var (
	_ provider.Store   = (*tree)(nil)
	_ scan.Searcher    = (*tree)(nil)
	_ provider.Watcher = (*tree)(nil)
	_ provider.Opener  = (*tree)(nil)
	_ provider.Mover   = (*tree)(nil)
	_ provider.Copier  = (*tree)(nil)
)

// ReadFile implements [provider.Store]. The bytes are a copy, which the caller may change
// (B1). The limit is tested before the copy is made.
func (t *tree) ReadFile(_ context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	c, info, err := t.content(name)
	if err == nil {
		err = ops.CheckSize(ops.ReadFile, name, info.Size, limit)
	}
	if err != nil {
		return nil, "", err
	}
	return append(make([]byte, 0, len(c.data)), c.data...), info.Version, nil
}

// content returns the content of the file name, and its description, which belong together
// (RV2). The caller must not change the bytes. A directory is [workspace.ErrIsDir].
func (t *tree) content(name string) (*content, workspace.FileInfo, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n, err := t.lookup(name)
	if err == nil && n.info.IsDir() {
		err = workspace.ErrIsDir
	}
	if err != nil {
		return nil, workspace.FileInfo{}, err
	}
	return n.content, n.info, nil
}

// Stat implements [provider.Store].
func (t *tree) Stat(_ context.Context, name string) (workspace.FileInfo, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n, err := t.lookup(name)
	if err != nil {
		return workspace.FileInfo{}, err
	}
	return n.info, nil
}

// Mkdir implements [provider.Store]. Nothing is created unless everything can be (E5).
func (t *tree) Mkdir(_ context.Context, name string, opts workspace.MkdirOptions) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.lookup(name)
	if err := provider.CheckMkdir(n.describe(), err, opts); n != nil || err != nil {
		return err
	}
	if opts.Recursive {
		_, err = t.ensureDir(name)
		return err
	}
	dir, _ := workspace.Split(name)
	parent, err := t.lookupDir(dir)
	if err != nil {
		return err
	}
	t.attach(parent, newNode(workspace.TypeDirectory, name))
	return nil
}
