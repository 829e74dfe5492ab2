package localbash

import (
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/workspacekit/workspacekit/workspace"
	"golang.org/x/sys/unix"
)

// quick opens names below the folder with a single call of the kernel, where
// os.Root needs one for each element. It is safe for concurrent use.
type quick struct {
	*descriptor        // nil for one that has no quick way
	resolve     uint64 // how the kernel confines names
}

// descriptor is the open folder.
type descriptor struct {
	refused bool // the kernel has no openat2, or a sandbox forbids the call

	mu sync.RWMutex // guards fd: read-locked while it is used
	fd int          // -1 once closed
}

// newQuick returns a quick for the folder of h. Whether the kernel has the
// call is tried here, once.
func newQuick(h host, relaxed bool) (quick, error) {
	file, err := h.OpenFile(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return quick{}, err
	}
	defer file.Close()
	q := quick{descriptor: &descriptor{}, resolve: unix.RESOLVE_BENEATH}
	if relaxed {
		q.resolve = 0
	}
	q.fd, err = duplicate(file)
	if err != nil {
		return quick{}, err
	}
	probe, err := q.open(".", unix.O_PATH)
	q.refused = err != nil
	if err == nil {
		probe.Close()
	}
	return q, nil
}

// exact returns a quick that follows no symlink.
func (q quick) exact() quick {
	q.resolve = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS
	return q
}

func (d *descriptor) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	unix.Close(d.fd)
	d.fd = -1
}

// maxQuickAttempts bounds how often an open that renames disturb is repeated.
const maxQuickAttempts = 1000

// open opens name.
//
// # Errors
//
// errQuick if the kernel does not have the call, or meets too many symlinks.
func (q quick) open(name string, flags uint64) (handle, error) {
	if q.descriptor == nil || q.refused || len(name) >= unix.PathMax {
		return -1, errQuick
	}
	q.mu.RLock()
	defer q.mu.RUnlock()
	if q.fd < 0 {
		return -1, fs.ErrClosed
	}
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: q.resolve}
	for attempt := 1; ; attempt++ {
		fd, err := unix.Openat2(q.fd, name, &how)
		switch {
		case err == nil:
			return handle(fd), nil
		case (err == unix.EAGAIN || err == unix.EINTR) && attempt < maxQuickAttempts:
			continue
		case err == unix.EXDEV && q.resolve != 0:
			return -1, workspace.ErrEscape
		case err == unix.ELOOP && q.resolve&unix.RESOLVE_NO_SYMLINKS != 0:
			return -1, workspace.ErrSymlink
		case err == unix.ELOOP && q.resolve != 0 && (flags&unix.O_NOFOLLOW == 0 || flags&unix.O_PATH != 0):
			// The kernel counts a symlink twice if it has to look twice, as it does
			// where one leads out.
			return -1, errQuick
		}
		return -1, err
	}
}

// lstat describes name itself.
func (q quick) lstat(name string) (stamp, error) {
	if !strings.Contains(name, "/") {
		return q.lstatChild(name)
	}
	h, err := q.open(name, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return stamp{}, err
	}
	defer h.Close()
	return h.stamp()
}

// lstatChild describes a child of the folder, which no symlink leads to.
func (q quick) lstatChild(name string) (stamp, error) {
	if q.refused {
		return stamp{}, errQuick
	}
	q.mu.RLock()
	defer q.mu.RUnlock()
	if q.fd < 0 {
		return stamp{}, fs.ErrClosed
	}
	return handle(q.fd).child(name)
}

// openDir opens the directory name, only to tell which one it is.
func (q quick) openDir(name string) (*os.File, error) {
	h, err := q.open(name, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return h.file(), nil
}
