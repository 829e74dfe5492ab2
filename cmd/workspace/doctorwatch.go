package main

import (
	"context"
	"fmt"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// pollInterval is the time between two looks of a polled watch, of which the
// usual one can be longer than anybody waits for a doctor.
const pollInterval = time.Second

// watch finds out whether a watch reports what the probe itself writes.
func (e *examination) watch(ctx context.Context) outcome {
	mode := e.ws.Capabilities().Watch
	if mode == workspace.WatchNone {
		return skipped("not supported")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := e.ws.Watch(ctx, ".", &workspace.WatchOptions{Interval: pollInterval})
	if err != nil {
		return failed(err)
	}
	if !e.mark.written {
		return healthy(string(mode) + ", started; not written to")
	}
	begun := time.Now()
	if _, err := e.ws.WriteFile(ctx, e.mark.name, markData(4), nil); err != nil {
		return failed(err)
	}
	if !e.reported(ctx, events) {
		return outcome{
			status: statusFail, detail: fmt.Sprintf("%s, and no event in %s for a file that was written", mode, e.timeout),
			remedy: "Do not rely on a watch here: look again instead. A folder that another computer shares may report nothing.",
		}
	}
	return healthy(fmt.Sprintf("%s, an event after %d ms", mode, time.Since(begun).Milliseconds()))
}

// reported waits for the event of the write until ctx ends.
func (e *examination) reported(ctx context.Context, events <-chan workspace.Event) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case event, open := <-events:
			if !open {
				return false
			}
			if event.Path == e.mark.name && (event.Op == workspace.EventWrite || event.Op == workspace.EventCreate) {
				return true
			}
		}
	}
}
