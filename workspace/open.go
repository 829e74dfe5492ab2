package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
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
	if err := Check(ctx, OpOpen, name); err != nil {
		return nil, FileInfo{}, err
	}
	if err := opts.Check(name); err != nil {
		return nil, FileInfo{}, err
	}
	data, version, err := ReadVersioned(ctx, fsys, name, 0)
	if err != nil {
		return nil, FileInfo{}, RenameError(err, OpOpen, name)
	}
	_, base := Split(name)
	info := FileInfo{Name: base, Path: name, Type: TypeFile, Size: int64(len(data)), Version: version}
	if described, err := fsys.Stat(ctx, name); err == nil && described.Version == version {
		info.ModTime = described.ModTime
	}
	return &bufferedStream{ctx: ctx, name: name, rest: opts.Of(data)}, info, nil
}

// bufferedStream is a file that has been read into memory. It ends with its
// context.
type bufferedStream struct {
	ctx  context.Context
	name string
	rest []byte
}

func (s *bufferedStream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, NewPathError(OpOpen, s.name, err, nil)
	}
	if len(s.rest) == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *bufferedStream) Close() error { return nil }

// Check returns the [fs.ErrInvalid] error of a window with a negative
// offset or length.
// Nil is the zero options.
func (o *OpenOptions) Check(name string) error {
	if o != nil && (o.Offset < 0 || o.Length < 0) {
		return NewPathError(OpOpen, name, fs.ErrInvalid, errors.New("negative offset or length"))
	}
	return nil
}

// Of returns the bytes of data that the window chooses. Nil chooses all.
func (o *OpenOptions) Of(data []byte) []byte {
	if o == nil {
		return data
	}
	data = data[min(o.Offset, int64(len(data))):]
	if o.Length > 0 {
		data = data[:min(o.Length, int64(len(data)))]
	}
	return data
}
