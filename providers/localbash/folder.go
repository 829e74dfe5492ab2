package localbash

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// folder is an open directory in which a name is changed. It stays the same
// directory whatever happens to the path that led to it, so an operation on a
// child by its last element cannot be led astray.
type folder struct {
	dir  string   // its name
	root *os.Root // for its children
	file *os.File // the same directory, to lock and to sync
	key  string   // the same for all folders that are this directory
}

// openFolder opens the directory dir.
func (f *FS) openFolder(dir string) (*folder, error) {
	root, err := f.host.OpenRoot(inside(dir))
	if err != nil {
		return nil, err
	}
	file, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.IsDir() {
		err = workspace.ErrNotDir
	}
	opened := &folder{dir: dir, root: root, file: file}
	if err != nil {
		opened.close()
		return nil, err
	}
	opened.key = folderKey(dir, info)
	return opened, nil
}

// folderKey returns a key for a directory: what the operating system knows it
// by, or else its name without regard to case.
func folderKey(dir string, info fs.FileInfo) string {
	if device, inode, ok := identity(info); ok {
		return fmt.Sprintf("%016x/%016x", device, inode)
	}
	return strings.ToLower(dir)
}

// openNearest opens the directory dir or, if it does not exist, the nearest one
// above it that does.
func (f *FS) openNearest(dir string) (*folder, error) {
	for {
		opened, err := f.openFolder(dir)
		if dir == "." || dir == "/" || !errors.Is(err, fs.ErrNotExist) {
			return opened, err
		}
		dir, _ = splitUnclean(dir)
	}
}

// makeFolder is openFolder for a directory that may have to be made, with its
// parents.
func (f *FS) makeFolder(dir string) (*folder, error) {
	opened, err := f.openFolder(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return opened, err
	}
	if err := f.mkdirAll(dir); err != nil {
		return nil, err
	}
	opened, err = f.openFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errOvertaken
	}
	return opened, err
}

func (d *folder) close() {
	d.file.Close()
	d.root.Close()
}

// lstat describes the child base, nil if there is none.
func (d *folder) lstat(base string) (fs.FileInfo, error) {
	info, err := d.root.Lstat(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}
