package localbash

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/fsnotify/fsnotify"

	"github.com/workspacekit/workspacekit/workspace"
)

// errMoved says that a directory is not where it was a moment ago. Events tell
// what became of it.
var errMoved = errors.New("directory moved")

// handle turns an event of the operating system into those of the contract. An
// event is late: it says what happened once, and is compared with what is there
// now.
func (w *watch) handle(ctx context.Context, event fsnotify.Event) {
	name, ok := w.nameOf(event.Name)
	if !ok {
		return
	}
	if event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename) {
		w.vanished(ctx, name)
	}
	if event.Has(fsnotify.Create) {
		w.appeared(ctx, name)
	}
	if event.Has(fsnotify.Write) {
		w.written(ctx, name)
	}
}

// nameOf returns the name of the host's path, relative to the watched
// directory, unless it is one that is not shown.
func (w *watch) nameOf(hostPath string) (string, bool) {
	name, err := filepath.Rel(w.path, hostPath)
	if err != nil {
		return "", false
	}
	name = filepath.ToSlash(name)
	return name, w.isShown(name)
}

func (w *watch) isShown(name string) bool {
	return name == "." || workspace.ValidName(workspace.Join(w.dir, name))
}

// look returns what name is now.
func (w *watch) look(name string) (entry, error) {
	info, err := w.root.Lstat(name)
	if err != nil {
		return entry{}, err
	}
	return entryOf(info), nil
}

func entryOf(info fs.FileInfo) entry {
	e := entry{kind: kindOfMode(info.Mode())}
	e.id.device, e.id.inode, _ = identity(info)
	return e
}

// vanished handles the news that name was removed or moved away.
func (w *watch) vanished(ctx context.Context, name string) {
	if !w.known.has(name) {
		return
	}
	if name == "." {
		w.topVanished()
		return
	}
	now, err := w.look(name)
	if err == nil && now == w.known.entries[name] {
		return // old news of something that had the name before
	}
	w.drop(name)
	if err == nil {
		w.enter(ctx, name, now)
	}
}

func (w *watch) topVanished() {
	for _, name := range w.known.below(".") {
		w.drop(name)
	}
	_ = w.watcher.Remove(w.path)
	w.known = newKnown()
	w.queue.Overflow()
}

// drop reports that name, and all below it, is no more.
func (w *watch) drop(name string) {
	for _, gone := range append(w.known.below(name), name) {
		if w.known.entries[gone].kind == workspace.TypeDirectory {
			_ = w.watcher.Remove(w.hostPath(gone))
		}
		w.known.forget(gone)
		w.push(workspace.EventRemove, gone)
	}
}

// appeared handles the news that something got the name.
func (w *watch) appeared(ctx context.Context, name string) {
	if !w.known.has(path.Dir(name)) {
		return // what is known of the directory comes with it
	}
	before, was := w.known.entries[name]
	now, err := w.look(name)
	switch {
	case err != nil && was:
		return // the news that it has gone comes next
	case err != nil: // it was there, and is to be reported
		w.known.set(name, entry{kind: workspace.TypeOther})
		w.push(workspace.EventCreate, name)
	case !was:
		w.enter(ctx, name, now)
	case before.kind != now.kind, now.kind == workspace.TypeDirectory && before.id != now.id:
		w.drop(name)
		w.enter(ctx, name, now)
	case now.kind == workspace.TypeDirectory:
		w.enterChildren(ctx, name, now)
	default:
		w.known.set(name, now)
		w.push(workspace.EventWrite, name)
	}
}

// written handles the news that the bytes of name changed.
func (w *watch) written(ctx context.Context, name string) {
	switch before, was := w.known.entries[name]; {
	case !was:
		w.appeared(ctx, name)
	case before.kind == workspace.TypeFile:
		w.push(workspace.EventWrite, name)
	}
}

// enter reports that name exists now, with all below it.
func (w *watch) enter(ctx context.Context, name string, now entry) {
	w.dropMoved(name, now)
	w.known.set(name, now)
	w.push(workspace.EventCreate, name)
	if now.kind == workspace.TypeDirectory {
		w.enterChildren(ctx, name, now)
	}
}

// dropMoved drops the directory now from where it was known, if it is not
// there any more: the operating system has one watch for it, which would go
// on to report its old name.
func (w *watch) dropMoved(name string, now entry) {
	old, ok := w.known.byID[now.id]
	if !ok || old == name || now.kind != workspace.TypeDirectory {
		return
	}
	if there, err := w.look(old); err != nil || there.id != now.id {
		w.drop(old)
	}
}

// enterChildren is enterDir for a directory that appears while others are
// watched: nobody is left to return an error to.
func (w *watch) enterChildren(ctx context.Context, name string, now entry) {
	if err := w.enterDir(ctx, name, now, true); err != nil && !errors.Is(err, errMoved) {
		w.queue.Overflow()
	}
}

// enterDir begins to watch the directory name, which is now, and all below it,
// and then looks at what is in it, so that nothing falls between the two. What
// was not known is reported if report says so.
func (w *watch) enterDir(ctx context.Context, name string, now entry, report bool) error {
	if err := w.add(name, now); err != nil {
		return passBy(name, err)
	}
	infos, err := w.list(name, now)
	if err != nil {
		return passBy(name, err)
	}
	for _, info := range infos {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.enterChild(ctx, workspace.Join(name, info.Name()), entryOf(info), report); err != nil {
			return err
		}
	}
	return nil
}

func (w *watch) enterChild(ctx context.Context, name string, now entry, report bool) error {
	if !w.isShown(name) || w.known.has(name) {
		return nil
	}
	if report {
		w.dropMoved(name, now)
		w.push(workspace.EventCreate, name)
	}
	w.known.set(name, now)
	if now.kind != workspace.TypeDirectory {
		return nil
	}
	return w.enterDir(ctx, name, now, report)
}

// passBy returns err unless it says no more than that the directory name
// cannot be read, or has gone, and it is not the watched one.
func passBy(name string, err error) error {
	if name == "." {
		return err
	}
	for _, harmless := range []error{fs.ErrPermission, fs.ErrNotExist, syscall.ENOTDIR, errMoved} {
		if errors.Is(err, harmless) {
			return nil
		}
	}
	return err
}

// add adds the watch of a directory. The path that the operating system is
// given could lead somewhere else by now, so it is looked at once more.
func (w *watch) add(name string, now entry) error {
	hostPath := w.hostPath(name)
	if err := w.watcher.Add(hostPath); err != nil {
		return err
	}
	info, err := os.Stat(hostPath)
	if err == nil && entryOf(info) == now {
		return nil
	}
	_ = w.watcher.Remove(hostPath)
	return errMoved
}

// list returns what is in the directory name, provided it is still now.
func (w *watch) list(name string, now entry) ([]fs.FileInfo, error) {
	dir, err := w.root.OpenRoot(inside(name))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	file, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || entryOf(info) != now {
		return nil, errMoved
	}
	return file.Readdir(-1)
}
