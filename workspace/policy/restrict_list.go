package policy

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// atDir is at for a directory. The store refuses an allowed name that is none.
func (r *RestrictedFS) atDir(ctx context.Context, op string, need opSet, name string, do func(p resolved) error) error {
	return r.at(ctx, op, need, name, true, func(p resolved) error {
		if err := r.checkDir(ctx, op, p); err != nil {
			return err
		}
		return do(p)
	})
}

// toList calls do with a directory that may be listed or, if need has onRead,
// searched.
func (r *RestrictedFS) toList(ctx context.Context, op string, need opSet, name string, do func(r *RestrictedFS, p resolved) error) error {
	kind := OpList
	if need&onRead != 0 {
		kind = OpRead
	}
	return r.approved(ctx, op, name, func(r *RestrictedFS) error {
		return r.atDir(ctx, op, need, name, func(p resolved) error {
			if err := r.question.confirmName(ctx, kind, p, true); err != nil {
				return err
			}
			return do(r, p)
		})
	})
}

// lsPage is the least number of entries to ask the store for at a time: in a
// page that is as short as the caller's, all might be denied.
const lsPage = 1000

// Ls implements [workspace.FileSystem].
func (r *RestrictedFS) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	return r.ls(ctx, dir, opts, onList, r.lists)
}

// lists reports whether listings of a directory have a name of type t in it.
func (r *RestrictedFS) lists(p resolved, t workspace.FileType) bool {
	return r.rules.show || p.shows(t)
}

// nameOf returns what listings have of a denied name.
func nameOf(info workspace.FileInfo) workspace.FileInfo {
	return workspace.FileInfo{Name: info.Name, Path: info.Path, Type: info.Type}
}

// ls is Ls with shows to choose the names, by what need is allowed for them.
func (r *RestrictedFS) ls(ctx context.Context, dir string, opts *workspace.LsOptions, need opSet, shows func(resolved, workspace.FileType) bool) (infos []workspace.FileInfo, err error) {
	var o workspace.LsOptions
	if opts != nil {
		o = *opts
	}
	err = r.toList(ctx, ops.Ls, need, dir, func(r *RestrictedFS, p resolved) error {
		infos, err = r.lsTarget(ctx, p, o, need, shows)
		return r.conceal(ctx, ops.Ls, p, err)
	})
	return infos, err
}

// lsTarget lists a directory and leaves out what is denied, page by page,
// until the caller's limit is reached.
func (r *RestrictedFS) lsTarget(ctx context.Context, p resolved, o workspace.LsOptions, need opSet, shows func(resolved, workspace.FileType) bool) ([]workspace.FileInfo, error) {
	limit := o.Limit
	if limit > 0 {
		o.Limit = max(limit, lsPage)
	}
	shown := []workspace.FileInfo{}
	for {
		page, err := p.files.Ls(ctx, p.target, &o)
		if err != nil {
			return nil, err
		}
		for _, info := range page {
			info = p.outerInfo(info)
			child := r.child(p, need, info.Path)
			if !shows(child, info.Type) {
				continue
			}
			if r.rules.show && !child.shows(info.Type) {
				info = nameOf(info)
			}
			if shown = append(shown, info); len(shown) == limit {
				return shown, nil
			}
		}
		if limit == 0 || len(page) < o.Limit {
			return shown, nil
		}
		o.After = page[len(page)-1].Name
	}
}
