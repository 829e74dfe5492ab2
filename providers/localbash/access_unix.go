//go:build linux || darwin || freebsd

package localbash

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// checkWritable returns an error if the file base is one that this process
// may not write to. Replacing it would still work, and is what a read-only
// file is protected from.
func (d *folder) checkWritable(base string) error {
	raw, err := d.file.SyscallConn()
	if err != nil {
		return err
	}
	var accessErr error
	err = raw.Control(func(fd uintptr) {
		accessErr = unix.Faccessat(int(fd), base, unix.W_OK, unix.AT_EACCESS|unix.AT_SYMLINK_NOFOLLOW)
	})
	if err == nil && errors.Is(accessErr, fs.ErrPermission) {
		err = accessErr
	}
	return err
}
