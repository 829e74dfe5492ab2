package localbash

import (
	"context"
	"errors"
	"io/fs"
	"sort"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// Ls implements [workspace.FileSystem].
func (f *FS) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	var o workspace.LsOptions
	if opts != nil {
		o = *opts
	}
	if err := f.check(ctx, workspace.OpLs, dir); err != nil {
		return nil, err
	}
	if err := o.Check(dir); err != nil {
		return nil, err
	}
	infos, err := f.ls(ctx, dir, o)
	return infos, f.fault(workspace.OpLs, dir, err)
}

func (f *FS) ls(ctx context.Context, dir string, o workspace.LsOptions) ([]workspace.FileInfo, error) {
	l, err := f.openListing(dir, false)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	children, err := f.visible(ctx, l, dir)
	if err != nil {
		return nil, err
	}
	return describe(ctx, l, dir, after(children, o.After), o.Limit)
}

// after returns the children whose names are greater than name.
func after(children []scan.Child, name string) []scan.Child {
	if name == "" {
		return children
	}
	return children[sort.Search(len(children), func(i int) bool { return children[i].Name > name }):]
}

// describe looks at the first limit children that have valid names and are still
// there.
func describe(ctx context.Context, l listing, dir string, children []scan.Child, limit int) ([]workspace.FileInfo, error) {
	if limit == 0 {
		limit = len(children)
	}
	infos := make([]workspace.FileInfo, 0, min(limit, len(children)))
	for _, child := range children {
		if len(infos) == limit {
			break
		}
		if child.IsUnnamed() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, err := l.child(child.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		infos = append(infos, s.info(workspace.Join(dir, child.Name)))
	}
	return infos, nil
}
