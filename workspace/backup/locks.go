package backup

import (
	"context"
	"hash/maphash"

	"golang.org/x/sync/semaphore"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// locks let one change at a time look at a name, keep its bytes and replace them. A
// change of a tree, and an undo, excludes all others. They are semaphores, because
// the wait for a mutex does not end with the context.
type locks struct {
	seed  maphash.Seed
	tree  *semaphore.Weighted
	names [64]*semaphore.Weighted // one for all names with the same hash
}

// everybody is the weight of a lock that excludes all others.
const everybody = 1 << 20

func newLocks() *locks {
	l := &locks{seed: maphash.MakeSeed(), tree: semaphore.NewWeighted(everybody)}
	for i := range l.names {
		l.names[i] = semaphore.NewWeighted(1)
	}
	return l
}

// one locks name.
func (l *locks) one(ctx context.Context, op, name string) (unlock func(), err error) {
	if err := l.tree.Acquire(ctx, 1); err != nil {
		return nil, ops.Error(op, name, err, nil)
	}
	lock := l.names[maphash.String(l.seed, name)%uint64(len(l.names))]
	if err := lock.Acquire(ctx, 1); err != nil {
		l.tree.Release(1)
		return nil, ops.Error(op, name, err, nil)
	}
	return func() {
		lock.Release(1)
		l.tree.Release(1)
	}, nil
}

// all locks every name, for an operation on name.
func (l *locks) all(ctx context.Context, op, name string) (unlock func(), err error) {
	if err := l.tree.Acquire(ctx, everybody); err != nil {
		return nil, ops.Error(op, name, err, nil)
	}
	return func() { l.tree.Release(everybody) }, nil
}
