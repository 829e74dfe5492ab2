package localbash

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
)

// Stat implements [provider.Store].
func (f *folder) Stat(_ context.Context, name string) (workspace.FileInfo, error) {
	s, err := f.lstat(name)
	if err != nil {
		return workspace.FileInfo{}, err
	}
	return s.info(name), nil
}

// Ls implements [provider.Store]. A child that is removed between the listing and the look at
// it is left out.
func (f *folder) Ls(ctx context.Context, dir string, opts workspace.LsOptions) ([]workspace.FileInfo, error) {
	l, err := f.openListing(dir, false)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	children, err := f.visible(ctx, l, dir)
	if err != nil {
		return nil, err
	}
	return describe(ctx, l, dir, after(children, opts.After), opts.Limit)
}

// after returns the children whose names are greater than name.
func after(children []scan.Child, name string) []scan.Child {
	if name == "" {
		return children
	}
	return children[sort.Search(len(children), func(i int) bool { return children[i].Name > name }):]
}

// describe looks at the children one by one until limit of them have valid names and are still
// there; a limit of zero is none. It returns an empty list, not nil.
func describe(ctx context.Context, l listing, dir string, children []scan.Child, limit int) ([]workspace.FileInfo, error) {
	if limit == 0 {
		limit = len(children)
	}
	infos := make([]workspace.FileInfo, 0, min(limit, len(children)))
	for _, child := range children {
		if len(infos) == limit {
			break
		}
		if child.IsUnnamed() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, err := l.child(child.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		infos = append(infos, s.info(workspace.Join(dir, child.Name)))
	}
	return infos, nil
}

// visible returns the children of the open directory l, which has the name dir, sorted by
// name. Those that have no valid name are marked by their type, and temporary files are left
// out and noted: only a change of the directory removes what dead processes have left, because
// a caller who only reads must delete nothing. The caller must not change the slice. A small
// directory is sorted here, for each caller. A large one was sorted before it was kept, as
// others may be reading the same slice.
func (f *folder) visible(ctx context.Context, l listing, dir string) ([]scan.Child, error) {
	children, err := f.listed(ctx, l, dir, sys.ChangeClock())
	if err == nil && len(children) < minKept {
		sortChildren(children)
	}
	return children, err
}

// listed is visible in any order, for a listing that begins at or after a time of
// [sys.ChangeClock]. A large directory is sorted, because its listing is kept.
func (f *folder) listed(ctx context.Context, l listing, dir string, began int64) ([]scan.Child, error) {
	if children, ok := f.listings.get(l, dir); ok {
		return children, nil
	}
	children, hidden, err := l.entries(ctx, dir)
	if err != nil {
		return nil, err
	}
	f.temps.note(dir, hidden)
	if len(children) >= minKept {
		sortChildren(children)
		f.listings.put(l, dir, began, children)
	}
	return children, nil
}

// sortChildren sorts children by name.
func sortChildren(children []scan.Child) {
	slices.SortFunc(children, func(a, b scan.Child) int { return cmp.Compare(a.Name, b.Name) })
}

// entries returns the children of l, and the names of the temporary files, in the order of the
// directory. Files and directories without a valid name are marked by their type, and whatever
// else has none is left out. kept lies in the memory of what l.children returned, which nobody
// else has.
func (l listing) entries(ctx context.Context, dir string) (kept []scan.Child, temps []string, err error) {
	children, err := l.children(ctx)
	if err != nil {
		return nil, nil, err
	}
	kept = children[:0]
	for _, child := range children {
		switch {
		case strings.HasPrefix(child.Name, ops.ReservedPrefix):
			temps = append(temps, strings.Clone(child.Name)) // not the listing that it is part of
		case isListable(dir, child.Name):
			kept = append(kept, child)
		default:
			if kind, ok := scan.Unnamed(child.Type); ok {
				kept = append(kept, scan.Child{Name: child.Name, Type: kind})
			}
		}
	}
	return kept, temps, nil
}

// isListable reports whether the child name of dir can be named. What the operating system
// lists has no NUL and no slash. Only then can every path in a listing be used in the next
// call.
func isListable(dir, name string) bool {
	return utf8.ValidString(name) &&
		len(name) <= ops.MaxElementLength &&
		len(dir)+1+len(name) <= ops.MaxNameLength
}

// keptListings is a cache of the sorted listings of large directories, for their
// next pages: a page would otherwise cost as much as the whole directory. A
// listing is used only while the time of the last change of the directory proves
// that nothing has changed. It is safe for concurrent use.
type keptListings struct {
	names atomic.Int64 // in all of them; a reader that finds none needs no lock
	limit int          // of names; maxKept but in tests

	mu    sync.Mutex     // guards what follows
	kept  []*keptListing // the most recently used last
	timer *time.Timer    // drops all of them
}

// keptListing is a directory as it was at one moment.
type keptListing struct {
	dir      string // part of the key, as it decides which names are too long
	at       dirMoment
	children []scan.Child
}

// dirMoment is a directory between two changes.
type dirMoment struct {
	id      sys.FileID // of the directory; zero on a system without file numbers
	changed int64      // in nanoseconds since 1970
}

// moment returns the state by which a later look sees whether the directory has
// changed.
//
// The number tells directories apart that had the same name one after the other, and the time
// is of its last change: a name that came, went or was replaced.
func (l listing) moment() (dirMoment, bool) {
	s, err := l.stat()
	return dirMoment{s.id, s.changed}, err == nil
}

const (
	// minKept is the size of the smallest directory that is kept, and maxKept how
	// many names are kept in all, which is about 100 MB.
	minKept = 1000
	maxKept = 1 << 20
	// maxKeptAge is how long a listing is kept after its last use.
	maxKeptAge = time.Minute
)

// get returns the children of the open directory l, if they are kept and nothing has changed
// since. It makes them the last to be dropped, and keeps them for another maxKeptAge.
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
// a time of [sys.ChangeClock]. The last change must be earlier than that, as another
// change in the same tick of the clock would not change the time.
//
// For example, with a clock that ticks every 10 ms:
//
//	100 ms   the name a is created, and dates the directory 100
//	103 ms   a listing begins, by this clock at 100, and finds a
//	107 ms   the name b is created, and dates the directory 100 again
//
// If this listing were kept, the equal times would hide b until another change. So it is not
// kept, but one that begins at 110 is. The least recently used listings make room for it.
func (k *keptListings) put(l listing, dir string, began int64, children []scan.Child) {
	if len(children) > k.limit {
		return
	}
	at, ok := l.moment()
	if !ok || at.changed >= began || !sys.DatesChanges(l.descriptor(), at.changed) {
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

// drop drops the listings that some returns true for, and counts their names. k.mu is held.
func (k *keptListings) drop(some func(*keptListing) bool) {
	k.kept = slices.DeleteFunc(k.kept, func(old *keptListing) bool {
		if !some(old) {
			return false
		}
		k.names.Add(-int64(len(old.children)))
		return true
	})
}

// clear drops all listings: when none has been used for maxKeptAge, and when the folder is
// closed. The next put starts the timer again.
func (k *keptListings) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(func(*keptListing) bool { return true })
	if k.timer != nil {
		k.timer.Stop()
	}
}

// newDirPerm is the mode of new directories, less the umask.
const newDirPerm fs.FileMode = 0o777

// Mkdir implements [provider.Store]. Without Recursive, Mkdir of the operating system finds
// out in one step whether the name is free and the parent exists.
func (f *folder) Mkdir(ctx context.Context, name string, opts workspace.MkdirOptions) error {
	if opts.Recursive {
		_, err := f.mkdirAll(ctx, name)
		return err
	}
	if err := f.host.Mkdir(name, newDirPerm); err != nil {
		return err
	}
	return f.syncParents(name)
}

// mkdirAll creates the directory name and its missing parents. Something else with the name is
// [workspace.ErrNotDir]. A directory that exists is no error, so the operating system's
// "exists" can only mean such a thing, or a symlink: to nothing, where what it leads to is
// created, or in a loop. A caller that then fails calls undo, see makeDirs.
func (f *folder) mkdirAll(ctx context.Context, name string) (undo func(), err error) {
	undo, err = f.makeDirs(ctx, name)
	if errors.Is(err, fs.ErrExist) {
		if _, loop := f.host.Stat(name); errors.Is(loop, syscall.ELOOP) {
			return undo, loop
		}
		if target, failed := f.dirTarget(ctx, name); failed == nil {
			name = target
			undo, err = f.makeDirs(ctx, target)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return undo, workspace.ErrNotDir
	}
	if err == nil {
		if err = f.syncParents(name); err != nil {
			undo()
		}
	}
	return undo, err
}

// makeDirs is MkdirAll of the host for a call that changes nothing if it is refused (E5): undo
// removes what was missing, the deepest first, as long as it is empty, up to a symlink. After an
// error that is done. Once another call has asked for directories, undo does nothing: that call
// may have found these, and reported them.
func (f *folder) makeDirs(ctx context.Context, name string) (undo func(), err error) {
	f.making.Lock()
	defer f.making.Unlock()
	f.made++
	made := f.made
	existing := name
	if nearest, err := f.openNearest(name); err == nil {
		existing = nearest.dir
		nearest.close()
	}
	remove := func() {
		for dir := name; dir != existing; dir, _ = splitUnclean(dir) {
			if err := f.removeDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return
			}
		}
	}
	undo = func() {
		f.making.Lock()
		defer f.making.Unlock()
		if f.made == made {
			remove()
		}
	}
	if existing != name { // a symlink to nothing is followed
		target, _ := f.Resolve(ctx, name)
		if err := checkTarget(target); err != nil {
			return undo, err
		}
	}
	if err = f.host.MkdirAll(name, newDirPerm); err != nil {
		remove()
	}
	return undo, err
}

// removeDir removes an empty directory, and nothing else that has the name.
func (f *folder) removeDir(name string) error {
	dir, base := splitUnclean(name)
	d, err := f.openDir(dir)
	if err != nil {
		return err
	}
	defer d.close()
	s, err := d.child(base)
	if err != nil {
		return err
	}
	if s.kind != workspace.TypeDirectory {
		return workspace.ErrNotDir
	}
	return d.remove(base)
}

// dirTarget returns where name leads, for a directory to be created there. In a relaxed folder
// that may be outside, and then the directory above name is created, too.
func (f *folder) dirTarget(ctx context.Context, name string) (string, error) {
	target, err := f.Resolve(ctx, name)
	u, ok := f.host.(unconfined)
	if !ok || !errors.Is(err, workspace.ErrEscape) {
		return target, err
	}
	if dir, _ := splitUnclean(name); dir != "." {
		if _, err := f.mkdirAll(ctx, dir); err != nil {
			return "", err
		}
	}
	return u.linkTarget(name)
}

// syncParents flushes the directories that lead to name to the disk, if Sync is set. All of
// them, as any may be new: after a crash, a file whose directory is not in its parent is lost,
// although its bytes are on the disk.
func (f *folder) syncParents(name string) error {
	for f.sync && name != "." && name != "/" {
		name, _ = splitUnclean(name)
		d, err := f.openDir(name)
		if err != nil {
			return err
		}
		err = d.file.Sync()
		d.close()
		if err != nil {
			return err
		}
	}
	return nil
}
