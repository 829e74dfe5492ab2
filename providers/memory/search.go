package memory

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// GlobSource implements [scan.Searcher].
func (t *tree) GlobSource(string, workspace.GlobOptions) scan.Source { return source{t} }

// GrepSource implements [scan.Searcher].
func (t *tree) GrepSource(string, workspace.GrepOptions, scan.Hidden) (src scan.Source, workers int) {
	return source{t}, 0
}

// source shows a tree to the search engine.
type source struct{ tree *tree }

// List implements [scan.Source].
func (s source) List(_ context.Context, dir string, _ bool) ([]scan.Child, error) {
	s.tree.mu.RLock()
	defer s.tree.mu.RUnlock()
	n, err := s.tree.lookupDir(dir)
	if err != nil {
		return nil, err
	}
	return n.listed().children, nil
}

// Read implements [scan.Source]. It copies nothing: the content of a node is
// replaced, and never changed.
func (s source) Read(_ context.Context, name string, _ *[]byte, opts scan.ReadOptions) ([]byte, error) {
	data, info, err := s.tree.content(name)
	if err != nil {
		return nil, err
	}
	return data, ops.CheckSize(ops.ReadFile, name, info.Size, opts.Limit)
}

// Stat implements [scan.Source].
func (s source) Stat(ctx context.Context, name string) (workspace.FileType, error) {
	info, err := s.tree.Stat(ctx, name)
	return info.Type, err
}
