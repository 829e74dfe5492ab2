package localbash

import (
	"cmp"
	"context"
	"time"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/index"
)

// WithIndex gives f an index of its own with the given options. A pause of zero stands for a
// short one, and other zeros for the longest.
func (f *FS) WithIndex(opts index.Options) *FS {
	f.folder.index.Close()
	f.folder.index = index.New(f.folder.openIndexed, index.Options{
		MaxMemory: cmp.Or(opts.MaxMemory, 1<<30), Pause: cmp.Or(opts.Pause, time.Microsecond), Share: opts.Share,
		Sweep: cmp.Or(opts.Sweep, time.Hour), Idle: cmp.Or(opts.Idle, 10*time.Hour),
	})
	return f
}

// Index returns the index of f.
func (f *FS) Index() *index.Index { return f.folder.index }

// Settle waits until the index has read what there is to read.
func (f *FS) Settle() {
	for f.folder.index.Begin(); f.IndexState().Reading; f.folder.index.Begin() {
		time.Sleep(100 * time.Microsecond)
	}
}

// WithoutOpenat2 lets f work as on a kernel that does not have the call.
func (f *FS) WithoutOpenat2() *FS {
	f.folder.openat2.refused = true
	return f
}

// ForgetLastName takes the last name out of the listing that is kept, and
// reports whether there was one.
func (f *FS) ForgetLastName() bool {
	f.folder.listings.mu.Lock()
	defer f.folder.listings.mu.Unlock()
	if len(f.folder.listings.kept) == 0 {
		return false
	}
	kept := f.folder.listings.kept[0]
	kept.children = kept.children[:len(kept.children)-1]
	f.folder.listings.names.Add(-1)
	return true
}

// WithKeptNames limits how many names are kept.
func (f *FS) WithKeptNames(limit int) *FS {
	f.folder.listings.limit = limit
	return f
}

// KeptNames returns how many names are kept.
func (f *FS) KeptNames() int { return int(f.folder.listings.names.Load()) }

// KeepsListing reports whether the listing of dir is kept if it began so much
// later than the last change.
func (f *FS) KeepsListing(dir string, later time.Duration) (bool, error) {
	l, err := f.folder.openListing(dir, false)
	if err != nil {
		return false, err
	}
	defer l.Close()
	at, _ := l.moment()
	f.folder.listings.clear()
	defer f.folder.listings.clear()
	f.folder.listings.put(l, dir, at.changed+int64(later), make([]scan.Child, minKept))
	return f.KeptNames() > 0, nil
}

// ReadListed reads the child name of the folder as a search does that has listed a file of
// that name. full says whether to trust reads to be full.
func (f *FS) ReadListed(name string, full bool, opts scan.ReadOptions) ([]byte, error) {
	dir, err := source{f: f.folder}.OpenDir(".", true)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	opened := dir.(*openDir)
	opened.known, opened.fillsReads = true, full
	return opened.Read(context.Background(), name, new([]byte), opts)
}
