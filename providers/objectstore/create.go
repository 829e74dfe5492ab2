package objectstore

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Create implements [workspace.Creator]. A file of at most one part is written
// in one request, a longer one as a multipart upload, of which the parts are
// sent while it is written, some at a time; it holds those in memory. An upload
// that is not committed is aborted.
func (f *FS) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
	var o workspace.WriteOptions
	if opts != nil {
		o = *opts
	}
	made, err := f.admit(ctx, ops.Create, name, o)
	if err != nil {
		return nil, err
	}
	return &writer{fs: f, ctx: ctx, name: name, opts: o, made: made}, nil
}

// writer is a file that is being written.
type writer struct {
	fs     *FS
	ctx    context.Context
	name   string
	opts   workspace.WriteOptions
	made   func()
	part   []byte  // what has not been sent
	size   int64   // of all that was written
	upload *upload // nil until a part is full
	done   bool
}

func (w *writer) Write(p []byte) (int, error) {
	if w.done {
		return 0, ops.Error(ops.Create, w.name, fs.ErrClosed, nil)
	}
	if err := w.ctx.Err(); err != nil {
		return 0, ops.Error(ops.Create, w.name, err, nil)
	}
	written := 0
	for len(p) > 0 {
		if int64(len(w.part)) == w.fs.opts.PartSize {
			if err := w.send(); err != nil {
				return written, err
			}
		}
		n := min(len(p), int(w.fs.opts.PartSize)-len(w.part))
		w.part = append(w.part, p[:n]...)
		p = p[n:]
		written += n
		w.size += int64(n)
	}
	return written, nil
}

// send sends the part that is full. There is something to follow, or it would
// not be sent.
func (w *writer) send() error {
	if w.upload == nil {
		d, err := w.fs.describeNext(w.ctx, w.name, w.opts)
		if errors.Is(err, workspace.ErrConflict) { // the condition is one of the Commit
			d, err = w.fs.describe(w.name), nil
		}
		if err != nil {
			return w.failed(err)
		}
		upload, err := w.fs.beginUpload(w.ctx, w.fs.key(w.name), d, w.opts)
		if err != nil {
			return w.failed(err)
		}
		w.upload = upload
	}
	if err := w.upload.send(w.part); err != nil {
		return w.failed(err)
	}
	w.part = make([]byte, 0, w.fs.opts.PartSize)
	return nil
}

// Commit implements [workspace.Writer].
func (w *writer) Commit() (workspace.Version, error) {
	if w.done {
		return "", ops.Error(ops.Create, w.name, fs.ErrClosed, nil)
	}
	if err := w.ctx.Err(); err != nil {
		return "", ops.Error(ops.Create, w.name, err, nil)
	}
	w.done = true
	etag, err := w.commit()
	if err != nil {
		w.discard()
		return "", w.failed(err)
	}
	w.upload = nil
	w.made()
	w.fs.watches.wrote(object{size: w.size, etag: etag}.info(w.name))
	return versionOf(etag), nil
}

func (w *writer) failed(err error) error {
	return w.fs.writeError(w.ctx, ops.Create, w.name, err)
}

func (w *writer) commit() (etag string, err error) {
	if w.upload == nil {
		d, err := w.fs.describeNext(w.ctx, w.name, w.opts)
		if err != nil {
			return "", err
		}
		return w.fs.put(w.ctx, w.fs.key(w.name), w.part, d, w.opts)
	}
	if err := w.upload.send(w.part); err != nil {
		return "", err
	}
	return w.upload.complete()
}

// Close implements [workspace.Writer].
func (w *writer) Close() error {
	w.done = true
	w.discard()
	return nil
}

// discard aborts the upload, if there is one.
func (w *writer) discard() {
	if w.upload != nil {
		w.upload.abort()
	}
	w.upload, w.part = nil, nil
}
