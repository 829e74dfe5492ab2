package memory

import (
	"bytes"
	"context"
	"io"

	"github.com/workspacekit/workspacekit/workspace"
)

// Open implements [workspace.Opener]. The stream is of the file as it was when
// it was opened.
func (m *FS) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	if err := workspace.Check(ctx, workspace.OpOpen, name); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	if err := opts.Check(name); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	data, info, err := m.content(ctx, workspace.OpOpen, name)
	if err != nil {
		return nil, workspace.FileInfo{}, err
	}
	return &stream{ctx: ctx, name: name, r: bytes.NewReader(opts.Of(data))}, info, nil
}

// stream ends with its context.
type stream struct {
	ctx  context.Context
	name string
	r    *bytes.Reader
}

func (s *stream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, workspace.NewPathError(workspace.OpOpen, s.name, err, nil)
	}
	return s.r.Read(p)
}

func (s *stream) Close() error { return nil }
