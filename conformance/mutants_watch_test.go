package conformance_test

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

type watchFunc = func(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error)

func mutateWatch(change func(h *hooked, watch watchFunc) watchFunc) func(*hooked) {
	return func(h *hooked) { h.watch = change(h, h.watch) }
}

// mutateEvents is a mutant whose events go through change, which sends what it
// likes of each.
func mutateEvents(change func(dir string, event workspace.Event, send func(workspace.Event))) func(*hooked) {
	return mutateWatch(func(_ *hooked, watch watchFunc) watchFunc {
		return func(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
			events, err := watch(ctx, dir, opts)
			if err != nil {
				return nil, err
			}
			out := make(chan workspace.Event)
			go relay(ctx, events, out, func(event workspace.Event, send func(workspace.Event)) { change(dir, event, send) })
			return out, nil
		}
	})
}

// relay sends what change makes of events to out, and closes it at their end.
func relay(ctx context.Context, events <-chan workspace.Event, out chan<- workspace.Event, change func(workspace.Event, func(workspace.Event))) {
	defer close(out)
	for event := range events {
		change(event, func(event workspace.Event) {
			select {
			case out <- event:
			case <-ctx.Done():
			}
		})
	}
}

// dropping is a mutant that sends all events but those.
func dropping(drop func(dir string, event workspace.Event) bool) func(*hooked) {
	return mutateEvents(func(dir string, event workspace.Event, send func(workspace.Event)) {
		if !drop(dir, event) {
			send(event)
		}
	})
}

func watchMutants() []mutant {
	return []mutant{
		{"watch-no-creations", dropping(func(_ string, e workspace.Event) bool { return e.Op == workspace.EventCreate }), []string{"Watch/file", "Watch/own-writes", "Watch/directory", "Watch/two-watchers", "Watch/channel-closes", "Watch/nothing-lost"}},
		{"watch-no-writes", dropping(func(_ string, e workspace.Event) bool { return e.Op == workspace.EventWrite }), []string{"Watch/file", "Watch/at-depth", "Watch/same-size-rewrite", "Watch/only-what-changed"}},
		{"watch-no-removals", dropping(func(_ string, e workspace.Event) bool { return e.Op == workspace.EventRemove }), []string{"Watch/file", "Watch/directory", "Watch/recursive-rm", "Watch/move-file", "Watch/move-directory"}},
		{"watch-direct-children-only", dropping(func(dir string, e workspace.Event) bool { return path.Dir(e.Path) != dir }), []string{"Watch/at-depth", "Watch/new-directory-with-files", "Watch/recursive-rm", "Watch/move-directory"}},
		{"watch-top-of-a-removal", dropping(func(_ string, e workspace.Event) bool {
			return e.Op == workspace.EventRemove && strings.Contains(e.Path, "/")
		}), []string{"Watch/recursive-rm", "Watch/move-directory"}},
		{"watch-loses-taken-names", mutateWatch(losesTakenNames), []string{"Watch/replace-directory"}},
		{"watch-misses-early-files", dropping(func(_ string, e workspace.Event) bool {
			return e.Op == workspace.EventCreate && strings.HasPrefix(e.Path, "new") && strings.Count(e.Path, "/") > 1
		}), []string{"Watch/new-directory-with-files"}},
		{"watch-writes-as-creations", mutateEvents(func(_ string, e workspace.Event, send func(workspace.Event)) {
			if e.Op == workspace.EventWrite {
				e.Op = workspace.EventCreate
			}
			send(e)
		}), []string{"Watch/file", "Watch/only-what-changed"}},
		{"watch-paths-from-dir", mutateEvents(func(dir string, e workspace.Event, send func(workspace.Event)) {
			e.Path = strings.TrimPrefix(e.Path, dir+"/")
			send(e)
		}), []string{"Watch/at-depth", "Watch/channel-closes"}},
		{"watch-everything", mutateWatch(watchesRoot), []string{"Watch/only-below-dir"}},
		{"watch-siblings-with-prefix", mutateWatch(watchesPrefix), []string{"Watch/only-below-dir"}},
		{"watch-shows-temporary-files", mutateEvents(func(_ string, e workspace.Event, send func(workspace.Event)) {
			send(workspace.Event{Op: workspace.EventCreate, Path: e.Path + ".tmp"})
			send(e)
		}), []string{"Watch/only-what-changed", "Watch/only-below-dir"}},
		{"watch-one-watcher-only", mutateWatch(oneWatcher), []string{"Watch/two-watchers"}},
		{"watch-never-closes", mutateWatch(neverCloses), []string{"Watch/channel-closes", "Watch/closes-without-reader", "Context/watch-ends", "Watch/two-watchers"}},
		{"watch-waits-for-its-reader-after-its-end", mutateWatch(waitsAfterEnd), []string{"Watch/closes-without-reader"}},
		{"watch-closes-with-its-directory", mutateWatch(closesWithDirectory), []string{"Watch/channel-stays-open"}},
		{"watch-waits-for-its-reader", mutateWatch(unbounded), []string{"Watch/overflow"}},
		{"watch-drops-silently", dropping(func(_ string, e workspace.Event) bool { return e.Op == workspace.EventOverflow }), []string{"Watch/overflow"}},
		{"watch-overflow-without-path", mutateEvents(func(_ string, e workspace.Event, send func(workspace.Event)) {
			if e.Op == workspace.EventOverflow {
				e.Path = ""
			}
			send(e)
		}), []string{"Watch/overflow"}},
		{"watch-ends-with-overflow", mutateWatch(endsWithOverflow), []string{"Watch/after-overflow"}},
		{"watch-has-no-buffer", mutateWatch(noBuffer), []string{"Watch/nothing-lost"}},
		{"watch-missing-waits", mutateWatch(withoutWatchError(fs.ErrNotExist)), []string{"Watch/missing", "Errors/watch-missing"}},
		{"watch-file-waits", mutateWatch(withoutWatchError(workspace.ErrNotDir)), []string{"Watch/file-as-dir"}},
		{"watch-negative-is-default", mutateWatch(withoutWatchError(fs.ErrInvalid)), []string{"Watch/negative-options"}},
	}
}

