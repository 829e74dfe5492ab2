package workspace

import (
	"errors"
	"io/fs"
)

// LsOptions page through a directory of any size.
type LsOptions struct {
	// Limit is the most entries to return. Zero means all of them.
	Limit int
	// After leaves out every name that is not bytewise greater than it: the
	// last name of the page before. It need not exist. Empty means from the
	// start.
	After string
}

// Check returns the [fs.ErrInvalid] error of a negative limit.
// Nil is the zero options.
func (o *LsOptions) Check(dir string) error {
	if o != nil && o.Limit < 0 {
		return NewPathError(OpLs, dir, fs.ErrInvalid, errors.New("negative limit"))
	}
	return nil
}
