// Package notify has the queue that every watch puts its events in: a provider
// that must not wait calls [Queue.Push], and a reader that may be slow receives
// from the channel of [Queue.Events]. The queue is bounded. One overflow event
// takes the place of all events that did not fit.
package notify

import (
	"context"
	"sync"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Queue delivers events to one reader. It is safe for concurrent use.
type Queue struct {
	dir   string
	limit int
	out   chan workspace.Event
	wake  chan struct{} // wakes the sender when pending grew; it has room for one

	mu      sync.Mutex
	pending []workspace.Event // guarded by mu
}

// New returns a queue of at most limit waiting events for a watch of dir, and
// starts its sender, which ends when ctx does and then closes the channel.
// A limit of zero or less means [ops.DefaultWatchBuffer].
func New(ctx context.Context, dir string, limit int) *Queue {
	if limit <= 0 {
		limit = ops.DefaultWatchBuffer
	}
	q := &Queue{dir: dir, limit: limit, out: make(chan workspace.Event), wake: make(chan struct{}, 1)}
	go q.send(ctx)
	return q
}

// Events returns the channel to read from.
func (q *Queue) Events() <-chan workspace.Event { return q.out }

// Push adds an event and never blocks. If the queue is full the event is
// dropped, and an overflow takes the place of all that are dropped until the
// reader has caught up. An event that repeats the last one waiting is merged
// with it.
func (q *Queue) Push(event workspace.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	last := len(q.pending) - 1
	switch {
	case last >= 0 && q.pending[last] == event:
		return
	case len(q.pending) < q.limit:
		q.pending = append(q.pending, event)
	case q.pending[last].Op != workspace.EventOverflow:
		q.pending = append(q.pending, q.overflow())
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Overflow adds an overflow event: events were lost before they reached the
// queue.
func (q *Queue) Overflow() { q.Push(q.overflow()) }

// overflow returns the event that stands for the events that were dropped.
func (q *Queue) overflow() workspace.Event {
	return workspace.Event{Op: workspace.EventOverflow, Path: q.dir}
}

// send passes events to the channel, one after the other, until ctx ends. It
// runs in a goroutine of its own, so that Push never waits for a reader.
func (q *Queue) send(ctx context.Context) {
	defer close(q.out)
	for {
		event, ok := q.pop()
		if !ok {
			select {
			case <-ctx.Done():
				return
			case <-q.wake:
				continue
			}
		}
		select {
		case <-ctx.Done():
			return
		case q.out <- event:
		}
	}
}

// pop returns the next event, and false if there is none.
func (q *Queue) pop() (workspace.Event, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.pending) == 0 {
		return workspace.Event{}, false
	}
	event := q.pending[0]
	q.pending = q.pending[1:]
	return event, true
}