func watchesRoot(_ *hooked, watch watchFunc) watchFunc {
	return func(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
		return watch(ctx, ".", opts)
	}
}

// losesTakenNames tells nothing of a directory whose name another has had.
func losesTakenNames(_ *hooked, watch watchFunc) watchFunc {
	return func(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
		events, err := watch(ctx, dir, opts)
		if err != nil {
			return nil, err
		}
		out := make(chan workspace.Event)
		removed := make(map[string]bool)
		go relay(ctx, events, out, func(event workspace.Event, send func(workspace.Event)) {
			if event.Op == workspace.EventRemove {
				removed[event.Path] = true
			}
			if event.Op == workspace.EventRemove || !removed[path.Dir(event.Path)] {
				send(event)
			}
		})
		return out, nil
	}
}

func watchesPrefix(_ *hooked, watch watchFunc) watchFunc {
	return func(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
		events, err := watch(ctx, ".", opts)
		if err != nil {
			return nil, err
		}
		out := make(chan workspace.Event)
		go relay(ctx, events, out, func(event workspace.Event, send func(workspace.Event)) {
			if strings.HasPrefix(event.Path, dir) {
				send(event)
			}
		})
		return out, nil
	}
}

// oneWatcher gives the events of a directory to its first watch only.
func oneWatcher(_ *hooked, watch watchFunc) watchFunc {
	watched := make(map[string]bool)
	return func(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
		if watched[dir] {
			return make(chan workspace.Event), nil
		}
		watched[dir] = true
		return watch(ctx, dir, opts)
	}
}

func neverCloses(_ *hooked, watch watchFunc) watchFunc {
	return func(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
		events, err := watch(ctx, dir, opts)
		if err != nil {
			return nil, err
		}
		out := make(chan workspace.Event)
		go func() {
			for event := range events {
				select {
				case out <- event:
				case <-ctx.Done():
				}
			}
		}()
		return out, nil
	}
}

// waitsAfterEnd sends each event, however long that takes.
func waitsAfterEnd(_ *hooked, watch watchFunc) watchFunc {
	return func(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
		events, err := watch(ctx, dir, opts)
		if err != nil {
			return nil, err
		}
		out := make(chan workspace.Event)
		go func() {
			defer close(out)
			for event := range events {
				out <- event
			}
		}()
		return out, nil
	}
}

func closesWithDirectory(_ *hooked, watch watchFunc) watchFunc {
	return func(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
		ctx, cancel := context.WithCancel(ctx)
		events, err := watch(ctx, dir, opts)
		if err != nil {
			cancel()
			return nil, err
		}
		out := make(chan workspace.Event, 1)
		go relay(ctx, events, out, func(event workspace.Event, send func(workspace.Event)) {
			send(event)
			if event.Op == workspace.EventRemove {
				cancel()
			}
		})
		return out, nil
	}
}

func unbounded(_ *hooked, watch watchFunc) watchFunc {
	return func(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
		return watch(ctx, dir, &workspace.WatchOptions{Buffer: 1 << 20, Interval: opts.Interval})
	}
}

func endsWithOverflow(_ *hooked, watch watchFunc) watchFunc {
	return func(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
		events, err := watch(ctx, dir, opts)
		if err != nil {
			return nil, err
		}
		out := make(chan workspace.Event)
		overflowed := false
		go relay(ctx, events, out, func(event workspace.Event, send func(workspace.Event)) {
			if !overflowed {
				send(event)
			}
			overflowed = overflowed || event.Op == workspace.EventOverflow
		})
		return out, nil
	}
}

func noBuffer(_ *hooked, watch watchFunc) watchFunc {
	return func(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
		events, err := watch(ctx, dir, opts)
		if err != nil {
			return nil, err
		}
		out := make(chan workspace.Event)
		sent := 0
		go relay(ctx, events, out, func(event workspace.Event, send func(workspace.Event)) {
			if sent++; sent == 100 {
				event = workspace.Event{Op: workspace.EventOverflow, Path: dir}
			}
			send(event)
		})
		return out, nil
	}
}

// withoutWatchError opens a channel of nothing instead of an error.
func withoutWatchError(kind error) func(*hooked, watchFunc) watchFunc {
	return func(_ *hooked, watch watchFunc) watchFunc {
		return func(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
			events, err := watch(ctx, dir, opts)
			if errors.Is(err, kind) {
				return make(chan workspace.Event), nil
			}
			return events, err
		}
	}
}
