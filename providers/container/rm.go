package container

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Rm implements [workspace.FileSystem].
func (f *FS) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	if err := f.check(ctx, ops.Rm, name); err != nil {
		return err
	}
	if name == "." {
		return ops.Error(ops.Rm, name, fs.ErrInvalid, errors.New("the root cannot be removed"))
	}
	recursive := ""
	if opts != nil && opts.Recursive {
		recursive = "recursive"
		if f.pool.exact && !f.inside().removes {
			return f.removeTree(ctx, name)
		}
	}
	_, err := f.do(ctx, ops.Rm, name, act("remove", append(names(name), recursive)...))
	return err
}
