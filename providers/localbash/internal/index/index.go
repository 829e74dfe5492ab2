// Package index keeps what a search needs of a folder in memory: the names, a summary of
// the contents, and the contents of as many files as fit. It is true whenever a search
// asks: the kernel queues an event before the system call that caused it returns, and a
// search takes all events from the queue before it begins. So it sees every write that
// had returned, whoever made it.
//
// An [Index] only ever forgets. An event says which directory or file is not as it was
// known; it is then as if it had never been in the index, and the search reads it from
// the disk. A goroutine reads it again for the next search.
//
//	event                              what is forgotten
//	a.go was modified                  the content of a.go
//	b.go was created, or removed       the listing of its directory
//	sub was renamed, or replaced       the listing of its directory, sub, and all below
//	a name may have bytes of another   the contents of all files with these bytes (hard links)
//	a directory appeared               everything, until the stamps have been compared
//	a file system was mounted          everything, and nothing is kept
//	events were lost                   the same
//
// A stamp is a file's identity, size and times. It proves that a file is as it was only if
// the file had not been changed for a moment before it was read, as the kernel's clock
// stands still for some milliseconds.
//
// The kernel has no events for stores into a file that is mapped into memory. Nor are there
// any for changes by a hard link outside the folder, or in a directory that cannot be watched.
// A sweep compares all stamps once a minute, and reads again what changed not long ago. So a
// search misses such a change for a minute at most. Only tmpfs never writes a page to a disk,
// and so may give a file that stays mapped no other time.
//
// Only directories on local file systems are in the index: elsewhere other computers
// change files without an event.
package index

import (
	"context"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/dirwatch"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
)

// Dir is an open directory of the folder.
type Dir interface {
	// Descriptor is the directory for system calls.
	Descriptor() int
	// Stamp describes the directory itself.
	Stamp() (Stamp, error)
	// List returns the children, sorted by name. The caller must not change the slice.
	List(ctx context.Context) ([]scan.Child, error)
	// StampOf describes the child name, itself.
	StampOf(name string) (Stamp, error)
	// Read reads the file name into buf, or a larger slice. It may return only the
	// beginning of a file that is binary. The Stamp is from before. A file of more than
	// limit bytes is an error, and so is a symlink.
	Read(ctx context.Context, name string, buf []byte, limit int64) ([]byte, Stamp, error)
	Close() error
}

// Stamp is what the operating system says of a file.
type Stamp struct {
	ID                sys.FileID
	Size              int64
	Modified, Changed int64 // in nanoseconds since 1970
	Linked            bool  // it has other names
}

// Options are the settings of an [Index].
type Options struct {
	MaxMemory int64         // in bytes
	Sweep     time.Duration // between two sweeps
	Idle      time.Duration // after so long without a search everything is forgotten
	Pause     time.Duration // at least, between two times that the goroutine reads, and as long as the first of them took
	Share     int           // this many times as long if nobody searches
}

// Index is the index of a folder. It is safe for concurrent use. A nil Index knows nothing.
type Index struct {
	open func(path string) (Dir, error) // follows no symlinks
	opts Options

	mu       sync.RWMutex // guards what follows
	closed   bool
	running  *run            // nil before the first search, and after a long time without one
	dirs     map[string]*dir // by path
	byWatch  map[dirwatch.ID]*dir
	pending  []*dir // must be read, in order
	reading  bool   // directories that were pending are being read
	events   uint64 // so far
	doubts   uint64 // how often everything was hidden
	sweeping bool   // what is read next is for a sweep
	searched time.Time
	used     memory

	view      *View        // nil when something became known, or is not known any more, since the last search
	forgotten []sys.FileID // the files with other names that changed since the last directory began to be read
	ended     *run         // the last one that ended by itself; nil for none
}

// run is what an Index has open while it is in use.
type run struct {
	queue  *dirwatch.Queue
	mounts *sys.Mounts
	cancel context.CancelFunc
	wake   chan struct{}  // has room for one: says that there is something pending
	wanted chan struct{}  // has room for one: says that a search found something pending
	group  sync.WaitGroup // of its goroutines
}

// memory is how many bytes an Index takes, about.
type memory struct{ summaries, contents int64 }

// dir is a directory of an Index.
type dir struct {
	path    string
	parent  *dir // nil for the root
	subdirs map[string]*dir
	watch   dirwatch.ID // zero before it is first read
	id      sys.FileID  // as of then

	listing *Listing // nil while a search must not use it
	known   *Listing // the last one: what is still true in it is not read again; nil before the first
	pending bool     // it must be read
	dropped bool     // it does not belong to the index any more

	// What happened since it began to be read:
	renamed   bool            // a name was created or removed
	disturbed map[string]bool // the names with events

	fresh map[string]fresh // names that appeared and are not in known
}

