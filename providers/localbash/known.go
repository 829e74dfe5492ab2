package localbash

import "github.com/workspacekit/workspacekit/workspace"

// fileID is what the operating system knows a file by; zero if it does not
// say.
type fileID struct{ device, inode uint64 }

// directory is what a watch knows of one directory, in one place: a directory
// that moves becomes another one.
type directory struct {
	parent   *directory // nil for the watched one
	name     string     // its last element
	path     string     // from the watched directory, which is "."
	id       fileID     // zero before it is first opened
	watch    watchID    // zero if the operating system has none
	replaced bool       // its watch ended: whatever has its name is another directory
	dropped  bool       // it has been reported as removed
	children map[string]child
}

// child is one name in a directory.
type child struct {
	kind workspace.FileType
	dir  *directory // of a directory
	seen *stamp     // of anything else, in a directory without a watch
}

func newDirectory(parent *directory, name string) *directory {
	d := &directory{parent: parent, name: name, path: name, children: map[string]child{}}
	if parent != nil {
		d.path = workspace.Join(parent.path, name)
	}
	return d
}

// is reports whether now describes what c is known as. A file with other bytes
// is the same, another directory is not.
func (c child) is(now stamp) bool {
	if c.kind != now.kind {
		return false
	}
	return c.dir == nil || !c.dir.replaced && (c.dir.id == fileID{} || c.dir.id == now.id())
}

// set makes name known in d as what now describes.
func (d *directory) set(name string, now stamp) {
	c := child{kind: now.kind}
	switch {
	case now.kind == workspace.TypeDirectory:
		c.dir = newDirectory(d, name)
	case d.watch == 0:
		seen := now
		c.seen = &seen
	}
	d.children[name] = c
}
