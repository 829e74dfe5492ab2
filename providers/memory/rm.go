package memory

import (
	"context"

	"github.com/workspacekit/workspacekit/workspace"
)

// Rm implements [provider.Store]. What is removed stays readable for those who have opened it.
func (t *tree) Rm(_ context.Context, name string, opts workspace.RmOptions) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.lookup(name)
	if err == nil && len(n.children) > 0 && !opts.Recursive {
		err = workspace.ErrNotEmpty
	}
	if err != nil {
		return err
	}
	t.detach(n)
	return nil
}
