//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package localbash

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// hasFileLocks says that the operating system has locks on files that end with
// the process. A file system may still have none.
const hasFileLocks = true

// tryLock takes the lock if it is free.
func tryLock(file *os.File) (lockState, error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return lockUnknown, err
	}
	var flockErr error
	err = raw.Control(func(fd uintptr) { flockErr = flock(int(fd), unix.LOCK_EX|unix.LOCK_NB) })
	switch {
	case err != nil:
		return lockUnknown, err
	case errors.Is(flockErr, unix.EWOULDBLOCK):
		return lockTaken, nil
	case flockErr != nil:
		return lockUnknown, nil
	}
	return lockHeld, nil
}

func flock(fd, how int) error {
	for {
		if err := unix.Flock(fd, how); err != unix.EINTR {
			return err
		}
	}
}

// unlockFile gives the lock up at once. Closing the file would do it only when
// a child process that is just being started has closed its copy, too.
func unlockFile(file *os.File) {
	if raw, err := file.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = flock(int(fd), unix.LOCK_UN) })
	}
}
