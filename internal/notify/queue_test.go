package notify_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/notify"
	"github.com/workspacekit/workspacekit/workspace"
)

func write(name string) workspace.Event {
	return workspace.Event{Op: workspace.EventWrite, Path: name}
}

// drain reads what waits, once the sender has nothing left to do.
func drain(q *notify.Queue) []workspace.Event {
	var events []workspace.Event
	for {
		synctest.Wait()
		select {
		case event := <-q.Events():
			events = append(events, event)
		default:
			return events
		}
	}
}

func TestQueueKeepsOrderAndMergesRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := notify.New(t.Context(), ".", 0)
		for _, name := range []string{"a", "b", "b", "b", "a"} {
			q.Push(write(name))
		}
		if diff := cmp.Diff([]workspace.Event{write("a"), write("b"), write("a")}, drain(q)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestQueueSaysWhatItDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := notify.New(t.Context(), "dir", 3)
		q.Push(write("in the sender's hand"))
		synctest.Wait()
		for i := range 10 {
			q.Push(write(fmt.Sprint(i)))
		}
		overflow := workspace.Event{Op: workspace.EventOverflow, Path: "dir"}
		want := []workspace.Event{write("in the sender's hand"), write("0"), write("1"), write("2"), overflow}
		if diff := cmp.Diff(want, drain(q)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		q.Push(write("later"))
		if diff := cmp.Diff([]workspace.Event{write("later")}, drain(q)); diff != "" {
			t.Errorf("events after the reader caught up (-want +got):\n%s", diff)
		}
	})
}

func TestQueueEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		q := notify.New(ctx, ".", 0)
		cancel()
		synctest.Wait()
		if event, open := <-q.Events(); open {
			t.Errorf("the channel has %v after its context ended, want it closed", event)
		}
		q.Push(write("nobody reads this")) // must not panic or block
	})
}
