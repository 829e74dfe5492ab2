package fallback

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// Hider is implemented by a [workspace.FileSystem] whose own searches can leave out
// names. A wrapper that denies names, such as policy.Restrict, needs it to search at
// full speed: without a Hider, it lists each directory and reads each file itself.
type Hider interface {
	// Hide returns a view of the same files whose Glob, Grep and Walk find
	// nothing that is hidden, as if it did not exist: limits, pages and the
	// skipped files count the rest alone, and no error of a hidden directory
	// shows. Only a ".gitignore" file counts all the same in a search with
	// Gitignore.
	//
	// hidden is called with a directory of the search, and returns the test for
	// the names in it. The test reports whether the child name, which is a
	// directory or not, is hidden with everything below it. A nil test means that
	// nothing below the directory is hidden. Where a search begins is not
	// hidden, unless it is a file. Both functions must be safe for concurrent
	// use.
	//
	// All other methods show hidden names, so the view is for the wrapper itself,
	// not for its callers. It can be used until the FileSystem is closed, and
	// need not be closed itself.
	//
	// # Errors
	//
	// [errors.ErrUnsupported] from a wrapper of a FileSystem that cannot hide.
	Hide(hidden func(dir string) func(name string, isDir bool) bool) (workspace.FileSystem, error)
}

// HidingFS is a view of a [workspace.FileSystem] for searches, without some names:
// see [Hide]. It is safe for concurrent use.
type HidingFS struct {
	workspace.FileSystem
	hidden scan.Hidden
}

// Hide returns a view of fsys whose Glob and Grep are those of this package, and
// whose Walk is [workspace.Walk], without what hidden says, as [Hider] describes
// it. It never calls fsys's own Hide.
func Hide(fsys workspace.FileSystem, hidden func(dir string) func(name string, isDir bool) bool) HidingFS {
	return HidingFS{fsys, hidden}
}

// Glob implements [workspace.FileSystem].
func (h HidingFS) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	return scan.Glob(ctx, source{h.FileSystem}, pattern, opts, h.hidden)
}

// Grep implements [workspace.FileSystem].
func (h HidingFS) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	return scan.Grep(ctx, source{h.FileSystem}, pattern, opts, grepWorkers, h.hidden)
}

// Walk implements [workspace.Walker].
func (h HidingFS) Walk(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	return workspace.Walk(ctx, h.FileSystem, dir, opts, h.hidden.WalkFunc(dir, fn))
}
