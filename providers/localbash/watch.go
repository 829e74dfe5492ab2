package localbash

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"syscall"
	"time"

	"github.com/workspacekit/workspacekit/internal/notify"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// Watch implements [workspace.FileSystem]. Each directory below dir has a
// watch of the operating system. One that cannot have a watch, because there
// are none left or because this process may not read it, is looked at every
// opts.Interval ([fallback.DefaultPollInterval] if that is zero); so is where
// dir itself leads, unless it is the root. If dir is moved or removed,
// everything below it is reported as removed; what gets its name later is
// reported as created.
func (f *FS) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	return f.watchBy(ctx, dir, opts, f.newNotifier(dir))
}

func (f *FS) watchBy(ctx context.Context, dir string, opts *workspace.WatchOptions, n notifier) (<-chan workspace.Event, error) {
	var o workspace.WatchOptions
	if opts != nil {
		o = *opts
	}
	if err := f.check(ctx, workspace.OpWatch, dir); err != nil {
		return nil, err
	}
	if err := o.Check(dir); err != nil {
		return nil, err
	}
	if o.Interval == 0 {
		o.Interval = fallback.DefaultPollInterval
	}
	w := &watch{fs: f, dir: dir, notifier: n, interval: o.Interval}
	if err := w.open(ctx); err != nil {
		w.close()
		return nil, f.fault(workspace.OpWatch, dir, err)
	}
	w.queue = notify.New(ctx, dir, o.Buffer)
	go w.run(ctx)
	return w.queue.Events(), nil
}

// watch follows what happens below one directory. A notice of the operating
// system only says where to look: what is reported is the difference between
// what a directory holds and what was known of it. All of a watch belongs to
// the goroutine of run, once that is started.
type watch struct {
	fs       *FS
	dir      string // the directory, as the caller knows it
	host     host   // to look where dir leads; nil if it is the root
	interval time.Duration
	notifier notifier
	queue    *notify.Queue
	quiet    bool // nothing is reported

	tree    *tree      // the directory, open; nil while there is none
	top     *directory // what is known of it
	byWatch map[watchID][]*directory
	moving  map[*directory]bool // those that could not be looked at as they moved meanwhile
	polled  map[*directory]bool // those to look at when the next interval ends
	pollAt  time.Time           // zero if there is nothing to poll
	current current
}

// current is the directory that was looked at last, open while notices come of
// the same one.
type current struct {
	dir     *directory // nil if there is none
	listing listing
}

func (c *current) close() {
	if c.dir != nil {
		c.listing.Close()
		c.dir = nil
	}
}

// open puts all watches in place.
func (w *watch) open(ctx context.Context) (err error) {
	if w.tree, err = w.fs.openTree(w.fs.host, w.dir); err != nil {
		return err
	}
	if w.dir != "." {
		if w.host, err = w.fs.ownHost(); err != nil {
			return err
		}
		w.pollAt = time.Now().Add(w.interval)
	}
	return w.scan(ctx)
}

// ownHost returns the host of f, to be closed by the caller.
func (f *FS) ownHost() (host, error) {
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

func ownHost(h host) (host, error) {
	if relaxed, ok := h.(plain); ok {
		return relaxed, nil
	}
	root, err := h.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return confined{root}, nil
}

func (w *watch) close() {
	w.notifier.close()
	w.current.close()
	if w.tree != nil {
		w.tree.close()
	}
	if w.host != nil {
		w.host.Close()
	}
}

// scan learns of everything there is, and reports nothing.
func (w *watch) scan(ctx context.Context) error {
	w.quiet = true
	defer func() { w.quiet = false }()
	defer w.current.close()
	w.byWatch = map[watchID][]*directory{}
	w.moving, w.polled = map[*directory]bool{}, map[*directory]bool{}
	w.top = newDirectory(nil, ".")
	return w.look(ctx, w.top)
}

// run handles notices until ctx ends.
func (w *watch) run(ctx context.Context) {
	defer w.close()
	for ctx.Err() == nil {
		for _, n := range w.notifier.wait(ctx, w.pollAt) {
			w.handle(ctx, n)
		}
		w.catchUp(ctx)
		if !w.pollAt.IsZero() && !time.Now().Before(w.pollAt) {
			w.poll(ctx)
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
			w.notifier.remove(id)
		}
	}
	w.queue.Overflow()
}

// lookLater has d looked at another time, as err kept it from being looked at
// now.
func (w *watch) lookLater(d *directory, err error) {
	switch {
	case d.dropped:
	case w.fs.isMoved(err):
		w.moving[d] = true
	default:
		w.pollLater(d)
	}
}

// pollLater has d looked at when the next interval ends.
func (w *watch) pollLater(d *directory) {
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

func (w *watch) lookAgain(ctx context.Context, dirs map[*directory]bool) {
	for d := range maps.Clone(dirs) {
		delete(dirs, d)
		if !d.dropped && w.enter(ctx, d) {
			_ = w.look(ctx, d) // what fails is looked at later
		}
	}
}

// poll looks at what no notice comes of.
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

// lookTop finds out whether the name of the watched directory still leads to
// it, and goes on with the one that it leads to.
func (w *watch) lookTop(ctx context.Context) {
	if w.dir == "." {
		if w.top.replaced {
			w.dropAll(w.top)
		}
		return
	}
	tree, err := w.fs.openTree(w.host, w.dir)
	if err == nil && w.tree != nil && !w.top.replaced && tree.isAt(w.top.id) {
		tree.close()
		return
	}
	if err != nil && !w.fs.isMoved(err) {
		return // it cannot be told now
	}
	if w.tree != nil {
		w.dropAll(w.top)
		w.tree.close()
		w.tree = nil
	}
	if err == nil {
		w.tree, w.top = tree, newDirectory(nil, ".")
		_ = w.look(ctx, w.top)
	}
}

// isAt reports whether t is the directory id.
func (t *tree) isAt(id fileID) bool {
	l, err := t.open(".")
	if err != nil {
		return false
	}
	defer l.Close()
	now, err := l.stamp()
	return err == nil && now.id() == id
}

// errMoved says that a directory is not where it was a moment ago.
var errMoved = errors.New("directory moved")

// isMoved reports whether err says that there is no directory, or another one,
// where it was opened.
func (f *FS) isMoved(err error) bool {
	for _, moved := range []error{
		errMoved, fs.ErrNotExist, syscall.ENOTDIR, syscall.ELOOP, workspace.ErrNotDir, workspace.ErrEscape, workspace.ErrSymlink,
	} {
		if errors.Is(err, moved) {
			return true
		}
	}
	return f.escape != nil && plainCause(err) == f.escape
}
