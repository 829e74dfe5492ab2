//go:build !linux && !darwin

package sys

import (
	"errors"
	"os"
)

// Rename does not exist here for open directories.
func Rename(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }

// RenameExclusive does not exist here.
func RenameExclusive(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }

// Link does not exist here for open directories.
func Link(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }
