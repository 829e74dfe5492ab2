package objectstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/workspace"
)

// Open implements [workspace.Opener]: one request for the window alone,
// whatever the size of the file, and one more for a window behind its end.
func (f *FS) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	var o workspace.OpenOptions
	if opts != nil {
		o = *opts
	}
	if err := workspace.Check(ctx, workspace.OpOpen, name); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	if err := o.Check(name); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	got, err := f.get(ctx, workspace.OpOpen, name, rangeOf(o))
	if errors.Is(err, errRange) {
		return f.openBehindEnd(ctx, name)
	}
	if err != nil {
		return nil, workspace.FileInfo{}, err
	}
	return &stream{ctx: ctx, name: name, body: got.body, rest: got.length}, got.info(name), nil
}

// rangeOf returns the Range header of a window, nil for the whole file.
func rangeOf(o workspace.OpenOptions) *string {
	switch {
	case o.Length > 0 && o.Length <= math.MaxInt64-o.Offset:
		return aws.String(fmt.Sprintf("bytes=%d-%d", o.Offset, o.Offset+o.Length-1))
	case o.Offset > 0:
		return aws.String(fmt.Sprintf("bytes=%d-", o.Offset))
	}
	return nil
}

// wholeSize returns the size of the object of which out may be a range.
func wholeSize(out *s3.GetObjectOutput) int64 {
	if _, total, ok := strings.Cut(aws.ToString(out.ContentRange), "/"); ok {
		if size, err := strconv.ParseInt(total, 10, 64); err == nil {
			return size
		}
	}
	return aws.ToInt64(out.ContentLength)
}

func (f *FS) openBehindEnd(ctx context.Context, name string) (io.ReadCloser, workspace.FileInfo, error) {
	info, err := f.stat(ctx, workspace.OpOpen, name)
	if err == nil && info.IsDir() {
		err = workspace.NewPathError(workspace.OpOpen, name, workspace.ErrIsDir, nil)
	}
	if err != nil {
		return nil, workspace.FileInfo{}, err
	}
	return &stream{ctx: ctx, name: name, body: io.NopCloser(bytes.NewReader(nil))}, info, nil
}

// stream reads the body of an answer. It ends with its context.
type stream struct {
	ctx  context.Context
	name string
	body io.ReadCloser
	rest int64 // bytes that are still to come
}

func (s *stream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, workspace.NewPathError(workspace.OpOpen, s.name, err, nil)
	}
	n, err := s.body.Read(p)
	s.rest -= int64(n)
	if err == io.EOF && s.rest > 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil && err != io.EOF {
		err = fault(s.ctx, workspace.OpOpen, s.name, err)
	}
	return n, err
}

// Close never fails: what was read is whole, or Read said that it is not.
func (s *stream) Close() error {
	_ = s.body.Close()
	return nil
}
