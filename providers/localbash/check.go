package localbash

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/workspacekit/workspacekit/workspace"
)

// check is what every method begins with.
//
// # Errors
//
// Those of [workspace.Check], [fs.ErrInvalid] for a name that this operating
// system cannot hold, [fs.ErrClosed].
func (f *FS) check(ctx context.Context, op, name string) error {
	if f.closed.Load() {
		return workspace.NewPathError(op, name, fs.ErrClosed, nil)
	}
	if err := workspace.Check(ctx, op, name); err != nil {
		return err
	}
	if _, err := filepath.Localize(name); err != nil {
		return workspace.NewPathError(op, name, fs.ErrInvalid,
			errors.New("this operating system does not allow the name"))
	}
	return nil
}
