package objectstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Open implements [workspace.Opener]: one request for the window alone,
// whatever the size of the file, and one more for a window behind its end or
// for a file of which the answer does not say how long it is.
func (f *FS) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	var o workspace.OpenOptions
	if opts != nil {
		o = *opts
	}
	if err := ops.Check(ctx, ops.Open, name); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	if err := ops.CheckWindow(name, o.Offset, o.Length); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	w := windowOf(o)
	got, err := f.get(ctx, ops.Open, name, w)
	if err == nil && got.size <= 0 && !got.isProvenEmpty() { // the answer to a range says how long the file is
		got.body.Close()
		got, err = f.get(ctx, ops.Open, name, &window{last: math.MaxInt64})
	}
	if errors.Is(err, errRange) {
		return f.openBehindEnd(ctx, name)
	}
	if err != nil {
		return nil, workspace.FileInfo{}, err
	}
	return &stream{ctx: ctx, name: name, body: got}, got.info(name), nil
}

// windowOf returns the window that o asks for, nil for the whole file.
func windowOf(o workspace.OpenOptions) *window {
	switch {
	case o.Length > 0 && o.Length <= math.MaxInt64-o.Offset:
		return &window{o.Offset, o.Offset + o.Length - 1}
	case o.Offset > 0:
		return &window{o.Offset, math.MaxInt64}
	}
	return nil
}

func (f *FS) openBehindEnd(ctx context.Context, name string) (io.ReadCloser, workspace.FileInfo, error) {
	info, err := f.stat(ctx, ops.Open, name)
	if err == nil && info.IsDir() {
		err = ops.Error(ops.Open, name, workspace.ErrIsDir, nil)
	}
	if err != nil {
		return nil, workspace.FileInfo{}, err
	}
	return &stream{ctx: ctx, name: name, body: io.NopCloser(bytes.NewReader(nil))}, info, nil
}

// stream reads a download. It ends with its context.
type stream struct {
	ctx  context.Context
	name string
	body io.ReadCloser
}

func (s *stream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, ops.Error(ops.Open, s.name, err, nil)
	}
	n, err := s.body.Read(p)
	if err != nil && err != io.EOF {
		err = fault(s.ctx, ops.Open, s.name, err)
	}
	return n, err
}

// Close never fails: what was read is whole, or Read said that it is not.
func (s *stream) Close() error {
	_ = s.body.Close()
	return nil
}
