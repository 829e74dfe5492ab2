package memory

import (
	"context"
	"slices"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// WriteFile implements [provider.Store].
func (t *tree) WriteFile(_ context.Context, name string, data []byte, opts workspace.WriteOptions) (workspace.Version, error) {
	data = slices.Clone(data)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.write(name, data, opts)
}

// write sets the content of name to data, which it keeps.
func (t *tree) write(name string, data []byte, o workspace.WriteOptions) (workspace.Version, error) {
	n, err := t.lookup(name)
	if err := provider.CheckWrite(n.describe(), err, o); err != nil {
		return "", err
	}
	t.changes++
	if n != nil {
		n.setData(data, t.changes)
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
	n.setData(data, t.changes)
	t.attach(parent, n)
	return n.info.Version, nil
}
