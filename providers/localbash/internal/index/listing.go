package index

import (
	"context"
	"errors"
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

// file is what is known of a file. Its zero value is nothing.
type file struct {
	content content
	read    int64  // when, by the clock of the stamp
	data    []byte // nil if it is not kept
	stamp   Stamp  // zero if there is none
}

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
	return len(set) > 0 && !query.Meets(set) && !l.stale[n].Load() && (limit == 0 || l.files[n].stamp.Size <= limit)
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
	switch {
	case f.content == binary:
		return []byte{0}, f.stamp.Size, true
	case f.content == text && (f.data != nil || f.stamp.Size == 0):
		return f.data, f.stamp.Size, true
	}
	return nil, 0, false
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
	// childSize is what a child takes besides its name and its set.
	childSize = 150
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
			f, known := r.file(ctx, child.Name)
			l.files[n] = f
			if f.content != unread {
				l.readable++
			}
			if f.content != text {
				l.others = append(l.others, child.Name)
			} else {
				l.texts++
				l.largest = max(l.largest, f.stamp.Size)
				if known < 0 {
					l.sets = r.union.AddAndAppend(l.sets, r.buf)
				} else {
					r.union.Add(f.data)
					l.sets = append(l.sets, r.known.set(known)...)
					before += int(f.stamp.Size) - len(f.data)
				}
			}
			l.used.contents += int64(len(f.data))
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
	l.sets, l.dirs, l.others, l.all = slices.Clip(l.sets), slices.Clip(l.dirs), slices.Clip(l.others), r.union.Set()
	l.used.summaries += 8*int64(len(l.sets)+len(l.all)) + otherSize*int64(len(l.dirs)+len(l.others))
	return l, nil
}

// errUnnamed says that a directory is for the search itself to list, which reports that.
var errUnnamed = errors.New("a child has no valid name")

// file returns what is known of the file name, and its index in what was known before. If it
// had to be read, its content is in r.buf, and the index is negative.
func (r *reader) file(ctx context.Context, name string) (f file, known int) {
	if n, ok := r.known.find(name); ok && !r.known.stale[n].Load() && r.proves(r.known.files[n]) {
		if stamp, err := r.dir.StampOf(name); err == nil && stamp == r.known.files[n].stamp {
			return r.known.files[n], n
		}
	}
	began := sys.ChangeClock()
	data, stamp, err := r.dir.Read(ctx, name, r.buf[:0], maxFile)
	if err != nil || stamp.Linked {
		return file{stamp: stamp}, -1
	}
	r.buf = data
	f = file{content: text, stamp: stamp, read: began}
	switch {
	case lines.IsBinary(data):
		f.content = binary
	case int64(len(data)) != stamp.Size:
		return file{stamp: stamp}, -1 // it changes at the moment
	case int64(len(data)) <= r.room:
		f.data = slices.Clone(data)
		r.room -= int64(len(data))
	}
	return f, -1
}

// proves reports whether the content of f is the same if its stamp is. ext4 can have files
// with times in whole seconds, which prove nothing.
func (r *reader) proves(f file) bool {
	after := settling
	if r.sweep {
		after = mappedSettling
	}
	return f.content != unread && f.stamp.Changed%1e9 != 0 && f.stamp.Changed+int64(after) < f.read
}
