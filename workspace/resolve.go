package workspace

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// Resolver is implemented by a [FileSystem] that has symlinks.
type Resolver interface {
	// Resolve returns the name that name stands for once every symlink in it,
	// including the last element, has been followed. Elements that do not exist
	// are kept as they are spelled, so a name can be resolved before it is
	// created.
	//
	// # Errors
	//
	// [ErrEscape] if a symlink leads out of the FileSystem, [io/fs.ErrInvalid]
	// if symlinks form a loop or are too many.
	Resolve(ctx context.Context, name string) (string, error)
}

// Resolve resolves name by fsys's [Resolver]. Without one fsys has no
// symlinks, and name is returned as it is.
//
// # Errors
//
// Those of [Resolver].
func Resolve(ctx context.Context, fsys FileSystem, name string) (string, error) {
	if resolver, ok := As[Resolver](fsys); ok {
		return resolver.Resolve(ctx, name)
	}
	return name, ops.Check(ctx, ops.Resolve, name)
}
