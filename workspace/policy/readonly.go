package policy

import (
	"context"
	"errors"
	"io"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// ReadOnlyFS is a [workspace.FileSystem] that cannot be changed through it:
// every changing operation is [workspace.ErrPolicy], which is also
// [io/fs.ErrPermission]. It is safe for concurrent use.
type ReadOnlyFS struct {
	reads
}

// reads are the methods that a ReadOnlyFS forwards: a SubFS at the root changes
// no name and forwards every optional interface.
type reads = *SubFS

var (
	_ workspace.FileSystem = (*ReadOnlyFS)(nil)
	_ workspace.Creator    = (*ReadOnlyFS)(nil)
	_ workspace.Mover      = (*ReadOnlyFS)(nil)
	_ workspace.Copier     = (*ReadOnlyFS)(nil)
	_ workspace.Exacter    = (*ReadOnlyFS)(nil)
	_ workspace.Runner     = (*ReadOnlyFS)(nil)
	_ fallback.Hider       = (*ReadOnlyFS)(nil)
	_ fallback.Transactor  = (*ReadOnlyFS)(nil)
)

// ReadOnly returns fsys without its changing operations.
func ReadOnly(fsys workspace.FileSystem) *ReadOnlyFS {
	return &ReadOnlyFS{atRoot(fsys)}
}

// Capabilities implements [fallback.Capable]. It returns the capabilities of the
// FileSystem below that change nothing.
func (r *ReadOnlyFS) Capabilities() workspace.Capabilities {
	below := r.reads.Capabilities()
	return workspace.Capabilities{Versions: below.Versions, Watch: below.Watch}
}

// Close closes the FileSystem below if it is an [io.Closer].
func (r *ReadOnlyFS) Close() error {
	if closer, ok := workspace.As[io.Closer](r.reads.fsys); ok {
		return closer.Close()
	}
	return nil
}

// Exact implements [workspace.Exacter].
func (r *ReadOnlyFS) Exact() (workspace.FileSystem, error) {
	exact, err := workspace.Exact(r.reads.fsys)
	if err != nil {
		return nil, err
	}
	return ReadOnly(exact), nil
}

// Hide implements [fallback.Hider].
func (r *ReadOnlyFS) Hide(hidden func(dir string) func(name string, isDir bool) bool) (workspace.FileSystem, error) {
	return &ReadOnlyFS{r.reads.hide(hidden)}, nil
}

// Transaction implements [fallback.Transactor]: it is refused.
func (r *ReadOnlyFS) Transaction(ctx context.Context, _ func(ctx context.Context) error) error {
	return refuse(context.WithoutCancel(ctx), ops.Transaction, ".") // transaction.Check has an ended context
}

// refuse returns the error of a change.
func refuse(ctx context.Context, op, name string) error {
	if err := ops.Check(ctx, op, name); err != nil {
		return err
	}
	return ops.Error(op, name, workspace.ErrPolicy, errors.New("the workspace is read-only"))
}

// WriteFile implements [workspace.FileSystem]: it is refused.
func (r *ReadOnlyFS) WriteFile(ctx context.Context, name string, _ []byte, _ *workspace.WriteOptions) (workspace.Version, error) {
	return "", refuse(ctx, ops.WriteFile, name)
}

// Create implements [workspace.Creator]: it is refused.
func (r *ReadOnlyFS) Create(ctx context.Context, name string, _ *workspace.WriteOptions) (workspace.Writer, error) {
	return nil, refuse(ctx, ops.Create, name)
}

// Rm implements [workspace.FileSystem]: it is refused.
func (r *ReadOnlyFS) Rm(ctx context.Context, name string, _ *workspace.RmOptions) error {
	return refuse(ctx, ops.Rm, name)
}

// Mkdir implements [workspace.FileSystem]: it is refused.
func (r *ReadOnlyFS) Mkdir(ctx context.Context, name string, _ *workspace.MkdirOptions) error {
	return refuse(ctx, ops.Mkdir, name)
}

// Move implements [workspace.Mover]: it is refused.
func (r *ReadOnlyFS) Move(ctx context.Context, source, _ string) error {
	return refuse(ctx, ops.Move, source)
}

// Copy implements [workspace.Copier]: it is refused.
func (r *ReadOnlyFS) Copy(ctx context.Context, source, _ string) (workspace.Version, error) {
	return "", refuse(ctx, ops.Copy, source)
}
