package container

import (
	"context"
	"io/fs"
	"sync/atomic"

	"github.com/workspacekit/workspacekit/providers/container/internal/engine"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
)

// session is where the files are, as the start has found it.
type session struct {
	program.Image
	executor Executor
	shell    []string               // the command line that starts a shell
	owned    *engine.OwnedContainer // the container, if it was created for this
}

// leave removes the container if it was created for this.
func (s *session) leave() error {
	if s == nil || s.owned == nil {
		return nil
	}
	return s.owned.Remove()
}

// lazyInit is a start that the first call makes. It is safe for concurrent use.
//
// It belongs to no caller's context. With three callers, where the first gives
// up:
//
//	A: do  turn, run ........ canceled: returns at once, and run undoes what
//	                          it has begun before it gives the turn back
//	B: do     waits ...............................turn, run ...... found
//	C: do        waits ..................................waits .... found
type lazyInit struct {
	run   func(ctx context.Context) (*session, error)
	ended <-chan struct{} // closed when no start may begin any more
	turn  chan struct{}   // has room for one: the caller who starts, or end
	found atomic.Pointer[session]
}

func newLazyInit(run func(ctx context.Context) (*session, error), ended <-chan struct{}) *lazyInit {
	return &lazyInit{run: run, ended: ended, turn: make(chan struct{}, 1)}
}

// do returns what was found, after one of the callers has found it. Callers that
// come meanwhile wait, and try themselves if that fails: nobody fails by the
// context of another. Once ctx has ended do returns, and what it has begun is
// undone before the next caller may try.
//
// # Errors
//
// Those of run, the error of ctx, and [fs.ErrClosed].
func (l *lazyInit) do(ctx context.Context) (*session, error) {
	if found := l.found.Load(); found != nil {
		return found, nil
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.ended:
		return nil, fs.ErrClosed
	}
	tried := make(chan error, 1)
	go func() {
		err := l.try(ctx)
		<-l.turn
		tried <- err
	}()
	select {
	case err := <-tried:
		return l.found.Load(), err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// try is for one caller at a time.
func (l *lazyInit) try(ctx context.Context) error {
	if l.found.Load() != nil {
		return nil
	}
	select {
	case <-l.ended:
		return fs.ErrClosed
	default:
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-l.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	found, err := l.run(ctx)
	if err == nil {
		l.found.Store(found)
	}
	return err
}

// end waits for a try that is under way and lets nobody try any more. ended is
// closed by then. It returns what was found, nil if there was none.
func (l *lazyInit) end() *session {
	l.turn <- struct{}{}
	return l.found.Load()
}
