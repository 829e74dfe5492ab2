package workspace

import (
	"errors"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// Exacter is implemented by a [FileSystem] that has symlinks and can work
// without following any.
type Exacter interface {
	// Exact returns a view of the same files that follows no symlink. Wherever
	// a method of the FileSystem itself follows a symlink in a name, the method
	// of the view fails with [ErrSymlink] and changes nothing. Finding the
	// symlink and using the name are one step: a symlink that another program
	// creates at that moment is not followed either. Below the directory where
	// a listing, a search, a walk or a watch begins, a directory or file that
	// a symlink has replaced is left out, as if it had been removed.
	//
	// Everything else is as in the FileSystem itself: versions, conditions,
	// capabilities, and the methods that act on a symlink (Stat, Rm, Move, and
	// a write with IfNotExist). Resolve returns a name without symlinks as it is.
	// The view can be used until the FileSystem is closed, and need not be closed
	// itself; closing it may close both.
	//
	// # Errors
	//
	// [errors.ErrUnsupported] if there is no such view, as of a wrapper of a
	// FileSystem that has none.
	Exact() (FileSystem, error)
}

// Exact returns the view of fsys that follows no symlink, by its [Exacter]. A
// FileSystem that is neither an Exacter nor a [Resolver] has no symlinks and is
// its own view.
//
// # Errors
//
// Those of [Exacter], and [errors.ErrUnsupported] if fsys is a Resolver alone.
func Exact(fsys FileSystem) (FileSystem, error) {
	if exacter, ok := As[Exacter](fsys); ok {
		return exacter.Exact()
	}
	if _, ok := As[Resolver](fsys); ok {
		return nil, ops.Error(ops.Exact, ".", errors.ErrUnsupported,
			errors.New("the file system follows symlinks and cannot refuse to"))
	}
	return fsys, nil
}
