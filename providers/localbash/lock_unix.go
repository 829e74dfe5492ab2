//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package localbash

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	minLockWait = 50 * time.Microsecond
	maxLockWait = 5 * time.Millisecond
)

// lockFile waits until the process has the only lock on the open file. It asks
// again and again, as a call that waits could not be ended with ctx. A file
// system without locks gives them to everyone.
func lockFile(ctx context.Context, file *os.File) error {
	for wait := minLockWait; ; wait = min(2*wait, maxLockWait) {
		state, err := tryLock(file)
		if err != nil || state != lockTaken {
			return err
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

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
