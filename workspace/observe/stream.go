package observe

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"sync"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Open implements [workspace.Opener]. The operation ends when the stream is closed.
func (f *fileSystem) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	o, err := f.begin(ctx, ops.Open, name, "")
	if err != nil {
		return nil, workspace.FileInfo{}, err
	}
	stream, info, err := workspace.Open(o.ctx, f.fsys, name, opts)
	if err != nil {
		return nil, workspace.FileInfo{}, o.end(err)
	}
	o.VersionBefore = info.Version
	return &reader{stream: stream, transfer: transfer{o: o}}, info, nil
}

// transfer is the observation of a stream, which can be closed by another goroutine
// than the one that uses it.
type transfer struct {
	mu    sync.Mutex
	o     observation // guarded by mu
	err   error       // guarded by mu; the first one of the stream
	ended bool        // guarded by mu
}

// moved counts n bytes, and keeps the error of a stream that breaks off.
func (t *transfer) moved(n int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.o.Bytes += int64(n)
	if err != io.EOF && t.err == nil {
		t.err = err
	}
}

// end ends the operation with the first error of the stream, or else with err. Only
// the first call counts, and returns true.
func (t *transfer) end(version workspace.Version, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	t.ended = true
	if t.err == nil {
		t.err = err
	}
	if t.o.Op == ops.Create {
		t.o.VersionAfter = version
		if t.err != nil {
			t.o.Bytes = 0 // the file is as it was
		}
	}
	t.o.end(t.err)
	return true
}

// reader is a stream of Open.
type reader struct {
	stream io.ReadCloser
	transfer
}

// Read implements [io.Reader].
func (r *reader) Read(p []byte) (int, error) {
	n, err := r.stream.Read(p)
	r.moved(n, err)
	return n, err
}

// Close implements [io.Closer].
func (r *reader) Close() error {
	err := r.stream.Close()
	r.end("", err)
	return err
}

// Create implements [workspace.Creator]. The operation ends with the commit, or when
// the writer is closed without one.
func (f *fileSystem) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
	o, err := f.beginChange(ctx, ops.Create, name, "", opts)
	if err != nil {
		return nil, err
	}
	w, err := workspace.Create(o.ctx, f.fsys, name, opts)
	if err != nil {
		return nil, o.end(err)
	}
	return &writer{stream: w, name: name, transfer: transfer{o: o}}, nil
}

// writer is a stream of Create. It is for one goroutine.
type writer struct {
	stream    workspace.Writer
	name      string
	committed bool
	transfer
}

// Write implements [workspace.Writer].
func (w *writer) Write(p []byte) (int, error) {
	n, err := w.stream.Write(p)
	w.moved(n, err)
	return n, err
}

// Commit implements [workspace.Writer]. A second one is refused, so that each
// commit is observed.
func (w *writer) Commit() (workspace.Version, error) {
	if w.committed {
		return "", ops.Error(ops.Create, w.name, fs.ErrClosed, nil)
	}
	w.committed = true
	version, err := w.stream.Commit()
	if err == nil {
		w.err = nil // the file is stored, whatever its store has said before
	}
	w.end(version, err)
	return version, err
}

// Close implements [workspace.Writer].
func (w *writer) Close() error {
	err := w.stream.Close()
	w.end("", cmp.Or(err, error(ErrDiscarded)))
	return err
}
