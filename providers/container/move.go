package container

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// Move implements [workspace.Mover].
func (f *FS) Move(ctx context.Context, source, destination string) error {
	if source == "." {
		return ops.Error(ops.Move, source, fs.ErrInvalid, errors.New("the root cannot be moved"))
	}
	temp := f.newTemporary(path.Dir(destination)) // for the lock
	_, err := f.between(ctx, ops.Move, source, destination, "move")
	temp.end(ctx, err)
	return err
}

// Copy implements [workspace.Copier]. The copy has the permission bits of the
// source.
func (f *FS) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	temp := f.newTemporary(path.Dir(destination))
	body, err := f.between(ctx, ops.Copy, source, destination, "duplicate", temp.name)
	temp.end(ctx, err)
	if err != nil {
		return "", err
	}
	return f.newVersion(ops.Copy, destination, body)
}

// between makes a call for two names.
func (f *FS) between(ctx context.Context, op, source, destination, function string, more ...string) ([]byte, error) {
	for _, name := range []string{source, destination} {
		if err := f.check(ctx, op, name); err != nil {
			return nil, err
		}
	}
	leave, err := f.writers.passAlone(ctx)
	if err != nil {
		return nil, ops.Error(op, source, err, nil)
	}
	defer leave()
	args := append(append(names(source), names(destination)...), more...)
	for attempt := 1; ; attempt++ { // nothing has been done where somebody was faster
		body, err := f.pair(ctx, op, source, destination, act(function, args...))
		if !errors.Is(err, errOvertaken) || attempt == maxWriteAttempts {
			return body, err
		}
	}
}

// pair makes a call whose status says which of two names is meant.
func (f *FS) pair(ctx context.Context, op, source, destination string, call shell.Call) ([]byte, error) {
	body, status, err := f.pool.Do(ctx, call)
	switch {
	case err != nil:
		return nil, f.broken(op, source, err)
	case status > statusOther:
		return nil, statusError(op, destination, status-statusOther, body)
	case status != 0:
		return nil, statusError(op, source, status, body)
	}
	return body, nil
}
