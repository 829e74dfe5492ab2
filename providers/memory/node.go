package memory

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// node is a file or a directory. Its parent is found by its path. t.mu guards all but listing,
// which readers store, too.
type node struct {
	info     workspace.FileInfo      // kept ready, so that a listing allocates nothing else
	content  *content                // of a file; nil of a directory
	children []*node                 // of a directory, sorted bytewise by name
	listing  atomic.Pointer[listing] // of children; nil if not known
}

// newNode returns a file or a directory without a parent.
func newNode(t workspace.FileType, name string) *node {
	_, base := workspace.Split(name)
	return &node{info: workspace.FileInfo{Name: base, Path: name, Type: t}}
}

// describe returns what Stat says about n, which is nil if there is nothing.
func (n *node) describe() workspace.FileInfo {
	if n == nil {
		return workspace.FileInfo{}
	}
	return n.info
}

// rename gives n, and with it all below it, another name. A directory costs time for each node
// in it, because each knows its path; in exchange, no listing has to join names.
func (n *node) rename(name string) {
	n.listing.Store(nil)
	_, n.info.Name = workspace.Split(name)
	n.info.Path = name
	for _, child := range n.children {
		child.rename(workspace.Join(name, child.info.Name))
	}
}

// longest returns how many bytes the longest name has of n and all below it.
func (n *node) longest() int {
	most := len(n.info.Path)
	for _, child := range n.children {
		most = max(most, child.longest())
	}
	return most
}

// setContent gives a file the content c. change is the number of the write, which is never
// used twice and so makes the version (V10).
func (n *node) setContent(c *content, change uint64) {
	n.content = c
	n.info.Size = int64(len(c.data))
	n.info.Version = workspace.Version(strconv.FormatUint(change, 36))
}

// search returns the place of the child name, or where it would be. n may be a file, which has
// none.
func (n *node) search(name string) (int, bool) {
	return slices.BinarySearchFunc(n.children, name, func(child *node, name string) int {
		return strings.Compare(child.info.Name, name)
	})
}

// child returns the child name, nil if there is none. The children are sorted,
// so it is a binary search.
func (n *node) child(name string) *node {
	if at, ok := n.search(name); ok {
		return n.children[at]
	}
	return nil
}

// lookup returns the node of name. t.mu is held.
//
// # Errors
//
// [workspace.ErrNotDir] if an element in the middle is a file (E3), [fs.ErrNotExist] if one is
// missing. The node is nil then.
func (t *tree) lookup(name string) (*node, error) {
	n := t.root
	if name == "." {
		return n, nil
	}
	for element := range strings.SplitSeq(name, "/") {
		if !n.info.IsDir() {
			return nil, workspace.ErrNotDir
		}
		if n = n.child(element); n == nil {
			return nil, fs.ErrNotExist
		}
	}
	return n, nil
}

// lookupDir is lookup for what must be a directory: a file is [workspace.ErrNotDir], and
// returned, too.
func (t *tree) lookupDir(name string) (*node, error) {
	n, err := t.lookup(name)
	if err == nil && !n.info.IsDir() {
		err = workspace.ErrNotDir
	}
	return n, err
}

// ensureDir returns the directory name and creates what is missing of it. t.mu
// is held for writing.
func (t *tree) ensureDir(name string) (*node, error) {
	n := t.root
	if name == "." {
		return n, nil
	}
	if err := t.checkParents(name); err != nil {
		return nil, err
	}
	dir := "."
	for element := range strings.SplitSeq(name, "/") {
		dir = workspace.Join(dir, element)
		child := n.child(element)
		if child == nil {
			child = newNode(workspace.TypeDirectory, dir)
			t.attach(n, child)
		}
		n = child
	}
	return n, nil
}

// checkParents fails if an element of name is a file, so that nothing is created
// before it is known that everything can be.
func (t *tree) checkParents(name string) error {
	n := t.root
	for element := range strings.SplitSeq(name, "/") {
		if n = n.child(element); n == nil {
			return nil
		}
		if !n.info.IsDir() {
			return workspace.ErrNotDir
		}
	}
	return nil
}

// attach adds n as a child of parent, and reports n and all below it as created. t.mu is held
// for writing. The caller has made sure that the name is free. A node that moves keeps its
// time.
func (t *tree) attach(parent, n *node) {
	now := t.now()
	if n.info.ModTime.IsZero() {
		n.info.ModTime = now
	}
	at, _ := parent.search(n.info.Name)
	parent.children = slices.Insert(parent.children, at, n)
	t.touch(parent, now)
	t.notifyTree(workspace.EventCreate, n)
}

// touch records that the children of dir have changed, and with it the listing
// in which dir itself is.
func (t *tree) touch(dir *node, now time.Time) {
	dir.listing.Store(nil)
	dir.info.ModTime = now
	if dir != t.root {
		t.parentOf(dir.info.Path).listing.Store(nil)
	}
}

// detach removes n from its parent, and reports n and all below it as removed. t.mu is held
// for writing. n keeps what is below it, for an attach elsewhere.
func (t *tree) detach(n *node) {
	parent := t.parentOf(n.info.Path)
	at, _ := parent.search(n.info.Name)
	parent.children = slices.Delete(parent.children, at, at+1)
	t.touch(parent, t.now())
	t.notifyTree(workspace.EventRemove, n)
}
