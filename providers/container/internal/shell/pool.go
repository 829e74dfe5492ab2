package shell

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"
)

// Pool is the open shells of one container. It opens them as they are needed
// and keeps some for the next call. It is safe for concurrent use.
type Pool struct {
	open  func(ctx context.Context) (*Session, error)
	reap  func(dead *Session) Call
	slots chan struct{} // has one element for each call that is under way

	reaping sync.WaitGroup // of shells that were given up

	mu     sync.Mutex // guards what follows
	idle   []*Session // the one that was used last is last
	active map[*Session]struct{}
	closed bool
}

// stale is how long a session has been idle when it is tried before it is
// trusted: containers stop and clients are cut off without a word.
const stale = time.Second

// reapTimeout bounds the end of what a shell that was given up still does.
const reapTimeout = 5 * time.Second

// NewPool returns a pool that opens sessions by open, carries out at most size
// calls at a time, and keeps as many sessions. To end the client on this side
// does not end what runs inside: the call that reap returns does, and is made
// by another shell.
func NewPool(size int, open func(ctx context.Context) (*Session, error), reap func(dead *Session) Call) *Pool {
	return &Pool{open: open, reap: reap, slots: make(chan struct{}, size), active: map[*Session]struct{}{}}
}

// Add makes an open session one of the pool's.
func (p *Pool) Add(session *Session) { p.put(session) }

// Do makes a call and returns its whole reply. A call that a broken session
// was not asked for Once is made again on a new one, unless the session was too
// long silent.
//
// # Errors
//
// [fs.ErrClosed], the error of ctx, and those of [Open].
func (p *Pool) Do(ctx context.Context, call Call) (body []byte, status int, err error) {
	// An error in reading shows once more at the end of the reply.
	status, err = p.Read(ctx, call, func(reply io.Reader) { body, _ = readAll(reply) })
	return body, status, err
}

// Read does what Do does, but has the reply read by read, as far as that likes to.
// If the call is made again read is called again.
func (p *Pool) Read(ctx context.Context, call Call, read func(reply io.Reader)) (status int, err error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	for again := !call.Once && call.Input == nil; ; again = false {
		status, err = p.try(ctx, call, read)
		if broken := new(BrokenError); !again || !errors.As(err, &broken) || errors.Is(err, ErrSilent) {
			return status, err
		}
	}
}

func (p *Pool) try(ctx context.Context, call Call, read func(reply io.Reader)) (status int, err error) {
	stream, err := p.Stream(ctx, call)
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	read(stream)
	_, err = io.Copy(io.Discard, stream)
	return stream.Status, err
}

// Stream makes a call whose reply is read as it comes. It does not wait for a
// free session but opens one more: streams stay open for as long as their
// readers like.
func (p *Pool) Stream(ctx context.Context, call Call) (*Stream, error) {
	session, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	reply, err := session.Start(ctx, call)
	if err != nil {
		p.put(session)
		return nil, err
	}
	return &Stream{Reply: reply, pool: p}, nil
}

// Stream is a reply on a session of a pool, to which it is returned by Close.
type Stream struct {
	*Reply
	pool *Pool
	once sync.Once
}

// Abort makes the stream end, for whoever reads it. It must not be called after
// Close.
func (s *Stream) Abort() { s.session.kill() }

// Close ends the stream.
func (s *Stream) Close() {
	s.once.Do(func() {
		s.Reply.Close()
		s.pool.put(s.session)
	})
}

// take returns a session that works, an idle one or a new one.
func (p *Pool) take(ctx context.Context) (*Session, error) {
	for {
		session, err := p.pop()
		if err != nil {
			return nil, err
		}
		if session == nil {
			return p.grow(ctx)
		}
		if time.Since(session.used) < stale || session.answers(ctx) {
			return session, nil
		}
		p.drop(session)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// answers reports whether the session is still there.
func (s *Session) answers(ctx context.Context) bool {
	reply, err := s.Start(ctx, Call{Function: ":"})
	if err != nil {
		return false
	}
	reply.silence = s.shortSilence()
	_, err = io.Copy(io.Discard, reply)
	return err == nil && reply.Status == 0
}

// pop returns an idle session, nil if there is none.
func (p *Pool) pop() (*Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fs.ErrClosed
	}
	last := len(p.idle) - 1
	if last < 0 {
		return nil, nil
	}
	session := p.idle[last]
	p.idle = p.idle[:last]
	p.active[session] = struct{}{}
	return session, nil
}

// grow opens a session.
func (p *Pool) grow(ctx context.Context) (*Session, error) {
	session, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		session.Close()
		return nil, fs.ErrClosed
	}
	p.active[session] = struct{}{}
	return session, nil
}

// put takes a session back after a call. A broken one says that the others may
// be, too.
func (p *Pool) put(session *Session) {
	if session.broken.Load() {
		p.drop(session)
		return
	}
	if !p.keep(session) {
		session.Close()
	}
}

// keep makes a session idle, unless there are enough of these.
func (p *Pool) keep(session *Session) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.active, session)
	if p.closed || len(p.idle) >= cap(p.slots) {
		return false
	}
	p.idle = append(p.idle, session)
	return true
}

// drop ends a session, and has the idle ones tried before they are trusted.
func (p *Pool) drop(session *Session) {
	session.kill()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.active, session)
	for _, other := range p.idle {
		other.used = time.Time{}
	}
	if !p.closed {
		p.reaping.Go(func() { p.bury(session) })
	}
}

// bury ends what is left of sessions that were killed, as far as that can be
// done: their container may be gone.
func (p *Pool) bury(dead ...*Session) {
	ctx, cancel := context.WithTimeout(context.Background(), reapTimeout)
	defer cancel()
	for _, session := range dead {
		if _, err := p.try(ctx, p.reap(session), func(io.Reader) {}); err != nil {
			return
		}
	}
}

// Close ends all shells, and with them all calls that are under way. What is
// called afterwards fails with [fs.ErrClosed].
func (p *Pool) Close() {
	p.mu.Lock()
	active := slices.Collect(maps.Keys(p.active))
	p.mu.Unlock()
	for _, session := range active {
		session.kill()
	}
	p.bury(active...)
	p.mu.Lock()
	p.closed = true
	active, idle := slices.Collect(maps.Keys(p.active)), p.idle
	p.idle = nil
	p.mu.Unlock()
	p.reaping.Wait()
	var closing sync.WaitGroup
	for _, session := range idle {
		closing.Go(session.Close)
	}
	for _, session := range active {
		closing.Go(session.kill)
	}
	closing.Wait()
}
