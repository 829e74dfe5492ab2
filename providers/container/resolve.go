package container

import (
	"context"
	"path"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// Resolve implements [workspace.Resolver].
func (f *FS) Resolve(ctx context.Context, name string) (string, error) {
	if err := f.check(ctx, ops.Resolve, name); err != nil {
		return "", err
	}
	body, err := f.do(ctx, ops.Resolve, name, ask("resolved", name))
	if err != nil {
		return "", err
	}
	return path.Clean("./" + string(body)), nil
}
