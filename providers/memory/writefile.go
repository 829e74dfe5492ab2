package memory

import (
	"context"
	"slices"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// WriteFile implements [provider.Store]. The data is copied before the lock is taken, so that
// a large one keeps nobody waiting.
func (t *tree) WriteFile(_ context.Context, name string, data []byte, opts workspace.WriteOptions) (workspace.Version, error) {
	c := &content{data: slices.Clone(data)}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.write(name, c, opts)
}

// write gives the file name the content c, which it keeps, and returns the new version: a
// write of the same bytes has another one, too. t.mu is held for writing. The conditions are
// tested under that lock, so of several writers with one condition one succeeds (V2, V5).
func (t *tree) write(name string, c *content, o workspace.WriteOptions) (workspace.Version, error) {
	n, err := t.lookup(name)
	if err := provider.CheckWrite(n.describe(), err, o); err != nil {
		return "", err
	}
	t.changes++
	if n != nil {
		n.setContent(c, t.changes)
		n.info.ModTime = t.now()
		t.parentOf(name).listing.Store(nil)
		t.notify(workspace.EventWrite, name)
		return n.info.Version, nil
	}
	dir, _ := workspace.Split(name)
	parent, err := t.ensureDir(dir)
	if err != nil {
		return "", err
	}
	n = newNode(workspace.TypeFile, name)
	n.setContent(c, t.changes)
	t.attach(parent, n)
	return n.info.Version, nil
}
