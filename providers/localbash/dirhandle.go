package localbash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// dirHandle is an open directory in which a name is changed. It stays the same directory
// whatever happens to the path that led to it, so a symlink cannot redirect an operation on a
// child by its last element. It is for one goroutine, and is closed by close.
type dirHandle struct {
	dir string // its name, as it was opened
	children
	file *os.File // the same directory, to sync
	key  string   // the same for all handles of this directory
}

// openDir opens the directory dir. The caller closes it. Symlinks in dir are followed as the
// host follows them, in the exact view not at all. What is no directory is
// [workspace.ErrNotDir].
func (f *folder) openDir(dir string) (*dirHandle, error) {
	opened := &dirHandle{dir: dir}
	var err error
	if opened.children, opened.file, err = f.openChildren(dir); err != nil {
		return nil, err
	}
	s, err := statOfFile(opened.file)
	if err == nil && s.kind != workspace.TypeDirectory {
		err = workspace.ErrNotDir
	}
	if err != nil {
		opened.close()
		return nil, err
	}
	opened.key = dirKey(dir, s.id)
	return opened, nil
}

// dirKey returns a key for a directory: what the operating system knows it by, or else its
// name without regard to case. Two paths to one directory must have one key, or two goroutines
// could have its lock in memory.
func dirKey(dir string, id sys.FileID) string {
	if id != (sys.FileID{}) {
		return fmt.Sprintf("%016x/%016x", id.Device, id.Inode)
	}
	return strings.ToLower(dir)
}

// makeDir opens the directory dir, which it creates if it does not exist, with its parents. What
// it creates for a symlink to missing/../made has the name made, since the operating system
// follows the symlink only once missing exists. It is errOvertaken if the directory is removed
// again before it can be opened. A caller that then fails calls undo, see makeDirs.
func (f *folder) makeDir(ctx context.Context, dir string) (opened *dirHandle, undo func(), err error) {
	opened, err = f.openDir(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return opened, func() {}, err
	}
	if undo, err = f.mkdirAll(ctx, dir); err != nil {
		return nil, nil, err
	}
	opened, err = f.openDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if target, failed := f.Resolve(ctx, dir); failed == nil {
			opened, err = f.openDir(target)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errOvertaken
	}
	if err != nil {
		undo()
	}
	return opened, undo, err
}

// close closes the directory.
func (d *dirHandle) close() {
	d.children.close()
	d.file.Close()
}

// syncDir flushes changes of names in d to the disk, if Sync is set. They have been made, so an
// error has no kind that says that nothing was changed, such as that of a full disk.
func (f *folder) syncDir(d *dirHandle) error {
	if !f.sync {
		return nil
	}
	if err := d.file.Sync(); err != nil {
		return provider.Errorf(workspace.ErrUnavailable, "the change was made, but could not be flushed to the disk")
	}
	return nil
}

