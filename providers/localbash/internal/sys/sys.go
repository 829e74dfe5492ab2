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

// Attributes are what an [fs.FileInfo] says beyond its interface.
type Attributes struct {
	ID       FileID
	Changed  int64 // when the bytes or the attributes changed, in nanoseconds since 1970; 0 if unknown
	Unlinked bool  // the file has no name any more
}

// LockState is what is known about the lock on a file after an attempt to take it.
type LockState int

const (
	LockUnknown LockState = iota // there are no locks here
	LockHeld                     // the caller has it now
	LockTaken                    // someone else has it
)

// tryToOpen is CheckWritable by trying.
func tryToOpen(root *os.Root, base string) error {
	file, err := root.OpenFile(base, os.O_WRONLY, 0)
	if err == nil {
		return file.Close()
	}
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
