package policy

import (
	"context"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Watch implements [workspace.FileSystem]. Before it returns, it walks dir to
// learn which directories may only be traversed: when such a name is removed,
// the event does not say whether it was a directory or a denied file.
func (r *RestrictedFS) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	out := make(chan workspace.Event)
	err := r.toList(ctx, ops.Watch, onList, dir, func(r *RestrictedFS, p resolved) error {
		below, cancel := context.WithCancel(ctx)
		events, err := p.files.Watch(below, p.target, opts)
		if err != nil {
			cancel()
			return r.conceal(ctx, ops.Watch, p, err)
		}
		w := &restrictedWatch{r: r, p: p}
		if err := w.findDirs(ctx); err != nil {
			cancel()
			return ops.Rename(err, ops.Watch, dir)
		}
		go func() {
			defer cancel()
			p.forward(below, events, out, func(event workspace.Event) bool { return w.shows(below, event) })
		}()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// restrictedWatch leaves out the events of denied names.
type restrictedWatch struct {
	r    *RestrictedFS
	p    resolved
	dirs map[string]bool // the directories that may only be traversed
}

// findDirs finds the directories that may only be traversed.
func (w *restrictedWatch) findDirs(ctx context.Context) error {
	w.dirs = map[string]bool{}
	if w.p.access == all || w.r.rules.leads&onList == 0 || w.r.rules.show {
		return nil
	}
	return w.r.Walk(ctx, w.p.name, nil, func(info workspace.FileInfo, err error) error {
		if err != nil || !info.IsDir() {
			return nil
		}
		switch w.r.child(w.p, onList, info.Path).access {
		case all:
			return fs.SkipDir
		case traverse:
			w.dirs[info.Path] = true
		}
		return nil
	})
}

// shows reports whether event is about a name that is not denied.
func (w *restrictedWatch) shows(ctx context.Context, event workspace.Event) bool {
	if event.Op == workspace.EventOverflow {
		// If dir itself cannot be listed, there is nothing in it to report.
		_ = w.findDirs(ctx)
		return true
	}
	child := w.r.child(w.p, onList, event.Path)
	if child.access <= traverse && w.r.rules.show {
		// What listings show of a denied name changes if it is created or removed.
		dir, _ := workspace.Split(event.Path)
		return event.Op != workspace.EventWrite && w.r.child(w.p, onList, dir).shows(workspace.TypeDirectory)
	}
	if child.access != traverse {
		return child.access > traverse
	}
	was := w.dirs[event.Path]
	delete(w.dirs, event.Path)
	if info, err := w.p.files.Stat(ctx, child.target); err == nil && info.IsDir() {
		w.dirs[event.Path] = true
		return true
	}
	return was
}
