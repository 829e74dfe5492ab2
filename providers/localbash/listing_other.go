//go:build !linux

package localbash

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// buffers is what listings keep on Linux.
type buffers struct{}

// listing is an open directory to be listed.
type listing struct{ *folder }

// openListing opens the directory dir. nofollow refuses a symlink as the last
// element.
func (f *FS) openListing(dir string, nofollow bool) (listing, error) {
	if nofollow {
		s, err := f.lstat(dir)
		if err == nil && s.kind != workspace.TypeDirectory {
			err = workspace.ErrNotDir
		}
		if err != nil {
			return listing{}, err
		}
	}
	folder, err := f.openFolder(dir)
	return listing{folder}, err
}

// Close implements [io.Closer].
func (l listing) Close() error {
	l.close()
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

// child describes the child name of the directory, itself.
func (l listing) child(name string) (stamp, error) {
	info, err := l.root.Lstat(name)
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info), nil
}

// moment does not know here whether a directory has changed.
func (l listing) moment() (dirMoment, bool) { return dirMoment{}, false }

func changeClock() int64 { return 0 }

func (l listing) datesChanges(dirMoment) bool { return false }

// stamp describes the directory itself.
func (l listing) stamp() (stamp, error) {
	info, err := l.file.Stat()
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info), nil
}
