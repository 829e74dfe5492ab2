package index

import (
	"context"
	"errors"
	"hash/maphash"
	"math"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
	"time"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/internal/trigram"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
)

// Listing is what is known of a directory. But for what is stale, it never changes. Its
// children have numbers in order of their names. What there is of each is small, as there are
// many.
type Listing struct {
	names    string          // of the children, one after the other
	nameEnds []uint32        // where in names that of each child ends
	files    []file          // of each child
	data     [][]byte        // the contents that are kept; nil if there are none
	sets     []uint64        // of texts, one after the other, which are all that is looked at of most files
	setEnds  []uint32        // where in sets the Set of each child ends; it is empty for what is no text
	stale    []atomic.Uint64 // a bit for each child
	readable int             // files whose contents are known
	used     memory

	dirs     []string    // the names of the directories, in order of their paths with a slash at the end
	others   []string    // of the files that are no texts
	texts    int         // how many texts there are
	all      trigram.Set // of all texts together, which is all that is looked at of most directories
	largest  int64       // the size of the largest text
	anyStale atomic.Bool
}

// file is what is known of a child. Its zero value is nothing but an unknown type.
type file struct {
	stamp uint64 // see hashOf
	size  uint32
	inode uint16 // its lower bits
	kind  uint8  // the index of its type in types
	facts facts
}

// types are the types of children.
var types = []workspace.FileType{"", workspace.TypeFile, workspace.TypeDirectory, workspace.TypeSymlink, workspace.TypeOther}

// facts are what is true of a file.
type facts uint8

const (
	stamped       facts = 1 << iota // it has a stamp, a size and an inode
	linked                          // it had other names when it was last looked at
	settled                         // it was unchanged for a moment before it was read
	mappedSettled                   // and long enough for stores into a file that is mapped into memory
	text                            // it was read, and is one
	binary                          // it was read, and is no text
)

// is reports whether one of some is true of f.
func (f file) is(some facts) bool { return f.facts&some != 0 }

// set notes which of one are true, if ok.
func (f *file) set(one facts, ok bool) {
	if ok {
		f.facts |= one
	}
}

// packed returns a file with stamp, whose content is not known. It returns nothing for one
// that is so large that it is never in the index.
func packed(stamp Stamp) (f file) {
	if stamp.Size > math.MaxUint32 {
		return f
	}
	f = file{stamp: hashOf(stamp), size: uint32(stamp.Size), inode: uint16(stamp.ID.Inode), facts: stamped}
	f.set(linked, stamp.Linked)
	return f
}

// hashOf returns the hash of stamp that is known of a file. Its seed is another one in each
// process, so that nobody can choose the times of two files for the same hash.
func hashOf(stamp Stamp) uint64 { return maphash.Comparable(hashSeed, stamp) }

var hashSeed = maphash.MakeSeed()

// Name returns the name of the child n.
func (l *Listing) Name(n int) string { return l.names[startOf(l.nameEnds, n):l.nameEnds[n]] }

// startOf returns where the element n of a list begins. ends has the ends of all.
func startOf(ends []uint32, n int) uint32 {
	if n == 0 {
		return 0
	}
	return ends[n-1]
}

// Len returns how many children there are.
func (l *Listing) Len() int { return len(l.files) }

// Children calls yield for each child, in order of their names, until that returns false.
func (l *Listing) Children(yield func(scan.Child) bool) {
	begin := uint32(0)
	for n, end := range l.nameEnds {
		if !yield(scan.Child{Name: l.names[begin:end], Type: types[l.files[n].kind]}) {
			return
		}
		begin = end
	}
}

// set returns the Set of the child n.
func (l *Listing) set(n int) trigram.Set { return l.sets[startOf(l.setEnds, n):l.setEnds[n]] }

// setStale notes that the child n is not as it is known.
func (l *Listing) setStale(n int) {
	l.anyStale.Store(true)
	l.stale[n/64].Or(1 << (n % 64))
}

// isStale reports whether the child n is not as it is known.
func (l *Listing) isStale(n int) bool { return l.stale[n/64].Load()&(1<<(n%64)) != 0 }

