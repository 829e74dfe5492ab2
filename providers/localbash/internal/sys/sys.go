// Package sys has the system calls of localbash that differ between operating
// systems and need nothing but open files. What a system lacks is
// [errors.ErrUnsupported], or the zero value.
package sys

import (
	"errors"
	"io/fs"
	"os"
)

// FileID is what the operating system knows a file by. It is zero if the
// operating system does not say.
type FileID struct{ Device, Inode uint64 }

// Owner is the user and the group that a file belongs to; zero where there are none.
type Owner struct{ UID, GID uint32 }

// Attributes are what an [fs.FileInfo] says beyond its interface.
type Attributes struct {
	ID       FileID
	Changed  int64 // when the bytes or the attributes changed, in nanoseconds since 1970; 0 if unknown
	Unlinked bool  // the file has no name any more
	Owner    Owner
}

// LockState is what is known about the lock on a file after an attempt to take it.
type LockState int

const (
	LockUnknown LockState = iota // there are no locks here
	LockHeld                     // the caller has it now
	LockTaken                    // someone else has it
)

// Opener opens a file of a directory.
type Opener func(base string, flag int, perm fs.FileMode) (*os.File, error)

// tryToOpen is CheckWritable by trying.
func tryToOpen(open Opener, base string) error {
	file, err := open(base, os.O_WRONLY, 0)
	if err == nil {
		return file.Close()
	}
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
