package container

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// Glob implements [workspace.FileSystem], in one request, and one more for all
// ignore files if those are wanted.
func (f *FS) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	var o workspace.GlobOptions
	if opts != nil {
		o = *opts
	}
	if o.Dir == "" {
		o.Dir = "."
	}
	return scan.Glob(ctx, &source{f: f, top: o.Dir, within: scopeOf(pattern)}, pattern, &o)
}
