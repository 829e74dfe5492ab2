package container

import (
	"context"
	"io/fs"
	"sync/atomic"
)

// inside is where the files are, as a start has found it.
type inside struct {
	image
	executor Executor
	shell    []string // the command line that starts a shell
	made     *made    // the container, if it was made for this
}

// start is what is done once, before the first call. It is safe for concurrent
// use.
type start struct {
	run   func(ctx context.Context) (*inside, error)
	ended <-chan struct{} // closed when it must not be done any more
	turn  chan struct{}   // has room for one: who tries, and in the end who has seen to it that nobody does
	found atomic.Pointer[inside]
}

func newStart(run func(ctx context.Context) (*inside, error), ended <-chan struct{}) *start {
	return &start{run: run, ended: ended, turn: make(chan struct{}, 1)}
}

// do returns what was found, after one of those who ask has found it. Who comes
// meanwhile waits, and tries anew if that fails: nobody fails by the context of
// another. Once ctx has ended do returns, and what it has begun is undone
// before the next may try.
//
// # Errors
//
// Those of run, the error of ctx, and [fs.ErrClosed].
func (s *start) do(ctx context.Context) (*inside, error) {
	if in := s.found.Load(); in != nil {
		return in, nil
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.ended:
		return nil, fs.ErrClosed
	}
	tried := make(chan error, 1)
	go func() {
		err := s.try(ctx)
		<-s.turn
		tried <- err
	}()
	select {
	case err := <-tried:
		return s.found.Load(), err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// try is for one at a time.
func (s *start) try(ctx context.Context) error {
	if s.found.Load() != nil {
		return nil
	}
	select {
	case <-s.ended:
		return fs.ErrClosed
	default:
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-s.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	in, err := s.run(ctx)
	if err == nil {
		s.found.Store(in)
	}
	return err
}

// end waits for a try that is under way and lets nobody try any more. ended is
// closed by then. It returns what was found, nil if there was none.
func (s *start) end() *inside {
	s.turn <- struct{}{}
	return s.found.Load()
}
