package container

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// Exact implements [workspace.Exacter]. To close the view is to close the FS.
// The view reads the files that may match a search one by one, and where the find
// or the rm of the image is not that of GNU it goes through directories one by
// one.
func (f *FS) Exact() (workspace.FileSystem, error) {
	return &FS{shared: f.shared, pool: requests{Pool: f.pool.Pool, exact: true}}, nil
}

// requests makes calls on shells.
type requests struct {
	*shell.Pool
	exact bool // no symlink is followed
}

func (r requests) call(c shell.Call) shell.Call {
	if r.exact {
		c.Args = append([]string{c.Function}, c.Args...)
		c.Function = "exactly"
	}
	return c
}

// Do is that of [shell.Pool].
func (r requests) Do(ctx context.Context, call shell.Call) (body []byte, status int, err error) {
	return r.Pool.Do(ctx, r.call(call))
}

// Read is that of [shell.Pool].
func (r requests) Read(ctx context.Context, call shell.Call, read func(reply io.Reader)) (status int, err error) {
	return r.Pool.Read(ctx, r.call(call), read)
}

// Stream is that of [shell.Pool].
func (r requests) Stream(ctx context.Context, call shell.Call) (*shell.Stream, error) {
	return r.Pool.Stream(ctx, r.call(call))
}

// tree describes, as list does, what is in the directory below of dir, to a depth; see the
// function of the program. A find that goes by paths could be led astray by a
// symlink, so the exact view does not let it go down.
func (f *FS) tree(ctx context.Context, op, dir, below, depth string) ([]entry, error) {
	if !f.pool.exact || f.inside().finds {
		return f.list(ctx, op, dir, ask("tree", dir, below, depth))
	}
	return f.treeByLevel(ctx, op, dir, below, depth)
}

func (f *FS) treeByLevel(ctx context.Context, op, dir, below, depth string) ([]entry, error) {
	all, err := f.list(ctx, op, dir, ask("tree", dir, below, "1"))
	if err != nil {
		return nil, err
	}
	levels := levelsOf(depth)
	level := all
	for deep := 1; deep < levels && len(level) > 0; deep++ {
		var next []entry
		for _, e := range level {
			if e.kind != workspace.TypeDirectory || f.inside().hides(e) {
				continue
			}
			children, err := f.list(ctx, op, dir, ask("tree", dir, workspace.Join(below, e.name), "1"))
			if errors.Is(err, errBelow) || errors.Is(err, fs.ErrNotExist) { // it was removed or replaced
				continue
			}
			if err != nil {
				return nil, err
			}
			for i := range children {
				children[i].name = workspace.Join(e.name, children[i].name)
			}
			next = append(next, children...)
		}
		all, level = append(all, next...), next
	}
	slices.SortFunc(all, byName)
	return all, nil
}

// removeTree removes the directory name with all below it. An rm that goes by
// paths could be led astray by a symlink, so the exact view removes what is in
// the directory one by one if the image has no other.
func (f *FS) removeTree(ctx context.Context, name string) error {
	for attempt := 1; ; attempt++ {
		err := f.removeOne(ctx, name)
		if !errors.Is(err, workspace.ErrNotEmpty) || attempt == maxListings {
			return err
		}
		entries, err := named(f.tree(ctx, ops.Rm, name, ".", ""))
		if err != nil {
			return err
		}
		for _, e := range slices.Backward(entries) {
			err := f.removeOne(ctx, workspace.Join(name, e.name))
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, workspace.ErrNotEmpty) {
				return ops.Rename(err, ops.Rm, name)
			}
		}
	}
}

// removeOne removes a file or an empty directory.
func (f *FS) removeOne(ctx context.Context, name string) error {
	_, err := f.do(ctx, ops.Rm, name, act("remove", append(names(name), "")...))
	return err
}

// levelsOf returns how many levels of a tree are listed for a depth, which is
// empty for all.
func levelsOf(depth string) int {
	if levels, err := strconv.Atoi(depth); err == nil {
		return levels
	}
	return math.MaxInt
}
