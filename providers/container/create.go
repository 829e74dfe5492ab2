package container

import (
	"bytes"
	"context"
	"io/fs"
	"path"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// maxBuffered is how much of a created file waits here before it is sent.
const maxBuffered = 1 << 20

// Create implements [workspace.Creator]. What is written goes to a temporary
// file in the container, 1 MiB at a time.
func (f *FS) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
	var o workspace.WriteOptions
	if opts != nil {
		o = *opts
	}
	if err := f.check(ctx, ops.Create, name); err != nil {
		return nil, err
	}
	if err := ops.CheckConditions(ops.Create, name, string(o.IfVersion), o.IfNotExist); err != nil {
		return nil, err
	}
	return &writer{ctx: ctx, f: f, name: name, opts: o}, nil
}

// writer is a file that is being written.
type writer struct {
	ctx  context.Context // of Create, which the writer is a part of
	f    *FS
	name string
	opts workspace.WriteOptions

	buf  bytes.Buffer // what has not been sent
	temp *temporary   // nil if there is none
	path string       // of temp in the container; empty if that is not known
	sent int64
	done bool
}

// Write implements [io.Writer].
func (w *writer) Write(p []byte) (int, error) {
	if err := w.usable(); err != nil {
		return 0, err
	}
	w.buf.Write(p)
	if w.buf.Len() < maxBuffered {
		return len(p), nil
	}
	if err := w.flush(); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *writer) usable() error {
	if w.done {
		return ops.Error(ops.Create, w.name, fs.ErrClosed, nil)
	}
	return w.f.check(w.ctx, ops.Create, w.name)
}

// flush sends what is buffered.
func (w *writer) flush() error {
	data := w.buf.Bytes()
	defer w.buf.Reset()
	w.sent += int64(len(data))
	if w.path == "" {
		w.temp = w.f.newTemporary(path.Dir(w.name))
		var err error
		w.path, err = w.f.spool(w.ctx, ops.Create, w.name, w.temp, data)
		if err != nil {
			w.temp.end(w.ctx, err)
		}
		return err
	}
	call := act("append", w.path, shell.Number(int64(len(data))))
	call.Input, call.Size = bytes.NewReader(data), int64(len(data))
	_, err := w.f.do(w.ctx, ops.Create, w.name, call)
	return err
}

// Commit implements [workspace.Writer].
func (w *writer) Commit() (workspace.Version, error) {
	if err := w.usable(); err != nil {
		return "", err
	}
	if w.path == "" && w.buf.Len() <= maxInline {
		w.done = true
		version, err := w.f.WriteFile(w.ctx, w.name, w.buf.Bytes(), &w.opts)
		return version, ops.Rename(err, ops.Create, w.name)
	}
	if err := w.flush(); err != nil {
		return "", err
	}
	version, err := w.f.commit(w.ctx, ops.Create, w.name, w.path, w.sent, w.opts)
	if err == nil {
		w.done = true
		w.temp.end(w.ctx, nil)
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
	if w.path != "" {
		w.temp.discard()
	}
	return nil
}