// New returns an Index of the tree that open shows. It does nothing before the first
// search.
func New(open func(path string) (Dir, error), opts Options) *Index {
	return &Index{open: open, opts: opts}
}

// Begin makes the index true for a search that begins now. The first search starts a
// goroutine that reads the tree, and does not wait for it. Begin returns what is known, nil
// for nothing.
func (i *Index) Begin() *View {
	if i == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return nil
	}
	i.searched = time.Now()
	if i.running == nil {
		i.start()
		return nil
	}
	i.drain()
	if len(i.pending) > 0 {
		notify(i.running.wanted)
	}
	if i.view == nil {
		i.view = i.look()
	}
	return i.view
}

// Hold keeps the events in the kernel's queue until release is called, for tests.
func (i *Index) Hold() (release func()) {
	i.mu.Lock()
	return i.mu.Unlock
}

// State describes an Index.
type State struct {
	Directories, Files int   // that are known
	Summaries          int64 // bytes of names, stamps and summaries
	Contents           int64 // bytes of contents
	Reading            bool  // more is being read
}

// State returns how much is known.
func (i *Index) State() State {
	if i == nil {
		return State{}
	}
	i.mu.RLock()
	defer i.mu.RUnlock()
	s := State{Summaries: i.used.summaries, Contents: i.used.contents, Reading: len(i.pending) > 0 || i.reading}
	for _, d := range i.dirs {
		if d.listing != nil {
			s.Directories++
			s.Files += d.listing.readable
		}
	}
	return s
}

// start opens the queue and starts the goroutines. i.mu is held. Where there are no
// events nothing is ever known.
func (i *Index) start() {
	queue, err := dirwatch.OpenQueue()
	if err != nil {
		return
	}
	mounts, err := i.openMounts()
	if err != nil {
		queue.Close()
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{queue: queue, mounts: mounts, cancel: cancel, wake: make(chan struct{}, 1), wanted: make(chan struct{}, 1)}
	i.running, i.dirs, i.byWatch = r, map[string]*dir{}, map[dirwatch.ID]*dir{}
	i.addDir(nil, ".")
	r.group.Go(func() { i.listen(ctx, r) })
	r.group.Go(func() { i.read(ctx, r) })
}

// openMounts opens the list of what is mounted in the folder.
func (i *Index) openMounts() (*sys.Mounts, error) {
	root, err := i.open(".")
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return sys.OpenMounts(root.Descriptor())
}

// stop forgets everything and ends the goroutines of the current run, which it returns.
// i.mu is held.
func (i *Index) stop() *run {
	r := i.running
	if r != nil {
		r.cancel()
		r.queue.Close()
		r.mounts.Close()
	}
	i.running, i.dirs, i.byWatch, i.pending, i.view, i.used = nil, nil, nil, nil, nil, memory{}
	return r
}

// Close forgets everything, and waits for the goroutines.
func (i *Index) Close() {
	if i == nil {
		return
	}
	i.mu.Lock()
	i.closed = true
	runs := []*run{i.ended, i.stop()}
	i.mu.Unlock()
	for _, r := range runs {
		if r != nil {
			r.group.Wait()
		}
	}
}

// addDir adds a directory, to be read. i.mu is held.
func (i *Index) addDir(parent *dir, name string) {
	d := &dir{path: name, parent: parent, subdirs: map[string]*dir{}}
	if parent != nil {
		if parent.path != "." {
			d.path = parent.path + "/" + name
		}
		parent.subdirs[name] = d
	}
	i.dirs[d.path] = d
	i.show(d, nil)
	i.readLater(d)
}

// show has searches use l for d, nil for nothing. i.mu is held.
func (i *Index) show(d *dir, l *Listing) { d.listing, i.view = l, nil }

// readLater has d read. i.mu is held.
func (i *Index) readLater(d *dir) {
	if d.pending || d.dropped {
		return
	}
	d.pending = true
	i.pending = append(i.pending, d)
	notify(i.running.wake)
}

// notify sends to a channel that has room for one, unless that is full.
func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// drop forgets d and all below. i.mu is held.
func (i *Index) drop(d *dir) {
	for _, sub := range d.subdirs {
		i.drop(sub)
	}
	if d.parent != nil {
		delete(d.parent.subdirs, baseOf(d))
	}
	delete(i.dirs, d.path)
	d.dropped = true
	i.show(d, nil)
	i.used.add(d.known, -1)
	d.known = nil
	if d.watch != 0 {
		delete(i.byWatch, d.watch)
		i.running.queue.Remove(d.watch)
	}
}

// baseOf returns the last element of the path of d, which has a parent.
func baseOf(d *dir) string {
	if d.parent.path == "." {
		return d.path
	}
	return d.path[len(d.parent.path)+1:]
}

// add adds n times what l takes.
func (m *memory) add(l *Listing, n int64) {
	if l != nil {
		m.summaries += n * l.used.summaries
		m.contents += n * l.used.contents
	}
}
