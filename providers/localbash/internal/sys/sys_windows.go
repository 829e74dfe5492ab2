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

// CopyOwner does nothing: a new file has the owner that its directory gives it.
func CopyOwner(*os.File, fs.FileInfo) {}

// CheckWritable returns an error if this process may not write to the file base
// of the directory that is open as root and dir.
func CheckWritable(root *os.Root, _ *os.File, base string) error { return tryToOpen(root, base) }

// TryLock takes no lock.
func TryLock(*os.File) (LockState, error) { return LockUnknown, nil }

// Unlock does nothing.
func Unlock(*os.File) {}
