//go:build !linux

package sys

import (
	"errors"
	"runtime"
)

// Name returns the name of the operating system as people write it.
func Name() string {
	switch runtime.GOOS {
	case "darwin":
		return "macOS"
	case "windows":
		return "Windows"
	}
	return runtime.GOOS
}

// FileSystem returns "", as finding it out is not simple here.
func FileSystem(string) string { return "" }

// ChangeClock returns 0, as nothing here proves that a directory has not changed.
func ChangeClock() int64 { return 0 }

// DatesChanges returns false for the same reason.
func DatesChanges(int, int64) bool { return false }

// FillsReads returns false for the same reason.
func FillsReads(int) bool { return false }

// Mounts is there on Linux alone.
type Mounts struct{}

// OpenMounts fails.
func OpenMounts(int) (*Mounts, error) { return nil, errors.ErrUnsupported }

// Changed returns true.
func (*Mounts) Changed() bool { return true }

// Close does nothing.
func (*Mounts) Close() error { return nil }
