package policy

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// Ls implements [workspace.FileSystem].
func (s *SubFS) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	inner, err := s.inner(ctx, workspace.OpLs, dir)
	if err != nil {
		return nil, err
	}
	infos, err := s.fsys.Ls(ctx, inner, opts)
	for i := range infos {
		infos[i] = s.outerInfo(infos[i])
	}
	return infos, s.outerError(err)
}

// Walk implements [workspace.Walker].
func (s *SubFS) Walk(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	inner, err := s.inner(ctx, workspace.OpWalk, dir)
	if err != nil {
		return err
	}
	var o workspace.WalkOptions
	if opts != nil {
		o.After = s.innerPosition(opts.After)
	}
	var stopped error // what fn returned, which is not to be renamed
	err = workspace.Walk(ctx, s.fsys, inner, &o, func(info workspace.FileInfo, err error) error {
		stopped = fn(s.outerInfo(info), s.outerError(err))
		return stopped
	})
	if err != nil && err == stopped {
		return err
	}
	return s.outerError(err)
}

// innerPosition returns the path below at which a listing goes on that goes on
// after the path after here. That may be any string, and "." is not the root.
func (s *SubFS) innerPosition(after string) string {
	if after == "" {
		return ""
	}
	return workspace.Join(s.dir, after)
}

// Glob implements [workspace.FileSystem].
func (s *SubFS) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	var o workspace.GlobOptions
	if opts != nil {
		o = *opts
	}
	if o.Dir == "" {
		o.Dir = "."
	}
	inner, err := s.inner(ctx, workspace.OpGlob, o.Dir)
	if err != nil {
		return nil, err
	}
	o.Dir, o.After = inner, s.innerPosition(o.After)
	paths, err := s.fsys.Glob(ctx, pattern, &o)
	if err != nil {
		return nil, s.outerPatternError(err, map[string]string{pattern: pattern})
	}
	for i := range paths {
		paths[i] = s.outer(paths[i])
	}
	return paths, nil
}

// outerPatternError is outerError for an error that may be about a pattern:
// patterns are from those below to those of the caller.
func (s *SubFS) outerPatternError(err error, patterns map[string]string) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		if pattern, ok := patterns[pathError.Path]; ok {
			return workspace.RenameError(err, "", pattern)
		}
	}
	return s.outerError(err)
}

// Grep implements [workspace.FileSystem].
func (s *SubFS) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	var o workspace.GrepOptions
	if opts != nil {
		o = *opts
	}
	if o.Path == "" {
		o.Path = "."
	}
	inner, err := s.inner(ctx, workspace.OpGrep, o.Path)
	if err != nil {
		return nil, err
	}
	o.Path = inner
	o.StartAfter.Path = s.innerPosition(o.StartAfter.Path)
	include, exclude := o.IncludeGlob, o.ExcludeGlob
	o.IncludeGlob, o.ExcludeGlob = s.innerFilter(include), s.innerFilter(exclude)
	result, err := s.fsys.Grep(ctx, pattern, &o)
	if err != nil {
		return nil, s.outerPatternError(err, map[string]string{
			o.IncludeGlob: include, o.ExcludeGlob: exclude, pattern: pattern,
		})
	}
	for i := range result.Matches {
		result.Matches[i].Path = s.outer(result.Matches[i].Path)
	}
	for i := range result.Skipped {
		result.Skipped[i].Path = s.outer(result.Skipped[i].Path)
	}
	return result, nil
}

// innerFilter anchors a glob on paths to the directory; one on names stays.
func (s *SubFS) innerFilter(pattern string) string {
	rest := strings.TrimPrefix(pattern, "/")
	if s.dir == "." || rest == "" || !strings.Contains(pattern, "/") {
		return pattern
	}
	return quoteGlob(s.dir) + "/" + rest
}

// quoteGlob returns the glob that matches name only.
func quoteGlob(name string) string {
	var b strings.Builder
	for _, r := range name {
		if strings.ContainsRune(`\*?[]{},`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Watch implements [workspace.FileSystem].
func (s *SubFS) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	inner, err := s.inner(ctx, workspace.OpWatch, dir)
	if err != nil {
		return nil, err
	}
	events, err := s.fsys.Watch(ctx, inner, opts)
	if err != nil {
		return nil, s.outerError(err)
	}
	out := make(chan workspace.Event)
	go s.forward(ctx, events, out)
	return out, nil
}

// forward renames events until the watch below ends.
func (s *SubFS) forward(ctx context.Context, events <-chan workspace.Event, out chan<- workspace.Event) {
	defer close(out)
	for event := range events {
		event.Path = s.outer(event.Path)
		select {
		case out <- event:
		case <-ctx.Done():
			return
		}
	}
}
