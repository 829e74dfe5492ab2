package localbash

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameExclusive renames in one step, and never onto a name that exists.
//
// # Errors
//
// [errors.ErrUnsupported] if the kernel or the file system cannot.
func renameExclusive(from *folder, old string, to *folder, new string) error {
	err := withDescriptors(from.file, to.file, func(source, target int) error {
		return unix.RenameatxNp(source, old, target, new, unix.RENAME_EXCL)
	})
	if err == unix.EINVAL || err == unix.ENOSYS || err == unix.ENOTSUP {
		return errors.ErrUnsupported
	}
	return err
}
