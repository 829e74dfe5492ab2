package workspace

import (
	"bytes"
	"context"
	"io"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// Writer is a file that is being written. No call shows anything of it before
// Commit. It is for one goroutine. A Write or Commit after Commit or Close is
// [fs.ErrClosed].
type Writer interface {
	io.Writer
	// Commit gives the file the written bytes as its content, as
	// [FileSystem].WriteFile does, and returns its version. After a Write that
	// failed, it fails with the error of that, and stores nothing.
	Commit() (Version, error)
	// Close discards the written bytes unless they have been committed. It must
	// be called; after Commit it does nothing.
	Close() error
}

// Creator is implemented by a [FileSystem] that can write a file without
// holding it in memory.
type Creator interface {
	// Create begins to write name. The conditions of opts are tested when the
	// writer is committed, and may be tested before. Once ctx has ended, writes
	// and the commit fail.
	//
	// # Errors
	//
	// Those of [FileSystem].WriteFile, from Create, Write or Commit.
	Create(ctx context.Context, name string, opts *WriteOptions) (Writer, error)
}

// Create writes name by fsys's [Creator], and without one collects the bytes
// for a WriteFile.
//
// # Errors
//
// Those of [Creator].
func Create(ctx context.Context, fsys FileSystem, name string, opts *WriteOptions) (Writer, error) {
	if creator, ok := As[Creator](fsys); ok {
		return creator.Create(ctx, name, opts)
	}
	if err := ops.Check(ctx, ops.Create, name); err != nil {
		return nil, err
	}
	w := &bufferedWriter{ctx: ctx, name: name}
	w.commit = func(data []byte) (Version, error) { return fsys.WriteFile(ctx, name, data, opts) }
	return w, nil
}

// bufferedWriter collects a file in memory.
type bufferedWriter struct {
	ctx    context.Context
	name   string
	buf    bytes.Buffer
	commit func([]byte) (Version, error)
	done   bool // committed or closed
}

// Write implements [Writer].
func (w *bufferedWriter) Write(p []byte) (int, error) {
	if w.done {
		return 0, ops.Error(ops.Create, w.name, fs.ErrClosed, nil)
	}
	if err := w.ctx.Err(); err != nil {
		return 0, ops.Error(ops.Create, w.name, err, nil)
	}
	return w.buf.Write(p)
}

// Commit implements [Writer].
func (w *bufferedWriter) Commit() (Version, error) {
	if w.done {
		return "", ops.Error(ops.Create, w.name, fs.ErrClosed, nil)
	}
	w.done = true
	return w.commit(w.buf.Bytes())
}

// Close implements [Writer].
func (w *bufferedWriter) Close() error {
	w.done = true
	w.buf = bytes.Buffer{}
	return nil
}
