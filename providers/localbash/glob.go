package localbash

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// Glob implements [workspace.FileSystem].
func (f *FS) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	return scan.Glob(ctx, source{f}, pattern, opts)
}
