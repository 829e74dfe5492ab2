package conformance

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// pollInterval is what polled watches are asked for, so that a case takes
// little longer than a native one.
const pollInterval = 20 * time.Millisecond

// watcher reads the events of one watch and keeps them. It is for the goroutine
// of the case, and reads only when it is asked to. So a case decides whether
// its watch is a fast reader or a slow one.
type watcher struct {
	*env
	dir    string // that is watched
	events <-chan workspace.Event
	seen   []workspace.Event // the events that have come so far
}

// created is the event of a new name.
func created(name string) workspace.Event {
	return workspace.Event{Op: workspace.EventCreate, Path: name}
}

// written is the event of new bytes.
func written(name string) workspace.Event {
	return workspace.Event{Op: workspace.EventWrite, Path: name}
}

// removed is the event of a name that no longer exists.
func removed(name string) workspace.Event {
	return workspace.Event{Op: workspace.EventRemove, Path: name}
}

// watch opens a watch that ends with the case.
func (e *env) watch(dir string, opts *workspace.WatchOptions) *watcher {
	e.Helper()
	return e.watchUntil(e.ctx, dir, opts)
}

// watchUntil opens a watch that ends with ctx. Of opts only Buffer counts. A
// directory that cannot be watched ends the case.
func (e *env) watchUntil(ctx context.Context, dir string, opts *workspace.WatchOptions) *watcher {
	e.Helper()
	o := workspace.WatchOptions{Interval: pollInterval}
	if opts != nil {
		o.Buffer = opts.Buffer
	}
	events, err := e.fsys.Watch(ctx, dir, &o)
	if err != nil || events == nil {
		e.Fatalf("Watch(%q, %+v) = %v, %v, want a channel", dir, o, events, err)
	}
	return &watcher{env: e, dir: dir, events: events}
}

// next returns the next event, and fails the case if there is none in time.
// timeout bounds a whole wait of several events, and want is for the failure.
// ok is false if the channel is closed.
func (w *watcher) next(timeout <-chan time.Time, want string) (event workspace.Event, ok bool) {
	w.Helper()
	select {
	case event, ok = <-w.events:
		if ok {
			w.seen = append(w.seen, event)
		}
		return event, ok
	case <-timeout:
		w.Fatalf("Watch(%q) sent nothing more in %v, want %s; before came %v", w.dir, w.opts.watchWait(), want, w.seen)
		return workspace.Event{}, false
	}
}

// await waits until each of want has come since the last await, in any order.
// Others are kept for only. A provider may report one change twice, and several
// writes once, so neither the order nor the number is tested.
func (w *watcher) await(want ...workspace.Event) {
	w.Helper()
	timeout := time.After(w.opts.watchWait())
	for len(want) > 0 {
		event, ok := w.next(timeout, fmt.Sprint(want))
		if !ok {
			w.Fatalf("Watch(%q) closed its channel before its context ended, want %v", w.dir, want)
		}
		want = slices.DeleteFunc(want, func(e workspace.Event) bool { return e == event })
	}
}

// only fails the case if an event was about another name than those.
func (w *watcher) only(names ...string) {
	w.Helper()
	for _, event := range w.seen {
		if !slices.Contains(names, event.Path) {
			w.Errorf("Watch(%q) sent %v, want events of %q only", w.dir, event, names)
		}
	}
}

// awaitClose reads until the channel is closed.
func (w *watcher) awaitClose() {
	w.Helper()
	timeout := time.After(w.opts.watchWait())
	for {
		if _, ok := w.next(timeout, "the channel closed"); !ok {
			return
		}
	}
}

// closed reports whether the channel is closed, without waiting. It throws away
// the events that are waiting.
func (w *watcher) closed() bool {
	for {
		select {
		case _, ok := <-w.events:
			if !ok {
				return true
			}
		default:
			return false
		}
	}
}
