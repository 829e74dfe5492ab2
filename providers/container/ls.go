package container

import (
	"context"

	"github.com/workspacekit/workspacekit/workspace"
)

// Ls implements [workspace.FileSystem].
func (f *FS) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	var o workspace.LsOptions
	if opts != nil {
		o = *opts
	}
	if err := f.check(ctx, workspace.OpLs, dir); err != nil {
		return nil, err
	}
	if err := o.Check(dir); err != nil {
		return nil, err
	}
	entries, err := named(f.list(ctx, workspace.OpLs, dir, ask("children", dir)))
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
