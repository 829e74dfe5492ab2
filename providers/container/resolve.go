package container

import (
	"context"
	"path"

	"github.com/workspacekit/workspacekit/workspace"
)

// Resolve implements [workspace.Resolver].
func (f *FS) Resolve(ctx context.Context, name string) (string, error) {
	if err := f.check(ctx, workspace.OpResolve, name); err != nil {
		return "", err
	}
	body, err := f.do(ctx, workspace.OpResolve, name, ask("resolved", name))
	if err != nil {
		return "", err
	}
	return path.Clean("./" + string(body)), nil
}
