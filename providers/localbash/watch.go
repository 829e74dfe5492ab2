package localbash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/fsnotify/fsnotify"

	"github.com/workspacekit/workspacekit/internal/notify"
	"github.com/workspacekit/workspacekit/workspace"
)

// Watch implements [workspace.FileSystem]. Each directory below dir has a
// watch of the operating system; one that this process may not read is passed
// by. If dir itself is moved or removed, all below it is reported as removed,
// then an overflow, and nothing after that.
//
// # Errors
// [workspace.ErrUnavailable] if the operating system has no watches left.
func (f *FS) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
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
	w, err := f.openWatch(ctx, dir)
	if err != nil {
		return nil, f.fault(workspace.OpWatch, dir, err)
	}
	w.queue = notify.New(ctx, dir, o.Buffer)
	go w.run(ctx)
	return w.queue.Events(), nil
}

// watch follows what happens below one directory. All of it belongs to the
// goroutine of run, once that is started.
type watch struct {
	dir     string   // the directory, as the caller knows it
	root    *os.Root // the same, open
	path    string   // the same, as the operating system knows it
	watcher *fsnotify.Watcher
	queue   *notify.Queue
	known   *known
}

// openWatch puts all watches in place.
func (f *FS) openWatch(ctx context.Context, dir string) (*watch, error) {
	root, err := f.host.OpenRoot(inside(dir))
	if err != nil {
		return nil, err
	}
	w := &watch{dir: dir, root: root, known: newKnown()}
	if w.path, err = filepath.EvalSymlinks(filepath.Join(f.root, dir)); err != nil {
		root.Close()
		return nil, notThere(err)
	}
	if w.watcher, err = fsnotify.NewWatcher(); err != nil {
		root.Close()
		return nil, outOfWatches(err)
	}
	if err := w.enterTop(ctx); err != nil {
		w.close()
		return nil, outOfWatches(err)
	}
	return w, nil
}

// notThere returns the error of a directory that is open and that its path
// does not lead to any more.
func notThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errOvertaken
	}
	return err
}

func (w *watch) close() {
	w.watcher.Close()
	w.root.Close()
}

// enterTop begins to watch the whole tree, and reports nothing of it.
func (w *watch) enterTop(ctx context.Context) error {
	top, err := w.look(".")
	if err != nil {
		return err
	}
	w.known.set(".", top)
	err = w.enterDir(ctx, ".", top, false)
	if errors.Is(err, errMoved) {
		return errOvertaken
	}
	return err
}

// outOfWatches says what to do about a lack of watches.
func outOfWatches(err error) error {
	var limit string
	switch {
	case errors.Is(err, syscall.ENOSPC):
		limit = "fs.inotify.max_user_watches"
	case errors.Is(err, syscall.EMFILE):
		limit = "fs.inotify.max_user_instances or the limit of open files"
	default:
		return err
	}
	return fmt.Errorf("%w: the operating system has no watches left; raise %s, or watch a smaller directory",
		workspace.ErrUnavailable, limit)
}

// run handles events until ctx ends.
func (w *watch) run(ctx context.Context) {
	defer w.close()
	for {
		select {
		case <-ctx.Done():
			return
		case event, ok := <-w.watcher.Events:
			if !ok {
				return
			}
			w.handle(ctx, event)
		case _, ok := <-w.watcher.Errors:
			if !ok {
				return
			}
			w.overflow(ctx)
		}
	}
}

// overflow starts anew after events were lost. It says so only then: what it
// finds it does not report, so a reader has to look after it has.
func (w *watch) overflow(ctx context.Context) {
	for dir, entry := range w.known.dirs() {
		if now, err := w.look(dir); err != nil || now.id != entry.id {
			_ = w.watcher.Remove(w.hostPath(dir))
		}
	}
	w.known = newKnown()
	_ = w.enterTop(ctx) // what fails here is lost, too
	w.queue.Overflow()
}

// hostPath returns the path of name, which is relative to the watched
// directory.
func (w *watch) hostPath(name string) string {
	return filepath.Join(w.path, filepath.FromSlash(name))
}

func (w *watch) push(op workspace.EventOp, name string) {
	w.queue.Push(workspace.Event{Op: op, Path: workspace.Join(w.dir, name)})
}
