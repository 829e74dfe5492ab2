package patch

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

// Apply makes the changes in one transaction, and returns them with the versions of the
// files. A file that is not as it was when it was planned is an error, and then nothing
// has changed. A transaction in the function of another is a part of it, and is undone with it,
// not by itself. Apply can be called once.
//
// # Errors
//
// [workspace.ErrConflict] for a file that has changed since Plan,
// [errors.ErrUnsupported] if the workspace has no conditional writes or versions, and those of
// [transaction.Run], such as [workspace.ErrPolicy] for a read-only workspace.
//
// A version that no longer is the planned one fails the transaction, which
// undoes what has been changed by then.
func (p *Plan) Apply(ctx context.Context) ([]Change, error) {
	if caps := p.ws.Capabilities(); caps.Write && (!caps.ConditionalWrite || !caps.Versions) {
		return nil, ops.Error(ops.ApplyPatch, ".", errors.ErrUnsupported, errors.New("the workspace has no conditional writes or versions"))
	}
	err := transaction.Run(ctx, p.ws, func(ctx context.Context, tx *workspace.Workspace) error {
		return (&applier{p.planner, tx, map[*result]bool{}}).run(ctx)
	})
	if err != nil {
		return nil, err
	}
	return p.planner.changes(), nil
}

// applier makes the changes of a plan in a transaction. It uses tx for all that
// it does; the workspace of the planner was for the plan alone.
type applier struct {
	*planner
	tx    *workspace.Workspace
	moved map[*result]bool
}

// run makes the changes: what leaves first, so that its names are free. For a
// patch that swaps two names, nothing leaves: both are written, with the
// versions that they had.
func (a *applier) run(ctx context.Context) error {
	for _, r := range a.results {
		if err := a.leave(ctx, r); err != nil {
			return err
		}
	}
	for _, r := range a.results {
		if err := a.write(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// leave moves or removes the file that r is no longer. A move, where it is
// possible, keeps what the file has beside its bytes, such as permission bits.
func (a *applier) leave(ctx context.Context, r *result) error {
	name := r.From
	switch {
	case r.Kind == Deleted:
		name = r.Path
	case r.Kind != Renamed:
		return nil
	}
	if a.places[name].result != nil { // another file gets this name
		return nil
	}
	if err := a.unchanged(ctx, name); err != nil {
		return err
	}
	if r.Kind == Renamed && a.movable(name, r.Path) {
		a.moved[r] = true
		err := a.tx.Move(ctx, name, r.Path)
		if at, ok := errors.AsType[*fs.PathError](err); ok && at.Path == r.Path {
			name = r.Path // the new name is at fault
		}
		return a.conflict(name, err)
	}
	return a.conflict(name, a.tx.Rm(ctx, name, nil))
}

// movable reports whether a file can be moved from one name to another that is free, now
// and without anything else that the patch does.
func (a *applier) movable(from, to string) bool {
	return a.tx.Capabilities().Move && a.disk[to] == nil && !a.belowRemoved(to) && !strings.HasPrefix(from, to+"/")
}

// unchanged returns the error of a file that is not as it was planned on.
func (a *applier) unchanged(ctx context.Context, name string) error {
	info, err := a.tx.Stat(ctx, name)
	if err == nil && info.Version != a.disk[name].version {
		err = ops.Error(ops.ApplyPatch, name, workspace.ErrConflict, nil)
	}
	return a.conflict(name, err)
}

// write writes the file that r is after the change.
//
// A new file must not exist, and a replaced one must have the version of the
// plan. A file that has been moved has perhaps got another version with its
// name, so it is read again and compared. What does not change is not written,
// but its version is checked.
func (a *applier) write(ctx context.Context, r *result) error {
	if r.text == nil {
		return nil
	}
	opts := &workspace.WriteOptions{IfNotExist: true}
	switch before := a.disk[r.Path]; {
	case a.moved[r]:
		data, version, err := a.tx.ReadVersioned(ctx, r.Path, 0)
		if err == nil && !bytes.Equal(data, r.Before) {
			err = ops.Error(ops.ApplyPatch, r.From, workspace.ErrConflict, nil)
		}
		if err != nil || bytes.Equal(r.Before, r.After) {
			r.Version = version
			return a.conflict(r.Path, err)
		}
		opts = &workspace.WriteOptions{IfVersion: version}
	case before != nil:
		if bytes.Equal(r.Before, r.After) && r.Kind == Modified {
			r.Version = before.version
			return a.unchanged(ctx, r.Path)
		}
		opts = &workspace.WriteOptions{IfVersion: before.version}
	}
	version, err := a.tx.WriteFile(ctx, r.Path, r.After, opts)
	r.Version = version
	return a.conflict(r.Path, err)
}

// conflict returns the error of a change that met another program, if err says
// so. The plan has seen each of these names, so one that exists or is missing
// now is the work of somebody else.
func (a *applier) conflict(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return ops.Error(ops.ApplyPatch, name, workspace.ErrConflict, nil)
	}
	return ops.Rename(err, ops.ApplyPatch, name)
}
