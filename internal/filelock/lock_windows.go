package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockedAt is the upper half of the offset of the byte that is locked: far after the
// end, because Windows lets nobody read what is locked.
const lockedAt = 0x7fffffff

// Replaces says whether a file can be replaced while it is locked.
const Replaces = false

// try locks f, until it is closed, unless another process or another open file
// has locked it.
func try(f *os.File) (locked bool, err error) {
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{OffsetHigh: lockedAt})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}
