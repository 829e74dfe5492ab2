//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package audit

import (
	"errors"
	"os"
)

// rotates says whether a file can be replaced while it is locked.
const rotates = false

// tryLock refuses to lock files on systems where that is not known to work.
func tryLock(*os.File) (locked bool, err error) { return false, errors.ErrUnsupported }
