package memory

import (
	"context"
	"slices"

	"github.com/workspacekit/workspacekit/workspace"
)

// Ls implements [workspace.FileSystem].
func (m *FS) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
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
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.lookupDir(dir)
	if err != nil {
		return nil, workspace.NewPathError(workspace.OpLs, dir, err, nil)
	}
	if o.Limit == 0 && o.After == "" {
		return slices.Clone(n.listed().infos), nil
	}
	children := n.page(o)
	infos := make([]workspace.FileInfo, len(children))
	for i, child := range children {
		infos[i] = child.info
	}
	return infos, nil
}

// page returns the children that o chooses.
func (n *node) page(o workspace.LsOptions) []*node {
	from, found := n.search(o.After)
	if found {
		from++
	}
	children := n.children[from:]
	if o.Limit > 0 && o.Limit < len(children) {
		children = children[:o.Limit]
	}
	return children
}
