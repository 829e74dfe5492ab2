package workspace

import (
	"context"
	"errors"
	"io"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// Copier is implemented by a [FileSystem] that can copy within itself without
// the bytes passing through the caller.
type Copier interface {
	// Copy creates the file destination with the bytes of the file source, and
	// the missing parents of destination. Symlinks in source are followed. It is
	// as atomic as a write, and never replaces an existing destination.
	//
	// # Errors
	//
	// [io/fs.ErrNotExist] if source does not exist, [ErrIsDir] if it is a
	// directory, [io/fs.ErrExist] if destination exists. The error's Path is
	// the name at fault.
	Copy(ctx context.Context, source, destination string) (Version, error)
}

// Copy copies by fsys's [Copier], and without one by a stream from source to
// destination if fsys has conditional writes.
//
// # Errors
//
// Those of [Copier], and [errors.ErrUnsupported] if fsys has neither.
func Copy(ctx context.Context, fsys FileSystem, source, destination string) (Version, error) {
	if copier, ok := As[Copier](fsys); ok {
		return copier.Copy(ctx, source, destination)
	}
	if err := ops.Check(ctx, ops.Copy, source); err != nil {
		return "", err
	}
	if !CapabilitiesOf(fsys).ConditionalWrite {
		return "", ops.Error(ops.Copy, source, errors.ErrUnsupported, nil)
	}
	return copyStream(ctx, fsys, source, destination)
}

// copyStream copies with a stream that the caller's process passes on. The write
// is conditional, so it cannot replace a file that appears meanwhile.
func copyStream(ctx context.Context, fsys FileSystem, source, destination string) (Version, error) {
	from, _, err := Open(ctx, fsys, source, nil)
	if err != nil {
		return "", ops.Rename(err, ops.Copy, source)
	}
	defer from.Close()
	to, err := Create(ctx, fsys, destination, &WriteOptions{IfNotExist: true})
	if err != nil {
		return "", ops.Rename(err, ops.Copy, destination)
	}
	defer to.Close()
	atFault := destination
	if _, err := io.Copy(to, onError{from, func() { atFault = source }}); err != nil {
		return "", ops.Rename(err, ops.Copy, atFault)
	}
	version, err := to.Commit()
	return version, ops.Rename(err, ops.Copy, destination)
}

// onError is a reader that calls failed before it returns an error, io.EOF aside.
type onError struct {
	io.Reader
	failed func()
}

// Read implements [io.Reader].
func (r onError) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		r.failed()
	}
	return n, err
}
