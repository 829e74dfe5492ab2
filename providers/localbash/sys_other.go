//go:build !linux

package localbash

import (
	"context"
	"io/fs"
	"os"
	"time"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/index"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
)

// openat2Root opens names in one call on Linux.
type openat2Root struct{}

func newOpenat2Root(host, bool) (openat2Root, error) { return openat2Root{}, nil }

func (openat2Root) close() {}

func (openat2Root) exact() openat2Root { return openat2Root{} }

func (openat2Root) openDir(string) (*os.File, error) { return nil, errNoOpenat2 }

// handle is an open file.
type handle struct{ *os.File }

// openHandle opens name to read it, without waiting for the other end of a
// FIFO. nofollow refuses a symlink as the last element.
func (f *folder) openHandle(name string, nofollow bool) (handle, error) {
	if nofollow {
		if s, err := f.lstat(name); err == nil && s.kind == workspace.TypeSymlink {
			return handle{}, workspace.ErrSymlink
		}
	}
	file, err := f.host.OpenFile(name, sys.ReadFlags, 0)
	return handle{file}, err
}

// lstat describes name itself.
func (f *folder) lstat(name string) (fileStat, error) {
	info, err := f.host.Lstat(name)
	if err != nil {
		return fileStat{}, err
	}
	return statOf(info), nil
}

// file returns h as an os.File, which takes it over.
func (h handle) file() *os.File { return h.File }

// stat describes what is open.
func (h handle) stat() (fileStat, error) {
	info, err := h.Stat()
	if err != nil {
		return fileStat{}, err
	}
	return statOf(info), nil
}

// begin reads nothing. So every file is described before it is read.
func (h handle) begin([]byte) (n int, whole bool) { return 0, false }

// buffers is what listings keep on Linux.
type buffers struct{}

// listing is an open directory whose entries are read.
type listing struct{ *dirHandle }

// openListing opens the directory dir. nofollow refuses a symlink as the last
// element.
func (f *folder) openListing(dir string, nofollow bool) (listing, error) {
	if nofollow {
		s, err := f.lstat(dir)
		if err == nil && s.kind != workspace.TypeDirectory {
			err = workspace.ErrNotDir
		}
		if err != nil {
			return listing{}, err
		}
	}
	folder, err := f.openDir(dir)
	return listing{folder}, err
}

// open opens the child name of the directory to read it, without waiting for the other end of
// a FIFO. A symlink that is created after the look at the child is followed, within this
// directory.
func (l listing) open(name string) (handle, error) {
	if s, err := l.child(name); err == nil && s.kind == workspace.TypeSymlink {
		return handle{}, workspace.ErrSymlink
	}
	file, err := l.openFile(name, sys.ReadFlags, 0)
	return handle{file}, err
}

// descriptor returns none: nothing here needs it.
func (l listing) descriptor() int { return -1 }

// Close implements [io.Closer].
func (l listing) Close() error {
	l.dirHandle.close()
	return nil
}

// children returns the entries in the order of the directory.
func (l listing) children(ctx context.Context) ([]scan.Child, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := l.file.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	children := make([]scan.Child, len(entries))
	for i, entry := range entries {
		children[i] = scan.Child{Name: entry.Name(), Type: kindOfMode(entry.Type())}
	}
	return children, nil
}

// children are the children of an open directory.
type children struct{ root *os.Root }

// openChildren opens the directory dir. The file is the directory, too, and has to be closed.
func (f *folder) openChildren(dir string) (children, *os.File, error) {
	root, err := f.host.OpenRoot(inside(dir))
	if err != nil {
		return children{}, nil, err
	}
	file, err := root.Open(".")
	if err != nil {
		root.Close()
		return children{}, nil, err
	}
	return children{root}, file, nil
}

// close closes the directory.
func (c children) close() { c.root.Close() }

// openFile opens the child name.
func (c children) openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return c.root.OpenFile(name, flag, perm)
}

// remove removes the child name, which is a file or an empty directory.
func (c children) remove(name string) error { return c.root.Remove(name) }

// rename gives the child old the name new, and replaces the file that has it.
func (c children) rename(old, new string) error { return c.root.Rename(old, new) }

// has reports whether name is still the open file.
func (c children) has(name string, file *os.File) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := c.root.Lstat(name)
	return err == nil && os.SameFile(opened, named)
}

// setTime says that the child name was changed at a time.
func (c children) setTime(name string, at time.Time) error { return c.root.Chtimes(name, at, at) }

// child describes the child name, itself.
func (c children) child(name string) (fileStat, error) {
	info, err := c.root.Lstat(name)
	if err != nil {
		return fileStat{}, err
	}
	return statOf(info), nil
}

// stat describes the directory itself.
func (l listing) stat() (fileStat, error) {
	info, err := l.file.Stat()
	if err != nil {
		return fileStat{}, err
	}
	return statOf(info), nil
}

// tree is a watched directory, open.
type tree struct{ root *os.Root }

// openTree opens the directory dir of h.
func (f *folder) openTree(h host, dir string) (*tree, error) {
	root, err := h.OpenRoot(inside(dir))
	if err != nil {
		return nil, err
	}
	return &tree{root}, nil
}

func (t *tree) close() { t.root.Close() }

// open opens the directory path below t.
func (t *tree) open(path string) (listing, error) {
	root, err := t.root.OpenRoot(inside(path))
	if err != nil {
		return listing{}, err
	}
	file, err := root.Open(".")
	if err != nil {
		root.Close()
		return listing{}, err
	}
	return listing{&dirHandle{children: children{root}, file: file}}, nil
}

// newIndex returns nil: an index is kept on Linux alone.
func (f *folder) newIndex(*IndexOptions) *index.Index { return nil }
