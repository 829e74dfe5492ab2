package afero

import (
	"context"
	"io"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/workspacekit/workspacekit/workspace"
)

// Open implements [provider.Opener].
func (s *store) Open(ctx context.Context, name string, opts workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	file, info, err := s.open(ctx, name, opts.Offset)
	if err != nil {
		return nil, workspace.FileInfo{}, err
	}
	if opts.Length == 0 {
		return file, info, nil
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(file, opts.Length), file}, info, nil
}

// open opens the file name at offset.
func (s *store) open(ctx context.Context, name string, offset int64) (afero.File, workspace.FileInfo, error) {
	info, err := s.stat(ctx, name)
	if err != nil {
		return nil, workspace.FileInfo{}, err
	}
	if info.IsDir() {
		return nil, workspace.FileInfo{}, workspace.ErrIsDir
	}
	file, err := s.afs.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, workspace.FileInfo{}, err
	}
	if err := ctx.Err(); err != nil {
		file.Close()
		return nil, workspace.FileInfo{}, err
	}
	if offset > 0 {
		if _, err := file.Seek(min(offset, info.Size()), io.SeekStart); err != nil {
			file.Close()
			return nil, workspace.FileInfo{}, err
		}
	}
	return file, describe(name, info), nil
}
