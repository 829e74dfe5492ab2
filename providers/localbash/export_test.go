package localbash

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// WithLockWait lets changes wait for no longer than limit for another process.
func (f *FS) WithLockWait(limit time.Duration) *FS {
	f.lockWait = limit
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
	inner := f.newNotifier(dir)
	if faults.Paths {
		inner = newPathNotifier(filepath.Join(f.root, dir))
	}
	return f.watchBy(ctx, dir, opts, &faultyNotifier{inner, faults, map[watchID]bool{}})
}

type faultyNotifier struct {
	notifier
	faults *WatchFaults
	ids    map[watchID]bool
}

func (n *faultyNotifier) add(l listing, path string) (watchID, error) {
	id, err := n.notifier.add(l, path)
	if limit := n.faults.Limit.Load(); err == nil && limit > 0 && !n.ids[id] && int64(len(n.ids)) >= limit {
		n.notifier.remove(id)
		return 0, syscall.ENOSPC
	}
	if err == nil {
		n.ids[id] = true
		n.faults.Count.Store(int64(len(n.ids)))
	}
	return id, err
}

func (n *faultyNotifier) forget(id watchID) {
	delete(n.ids, id)
	n.faults.Count.Store(int64(len(n.ids)))
}

func (n *faultyNotifier) remove(id watchID) {
	n.forget(id)
	n.notifier.remove(id)
}

func (n *faultyNotifier) wait(ctx context.Context, deadline time.Time) []notice {
	n.faults.Gate.RLock()
	soon := time.Now().Add(10 * time.Millisecond)
	if deadline.IsZero() || soon.Before(deadline) {
		deadline = soon
	}
	notices := n.notifier.wait(ctx, deadline)
	n.faults.Gate.RUnlock()
	if len(notices) == 0 {
		n.faults.Idle.Add(1)
	}
	for _, notice := range notices {
		if notice.kind == noticeEnded {
			n.forget(notice.watch)
		}
	}
	if n.faults.Lose.Swap(false) {
		return []notice{{kind: noticeLost}}
	}
	if n.faults.Blind.Load() {
		return nil
	}
	return notices
}
