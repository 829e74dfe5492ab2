//go:build linux || darwin

package localbash

import (
	"os"

	"golang.org/x/sys/unix"
)

// renameBetween renames old in one folder to new in another.
func (f *FS) renameBetween(from *folder, old string, to *folder, new string) error {
	return withDescriptors(from.file, to.file, func(source, target int) error {
		return unix.Renameat(source, old, target, new)
	})
}

// linkBetween makes new in one folder a hard link of old in another.
func (f *FS) linkBetween(from *folder, old string, to *folder, new string) error {
	return withDescriptors(from.file, to.file, func(source, target int) error {
		return unix.Linkat(source, old, target, new, 0)
	})
}

// withDescriptors calls fn with the descriptors of a and b, which stay open
// meanwhile.
func withDescriptors(a, b *os.File, fn func(a, b int) error) error {
	first, err := a.SyscallConn()
	if err != nil {
		return err
	}
	second, err := b.SyscallConn()
	if err != nil {
		return err
	}
	var fnErr error
	var inner error
	err = first.Control(func(x uintptr) {
		inner = second.Control(func(y uintptr) { fnErr = fn(int(x), int(y)) })
	})
	for _, err := range []error{err, inner} {
		if err != nil {
			return err
		}
	}
	return fnErr
}