// find describes the child base itself, and returns nil, and no error, if there is none. With
// an error the description means nothing.
func (d *dirHandle) find(base string) (*fileStat, error) {
	s, err := d.child(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return &s, err
}

// locks are locks by key, each held by one goroutine. The zero locks are ready. A key that
// nobody waits for takes no memory.
type locks struct {
	mu     sync.Mutex
	queues map[string]*queue // guarded by mu
}

// queue is the writers that hold or wait for one lock.
type queue struct {
	token chan struct{} // full while the lock is held
	users int           // guarded by locks.mu
}

// acquire waits for the lock of key. If ctx ends first, its error is returned, and the caller
// holds nothing.
func (l *locks) acquire(ctx context.Context, key string) error {
	q := l.join(key)
	select {
	case q.token <- struct{}{}:
		return nil
	case <-ctx.Done():
		l.leave(key)
		return ctx.Err()
	}
}

// release lets the next waiting writer continue. The caller must hold the lock.
func (l *locks) release(key string) {
	l.mu.Lock()
	q := l.queues[key]
	l.mu.Unlock()
	<-q.token
	l.leave(key)
}

// join queues for the lock of a directory.
func (l *locks) join(key string) *queue {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queues == nil {
		l.queues = map[string]*queue{}
	}
	q := l.queues[key]
	if q == nil {
		q = &queue{token: make(chan struct{}, 1)}
		l.queues[key] = q
	}
	q.users++
	return q
}

// leave leaves the queue of a directory, and forgets it if nobody else is in
// it.
func (l *locks) leave(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.queues[key]
	q.users--
	if q.users == 0 {
		delete(l.queues, key)
	}
}

// lock keeps everyone else from changing names in the directories until unlock is called. Two
// directories are always locked in the same order. Otherwise two moves in opposite directions
// could each hold what the other waits for. After an error none of them is locked.
func (f *folder) lock(ctx context.Context, dirs ...*dirHandle) (unlock func(), err error) {
	dirs = slices.Clone(dirs)
	slices.SortFunc(dirs, func(a, b *dirHandle) int { return cmp.Compare(a.key, b.key) })
	dirs = slices.CompactFunc(dirs, func(a, b *dirHandle) bool { return a.key == b.key })
	var held []func()
	unlock = func() {
		for _, release := range slices.Backward(held) {
			release()
		}
	}
	for _, d := range dirs {
		release, err := f.lockDir(ctx, d, d.createLock)
		if err != nil {
			unlock()
			return nil, err
		}
		held = append(held, release)
	}
	return unlock, nil
}

// lockDir locks one directory, which is about to be changed: against the users
// of f in memory, and against all others by its lock file. create creates
// that file, or returns [fs.ErrExist].
//
// It first removes the leftovers that listings have noted here, as a change of the directory
// may do that and a listing may not. lockWait bounds the wait for the lock file; ctx alone
// ends the wait in memory, and the error is then its own.
func (f *folder) lockDir(ctx context.Context, d *dirHandle, create func() (remove func(), err error)) (unlock func(), err error) {
	d.sweep(f.temps.take(d.dir))
	deadline := time.Now().Add(f.lockWait)
	if err := f.locks.acquire(ctx, d.key); err != nil {
		return nil, err
	}
	remove, err := d.awaitLock(ctx, deadline, create)
	if err != nil {
		f.locks.release(d.key)
		return nil, err
	}
	return func() {
		remove()
		f.locks.release(d.key)
	}, nil
}

// The process that created the file lockName in a directory has locked it. It
// also holds a lock on that file, so that others can remove the file of a process
// that was killed. A lock on the directory would be simpler, but other programs take
// those, for as long as they like.
//
// A change of a name takes both locks:
//
//	f.locks     other goroutines with this FS queue here, and are woken in time
//	lockName    other processes find the file, and look again until it is missing
//
// With the queue, the goroutines of one process do not all ask the kernel again and again.
const (
	lockName = ops.ReservedPrefix + "lock"
	// maxLockWait is how long a change waits for another process that changes
	// names in the same directory. None takes longer than a flush to the disk.
	maxLockWait = 10 * time.Second
	minLockPoll = 50 * time.Microsecond
	maxLockPoll = 5 * time.Millisecond
)

// awaitLock calls create until it finds no lock file of another process, or the deadline has
// passed. Between two calls it removes the file if its process was killed, and pauses, from
// minLockPoll on twice as long each time. Any other error of create ends the wait.
func (d *dirHandle) awaitLock(ctx context.Context, deadline time.Time, create func() (remove func(), err error)) (remove func(), err error) {
	for poll := minLockPoll; ; poll = min(2*poll, maxLockPoll) {
		remove, err := create()
		if !errors.Is(err, fs.ErrExist) {
			return remove, err
		}
		if time.Now().After(deadline) {
			return nil, lockedError()
		}
		d.removeLeftover(lockName)
		if err := pause(ctx, poll); err != nil {
			return nil, err
		}
	}
}

// lockedError returns the error of a wait that was too long. The file may be left by a process
// that was killed, of a user whose files this one may not remove.
func lockedError() error {
	return provider.Errorf(workspace.ErrUnavailable,
		"another process has locked the directory, with the file %q, and does not unlock it: %w",
		lockName, ops.Remedy("delete that file if no program works in the folder"))
}

// pause waits, unless ctx ends earlier.
func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// removed returns the error of an open directory that was removed. Another may be made under
// its name, but the root of a folder stays the one that was opened.
func (d *dirHandle) removed() error {
	if d.dir == "." {
		return fs.ErrNotExist
	}
	return errOvertaken
}

// createLock creates the lock file of d. What it does depends on the system:
//
//	flock works         remove deletes the file, and then unlocks it by closing it
//	flock fails here    the file is deleted at once, as nobody could see that its process died
//	there is no flock   no file is created
//	the disk is full    no file is created, either
//
// So nobody who finds the file can lock it while it still has its name. Without a file, the
// lock in memory is all there is.
func (d *dirHandle) createLock() (remove func(), err error) {
	if !sys.HasFileLocks {
		return func() {}, nil
	}
	file, err := d.openFile(lockName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newPerm)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, d.removed()
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return func() {}, nil // only removing files helps, and that has to work without
	case err != nil:
		return nil, err
	}
	state, err := d.claim(file, lockName)
	if err != nil || state == sys.LockTaken {
		file.Close()
		return nil, cmp.Or(err, fs.ErrExist)
	}
	remove = func() {
		_ = d.remove(lockName)
		file.Close()
	}
	if state == sys.LockUnknown { // it would outlast us
		remove()
		remove = func() {}
	}
	return remove, nil
}

// claim locks the file that was created as name. The state is sys.LockTaken if
// somebody else was faster and regarded it as a leftover.
//
// Between its creation and its lock the file looks like one whose process has died, so another
// process may lock and remove it. The lock of a file that has lost its name is worth nothing.
func (d *dirHandle) claim(file *os.File, name string) (sys.LockState, error) {
	state, err := sys.TryLock(file)
	if err == nil && !d.has(name, file) {
		state = sys.LockTaken
	}
	return state, err
}
