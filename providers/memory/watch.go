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

// Watch implements [workspace.FileSystem]. Events are queued before the call
// that causes them returns.
func (m *FS) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	var o workspace.WatchOptions
	if opts != nil {
		o = *opts
	}
	if err := workspace.Check(ctx, workspace.OpWatch, dir); err != nil {
		return nil, err
	}
	if err := o.Check(dir); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.lookupDir(dir); err != nil {
		return nil, workspace.NewPathError(workspace.OpWatch, dir, err, nil)
	}
	w := &watch{dir: dir, queue: notify.New(ctx, dir, o.Buffer)}
	m.watches[w] = struct{}{}
	context.AfterFunc(ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.watches, w)
	})
	return w.queue.Events(), nil
}

// notify reports one change. m.mu is held for writing.
func (m *FS) notify(op workspace.EventOp, name string) {
	for w := range m.watches {
		if w.dir == "." || strings.HasPrefix(name, w.dir+"/") {
			w.queue.Push(workspace.Event{Op: op, Path: name})
		}
	}
}

// notifyTree reports n and all below it.
func (m *FS) notifyTree(op workspace.EventOp, n *node) {
	if len(m.watches) == 0 {
		return
	}
	m.notify(op, n.info.Path)
	for _, child := range n.children {
		m.notifyTree(op, child)
	}
}
