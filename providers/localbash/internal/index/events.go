package index

import (
	"github.com/workspacekit/workspacekit/providers/localbash/internal/dirwatch"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
)

// drain applies the events that have happened. i.mu is held, and there is a run.
func (i *Index) drain() {
	if i.running.mounts.Changed() {
		i.restart()
		return
	}
	b := batch{index: i, moving: map[uint32]bool{}}
	if err := i.running.queue.Drain(b.apply); err != nil {
		b.lost = true
	}
	b.end()
}

// restart forgets everything and begins from the root. i.mu is held.
func (i *Index) restart() {
	i.drop(i.dirs["."])
	i.pending = nil
	i.addDir(nil, ".")
}

// batch applies events. An event with a file that is known, and has no other name, concerns
// that file alone. A name that is not known may be another name of any file (a hard link),
// so it is looked at if its bytes were changed:
//
//	ln a b; echo x >>b        b appears, b is modified: b is looked at, and a forgotten
//	the same, and rm b        what b was is not known any more: all stamps are compared
//	echo x >c; mv c d         the suspicion moves to d, which turns out to have one name
type batch struct {
	index    *Index
	suspects map[suspect]bool
	moving   map[uint32]bool // renames of suspects that have no end yet, by cookie; 0 for what was removed
	lost     bool            // anything may have changed
}

// suspect is a name whose bytes changed and may be those of a file that is known by another
// name.
type suspect struct {
	dir  *dir
	name string
}

// fresh is what is known of a name that appeared.
type fresh struct {
	since  uint64 // which event it was
	single bool   // it was the only name of its file when its bytes changed
}

// maxSuspects is how many suspects are looked at. Beyond that comparing all stamps is no
// more work.
const maxSuspects = 256

// apply applies one event.
func (b *batch) apply(e dirwatch.Event) {
	i := b.index
	i.events++
	if e.Change == dirwatch.Overflowed {
		b.lost = true
		return
	}
	d := i.byWatch[e.Watch]
	switch {
	case d == nil:
	case e.Change == dirwatch.Unwatched:
		d.watch = 0
		delete(i.byWatch, e.Watch)
		b.forget(d)
	case e.Name == "":
		b.forget(d) // the rights to it, and so to all below it, may have changed
		b.lost = true
	case e.Change == dirwatch.Modified:
		b.modified(d, e.Name)
	default:
		b.named(d, e)
	}
}

// forget forgets d and all below. Its parent, or the root itself, is read again.
func (b *batch) forget(d *dir) {
	if d.parent == nil {
		b.index.restart()
		return
	}
	b.index.drop(d)
	b.index.readLater(d.parent)
}

// modified applies the news that the bytes of name changed.
func (b *batch) modified(d *dir, name string) {
	d.disturb(name)
	b.index.readLater(d)
	f, appeared := d.fresh[name]
	n, known := d.known.find(name)
	switch {
	case appeared && f.single:
	case known && !appeared && d.known.files[n].single():
		d.known.setStale(n)
	default:
		b.suspect(d, name)
	}
}

// single reports whether the file had one name when it was last looked at.
func (f file) single() bool { return f.is(stamped) && !f.is(linked) }

// suspect adds a suspect.
func (b *batch) suspect(d *dir, name string) {
	if b.suspects == nil {
		b.suspects = map[suspect]bool{}
	}
	b.suspects[suspect{d, name}] = true
}

// named applies the news that a name appeared, vanished, or has other attributes.
func (b *batch) named(d *dir, e dirwatch.Event) {
	d.disturb(e.Name)
	b.index.readLater(d)
	if n, ok := d.known.find(e.Name); ok {
		d.known.setStale(n)
	}
	if e.Change != dirwatch.Attributes {
		d.renamed = true
		b.index.show(d, nil)
	}
	if sub := d.subdirs[e.Name]; sub != nil {
		b.index.drop(sub)
	}
	b.lost = b.lost || e.Dir && (e.Change == dirwatch.Gained || e.Change == dirwatch.Attributes) // it is not watched yet
	switch e.Change {
	case dirwatch.Gained:
		if d.fresh == nil {
			d.fresh = map[string]fresh{}
		}
		d.fresh[e.Name] = fresh{since: b.index.events}
		if e.Cookie != 0 && b.moving[e.Cookie] {
			delete(b.moving, e.Cookie)
			b.suspect(d, e.Name)
		}
	case dirwatch.MovedAway, dirwatch.Removed:
		delete(d.fresh, e.Name)
		if s := (suspect{d, e.Name}); b.suspects[s] {
			delete(b.suspects, s)
			b.moving[e.Cookie] = true // to where it is no more seen, unless the next event says where
		}
	}
}

// disturb notes an event with name, for who reads d.
func (d *dir) disturb(name string) {
	if d.disturbed == nil {
		d.disturbed = map[string]bool{}
	}
	d.disturbed[name] = true
}

// end looks at the suspects.
func (b *batch) end() {
	b.lost = b.lost || len(b.moving) > 0 || len(b.suspects) > maxSuspects
	for s := range b.suspects {
		if b.lost {
			break
		}
		b.lookAt(s)
	}
	if b.lost {
		b.index.doubt()
	}
}

// lookAt finds out whether s is another name of a file that is known.
func (b *batch) lookAt(s suspect) {
	if s.dir.dropped {
		b.lost = true
		return
	}
	opened, err := b.index.open(s.dir.path)
	if err != nil {
		b.lost = true
		return
	}
	defer opened.Close()
	stamp, err := opened.StampOf(s.name)
	if err != nil {
		b.lost = true
		return
	}
	if f, ok := s.dir.fresh[s.name]; ok {
		f.single = !stamp.Linked
		s.dir.fresh[s.name] = f
	}
	if stamp.Linked {
		for _, d := range b.index.dirs {
			b.index.forgetFile(d, stamp.ID)
		}
		b.index.forgotten = append(b.index.forgotten, stamp.ID)
	} else {
		b.index.forgetFile(s.dir, stamp.ID) // where names are the same in either case
	}
}

// forgetFile forgets the content of the file id in d, by whatever name.
func (i *Index) forgetFile(d *dir, id sys.FileID) {
	if d.known != nil && d.known.forget(id) {
		i.readLater(d)
	}
}

// forget forgets the content of the file id, and reports whether it is in l. A few others whose
// inodes have the same lower bits are forgotten, too.
func (l *Listing) forget(id sys.FileID) (found bool) {
	for n := range l.files {
		if f := l.files[n]; f.is(stamped) && f.inode == uint16(id.Inode) {
			l.setStale(n)
			found = true
		}
	}
	return found
}

// doubt hides everything until the stamps have been compared. i.mu is held.
func (i *Index) doubt() {
	i.doubts++
	for _, d := range i.dirs {
		d.renamed = true
		i.show(d, nil)
		i.readLater(d)
	}
}