// Lacks reports whether the child n is a text of at most limit bytes that does
// not meet query. A limit of zero is none.
func (l *Listing) Lacks(n int, query trigram.Query, limit int64) bool {
	set := l.set(n)
	return len(set) > 0 && !query.Meets(set) && !l.isStale(n) && (limit == 0 || int64(l.files[n].size) <= limit)
}

// Read returns the content of the file name, and its size. Of a file that is binary it
// returns only so much that this can be seen. It returns false if the content is not known.
// It looks for name at *next first, and sets that to the index after it.
func (l *Listing) Read(name string, next *int) (data []byte, size int64, ok bool) {
	n := *next
	if n >= l.Len() || l.Name(n) != name {
		if n, ok = l.find(name); !ok {
			return nil, 0, false
		}
	}
	*next = n + 1
	if l.isStale(n) {
		return nil, 0, false
	}
	f := &l.files[n]
	size = int64(f.size)
	if f.is(text) {
		data = l.kept(n)
		return data, size, data != nil || size == 0
	}
	return []byte{0}, size, f.is(binary)
}

// kept returns the content of the child n, nil if it is not kept.
func (l *Listing) kept(n int) []byte {
	if l.data == nil {
		return nil
	}
	return l.data[n]
}

// find returns the number of name.
func (l *Listing) find(name string) (int, bool) {
	if l == nil {
		return 0, false
	}
	return sort.Find(l.Len(), func(n int) int { return strings.Compare(name, l.Name(n)) })
}

const (
	// maxFile is the size in bytes above which a file is not in the index.
	maxFile = 16 << 20
	// settling is how long a file must have been unchanged before it was read for its
	// stamp to prove anything: long enough for a write that had set the time to end, and
	// for the next one to have another time where times are whole seconds, as ext4 can have
	// them.
	settling = 2 * time.Second
	// mappedSettling is the same for stores into a file that is mapped into memory. They
	// set the time again only once the kernel has written the page to the disk, which
	// takes half a minute.
	mappedSettling = 2 * time.Minute
	// childSize is what a child takes besides its name, its set and its content, with the
	// room that the allocator leaves.
	childSize = 30
	// dirSize is what a directory takes besides its children.
	dirSize = 600
	// keptSize is what a child takes besides if contents are kept.
	keptSize = 24
	// otherSize is what a child takes that is no text besides.
	otherSize = 16
)

// reader makes the Listing of a directory.
type reader struct {
	dir   Dir
	known *Listing // what was known before; nil for nothing
	room  int64    // how many bytes of contents may be kept
	sweep bool     // files are compared for changes that have no events, too
	buf   []byte
	union trigram.Union
}

// listing lists the directory and reads the files that are not known. It first compares
// their stamps. A sweep that finds no change returns what was known, which saves the union of
// all texts.
func (r *reader) listing(ctx context.Context) (*Listing, error) {
	children, err := r.dir.List(ctx)
	if err != nil {
		return nil, err
	}
	if r.sweep && r.knows(children) {
		return r.known, nil
	}
	l := newListing(children)
	before := 0 // bytes of texts that are known only by the Set that they were in before
	for n, child := range children {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch child.Type {
		case workspace.TypeDirectory:
			l.dirs = append(l.dirs, l.Name(n))
		case workspace.TypeFile:
			before += r.add(ctx, l, n)
		case scan.UnnamedFile, scan.UnnamedDirectory:
			return nil, errUnnamed
		}
		l.files[n].kind = uint8(max(0, slices.Index(types, child.Type)))
		l.setEnds[n] = uint32(len(l.sets))
	}
	if before > 0 {
		r.union.AddSet(r.known.all, before)
	}
	slices.SortFunc(l.dirs, func(a, b string) int { return strings.Compare(a+"/", b+"/") })
	l.sets, l.dirs, l.others, l.all = slices.Clone(l.sets), slices.Clone(l.dirs), slices.Clone(l.others), r.union.Set() // without room for more
	l.used.summaries += int64(dirSize+len(l.names)+childSize*l.Len()+8*len(l.sets)+8*len(l.all)) + otherSize*int64(len(l.dirs)+len(l.others))
	return l, nil
}

