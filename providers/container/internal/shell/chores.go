package shell

import (
	"context"
	"io"
	"time"
)

// choreTimeout bounds a chore, and the wait for all of them.
const choreTimeout = 5 * time.Second

// killOrphans queues the calls that end what killed sessions have left running
// inside. p.mu is held.
func (p *Pool) killOrphans(dead ...*Session) {
	for _, session := range dead {
		if _, active := p.active[session]; !active {
			continue // its call is queued already
		}
		delete(p.active, session)
		p.queue(p.killOrphan(session))
	}
}

// Clean makes a call in the background that cleans up after one that was given
// up, once that has ended. Close waits for it.
func (p *Pool) Clean(call Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue(call)
}

// queue adds a chore. p.mu is held.
func (p *Pool) queue(call Call) {
	if p.closed {
		return
	}
	p.chores = append(p.chores, call)
	if p.settled == nil {
		p.settled = make(chan struct{})
		go p.work()
	}
}

// work does one chore after the other until none is left.
func (p *Pool) work() {
	for {
		call, ok := p.nextChore()
		if !ok {
			return
		}
		p.do(call)
	}
}

func (p *Pool) nextChore() (Call, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.chores) == 0 {
		p.chores = nil
		close(p.settled)
		p.settled = nil
		return Call{}, false
	}
	call := p.chores[0]
	p.chores = p.chores[1:]
	return call, true
}

// do does a chore, if that can be done: the container may have been removed. A
// shell that breaks on the way is no chore again, or there would be no end.
func (p *Pool) do(call Call) {
	ctx, cancel := context.WithTimeout(context.Background(), choreTimeout)
	defer cancel()
	session, err := p.take(ctx, true)
	if err != nil {
		return
	}
	if reply, err := session.Start(ctx, call); err == nil {
		_, _ = io.Copy(io.Discard, reply) // an error breaks the session
	}
	if session.broken.Load() {
		session.kill()
		p.mu.Lock()
		p.let(session)
		p.mu.Unlock()
		return
	}
	p.put(session)
}

// settle waits until no chore is left.
func (p *Pool) settle(ctx context.Context) {
	p.mu.Lock()
	settled := p.settled
	p.mu.Unlock()
	if settled == nil {
		return
	}
	late := time.NewTimer(choreTimeout)
	defer late.Stop()
	select {
	case <-settled:
	case <-ctx.Done():
	case <-late.C:
	}
}
