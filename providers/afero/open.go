package afero

import (
	"context"
	"io"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/workspacekit/workspacekit/workspace"
)

// Open implements [workspace.Opener].
func (a *FS) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	var window workspace.OpenOptions
	if opts != nil {
		window = *opts
	}
	if err := workspace.Check(ctx, workspace.OpOpen, name); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	if err := window.Check(name); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	file, info, err := a.open(name, window.Offset)
	if err != nil {
		return nil, workspace.FileInfo{}, workspace.NewPathError(workspace.OpOpen, name, err, nil)
	}
	opened := &stream{ctx: ctx, name: name, file: file, r: file}
	if window.Length > 0 {
		opened.r = io.LimitReader(file, window.Length)
	}
	return opened, info, nil
}

// open opens the file name at offset.
func (a *FS) open(name string, offset int64) (afero.File, workspace.FileInfo, error) {
	info, err := a.stat(name)
	if err != nil {
		return nil, workspace.FileInfo{}, err
	}
	if info.IsDir() {
		return nil, workspace.FileInfo{}, workspace.ErrIsDir
	}
	file, err := a.afs.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, workspace.FileInfo{}, kindOf(err)
	}
	if offset > 0 {
		if _, err := file.Seek(min(offset, info.Size()), io.SeekStart); err != nil {
			file.Close()
			return nil, workspace.FileInfo{}, kindOf(err)
		}
	}
	return file, describe(name, info), nil
}

// stream ends with its context.
type stream struct {
	ctx  context.Context
	name string
	file afero.File
	r    io.Reader
}

func (s *stream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, workspace.NewPathError(workspace.OpOpen, s.name, err, nil)
	}
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		err = workspace.NewPathError(workspace.OpOpen, s.name, kindOf(err), nil)
	}
	return n, err
}

func (s *stream) Close() error { return s.file.Close() }