// knows reports whether children are those that are known, and no file of them has changed, or
// could have without another stamp.
func (r *reader) knows(children []scan.Child) bool {
	if r.known == nil || r.known.Len() != len(children) {
		return false
	}
	for n, child := range children {
		f := r.known.files[n]
		if r.known.Name(n) != child.Name || types[f.kind] != child.Type || r.known.isStale(n) {
			return false
		}
		if child.Type != workspace.TypeFile {
			continue
		}
		stamp, err := r.dir.StampOf(child.Name)
		if err != nil || hashOf(stamp) != f.stamp || f.is(text|binary) && !r.proves(f) {
			return false
		}
	}
	return true
}

// newListing returns a Listing that has the names of children and nothing else.
func newListing(children []scan.Child) *Listing {
	l := &Listing{
		nameEnds: make([]uint32, len(children)), files: make([]file, len(children)),
		setEnds: make([]uint32, len(children)), stale: make([]atomic.Uint64, (len(children)+63)/64),
	}
	var names strings.Builder
	for n, child := range children {
		names.WriteString(child.Name)
		l.nameEnds[n] = uint32(names.Len())
	}
	l.names = strings.Clone(names.String()) // without room for more
	return l
}

// add adds the child n, a file, to l. It returns how many bytes of it are known
// only by the Set of the texts that it was among before.
func (r *reader) add(ctx context.Context, l *Listing, n int) (before int) {
	f, known := r.file(ctx, l.Name(n))
	l.files[n] = f
	if f.is(text | binary) {
		l.readable++
	}
	if !f.is(text) {
		l.others = append(l.others, l.Name(n))
		return 0
	}
	l.texts++
	l.largest = max(l.largest, int64(f.size))
	if known < 0 {
		l.sets = r.union.AddAndAppend(l.sets, r.buf)
		l.keep(n, r.content())
		return 0
	}
	data := r.known.kept(known)
	l.keep(n, data)
	l.sets = append(l.sets, r.known.set(known)...)
	r.union.Add(data)
	return int(f.size) - len(data)
}

// keep keeps data, unless it is nil, as the content of the child n.
func (l *Listing) keep(n int, data []byte) {
	if data == nil {
		return
	}
	if l.data == nil {
		l.data = make([][]byte, l.Len())
		l.used.contents += keptSize * int64(l.Len())
	}
	l.data[n] = data
	l.used.contents += int64(len(data))
}

// errUnnamed says that a directory is for the search itself to list, which reports that.
var errUnnamed = errors.New("a child has no valid name")

// file returns what is known of the file name, and its index in what was known before. If it
// had to be read, its content is in r.buf, and the index is negative.
func (r *reader) file(ctx context.Context, name string) (f file, known int) {
	if n, ok := r.known.find(name); ok && !r.known.isStale(n) && r.proves(r.known.files[n]) {
		if stamp, err := r.dir.StampOf(name); err == nil && hashOf(stamp) == r.known.files[n].stamp {
			return r.known.files[n], n
		}
	}
	began := sys.ChangeClock()
	data, stamp, err := r.dir.Read(ctx, name, r.buf[:0], maxFile)
	f = packed(stamp)
	if err != nil || stamp.Linked || f == (file{}) {
		return f, -1
	}
	r.buf = data
	f.set(settled, stamp.Changed+int64(settling) < began)
	f.set(mappedSettled, stamp.Changed+int64(mappedSettling) < began)
	if lines.IsBinary(data) {
		f.set(binary, true)
	} else {
		f.set(text, int64(len(data)) == stamp.Size) // and otherwise it changes at the moment
	}
	return f, -1
}

// content returns a copy of r.buf if there is room for it, nil if not.
func (r *reader) content() []byte {
	if len(r.buf) == 0 || int64(len(r.buf)) > r.room {
		return nil
	}
	r.room -= int64(len(r.buf))
	return slices.Clone(r.buf)
}

// proves reports whether the content of f is the same if its stamp is.
func (r *reader) proves(f file) bool {
	if r.sweep {
		return f.is(text|binary) && f.is(mappedSettled)
	}
	return f.is(text|binary) && f.is(settled)
}
