// Package inotify watches a directory in a container, by the inotifywait or the
// inotifyd of its image.
//
// The program only says that something has changed. What that is shows in a
// listing of the tree: no output has to be parsed that names with line breaks can
// forge. So a watch is a poll ([fallback.Poll]) whose walks wait:
//
//	program          watch                            poll
//	                 begin: all is observed           walk: the tree as it is
//	                                                  walk: waits
//	"CREATE"  ---->  follow, tell             ---->   lists the tree
//	                                                  reports a new file; walk: waits
//	                 200 ms later, tell once  ---->   lists the tree again, as nothing
//	                                                  reports what happened in a new
//	                                                  directory before it was observed
//
// Where the image has neither program, or a tree cannot be observed, the tree is
// listed at intervals.
package inotify

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

// store is what a watch lists the tree by.
type store interface {
	provider.Store
	provider.Walker
}

// facts are those of a store. A poll compares versions.
var facts = provider.Facts{Capabilities: workspace.Capabilities{Versions: true}}

// Watch reports the changes below dir, which is listed by s. It starts a goroutine
// by background, which ends with ctx and once done is closed. If background returns
// false, done is closed, and nothing more is reported.
func Watch(ctx context.Context, c *program.Client, s store, dir string, opts workspace.WatchOptions, done <-chan struct{}, background func(f func()) bool) (<-chan workspace.Event, error) {
	notifier := newNotifier(c, dir)
	if notifier == nil {
		return fallback.Poll(ctx, provider.New(s, facts), dir, &opts)
	}
	w := &observed{store: s, notifier: notifier, changed: make(chan struct{}, 1), done: done}
	stream, err := notifier.begin(ctx)
	if err != nil && !errors.Is(err, errNotObserved) {
		return nil, err
	}
	opts.Interval = pace
	events, err := fallback.Poll(ctx, provider.New(w, facts), dir, &opts)
	begun := err == nil && background(func() { w.run(ctx, stream) })
	if !begun && stream != nil {
		stream.Close()
	}
	return events, err
}

// notifier reports, by a program in the container, that something in a tree has
// changed.
type notifier interface {
	// begin starts the program, and returns once it observes the whole tree.
	begin(ctx context.Context) (*shell.Stream, error)
	// follow calls tell for the changes on a stream of begin, until that ends, or
	// the program has to be started again.
	follow(stream *shell.Stream, tell func())
	// seen is called with the directories of a listing that can be read.
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
	store
	notifier notifier
	changed  chan struct{}   // has room for one
	done     <-chan struct{} // closed when nobody watches any more
	walked   bool
}

const (
	// settle is how long after a change the tree is listed once more: nothing
	// reports what happens in a new directory before that is observed.
	settle = 200 * time.Millisecond
	// retry is the time between two attempts to observe a tree that cannot be
	// observed, and between two listings meanwhile.
	retry = time.Second
	// pace is the shortest time between two listings, however much changes.
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
		case err != nil: // it has been reported before
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

// run reports changes until ctx ends. If the container stops it starts the program
// again when that is possible.
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

// follow reports the changes on stream, and once more when they have settled.
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
