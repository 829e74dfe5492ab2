package objectstore

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/bucket"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
)

// WriteFile implements [provider.Store]: one request into a directory that is
// known, two into one that exists, three into a new one.
//
// With IfVersion it is one request if the version was read or written in the
// last moments ([Options].FolderTTL), and two otherwise. The file keeps its
// content type, its other headers, its user metadata, its storage class and its
// tags; to read tags takes one request more. Without IfVersion the write creates
// a new object, with the content type that its ending stands for.
func (t *tree) WriteFile(ctx context.Context, name string, data []byte, opts workspace.WriteOptions) (workspace.Version, error) {
	learn, err := t.validate(ctx, name, opts)
	if err != nil {
		return "", err
	}
	key := t.prefix.Key(name)
	d, err := t.bucket.Replaces(ctx, key, t.describe(name), opts)
	if err != nil {
		return "", t.writeError(ctx, name, err)
	}
	etag, err := t.bucket.Put(ctx, key, data, d, opts)
	if err != nil {
		return "", t.writeError(ctx, name, err)
	}
	t.bucket.Remember(key, etag, d)
	learn()
	return t.wrote(name, int64(len(data)), etag), nil
}

// wrote tells the watches of a file that was written, and returns its version.
func (t *tree) wrote(name string, size int64, etag string) workspace.Version {
	t.watches.wrote(object.Object{Size: size, ETag: etag}.Info(name))
	return object.VersionOf(etag)
}

// validate checks what can be checked before a file is written. It returns what
// to call once it has been. A file that must have a version need not be looked
// for: if it has, there is nothing to be found out.
func (t *tree) validate(ctx context.Context, name string, opts workspace.WriteOptions) (learn func(), err error) {
	if opts.IfVersion != "" && name != "." {
		return func() {}, nil
	}
	learn, err = t.checkParent(ctx, name)
	if opts.IfNotExist && errors.Is(err, workspace.ErrIsDir) {
		err = fs.ErrExist
	}
	return learn, err
}

// writeError returns the error of a write that failed with err. A version that
// is not there may be because a directory is, or because the name lies in a file.
func (t *tree) writeError(ctx context.Context, name string, err error) error {
	if !errors.Is(err, workspace.ErrConflict) {
		return err
	}
	if _, err := t.checkParent(ctx, name); err != nil {
		return err
	}
	return workspace.ErrConflict
}

// Create implements [provider.Creator]. A file of at most one part is written
// in one request, a longer one as a multipart upload, whose parts are sent while
// it is written, some at a time; it holds those in memory. An upload that is not
// committed is aborted. That the name is free is tested before the first part is
// sent and by Commit, as much can happen between the two.
func (t *tree) Create(ctx context.Context, name string, opts workspace.WriteOptions) (workspace.Writer, error) {
	return &writer{tree: t, ctx: ctx, name: name, key: t.prefix.Key(name), opts: opts}, nil
}

// writer is a file that is being written.
type writer struct {
	tree   *tree
	ctx    context.Context
	name   string
	key    string
	opts   workspace.WriteOptions
	part   []byte         // what has not been sent
	size   int64          // of all that was written
	upload *bucket.Upload // nil until a part is full
}

// Write implements [io.Writer]. A part is sent only when the byte after it comes, so a
// file of one part is a single PUT.
func (w *writer) Write(p []byte) (int, error) {
	partSize := w.tree.opts.PartSize
	written := 0
	for len(p) > 0 {
		if int64(len(w.part)) == partSize {
			if err := w.send(); err != nil {
				return written, w.failed(err)
			}
		}
		n := min(len(p), int(partSize)-len(w.part))
		w.part = append(w.part, p[:n]...)
		p = p[n:]
		written += n
		w.size += int64(n)
	}
	return written, nil
}

// send sends the part that is full. Something follows it, or it would not be
// sent.
func (w *writer) send() error {
	b := w.tree.bucket
	if w.upload == nil {
		if _, err := w.tree.validate(w.ctx, w.name, w.opts); err != nil {
			return err
		}
		fresh := w.tree.describe(w.name)
		d, err := b.Replaces(w.ctx, w.key, fresh, w.opts)
		if errors.Is(err, workspace.ErrConflict) { // the condition is one of the Commit
			d, err = fresh, nil
		}
		if err != nil {
			return err
		}
		if w.upload, err = b.BeginUpload(w.ctx, w.key, d, w.opts); err != nil {
			return err
		}
	}
	if err := w.upload.Send(w.part); err != nil {
		return err
	}
	w.part = make([]byte, 0, w.tree.opts.PartSize)
	return nil
}

// failed returns the error of a request as callers see it.
func (w *writer) failed(err error) error { return w.tree.writeError(w.ctx, w.name, err) }

// Commit implements [workspace.Writer].
func (w *writer) Commit() (workspace.Version, error) {
	learn, err := w.tree.validate(w.ctx, w.name, w.opts)
	etag := ""
	if err == nil {
		etag, err = w.commit()
	}
	if err != nil {
		w.discard()
		return "", w.failed(err)
	}
	w.upload = nil
	learn()
	return w.tree.wrote(w.name, w.size, etag), nil
}

// commit stores the file: with one PUT if it fits into a part, or else by completing
// the upload. Before it returns, nobody sees anything of the file.
func (w *writer) commit() (etag string, err error) {
	b := w.tree.bucket
	if w.upload == nil {
		d, err := b.Replaces(w.ctx, w.key, w.tree.describe(w.name), w.opts)
		if err != nil {
			return "", err
		}
		return b.Put(w.ctx, w.key, w.part, d, w.opts)
	}
	if err := w.upload.Send(w.part); err != nil {
		return "", err
	}
	return w.upload.Complete()
}

// Close implements [workspace.Writer].
func (w *writer) Close() error {
	w.discard()
	return nil
}

// discard aborts the upload, if there is one.
func (w *writer) discard() {
	if w.upload != nil {
		w.upload.Abort()
	}
	w.upload, w.part = nil, nil
}
