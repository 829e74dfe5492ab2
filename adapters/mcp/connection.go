package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// connection is a client at the other end of two streams. The SDK has one of
// its own, which ends the session at the first malformed line, and which drops
// the answers of the calls that run when the input ends.
type connection struct {
	done  <-chan struct{} // of Serve's context: the SDK does not pass on that it ends
	lines *lines
	grace time.Duration
	asked *ledger

	incoming chan incoming
	closed   chan struct{}
	close    func()

	mu  sync.Mutex // guards out, of which a line is written at a time
	out io.Writer
}

// incoming is what the reader hands over: a message, or why there are no more.
type incoming struct {
	message jsonrpc.Message
	err     error
}

var (
	_ sdk.Transport  = (*connection)(nil)
	_ sdk.Connection = (*connection)(nil)
)

func newConnection(ctx context.Context, in io.Reader, out io.Writer, opts *ServeOptions) *connection {
	o := opts.withDefaults()
	closed := make(chan struct{})
	return &connection{
		done:     ctx.Done(),
		lines:    newLines(in, o.MaxMessage),
		grace:    o.Grace,
		asked:    newLedger(),
		incoming: make(chan incoming),
		closed:   closed,
		close:    sync.OnceFunc(func() { close(closed) }),
		out:      out,
	}
}

// Connect implements [sdk.Transport]. The reader that it starts ends with its
// input, or with the first message after the connection is closed.
func (c *connection) Connect(context.Context) (sdk.Connection, error) {
	go c.receive()
	return c, nil
}

// Read implements [sdk.Connection].
func (c *connection) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case <-c.done:
		return nil, context.Canceled
	case <-c.closed:
		return nil, io.EOF
	case in := <-c.incoming:
		return in.message, in.err
	}
}

// Write implements [sdk.Connection].
func (c *connection) Write(_ context.Context, message jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	defer c.asked.answered(message)
	return c.writeLine(data)
}

// Close implements [sdk.Connection].
func (c *connection) Close() error {
	c.close()
	return nil
}

// SessionID implements [sdk.Connection].
func (c *connection) SessionID() string { return "" }

func (c *connection) writeLine(data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.out.Write(append(data, '\n'))
	return err
}

// receive hands over the messages of the input, and its end.
func (c *connection) receive() {
	for {
		line, err := c.lines.next()
		if err != nil && !errors.Is(err, errLongLine) {
			c.drain()
			c.deliver(incoming{err: err})
			return
		}
		if !c.accept(line, err) {
			return
		}
	}
}

// accept hands over the message of one line, or answers a line that has none.
// It reports whether the connection is still open.
func (c *connection) accept(line []byte, err error) bool {
	var message jsonrpc.Message
	if err == nil {
		message, err = decode(line)
	}
	if err != nil {
		return c.writeLine(refusal(line, err)) == nil
	}
	c.asked.ask(message)
	return c.deliver(incoming{message: message})
}

func (c *connection) deliver(in incoming) bool {
	select {
	case c.incoming <- in:
		return true
	case <-c.closed:
	case <-c.done:
	}
	return false
}

// drain waits until what was asked is answered, because the SDK answers nothing
// more once it has seen the end of the input.
func (c *connection) drain() {
	timer := time.NewTimer(c.grace)
	defer timer.Stop()
	select {
	case <-c.asked.settled():
	case <-timer.C:
	case <-c.closed:
	case <-c.done:
	}
}
