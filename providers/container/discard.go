package container

import (
	"context"
	"time"

	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// discardTimeout bounds the removal of a temporary file. What it does not
// manage stays hidden.
const discardTimeout = 5 * time.Second

// discard removes a temporary file whose path is known.
func (f *FS) discard(path string) { f.clean(ask("discard", path)) }

// abandon removes the temporary file of a write to name that did not end, if
// there is one.
func (f *FS) abandon(name, temporary string) {
	dir, _ := workspace.Split(name)
	f.clean(ask("abandon", dir, temporary))
}

// clean makes a call beside all others: the context of those for whom it cleans
// up may have ended.
func (f *FS) clean(call shell.Call) {
	f.background.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), discardTimeout)
		defer cancel()
		_, _, _ = f.pool.Do(ctx, call)
	})
}
