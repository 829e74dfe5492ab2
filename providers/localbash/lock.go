package localbash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// locks are held by key, each by one goroutine. The zero locks are ready.
type locks struct {
	mu     sync.Mutex
	queues map[string]*queue // guarded by mu
}

// queue is the line of those who want one lock.
type queue struct {
	token chan struct{} // full while the lock is held
	users int           // those who hold or want it; guarded by locks.mu
}

// acquire waits for the lock of key.
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

func (l *locks) release(key string) {
	l.mu.Lock()
	q := l.queues[key]
	l.mu.Unlock()
	<-q.token
	l.leave(key)
}

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

func (l *locks) leave(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.queues[key]
	q.users--
	if q.users == 0 {
		delete(l.queues, key)
	}
}

// lock keeps everyone else from changing names in the folders until unlock is
// called. Two folders are always locked in the same order.
func (f *FS) lock(ctx context.Context, folders ...*folder) (unlock func(), err error) {
	folders = slices.Clone(folders)
	slices.SortFunc(folders, func(a, b *folder) int { return cmp.Compare(a.key, b.key) })
	folders = slices.CompactFunc(folders, func(a, b *folder) bool { return a.key == b.key })
	var held []func()
	unlock = func() {
		for _, release := range slices.Backward(held) {
			release()
		}
	}
	for _, d := range folders {
		release, err := f.lockFolder(ctx, d, d.createLock)
		if err != nil {
			unlock()
			return nil, err
		}
		held = append(held, release)
	}
	return unlock, nil
}

// lockFolder locks one folder, which is about to be changed: against the users
// of f in memory, and against all others by its lock file. create creates
// that, or returns [fs.ErrExist].
func (f *FS) lockFolder(ctx context.Context, d *folder, create func() (remove func(), err error)) (unlock func(), err error) {
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

// A folder is locked by the one who could create lockName in it. He keeps that
// file locked himself, so that it does not outlast a process that is killed.
// A lock on the folder would be simpler, but other programs take those, for
// as long as they like.
const (
	lockName = workspace.ReservedPrefix + "lock"
	// maxLockWait is how long a change waits for another process that changes
	// names in the same folder. None takes longer than a flush to the disk.
	maxLockWait = 10 * time.Second
	minLockPoll = 50 * time.Microsecond
	maxLockPoll = 5 * time.Millisecond
)

// errLocked is the error of a wait that was too long.
var errLocked = fmt.Errorf("another process has locked the directory, with the file %q, and does not unlock it", lockName)

// awaitLock calls create until it finds no lock file of another process, or
// the deadline has passed.
func (d *folder) awaitLock(ctx context.Context, deadline time.Time, create func() (remove func(), err error)) (remove func(), err error) {
	for poll := minLockPoll; ; poll = min(2*poll, maxLockPoll) {
		remove, err := create()
		if !errors.Is(err, fs.ErrExist) {
			return remove, err
		}
		if time.Now().After(deadline) {
			return nil, errLocked
		}
		d.removeLeftover(lockName)
		if err := pause(ctx, poll); err != nil {
			return nil, err
		}
	}
}

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

// createLock creates the lock file of d.
func (d *folder) createLock() (remove func(), err error) {
	if !hasFileLocks {
		return func() {}, nil
	}
	file, err := d.root.OpenFile(lockName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newPerm)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errOvertaken
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return func() {}, nil // the remedy is to remove files, which must go without
	case err != nil:
		return nil, err
	}
	state, err := d.claim(file, lockName)
	if err != nil || state == lockTaken {
		file.Close()
		return nil, cmp.Or(err, fs.ErrExist)
	}
	remove = func() {
		_ = d.root.Remove(lockName)
		file.Close()
	}
	if state == lockUnknown { // it would outlast us
		remove()
		remove = func() {}
	}
	return remove, nil
}
