package localbash

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"syscall"
	"time"

	"github.com/workspacekit/workspacekit/internal/notify"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/dirwatch"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// Watch implements [provider.Watcher]. Each directory below dir has a watch of
// the operating system. One that cannot have a watch, because there are none
// left or because this process may not read it, is looked at every
// opts.Interval ([fallback.DefaultPollInterval] if that is zero); so is where
// dir itself leads, unless it is the root. If dir is moved or removed,
// everything below it is reported as removed; what gets its name later is
// reported as created.
func (f *folder) Watch(ctx context.Context, dir string, opts workspace.WatchOptions) (<-chan workspace.Event, error) {
	return f.watchBy(ctx, dir, opts, dirwatch.New(filepath.Join(f.root, dir)))
}

// watchBy opens a watch that is told by the given notifier where to look, and which it closes.
// When it returns, everything has been looked at, so that what happens from now on is reported
// (H2).
func (f *folder) watchBy(ctx context.Context, dir string, opts workspace.WatchOptions, n dirwatch.Notifier) (<-chan workspace.Event, error) {
	w := &watch{folder: f, dir: dir, notifier: n, interval: cmp.Or(opts.Interval, fallback.DefaultPollInterval)}
	if err := w.open(ctx); err != nil {
		w.close()
		return nil, err
	}
	w.queue = notify.New(ctx, dir, opts.Buffer)
	go w.run(ctx)
	return w.queue.Events(), nil
}

// watch follows what happens below one directory. A notice of the operating
// system only says where to look: what is reported is the difference between
// what a directory holds and what was known about it. All of a watch belongs to
// the goroutine of run, once that is started.
//
// A notice is late by nature: when "a appeared" is read, a may be missing again, or be
// something else. With what is known before and found now, both, the events add up to what
// there is:
//
//	notice          known   found       reported
//	appeared: a     -       -           nothing
//	appeared: a     -       directory   create a, and what is in it already
//	vanished: a     file    -           remove a
type watch struct {
	folder   *folder
	dir      string            // the directory, as the caller knows it
	host     host              // to look where dir leads; nil if it is the root
	interval time.Duration     // between two polls
	notifier dirwatch.Notifier // says where to look
	queue    *notify.Queue     // of the events; nil until everything has been looked at
	quiet    bool              // nothing is reported

	tree    *tree                       // the directory, open; nil while there is none
	top     *snapshot                   // what is known about it
	byWatch map[dirwatch.ID][]*snapshot // the directories that a notice is about
	moving  map[*snapshot]bool          // those that moved while they were looked at
	polled  map[*snapshot]bool          // those to look at when the next interval ends
	pollAt  time.Time                   // zero if there is nothing to poll
	current current
}

// current is the directory that was looked at last, open while notices come of the same one.
// It saves opening it again for each notice.
type current struct {
	dir     *snapshot // nil if there is none
	listing listing
}

// close closes the directory that is being looked at.
func (c *current) close() {
	if c.dir != nil {
		c.listing.Close()
		c.dir = nil
	}
}

// open puts all watches in place, and takes note of all that there is. The name of the watched
// directory can come to lead elsewhere without a notice, so it is polled unless it is the
// root.
func (w *watch) open(ctx context.Context) (err error) {
	if w.tree, err = w.folder.openTree(w.folder.host, w.dir); err != nil {
		return err
	}
	if w.dir != "." {
		if w.host, err = w.folder.ownHost(); err != nil {
			return err
		}
		w.pollAt = time.Now().Add(w.interval)
	}
	return w.scan(ctx)
}

// ownHost returns the host of f, to be closed by the caller.
func (f *folder) ownHost() (host, error) {
	exact, ok := f.host.(nofollow)
	if !ok {
		return ownHost(f.host)
	}
	own, err := ownHost(exact.host)
	if err != nil {
		return nil, err
	}
	return nofollow{host: own}, nil
}

// ownHost returns a host for the watch alone, below the watched directory, so
// that closing the folder does not end it in the middle.
func ownHost(h host) (host, error) {
	if relaxed, ok := h.(unconfined); ok {
		return relaxed, nil
	}
	root, err := h.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return confined{root}, nil
}

// close closes what the watch has open.
func (w *watch) close() {
	w.notifier.Close()
	w.current.close()
	if w.tree != nil {
		w.tree.close()
	}
	if w.host != nil {
		w.host.Close()
	}
}

