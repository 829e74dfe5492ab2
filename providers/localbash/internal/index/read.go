package index

import (
	"context"
	"errors"
	"time"

	"github.com/workspacekit/workspacekit/internal/trigram"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
)

// listenPause is how long the events of a busy folder are left in the kernel's queue. It has
// room for 16,384.
const listenPause = 5 * time.Millisecond

// listen applies events between searches, so that the queue does not overflow.
func (i *Index) listen(ctx context.Context, r *run) {
	for r.queue.Ready() && ctx.Err() == nil {
		i.mu.Lock()
		if i.running == r {
			i.drain()
		}
		i.mu.Unlock()
		if !sleep(ctx, listenPause, nil) {
			return
		}
	}
}

// sleep waits, until woken at most, and returns false if ctx ended.
func sleep(ctx context.Context, d time.Duration, woken <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-woken:
		return true
	case <-timer.C:
		return true
	}
}

// read reads what is pending, again and again, and sweeps. It takes half of the time at most,
// and much less if nobody searches: in a folder that changes all the time, what is read for
// no search is read in vain. However long it took to read, the next sweep is not put off.
func (i *Index) read(ctx context.Context, r *run) {
	sweep, next := time.NewTimer(i.opts.Sweep), time.Now().Add(i.opts.Sweep)
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-sweep.C:
			sweep.Reset(i.opts.Sweep)
			next = time.Now().Add(i.opts.Sweep)
			if !i.sweep(r) {
				return
			}
		}
		began := time.Now()
		i.readPending(ctx, r)
		took := time.Since(began)
		if !sleep(ctx, max(i.opts.Pause, took), nil) {
			return
		}
		if !sleep(ctx, min(time.Duration(i.opts.Share)*took, time.Until(next)), r.wanted) {
			return
		}
	}
}

// sweep has everything read again, what is known by its stamps. It stops the run instead,
// and returns false, if there was no search for long.
func (i *Index) sweep(r *run) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.running != r {
		return false
	}
	if time.Since(i.searched) > i.opts.Idle {
		i.ended = i.stop()
		return false
	}
	for _, d := range i.dirs {
		i.readLater(d)
	}
	i.sweeping = true
	return true
}

// readPending watches the directories that are pending, and those that it finds in them, and
// then reads them all. What changes meanwhile stays pending.
//
// While a directory is not watched, a hard link in it can change a file that is known. So
// after a directory was watched for the first time nothing is known until its stamp has been
// compared, and nothing is read while one is known to be not watched.
func (i *Index) readPending(ctx context.Context, r *run) {
	doubts := i.startReading()
	defer i.endReading()
	var found []*dir
	added := false
	for d := i.nextPending(r); d != nil && ctx.Err() == nil; d = i.nextPending(r) {
		added = i.watch(ctx, r, d) || added
		found = append(found, d)
	}
	if added {
		found = i.takeAll(r)
	}
	var buf []byte
	var union trigram.Union
	for _, d := range found {
		next, began := i.beginReading(r, d, doubts)
		if next == nil || ctx.Err() != nil {
			continue
		}
		next.buf, next.union = buf, union
		l, err := i.readDir(ctx, d, next)
		buf, union = next.buf, next.union
		i.publish(r, d, l, err, began)
	}
}

// startReading notes that there is something being read, and returns how many doubts there were.
func (i *Index) startReading() (doubts uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.reading = true
	return i.doubts
}

// endReading notes that nothing is being read.
func (i *Index) endReading() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.reading, i.sweeping = false, false
}

// nextPending returns the first pending directory, nil if there is none.
func (i *Index) nextPending(r *run) *dir {
	i.mu.Lock()
	defer i.mu.Unlock()
	for i.running == r && len(i.pending) > 0 {
		d := i.pending[0]
		i.pending = i.pending[1:]
		if d.pending = false; !d.dropped {
			return d
		}
	}
	return nil
}

// takeAll hides all directories and returns them.
func (i *Index) takeAll(r *run) (all []*dir) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.running != r {
		return nil
	}
	for _, d := range i.dirs {
		i.show(d, nil)
		all = append(all, d)
	}
	return all
}

// watch watches d and adds the directories in it that are not known. It reports whether d
// was not watched before.
func (i *Index) watch(ctx context.Context, r *run, d *dir) (added bool) {
	opened, err := i.open(d.path)
	if err != nil {
		return false
	}
	defer opened.Close()
	stamp, err := opened.Stamp()
	if err != nil || !sys.DatesChanges(opened.Descriptor(), 1) { // on no local file system
		return false
	}
	if added = i.addWatch(r, d, opened, stamp); !added && d.watch == 0 {
		return false
	}
	children, err := opened.List(ctx)
	if err != nil {
		return added
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for n := range children {
		name := children[n].Name
		if children[n].Type == workspace.TypeDirectory && i.running == r && !d.dropped && d.subdirs[name] == nil {
			i.addDir(d, name)
		}
	}
	return added
}

// addWatch watches d, which is opened, if it is not watched yet. A directory that has another
// path, too, or cannot be watched, stays out of the index.
func (i *Index) addWatch(r *run, d *dir, opened Dir, stamp Stamp) (added bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.running != r || d.dropped || d.watch != 0 {
		return false
	}
	id, err := r.queue.Add(opened.Descriptor())
	if err != nil || i.byWatch[id] != nil {
		return false
	}
	d.watch, d.id = id, stamp.ID
	i.byWatch[id] = d
	return true
}

// beginReading returns how to read d, and the number of the last event. It returns nil if d is
// not watched, or there are new doubts: a directory may have to be watched first.
func (i *Index) beginReading(r *run, d *dir, doubts uint64) (next *reader, began uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.running != r || d.dropped || d.watch == 0 || i.doubts != doubts {
		return nil, 0
	}
	d.renamed, d.disturbed, i.forgotten = false, nil, nil
	return &reader{known: d.known, sweep: i.sweeping, room: i.opts.MaxMemory - i.opts.MaxMemory/4 - i.used.contents}, i.events
}

// readDir reads d, which is watched, so that nothing falls between the two.
func (i *Index) readDir(ctx context.Context, d *dir, next *reader) (*Listing, error) {
	opened, err := i.open(d.path)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	stamp, err := opened.Stamp()
	if err == nil && stamp.ID != d.id {
		err = errMoved // the event is to come
	}
	if err != nil {
		return nil, err
	}
	next.dir = opened
	return next.listing(ctx)
}

// errMoved says that another directory has the path of one that is known.
var errMoved = errors.New("the directory was replaced meanwhile")

// publish shows l, which was read of d, to searches, unless an event says that it is not
// true.
func (i *Index) publish(r *run, d *dir, l *Listing, err error, began uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.running != r {
		return
	}
	i.drain()
	if d.dropped {
		return
	}
	i.used.add(d.known, -1)
	d.known = nil
	i.show(d, nil)
	if err != nil || i.used.summaries+i.used.contents+l.used.summaries+l.used.contents > i.opts.MaxMemory {
		return
	}
	i.used.add(l, 1)
	d.known = l
	for name := range d.disturbed {
		if n, ok := l.find(name); ok {
			l.setStale(n)
		}
	}
	for _, id := range i.forgotten {
		l.forget(id)
	}
	for name, f := range d.fresh {
		if f.since <= began {
			delete(d.fresh, name)
		}
	}
	if !d.renamed {
		i.show(d, l)
	}
}
