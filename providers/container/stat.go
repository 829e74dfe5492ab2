package container

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Stat implements [workspace.FileSystem].
func (f *FS) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	if err := f.check(ctx, ops.Stat, name); err != nil {
		return workspace.FileInfo{}, err
	}
	body, err := f.do(ctx, ops.Stat, name, ask("describe", names(name)...))
	if err != nil {
		return workspace.FileInfo{}, err
	}
	r, _, err := cutRecord(body)
	if err != nil {
		return workspace.FileInfo{}, ops.Error(ops.Stat, name, nil, err)
	}
	return r.info(name), nil
}
