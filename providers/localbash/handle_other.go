//go:build !linux

package localbash

import (
	"io/fs"
	"os"

	"github.com/workspacekit/workspacekit/workspace"
)

// quick is the way past os.Root that Linux has.
type quick struct{}

func newQuick(host, bool) (quick, error) { return quick{}, nil }

func (quick) close() {}

func (quick) exact() quick { return quick{} }

func (quick) openDir(string) (*os.File, error) { return nil, errQuick }

// handle is an open file.
type handle struct{ *os.File }

// openHandle opens name to read it, without waiting for the other end of a
// FIFO. nofollow refuses a symlink as the last element.
func (f *FS) openHandle(name string, nofollow bool) (handle, error) {
	if nofollow {
		if s, err := f.lstat(name); err == nil && s.kind == workspace.TypeSymlink {
			return handle{}, fs.ErrInvalid
		}
	}
	file, err := f.host.OpenFile(name, readFlags, 0)
	return handle{file}, err
}

// lstat describes name itself.
func (f *FS) lstat(name string) (stamp, error) {
	info, err := f.host.Lstat(name)
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info), nil
}

// file returns h as an os.File, which takes it over.
func (h handle) file() *os.File { return h.File }

// stamp describes what is open.
func (h handle) stamp() (stamp, error) {
	info, err := h.Stat()
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info), nil
}
