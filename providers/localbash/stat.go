package localbash

import (
	"context"

	"github.com/workspacekit/workspacekit/workspace"
)

// Stat implements [workspace.FileSystem].
func (f *FS) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	if err := f.check(ctx, workspace.OpStat, name); err != nil {
		return workspace.FileInfo{}, err
	}
	s, err := f.lstat(name)
	if err != nil {
		return workspace.FileInfo{}, f.fault(workspace.OpStat, name, err)
	}
	return s.info(name), nil
}
