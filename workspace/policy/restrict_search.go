package policy

import (
	"context"
	"errors"

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
// shows the denied ones, which the search has to hide.
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

// hiddenFrom returns what a search in p leaves out, by the names that the caller
// uses.
func (r *RestrictedFS) hiddenFrom(p resolved) scan.Hidden {
	if p.access == all {
		return r.hidden
	}
	return scan.Either(r.hidden, func(dir string) func(name string, isDir bool) bool {
		inDir := r.rules.in(dir)
		if p.name != p.target {
			inDir = dirRules{slow: true} // both names are tested
		}
		if inDir.whole() {
			return nil
		}
		return func(name string, isDir bool) bool {
			kind := workspace.TypeFile
			if isDir {
				kind = workspace.TypeDirectory
			}
			shows, sure := inDir.shows(name, isDir)
			return !shows && (sure || !r.child(p, p.need, workspace.Join(dir, name)).shows(kind))
		}
	})
}

// searched returns the FileSystem for a search in p, by the names that the caller
// uses. Where p is reached through a symlink, each name is resolved, because ignore
// files and globs go by the caller's names.
func (r *RestrictedFS) searched(p resolved, gitignore bool) workspace.FileSystem {
	if p.name != p.target {
		return fallback.Hide(r.view(p.need, gitignore), r.hiddenFrom(p))
	}
	return hiding(p.files, r.hiddenFrom(p))
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
	err = r.toList(ctx, ops.Glob, onList, o.Dir, func(r *RestrictedFS, p resolved) error {
		paths, err = r.searched(p, o.Gitignore).Glob(ctx, pattern, &o)
		return r.concealSearch(ctx, ops.Glob, p, err)
	})
	return paths, err
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
	err = r.toList(ctx, ops.Grep, onList|onRead, o.Path, func(r *RestrictedFS, p resolved) error {
		result, err = r.searched(p, o.Gitignore).Grep(ctx, pattern, &o)
		return r.concealSearch(ctx, ops.Grep, p, err)
	})
	return result, err
}

// Walk implements [workspace.Walker]. It leaves out denied names.
func (r *RestrictedFS) Walk(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	return unstop(r.toList(ctx, ops.Walk, onList, dir, func(r *RestrictedFS, p resolved) error {
		err := p.walk(ctx, hiding(p.files, p.innerHidden(r.hiddenFrom(p))), opts, fn)
		return r.concealSearch(ctx, ops.Walk, p, err)
	}))
}

// concealSearch is conceal for an error that may be about a pattern, or come from
// the caller's function.
func (r *RestrictedFS) concealSearch(ctx context.Context, op string, p resolved, err error) error {
	if errors.Is(err, workspace.ErrNotDir) {
		return r.conceal(ctx, op, p, err)
	}
	return err
}