// scan learns of everything there is, and reports nothing. What has been known before is
// forgotten, with its watches of the operating system: the caller removes those that are not
// found again.
func (w *watch) scan(ctx context.Context) error {
	w.quiet = true
	defer func() { w.quiet = false }()
	defer w.current.close()
	w.byWatch = map[dirwatch.ID][]*snapshot{}
	w.moving, w.polled = map[*snapshot]bool{}, map[*snapshot]bool{}
	w.top = newSnapshot(nil, ".")
	return w.look(ctx, w.top)
}

// run handles notices until ctx ends, and then closes what the watch has open.
func (w *watch) run(ctx context.Context) {
	defer w.close()
	for ctx.Err() == nil {
		for _, n := range w.notifier.Wait(ctx, w.pollAt) {
			w.handle(ctx, n)
		}
		w.catchUp(ctx)
		if !w.pollAt.IsZero() && !time.Now().Before(w.pollAt) {
			w.poll(ctx)
		}
	}
}

// lookLater has d looked at another time, as err kept it from being looked at now. What moved
// is looked at as soon as the notices that are there have been handled, and the rest at the
// next poll.
func (w *watch) lookLater(d *snapshot, err error) {
	switch {
	case d.dropped:
	case w.folder.isMoved(err):
		w.moving[d] = true
	default:
		w.pollLater(d)
	}
}

// pollLater has d looked at when the next interval ends.
func (w *watch) pollLater(d *snapshot) {
	w.polled[d] = true
	if w.pollAt.IsZero() {
		w.pollAt = time.Now().Add(w.interval)
	}
}

// catchUp looks at the directories that moved when they were looked at. If
// they still do, they are polled.
func (w *watch) catchUp(ctx context.Context) {
	defer w.current.close()
	w.lookAgain(ctx, w.moving)
	for d := range w.moving {
		delete(w.moving, d)
		w.pollLater(d)
	}
}

// lookAgain looks once more at what moved while it was looked at. Each is taken out before it
// is looked at, as looking may put it back.
func (w *watch) lookAgain(ctx context.Context, dirs map[*snapshot]bool) {
	for d := range maps.Clone(dirs) {
		delete(dirs, d)
		if !d.dropped && w.enter(ctx, d) {
			_ = w.look(ctx, d) // what fails is looked at later
		}
	}
}

// poll looks at the directories that send no notices.
func (w *watch) poll(ctx context.Context) {
	if w.dir != "." {
		w.lookTop(ctx)
	}
	w.lookAgain(ctx, w.polled)
	w.catchUp(ctx)
	w.pollAt = time.Time{}
	if w.dir != "." || len(w.polled) > 0 {
		w.pollAt = time.Now().Add(w.interval)
	}
}

// lookTop finds out whether the name of the watched directory still leads to it, and continues
// with the one that it leads to. Everything below the one that had the name is reported as
// removed, and everything in the one that has it now as created. The root has no name that
// could lead elsewhere: if its watch has ended, all is reported as removed.
func (w *watch) lookTop(ctx context.Context) {
	if w.dir == "." {
		if w.top.replaced {
			w.dropAll(w.top)
		}
		return
	}
	tree, err := w.folder.openTree(w.host, w.dir)
	if err == nil && w.tree != nil && !w.top.replaced && tree.isAt(w.top.id) {
		tree.close()
		return
	}
	if err != nil && !w.folder.isMoved(err) {
		return // unknown at the moment
	}
	if w.tree != nil {
		w.dropAll(w.top)
		w.tree.close()
		w.tree = nil
	}
	if err == nil {
		w.tree, w.top = tree, newSnapshot(nil, ".")
		_ = w.look(ctx, w.top)
	}
}

// isAt reports whether t is the directory id.
func (t *tree) isAt(id sys.FileID) bool {
	l, err := t.open(".")
	if err != nil {
		return false
	}
	defer l.Close()
	now, err := l.stat()
	return err == nil && now.id == id
}

// errMoved says that a directory is not where it was a moment ago.
var errMoved = provider.Errorf(workspace.ErrUnavailable, "the directory was moved meanwhile")

// isMoved reports whether err says that there is no directory, or another one, where it was
// opened. A rename of a directory above it, or a symlink in the place of one, can cause each
// of these errors.
func (f *folder) isMoved(err error) bool {
	for _, moved := range []error{
		errMoved, fs.ErrNotExist, syscall.ENOTDIR, syscall.ELOOP, workspace.ErrNotDir, workspace.ErrEscape, workspace.ErrSymlink,
	} {
		if errors.Is(err, moved) {
			return true
		}
	}
	return f.kindOf(err) == workspace.ErrEscape
}
