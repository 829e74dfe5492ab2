package memory

import (
	"context"
	"strings"

	"github.com/workspacekit/workspacekit/internal/notify"
	"github.com/workspacekit/workspacekit/workspace"
)

// watch is a reader of the changes below dir.
type watch struct {
	dir   string
	queue *notify.Queue
}

// Watch implements [provider.Watcher]. Events are queued before the call that causes them
// returns. The watch is added under the lock that changes need, so none of those that follow
// is missed (H2).
func (t *tree) Watch(ctx context.Context, dir string, opts workspace.WatchOptions) (<-chan workspace.Event, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.lookupDir(dir); err != nil {
		return nil, err
	}
	w := &watch{dir: dir, queue: notify.New(ctx, dir, opts.Buffer)}
	if t.watches == nil {
		t.watches = map[*watch]struct{}{}
	}
	t.watches[w] = struct{}{}
	context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.watches, w)
	})
	return w.queue.Events(), nil
}

// notify reports one change. t.mu is held for writing. Push does not wait for readers, so a
// slow one keeps no writer.
func (t *tree) notify(op workspace.EventOp, name string) {
	for w := range t.watches {
		if w.dir == "." || strings.HasPrefix(name, w.dir+"/") {
			w.queue.Push(workspace.Event{Op: op, Path: name})
		}
	}
}

// notifyTree reports n and all below it. Parents come before what is in them, for removes as
// well. t.mu is held for writing.
func (t *tree) notifyTree(op workspace.EventOp, n *node) {
	if len(t.watches) == 0 {
		return
	}
	t.notify(op, n.info.Path)
	for _, child := range n.children {
		t.notifyTree(op, child)
	}
}
