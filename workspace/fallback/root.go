package fallback

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Rooter is implemented by a [workspace.FileSystem] whose root people and models know by
// an absolute path. [*workspace.Workspace] and [workspace.CleanName] accept names that
// begin with it.
type Rooter interface {
	// Root returns the absolute, slash-separated path of the root, or "" if it
	// has none.
	Root() string
}

// Root returns the absolute path of fsys's root, or "" if it has none
// ([Rooter]).
func Root(fsys workspace.FileSystem) string {
	if rooter, ok := workspace.As[Rooter](fsys); ok {
		return rooter.Root()
	}
	return ""
}

// RootFinder is implemented by a [Rooter] that starts at its first use, and may know its
// root only then. [*workspace.Workspace] calls it before it cleans an absolute name, which
// would otherwise mean another file before the start.
type RootFinder interface {
	// FindRoot returns once Root is final.
	//
	// # Errors
	//
	// Those of a start.
	FindRoot(ctx context.Context) error
}

// FindRoot returns once [Root] of fsys is final ([RootFinder]).
func FindRoot(ctx context.Context, fsys workspace.FileSystem) error {
	if w, ok := workspace.As[*workspace.Workspace](fsys); ok {
		_, err := w.Clean(ctx, ops.Open, "/") // which finds the root
		return err
	}
	if finder, ok := workspace.As[RootFinder](fsys); ok {
		return finder.FindRoot(ctx)
	}
	return nil
}
