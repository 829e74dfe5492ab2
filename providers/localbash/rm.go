package localbash

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
)

// Rm implements [provider.Store].
//
// A directory is tried as it is first: the kernel says in one step whether it is empty. Only
// if it is not, the options matter.
func (f *folder) Rm(ctx context.Context, name string, opts workspace.RmOptions) error {
	d, base, err := f.openParent(name)
	if err != nil {
		return err
	}
	defer d.close()
	err = f.rmEntry(ctx, d, base)
	if !errors.Is(err, workspace.ErrNotEmpty) {
		return err
	}
	if opts.Recursive {
		return f.rmTree(ctx, d, base)
	}
	// What is left may be nothing but temporary files of dead processes, which
	// no listing shows.
	if err := f.sweepAll(ctx, name); err != nil {
		return err
	}
	return f.rmEntry(ctx, d, base)
}

// rmEntry removes a file or an empty directory. Only a regular file needs a lock, as no write
// replaces anything else. With the lock, a write that has tested its condition does not
// replace a file that has been removed meanwhile (V3). A directory that was removed cannot be
// locked: then name does not exist either.
func (f *folder) rmEntry(ctx context.Context, d *dirHandle, base string) error {
	s, err := d.child(base)
	if err != nil {
		return err
	}
	if s.kind == workspace.TypeFile {
		unlock, err := f.lock(ctx, d)
		if errors.Is(err, errOvertaken) {
			return fs.ErrNotExist
		}
		if err != nil {
			return err
		}
		defer unlock()
	}
	if err := notEmpty(d.remove(base)); err != nil {
		return err
	}
	return f.syncDir(d)
}

// rmTree removes base with everything below it, and makes that durable if the options ask for
// it. What has been removed before an error, or before ctx ends, stays removed.
func (f *folder) rmTree(ctx context.Context, d *dirHandle, base string) error {
	root, err := f.host.OpenRoot(inside(d.dir))
	if err != nil {
		return err
	}
	defer root.Close()
	r := &removal{ctx: ctx}
	if err := r.tree(root, base, 0); err != nil {
		return err
	}
	return f.syncDir(d)
}

// notEmpty returns err, which a removal returned, as [workspace.ErrNotEmpty] if it is one
// of a directory with something in it.
func notEmpty(err error) error {
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
		return workspace.ErrNotEmpty
	}
	return err
}

const (
	// maxRemoveAttempts bounds how often a directory is emptied that others
	// fill.
	maxRemoveAttempts = 10
	// maxRemoveDepth is how many levels of a tree are open at a time.
	maxRemoveDepth = 64
)

// removal removes a tree. Each level that it has entered is an open file. So a directory that
// is too deep is moved to the top of the tree, and removed from there: a tree of any depth can
// be removed.
//
// With levels up to 3 instead of maxRemoveDepth, the tree t/1/2/3/4/5 goes like this:
//
//	t/1/2/3/4/5                          too deep at 4, which is moved
//	t/1/2/3, t/workspacekit-rm-X/5       the levels 3, 2 and 1 are empty now
//	t/workspacekit-rm-X/5                t is read again, because something was moved
//
// Listings show that name: a removal that stops halfway must hide nothing.
type removal struct {
	ctx   context.Context
	top   *os.File // the tree, open
	moved bool     // something was moved to the top
}

// tree removes base and everything below it. It does not hold a lock meanwhile: a write to a
// file that is removed creates its directory again. It may be called for what is no longer
// there, and the error is then [fs.ErrNotExist]. Others may create files in it meanwhile: it
// is emptied up to maxRemoveAttempts times, and then is [workspace.ErrNotEmpty]. A directory
// that is replaced by a symlink is not entered: the next attempt removes the symlink.
func (r *removal) tree(parent *os.Root, base string, depth int) error {
	for attempt := 1; ; attempt++ {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		err := notEmpty(parent.Remove(base))
		if !errors.Is(err, workspace.ErrNotEmpty) || attempt > maxRemoveAttempts {
			return err
		}
		if depth > maxRemoveDepth && r.lift(parent, base) == nil {
			return nil
		}
		err = r.children(parent, base, depth)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, workspace.ErrSymlink) {
			return err
		}
	}
}

// lift moves the directory base to the top, if this system can do that with open directories.
// Where it cannot, the caller goes on downwards.
func (r *removal) lift(parent *os.Root, base string) error {
	file, err := parent.Open(".")
	if err != nil {
		return err
	}
	defer file.Close()
	err = sys.RenameExclusive(file, base, r.top, "workspacekit-rm-"+rand.Text())
	r.moved = r.moved || err == nil
	return err
}

