//go:build unix

package sys

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// ReadFlags open a file to read it, without waiting for the other end of a
// FIFO.
const ReadFlags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY

// AttributesOf returns the attributes of a file of the operating system.
func AttributesOf(info fs.FileInfo) Attributes {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Attributes{}
	}
	return Attributes{
		ID:       FileID{uint64(stat.Dev), uint64(stat.Ino)},
		Changed:  changeTime(stat),
		Unlinked: stat.Nlink == 0,
		Owner:    Owner{stat.Uid, stat.Gid},
	}
}

// ChangeOwner gives file to owner if this process may. Otherwise the file keeps its
// writer's.
func ChangeOwner(file *os.File, owner Owner) {
	if os.Geteuid() == 0 {
		_ = file.Chown(int(owner.UID), int(owner.GID))
	}
}

// CheckWritable returns an error if this process may not write to the file base
// of the directory dir, whose files open opens.
func CheckWritable(dir *os.File, base string, open Opener) error {
	switch runtime.GOOS {
	case "linux", "darwin", "freebsd":
	default:
		return tryToOpen(open, base)
	}
	err := withDescriptor(dir, func(fd int) error {
		return unix.Faccessat(fd, base, unix.W_OK, unix.AT_EACCESS|unix.AT_SYMLINK_NOFOLLOW)
	})
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// HasFileLocks says that the operating system has locks on files that end with
// the process. A file system may still have none.
const HasFileLocks = runtime.GOOS != "solaris" && runtime.GOOS != "illumos"

// TryLock takes the lock of file if it is free.
func TryLock(file *os.File) (LockState, error) {
	if !HasFileLocks {
		return LockUnknown, nil
	}
	var flockErr error
	err := withDescriptor(file, func(fd int) error {
		flockErr = flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		return nil
	})
	switch {
	case err != nil:
		return LockUnknown, err
	case errors.Is(flockErr, unix.EWOULDBLOCK):
		return LockTaken, nil
	case flockErr != nil:
		return LockUnknown, nil
	}
	return LockHeld, nil
}

// Unlock gives the lock up at once. Closing the file would do it only when a
// child process that is just being started has closed its copy, too.
func Unlock(file *os.File) {
	_ = withDescriptor(file, func(fd int) error { return flock(fd, unix.LOCK_UN) })
}

// flock locks a file, and repeats the call if a signal interrupts it.
func flock(fd, how int) error {
	for {
		if err := unix.Flock(fd, how); err != unix.EINTR {
			return err
		}
	}
}

// withDescriptor calls fn with the descriptor of file, which stays open
// meanwhile.
func withDescriptor(file *os.File, fn func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var fnErr error
	if err := raw.Control(func(fd uintptr) { fnErr = fn(int(fd)) }); err != nil {
		return err
	}
	return fnErr
}

// withDescriptors calls fn with the descriptors of a and b, which stay open
// meanwhile.
func withDescriptors(a, b *os.File, fn func(a, b int) error) error {
	return withDescriptor(a, func(x int) error {
		return withDescriptor(b, func(y int) error { return fn(x, y) })
	})
}
