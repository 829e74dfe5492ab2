package container

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/container/internal/inotify"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/providers/container/internal/remotegrep"
	"github.com/workspacekit/workspacekit/workspace"
)

// GlobSource implements [scan.Searcher].
func (s *store) GlobSource(pattern string, opts workspace.GlobOptions) scan.Source {
	return s.search(opts.Dir).GlobSource(pattern, opts)
}

// GrepSource implements [scan.Searcher].
func (s *store) GrepSource(pattern string, opts workspace.GrepOptions, hidden scan.Hidden) (src scan.Source, workers int) {
	return s.search(opts.Path).GrepSource(pattern, opts, hidden), 0
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
