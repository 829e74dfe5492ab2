package memory

import (
	"context"
	"slices"

	"github.com/workspacekit/workspacekit/workspace"
)

// Ls implements [provider.Store]. The whole of a directory is a copy of its listing, and a
// page is made from the nodes, as it would not pay to make a listing for it.
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

// page returns the children that o chooses. The slice is that of n: it is read while t.mu is
// held.
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
