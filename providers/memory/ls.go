package memory

import (
	"context"
	"slices"

	"github.com/workspacekit/workspacekit/workspace"
)

// Ls implements [provider.Store].
func (t *tree) Ls(_ context.Context, dir string, opts workspace.LsOptions) ([]workspace.FileInfo, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n, err := t.lookupDir(dir)
	if err != nil {
		return nil, err
	}
	if opts == (workspace.LsOptions{}) {
		return slices.Clone(n.listed().infos), nil
	}
	children := n.page(opts)
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
