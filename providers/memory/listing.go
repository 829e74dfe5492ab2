package memory

import (
	"strings"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// listing is the children of a directory side by side in memory. To visit the nodes of a large
// tree one by one is to wait for memory at each of them: that takes five times as long. A
// listing is never changed. Whatever changes a child removes the listing from its directory.
type listing struct {
	infos    []workspace.FileInfo
	children []scan.Child
	contents []*content // of each child; nil of a directory
}

// listing returns the listing of dir. It can be read without the lock, and shows the directory
// at one moment.
func (t *tree) listing(dir string) (*listing, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n, err := t.lookupDir(dir)
	if err != nil {
		return nil, err
	}
	return n.listed(), nil
}

// listed returns the listing of n, which it keeps until the next change. t.mu is held, for
// reading at least: two readers may both make it. The names share one string, side by side,
// too.
func (n *node) listed() *listing {
	if known := n.listing.Load(); known != nil {
		return known
	}
	l := &listing{
		infos:    make([]workspace.FileInfo, len(n.children)),
		children: make([]scan.Child, len(n.children)),
		contents: make([]*content, len(n.children)),
	}
	var names strings.Builder
	for i, child := range n.children {
		l.infos[i], l.contents[i] = child.info, child.content
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

// parentOf returns the directory that holds name, which exists. t.mu is held.
func (t *tree) parentOf(name string) *node {
	dir, _ := workspace.Split(name)
	parent, _ := t.lookup(dir)
	return parent
}
