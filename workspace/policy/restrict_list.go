package policy

import (
	"context"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// atDir is at for a name to look into. One that is not a directory is left for
// the store to refuse.
func (r *RestrictedFS) atDir(ctx context.Context, op, name string, do func(p place) error) error {
	return r.at(ctx, op, name, true, func(p place) error {
		if err := r.checkDir(ctx, op, p); err != nil {
			return err
		}
		return do(p)
	})
}

// lsPage is the least number of entries that a listing is asked for at a time:
// of a page that is as short as the caller's all might be denied.
const lsPage = 1000

// Ls implements [workspace.FileSystem].
func (r *RestrictedFS) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	return r.ls(ctx, dir, opts, place.shows)
}

// ls is Ls for what shows says is to be shown.
func (r *RestrictedFS) ls(ctx context.Context, dir string, opts *workspace.LsOptions, shows func(place, workspace.FileType) bool) (infos []workspace.FileInfo, err error) {
	var o workspace.LsOptions
	if opts != nil {
		o = *opts
	}
	err = r.atDir(ctx, workspace.OpLs, dir, func(p place) error {
		infos, err = r.lsPlace(ctx, p, o, shows)
		return r.conceal(ctx, workspace.OpLs, p, err)
	})
	return infos, err
}

func (r *RestrictedFS) lsPlace(ctx context.Context, p place, o workspace.LsOptions, shows func(place, workspace.FileType) bool) ([]workspace.FileInfo, error) {
	limit := o.Limit
	if limit > 0 {
		o.Limit = max(limit, lsPage)
	}
	shown := []workspace.FileInfo{}
	for {
		page, err := r.files.Ls(ctx, p.target, &o)
		if err != nil {
			return nil, err
		}
		for _, info := range page {
			info = p.outerInfo(info)
			if !shows(r.child(p, info.Path), info.Type) {
				continue
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

// Walk implements [workspace.Walker]. What is denied is not listed.
func (r *RestrictedFS) Walk(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	return unstop(r.atDir(ctx, workspace.OpWalk, dir, func(p place) error {
		if p.access == whole {
			return p.walk(ctx, r.files, opts, fn)
		}
		return fallback.Walk(ctx, r, dir, opts, fn)
	}))
}
