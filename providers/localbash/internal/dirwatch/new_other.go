//go:build !linux

package dirwatch

// New returns the Notifier of this operating system for the directory of the
// host root and those below it.
func New(root string) Notifier { return NewPaths(root) }
