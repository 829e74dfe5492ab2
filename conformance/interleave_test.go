package conformance_test

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/workspacekit/workspacekit/workspace"
)

// yield lets other goroutines run, so that a mutant with a race shows it.
func yield() {
	for range 50 {
		runtime.Gosched()
	}
}

// yieldUntil is yield until done reports true, within reason.
func yieldUntil(done func() bool) {
	for range 20_000 {
		if done() {
			return
		}
		runtime.Gosched()
	}
}

// awaitLooks lets other goroutines run until they have read a few times, so
// that they see what is there in between.
func (h *hooked) awaitLooks() {
	seen := h.looks.n.Load()
	yieldUntil(func() bool { return h.looks.n.Load() >= seen+4 })
}

// counter counts calls.
type counter struct{ n atomic.Int64 }

func newCounter() *counter { return &counter{} }

func (c *counter) next() int64 { return c.n.Add(1) }

// cached is an entry of a cache.
type cached struct {
	data    string
	version workspace.Version
}

// cache gives its entries to every other caller, however old they are.
type cache struct {
	mu      sync.Mutex // guards the fields below
	entries map[string]cached
	asked   int
}

func newCache() *cache { return &cache{entries: make(map[string]cached)} }

func (c *cache) sometimes(name string) (cached, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	entry, ok := c.entries[name]
	return entry, ok && c.asked%2 == 0
}

func (c *cache) put(name string, entry cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[name] = entry
}
