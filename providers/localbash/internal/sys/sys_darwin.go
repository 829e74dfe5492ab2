package sys

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Rename renames old in the directory from to new in the directory to.
func Rename(from *os.File, old string, to *os.File, new string) error {
	return withDescriptors(from, to, func(source, target int) error {
		return unix.Renameat(source, old, target, new)
	})
}

// RenameExclusive is Rename in one step that never takes a name that exists.
//
// # Errors
//
// [errors.ErrUnsupported] if the kernel or the file system cannot.
func RenameExclusive(from *os.File, old string, to *os.File, new string) error {
	err := withDescriptors(from, to, func(source, target int) error {
		return unix.RenameatxNp(source, old, target, new, unix.RENAME_EXCL)
	})
	if err == unix.EINVAL || err == unix.ENOSYS || err == unix.ENOTSUP {
		return errors.ErrUnsupported
	}
	return err
}

// Link creates new in the directory to as a hard link of old in the directory
// from.
func Link(from *os.File, old string, to *os.File, new string) error {
	return withDescriptors(from, to, func(source, target int) error {
		return unix.Linkat(source, old, target, new, 0)
	})
}
