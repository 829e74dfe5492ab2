package policy

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Mkdir implements [workspace.FileSystem].
func (r *RestrictedFS) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	recursive := opts != nil && opts.Recursive
	return r.at(ctx, ops.Mkdir, name, recursive, func(p resolved) error {
		err := r.files.Mkdir(ctx, p.target, opts)
		if errors.Is(err, fs.ErrExist) || errors.Is(err, workspace.ErrNotDir) {
			if err := r.checkDir(ctx, ops.Mkdir, p); err != nil {
				return err
			}
		}
		if recursive {
			return r.concealChange(ctx, ops.Mkdir, p, err)
		}
		return r.conceal(ctx, ops.Mkdir, p, err)
	})
}

// Rm implements [workspace.FileSystem]. It does not remove a directory that holds
// a denied name, nor anything in it.
func (r *RestrictedFS) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	return r.at(ctx, ops.Rm, name, false, func(p resolved) error { return r.rm(ctx, p, opts) })
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
	if p.access < all && opts != nil && opts.Recursive {
		err = r.rmTree(ctx, p)
	} else {
		err = r.files.Rm(ctx, p.target, opts)
	}
	if errors.Is(err, workspace.ErrNotEmpty) {
		return r.notEmpty(ctx, p, err)
	}
	return r.conceal(ctx, ops.Rm, p, err)
}

// notEmpty returns the error of a directory that is not empty: if it holds only
// denied names, that it may not be removed.
func (r *RestrictedFS) notEmpty(ctx context.Context, p resolved, err error) error {
	children, lsErr := r.Ls(ctx, p.name, &workspace.LsOptions{Limit: 1})
	if lsErr == nil && len(children) == 0 {
		return r.holdsDenied(ops.Rm, p.name)
	}
	return ops.Rename(err, ops.Rm, p.name)
}

// holdsDenied is the error of a directory that holds a denied name.
func (r *RestrictedFS) holdsDenied(op, name string) error {
	return ops.Error(op, name, workspace.ErrPolicy,
		errors.New("it holds names that may not be used"))
}

// rmTree removes p and all below it. It removes one name after the other, and
// whole directories only where everything is allowed, so that it removes no name
// that it has not tested.
func (r *RestrictedFS) rmTree(ctx context.Context, p resolved) error {
	info, err := r.files.Stat(ctx, p.target)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return r.files.Rm(ctx, p.target, nil)
	}
	below, err := r.listBelow(ctx, ops.Rm, p, nil)
	if err != nil {
		return err
	}
	for _, child := range slices.Backward(below) {
		err := r.files.Rm(ctx, child.target, &workspace.RmOptions{Recursive: child.access == all})
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // else someone else removed it
			return err
		}
	}
	return r.files.Rm(ctx, p.target, nil)
}

// listBelow returns the names below the directory p, in order of paths. It
// returns an error if one of them is denied, or refused by refuses, which may be
// nil. Without refuses, it does not list directories in which all is allowed.
func (r *RestrictedFS) listBelow(ctx context.Context, op string, p resolved, refuses func(workspace.FileInfo) bool) ([]resolved, error) {
	var names []resolved
	err := p.walk(ctx, r.files, nil, func(info workspace.FileInfo, err error) error {
		child := r.child(p, info.Path)
		switch {
		case err != nil:
			return err
		case !child.shows(info.Type), refuses != nil && refuses(info):
			return r.holdsDenied(op, p.name)
		}
		names = append(names, child)
		if child.access == all && refuses == nil && info.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return names, unstop(err)
}

// Move implements [workspace.Mover]. It does not move a directory that holds a
// denied name, or one that would be denied at the destination.
func (r *RestrictedFS) Move(ctx context.Context, source, destination string) error {
	return r.atPair(ctx, ops.Move, source, destination, false, func(from, to resolved) error {
		if source == "." {
			return ops.Error(ops.Move, source, fs.ErrInvalid, errors.New("the root cannot be moved"))
		}
		if err := r.checkMove(ctx, from, to); err != nil {
			return err
		}
		err := workspace.Move(ctx, r.files, from.target, to.target)
		if errors.Is(err, fs.ErrExist) {
			if err := r.checkDir(ctx, ops.Move, to); err != nil {
				return err
			}
		}
		return r.concealPair(ctx, ops.Move, from, to, err)
	})
}

// checkMove returns the error of a move of a denied name, or to one.
func (r *RestrictedFS) checkMove(ctx context.Context, from, to resolved) error {
	if err := r.checkDir(ctx, ops.Move, from); err != nil {
		return err
	}
	if from.access == all && to.access == all {
		return nil
	}
	info, err := r.files.Stat(ctx, from.target)
	switch {
	case err != nil:
		return r.conceal(ctx, ops.Move, from, err)
	case !info.IsDir() && to.access == traverse:
		return r.occupied(ctx, ops.Move, to)
	case !info.IsDir(), strings.HasPrefix(to.target, prefixOf(from.target)): // the store refuses the latter
		return nil
	}
	_, err = r.listBelow(ctx, ops.Move, from, func(info workspace.FileInfo) bool {
		moved := r.child(to, workspace.Join(to.name, strings.TrimPrefix(info.Path, prefixOf(from.name))))
		return !moved.shows(info.Type)
	})
	return err
}
