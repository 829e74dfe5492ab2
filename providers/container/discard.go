package container

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// temporaries are the temporary files that calls under way may have in the
// container. It is safe for concurrent use. Its zero value is empty.
type temporaries struct {
	mu  sync.Mutex
	all map[*temporary]struct{} // guarded by mu
}

// temporary is a temporary file in the container.
type temporary struct {
	f      *FS
	dir    string // of what the call changes
	name   string
	remove shell.Call // guarded by f.temporaries.mu
}

// newTemporary returns a temporary file that nothing else has, for a call that
// changes something in dir and may make the file there. Close removes it, and the
// lock of the directory if the call held that, unless it has ended.
func (f *FS) newTemporary(dir string) *temporary {
	t := &temporary{f: f, dir: dir, name: ops.ReservedPrefix + rand.Text()}
	t.remove = f.pool.call(ask("abandon", dir, t.name, ""))
	f.temporaries.mu.Lock()
	defer f.temporaries.mu.Unlock()
	if f.temporaries.all == nil {
		f.temporaries.all = map[*temporary]struct{}{}
	}
	f.temporaries.all[t] = struct{}{}
	return t
}

// foundAt notes the path of the file in the container.
func (t *temporary) foundAt(path string) {
	t.f.temporaries.mu.Lock()
	defer t.f.temporaries.mu.Unlock()
	t.remove = t.f.pool.call(ask("abandon", t.dir, t.name, path))
}

// end ends the life of the file after a call has returned err. The program in
// the container has given it another name or removed it if it came to its end;
// otherwise it is removed in the background, for the context of the call may
// have ended. What cannot be removed stays hidden.
func (t *temporary) end(ctx context.Context, err error) {
	remove := t.forget()
	if err != nil && (ctx.Err() != nil || errors.Is(err, workspace.ErrUnavailable)) {
		t.f.pool.Clean(remove)
	}
}

// discard removes the file in the background.
func (t *temporary) discard() { t.f.pool.Clean(t.forget()) }

// forget ends the life of the file here, and returns the call that removes it.
func (t *temporary) forget() shell.Call {
	t.f.temporaries.mu.Lock()
	defer t.f.temporaries.mu.Unlock()
	delete(t.f.temporaries.all, t)
	return t.remove
}

// removals returns the calls that remove what is left.
func (t *temporaries) removals() []shell.Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	var calls []shell.Call
	for left := range t.all {
		calls = append(calls, left.remove)
	}
	return calls
}
