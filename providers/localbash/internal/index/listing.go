package index

import (
	"context"
	"errors"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/internal/trigram"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
)

// Listing is what is known of a directory. But for what is stale, it never changes.
type Listing struct {
	Children []scan.Child // sorted by name
	files    []file       // of each child, as what follows
	data     [][]byte     // the contents that are kept; nil if there are none
	sets     []uint64     // of texts, one after the other, which are all that is looked at of most files
	ends     []uint32     // where in sets the Set of each child ends; it is empty for what is no text
	stale    []atomic.Bool
	readable int // files whose contents are known
	used     memory

	dirs     []string    // the names of the directories, in order of their paths with a slash at the end
	others   []string    // of the files that are no texts
	texts    int         // how many texts there are
	all      trigram.Set // of all texts together, which is all that is looked at of most directories
	largest  int64       // the size of the largest text
	anyStale atomic.Bool
}

// file is what is known of a file, in 24 bytes, as there are many. Its zero value is nothing.
type file struct {
	inode         uint64
	stamp         uint64 // see hashOf
	size          uint32
	content       content
	linked        bool
	settled       bool // it was unchanged for a moment before it was read
	mappedSettled bool // and long enough for stores into a file that is mapped into memory
}

// packed returns a file with stamp, whose content is not known. It returns nothing for one
// that is so large that it is never in the index.
func packed(stamp Stamp) file {
	if stamp.Size > math.MaxUint32 {
		return file{}
	}
	return file{inode: stamp.ID.Inode, stamp: hashOf(stamp), size: uint32(stamp.Size), linked: stamp.Linked}
}

// hashOf returns the hash of stamp that is known of a file. Its seed is another one in each
// process, so that nobody can choose the times of two files for the same hash.
func hashOf(stamp Stamp) uint64 { return maphash.Comparable(hashSeed, stamp) }

var hashSeed = maphash.MakeSeed()

// content says what is known of a content.
type content uint8

const (
	unread content = iota
	text
	binary
)

// set returns the Set of the child at the index n.
func (l *Listing) set(n int) trigram.Set {
	begin := uint32(0)
	if n > 0 {
		begin = l.ends[n-1]
	}
	return l.sets[begin:l.ends[n]]
}

// setStale notes that the child at the index n is not as it is known.
func (l *Listing) setStale(n int) {
	l.anyStale.Store(true)
	l.stale[n].Store(true)
}

// Lacks reports whether the child at the index n is a text of at most limit bytes that does
// not meet query. A limit of zero is none.
func (l *Listing) Lacks(n int, query trigram.Query, limit int64) bool {
	set := l.set(n)
	return len(set) > 0 && !query.Meets(set) && !l.stale[n].Load() && (limit == 0 || int64(l.files[n].size) <= limit)
}

// Read returns the content of the file name, and its size. Of a file that is binary it
// returns only so much that this can be seen. It returns false if the content is not known.
// It looks for name at *next first, and sets that to the index after it.
func (l *Listing) Read(name string, next *int) (data []byte, size int64, ok bool) {
	n := *next
	if n >= len(l.Children) || l.Children[n].Name != name {
		if n, ok = l.find(name); !ok {
			return nil, 0, false
		}
	}
	*next = n + 1
	if l.stale[n].Load() {
		return nil, 0, false
	}
	f := &l.files[n]
	size = int64(f.size)
	if f.content == text {
		data = l.kept(n)
		return data, size, data != nil || size == 0
	}
	return []byte{0}, size, f.content == binary
}

// kept returns the content of the child at the index n, nil if it is not kept.
func (l *Listing) kept(n int) []byte {
	if l.data == nil {
		return nil
	}
	return l.data[n]
}

// find returns the index of name.
func (l *Listing) find(name string) (int, bool) {
	if l == nil {
		return 0, false
	}
	return slices.BinarySearchFunc(l.Children, name, func(c scan.Child, name string) int { return strings.Compare(c.Name, name) })
}

