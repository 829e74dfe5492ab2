//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package filelock

import (
	"errors"
	"os"
)

// Replaces says whether a file can be replaced while it is locked.
const Replaces = false

// try refuses to lock files on systems where that is not known to work.
func try(*os.File) (locked bool, err error) { return false, errors.ErrUnsupported }
