package container

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/workspace"
)

// Glob implements [provider.Globber] in one request, and one more for all ignore
// files if those are wanted.
func (s *store) Glob(ctx context.Context, pattern string, opts workspace.GlobOptions) ([]string, error) {
	src := &source{begin: s.beginAt(opts.Dir), contents: &s.contents, top: opts.Dir, within: scopeOf(pattern)}
	return scan.Glob(ctx, src, pattern, &opts)
}

// Grep implements [provider.Grepper]. A program in the container tells which
// lines, or which files if that is not enough, have what any match must have in
// it. Only those are read, many at a time, and searched here: so the result is
// the same as every other provider's.
func (s *store) Grep(ctx context.Context, pattern string, opts workspace.GrepOptions) (*workspace.GrepResult, error) {
	src := &source{begin: s.beginAt(opts.Path), contents: &s.contents, top: opts.Path, within: scope{below: "."}, narrow: prefilterOf(pattern, opts)}
	return scan.Grep(ctx, src, pattern, &opts, 0)
}

func (s *store) beginAt(name string) func(ctx context.Context) (*program.Client, error) {
	return func(ctx context.Context) (*program.Client, error) { return s.begin(ctx, name) }
}
