package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy/internal/shown"
)

// Mkdir implements [workspace.FileSystem].
func (r *RestrictedFS) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	recursive := opts != nil && opts.Recursive
	return r.approved(ctx, ops.Mkdir, name, func(r *RestrictedFS) error {
		return r.at(ctx, ops.Mkdir, onMkdir, name, recursive, func(p resolved) error { return r.mkdir(ctx, p, opts, recursive) })
	})
}

func (r *RestrictedFS) mkdir(ctx context.Context, p resolved, opts *workspace.MkdirOptions, recursive bool) error {
	if err := r.question.confirmName(ctx, OpMkdir, p, recursive); err != nil {
		return err
	}
	err := p.files.Mkdir(ctx, p.target, opts)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, workspace.ErrNotDir) {
		if err := r.checkDir(ctx, ops.Mkdir, p); err != nil {
			return err
		}
	}
	if recursive {
		return r.concealChange(ctx, ops.Mkdir, p, err)
	}
	return r.conceal(ctx, ops.Mkdir, p, err)
}

// Rm implements [workspace.FileSystem]. It does not remove a directory that holds
// a denied name, nor anything in it.
func (r *RestrictedFS) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	return r.approved(ctx, ops.Rm, name, func(r *RestrictedFS) error {
		return r.at(ctx, ops.Rm, onDelete, name, false, func(p resolved) error { return r.rm(ctx, p, opts) })
	})
}

// rm removes p, if nothing in it is denied.
func (r *RestrictedFS) rm(ctx context.Context, p resolved, opts *workspace.RmOptions) error {
	if p.name == "." {
		return ops.Error(ops.Rm, p.name, fs.ErrInvalid, errors.New("the root cannot be removed"))
	}
	err := r.checkDir(ctx, ops.Rm, p)
	if err != nil {
		return err
	}
	recursive := opts != nil && opts.Recursive
	if p.access < all && recursive {
		err = r.rmTree(ctx, p)
	} else if err = r.confirmRm(ctx, p, recursive); err == nil {
		err = p.files.Rm(ctx, p.target, opts)
	}
	if errors.Is(err, workspace.ErrNotEmpty) {
		return r.notEmpty(ctx, p, err)
	}
	return r.conceal(ctx, ops.Rm, p, err)
}

// confirmRm is [question.confirm] for the removal of p.
func (r *RestrictedFS) confirmRm(ctx context.Context, p resolved, recursive bool) error {
	_, err := r.question.confirm(Request{Op: OpDelete, Recursive: recursive}, p, "", func() (shown.State, error) {
		return shown.Tree(ctx, p.files, p.target, false, recursive)
	})
	return err
}

// notEmpty returns the error of a directory that is not empty: if it holds only
// hidden names, that it may not be removed. No policy hides names that no file system
// lists, such as those that are not UTF-8.
func (r *RestrictedFS) notEmpty(ctx context.Context, p resolved, err error) error {
	first := &workspace.LsOptions{Limit: 1}
	shown, shownErr := r.Ls(ctx, p.name, first)
	listed, listedErr := p.files.Ls(ctx, p.target, first)
	switch {
	case shownErr != nil || len(shown) > 0:
		return ops.Rename(err, ops.Rm, p.name)
	case listedErr == nil && len(listed) == 0:
		return ops.Error(ops.Rm, p.name, workspace.ErrNotEmpty, errors.New("it holds names that no listing shows"))
	}
	return ops.Error(ops.Rm, p.name, workspace.ErrPolicy, &DeniedError{decision: Decision{Op: OpDelete, Effect: Deny, Reason: holdsHidden}})
}

// holdsHidden is the reason for a directory that holds a hidden name for which the
// operation is denied.
const holdsHidden = "it holds names that may not be used"

// holdsDenied is the error of a directory that holds child, for which the
// operation is denied. It names child unless that is hidden.
func (r *RestrictedFS) holdsDenied(op string, p, child resolved, t workspace.FileType) error {
	d := r.rules.decision(child.need, child.target, r.rules.verdict(child.need, child.target))
	if r.child(p, onList, child.name).shows(t) {
		d.Reason = fmt.Sprintf("it holds %s: %s", strings.TrimPrefix(child.name, prefixOf(p.name)), d.Reason)
	} else {
		d.Reason = holdsHidden
	}
	return ops.Error(op, p.name, workspace.ErrPolicy, &DeniedError{decision: d})
}

