package localbash

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/dirwatch"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
)

// snapshot is what a watch knows of one directory, in one place: a directory that moves
// becomes another one. One directory can be in two places, by a bind mount or while it moves:
// then both have snapshots, with one watch of the operating system.
type snapshot struct {
	parent   *snapshot         // nil for the watched one
	name     string            // its last element
	path     string            // from the watched directory, which is "."
	id       sys.FileID        // zero before it is first opened
	watch    dirwatch.ID       // zero if the operating system has none
	replaced bool              // its watch ended: whatever has its name is another directory
	dropped  bool              // it has been reported as removed
	since    dirwatch.Position // before it was first opened
	children map[string]child
}

// child is one name in a directory.
type child struct {
	kind workspace.FileType
	dir  *snapshot // of a directory
	seen *fileStat // of anything else, in a directory without a watch
}

// newSnapshot returns the snapshot of a directory that has not been looked at.
func newSnapshot(parent *snapshot, name string) *snapshot {
	d := &snapshot{parent: parent, name: name, path: name, children: map[string]child{}}
	if parent != nil {
		d.path = workspace.Join(parent.path, name)
	}
	return d
}

// is reports whether now describes what c is known as. A file with other bytes
// is the same, another directory is not.
func (c child) is(now fileStat) bool {
	if c.kind != now.kind {
		return false
	}
	return c.dir == nil || !c.dir.replaced && (c.dir.id == sys.FileID{} || c.dir.id == now.id)
}

// set records in d that name is what now describes. A directory is new and has not been looked
// at. Only where no notice will come, the description is kept, for polls to compare with.
func (d *snapshot) set(name string, now fileStat) {
	c := child{kind: now.kind}
	switch {
	case now.kind == workspace.TypeDirectory:
		c.dir = newSnapshot(d, name)
	case d.watch == 0:
		seen := now
		c.seen = &seen
	}
	d.children[name] = c
}

// handle looks where n says, and reports what it finds there:
//
//	Appeared   something has the name; a file that had it before is another one
//	Vanished   nothing had the name for a moment
//	Written    the bytes changed: reported without a look
//	Moved      the directory itself is elsewhere
//	Ended      the directory itself does not exist any more, or is not mounted
//	Lost       anything may have happened anywhere
func (w *watch) handle(ctx context.Context, n dirwatch.Notice) {
	if n.Kind == dirwatch.Lost {
		w.lost(ctx)
		return
	}
	dirs := slices.Clone(w.byWatch[n.Watch])
	if n.Kind == dirwatch.Ended {
		delete(w.byWatch, n.Watch)
		for _, d := range dirs {
			d.watch, d.replaced = 0, true
		}
	}
	for _, d := range dirs {
		switch {
		case d.dropped: // by what was done for another of dirs
		case n.Kind == dirwatch.Ended, n.Kind == dirwatch.Moved:
			w.lookUp(ctx, d)
		case n.Kind == dirwatch.Written:
			w.written(ctx, d, n.Name)
		case n.Kind == dirwatch.Vanished:
			w.vanished(ctx, d, n)
		default:
			w.lookAt(ctx, d, n.Name, n.Kind == dirwatch.Appeared)
		}
	}
}

// lost scans again after notices were lost. It says so only then: what it
// finds it does not report, so a reader has to look after it has.
func (w *watch) lost(ctx context.Context) {
	if w.tree == nil {
		return
	}
	old := w.byWatch
	_ = w.scan(ctx) // what fails is polled
	for id := range old {
		if _, ok := w.byWatch[id]; !ok {
			w.notifier.Remove(id)
		}
	}
	w.queue.Overflow()
}

// written handles the news that the bytes of a file changed, which needs no
// look.
func (w *watch) written(ctx context.Context, d *snapshot, name string) {
	switch c, known := d.children[name]; {
	case !known:
		w.lookAt(ctx, d, name, false)
	case c.kind == workspace.TypeFile:
		w.push(workspace.EventWrite, d, name)
	}
}

// vanished handles the news that something lost its name. If that was the directory that
// is known by the name, and not one before it, it may have the name back. It is reported
// as removed and created: whoever looked in between found it missing.
func (w *watch) vanished(ctx context.Context, d *snapshot, n dirwatch.Notice) {
	if known := d.children[n.Name].dir; known != nil && n.Position > known.since {
		w.drop(d, n.Name)
	}
	w.lookAt(ctx, d, n.Name, false)
}

// lookUp finds out what became of d. Its parent is looked at, as a directory does not know its
// name.
func (w *watch) lookUp(ctx context.Context, d *snapshot) {
	if d.parent == nil {
		w.lookTop(ctx)
		return
	}
	w.lookAt(ctx, d.parent, d.name, false)
}

