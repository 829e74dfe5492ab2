package objectstore

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/internal/notify"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/dircache"
	"github.com/workspacekit/workspacekit/workspace"
)

// Watch implements [provider.Watcher]. It lists what is below dir at every
// interval, with one request for 1,000 keys, and compares versions. What this
// tree itself changes is reported at once. A listing that fails is tried again
// at the next interval.
func (t *tree) Watch(ctx context.Context, dir string, opts workspace.WatchOptions) (<-chan workspace.Event, error) {
	w := newWatch(dir)
	t.watches.add(w)
	if err := w.look(ctx, t); err != nil {
		t.watches.drop(w)
		return nil, err
	}
	events := w.start(ctx, opts.Buffer)
	context.AfterFunc(ctx, func() { t.watches.drop(w) })
	go w.poll(ctx, t, orDefault(opts.Interval, t.opts.PollInterval))
	return events, nil
}

// poll looks at every interval until ctx ends.
func (w *watch) poll(ctx context.Context, t *tree, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		// It is tried again at the next interval.
		_ = w.look(ctx, t)
	}
}

// watches are the watches of a tree. It is safe for concurrent use. The zero
// watches are none.
type watches struct {
	mu  sync.Mutex
	all map[*watch]struct{} // guarded by mu
}

// add adds a watch, which is then told what this process changes.
func (s *watches) add(w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[*watch]struct{})
	}
	s.all[w] = struct{}{}
}

// drop removes a watch.
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

// wrote reports that this tree has written the file info.
func (s *watches) wrote(info workspace.FileInfo) {
	s.each(func(w *watch) { w.put(info.Path, state{version: info.Version}) })
}

// created reports that this tree has created the directory name.
func (s *watches) created(name string) {
	s.each(func(w *watch) { w.put(name, state{dir: true}) })
}

// removed reports that this tree has removed name and all below it.
func (s *watches) removed(name string) {
	s.each(func(w *watch) { w.remove(name) })
}

// renamed reports that this tree has moved the directory source, whose files it has reported
// as written: a copy may have another version.
func (s *watches) renamed(source, destination string) {
	s.each(func(w *watch) {
		for _, name := range w.below(source) {
			if known, ok := w.known(name); ok && known.dir {
				w.put(destination+strings.TrimPrefix(name, source), known)
			}
		}
		w.put(destination, state{dir: true})
		w.remove(source)
	})
}

// watch is one Watch: what is known to be below its directory. It is safe for
// concurrent use.
type watch struct {
	dir string

	mu         sync.Mutex    // guards what follows
	events     *notify.Queue // nil until the first listing has ended
	seen       map[string]state
	dirtySince map[string]struct{} // what this tree has changed since the listing under way began; nil if there is none
}

// state is what a watch compares.
type state struct {
	dir     bool
	version workspace.Version
}

// newWatch returns a watch that has seen nothing yet.
func newWatch(dir string) *watch {
	return &watch{dir: dir, seen: make(map[string]state)}
}

// start lets the events go to a reader.
func (w *watch) start(ctx context.Context, buffer int) <-chan workspace.Event {
	queue := notify.New(ctx, w.dir, buffer)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = queue
	return queue.Events()
}

// look lists the directory and reports the differences. A directory that has
// been deleted is empty, but for the first look.
func (w *watch) look(ctx context.Context, t *tree) error {
	w.mu.Lock()
	w.dirtySince = make(map[string]struct{})
	begun := w.events != nil
	w.mu.Unlock()
	now := make(map[string]state)
	err := t.Walk(ctx, w.dir, workspace.WalkOptions{}, func(info workspace.FileInfo, _ error) error {
		now[info.Path] = state{dir: info.IsDir(), version: info.Version}
		return nil
	})
	if begun && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrNotDir)) {
		err = nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		w.compare(now)
	}
	w.dirtySince = nil
	return err
}

// compare reports the differences between w.seen and now, and takes over now,
// but for what this tree has changed since: the listing may not know of that.
// w.mu is held.
func (w *watch) compare(now map[string]state) {
	for name := range w.dirtySince {
		if known, ok := w.seen[name]; ok {
			now[name] = known
		} else {
			delete(now, name)
		}
	}
	names := slices.Collect(maps.Keys(now))
	for name := range w.seen {
		if _, ok := now[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	before := w.seen
	w.seen = now
	for _, name := range names {
		was, existed := before[name]
		is, exists := now[name]
		w.report(name, was, existed, is, exists)
	}
}

// report reports what became of name, if there is a reader. w.mu is held.
func (w *watch) report(name string, was state, existed bool, is state, exists bool) {
	if w.events == nil {
		return
	}
	replaced := existed && exists && was.dir != is.dir
	if existed && (!exists || replaced) {
		w.events.Push(workspace.Event{Op: workspace.EventRemove, Path: name})
	}
	switch {
	case exists && (!existed || replaced):
		w.events.Push(workspace.Event{Op: workspace.EventCreate, Path: name})
	case exists && existed && was.version != is.version:
		w.events.Push(workspace.Event{Op: workspace.EventWrite, Path: name})
	}
}

// put takes over that name, and with it each directory that it lies in, is
// there now.
func (w *watch) put(name string, is state) {
	if !w.covers(name) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	parent, _ := workspace.Split(name)
	for _, dir := range slices.Backward(dircache.Ancestors(parent)) {
		if known := w.seen[dir]; !known.dir && w.covers(dir) {
			w.set(dir, state{dir: true}, true)
		}
	}
	w.set(name, is, true)
}

// set reports and takes over what became of name. w.mu is held.
func (w *watch) set(name string, is state, exists bool) {
	was, existed := w.seen[name]
	if exists {
		w.seen[name] = is
	} else {
		delete(w.seen, name)
	}
	if w.dirtySince != nil {
		w.dirtySince[name] = struct{}{}
	}
	w.report(name, was, existed, is, exists)
}

// remove takes over that name and all below it has been deleted.
func (w *watch) remove(name string) {
	for _, below := range append(w.below(name), name) {
		w.mu.Lock()
		if _, ok := w.seen[below]; ok || w.dirtySince != nil {
			w.set(below, state{}, false)
		}
		w.mu.Unlock()
	}
}

// below returns, sorted, what is known to be below the directory name.
func (w *watch) below(name string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for known := range w.seen {
		if strings.HasPrefix(known, name+"/") {
			names = append(names, known)
		}
	}
	slices.Sort(names)
	return names
}

// known returns the state in which the watch has seen a name.
func (w *watch) known(name string) (state, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known, ok := w.seen[name]
	return known, ok
}

// covers reports whether name lies below the directory of the watch.
func (w *watch) covers(name string) bool {
	return w.dir == "." || strings.HasPrefix(name, w.dir+"/")
}
