package localbash

import (
	"cmp"
	"context"
	"slices"
	"sync"
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
// called: the users of f by a lock in memory, and all others by one that the
// operating system holds, where it has such locks. Two folders are always
// locked in the same order.
func (f *FS) lock(ctx context.Context, folders ...*folder) (unlock func(), err error) {
	folders = slices.Clone(folders)
	slices.SortFunc(folders, func(a, b *folder) int { return cmp.Compare(a.key, b.key) })
	folders = slices.CompactFunc(folders, func(a, b *folder) bool { return a.key == b.key })
	var held []*folder
	unlock = func() {
		for _, d := range slices.Backward(held) {
			unlockFile(d.file)
			f.locks.release(d.key)
		}
	}
	for _, d := range folders {
		if err := f.locks.acquire(ctx, d.key); err != nil {
			unlock()
			return nil, err
		}
		held = append(held, d)
		if err := lockFile(ctx, d.file); err != nil {
			unlock()
			return nil, err
		}
	}
	return unlock, nil
}
