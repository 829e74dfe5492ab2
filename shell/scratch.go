package shell

import (
	"context"
	"io/fs"
	"sync"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// scratch is a file system in memory with a limit for all its files together.
type scratch struct {
	*memory.FS
	limit int64

	mu   sync.Mutex
	used int64 // guarded by mu; at least what the files have
}

// entryCost is what a name costs besides the bytes of the file.
const entryCost = 1 << 10

func newScratch(fsys *memory.FS, limit int64) *scratch { return &scratch{FS: fsys, limit: limit} }

// reserve counts size bytes for op on name. What was removed in the meantime is found out
// only when the limit seems to be reached.
func (s *scratch) reserve(ctx context.Context, op, name string, size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	size += entryCost
	if s.used+size > s.limit {
		used := int64(0)
		err := workspace.Walk(ctx, s.FS, ".", nil, func(info workspace.FileInfo, err error) error {
			used += info.Size + entryCost
			return err
		})
		if err != nil {
			return err
		}
		s.used = used
	}
	if s.used+size > s.limit {
		return ops.Error(op, name, workspace.ErrNoSpace, nil)
	}
	s.used += size
	return nil
}

// WriteFile implements [workspace.FileSystem].
func (s *scratch) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	if err := s.reserve(ctx, ops.WriteFile, name, int64(len(data))); err != nil {
		return "", err
	}
	return s.FS.WriteFile(ctx, name, data, opts)
}

// Mkdir implements [workspace.FileSystem].
func (s *scratch) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	if err := s.reserve(ctx, ops.Mkdir, name, 0); err != nil {
		return err
	}
	return s.FS.Mkdir(ctx, name, opts)
}

// Copy implements [workspace.Copier].
func (s *scratch) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	info, err := s.FS.Stat(ctx, source)
	if err != nil {
		return "", ops.Rename(err, ops.Copy, source)
	}
	if err := s.reserve(ctx, ops.Copy, destination, info.Size); err != nil {
		return "", err
	}
	return s.FS.Copy(ctx, source, destination)
}

// Create implements [workspace.Creator].
func (s *scratch) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
	if err := s.reserve(ctx, ops.Create, name, 0); err != nil {
		return nil, err
	}
	w, err := workspace.Create(ctx, s.FS, name, opts)
	return &scratchWriter{w, ctx, s, name}, err
}

// scratchWriter counts what is written to a file.
type scratchWriter struct {
	workspace.Writer
	ctx  context.Context
	fsys *scratch
	name string
}

// Write implements [io.Writer].
func (w *scratchWriter) Write(b []byte) (int, error) {
	if err := w.fsys.reserve(w.ctx, ops.Create, w.name, int64(len(b))-entryCost); err != nil {
		return 0, err
	}
	return w.Writer.Write(b)
}

// notFound is the error of a name that does not exist.
func notFound(name string) error {
	return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}
