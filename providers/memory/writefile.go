package memory

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/workspacekit/workspacekit/workspace"
)

// WriteFile implements [workspace.FileSystem].
func (m *FS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	var o workspace.WriteOptions
	if opts != nil {
		o = *opts
	}
	if err := workspace.Check(ctx, workspace.OpWriteFile, name); err != nil {
		return "", err
	}
	if err := o.Check(workspace.OpWriteFile, name); err != nil {
		return "", err
	}
	data = slices.Clone(data)
	m.mu.Lock()
	defer m.mu.Unlock()
	version, err := m.write(name, data, o)
	if err != nil {
		return "", workspace.NewPathError(workspace.OpWriteFile, name, err, nil)
	}
	return version, nil
}

// write makes data, which it keeps, the content of name.
func (m *FS) write(name string, data []byte, o workspace.WriteOptions) (workspace.Version, error) {
	n, err := m.lookup(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := checkConditions(n, o); err != nil {
		return "", err
	}
	m.changes++
	if n != nil {
		n.setData(data, m.changes)
		n.info.ModTime = m.now()
		m.parentOf(name).listing.Store(nil)
		m.notify(workspace.EventWrite, name)
		return n.info.Version, nil
	}
	dir, _ := workspace.Split(name)
	parent, err := m.ensureDir(dir)
	if err != nil {
		return "", err
	}
	n = newNode(workspace.TypeFile, name)
	n.setData(data, m.changes)
	m.attach(parent, n)
	return n.info.Version, nil
}

// checkConditions tests o and what n is, which is nil if there is nothing.
func checkConditions(n *node, o workspace.WriteOptions) error {
	switch {
	case n != nil && o.IfNotExist:
		return fs.ErrExist
	case n != nil && n.info.IsDir():
		return workspace.ErrIsDir
	case o.IfVersion != "" && (n == nil || n.info.Version != o.IfVersion):
		return workspace.ErrConflict
	}
	return nil
}
