package container

import (
	"context"
	"io"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/container/internal/inotify"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/providers/container/internal/remotegrep"
	"github.com/workspacekit/workspacekit/workspace"
)

// ReadContent implements [provider.ContentReader]: it takes one program in the
// container, where ReadFile takes two.
func (s *store) ReadContent(ctx context.Context, name string) ([]byte, error) {
	c, err := s.begin(ctx, name)
	if err != nil {
		return nil, err
	}
	return c.Content(ctx, name)
}

// ReadFile implements [provider.Store].
func (s *store) ReadFile(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	c, err := s.begin(ctx, name)
	if err != nil {
		return nil, "", err
	}
	data, info, err := c.ReadFile(ctx, name, limit)
	return data, info.Version(), err
}

// Open implements [provider.Opener]. A stream has a shell of its own until it
// is closed; one that has been read to its end, or is short, gives it back at
// once.
func (s *store) Open(ctx context.Context, name string, window workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	c, err := s.begin(ctx, name)
	if err != nil {
		return nil, workspace.FileInfo{}, err
	}
	stream, info, err := c.Open(ctx, name, window)
	if err != nil {
		return nil, workspace.FileInfo{}, err
	}
	return stream, info.Describe(name), nil
}

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
	return inotify.Watch(ctx, c, s, dir, opts, s.done, s.inBackground)
}

// inBackground runs f in a goroutine that Close waits for. It returns false, and does
// not run f, once Close has begun.
func (s *shared) inBackground(f func()) bool {
	s.ending.Lock()
	defer s.ending.Unlock()
	if s.isClosed() {
		return false
	}
	s.background.Go(f)
	return true
}

// search returns a search that begins at name.
func (s *store) search(name string) remotegrep.Search {
	begin := func(ctx context.Context) (*program.Client, error) { return s.begin(ctx, name) }
	return remotegrep.Search{Begin: begin, Contents: &s.contents}
}
