package mcp

import (
	"bufio"
	"bytes"
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
	asked *pending
	aside *detour // nil if results go through the SDK whole

	incoming chan incoming
	ended    chan struct{} // closed when the input has ended
	closed   chan struct{}
	close    func()
	late     chan struct{} // closed when the input has ended and the time of grace is over

	mu      sync.Mutex // guards what follows; lines do not mix
	out     io.Writer
	batches batches
	buffer  []byte // of the message that was written last
	broken  error  // why nothing more can be written
}

// lastWrite is how long a client may take to read a message once the server is to end.
const lastWrite = time.Second

// errUnread ends a write that the client does not read.
var errUnread = errors.New("the client has stopped reading")

// maxBuffer is the size of the largest buffer that is kept for the next message:
// that of a page of a file, which has its text twice.
const maxBuffer = 512 << 10

// incoming is what the reader hands over: a message, or why there are no more.
type incoming struct {
	message jsonrpc.Message
	err     error
}

var (
	_ sdk.Transport  = (*connection)(nil)
	_ sdk.Connection = (*connection)(nil)
)

// newConnection returns a connection over a pair of streams.
func newConnection(ctx context.Context, in io.Reader, out io.Writer, opts *ServeOptions) *connection {
	o := opts.withDefaults()
	closed := make(chan struct{})
	return &connection{
		done:     ctx.Done(),
		lines:    newLines(in, o.MaxMessage),
		grace:    o.Grace,
		asked:    &pending{open: map[jsonrpc.ID]bool{}},
		incoming: make(chan incoming),
		ended:    make(chan struct{}),
		closed:   closed,
		close:    sync.OnceFunc(func() { close(closed) }),
		late:     make(chan struct{}),
		out:      out,
	}
}

// Connect implements [sdk.Transport]. The reader that it starts ends with its
// input, or with the first message after the connection is closed.
func (c *connection) Connect(context.Context) (sdk.Connection, error) {
	go c.receive()
	return c, nil
}

// hangUp returns a channel that is closed when the client can answer no more.
func (c *connection) hangUp() <-chan struct{} { return c.ended }

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
	defer c.asked.answered(message)
	c.mu.Lock()
	defer c.mu.Unlock()
	data, err := c.aside.appendMessage(c.buffer[:0], withCode(message))
	if err != nil {
		return err
	}
	c.buffer = nil
	if cap(data) <= maxBuffer {
		c.buffer = data
	}
	if response, ok := message.(*jsonrpc.Response); ok {
		if data = c.batches.answered(response, data); data == nil {
			return nil
		}
	}
	return c.writeLocked(data)
}

// appendMessage appends what [jsonrpc.EncodeMessage] returns to dst, with the
// parts in the place of their marks. The detour may be nil, which has none.
func (d *detour) appendMessage(dst []byte, message jsonrpc.Message) ([]byte, error) {
	data, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return nil, err
	}
	if _, ok := message.(*jsonrpc.Response); !ok || d == nil {
		return append(dst, data...), nil
	}
	// A mark is a string of JSON, so it begins at some quote.
	for at := 0; ; {
		quote := bytes.IndexByte(data[at:], '"')
		if at += quote; quote < 0 || len(data)-at < markLength() {
			return append(dst, data...), nil
		}
		p := d.take(data[at : at+markLength()])
		if p == nil {
			at++
			continue
		}
		dst = p(append(dst, data[:at]...))
		data, at = data[at+markLength():], 0
	}
}

// withCode returns message with a code in its error, which the SDK leaves at
// zero for a request that comes at the wrong moment.
func withCode(message jsonrpc.Message) jsonrpc.Message {
	response, ok := message.(*jsonrpc.Response)
	if !ok || response.Error == nil {
		return message
	}
	var known *jsonrpc.Error
	if errors.As(response.Error, &known) && known.Code != 0 {
		return message
	}
	coded := *response
	coded.Error = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: response.Error.Error()}
	return &coded
}

// Close implements [sdk.Connection].
func (c *connection) Close() error {
	c.close()
	return nil
}

