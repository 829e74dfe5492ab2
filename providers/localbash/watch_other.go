//go:build !linux

package localbash

import (
	"os"
	"path/filepath"
)

// newNotifier returns the notifier of this operating system.
func (f *FS) newNotifier(dir string) notifier {
	return newPathNotifier(filepath.Join(f.root, dir))
}

// tree is a watched directory, open.
type tree struct{ root *os.Root }

// openTree opens the directory dir of h.
func (f *FS) openTree(h host, dir string) (*tree, error) {
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
	return listing{&folder{root: root, file: file}}, nil
}
