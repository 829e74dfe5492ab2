package policy

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/ignore"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// searchView is a RestrictedFS for a search. It shows only names for which need is
// allowed.
type searchView struct {
	*RestrictedFS
	need opSet
}

// Ls implements [workspace.FileSystem].
func (v searchView) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	return v.ls(ctx, dir, opts, v.need, resolved.shows)
}

// gitignoreView is a searchView for a search that honours ignore files. It also
// shows the denied ones, which must not appear in the result.
type gitignoreView struct{ searchView }

// Ls implements [workspace.FileSystem].
func (v gitignoreView) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	return v.ls(ctx, dir, opts, v.need, func(p resolved, t workspace.FileType) bool {
		_, base := workspace.Split(p.name)
		return p.shows(t) || base == ignore.FileName && t == workspace.TypeFile
	})
}

// ReadVersioned implements [workspace.VersionedReader].
func (v gitignoreView) ReadVersioned(ctx context.Context, name string, limit int64) (data []byte, version workspace.Version, err error) {
	dir, base := workspace.Split(name)
	if base != ignore.FileName || v.rules.verdict(onRead, name).access >= allowed {
		return v.RestrictedFS.ReadVersioned(ctx, name, limit)
	}
	err = v.atDir(ctx, ops.ReadFile, onList, dir, func(p resolved) error {
		data, version, err = workspace.ReadVersioned(ctx, v.files, workspace.Join(p.target, base), limit)
		return ops.Rename(err, "", name)
	})
	return data, version, err
}

// view returns the FileSystem to search for names for which need is allowed.
func (r *RestrictedFS) view(need opSet, gitignore bool) workspace.FileSystem {
	v := searchView{r, need}
	if gitignore {
		return gitignoreView{v}
	}
	return v
}

// hidden reports whether path, below p, is a denied ignore file, which only a
// gitignoreView shows.
func (r *RestrictedFS) hidden(p resolved, path string) bool {
	_, base := workspace.Split(path)
	return base == ignore.FileName && r.child(p, p.need, path).access < allowed
}

// Glob implements [workspace.FileSystem]. It does not look into denied
// directories.
func (r *RestrictedFS) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) (paths []string, err error) {
	var o workspace.GlobOptions
	if opts != nil {
		o = *opts
	}
	if o.Dir == "" {
		o.Dir = "."
	}
	err = r.atDir(ctx, ops.Glob, onList, o.Dir, func(p resolved) error {
		if p.access < all || p.name != p.target {
			paths, err = r.globTarget(ctx, p, pattern, o)
			return err
		}
		paths, err = p.files.Glob(ctx, pattern, &o)
		return err
	})
	return paths, err
}

// globTarget searches names page by page, until enough of them are allowed.
func (r *RestrictedFS) globTarget(ctx context.Context, p resolved, pattern string, o workspace.GlobOptions) ([]string, error) {
	limit := o.Limit
	paths := []string{}
	for {
		page, err := fallback.Glob(ctx, r.view(p.need, o.Gitignore), pattern, &o)
		if err != nil {
			return nil, err
		}
		for _, path := range page {
			if !r.hidden(p, path) {
				paths = append(paths, path)
			}
		}
		if len(page) < o.Limit || len(paths) == limit || limit == 0 {
			return paths, nil
		}
		o.After, o.Limit = page[len(page)-1], limit-len(paths)
	}
}

// Grep implements [workspace.FileSystem]. It does not look into denied
// directories and files.
func (r *RestrictedFS) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (result *workspace.GrepResult, err error) {
	var o workspace.GrepOptions
	if opts != nil {
		o = *opts
	}
	if o.Path == "" {
		o.Path = "."
	}
	err = r.atDir(ctx, ops.Grep, onList|onRead, o.Path, func(p resolved) error {
		if p.access < all || p.name != p.target {
			result, err = r.grepTarget(ctx, p, pattern, o)
			return err
		}
		result, err = p.files.Grep(ctx, pattern, &o)
		return err
	})
	return result, err
}

// grepTarget searches contents page by page, until enough matches are allowed.
// Each page goes on where the one before ended.
func (r *RestrictedFS) grepTarget(ctx context.Context, p resolved, pattern string, o workspace.GrepOptions) (*workspace.GrepResult, error) {
	limit := o.MaxResults
	result := &workspace.GrepResult{Matches: []workspace.Match{}}
	for {
		if limit > 0 {
			o.MaxResults = limit + 1 - len(result.Matches) // one more, to know whether there is one
		}
		page, err := fallback.Grep(ctx, r.view(p.need, o.Gitignore), pattern, &o)
		if err != nil {
			return nil, err
		}
		r.collect(p, result, page)
		if limit > 0 && len(result.Matches) > limit {
			scan.Truncate(result, limit)
			return result, nil
		}
		if !page.Truncated {
			return result, nil
		}
		last := page.Matches[len(page.Matches)-1]
		o.StartAfter = workspace.Position{Path: last.Path, LineNumber: last.LineNumber}
	}
}

// collect adds to result the part of a page of a search in p that is not denied.
func (r *RestrictedFS) collect(p resolved, result, page *workspace.GrepResult) {
	for _, match := range page.Matches {
		if !r.hidden(p, match.Path) {
			result.Matches = append(result.Matches, match)
		}
	}
	for _, skipped := range page.Skipped {
		if !r.hidden(p, skipped.Path) {
			result.Skipped = append(result.Skipped, skipped)
		}
	}
}
