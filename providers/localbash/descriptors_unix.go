//go:build linux || darwin

package localbash

import "os"

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
