package container

import (
	"context"

	"github.com/workspacekit/workspacekit/providers/container/internal/inotify"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/providers/container/internal/remotegrep"
	"github.com/workspacekit/workspacekit/workspace"
)

// Glob implements [provider.Globber].
func (s *store) Glob(ctx context.Context, pattern string, opts workspace.GlobOptions) ([]string, error) {
	return s.search(opts.Dir).Glob(ctx, pattern, opts)
}

// Grep implements [provider.Grepper].
func (s *store) Grep(ctx context.Context, pattern string, opts workspace.GrepOptions) (*workspace.GrepResult, error) {
	return s.search(opts.Path).Grep(ctx, pattern, opts)
}

// Watch implements [provider.Watcher].
func (s *store) Watch(ctx context.Context, dir string, opts workspace.WatchOptions) (<-chan workspace.Event, error) {
	c, err := s.begin(ctx, dir)
	if err != nil {
		return nil, err
	}
	return inotify.Watch(ctx, c, s, dir, opts, s.done, &s.background)
}

// search returns a search that begins at name.
func (s *store) search(name string) remotegrep.Search {
	begin := func(ctx context.Context) (*program.Client, error) { return s.begin(ctx, name) }
	return remotegrep.Search{Begin: begin, Contents: &s.contents}
}
