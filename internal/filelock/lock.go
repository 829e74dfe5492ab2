// Package filelock locks files, so that several processes can change one.
package filelock

import (
	"context"
	"fmt"
	"os"
	"time"
)

// pause is the time between two attempts to lock a file.
const pause = time.Millisecond

// Lock locks f until it is closed. It waits at most timeout for another process, or another open
// file, that has locked it.
//
// # Errors
//
// [errors.ErrUnsupported] on systems where locks are not known to work; the error of ctx.
func Lock(ctx context.Context, f *os.File, timeout time.Duration) error {
	for deadline := time.Now().Add(timeout); ; time.Sleep(pause) {
		locked, err := try(f)
		switch {
		case err != nil:
			return fmt.Errorf("it cannot be locked: %w", err)
		case locked:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(deadline):
			return fmt.Errorf("another process has locked it for %v", timeout)
		}
	}
}
