//go:build !linux && !darwin

package localbash

import "errors"

// renameExclusive does not exist here.
func renameExclusive(*folder, string, *folder, string) error { return errors.ErrUnsupported }
