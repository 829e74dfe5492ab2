package localbash

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// pathNotifier is the notifier of the systems other than Linux. What it is told
// of goes by path.
type pathNotifier struct {
	dir     string            // the watched directory, as a path of the host
	base    string            // the same without symlinks
	watcher *fsnotify.Watcher // nil before the first watch
	done    chan struct{}     // closed when nobody reads of watcher any more
	last    watchID
	ids     map[string]watchID // by path
	paths   map[watchID]string

	wake    chan struct{} // has room for one: tells that there are events
	mu      sync.Mutex
	events  []fsnotify.Event // guarded by mu
	missing bool             // events were lost; guarded by mu
}

// maxPathEvents bounds the events that wait, as the kernel of Linux does.
const maxPathEvents = 16384

func newPathNotifier(dir string) *pathNotifier {
	return &pathNotifier{
		dir: dir, wake: make(chan struct{}, 1), ids: map[string]watchID{}, paths: map[watchID]string{},
	}
}

func (n *pathNotifier) open() error {
	if n.watcher != nil {
		return nil
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	n.watcher, n.done = watcher, make(chan struct{})
	go n.read(watcher)
	return nil
}

func (n *pathNotifier) close() {
	if n.watcher != nil {
		n.watcher.Close()
		<-n.done
	}
}

// read takes what watcher sends as soon as it does, and calls nothing of it: a
// watcher may send while it holds what its methods need.
func (n *pathNotifier) read(watcher *fsnotify.Watcher) {
	defer close(n.done)
	for {
		select {
		case event, ok := <-watcher.Events:
			if !ok {
				return
			}
			n.take(event, false)
		case _, ok := <-watcher.Errors:
			if !ok {
				return
			}
			n.take(fsnotify.Event{}, true)
		}
	}
}

func (n *pathNotifier) take(event fsnotify.Event, missing bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.missing = n.missing || missing || len(n.events) == maxPathEvents; n.missing {
		n.events = nil
	} else {
		n.events = append(n.events, event)
	}
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// add implements [notifier]. What the path leads to is compared with l once it
// is watched. A path that is watched already may have led elsewhere before.
func (n *pathNotifier) add(l listing, path string) (watchID, error) {
	if err := n.open(); err != nil {
		return 0, err
	}
	if path == "." {
		base, err := filepath.EvalSymlinks(n.dir)
		if err != nil {
			return 0, err
		}
		n.base = base
	}
	path = filepath.Join(n.base, filepath.FromSlash(path))
	opened, err := l.stamp()
	if err != nil {
		return 0, err
	}
	if _, ok := n.ids[path]; ok {
		_ = n.watcher.Remove(path)
	}
	if err := n.watcher.Add(path); err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err == nil && stampOf(info).id() != opened.id() {
		err = errMoved
	}
	if err != nil {
		_ = n.watcher.Remove(path)
		return 0, err
	}
	return n.number(path), nil
}

// number returns the watchID of path.
func (n *pathNotifier) number(path string) watchID {
	id, ok := n.ids[path]
	if !ok {
		n.last++
		id = n.last
		n.ids[path], n.paths[id] = id, path
	}
	return id
}

// remove implements [notifier].
func (n *pathNotifier) remove(id watchID) {
	path := n.paths[id]
	delete(n.paths, id)
	delete(n.ids, path)
	_ = n.watcher.Remove(path)
}

// wait implements [notifier].
func (n *pathNotifier) wait(ctx context.Context, deadline time.Time) []notice {
	waitFor(ctx, n.wake, deadline)
	n.mu.Lock()
	events, missing := n.events, n.missing
	n.events, n.missing = nil, false
	n.mu.Unlock()
	if missing {
		return []notice{{kind: noticeLost}}
	}
	var notices []notice
	for _, event := range events {
		notices = n.appendNotices(notices, event)
	}
	return notices
}

// appendNotices appends what event says: of the name in its directory, and of
// the directory that has the name.
func (n *pathNotifier) appendNotices(notices []notice, event fsnotify.Event) []notice {
	ended := event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename)
	if id, ok := n.ids[event.Name]; ok && ended {
		notices = append(notices, notice{kind: noticeEnded, watch: id})
	}
	id, ok := n.ids[filepath.Dir(event.Name)]
	if !ok {
		return notices
	}
	name := filepath.Base(event.Name)
	for _, told := range []struct {
		is   bool
		kind noticeKind
	}{
		{ended, noticeVanished}, {event.Has(fsnotify.Create), noticeAppeared}, {event.Has(fsnotify.Write), noticeWritten},
	} {
		if told.is {
			notices = append(notices, notice{told.kind, id, name})
		}
	}
	return notices
}
