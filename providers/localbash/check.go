package localbash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// check is what every method begins with.
//
// # Errors
// Those of [workspace.Check], [fs.ErrInvalid] for a reserved name or one that
// this operating system cannot hold, [fs.ErrClosed].
func (f *FS) check(ctx context.Context, op, name string) error {
	if f.closed.Load() {
		return workspace.NewPathError(op, name, fs.ErrClosed, nil)
	}
	if err := workspace.Check(ctx, op, name); err != nil {
		return err
	}
	if isReserved(name) {
		return workspace.NewPathError(op, name, fs.ErrInvalid,
			fmt.Errorf("names that begin with %q are reserved", tempPrefix))
	}
	if _, err := filepath.Localize(name); err != nil {
		return workspace.NewPathError(op, name, fs.ErrInvalid,
			errors.New("this operating system does not allow the name"))
	}
	return nil
}

// isReserved reports whether an element of name is that of a temporary file.
func isReserved(name string) bool {
	if !strings.Contains(name, tempPrefix) {
		return false
	}
	return strings.HasPrefix(name, tempPrefix) || strings.Contains(name, "/"+tempPrefix)
}
