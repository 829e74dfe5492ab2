//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package audit

import (
	"errors"
	"os"
)

// tryLock refuses to lock files on systems where that is not known to work.
func tryLock(*os.File) (locked bool, err error) { return false, errors.ErrUnsupported }