// lookAt reports what became of one name in d. If something got the name, a
// file that was known is another one.
//
// What is there is compared with what was known by the name:
//
//	known       there                         reported
//	nothing     something                     create, with all below it
//	something   nothing                       remove, with all below it
//	something   another type or directory     remove, create
//	a file      a file that is other or new   write
//	a symlink   one that is other or new      remove, create
//	anything    the same                      nothing
//
// A look that fails for another reason is made again later.
func (w *watch) lookAt(ctx context.Context, d *snapshot, name string, appeared bool) {
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

// isShown reports whether name in d is one that the caller may see. Temporary files and names
// that no call accepts are hidden in watches, too (H6).
func (w *watch) isShown(d *snapshot, name string) bool {
	return isListable(w.nameOf(d), name) && !strings.HasPrefix(name, ops.ReservedPrefix)
}

// maxOpenAttempts bounds how often a directory is opened that moves away and
// comes back.
const maxOpenAttempts = 10

// enter opens d as the current directory, and reports whether it could. If d is not where it
// was known to be, what became of it is reported. That drops d, unless it is back in its place
// by then, and the next attempt is made.
func (w *watch) enter(ctx context.Context, d *snapshot) bool {
	var err error
	for range maxOpenAttempts {
		if err = w.tryEnter(d); err == nil {
			return true
		}
		if d.parent == nil || !w.folder.isMoved(err) {
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

// tryEnter opens d as the current directory. It stays open until another is opened, as notices
// often come in a row from one directory.
func (w *watch) tryEnter(d *snapshot) error {
	if w.current.dir == d {
		return nil
	}
	w.current.close()
	l, err := w.tree.open(d.path)
	if err != nil {
		return err
	}
	now, err := l.stat()
	if err == nil && d.id != (sys.FileID{}) && now.id != d.id {
		err = errMoved
	}
	if err != nil {
		l.Close()
		return err
	}
	d.id = now.id
	w.current = current{d, l}
	return nil
}

// look watches d, if it can be, and reports how what is in it differs from
// what was known.
//
// Without a watch of the operating system it is looked at again at the next poll. Names that
// are missing are reported first, so that a reader who follows a rename sees the remove before
// the create.
func (w *watch) look(ctx context.Context, d *snapshot) error {
	found, stats, err := w.list(ctx, d)
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
		now := fileStat{kind: c.Type}
		if stats != nil {
			now = stats[i]
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
func (w *watch) lookForOthers(ctx context.Context, d *snapshot, found []scan.Child) {
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
// between the two. If it cannot be watched there is a fileStat of each child, to
// compare with later.
func (w *watch) list(ctx context.Context, d *snapshot) (found []scan.Child, stats []fileStat, err error) {
	w.current.close() // it may have been listed, up to its end
	if err := w.tryEnter(d); err != nil {
		return nil, nil, err
	}
	if d.watch == 0 && !d.replaced {
		if id, err := w.notifier.Add(dirwatch.Dir{Descriptor: w.current.listing.descriptor(), ID: d.id, Path: d.path}); err == nil {
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
		kept, stats = append(kept, c), append(stats, now)
	}
	return kept, stats, nil
}

// add reports that name exists in d, with all below it. since is noted before the directory is
// opened: a notice from before that is about another one with this name.
func (w *watch) add(ctx context.Context, d *snapshot, name string, now fileStat) {
	d.set(name, now)
	w.push(workspace.EventCreate, d, name)
	if c := d.children[name]; c.dir != nil {
		c.dir.since = w.notifier.Now()
		_ = w.look(ctx, c.dir) // what fails is polled
	}
}

// drop reports that name was removed, with all below it. What was below it comes first (H3).
func (w *watch) drop(d *snapshot, name string) {
	c := d.children[name]
	delete(d.children, name)
	if c.dir != nil {
		w.dropAll(c.dir)
	}
	w.push(workspace.EventRemove, d, name)
}

// dropAll reports that everything in d was removed, but not d itself. The watch of the
// operating system ends with the last snapshot that has it.
func (w *watch) dropAll(d *snapshot) {
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
	others := slices.DeleteFunc(w.byWatch[d.watch], func(other *snapshot) bool { return other == d })
	w.byWatch[d.watch] = others
	if len(others) == 0 {
		delete(w.byWatch, d.watch)
		w.notifier.Remove(d.watch)
	}
}

// push reports an event, with the name as the caller knows it. It never waits for the reader.
func (w *watch) push(op workspace.EventOp, d *snapshot, name string) {
	if !w.quiet {
		w.queue.Push(workspace.Event{Op: op, Path: workspace.Join(w.nameOf(d), name)})
	}
}

// nameOf returns the name of d, as the caller knows it.
func (w *watch) nameOf(d *snapshot) string {
	if d.parent == nil {
		return w.dir
	}
	return workspace.Join(w.dir, d.path)
}
