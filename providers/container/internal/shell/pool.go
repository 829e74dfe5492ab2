package shell

import (
	"bytes"
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
	open       func(ctx context.Context) (*Session, error)
	killOrphan func(dead *Session) Call
	slots      chan struct{}  // has one element for each call that is under way
	stale      time.Duration  // see distrust
	closing    chan struct{}  // closed by Close: only chores have shells from then on
	opening    sync.WaitGroup // of shells; added to with mu held

	mu      sync.Mutex            // guards what follows
	idle    []*Session            // the one that was used last is last
	active  map[*Session]struct{} // those that calls have
	doing   *Session              // the one that a chore has
	chores  []Call                // what cleans up, in the order in which it is done
	settled chan struct{}         // closed when no chore is left; nil if there is none
	closed  bool                  // nobody has shells any more
}

const (
	// defaultStale is the usual stale of a pool.
	defaultStale = time.Second
	// probeTimeout bounds that trial.
	probeTimeout = 2 * time.Second
)

// NewPool returns a pool that opens sessions by open, carries out at most size
// calls at a time, and keeps as many sessions. To end the client on this side
// does not end what runs inside: the call that killOrphan returns
// does, and another shell makes it.
func NewPool(size int, open func(ctx context.Context) (*Session, error), killOrphan func(dead *Session) Call) *Pool {
	return &Pool{open: open, killOrphan: killOrphan, slots: make(chan struct{}, size), stale: defaultStale, closing: make(chan struct{}), active: map[*Session]struct{}{}}
}

// Add makes an open session one of the pool's.
func (p *Pool) Add(session *Session) { p.put(session) }

// Do makes a call and returns its whole reply. If its session breaks, a call that is
// not Once is repeated on a new session, unless the session was silent for too
// long. A call that is Once waits for what was given up earlier to end: a canceled
// write does not follow a later one.
//
// # Errors
//
// [fs.ErrClosed], the error of ctx, and those of [Open].
func (p *Pool) Do(ctx context.Context, call Call) (body []byte, status int, err error) {
	// An error in reading shows once more at the end of the reply.
	status, err = p.Read(ctx, call, func(reply io.Reader) { body, _ = readAll(reply) })
	return body, status, err
}

// The sizes of the parts in which a reply is read: most are short.
const (
	firstPart = 512
	lastPart  = 4 << 20
)

// readAll does what [io.ReadAll] does, and copies a large reply once: that one
// copies it whenever it has grown by a quarter.
func readAll(r io.Reader) ([]byte, error) {
	var full [][]byte
	part := make([]byte, 0, firstPart)
	for {
		n, err := r.Read(part[len(part):cap(part)])
		part = part[:len(part)+n]
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			if full == nil {
				return part, err
			}
			return bytes.Join(append(full, part), nil), err
		}
		if len(part) == cap(part) {
			full = append(full, part)
			part = make([]byte, 0, min(2*cap(part), lastPart))
		}
	}
}

