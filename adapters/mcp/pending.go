package mcp

import (
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// methodListen is a request that stays open until the client goes.
const methodListen = "subscriptions/listen"

// pending holds the requests that have no answer yet: none where open is an empty map. It is
// safe for concurrent use.
type pending struct {
	mu    sync.Mutex
	open  map[jsonrpc.ID]bool // guarded by mu
	empty chan struct{}       // guarded by mu; not nil once somebody waits
}

// ask notes that message wants an answer, if it does.
func (p *pending) ask(message jsonrpc.Message) {
	request, ok := message.(*jsonrpc.Request)
	if !ok || !request.IsCall() || request.Method == methodListen {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[request.ID] = true
}

// answered notes that message has been written, if it is an answer.
func (p *pending) answered(message jsonrpc.Message) {
	response, ok := message.(*jsonrpc.Response)
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, response.ID)
	p.signal()
}

// settled returns a channel that is closed once every request is answered. It
// is called once, when no more are asked.
func (p *pending) settled() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.empty = make(chan struct{})
	empty := p.empty
	p.signal()
	return empty
}

// signal is called with mu held.
func (p *pending) signal() {
	if p.empty != nil && len(p.open) == 0 {
		close(p.empty)
		p.empty = nil
	}
}
