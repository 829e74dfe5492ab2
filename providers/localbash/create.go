package localbash

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/workspace"
)

// Create implements [workspace.Creator]. What is written goes to a temporary
// file. If the folder of the file is removed meanwhile, Commit is
// [workspace.ErrUnavailable].
func (f *FS) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
	o, err := f.checkWrite(ctx, workspace.OpCreate, name, opts)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		d, err := f.begin(ctx, name, o, newPerm)
		if err == nil {
			return &writer{ctx: ctx, name: name, draft: d}, nil
		}
		if !errors.Is(err, errOvertaken) || attempt == maxWriteAttempts {
			return nil, f.fault(workspace.OpCreate, name, err)
		}
	}
}

// writer is a draft in the hands of a caller. It keeps the context of its
// call, as the end of that is to end it.
type writer struct {
	ctx   context.Context
	name  string
	draft *draft
	done  bool
}

// Write implements [io.Writer].
func (w *writer) Write(p []byte) (int, error) {
	if err := w.usable(); err != nil {
		return 0, err
	}
	n, err := w.draft.file.Write(p)
	return n, w.fault(err)
}

// Commit implements [workspace.Writer].
func (w *writer) Commit() (workspace.Version, error) {
	if err := w.usable(); err != nil {
		return "", err
	}
	w.done = true
	defer w.draft.discard()
	version, err := w.draft.commit(w.ctx)
	return version, w.fault(err)
}

// Close implements [workspace.Writer].
func (w *writer) Close() error {
	if !w.done {
		w.done = true
		w.draft.discard()
	}
	return nil
}

func (w *writer) usable() error {
	if w.done {
		return workspace.NewPathError(workspace.OpCreate, w.name, fs.ErrClosed, nil)
	}
	return w.fault(w.ctx.Err())
}

func (w *writer) fault(err error) error {
	return w.draft.fsys.fault(workspace.OpCreate, w.name, err)
}
