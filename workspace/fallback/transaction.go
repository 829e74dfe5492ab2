package fallback

import (
	"context"
	"errors"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Transactor is implemented by a [workspace.FileSystem] that can make several changes as
// one, and by each wrapper: see package transaction.
type Transactor interface {
	// Transaction calls change with a context for the changes that belong together. If
	// change returns an error, they are undone; in the function of another transaction, only
	// with that one. A nil change undoes what programs have left that were killed. With a
	// context that has ended, nothing happens.
	//
	// # Errors
	//
	// The error of change, joined with [workspace.ErrConflict] or another if not all is
	// undone; before change is called, that of ctx, [io/fs.ErrClosed],
	// [io/fs.ErrPermission] if nothing can be written, [errors.ErrUnsupported], or
	// [workspace.ErrPolicy] from a policy that is read-only or has no transactions below.
	Transaction(ctx context.Context, change func(ctx context.Context) error) error
}

// Transacts reports whether a Transaction of fsys is anything but
// [errors.ErrUnsupported]: it is true of a policy that refuses transactions.
func Transacts(fsys workspace.FileSystem) bool {
	ended, cancel := context.WithCancel(context.Background())
	cancel() // so it only says whether it can
	return !errors.Is(Transaction(ended, fsys, nil), errors.ErrUnsupported)
}

// Transaction is the Transaction of fsys, for a wrapper that passes contexts on.
//
// # Errors
//
// Those of [Transactor], and [errors.ErrUnsupported] if fsys has none.
func Transaction(ctx context.Context, fsys workspace.FileSystem, change func(ctx context.Context) error) error {
	t, ok := workspace.As[Transactor](fsys)
	if !ok {
		return ops.Error(ops.Transaction, ".", errors.ErrUnsupported, nil)
	}
	return t.Transaction(ctx, change)
}
