package provider

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/notify"
	"github.com/workspacekit/workspacekit/workspace"
)

// Events is the channel of a [Watcher], with the buffer and the overflow event that the
// contract asks for. It is safe for concurrent use.
type Events struct{ queue *notify.Queue }

// NewEvents returns the Events of a watch of dir with the options opts. They end with ctx.
func NewEvents(ctx context.Context, dir string, opts workspace.WatchOptions) *Events {
	return &Events{notify.New(ctx, dir, opts.Buffer)}
}

// Channel returns what Watch returns. It closes when the context has ended.
func (e *Events) Channel() <-chan workspace.Event { return e.queue.Events() }

// Push adds an event, and never waits for the reader. One that repeats the last event
// which waits is left out.
func (e *Events) Push(event workspace.Event) { e.queue.Push(event) }

// Overflow reports that the store has lost events.
func (e *Events) Overflow() { e.queue.Overflow() }
