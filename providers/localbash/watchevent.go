package localbash

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// handle looks where n says.
func (w *watch) handle(ctx context.Context, n notice) {
	if n.kind == noticeLost {
		w.lost(ctx)
		return
	}
	dirs := slices.Clone(w.byWatch[n.watch])
	if n.kind == noticeEnded {
		delete(w.byWatch, n.watch)
		for _, d := range dirs {
			d.watch, d.replaced = 0, true
		}
	}
	for _, d := range dirs {
		switch {
		case d.dropped: // by what was done for another of dirs
		case n.kind == noticeEnded, n.kind == noticeMoved:
			w.lookUp(ctx, d)
		case n.kind == noticeWritten:
			w.written(ctx, d, n.name)
		default:
			w.lookAt(ctx, d, n.name, n.kind == noticeAppeared)
		}
	}
}

// written handles the news that the bytes of a file changed, which needs no
// look.
func (w *watch) written(ctx context.Context, d *directory, name string) {
	switch c, known := d.children[name]; {
	case !known:
		w.lookAt(ctx, d, name, false)
	case c.kind == workspace.TypeFile:
		w.push(workspace.EventWrite, d, name)
	}
}

// lookUp finds out what became of d.
func (w *watch) lookUp(ctx context.Context, d *directory) {
	if d.parent == nil {
		w.lookTop(ctx)
		return
	}
	w.lookAt(ctx, d.parent, d.name, false)
}

// lookAt reports what became of one name in d. If something got the name, a
// file that was known is another one.
func (w *watch) lookAt(ctx context.Context, d *directory, name string, appeared bool) {
	if d.dropped || !w.isShown(d, name) || !w.enter(ctx, d) {
		return
	}
	now, err := w.current.listing.child(name)
	c, known := d.children[name]
	changed := appeared || c.seen != nil && *c.seen != now
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if known {
			w.drop(d, name)
		}
	case err != nil:
		w.lookLater(d, err)
	case !known:
		w.add(ctx, d, name, now)
	case !c.is(now), changed && c.dir == nil && c.kind != workspace.TypeFile:
		w.drop(d, name)
		w.add(ctx, d, name, now)
	case c.dir == nil:
		d.set(name, now)
		if changed && c.kind == workspace.TypeFile {
			w.push(workspace.EventWrite, d, name)
		}
	}
}

// isShown reports whether name in d is one that the caller may see.
func (w *watch) isShown(d *directory, name string) bool {
	return isListable(w.nameOf(d), name) && !strings.HasPrefix(name, workspace.ReservedPrefix)
}

// maxOpenAttempts bounds how often a directory is opened that moves away and
// comes back.
const maxOpenAttempts = 10

// enter opens d as the current directory, and reports whether it could. If d
// is not where it was known to be, what became of it is reported.
func (w *watch) enter(ctx context.Context, d *directory) bool {
	var err error
	for range maxOpenAttempts {
		if err = w.tryEnter(d); err == nil {
			return true
		}
		if d.parent == nil || !w.fs.isMoved(err) {
			break
		}
		w.lookUp(ctx, d)
		if d.dropped {
			return false
		}
	}
	w.lookLater(d, err)
	return false
}

// tryEnter opens d as the current directory.
func (w *watch) tryEnter(d *directory) error {
	if w.current.dir == d {
		return nil
	}
	w.current.close()
	l, err := w.tree.open(d.path)
	if err != nil {
		return err
	}
	now, err := l.stamp()
	if err == nil && d.id != (fileID{}) && now.id() != d.id {
		err = errMoved
	}
	if err != nil {
		l.Close()
		return err
	}
	d.id = now.id()
	w.current = current{d, l}
	return nil
}

// look watches d, if it can be, and reports how what is in it differs from
// what was known.
func (w *watch) look(ctx context.Context, d *directory) error {
	found, stamps, err := w.list(ctx, d)
	if err != nil {
		w.lookLater(d, err)
		return err
	}
	delete(w.moving, d)
	if d.watch != 0 {
		delete(w.polled, d)
	} else {
		w.pollLater(d)
	}
	w.lookForOthers(ctx, d, found)
	for i, c := range found {
		if err := ctx.Err(); err != nil {
			return err
		}
		if d.dropped {
			return nil
		}
		now := stamp{kind: c.Type}
		if stamps != nil {
			now = stamps[i]
		}
		if _, known := d.children[c.Name]; known {
			w.lookAt(ctx, d, c.Name, false)
		} else {
			w.add(ctx, d, c.Name, now)
		}
	}
	return nil
}

// lookForOthers looks for the names that are known in d and not listed.
func (w *watch) lookForOthers(ctx context.Context, d *directory, found []scan.Child) {
	if len(d.children) == 0 {
		return
	}
	listed := make(map[string]bool, len(found))
	for _, c := range found {
		listed[c.Name] = true
	}
	for name := range d.children {
		if !listed[name] {
			w.lookAt(ctx, d, name, false)
		}
	}
}

// list watches d, if it can be, and then lists it, so that nothing falls
// between the two. If it cannot be watched there is a stamp of each child, to
// compare with later.
func (w *watch) list(ctx context.Context, d *directory) (found []scan.Child, stamps []stamp, err error) {
	w.current.close() // it may have been listed, up to its end
	if err := w.tryEnter(d); err != nil {
		return nil, nil, err
	}
	if d.watch == 0 && !d.replaced {
		if id, err := w.notifier.add(w.current.listing, d.path); err == nil {
			d.watch = id
			w.byWatch[id] = append(w.byWatch[id], d)
		}
	}
	found, _, err = w.current.listing.entries(ctx, w.nameOf(d))
	found = slices.DeleteFunc(found, scan.Child.IsUnnamed)
	if err != nil || d.watch != 0 {
		return found, nil, err
	}
	kept := found[:0]
	for _, c := range found {
		now, err := w.current.listing.child(c.Name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, nil, err
		}
		kept, stamps = append(kept, c), append(stamps, now)
	}
	return kept, stamps, nil
}

// add reports that name exists in d, with all below it.
func (w *watch) add(ctx context.Context, d *directory, name string, now stamp) {
	d.set(name, now)
	w.push(workspace.EventCreate, d, name)
	if c := d.children[name]; c.dir != nil {
		_ = w.look(ctx, c.dir) // what fails is polled
	}
}

// drop reports that name, with all below it, is no more.
func (w *watch) drop(d *directory, name string) {
	c := d.children[name]
	delete(d.children, name)
	if c.dir != nil {
		w.dropAll(c.dir)
	}
	w.push(workspace.EventRemove, d, name)
}

// dropAll reports that d, of which nobody is told, has nothing in it any more.
func (w *watch) dropAll(d *directory) {
	for name := range d.children {
		w.drop(d, name)
	}
	d.dropped = true
	delete(w.moving, d)
	delete(w.polled, d)
	if w.current.dir == d {
		w.current.close()
	}
	if d.watch == 0 {
		return
	}
	others := slices.DeleteFunc(w.byWatch[d.watch], func(other *directory) bool { return other == d })
	w.byWatch[d.watch] = others
	if len(others) == 0 {
		delete(w.byWatch, d.watch)
		w.notifier.remove(d.watch)
	}
}

func (w *watch) push(op workspace.EventOp, d *directory, name string) {
	if !w.quiet {
		w.queue.Push(workspace.Event{Op: op, Path: workspace.Join(w.nameOf(d), name)})
	}
}

// nameOf returns the name of d, as the caller knows it.
func (w *watch) nameOf(d *directory) string {
	if d.parent == nil {
		return w.dir
	}
	return workspace.Join(w.dir, d.path)
}