const (
	// maxFile is the size in bytes above which a file is not in the index.
	maxFile = 16 << 20
	// settling is how long a file must have been unchanged before it was read for its
	// stamp to prove anything: long enough for a write that had set the time to end.
	settling = 2 * time.Second
	// mappedSettling is the same for stores into a file that is mapped into memory. They
	// set the time again only once the kernel has written the page to the disk, which
	// takes half a minute.
	mappedSettling = 2 * time.Minute
	// childSize is what a child takes besides its name, its set and its content.
	childSize = 80
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
// their stamps.
func (r *reader) listing(ctx context.Context) (*Listing, error) {
	children, err := r.dir.List(ctx)
	if err != nil {
		return nil, err
	}
	children = compact(children)
	l := &Listing{
		Children: children, files: make([]file, len(children)),
		ends: make([]uint32, len(children)), stale: make([]atomic.Bool, len(children)),
	}
	before := 0 // bytes of texts that are known only by the Set that they were in before
	for n, child := range children {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch child.Type {
		case workspace.TypeDirectory:
			l.dirs = append(l.dirs, child.Name)
		case workspace.TypeFile:
			before += r.add(ctx, l, n)
		case scan.UnnamedFile, scan.UnnamedDirectory:
			return nil, errUnnamed
		}
		l.ends[n] = uint32(len(l.sets))
		l.used.summaries += int64(len(child.Name)) + childSize
	}
	if before > 0 {
		r.union.AddSet(r.known.all, before)
	}
	slices.SortFunc(l.dirs, func(a, b string) int { return strings.Compare(a+"/", b+"/") })
	l.sets, l.dirs, l.others, l.all = slices.Clone(l.sets), slices.Clone(l.dirs), slices.Clone(l.others), r.union.Set() // without room for more
	l.used.summaries += 8*int64(len(l.sets)+len(l.all)) + otherSize*int64(len(l.dirs)+len(l.others))
	return l, nil
}

// compact returns a copy of children whose names are parts of one string, which has nothing else.
func compact(children []scan.Child) []scan.Child {
	var names strings.Builder
	for _, child := range children {
		names.WriteString(child.Name)
	}
	copied, all := slices.Clone(children), strings.Clone(names.String())
	for n, child := range children {
		copied[n].Name, all = all[:len(child.Name)], all[len(child.Name):]
	}
	return copied
}

// add adds the child at the index n, a file, to l. It returns how many bytes of it are known
// only by the Set of the texts that it was among before.
func (r *reader) add(ctx context.Context, l *Listing, n int) (before int) {
	f, known := r.file(ctx, l.Children[n].Name)
	l.files[n] = f
	if f.content != unread {
		l.readable++
	}
	if f.content != text {
		l.others = append(l.others, l.Children[n].Name)
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

// keep keeps data, unless it is nil, as the content of the child at the index n.
func (l *Listing) keep(n int, data []byte) {
	if data == nil {
		return
	}
	if l.data == nil {
		l.data = make([][]byte, len(l.Children))
		l.used.contents += keptSize * int64(len(l.Children))
	}
	l.data[n] = data
	l.used.contents += int64(len(data))
}

// errUnnamed says that a directory is for the search itself to list, which reports that.
var errUnnamed = errors.New("a child has no valid name")

// file returns what is known of the file name, and its index in what was known before. If it
// had to be read, its content is in r.buf, and the index is negative.
func (r *reader) file(ctx context.Context, name string) (f file, known int) {
	if n, ok := r.known.find(name); ok && !r.known.stale[n].Load() && r.proves(r.known.files[n]) {
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
	whole := stamp.Changed%1e9 == 0 // as ext4 can have them, which proves nothing
	f.settled = !whole && stamp.Changed+int64(settling) < began
	f.mappedSettled = !whole && stamp.Changed+int64(mappedSettling) < began
	switch {
	case lines.IsBinary(data):
		f.content = binary
	case int64(len(data)) == stamp.Size: // and otherwise it changes at the moment
		f.content = text
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
		return f.content != unread && f.mappedSettled
	}
	return f.content != unread && f.settled
}
