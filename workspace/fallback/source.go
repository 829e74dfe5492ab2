// Package fallback has the hard methods of a [workspace.FileSystem] for
// providers whose store does not help with them: Walk, Glob, Grep and Poll
// need nothing but the provider's own Ls, Stat and ReadFile, and honour every
// option of the contract. A provider delegates to them in one line each.
package fallback

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// source shows any FileSystem to the search engine.
type source struct{ fsys workspace.FileSystem }

func (s source) List(ctx context.Context, dir string, _ bool) ([]scan.Child, error) {
	infos, err := s.fsys.Ls(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	children := make([]scan.Child, len(infos))
	for i, info := range infos {
		children[i] = scan.Child{Name: info.Name, Type: info.Type}
	}
	return children, nil
}

func (s source) Read(ctx context.Context, name string, _ *[]byte, opts scan.ReadOptions) ([]byte, error) {
	if opts.Limit == 0 {
		return s.fsys.ReadFile(ctx, name)
	}
	data, _, err := workspace.ReadVersioned(ctx, s.fsys, name, opts.Limit)
	return data, err
}

func (s source) Stat(ctx context.Context, name string) (workspace.FileType, error) {
	info, err := s.fsys.Stat(ctx, name)
	if err != nil || info.Type != workspace.TypeSymlink {
		return info.Type, err
	}
	target, err := workspace.Resolve(ctx, s.fsys, name)
	if err != nil {
		return "", err
	}
	info, err = s.fsys.Stat(ctx, target)
	return info.Type, err
}
