//go:build !linux

package dirwatch

import "errors"

// Queue is there on Linux alone.
type Queue struct{}

// OpenQueue fails.
//
// # Errors
//
// [errors.ErrUnsupported] on other systems than Linux.
func OpenQueue() (*Queue, error) { return nil, errors.ErrUnsupported }

// Add fails.
func (*Queue) Add(int) (ID, error) { return 0, errors.ErrUnsupported }

// Remove does nothing.
func (*Queue) Remove(ID) {}

// Ready returns false.
func (*Queue) Ready() bool { return false }

// Drain fails.
func (*Queue) Drain(func(Event)) error { return errors.ErrUnsupported }

// Close does nothing.
func (*Queue) Close() error { return nil }
