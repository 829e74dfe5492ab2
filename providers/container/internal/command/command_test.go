package command_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/workspacekit/workspacekit/providers/container/internal/command"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
)

// TestCanceledWaits cancels commands that wait for an engine which does not answer. Later, only
// the one that waits then asks it again.
func TestCanceledWaits(t *testing.T) {
	t.Parallel()
	silent := errors.New("the engine is silent")
	asked, answer := make(chan struct{}, 9), make(chan struct{})
	var times atomic.Int32
	m := &command.Machine{OpenKeeper: func(context.Context) (*shell.Session, error) {
		times.Add(1)
		asked <- struct{}{}
		<-answer
		return nil, silent
	}}
	ctx, cancel := context.WithCancel(t.Context())
	var canceled sync.WaitGroup
	for range 5 {
		canceled.Go(func() {
			if _, err := m.Run(ctx, command.Command{}); !errors.Is(err, context.Canceled) {
				t.Errorf("Run = %v, want %v", err, context.Canceled)
			}
		})
	}
	<-asked
	cancel()
	canceled.Wait()
	close(answer)
	if _, err := m.Run(t.Context(), command.Command{}); !errors.Is(err, silent) {
		t.Errorf("Run = %v, want %v", err, silent)
	}
	m.Close()
	if n := times.Load(); n != 2 {
		t.Errorf("the engine was asked %d times, want 2", n)
	}
}
