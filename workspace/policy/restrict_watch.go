package policy

import (
	"context"
	"io/fs"

	"github.com/workspacekit/workspacekit/workspace"
)

// Watch implements [workspace.FileSystem]. It walks what may be seen of dir
// before it returns, to know the directories that only lead to names: when
// such a name disappears, nothing else tells that it was one.
func (r *RestrictedFS) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	out := make(chan workspace.Event)
	err := r.atDir(ctx, workspace.OpWatch, dir, func(p place) error {
		below, cancel := context.WithCancel(ctx)
		events, err := r.files.Watch(below, p.target, opts)
		if err != nil {
			cancel()
			return r.conceal(ctx, workspace.OpWatch, p, err)
		}
		w := &restrictedWatch{r: r, p: p}
		if err := w.look(ctx); err != nil {
			cancel()
			return workspace.RenameError(err, workspace.OpWatch, dir)
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

// restrictedWatch leaves out the events of names that are denied.
type restrictedWatch struct {
	r    *RestrictedFS
	p    place
	dirs map[string]bool // the directories that only lead to names
}

// look finds the directories that only lead to names.
func (w *restrictedWatch) look(ctx context.Context) error {
	w.dirs = map[string]bool{}
	if w.p.access == whole {
		return nil
	}
	return w.r.Walk(ctx, w.p.name, nil, func(info workspace.FileInfo, err error) error {
		if err != nil || !info.IsDir() {
			return nil
		}
		switch w.r.child(w.p, info.Path).access {
		case whole:
			return fs.SkipDir
		case leads:
			w.dirs[info.Path] = true
		}
		return nil
	})
}

// shows reports whether event is about a name that may be seen.
func (w *restrictedWatch) shows(ctx context.Context, event workspace.Event) bool {
	if event.Op == workspace.EventOverflow {
		// What cannot be listed now is not there to be told of later.
		_ = w.look(ctx)
		return true
	}
	child := w.r.child(w.p, event.Path)
	if child.access != leads {
		return child.access > leads
	}
	was := w.dirs[event.Path]
	delete(w.dirs, event.Path)
	if info, err := w.r.files.Stat(ctx, child.target); err == nil && info.IsDir() {
		w.dirs[event.Path] = true
		return true
	}
	return was
}
