package localbash

import (
	"context"

	"github.com/fsnotify/fsnotify"

	"github.com/workspacekit/workspacekit/internal/notify"
	"github.com/workspacekit/workspacekit/workspace"
)

// WithoutOpenat2 lets f work as on a kernel that does not have the call.
func (f *FS) WithoutOpenat2() *FS {
	f.quick.refused = true
	return f
}

// WatchLosing is Watch with two functions: blind makes the watch of dir see
// nothing any more, and lose tells it that events were lost.
func (f *FS) WatchLosing(ctx context.Context, dir string) (events <-chan workspace.Event, blind, lose func(), err error) {
	w, err := f.openWatch(ctx, dir)
	if err != nil {
		return nil, nil, nil, err
	}
	w.queue = notify.New(ctx, dir, 0)
	go w.run(ctx)
	blind = func() {
		for _, path := range w.watcher.WatchList() {
			w.watcher.Remove(path)
		}
	}
	lose = func() { w.watcher.Errors <- fsnotify.ErrEventOverflow }
	return w.queue.Events(), blind, lose, nil
}
