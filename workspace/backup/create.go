package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// maxBuffered is how many bytes of a created file are held in memory. A file of no
// more is written like any other. A longer one is a stream, which cannot begin again
// if another process writes the file meanwhile.
const maxBuffered = 1 << 20

// writer is a file that is being created.
type writer struct {
	r     *recorder
	ctx   context.Context
	name  string
	opts  workspace.WriteOptions
	given bool // opts are the caller's

	sum    hash.Hash
	size   int64
	buf    bytes.Buffer
	stream workspace.Writer // nil until buf is full
	failed error            // of the first Write that failed
	done   bool             // committed or closed
}

// Create implements [workspace.Creator].
func (r *recorder) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
	if err := ops.Check(ctx, ops.Create, name); err != nil {
		return nil, err
	}
	w := &writer{r: r, ctx: ctx, name: name, sum: sha256.New()}
	if opts != nil {
		w.opts = *opts
	}
	w.given = w.opts != workspace.WriteOptions{}
	return w, nil
}

// check returns the error of a writer that cannot be used any more.
func (w *writer) check() error {
	switch {
	case w.done:
		return ops.Error(ops.Create, w.name, fs.ErrClosed, nil)
	case w.ctx.Err() != nil:
		return ops.Error(ops.Create, w.name, w.ctx.Err(), nil)
	}
	return w.failed
}

// Write implements [workspace.Writer].
func (w *writer) Write(p []byte) (int, error) {
	if err := w.check(); err != nil {
		return 0, err
	}
	w.sum.Write(p)
	w.size += int64(len(p))
	if w.stream == nil && w.size <= maxBuffered {
		return w.buf.Write(p)
	}
	if w.stream == nil {
		if w.failed = w.openStream(); w.failed != nil {
			return 0, w.failed
		}
	}
	n, err := w.stream.Write(p)
	w.failed = err
	return n, err
}

// openStream begins to write the file. Without a condition of the caller, it may
// only replace what is there now.
func (w *writer) openStream() error {
	if !w.given && w.r.conditional {
		info, err := w.r.files.Stat(w.ctx, w.name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return ops.Rename(err, ops.Create, w.name)
		}
		w.opts = workspace.WriteOptions{IfVersion: info.Version, IfNotExist: err != nil}
	}
	stream, err := workspace.Create(w.ctx, w.r.files, w.name, &w.opts)
	if err != nil {
		return err
	}
	w.stream = stream
	_, err = stream.Write(w.buf.Bytes())
	w.buf = bytes.Buffer{}
	return err
}

// Commit implements [workspace.Writer].
func (w *writer) Commit() (workspace.Version, error) {
	if err := w.check(); err != nil {
		return "", err
	}
	w.done = true
	after := State{Type: workspace.TypeFile, Size: w.size, SHA256: hex.EncodeToString(w.sum.Sum(nil))}
	if w.stream == nil {
		return w.r.write(w.ctx, ops.Create, w.name, after, &w.opts, func(opts *workspace.WriteOptions) (workspace.Version, error) {
			return w.r.files.WriteFile(w.ctx, w.name, w.buf.Bytes(), opts)
		})
	}
	defer w.stream.Close()
	version, err := w.r.write(w.ctx, ops.Create, w.name, after, &w.opts, func(*workspace.WriteOptions) (workspace.Version, error) {
		return w.stream.Commit()
	})
	if !w.given && (errors.Is(err, workspace.ErrConflict) || errors.Is(err, fs.ErrExist)) {
		if info, err := w.r.files.Stat(w.ctx, w.name); err == nil && info.IsDir() {
			return "", ops.Error(ops.Create, w.name, workspace.ErrIsDir, nil)
		}
		err = ops.Error(ops.Create, w.name, workspace.ErrUnavailable, errors.New("another program has written the file meanwhile"))
	}
	return version, err
}

// Close implements [workspace.Writer].
func (w *writer) Close() error {
	if w.done {
		return nil
	}
	w.done = true
	w.buf = bytes.Buffer{}
	if w.stream == nil {
		return nil
	}
	return w.stream.Close()
}
