package conformance

import (
	"fmt"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// overflowRounds is how often a case tries to make a watch overflow: a reader
// can by chance be as fast as a provider.
const overflowRounds = 10

// burst makes 200 files that nobody reads the events of meanwhile, and a
// second watch sees all of them.
func (e *env) burst(round int, ready *watcher) []string {
	e.Helper()
	names := make([]string, 200)
	events := make([]workspace.Event, len(names))
	for i := range names {
		names[i] = fmt.Sprintf("dir/round%d-%03d", round, i)
		events[i] = created(names[i])
		e.change(names[i], "")
	}
	ready.await(events...)
	return names
}

// watchOverflow does not read while 200 files are made. What it has not been
// told then, it must have been told to look for.
func watchOverflow(e *env) {
	e.given(files{"dir/": ""})
	slow, ready := e.watch("dir", &workspace.WatchOptions{Buffer: 4}), e.watch("dir", nil)
	for round := range overflowRounds {
		if slow.toldOf(e.burst(round, ready)) {
			return
		}
	}
	e.Errorf("Watch(%q, Buffer: 4) sent no overflow event for %d times 200 events that were not read, want one", "dir", overflowRounds)
}

// toldOf reads until every one of names has come, which is false, or an
// overflow instead, which is true.
func (w *watcher) toldOf(names []string) (overflow bool) {
	w.Helper()
	missing := make(map[string]bool)
	for _, name := range names {
		missing[name] = true
	}
	timeout := time.After(w.opts.watchWait())
	for len(missing) > 0 {
		event, ok := w.next(timeout, fmt.Sprintf("an overflow, or %d names that are missing", len(missing)))
		if !ok {
			w.Fatalf("Watch(%q) closed its channel before its context ended", w.dir)
		}
		if event.Op == workspace.EventOverflow {
			if event.Path != w.dir {
				w.Errorf("Watch(%q) sent %v, want an overflow with the Path %q", w.dir, event, w.dir)
			}
			return true
		}
		delete(missing, event.Path)
	}
	return false
}

// watchAfterOverflow changes a file until a watch that had overflowed reports
// it: some of the events may be lost to the same overflow.
func watchAfterOverflow(e *env) {
	e.given(files{"dir/": ""})
	w, ready := e.watch("dir", &workspace.WatchOptions{Buffer: 4}), e.watch("dir", nil)
	w.toldOf(e.burst(0, ready))
	deadline := time.Now().Add(w.opts.watchWait())
	for try := 0; time.Now().Before(deadline); try++ {
		name := fmt.Sprintf("dir/later%d", try)
		e.change(name, "")
		if w.sendsSoon(name) {
			return
		}
	}
	e.Errorf("Watch(%q, Buffer: 4) sent no more changes in %v after an overflow", "dir", w.opts.watchWait())
}

// sendsSoon reads for a short time and reports whether name came.
func (w *watcher) sendsSoon(name string) bool {
	timeout := time.After(w.opts.watchWait() / 10)
	for {
		select {
		case event, ok := <-w.events:
			if !ok || event.Path == name {
				return ok
			}
		case <-timeout:
			return false
		}
	}
}

// watchNothingLost reads all the time, with room for everything.
func watchNothingLost(e *env) {
	e.given(files{"dir/": ""})
	w := e.watch("dir", nil)
	if w.toldOf(e.burst(0, e.watch("dir", nil))) {
		e.Errorf("Watch(%q) sent an overflow for 200 events, want room for %d", "dir", ops.DefaultWatchBuffer)
	}
}
