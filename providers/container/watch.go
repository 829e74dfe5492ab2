package container

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// Watch implements [provider.Watcher]. If the image has inotifywait or inotifyd,
// it tells when something has changed, and what that is shows in a listing of
// the tree. Otherwise the tree is listed at every interval.
func (s *store) Watch(ctx context.Context, dir string, opts workspace.WatchOptions) (<-chan workspace.Event, error) {
	c, err := s.begin(ctx, dir)
	if err != nil {
		return nil, err
	}
	notifier := newNotifier(c, dir)
	if notifier == nil {
		return fallback.Poll(ctx, provider.New(s, provider.Facts{}), dir, &opts)
	}
	w := &observed{store: s, dir: dir, notifier: notifier, changed: make(chan struct{}, 1)}
	stream, err := notifier.begin(ctx)
	if err != nil && !errors.Is(err, errNotObserved) {
		return nil, err
	}
	opts.Interval = pace
	events, err := fallback.Poll(ctx, provider.New(w, provider.Facts{}), dir, &opts)
	if err != nil {
		if stream != nil {
			stream.Close()
		}
		return nil, err
	}
	s.background.Go(func() { w.run(ctx, stream) })
	return events, nil
}

// notifier tells, by a program in the container, that something in a tree has
// changed.
type notifier interface {
	// begin returns when the whole tree is observed.
	begin(ctx context.Context) (*shell.Stream, error)
	// follow tells of the changes on a stream of begin, until that ends, or
	// has to be begun anew.
	follow(stream *shell.Stream, tell func())
	// seen is called with the directories that a listing has and that can be
	// read.
	seen(dirs []string)
}

// newNotifier returns what the image has, nil if it has none.
func newNotifier(c *program.Client, dir string) notifier {
	switch c.Watches {
	case "inotifywait":
		return &inotifywait{client: c, dir: dir}
	case "inotifyd":
		return &inotifyd{client: c, dir: dir}
	}
	return nil
}

// observed is a store whose walks, but for the first, wait until something has
// changed. It is for one walk at a time.
type observed struct {
	*store
	dir      string
	notifier notifier
	changed  chan struct{} // has room for one
	walked   bool
}

const (
	// settle is how long after a change the tree is looked at once more: what
	// happens in a new directory before it is observed is not told.
	settle = 200 * time.Millisecond
	// retry is the time between two attempts to observe a tree that cannot be
	// observed, and between the looks at it meanwhile.
	retry = time.Second
	// pace is the shortest time between two looks, however much changes.
	pace = 10 * time.Millisecond
)

// Walk implements [provider.Walker].
func (w *observed) Walk(ctx context.Context, dir string, opts workspace.WalkOptions, fn workspace.WalkFunc) error {
	if w.walked {
		select {
		case <-w.changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	w.walked = true
	var dirs []string
	err := w.store.Walk(ctx, dir, opts, func(info workspace.FileInfo, err error) error {
		switch {
		case err != nil: // it has been told of before
			dirs = slices.DeleteFunc(dirs, func(dir string) bool { return dir == info.Path })
		case info.IsDir():
			dirs = append(dirs, info.Path)
		}
		return fn(info, err)
	})
	if err == nil {
		w.notifier.seen(dirs)
	}
	return err
}

// run tells of changes until ctx ends. If the container stops it begins anew
// when that is possible.
func (w *observed) run(ctx context.Context, stream *shell.Stream) {
	for {
		pause := retry
		if stream != nil {
			stream.Patiently()
			w.follow(stream)
			stream.Close()
			pause = settle
		}
		w.tell()
		select {
		case <-ctx.Done():
			return
		case <-w.done:
			return
		case <-time.After(pause):
		}
		stream, _ = w.notifier.begin(ctx) // nil if it cannot be observed yet
	}
}

// follow tells of the changes that stream has, and once more when they have
// settled.
func (w *observed) follow(stream *shell.Stream) {
	later := time.AfterFunc(settle, w.tell)
	defer later.Stop()
	w.notifier.follow(stream, func() {
		w.tell()
		later.Reset(settle)
	})
}

// tell lets the next walk begin.
func (w *observed) tell() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}