// children empties the directory base. At the top, depth 0, it reads the names again until
// nothing has been moved there meanwhile.
func (r *removal) children(parent *os.Root, base string, depth int) error {
	child, err := openExactly(parent, base)
	if err != nil {
		return err
	}
	defer child.Close()
	if depth > 0 {
		return r.empty(child, depth)
	}
	if r.top, err = child.Open("."); err != nil {
		return err
	}
	defer r.top.Close()
	for r.moved = true; r.moved && err == nil; {
		r.moved = false
		err = r.empty(child, depth)
	}
	return err
}

// empty removes what is in dir. Names that come later are for the next attempt.
func (r *removal) empty(dir *os.Root, depth int) error {
	names, err := readNames(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := r.tree(dir, name, depth+1); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// openExactly opens the directory base, and no other that a symlink leads to. See nofollow for
// how.
func openExactly(parent *os.Root, base string) (*os.Root, error) {
	before, err := lstatPlain(parent, base)
	if err != nil {
		return nil, err
	}
	child, err := parent.OpenRoot(inside(base))
	if err != nil {
		return nil, err
	}
	return sameRoot(child, before)
}

// readNames returns the names in an open directory, in no order.
func readNames(dir *os.Root) ([]string, error) {
	file, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return file.Readdirnames(-1)
}

// sweepAll removes from dir what dead processes have left.
func (f *folder) sweepAll(ctx context.Context, dir string) error {
	l, err := f.openListing(dir, true)
	if err != nil {
		return err
	}
	defer l.Close()
	_, temps, err := l.entries(ctx, dir)
	if err != nil {
		return err
	}
	d, err := f.openDir(dir)
	if err != nil {
		return err
	}
	defer d.close()
	d.sweep(temps)
	return nil
}

// noted are the temporary files that listings have met, by the names of their
// directories. The next lock of a directory removes those that dead processes
// have left. The zero noted is ready; it is safe for concurrent use.
type noted struct {
	count atomic.Int64 // of names; a reader that finds none needs no lock
	mu    sync.Mutex
	names map[string][]string // guarded by mu
}

// maxNoted is how many names are kept. Others have to be listed again.
const maxNoted = 1000

// note takes names for all temporary files of dir. They replace those that were noted before.
// All names together are at most maxNoted: what somebody else creates in the folder must not
// fill the memory.
func (n *noted) note(dir string, names []string) {
	if len(names) == 0 && n.count.Load() == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	others := int(n.count.Load()) - len(n.names[dir])
	names = names[:min(len(names), maxNoted-others)]
	n.count.Store(int64(others + len(names)))
	if n.names == nil {
		n.names = map[string][]string{}
	}
	n.names[dir] = names
	if len(names) == 0 {
		delete(n.names, dir)
	}
}

// take returns the names that were noted of dir, and forgets them.
func (n *noted) take(dir string) []string {
	if n.count.Load() == 0 {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	names := n.names[dir]
	delete(n.names, dir)
	n.count.Add(-int64(len(names)))
	return names
}

// sweep removes the temporary files in d whose writers are dead. It
// is best effort: what cannot be removed stays hidden.
func (d *dirHandle) sweep(names []string) {
	for _, name := range names {
		if d.isLeftover(name) {
			d.removeLeftover(name)
		}
	}
}

// isLeftover reports whether name may be a temporary file of ours, and not some other thing
// with that prefix. Only what looks as createTemp makes it is removed: a reserved prefix,
// random characters, a regular file.
func (d *dirHandle) isLeftover(name string) bool {
	if name != lockName && len(strings.TrimPrefix(name, ops.ReservedPrefix)) != len(rand.Text()) {
		return false
	}
	s, err := d.child(name)
	return err == nil && s.kind == workspace.TypeFile
}

// removeLeftover removes name if it gets the lock of it: then no writer has. The kernel gives
// locks back when a process ends in any way. Where there are no locks, only the age of the
// file tells.
func (d *dirHandle) removeLeftover(name string) {
	// Over NFS only a file that is open for writing can be locked.
	file, err := d.openFile(name, os.O_WRONLY|sys.ReadFlags, 0)
	if errors.Is(err, fs.ErrPermission) {
		file, err = d.openFile(name, sys.ReadFlags, 0)
	}
	if err != nil {
		return
	}
	defer file.Close()
	state, err := sys.TryLock(file)
	if err != nil || state == sys.LockTaken {
		return
	}
	// While the lock is ours nobody else removes the file, but its writer may
	// have done so before.
	if d.has(name, file) && (state == sys.LockHeld || isOld(file)) {
		_ = d.remove(name)
	}
	sys.Unlock(file)
}

// maxTempAge is how old a temporary file is when its writer is taken for dead,
// where there are no locks.
const maxTempAge = time.Hour

// isOld reports whether a temporary file is too old to have a writer, for
// systems without locks.
func isOld(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && time.Since(info.ModTime()) > maxTempAge
}