// rmTree removes p and all below it. It removes one name after the other, and
// whole directories only where everything is allowed, so that it removes no name
// that it has not tested: a directory with such a name stays. Where only soft rules forbid
// something below, the test is enough: the store removes everything at once.
func (r *RestrictedFS) rmTree(ctx context.Context, p resolved) error {
	info, err := p.files.Stat(ctx, p.target)
	if err != nil {
		return err
	}
	var below []resolved
	if info.IsDir() {
		if below, err = r.listBelow(ctx, ops.Rm, p, nil); err != nil {
			return err
		}
	}
	if err := r.confirmRm(ctx, p, true); err != nil {
		return err
	}
	if !info.IsDir() {
		return p.files.Rm(ctx, p.target, nil)
	}
	if r.rules.judge(onDelete, p.target, false).access == all {
		return p.files.Rm(ctx, p.target, &workspace.RmOptions{Recursive: true})
	}
	var left error // of the first directory that holds names that no listing shows
	for _, child := range slices.Backward(below) {
		err := p.files.Rm(ctx, child.target, &workspace.RmOptions{Recursive: child.access == all})
		switch {
		case errors.Is(err, workspace.ErrNotEmpty):
			left = cmp.Or(left, err)
		case err != nil && !errors.Is(err, fs.ErrNotExist): // else someone else removed it
			return err
		}
	}
	if left == nil {
		left = p.files.Rm(ctx, p.target, nil)
	}
	return left
}

// listBelow returns the names below the directory p, in order of paths. It
// returns an error if what p needs is denied for one of them, or if moved, which
// may be nil, returns a name for one that is denied. Without moved, it does not
// list directories in which all is allowed.
func (r *RestrictedFS) listBelow(ctx context.Context, op string, p resolved, moved func(workspace.FileInfo) resolved) ([]resolved, error) {
	var names []resolved
	err := p.walk(ctx, p.files, nil, func(info workspace.FileInfo, err error) error {
		if err != nil {
			return err
		}
		child := r.child(p, p.need, info.Path)
		if !child.shows(info.Type) {
			return r.holdsDenied(op, p, child, info.Type)
		}
		if moved != nil {
			if to := moved(info); !to.shows(info.Type) {
				return r.holdsDenied(op, p, rebased(child, to), info.Type)
			}
		}
		names = append(names, child)
		if child.access == all && moved == nil && info.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return names, unstop(err)
}

// rebased returns child with what is denied at its destination.
func rebased(child, to resolved) resolved {
	child.target, child.need = to.target, to.need
	return child
}

// Move implements [workspace.Mover]. It does not move a directory that holds a
// denied name, or one that would be denied at the destination.
func (r *RestrictedFS) Move(ctx context.Context, source, destination string) error {
	return r.approved(ctx, ops.Move, source, func(r *RestrictedFS) error {
		return r.atPair(ctx, ops.Move, onMove|onRead, source, destination, false, func(from, to resolved) error {
			return r.move(ctx, from, to)
		})
	})
}

func (r *RestrictedFS) move(ctx context.Context, from, to resolved) error {
	if from.name == "." {
		return ops.Error(ops.Move, from.name, fs.ErrInvalid, errors.New("the root cannot be moved"))
	}
	if err := r.checkMove(ctx, from, to); err != nil {
		return err
	}
	if err := r.question.confirmPair(ctx, OpMove, from, to, false); err != nil {
		return err
	}
	err := workspace.Move(ctx, from.files, from.target, to.target)
	if errors.Is(err, fs.ErrExist) {
		if err := r.checkDir(ctx, ops.Move, to); err != nil {
			return err
		}
	}
	return r.concealPair(ctx, ops.Move, from, to, err)
}

// checkMove returns the error of a move of a denied name, or to one. Each
// directory that the move creates needs onMkdir, too.
func (r *RestrictedFS) checkMove(ctx context.Context, from, to resolved) error {
	if err := r.checkDir(ctx, ops.Move, from); err != nil {
		return err
	}
	dir := r.child(to, onWrite|onMkdir, to.name)
	if from.access == all && dir.access == all {
		return nil
	}
	info, err := from.files.Stat(ctx, from.target)
	switch {
	case err != nil:
		return r.conceal(ctx, ops.Move, from, err)
	case !info.IsDir() && to.access == traverse:
		return r.occupied(ctx, ops.Move, to)
	case !info.IsDir(), strings.HasPrefix(to.target, prefixOf(from.target)): // the store refuses the latter
		return nil
	case !dir.shows(info.Type):
		return r.traverseDenial(ops.Move, dir)
	}
	_, err = r.listBelow(ctx, ops.Move, from, func(info workspace.FileInfo) resolved {
		need := onWrite
		if info.IsDir() {
			need |= onMkdir
		}
		return r.child(to, need, workspace.Join(to.name, strings.TrimPrefix(info.Path, prefixOf(from.name))))
	})
	return err
}
