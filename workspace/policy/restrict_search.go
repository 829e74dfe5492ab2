package policy

import (
	"context"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// ignoreFile is the name of the files that a search with Gitignore honours.
const ignoreFile = ".gitignore"

// searched is a RestrictedFS as a search sees it that honours ignore files:
// with those that are denied, of which no more than that is to be seen.
type searched struct{ *RestrictedFS }

func (s searched) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	return s.ls(ctx, dir, opts, func(p place, t workspace.FileType) bool {
		_, base := workspace.Split(p.name)
		return p.shows(t) || base == ignoreFile && t == workspace.TypeFile
	})
}

func (s searched) ReadVersioned(ctx context.Context, name string, limit int64) (data []byte, version workspace.Version, err error) {
	dir, base := workspace.Split(name)
	if base != ignoreFile || s.allow.access(name) >= allowed {
		return s.RestrictedFS.ReadVersioned(ctx, name, limit)
	}
	err = s.atDir(ctx, workspace.OpReadFile, dir, func(p place) error {
		data, version, err = workspace.ReadVersioned(ctx, s.files, workspace.Join(p.target, base), limit)
		return workspace.RenameError(err, "", name)
	})
	return data, version, err
}

// view returns what a search searches.
func (r *RestrictedFS) view(gitignore bool) workspace.FileSystem {
	if gitignore {
		return searched{r}
	}
	return r
}

// unseen reports whether path was found in a view, below p, and is denied.
func (r *RestrictedFS) unseen(p place, path string) bool {
	_, base := workspace.Split(path)
	return base == ignoreFile && r.child(p, path).access < allowed
}

// Glob implements [workspace.FileSystem]. Directories that are denied are not
// looked into.
func (r *RestrictedFS) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) (paths []string, err error) {
	var o workspace.GlobOptions
	if opts != nil {
		o = *opts
	}
	if o.Dir == "" {
		o.Dir = "."
	}
	err = r.atDir(ctx, workspace.OpGlob, o.Dir, func(p place) error {
		if p.access < whole || p.name != p.target {
			paths, err = r.globPlace(ctx, p, pattern, o)
			return err
		}
		paths, err = r.files.Glob(ctx, pattern, &o)
		return err
	})
	return paths, err
}

func (r *RestrictedFS) globPlace(ctx context.Context, p place, pattern string, o workspace.GlobOptions) ([]string, error) {
	limit := o.Limit
	paths := []string{}
	for {
		page, err := fallback.Glob(ctx, r.view(o.Gitignore), pattern, &o)
		if err != nil {
			return nil, err
		}
		for _, path := range page {
			if !r.unseen(p, path) {
				paths = append(paths, path)
			}
		}
		if len(page) < o.Limit || len(paths) == limit || limit == 0 {
			return paths, nil
		}
		o.After, o.Limit = page[len(page)-1], limit-len(paths)
	}
}

// Grep implements [workspace.FileSystem]. Directories and files that are denied
// are not looked into.
func (r *RestrictedFS) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (result *workspace.GrepResult, err error) {
	var o workspace.GrepOptions
	if opts != nil {
		o = *opts
	}
	if o.Path == "" {
		o.Path = "."
	}
	err = r.atDir(ctx, workspace.OpGrep, o.Path, func(p place) error {
		if p.access < whole || p.name != p.target {
			result, err = r.grepPlace(ctx, p, pattern, o)
			return err
		}
		result, err = r.files.Grep(ctx, pattern, &o)
		return err
	})
	return result, err
}

func (r *RestrictedFS) grepPlace(ctx context.Context, p place, pattern string, o workspace.GrepOptions) (*workspace.GrepResult, error) {
	limit := o.MaxResults
	result := &workspace.GrepResult{Matches: []workspace.Match{}}
	for {
		if limit > 0 {
			o.MaxResults = limit + 1 - len(result.Matches) // one more, to know whether there is one
		}
		page, err := fallback.Grep(ctx, r.view(o.Gitignore), pattern, &o)
		if err != nil {
			return nil, err
		}
		r.collect(p, result, page)
		if limit > 0 && len(result.Matches) > limit {
			truncate(result, limit)
			return result, nil
		}
		if !page.Truncated {
			return result, nil
		}
		last := page.Matches[len(page.Matches)-1]
		o.StartAfter = workspace.Position{Path: last.Path, LineNumber: last.LineNumber}
	}
}

// collect adds to result what of a page of a search in p is not denied.
func (r *RestrictedFS) collect(p place, result, page *workspace.GrepResult) {
	for _, match := range page.Matches {
		if !r.unseen(p, match.Path) {
			result.Matches = append(result.Matches, match)
		}
	}
	for _, skipped := range page.Skipped {
		if !r.unseen(p, skipped.Path) {
			result.Skipped = append(result.Skipped, skipped)
		}
	}
}

// truncate keeps the first matches, and what was skipped up to the last of
// them.
func truncate(result *workspace.GrepResult, limit int) {
	result.Matches = result.Matches[:limit:limit]
	result.Truncated = true
	last := result.Matches[limit-1].Path
	for i, skipped := range result.Skipped {
		if skipped.Path > last {
			result.Skipped = result.Skipped[:i]
			return
		}
	}
}
