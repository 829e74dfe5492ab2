package objectstore

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Watch implements [workspace.FileSystem]. It lists what is below dir at every
// interval, with one request for 1,000 keys, and compares versions. What this
// FS itself changes is reported at once. A listing that fails is tried again
// at the next interval.
func (f *FS) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	var o workspace.WatchOptions
	if opts != nil {
		o = *opts
	}
	if err := ops.Check(ctx, ops.Watch, dir); err != nil {
		return nil, err
	}
	if err := ops.CheckWatch(dir, o.Buffer, o.Interval); err != nil {
		return nil, err
	}
	w := newWatch(dir)
	f.watches.add(w)
	if err := w.look(ctx, f); err != nil {
		f.watches.drop(w)
		return nil, ops.Rename(err, ops.Watch, dir)
	}
	events := w.start(ctx, o.Buffer)
	context.AfterFunc(ctx, func() { f.watches.drop(w) })
	go w.poll(ctx, f, orDefault(o.Interval, f.opts.PollInterval))
	return events, nil
}

// poll looks at every interval until ctx ends.
func (w *watch) poll(ctx context.Context, f *FS, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		// It is tried again at the next interval.
		_ = w.look(ctx, f)
	}
}

// watches are the watches of an FS. It is safe for concurrent use.
type watches struct {
	mu  sync.Mutex
	all map[*watch]struct{} // guarded by mu
}

func newWatches() *watches { return &watches{all: make(map[*watch]struct{})} }

func (s *watches) add(w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[w] = struct{}{}
}

func (s *watches) drop(w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, w)
}

// each calls do for each watch.
func (s *watches) each(do func(*watch)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.all {
		do(w)
	}
}

// wrote reports that this FS has written the file info.
func (s *watches) wrote(info workspace.FileInfo) {
	s.each(func(w *watch) { w.put(info.Path, state{version: info.Version}) })
}

// made reports that this FS has made the directory name.
func (s *watches) made(name string) {
	s.each(func(w *watch) { w.put(name, state{dir: true}) })
}

// removed reports that this FS has removed name and all below it.
func (s *watches) removed(name string) {
	s.each(func(w *watch) { w.remove(name) })
}

// renamed reports that this FS has moved the directory source.
func (s *watches) renamed(source, destination string) {
	s.each(func(w *watch) {
		for _, name := range w.below(source) {
			if known, ok := w.known(name); ok {
				w.put(destination+strings.TrimPrefix(name, source), known)
			}
		}
		w.put(destination, state{dir: true})
		w.remove(source)
	})
}
