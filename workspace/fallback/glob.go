package fallback

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// Glob is a [workspace.FileSystem].Glob by Ls, one call for each directory in
// which pattern can match, and ReadFile for ".gitignore" files if they are
// wanted.
//
// # Errors
//
// Those of [workspace.FileSystem].Glob.
func Glob(ctx context.Context, fsys workspace.FileSystem, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	return scan.Glob(ctx, source{fsys}, pattern, opts)
}
