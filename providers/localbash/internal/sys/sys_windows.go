package sys

import (
	"io/fs"
	"os"
)

// ReadFlags open a file to read it.
const ReadFlags = os.O_RDONLY

// HasFileLocks is false here: there is no flock.
const HasFileLocks = false

// AttributesOf returns the attributes of a file of the operating system.
func AttributesOf(fs.FileInfo) Attributes { return Attributes{} }

// ChangeOwner does nothing: a new file has the owner that its directory gives it.
func ChangeOwner(*os.File, Owner) {}

// CheckWritable returns an error if this process may not write to the file base
// of the directory dir, whose files open opens.
func CheckWritable(_ *os.File, base string, open Opener) error { return tryToOpen(open, base) }

// TryLock takes no lock.
func TryLock(*os.File) (LockState, error) { return LockUnknown, nil }

// Unlock does nothing.
func Unlock(*os.File) {}
