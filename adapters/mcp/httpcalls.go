package mcp

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// callsKey is the key of the [httpCalls] in the context of a session over HTTP.
type callsKey struct{}

// httpCalls are the calls over HTTP that run. The SDK keeps a call apart from its request,
// and waits for the calls of a session that is ended, so they are cancelled here. It is safe
// for concurrent use.
type httpCalls struct {
	server context.Context // when it ends, all calls are cancelled
	mu     sync.Mutex
	open   map[*httpCall]bool // guarded by mu
	ending map[owner]int      // how many requests end a session; guarded by mu
}

// httpCall is a call that runs.
type httpCall struct {
	owner  owner
	cancel context.CancelFunc
}

// owner is a session of a client, as only that client can name it: with its token.
type owner struct{ session, user string }

// ownerOf returns the owner of what came with the token of info, which is nil without one.
func ownerOf(session string, info *auth.TokenInfo) owner {
	if info == nil {
		return owner{session: session}
	}
	return owner{session, info.UserID}
}

// begin returns a context for a call in session, which ends with the session, with the server,
// or when ended is called, which must be.
func (c *httpCalls) begin(ctx context.Context, session owner) (inCall context.Context, ended func()) {
	inCall, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.server, cancel)
	call := &httpCall{session, cancel}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[call] = true
	if c.ending[session] > 0 {
		cancel()
	}
	return inCall, func() {
		stop()
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, call)
	}
}

// cancel cancels the calls of a session, and those that begin in it until ended is called.
func (c *httpCalls) cancel(session owner) (ended func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending[session]++
	for call := range c.open {
		if call.owner == session {
			call.cancel()
		}
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.ending[session]--; c.ending[session] == 0 {
			delete(c.ending, session)
		}
	}
}
