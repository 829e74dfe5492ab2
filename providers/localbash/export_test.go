package localbash

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/workspacekit/workspacekit/providers/localbash/internal/dirwatch"
	"github.com/workspacekit/workspacekit/workspace"
)

// WithLockWait lets changes wait for no longer than limit for another process.
func (f *FS) WithLockWait(limit time.Duration) *FS {
	f.folder.lockWait = limit
	return f
}

// WatchFaults are what a test lets happen to the watches of the operating
// system.
type WatchFaults struct {
	Paths bool         // go by path, as on the systems other than Linux
	Limit atomic.Int64 // the most watches, zero for as many as there are
	Blind atomic.Bool  // nothing is told any more
	Lose  atomic.Bool  // says once that events were lost
	Gate  sync.RWMutex // while it is locked nothing is read
	Count atomic.Int64 // the watches that there are
	Idle  atomic.Int64 // how often there was nothing to read
}

// WatchFaulty is Watch with faults.
func (f *FS) WatchFaulty(ctx context.Context, dir string, opts *workspace.WatchOptions, faults *WatchFaults) (<-chan workspace.Event, error) {
	open := dirwatch.New
	if faults.Paths {
		open = dirwatch.NewPaths
	}
	var o workspace.WatchOptions
	if opts != nil {
		o = *opts
	}
	inner := open(filepath.Join(f.Root(), dir))
	return f.folder.watchBy(ctx, dir, o, &faultyNotifier{inner, faults, map[dirwatch.ID]bool{}})
}

type faultyNotifier struct {
	dirwatch.Notifier
	faults *WatchFaults
	ids    map[dirwatch.ID]bool
}

func (n *faultyNotifier) Add(dir dirwatch.Dir) (dirwatch.ID, error) {
	id, err := n.Notifier.Add(dir)
	if limit := n.faults.Limit.Load(); err == nil && limit > 0 && !n.ids[id] && int64(len(n.ids)) >= limit {
		n.Notifier.Remove(id)
		return 0, syscall.ENOSPC
	}
	if err == nil {
		n.ids[id] = true
		n.faults.Count.Store(int64(len(n.ids)))
	}
	return id, err
}

func (n *faultyNotifier) forget(id dirwatch.ID) {
	delete(n.ids, id)
	n.faults.Count.Store(int64(len(n.ids)))
}

func (n *faultyNotifier) Remove(id dirwatch.ID) {
	n.forget(id)
	n.Notifier.Remove(id)
}

func (n *faultyNotifier) Wait(ctx context.Context, deadline time.Time) []dirwatch.Notice {
	n.faults.Gate.RLock()
	soon := time.Now().Add(10 * time.Millisecond)
	if deadline.IsZero() || soon.Before(deadline) {
		deadline = soon
	}
	notices := n.Notifier.Wait(ctx, deadline)
	n.faults.Gate.RUnlock()
	if len(notices) == 0 {
		n.faults.Idle.Add(1)
	}
	for _, notice := range notices {
		if notice.Kind == dirwatch.Ended {
			n.forget(notice.Watch)
		}
	}
	if n.faults.Lose.Swap(false) {
		return []dirwatch.Notice{{Kind: dirwatch.Lost}}
	}
	if n.faults.Blind.Load() {
		return nil
	}
	return notices
}

// SyncDir flushes the directory that dir stands for, as after a change with Sync.
func SyncDir(dir *os.File) error {
	f := &folder{shared: &shared{}}
	f.sync = true
	return f.syncDir(&dirHandle{file: dir})
}
