package policy

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ignore"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// SkipDenied is the reason for what Grep did not search because of a policy with
// [Rules].ShowDenied. Without, Grep does not mention it.
const SkipDenied workspace.SkipReason = "denied"

// searchView is a RestrictedFS for a search. It shows only names for which need is
// allowed, and with ShowDenied all. It asks nobody.
type searchView struct {
	*RestrictedFS
	need opSet
}

// Ls implements [workspace.FileSystem].
func (v searchView) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	return v.ls(WithApprover(ctx, nil), dir, opts, v.need, v.lists)
}

// gitignoreView is a searchView for a search that honours ignore files. It also
// shows the denied ones, which the search has to hide.
type gitignoreView struct{ searchView }

// Ls implements [workspace.FileSystem].
func (v gitignoreView) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	return v.ls(WithApprover(ctx, nil), dir, opts, v.need, func(p resolved, t workspace.FileType) bool {
		_, base := workspace.Split(p.name)
		return v.lists(p, t) || base == ignore.FileName && t == workspace.TypeFile
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

// whole reports whether searches show everything below the directory.
func (d dirRules) whole() bool { return !d.slow && d.denied.Empty() && d.allowed == nil }

// hiddenBelow is hiddenFrom for a Glob that shows denied names: it leaves out what is in
// denied directories, and unless it is for directories, does not list them.
func (r *RestrictedFS) hiddenBelow(p resolved, dirs bool) scan.Hidden {
	if p.access == all {
		return r.hidden
	}
	return scan.Either(r.hidden, func(dir string) func(name string, isDir bool) bool {
		shown := r.child(p, p.need, dir).shows(workspace.TypeDirectory)
		return func(name string, isDir bool) bool {
			return !shown || isDir && !dirs && !r.child(p, p.need, workspace.Join(dir, name)).shows(workspace.TypeDirectory)
		}
	})
}

// searched returns the FileSystem for a search in p without what is hidden, by the names
// that the caller uses. Where p is reached through a symlink, each name is resolved,
// because ignore files and globs go by the caller's names.
func (r *RestrictedFS) searched(p resolved, gitignore bool, hidden scan.Hidden) workspace.FileSystem {
	if p.name != p.target {
		return fallback.Hide(r.view(p.need, gitignore), hidden)
	}
	return hiding(p.files, hidden)
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
		paths, err = r.glob(ctx, p, pattern, o)
		return r.concealSearch(ctx, ops.Glob, p, err)
	})
	return paths, err
}

func (r *RestrictedFS) glob(ctx context.Context, p resolved, pattern string, o workspace.GlobOptions) ([]string, error) {
	hidden := r.hiddenFrom(p)
	if r.rules.show {
		hidden = r.hiddenBelow(p, strings.HasSuffix(pattern, "/"))
	}
	return r.searched(p, o.Gitignore, hidden).Glob(ctx, pattern, &o)
}

// Grep implements [workspace.FileSystem]. It does not look into denied
// directories and files. With ShowDenied it says that they were skipped.
func (r *RestrictedFS) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (result *workspace.GrepResult, err error) {
	var o workspace.GrepOptions
	if opts != nil {
		o = *opts
	}
	if o.Path == "" {
		o.Path = "."
	}
	err = r.toList(ctx, ops.Grep, onList|onRead, o.Path, func(r *RestrictedFS, p resolved) error {
		result, err = r.searched(p, o.Gitignore, r.hiddenFrom(p)).Grep(ctx, pattern, &o)
		if err == nil && r.rules.show && p.access < all {
			err = r.addDenied(ctx, p, result, o)
		}
		return r.concealSearch(ctx, ops.Grep, p, err)
	})
	return result, err
}

// addDenied adds the denied names in p that a search with o would have looked at to what
// it has skipped. A directory is among them whatever the globs are, as nobody knows what
// is in it.
func (r *RestrictedFS) addDenied(ctx context.Context, p resolved, result *workspace.GrepResult, o workspace.GrepOptions) error {
	wants, err := scan.FileFilter(o)
	if err != nil {
		return err
	}
	for pattern, kind := range map[string]workspace.FileType{"**": workspace.TypeFile, "**/": workspace.TypeDirectory} {
		names, err := r.glob(ctx, p, pattern, workspace.GlobOptions{Dir: p.name, Gitignore: o.Gitignore, After: o.StartAfter.Path})
		if errors.Is(err, workspace.ErrNotDir) {
			return nil // the search of one file
		}
		if err != nil {
			return err
		}
		for _, name := range names {
			if !r.child(p, p.need, name).shows(kind) && (kind == workspace.TypeDirectory || wants(name)) {
				result.Skipped = append(result.Skipped, workspace.Skipped{Path: name, Reason: SkipDenied})
			}
		}
	}
	slices.SortFunc(result.Skipped, func(a, b workspace.Skipped) int { return strings.Compare(a.Path, b.Path) })
	if result.Truncated {
		scan.Truncate(result, len(result.Matches))
	}
	return nil
}

// Walk implements [workspace.Walker]. It leaves out denied names, or with ShowDenied
// what is in denied directories.
func (r *RestrictedFS) Walk(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	return unstop(r.toList(ctx, ops.Walk, onList, dir, func(r *RestrictedFS, p resolved) error {
		hidden, visit := r.hiddenFrom(p), fn
		if r.rules.show && p.access < all {
			hidden = r.hiddenBelow(p, true)
			visit = func(info workspace.FileInfo, err error) error {
				if r.child(p, p.need, info.Path).shows(info.Type) {
					return fn(info, err)
				}
				if err := fn(nameOf(info), nil); err != nil || !info.IsDir() {
					return err
				}
				return fs.SkipDir
			}
		}
		err := p.walk(ctx, hiding(p.files, p.innerHidden(hidden)), opts, visit)
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
