package objectstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/bucket"
	"github.com/workspacekit/workspacekit/workspace"
)

// ReadFile implements [provider.Store]: one request. A file that is larger than
// limit is not downloaded.
func (t *tree) ReadFile(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	if name == "." {
		return nil, "", workspace.ErrIsDir
	}
	o, data, err := t.bucket.Read(ctx, t.prefix.Key(name), limit)
	if err != nil {
		return nil, "", t.unreadable(ctx, name, err)
	}
	return data, o.Version(), nil
}

// unreadable returns the error for a read of name that failed with err: without
// an object the name may be a directory, or lie in a file.
func (t *tree) unreadable(ctx context.Context, name string, err error) error {
	if err = t.noFile(ctx, name, err); errors.Is(err, fs.ErrNotExist) {
		return t.missing(ctx, name)
	}
	return err
}

// noFile returns err, with which name could not be read, or [workspace.ErrIsDir] if
// that is because it is a directory.
func (t *tree) noFile(ctx context.Context, name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	isDir, failed := t.bucket.HasAny(ctx, t.prefix.DirKey(name))
	switch {
	case failed != nil:
		return failed
	case isDir:
		return workspace.ErrIsDir
	}
	return err
}

// Open implements [provider.Opener]: one request for the window alone, whatever
// the size of the file, and one more for a window after its end or for a file
// whose answer does not say how long it is.
func (t *tree) Open(ctx context.Context, name string, opts workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	if name == "." {
		return nil, workspace.FileInfo{}, workspace.ErrIsDir
	}
	got, err := t.bucket.Open(ctx, t.prefix.Key(name), windowOf(opts))
	switch {
	case errors.Is(err, bucket.ErrRange):
		return t.openAfterEnd(ctx, name)
	case err != nil:
		return nil, workspace.FileInfo{}, t.unreadable(ctx, name, err)
	}
	return got, got.Info(name), nil
}

// windowOf returns the window that o asks for, nil for the whole file.
func windowOf(o workspace.OpenOptions) *bucket.Window {
	switch {
	case o.Length > 0 && o.Length <= math.MaxInt64-o.Offset:
		return &bucket.Window{First: o.Offset, Last: o.Offset + o.Length - 1}
	case o.Offset > 0:
		return &bucket.Window{First: o.Offset, Last: math.MaxInt64}
	}
	return nil
}

// openAfterEnd opens a file at an offset at or beyond its end, which a store answers
// with an error: the file is described instead, and the stream is empty.
func (t *tree) openAfterEnd(ctx context.Context, name string) (io.ReadCloser, workspace.FileInfo, error) {
	info, err := t.Stat(ctx, name)
	if err == nil && info.IsDir() {
		err = workspace.ErrIsDir
	}
	if err != nil {
		return nil, workspace.FileInfo{}, err
	}
	return io.NopCloser(bytes.NewReader(nil)), info, nil
}
