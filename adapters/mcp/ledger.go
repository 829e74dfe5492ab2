package mcp

import (
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// methodListen is a request that stays open until the client goes.
const methodListen = "subscriptions/listen"

// ledger keeps account of the requests that have no answer yet. It is safe for
// concurrent use.
type ledger struct {
	mu    sync.Mutex
	open  map[jsonrpc.ID]bool // guarded by mu
	empty chan struct{}       // guarded by mu; not nil once somebody waits
}

func newLedger() *ledger { return &ledger{open: map[jsonrpc.ID]bool{}} }

// ask notes that message wants an answer, if it does.
func (l *ledger) ask(message jsonrpc.Message) {
	request, ok := message.(*jsonrpc.Request)
	if !ok || !request.IsCall() || request.Method == methodListen {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[request.ID] = true
}

// answered notes that message has been written, if it is an answer.
func (l *ledger) answered(message jsonrpc.Message) {
	response, ok := message.(*jsonrpc.Response)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, response.ID)
	l.signal()
}

// settled returns a channel that is closed once every request is answered. It
// is called once, when no more are asked.
func (l *ledger) settled() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.empty = make(chan struct{})
	empty := l.empty
	l.signal()
	return empty
}

// signal is called with mu held.
func (l *ledger) signal() {
	if l.empty != nil && len(l.open) == 0 {
		close(l.empty)
		l.empty = nil
	}
}
