package memory

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/workspace"
)

// Rm implements [workspace.FileSystem]. It is atomic, with Recursive too.
func (m *FS) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	if err := workspace.Check(ctx, workspace.OpRm, name); err != nil {
		return err
	}
	if name == "." {
		return workspace.NewPathError(workspace.OpRm, name, fs.ErrInvalid, errors.New("the root cannot be removed"))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup(name)
	if err == nil && len(n.children) > 0 && (opts == nil || !opts.Recursive) {
		err = workspace.ErrNotEmpty
	}
	if err != nil {
		return workspace.NewPathError(workspace.OpRm, name, err, nil)
	}
	m.detach(n)
	return nil
}
