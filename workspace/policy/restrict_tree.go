package policy

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// Mkdir implements [workspace.FileSystem].
func (r *RestrictedFS) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	recursive := opts != nil && opts.Recursive
	return r.at(ctx, workspace.OpMkdir, name, recursive, func(p place) error {
		err := r.files.Mkdir(ctx, p.target, opts)
		if errors.Is(err, fs.ErrExist) || errors.Is(err, workspace.ErrNotDir) {
			if err := r.checkDir(ctx, workspace.OpMkdir, p); err != nil {
				return err
			}
		}
		if recursive {
			return r.concealChange(ctx, workspace.OpMkdir, p, err)
		}
		return r.conceal(ctx, workspace.OpMkdir, p, err)
	})
}

// Rm implements [workspace.FileSystem]. A directory that holds a name that is
// denied is not removed, nor anything in it.
func (r *RestrictedFS) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	return r.at(ctx, workspace.OpRm, name, false, func(p place) error { return r.rm(ctx, p, opts) })
}

func (r *RestrictedFS) rm(ctx context.Context, p place, opts *workspace.RmOptions) error {
	if p.name == "." {
		return workspace.NewPathError(workspace.OpRm, p.name, fs.ErrInvalid, errors.New("the root cannot be removed"))
	}
	err := r.checkDir(ctx, workspace.OpRm, p)
	if err != nil {
		return err
	}
	if p.access < whole && opts != nil && opts.Recursive {
		err = r.rmTree(ctx, p)
	} else {
		err = r.files.Rm(ctx, p.target, opts)
	}
	if errors.Is(err, workspace.ErrNotEmpty) {
		return r.notEmpty(ctx, p, err)
	}
	return r.conceal(ctx, workspace.OpRm, p, err)
}

// notEmpty returns the error of a directory that is not empty: if all that
// is in it is denied, it may not be removed.
func (r *RestrictedFS) notEmpty(ctx context.Context, p place, err error) error {
	children, lsErr := r.Ls(ctx, p.name, &workspace.LsOptions{Limit: 1})
	if lsErr == nil && len(children) == 0 {
		return r.holdsDenied(workspace.OpRm, p.name)
	}
	return workspace.RenameError(err, workspace.OpRm, p.name)
}

func (r *RestrictedFS) holdsDenied(op, name string) error {
	return workspace.NewPathError(op, name, workspace.ErrPolicy,
		errors.New("it holds names that are not among the allowed paths"))
}

// rmTree removes p and what is below it, one by one but for directories that
// are allowed as a whole, so that nothing is removed that has not been seen to
// be allowed.
func (r *RestrictedFS) rmTree(ctx context.Context, p place) error {
	info, err := r.files.Stat(ctx, p.target)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return r.files.Rm(ctx, p.target, nil)
	}
	inside, err := r.inside(ctx, workspace.OpRm, p, nil)
	if err != nil {
		return err
	}
	for _, child := range slices.Backward(inside) {
		err := r.files.Rm(ctx, child.target, &workspace.RmOptions{Recursive: child.access == whole})
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // gone is what it is to be
			return err
		}
	}
	return r.files.Rm(ctx, p.target, nil)
}

// inside returns what is below the directory p, in order of paths, without
// what is below a directory that is allowed as a whole, if nothing of it is
// denied. also tells of each name whether it is denied for another reason.
func (r *RestrictedFS) inside(ctx context.Context, op string, p place, also func(workspace.FileInfo) bool) ([]place, error) {
	var places []place
	err := p.walk(ctx, r.files, nil, func(info workspace.FileInfo, err error) error {
		child := r.child(p, info.Path)
		switch {
		case err != nil:
			return err
		case !child.shows(info.Type), also != nil && also(info):
			return r.holdsDenied(op, p.name)
		}
		places = append(places, child)
		if child.access == whole && also == nil && info.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return places, unstop(err)
}

// Move implements [workspace.Mover]. A directory that holds a name that is
// denied, or would be denied at the destination, is not moved.
func (r *RestrictedFS) Move(ctx context.Context, source, destination string) error {
	return r.atPair(ctx, workspace.OpMove, source, destination, false, func(from, to place) error {
		if source == "." {
			return workspace.NewPathError(workspace.OpMove, source, fs.ErrInvalid, errors.New("the root cannot be moved"))
		}
		if err := r.checkMove(ctx, from, to); err != nil {
			return err
		}
		err := workspace.Move(ctx, r.files, from.target, to.target)
		if errors.Is(err, fs.ErrExist) {
			if err := r.checkDir(ctx, workspace.OpMove, to); err != nil {
				return err
			}
		}
		return r.concealPair(ctx, workspace.OpMove, from, to, err)
	})
}

// checkMove returns the error of a move of something that is denied, or to a
// name that is.
func (r *RestrictedFS) checkMove(ctx context.Context, from, to place) error {
	if err := r.checkDir(ctx, workspace.OpMove, from); err != nil {
		return err
	}
	if from.access == whole && to.access == whole {
		return nil
	}
	info, err := r.files.Stat(ctx, from.target)
	switch {
	case err != nil:
		return r.conceal(ctx, workspace.OpMove, from, err)
	case !info.IsDir() && to.access == leads:
		return r.occupied(ctx, workspace.OpMove, to)
	case !info.IsDir(), strings.HasPrefix(to.target, prefixOf(from.target)): // which the store refuses
		return nil
	}
	_, err = r.inside(ctx, workspace.OpMove, from, func(info workspace.FileInfo) bool {
		moved := r.child(to, workspace.Join(to.name, strings.TrimPrefix(info.Path, prefixOf(from.name))))
		return !moved.shows(info.Type)
	})
	return err
}
