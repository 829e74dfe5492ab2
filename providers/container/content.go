package container

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// content returns the bytes of a file.
func (c *client) content(ctx context.Context, name string) ([]byte, error) {
	return c.do(ctx, idempotent("content", pair(name)...))
}

// readFile returns the bytes of a file of at most limit bytes, and the
// description that they belong to. A limit of zero means none.
func (c *client) readFile(ctx context.Context, name string, limit int64) ([]byte, statInfo, error) {
	body, status, err := c.try(ctx, snapshot(name, limit, workspace.OpenOptions{}))
	if err != nil {
		return nil, statInfo{}, err
	}
	if status != 0 && status != statusTooLarge {
		return nil, statInfo{}, statusError(status, nil)
	}
	info, data, err := cutStatInfo(body)
	if err != nil {
		return nil, statInfo{}, err
	}
	// It may also have grown while it was read.
	size := max(info.size, int64(len(data)))
	if err := ops.CheckSize(ops.ReadFile, name, size, limit); err != nil {
		return nil, statInfo{}, err
	}
	return data, info, nil
}

// snapshot returns the call for a window of a file and its description.
func snapshot(name string, limit int64, window workspace.OpenOptions) shell.Call {
	return idempotent("snapshot", append(pair(name),
		shell.Number(limit), shell.Number(window.Offset), shell.Number(window.Length))...)
}

// open returns a window of a file as a stream.
func (c *client) open(ctx context.Context, name string, window workspace.OpenOptions) (*stream, statInfo, error) {
	reply, err := c.stream(ctx, snapshot(name, 0, window))
	if err != nil {
		return nil, statInfo{}, err
	}
	r := &stream{client: c, reply: reply, from: bufio.NewReaderSize(reply, streamBuffer)}
	info, err := r.begin()
	if err != nil {
		r.Close()
		return nil, statInfo{}, err
	}
	return r, info, nil
}

// streamBuffer is how much of a stream is read ahead.
const streamBuffer = 64 << 10

// stream is a window of a file.
type stream struct {
	client *client
	reply  *shell.Stream
	from   *bufio.Reader
}

// begin reads the description of the file.
func (r *stream) begin() (statInfo, error) {
	line, err := r.from.ReadSlice('\n')
	if errors.Is(err, io.EOF) {
		return statInfo{}, statusError(r.reply.Status, nil)
	}
	if err != nil {
		return statInfo{}, r.client.broken(err)
	}
	info, _, err := cutStatInfo(line)
	return info, err
}

// Read implements [io.Reader].
func (r *stream) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	switch {
	case errors.Is(err, io.EOF) && r.reply.Status != 0:
		return n, statusError(r.reply.Status, nil)
	case errors.Is(err, io.EOF):
		r.reply.Close()
		return n, io.EOF
	}
	return n, r.client.broken(err)
}

// Close implements [io.Closer].
func (r *stream) Close() error {
	r.reply.Close()
	return nil
}
