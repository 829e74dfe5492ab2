package localbash

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// Grep implements [workspace.FileSystem].
func (f *FS) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	return scan.Grep(ctx, source{f}, pattern, opts, 0)
}
