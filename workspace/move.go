package workspace

import (
	"context"
	"errors"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// Mover is implemented by a [FileSystem] that can move within itself.
type Mover interface {
	// Move gives the file, symlink or directory source, with all below it, the
	// name destination, and creates missing parents. At every moment a file has
	// one of the two names, or in a bucket both. An existing destination is never
	// replaced.
	//
	// # Errors
	//
	// [io/fs.ErrNotExist] if source does not exist, [io/fs.ErrInvalid] if it is
	// the root or a directory that destination lies below, [io/fs.ErrExist] if
	// destination exists, [ErrNotDir] if it lies below a file. The error's Path
	// is the name at fault: destination for the last two, else source.
	Move(ctx context.Context, source, destination string) error
}

// Move moves by fsys's [Mover]. There is no fallback, because a copy followed by a
// removal is not atomic.
//
// # Errors
//
// Those of [Mover], and [errors.ErrUnsupported] without one.
func Move(ctx context.Context, fsys FileSystem, source, destination string) error {
	if mover, ok := As[Mover](fsys); ok {
		return mover.Move(ctx, source, destination)
	}
	if err := ops.Check(ctx, ops.Move, source); err != nil {
		return err
	}
	return ops.Error(ops.Move, source, errors.ErrUnsupported, nil)
}