// Read is Do for long replies: it calls read with the reply as a stream, which read
// need not read to its end. If the call is repeated, so is read.
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
// readers like. It waits for what was given up as Do does, and repeats nothing.
func (p *Pool) Stream(ctx context.Context, call Call) (*Stream, error) {
	if call.Once {
		p.settle(ctx)
	}
	session, err := p.take(ctx, false)
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

// take returns a session that works, an idle one or a new one, for a chore or
// for a call.
func (p *Pool) take(ctx context.Context, chore bool) (*Session, error) {
	for {
		session, err := p.pop(chore)
		if err != nil {
			return nil, err
		}
		if session == nil {
			return p.grow(ctx, chore)
		}
		if !session.ended() && (time.Since(session.used) < p.stale || session.answers(ctx)) {
			return session, nil
		}
		p.distrust(session)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// ended reports whether the shell is known to have ended: then it has not begun what a
// call would ask of it.
func (s *Session) ended() bool {
	p, knows := s.process.(interface{ Ended() bool })
	return knows && p.Ended()
}

// answers reports whether the session is still there, and answers soon.
func (s *Session) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	reply, err := s.Start(ctx, Call{Function: ":"})
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, reply)
	return err == nil && reply.Status == 0
}

// isClosed reports whether there are no shells for a chore, or a call.
// p.mu is held.
func (p *Pool) isClosed(chore bool) bool {
	select {
	case <-p.closing:
		return p.closed || !chore
	default:
		return false
	}
}

// pop returns an idle session, nil if there is none.
func (p *Pool) pop(chore bool) (*Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed(chore) {
		return nil, fs.ErrClosed
	}
	last := len(p.idle) - 1
	if last < 0 {
		p.opening.Add(1) // for grow
		return nil, nil
	}
	session := p.idle[last]
	p.idle = p.idle[:last]
	p.hold(session, chore)
	return session, nil
}

// hold notes who has a session. p.mu is held.
func (p *Pool) hold(session *Session, chore bool) {
	if chore {
		p.doing = session
		return
	}
	p.active[session] = struct{}{}
}

// let notes that nobody has a session. p.mu is held.
func (p *Pool) let(session *Session) {
	delete(p.active, session)
	if p.doing == session {
		p.doing = nil
	}
}

// grow opens a session, after pop has counted it. Close ends the attempt of a
// call.
func (p *Pool) grow(ctx context.Context, chore bool) (*Session, error) {
	defer p.opening.Done()
	if !chore {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go func() {
			select {
			case <-p.closing:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	session, err := p.open(ctx)
	p.mu.Lock()
	closed := p.isClosed(chore)
	if err == nil && !closed {
		p.hold(session, chore)
	}
	p.mu.Unlock()
	if closed {
		if err == nil {
			session.Close()
		}
		return nil, fs.ErrClosed
	}
	return session, err
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
	p.let(session)
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
	for _, other := range p.idle {
		other.used = time.Time{}
	}
	p.killOrphans(session)
}

// distrust ends a session that did not answer, and those that would have to be
// tried, too: what has cut off one has cut off the others, and to try each would
// take as long again. A session is tried before it is trusted once it has been
// idle for the time stale: containers stop and clients are cut off without a word.
func (p *Pool) distrust(session *Session) {
	p.mu.Lock()
	if p.doing == session {
		p.hold(session, false)
		p.doing = nil
	}
	dead := []*Session{session}
	p.idle = slices.DeleteFunc(p.idle, func(other *Session) bool {
		if time.Since(other.used) < p.stale {
			return false
		}
		p.active[other] = struct{}{}
		dead = append(dead, other)
		return true
	})
	p.killOrphans(dead...)
	p.mu.Unlock()
	kill(dead)
}

// kill ends some sessions.
func kill(dead []*Session) {
	var killing sync.WaitGroup
	for _, session := range dead {
		killing.Go(session.kill)
	}
	killing.Wait()
}

// Close ends all shells, and with them all calls that are under way, and what
// those have started inside. Then it makes the calls that last returns once no
// other call can begin. What is called afterwards fails with [fs.ErrClosed]. It must
// be called once.
func (p *Pool) Close(last func() []Call) {
	p.mu.Lock()
	close(p.closing)
	dead := slices.Collect(maps.Keys(p.active))
	p.killOrphans(dead...)
	p.mu.Unlock()
	if last != nil {
		for _, call := range last() {
			p.Clean(call)
		}
	}
	kill(dead)
	p.settle(context.Background())
	p.mu.Lock()
	p.closed = true
	dead, idle, settled := slices.Collect(maps.Keys(p.active)), p.idle, p.settled
	if p.doing != nil {
		dead = append(dead, p.doing)
	}
	p.idle = nil
	p.mu.Unlock()
	var closing sync.WaitGroup
	for _, session := range idle {
		closing.Go(session.Close)
	}
	kill(dead)
	closing.Wait()
	p.opening.Wait()
	if settled != nil {
		<-settled
	}
}
