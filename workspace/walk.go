package workspace

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// WalkOptions narrow a walk.
type WalkOptions struct {
	// After leaves out every path that is not bytewise greater than it, the
	// directories on its way among them. Empty means from the start.
	After string
	// TypesOnly says that fn needs of each entry no more than Name, Path and Type.
	// The other fields may be zero, which saves a folder from describing files one by
	// one.
	TypesOnly bool
}

// WalkFunc is called for each entry of a walk. If err is not nil, the directory
// info could not be listed; such a call comes after the one that reported the
// directory, and only Name, Path and Type of info are set. Returning
// [fs.SkipDir] for a directory leaves out all below it, [fs.SkipAll] ends the
// walk without an error, any other error ends it with that error, and nil
// continues it. A WalkFunc may call the FileSystem.
type WalkFunc func(info FileInfo, err error) error

// Walker is implemented by a [FileSystem] that can list a tree at less than
// the cost of listing each of its directories.
type Walker interface {
	// Walk calls fn for everything below dir, in bytewise order of the paths
	// ("a", "a-b", "a/b"), but not for dir itself.
	// Symlinks below dir are reported and not followed. fn is never called
	// concurrently.
	//
	// # Errors
	//
	// [fs.ErrNotExist] if dir does not exist, [ErrNotDir] if it is not a
	// directory, and what fn returns.
	Walk(ctx context.Context, dir string, opts *WalkOptions, fn WalkFunc) error
}

// Walk walks by fsys's [Walker], and without one by listing each directory in
// pages.
//
// # Errors
//
// Those of [Walker].
func Walk(ctx context.Context, fsys FileSystem, dir string, opts *WalkOptions, fn WalkFunc) error {
	if walker, ok := As[Walker](fsys); ok {
		return walker.Walk(ctx, dir, opts, fn)
	}
	w := lsWalk{ctx: ctx, fsys: fsys, fn: fn}
	if opts != nil {
		w.after = opts.After
	}
	_, base := Split(dir)
	err := w.list(FileInfo{Name: base, Path: dir, Type: TypeDirectory}, true)
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

// lsPage is how many entries a walk by Ls asks for at a time.
const lsPage = 1000

// lsWalk is one walk by Ls.
type lsWalk struct {
	ctx   context.Context
	fsys  FileSystem
	fn    WalkFunc
	after string
}

// list reports the children of dir, and all below them. The children of a
// directory "a" come after its sibling "a-b", because "/" is greater than "-". So
// a directory that has been reported waits in pending until a sibling is greater
// than its name with a slash. For the children a, a-b, a.go and a0, where a and
// a-b are directories:
//
//	sibling   pending   reported
//	a         -         a
//	a-b       a         a-b               "a/" is greater than "a-b", so a waits
//	a.go      a, a-b    a-b/..., a.go     "a-b/" is less than "a.go", and "a/" is greater
//	a0        a         a/..., a0         "a/" is less than "a0"
//
// pending is a stack: the name of each directory in it begins with the name of
// the one before.
func (w *lsWalk) list(dir FileInfo, top bool) error {
	var pending []FileInfo
	page := &LsOptions{Limit: lsPage}
	for {
		children, err := w.fsys.Ls(w.ctx, dir.Path, page)
		if err != nil {
			return w.unlisted(dir, top, err)
		}
		for _, child := range children {
			if err := w.ctx.Err(); err != nil {
				return ops.Error(ops.Walk, dir.Path, err, nil)
			}
			if pending, err = w.descend(pending, child.Name); err != nil {
				return err
			}
			enter, err := w.visit(child)
			if err != nil {
				return err
			}
			if enter {
				pending = append(pending, child)
			}
		}
		if len(children) < lsPage {
			_, err := w.descend(pending, "")
			return err
		}
		page.After = children[len(children)-1].Name
	}
}

// unlisted handles the error of a directory that could not be listed. For the
// walk's own directory it is the result. A directory that was removed since it
// was reported is ignored, as is one that is not greater than After. In any other
// case fn decides.
func (w *lsWalk) unlisted(dir FileInfo, top bool, err error) error {
	switch {
	case top, w.ctx.Err() != nil:
		return ops.Rename(err, ops.Walk, dir.Path)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrNotDir), errors.Is(err, ErrSymlink), dir.Path <= w.after:
		return nil
	}
	err = w.fn(FileInfo{Name: dir.Name, Path: dir.Path, Type: TypeDirectory}, ops.Rename(err, ops.Walk, dir.Path))
	if errors.Is(err, fs.SkipDir) {
		return nil
	}
	return err
}

// visit reports child and returns whether to list its children.
func (w *lsWalk) visit(child FileInfo) (enter bool, err error) {
	// All below "a" is less than "a0", as "0" follows "/".
	enter = child.IsDir() && (w.after == "" || child.Path+"0" > w.after)
	if child.Path <= w.after {
		return enter, nil
	}
	err = w.fn(child, nil)
	if child.IsDir() && errors.Is(err, fs.SkipDir) {
		return false, nil
	}
	return enter, err
}

// descend lists the directories on top of pending whose children come before
// the sibling next, all of them if next is empty.
func (w *lsWalk) descend(pending []FileInfo, next string) ([]FileInfo, error) {
	for len(pending) > 0 {
		dir := pending[len(pending)-1]
		if next != "" && dir.Name+"/" > next {
			return pending, nil
		}
		pending = pending[:len(pending)-1]
		if err := w.list(dir, false); err != nil {
			return pending, err
		}
	}
	return pending, nil
}