// SessionID implements [sdk.Connection].
func (c *connection) SessionID() string { return "" }

// writeLine writes a message. Lines of several goroutines do not mix.
func (c *connection) writeLine(data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writeLocked(data)
}

// writeLocked is called with mu held. A write that is given up may go on until the
// client reads, so nothing follows it, and its buffer is not used again.
func (c *connection) writeLocked(data []byte) error {
	if c.broken != nil {
		return c.broken
	}
	written := make(chan error, 1)
	go func() {
		_, err := c.out.Write(append(data, '\n'))
		written <- err
	}()
	select {
	case err := <-written:
		return err
	case <-c.done:
	case <-c.late:
	}
	timer := time.NewTimer(lastWrite)
	defer timer.Stop()
	select {
	case err := <-written:
		return err
	case <-timer.C:
		c.buffer, c.broken = nil, errUnread
		return c.broken
	}
}

// receive hands over the messages of the input, and its end.
func (c *connection) receive() {
	for {
		line, err := c.lines.next()
		if err != nil && !errors.Is(err, errLongLine) {
			close(c.ended)
			c.drain()
			c.deliver(incoming{err: err})
			return
		}
		if !c.accept(line, err) {
			return
		}
	}
}

// accept hands over the message of one line, or those of a batch, or answers a
// line that has none. It reports whether the connection is still open.
func (c *connection) accept(line []byte, err error) bool {
	var message jsonrpc.Message
	if err == nil && line[0] == '[' {
		var messages []jsonrpc.Message
		if messages, err = c.openBatch(line); err == nil {
			return c.acceptAll(messages)
		}
	}
	if err == nil {
		message, err = decode(line)
	}
	if err != nil {
		return c.writeLine(refusal(line, err)) == nil
	}
	return c.acceptAll([]jsonrpc.Message{message})
}

// acceptAll passes on the messages of a line. It returns false once the connection has
// ended.
func (c *connection) acceptAll(messages []jsonrpc.Message) bool {
	for _, message := range messages {
		if request, ok := message.(*jsonrpc.Request); ok && request.Method == methodInitialize {
			c.mu.Lock()
			c.batches.initialize = request.ID
			c.mu.Unlock()
		}
		c.asked.ask(message)
		if !c.deliver(incoming{message: message}) {
			return false
		}
	}
	return true
}

// openBatch returns the messages of a batch whose answers will be one array.
func (c *connection) openBatch(line []byte) ([]jsonrpc.Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	messages, answers, err := c.batches.open(line)
	if err != nil || answers == nil {
		return messages, err
	}
	return messages, c.writeLocked(answers)
}

// deliver passes on one message. It waits until the SDK asks for it, or until the
// connection ends.
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
// more once it has seen the end of the input. After the time of grace, the client has
// to read soon what is written.
func (c *connection) drain() {
	timer := time.NewTimer(c.grace)
	defer timer.Stop()
	select {
	case <-c.asked.settled():
	case <-timer.C:
		close(c.late)
	case <-c.closed:
	case <-c.done:
	}
}

// errLongLine says that a line was longer than the limit and has been passed
// over.
var errLongLine = errors.New("message too long")

// lines reads lines of bounded length. It is for one goroutine.
type lines struct {
	in    *bufio.Reader
	limit int
}

// newLines returns a reader of lines of at most limit bytes.
func newLines(in io.Reader, limit int) *lines {
	return &lines{in: bufio.NewReaderSize(in, 64<<10), limit: limit}
}

// next returns the next line that is not blank, without its end. A last line
// needs none.
//
// # Errors
//
// [io.EOF] at the end, [errLongLine] for one line, or the error of the input.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.line()
		if line = bytes.TrimSpace(line); len(line) > 0 || err != nil {
			return line, err
		}
	}
}

// line reads to the next line feed, and keeps no more than the limit.
func (l *lines) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > l.limit; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0):
			return nil, err
		case long:
			return nil, errLongLine
		}
		return line, nil
	}
}
