package program

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// Content returns the bytes of a file.
func (c *Client) Content(ctx context.Context, name string) ([]byte, error) {
	return c.Do(ctx, Idempotent("content", Pair(name)...))
}

// ReadFile returns the bytes of a file of at most limit bytes, and the
// description that they belong to. A limit of zero means none.
func (c *Client) ReadFile(ctx context.Context, name string, limit int64) ([]byte, StatInfo, error) {
	bound := limit
	if bound == math.MaxInt64 {
		bound = 0 // the program adds one to it
	}
	body, status, err := c.Try(ctx, snapshot(name, bound, workspace.OpenOptions{}))
	if err != nil {
		return nil, StatInfo{}, err
	}
	if status != 0 && status != statusTooLarge {
		return nil, StatInfo{}, StatusError(status, nil)
	}
	info, data, err := cutStat(body)
	if err != nil {
		return nil, StatInfo{}, err
	}
	// It may also have grown while it was read.
	size := max(info.Size, int64(len(data)))
	if err := ops.CheckSize(ops.ReadFile, name, size, limit); err != nil {
		return nil, StatInfo{}, err
	}
	return data, info, nil
}

// snapshot returns the call for a window of a file and its description.
func snapshot(name string, limit int64, window workspace.OpenOptions) shell.Call {
	return Idempotent("snapshot", append(Pair(name),
		shell.Number(limit), shell.Number(window.Offset), shell.Number(window.Length))...)
}

// Open returns a window of a file as a stream.
func (c *Client) Open(ctx context.Context, name string, window workspace.OpenOptions) (*Stream, StatInfo, error) {
	reply, err := c.Stream(ctx, snapshot(name, 0, window))
	if err != nil {
		return nil, StatInfo{}, err
	}
	r := &Stream{client: c, reply: reply, from: bufio.NewReaderSize(reply, StreamBuffer)}
	info, err := r.begin()
	if err != nil {
		r.Close()
		return nil, StatInfo{}, err
	}
	return r, info, nil
}

// StreamBuffer is how much of a stream is read ahead.
const StreamBuffer = 64 << 10

// Stream is a window of a file.
type Stream struct {
	client *Client
	reply  *shell.Stream
	from   *bufio.Reader
}

// begin reads the description of the file.
func (r *Stream) begin() (StatInfo, error) {
	line, err := r.from.ReadSlice('\n')
	if errors.Is(err, io.EOF) {
		return StatInfo{}, StatusError(r.reply.Status, nil)
	}
	if err != nil {
		return StatInfo{}, r.client.Broken(err)
	}
	return ParseStat(line)
}

// Read implements [io.Reader].
func (r *Stream) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	switch {
	case errors.Is(err, io.EOF) && r.reply.Status != 0:
		return n, StatusError(r.reply.Status, nil)
	case errors.Is(err, io.EOF):
		r.reply.Close()
		return n, io.EOF
	}
	return n, r.client.Broken(err)
}

// Close implements [io.Closer].
func (r *Stream) Close() error {
	r.reply.Close()
	return nil
}
