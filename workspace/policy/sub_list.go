package policy

import (
	"context"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// Ls implements [workspace.FileSystem].
func (s *SubFS) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) (infos []workspace.FileInfo, err error) {
	err = s.at(ctx, ops.Ls, dir, true, func(p subResolved) error {
		infos, err = s.files.Ls(ctx, p.target, opts)
		for i := range infos {
			infos[i] = p.outerInfo(infos[i])
		}
		return p.outerError(err)
	})
	return infos, err
}

// Walk implements [workspace.Walker].
func (s *SubFS) Walk(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	return unstop(s.at(ctx, ops.Walk, dir, true, func(p subResolved) error {
		return p.walk(ctx, hiding(s.files, p.innerHidden(s.hidden)), opts, fn)
	}))
}

// Glob implements [workspace.FileSystem].
func (s *SubFS) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) (paths []string, err error) {
	var o workspace.GlobOptions
	if opts != nil {
		o = *opts
	}
	if o.Dir == "" {
		o.Dir = "."
	}
	err = s.at(ctx, ops.Glob, o.Dir, true, func(p subResolved) error {
		if p.aliased() && o.Gitignore { // the rules depend on the names of directories
			paths, err = fallback.Hide(s, s.hidden).Glob(ctx, pattern, &o)
			return err
		}
		inner := o
		inner.Dir, inner.After = p.target, p.position(o.After)
		paths, err = hiding(s.files, p.innerHidden(s.hidden)).Glob(ctx, pattern, &inner)
		for i := range paths {
			paths[i] = p.outer(paths[i])
		}
		return p.outerPatternError(err, map[string]string{pattern: pattern})
	})
	return paths, err
}

// Grep implements [workspace.FileSystem].
func (s *SubFS) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (result *workspace.GrepResult, err error) {
	var o workspace.GrepOptions
	if opts != nil {
		o = *opts
	}
	if o.Path == "" {
		o.Path = "."
	}
	err = s.at(ctx, ops.Grep, o.Path, true, func(p subResolved) error {
		if p.aliased() && (o.Gitignore || s.hidden != nil) { // the rules depend on the names of directories
			result, err = fallback.Hide(s, s.hidden).Grep(ctx, pattern, &o)
			return err
		}
		result, err = s.grep(ctx, p, pattern, o)
		return err
	})
	return result, err
}

// innerHidden is [alias.innerHidden]. Without a symlink, every name in the
// directory of the SubFS can be translated, also the parent of the target.
func (p subResolved) innerHidden(hidden scan.Hidden) scan.Hidden {
	if p.aliased() {
		return p.alias.innerHidden(hidden)
	}
	return alias{".", p.base}.innerHidden(hidden)
}

// grep searches the target of a directory, and renames what it finds.
func (s *SubFS) grep(ctx context.Context, p subResolved, pattern string, o workspace.GrepOptions) (*workspace.GrepResult, error) {
	inner := o
	inner.Path = p.target
	inner.StartAfter.Path = p.position(o.StartAfter.Path)
	result, err := hiding(s.files, p.innerHidden(s.hidden)).Grep(ctx, pattern, &inner)
	if err != nil {
		return nil, p.outerPatternError(err, map[string]string{
			o.IncludeGlob: o.IncludeGlob, o.ExcludeGlob: o.ExcludeGlob, pattern: pattern,
		})
	}
	p.outerResult(result)
	return result, nil
}

// outerResult renames the files in the result of a search.
func (a alias) outerResult(result *workspace.GrepResult) {
	for i := range result.Matches {
		result.Matches[i].Path = a.outer(result.Matches[i].Path)
	}
	for i := range result.Skipped {
		result.Skipped[i].Path = a.outer(result.Skipped[i].Path)
	}
	// The target of "." came first, and "." comes after names such as "-a".
	slices.SortStableFunc(result.Skipped, func(a, b workspace.Skipped) int { return strings.Compare(a.Path, b.Path) })
}

// Watch implements [workspace.FileSystem].
func (s *SubFS) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	out := make(chan workspace.Event)
	err := s.at(ctx, ops.Watch, dir, true, func(p subResolved) error {
		events, err := s.files.Watch(ctx, p.target, opts)
		if err != nil {
			return p.outerError(err)
		}
		go p.forward(ctx, events, out, func(workspace.Event) bool { return true })
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
