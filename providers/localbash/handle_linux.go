package localbash

import (
	"io"
	"io/fs"
	"os"

	"github.com/workspacekit/workspacekit/workspace"
	"golang.org/x/sys/unix"
)

// handle is an open file or directory. It is a bare descriptor, as an os.File
// costs allocations and a registration with the poller.
type handle int

// openHandle opens name to read it, without waiting for the other end of a
// FIFO. nofollow refuses a symlink as the last element.
func (f *FS) openHandle(name string, nofollow bool) (handle, error) {
	flags := uint64(unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY)
	if nofollow {
		flags |= unix.O_NOFOLLOW
	}
	h, err := f.quick.open(name, flags)
	if err != errQuick {
		return h, err
	}
	return f.openSlowly(name, int(flags))
}

// openSlowly is for kernels without openat2.
func (f *FS) openSlowly(name string, flags int) (handle, error) {
	file, err := f.host.OpenFile(name, flags, 0)
	if err != nil {
		return -1, err
	}
	defer file.Close()
	fd, err := duplicate(file)
	return handle(fd), err
}

// duplicate returns a descriptor of file that outlives it.
func duplicate(file *os.File) (int, error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd := -1
	var dupErr error
	err = raw.Control(func(old uintptr) {
		fd, dupErr = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err == nil {
		err = dupErr
	}
	return fd, err
}

// lstat describes name itself.
func (f *FS) lstat(name string) (stamp, error) {
	s, err := f.quick.lstat(name)
	if err != errQuick {
		return s, err
	}
	info, err := f.host.Lstat(name)
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info), nil
}

// Read implements [io.Reader].
func (h handle) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(int(h), p)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// Close implements [io.Closer].
func (h handle) Close() error { return unix.Close(int(h)) }

// file returns h as an os.File, which takes it over.
func (h handle) file() *os.File { return os.NewFile(uintptr(h), "file") }

// stamp describes what is open.
func (h handle) stamp() (stamp, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(int(h), &stat); err != nil {
		return stamp{}, err
	}
	return stampOfStat(&stat), nil
}

// child describes the child name of an open directory, itself.
func (h handle) child(name string) (stamp, error) {
	var stat unix.Stat_t
	if err := unix.Fstatat(int(h), name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return stamp{}, err
	}
	return stampOfStat(&stat), nil
}

func stampOfStat(stat *unix.Stat_t) stamp {
	return stamp{
		kind: kindOfFormat(stat.Mode), perm: fs.FileMode(stat.Mode & 0o777), size: stat.Size,
		device: stat.Dev, inode: stat.Ino, mtime: stat.Mtim.Nano(), changed: stat.Ctim.Nano(), orphan: stat.Nlink == 0,
	}
}

func kindOfFormat(mode uint32) workspace.FileType {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return workspace.TypeFile
	case unix.S_IFDIR:
		return workspace.TypeDirectory
	case unix.S_IFLNK:
		return workspace.TypeSymlink
	}
	return workspace.TypeOther
}
