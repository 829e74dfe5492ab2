package index

import (
	"context"
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
	Children []scan.Child  // sorted by name
	files    []file        // of each child, as what follows
	sets     []trigram.Set // of texts, which are all that is looked at of most files; empty for another
	stale    []atomic.Bool
	readable int // files whose contents are known
	used     memory
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

// Lacks reports whether the child at the index n is a text of at most limit bytes that does
// not meet query. A limit of zero is none.
func (l *Listing) Lacks(n int, query trigram.Query, limit int64) bool {
	set := l.sets[n]
	return len(set) > 0 && !query.Meets(set) && !l.stale[n].Load() && (limit == 0 || l.files[n].stamp.Size <= limit)
}

// Read returns the content of the file name, and its size. Of a file that is binary it
// returns only so much that this can be seen. It returns false if the content is not known.
func (l *Listing) Read(name string) (data []byte, size int64, ok bool) {
	n, found := l.find(name)
	if !found || l.stale[n].Load() {
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
	childSize = 200
)

// reader makes the Listing of a directory.
type reader struct {
	dir   Dir
	known *Listing // what was known before; nil for nothing
	room  int64    // how many bytes of contents may be kept
	sweep bool     // files are compared for changes that have no events, too
	buf   []byte
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
		sets: make([]trigram.Set, len(children)), stale: make([]atomic.Bool, len(children)),
	}
	var sets []uint64 // all, one after the other
	ends := make([]int, len(children))
	for n, child := range children {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if child.Type == workspace.TypeFile {
			var set trigram.Set
			l.files[n], set = r.file(ctx, child.Name)
			switch f := l.files[n]; {
			case f.content == text && set == nil:
				sets = trigram.Append(sets, r.buf)
			case f.content == text:
				sets = append(sets, set...)
			}
			if l.files[n].content != unread {
				l.readable++
			}
			l.used.contents += int64(len(l.files[n].data))
		}
		ends[n] = len(sets)
		l.used.summaries += int64(len(child.Name)) + childSize
	}
	l.used.summaries += 8 * int64(len(sets))
	sets = slices.Clip(sets)
	begin := 0
	for n, end := range ends {
		l.sets[n] = sets[begin:end:end]
		begin = end
	}
	return l, nil
}

// file returns what is known of the file name. If it had to be read, its content is in r.buf,
// and set is nil.
func (r *reader) file(ctx context.Context, name string) (f file, set trigram.Set) {
	if n, ok := r.known.find(name); ok && !r.known.stale[n].Load() && r.proves(r.known.files[n]) {
		if stamp, err := r.dir.StampOf(name); err == nil && stamp == r.known.files[n].stamp {
			return r.known.files[n], r.known.sets[n]
		}
	}
	began := sys.ChangeClock()
	data, stamp, err := r.dir.Read(ctx, name, r.buf[:0], maxFile)
	if err != nil || stamp.Linked {
		return file{stamp: stamp}, nil
	}
	r.buf = data
	f = file{content: text, stamp: stamp, read: began}
	switch {
	case lines.IsBinary(data):
		f.content = binary
	case int64(len(data)) != stamp.Size:
		return file{stamp: stamp}, nil // it changes at the moment
	case int64(len(data)) <= r.room:
		f.data = slices.Clone(data)
		r.room -= int64(len(data))
	}
	return f, nil
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
