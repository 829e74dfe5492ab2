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

// Open implements [workspace.Opener]. A stream has a shell of its own until it
// is closed; one that has been read to its end, or is short, gives it back at
// once.
func (f *FS) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	var window workspace.OpenOptions
	if opts != nil {
		window = *opts
	}
	if err := f.check(ctx, ops.Open, name); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	if err := ops.CheckWindow(name, window.Offset, window.Length); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	reply, err := f.pool.Stream(ctx, snapshot(name, 0, window))
	if err != nil {
		return nil, workspace.FileInfo{}, f.broken(ops.Open, name, err)
	}
	s := &stream{ctx: ctx, f: f, name: name, reply: reply, from: bufio.NewReaderSize(reply, streamBuffer)}
	info, err := s.begin()
	if err != nil {
		s.Close()
		return nil, workspace.FileInfo{}, err
	}
	return s, info, nil
}

// streamBuffer is how much of a stream is read ahead.
const streamBuffer = 64 << 10

// stream is a window of a file.
type stream struct {
	ctx   context.Context // of Open, which the stream is a part of
	f     *FS
	name  string
	reply *shell.Stream
	from  *bufio.Reader
}

// begin reads the description of the file.
func (s *stream) begin() (workspace.FileInfo, error) {
	line, err := s.from.ReadSlice('\n')
	if errors.Is(err, io.EOF) {
		return workspace.FileInfo{}, statusError(ops.Open, s.name, s.reply.Status, nil)
	}
	if err != nil {
		return workspace.FileInfo{}, s.f.broken(ops.Open, s.name, err)
	}
	r, _, err := cutRecord(line)
	if err != nil {
		return workspace.FileInfo{}, ops.Error(ops.Open, s.name, nil, err)
	}
	return r.info(s.name), nil
}

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, ops.Error(ops.Open, s.name, err, nil)
	}
	n, err := s.from.Read(p)
	switch {
	case errors.Is(err, io.EOF) && s.reply.Status != 0:
		return n, statusError(ops.Open, s.name, s.reply.Status, nil)
	case errors.Is(err, io.EOF):
		s.reply.Close()
		return n, io.EOF
	}
	return n, s.f.broken(ops.Open, s.name, err)
}

// Close implements [io.Closer].
func (s *stream) Close() error {
	s.reply.Close()
	return nil
}
