package container

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Mkdir implements [workspace.FileSystem].
func (f *FS) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	if err := f.check(ctx, ops.Mkdir, name); err != nil {
		return err
	}
	call := act("make", names(name)...)
	if opts != nil && opts.Recursive {
		call = ask("deep", name)
	}
	_, err := f.do(ctx, ops.Mkdir, name, call)
	return err
}
