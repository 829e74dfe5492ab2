package memory

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// Glob implements [workspace.FileSystem].
func (m *FS) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	return scan.Glob(ctx, source{m}, pattern, opts)
}

// Grep implements [workspace.FileSystem].
func (m *FS) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	return scan.Grep(ctx, source{m}, pattern, opts, 0)
}

// source shows an FS to the search engine.
type source struct{ m *FS }

func (s source) List(_ context.Context, dir string, _ bool) ([]scan.Child, error) {
	s.m.mu.RLock()
	defer s.m.mu.RUnlock()
	n, err := s.m.lookupDir(dir)
	if err != nil {
		return nil, workspace.NewPathError(workspace.OpLs, dir, err, nil)
	}
	return n.listed().children, nil
}

func (s source) Read(ctx context.Context, name string, _ *[]byte, opts scan.ReadOptions) ([]byte, error) {
	data, info, err := s.m.content(ctx, workspace.OpReadFile, name)
	if err != nil {
		return nil, err
	}
	return data, workspace.CheckSize(workspace.OpReadFile, name, info.Size, opts.Limit)
}

func (s source) Stat(ctx context.Context, name string) (workspace.FileType, error) {
	info, err := s.m.Stat(ctx, name)
	return info.Type, err
}
