// Package progress carries a counter of the files that a call has searched in a
// context: whoever waits for the call reads it while the search adds to it.
package progress

import (
	"context"
	"sync/atomic"
)

// Counter is how many files have been searched. A nil Counter counts nothing. It is
// safe for concurrent use.
type Counter struct{ files atomic.Int64 }

// counterKey is the key of a Counter in a context.
type counterKey struct{}

// With returns a context whose searches are counted by the Counter.
func With(ctx context.Context) (context.Context, *Counter) {
	c := new(Counter)
	return context.WithValue(ctx, counterKey{}, c), c
}

// From returns the counter of ctx, nil if it has none.
func From(ctx context.Context) *Counter {
	c, _ := ctx.Value(counterKey{}).(*Counter)
	return c
}

// Add counts n files.
func (c *Counter) Add(n int) {
	if c != nil {
		c.files.Add(int64(n))
	}
}

// Files returns how many files have been counted.
func (c *Counter) Files() int64 { return c.files.Load() }
