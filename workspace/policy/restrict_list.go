package policy

import (
	"context"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// locateDir returns the place of a name to look into. One that is not a
// directory is left for the store to refuse.
func (r *RestrictedFS) locateDir(ctx context.Context, op, name string) (place, error) {
	p, err := r.locate(ctx, op, name)
	if err != nil {
		return place{}, err
	}
	return p, r.checkDir(ctx, op, p)
}

// lsPage is the least number of entries that a listing is asked for at a time:
// of a page that is as short as the caller's all might be denied.
const lsPage = 1000

// Ls implements [workspace.FileSystem].
func (r *RestrictedFS) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	return r.ls(ctx, dir, opts, place.shows)
}

// ls is Ls for what shows says is to be shown.
func (r *RestrictedFS) ls(ctx context.Context, dir string, opts *workspace.LsOptions, shows func(place, workspace.FileType) bool) ([]workspace.FileInfo, error) {
	p, err := r.locateDir(ctx, workspace.OpLs, dir)
	if err != nil {
		return nil, err
	}
	var o workspace.LsOptions
	if opts != nil {
		o = *opts
	}
	limit := o.Limit
	if limit > 0 {
		o.Limit = max(limit, lsPage)
	}
	shown := []workspace.FileInfo{}
	for {
		page, err := r.fsys.Ls(ctx, dir, &o)
		if err != nil {
			return nil, r.conceal(ctx, workspace.OpLs, dir, err)
		}
		for _, info := range page {
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
	p, err := r.locateDir(ctx, workspace.OpWalk, dir)
	if err != nil {
		return err
	}
	if p.access == whole {
		return workspace.Walk(ctx, r.fsys, dir, opts, fn)
	}
	return fallback.Walk(ctx, r, dir, opts, fn)
}
