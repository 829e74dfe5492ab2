package memory

import (
	"strings"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// listing is the children of a directory side by side in memory. To visit the
// nodes of a large tree one by one is to wait for memory at each of them: that
// takes five times as long. A listing is never changed.
type listing struct {
	infos    []workspace.FileInfo
	children []scan.Child
}

// listed returns the listing of n, which it keeps until the next change. t.mu
// is held, for reading at least: two readers may both make it.
func (n *node) listed() *listing {
	if known := n.listing.Load(); known != nil {
		return known
	}
	l := &listing{
		infos:    make([]workspace.FileInfo, len(n.children)),
		children: make([]scan.Child, len(n.children)),
	}
	var names strings.Builder
	for i, child := range n.children {
		l.infos[i] = child.info
		names.WriteString(child.info.Name)
	}
	rest := names.String()
	for i, info := range l.infos {
		l.children[i] = scan.Child{Name: rest[:len(info.Name)], Type: info.Type}
		rest = rest[len(info.Name):]
	}
	n.listing.Store(l)
	return l
}

// parentOf returns the directory that holds name, which exists.
func (t *tree) parentOf(name string) *node {
	dir, _ := workspace.Split(name)
	parent, _ := t.lookup(dir)
	return parent
}
