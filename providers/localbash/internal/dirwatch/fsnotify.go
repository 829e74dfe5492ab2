package dirwatch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
)

// paths is the Notifier of the systems other than Linux. It knows directories by
// their paths.
type paths struct {
	root    string            // the watched directory, as a path of the host
	base    string            // the same without symlinks
	watcher *fsnotify.Watcher // nil before the first watch
	done    chan struct{}     // closed when read has returned
	last    ID
	ids     map[string]ID // by path
	names   map[ID]string // their paths

	wake    chan struct{} // has room for one: says that there are events
	mu      sync.Mutex
	events  []fsnotify.Event // guarded by mu
	missing bool             // events were lost; guarded by mu
}

// maxPathEvents bounds the events that wait, as the kernel of Linux does.
const maxPathEvents = 16384

// NewPaths returns a Notifier that works with paths, for the directory of the host
// root and those below it.
func NewPaths(root string) Notifier {
	return &paths{
		root: root, wake: make(chan struct{}, 1), ids: map[string]ID{}, names: map[ID]string{},
	}
}

// open starts the watcher of fsnotify, once.
func (n *paths) open() error {
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

// Close implements Notifier.
func (n *paths) Close() {
	if n.watcher != nil {
		n.watcher.Close()
		<-n.done
	}
}

// Now implements [Notifier].
func (n *paths) Now() Position { return 0 }

// read receives what watcher sends, and calls none of its methods: a watcher may
// send while it holds a lock that they need.
func (n *paths) read(watcher *fsnotify.Watcher) {
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

// take keeps an event for the reader. If there are too many it keeps only that
// some are missing.
func (n *paths) take(event fsnotify.Event, missing bool) {
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

// Add implements [Notifier]. What the path leads to is compared with dir once it
// is watched. A path that is watched already may have led elsewhere before.
func (n *paths) Add(dir Dir) (ID, error) {
	if err := n.open(); err != nil {
		return 0, err
	}
	if dir.Path == "." {
		base, err := filepath.EvalSymlinks(n.root)
		if err != nil {
			return 0, err
		}
		n.base = base
	}
	path := filepath.Join(n.base, filepath.FromSlash(dir.Path))
	if _, ok := n.ids[path]; ok {
		_ = n.watcher.Remove(path)
	}
	if err := n.watcher.Add(path); err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err == nil && sys.AttributesOf(info).ID != dir.ID {
		err = errors.New("another directory has the path")
	}
	if err != nil {
		_ = n.watcher.Remove(path)
		return 0, err
	}
	return n.number(path), nil
}

// number returns the ID of path.
func (n *paths) number(path string) ID {
	id, ok := n.ids[path]
	if !ok {
		n.last++
		id = n.last
		n.ids[path], n.names[id] = id, path
	}
	return id
}

// Remove implements [Notifier].
func (n *paths) Remove(id ID) {
	path := n.names[id]
	delete(n.names, id)
	delete(n.ids, path)
	_ = n.watcher.Remove(path)
}

// Wait implements [Notifier].
func (n *paths) Wait(ctx context.Context, deadline time.Time) []Notice {
	waitFor(ctx, n.wake, deadline)
	n.mu.Lock()
	events, missing := n.events, n.missing
	n.events, n.missing = nil, false
	n.mu.Unlock()
	if missing {
		return []Notice{{Kind: Lost}}
	}
	var notices []Notice
	for _, event := range events {
		notices = n.appendNotices(notices, event)
	}
	return notices
}

// appendNotices appends what event says: of the name in its directory, and of
// the directory that has the name.
func (n *paths) appendNotices(notices []Notice, event fsnotify.Event) []Notice {
	ended := event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename)
	if id, ok := n.ids[event.Name]; ok && ended {
		notices = append(notices, Notice{Kind: Ended, Watch: id})
	}
	id, ok := n.ids[filepath.Dir(event.Name)]
	if !ok {
		return notices
	}
	name := filepath.Base(event.Name)
	for _, told := range []struct {
		is   bool
		kind Kind
	}{
		{ended, Vanished}, {event.Has(fsnotify.Create), Appeared}, {event.Has(fsnotify.Write), Written},
	} {
		if told.is {
			notices = append(notices, Notice{Kind: told.kind, Watch: id, Name: name})
		}
	}
	return notices
}
