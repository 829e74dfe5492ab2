package localbash

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/workspacekit/workspacekit/internal/scan"
)

// keptListings are the listings of large directories, sorted, for the pages to
// come: a page would otherwise cost as much as the whole directory. They are
// used only while the time of the last change of the directory proves that
// nothing has changed. They are safe for concurrent use.
type keptListings struct {
	names atomic.Int64 // in all of them, so that those who find none need no lock
	limit int          // of names; maxKept but in tests

	mu    sync.Mutex     // guards what follows
	kept  []*keptListing // the last used at the end
	timer *time.Timer    // drops all of them
}

// keptListing is a directory as it was at one moment.
type keptListing struct {
	dir      string // names that are too long below one path are not below another
	at       dirMoment
	children []scan.Child
}

// dirMoment is a directory between two changes.
type dirMoment struct {
	device, inode uint64
	changed       int64 // in nanoseconds since 1970
}

const (
	// minKept is the size of a directory that is worth it, and maxKept how many
	// names are kept in all, which is about 100 MB.
	minKept = 1000
	maxKept = 1 << 20
	// maxKeptAge is how long listings are kept that nobody asks for.
	maxKeptAge = time.Minute
)

// get returns the children of the open directory l, if they are known.
func (k *keptListings) get(l listing, dir string) ([]scan.Child, bool) {
	if k.names.Load() == 0 {
		return nil, false
	}
	now, ok := l.moment()
	if !ok {
		return nil, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.kept, func(kept *keptListing) bool { return kept.at == now && kept.dir == dir })
	if i < 0 {
		return nil, false
	}
	found := k.kept[i]
	k.kept = append(slices.Delete(k.kept, i, i+1), found)
	k.timer.Reset(maxKeptAge)
	return found.children, true
}

// put keeps the children of the open directory l, which began to be listed at
// a time of changeClock. The last change must be earlier than that, as another
// change in the same tick of the clock would not change the time.
func (k *keptListings) put(l listing, dir string, began int64, children []scan.Child) {
	if len(children) < minKept || len(children) > k.limit {
		return
	}
	at, ok := l.moment()
	if !ok || at.changed >= began || !l.datesChanges(at) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(func(old *keptListing) bool { return old.dir == dir })
	for k.names.Load()+int64(len(children)) > int64(k.limit) {
		oldest := k.kept[0]
		k.drop(func(old *keptListing) bool { return old == oldest })
	}
	k.kept = append(k.kept, &keptListing{dir: dir, at: at, children: children})
	k.names.Add(int64(len(children)))
	if k.timer == nil {
		k.timer = time.AfterFunc(maxKeptAge, k.clear)
	}
	k.timer.Reset(maxKeptAge)
}

// drop drops some listings. k.mu is held.
func (k *keptListings) drop(some func(*keptListing) bool) {
	k.kept = slices.DeleteFunc(k.kept, func(old *keptListing) bool {
		if !some(old) {
			return false
		}
		k.names.Add(-int64(len(old.children)))
		return true
	})
}

// clear drops all listings.
func (k *keptListings) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(func(*keptListing) bool { return true })
	if k.timer != nil {
		k.timer.Stop()
	}
}
