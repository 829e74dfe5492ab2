package container

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Ls implements [workspace.FileSystem].
func (f *FS) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	var o workspace.LsOptions
	if opts != nil {
		o = *opts
	}
	if err := f.check(ctx, ops.Ls, dir); err != nil {
		return nil, err
	}
	if err := ops.CheckLimit(ops.Ls, dir, int64(o.Limit)); err != nil {
		return nil, err
	}
	entries, err := named(f.list(ctx, ops.Ls, dir, ask("children", dir)))
	if err != nil {
		return nil, err
	}
	infos := make([]workspace.FileInfo, 0, len(entries))
	for _, e := range entries {
		if o.Limit > 0 && len(infos) == o.Limit {
			break
		}
		if o.After == "" || e.name > o.After {
			infos = append(infos, e.info(workspace.Join(dir, e.name)))
		}
	}
	return infos, nil
}
