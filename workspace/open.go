package workspace

import (
	"context"
	"io"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// OpenOptions choose a window of a file.
type OpenOptions struct {
	// Offset is where the stream begins, in bytes. At or past the end of the
	// file the stream is empty.
	Offset int64
	// Length is the most bytes the stream has. Zero means to the end.
	Length int64
}

// Opener is implemented by a [FileSystem] that can stream a file, or a window
// of it, at the cost of the window.
type Opener interface {
	// Open streams the bytes of name that opts chooses, and describes the file
	// as it was when it was opened (Size is the size of the whole file). A
	// symlink is followed. The caller closes the stream. Once ctx has ended, the
	// stream returns the error of ctx.
	//
	// # Errors
	//
	// Those of [FileSystem].ReadFile, and [io/fs.ErrInvalid] for a negative
	// offset or length.
	Open(ctx context.Context, name string, opts *OpenOptions) (io.ReadCloser, FileInfo, error)
}

// Open streams name by fsys's [Opener], and without one reads the whole file.
//
// # Errors
//
// Those of [Opener].
func Open(ctx context.Context, fsys FileSystem, name string, opts *OpenOptions) (io.ReadCloser, FileInfo, error) {
	if opener, ok := As[Opener](fsys); ok {
		return opener.Open(ctx, name, opts)
	}
	if err := ops.Check(ctx, ops.Open, name); err != nil {
		return nil, FileInfo{}, err
	}
	var o OpenOptions
	if opts != nil {
		o = *opts
	}
	if err := ops.CheckWindow(name, o.Offset, o.Length); err != nil {
		return nil, FileInfo{}, err
	}
	data, version, err := ReadVersioned(ctx, fsys, name, 0)
	if err != nil {
		return nil, FileInfo{}, ops.Rename(err, ops.Open, name)
	}
	_, base := Split(name)
	info := FileInfo{Name: base, Path: name, Type: TypeFile, Size: int64(len(data)), Version: version}
	if described, err := fsys.Stat(ctx, name); err == nil && described.Type == TypeFile && described.Version == version {
		info.ModTime = described.ModTime
	}
	return &bufferedStream{ctx: ctx, name: name, rest: ops.Window(data, o.Offset, o.Length)}, info, nil
}

// bufferedStream is a file that has been read into memory. It ends with its
// context.
type bufferedStream struct {
	ctx  context.Context
	name string
	rest []byte
}

// Read implements [io.Reader].
func (s *bufferedStream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, ops.Error(ops.Open, s.name, err, nil)
	}
	if len(s.rest) == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Close implements [io.Closer].
func (s *bufferedStream) Close() error { return nil }
