package fallback

import (
	"context"

	"github.com/workspacekit/workspacekit/workspace"
)

// Walk is a [workspace.Walker].Walk by Ls, one call for each directory, in
// pages. It never calls fsys's own Walk.
//
// # Errors
//
// Those of [workspace.Walker].
func Walk(ctx context.Context, fsys workspace.FileSystem, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	return workspace.Walk(ctx, plain{fsys}, dir, opts, fn)
}

// plain hides the optional interfaces of a FileSystem.
type plain struct{ workspace.FileSystem }
