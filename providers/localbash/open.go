package localbash

import (
	"context"
	"io"
	"math"
	"os"

	"github.com/workspacekit/workspacekit/workspace"
)

// Open implements [workspace.Opener]. The stream shows one file, whatever
// replaces it meanwhile.
func (f *FS) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	var window workspace.OpenOptions
	if opts != nil {
		window = *opts
	}
	if err := f.check(ctx, workspace.OpOpen, name); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	if err := window.Check(name); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	h, s, err := f.openRegular(name, false)
	if err != nil {
		return nil, workspace.FileInfo{}, f.fault(workspace.OpOpen, name, err)
	}
	file := h.file()
	length := math.MaxInt64 - window.Offset
	if window.Length > 0 {
		length = min(length, window.Length)
	}
	return &stream{
		ctx: ctx, fsys: f, name: name, file: file,
		window: io.NewSectionReader(file, window.Offset, length),
	}, s.info(name), nil
}

// stream is a window of an open file. It keeps the context of its call, as
// the end of that is to end it.
type stream struct {
	ctx    context.Context
	fsys   *FS
	name   string
	file   *os.File
	window *io.SectionReader
}

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, s.fsys.fault(workspace.OpOpen, s.name, err)
	}
	n, err := s.window.Read(p)
	if err != nil && err != io.EOF {
		err = s.fsys.fault(workspace.OpOpen, s.name, err)
	}
	return n, err
}

// Close implements [io.Closer].
func (s *stream) Close() error {
	return s.fsys.fault(workspace.OpOpen, s.name, s.file.Close())
}
