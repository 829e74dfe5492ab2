package container

import (
	"context"

	"github.com/workspacekit/workspacekit/workspace"
)

// Stat implements [workspace.FileSystem].
func (f *FS) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	if err := f.check(ctx, workspace.OpStat, name); err != nil {
		return workspace.FileInfo{}, err
	}
	body, err := f.do(ctx, workspace.OpStat, name, ask("describe", names(name)...))
	if err != nil {
		return workspace.FileInfo{}, err
	}
	r, _, err := cutRecord(body)
	if err != nil {
		return workspace.FileInfo{}, workspace.NewPathError(workspace.OpStat, name, nil, err)
	}
	return r.info(name), nil
}
