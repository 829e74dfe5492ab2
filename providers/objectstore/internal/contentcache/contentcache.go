// Package contentcache keeps the contents of files that a search has downloaded, or
// summaries of them, so that the next one does not download them again.
//
// In go a name, a version and the content; out comes the content while the file still has
// the version. There is a bound in bytes.
package contentcache

import (
	"reflect"
	"strings"
	"sync"

	"github.com/workspacekit/workspacekit/workspace"
)

// Cache keeps contents up to a number of bytes. When it is full, it drops any of them, and not
// the one that was used least recently: searches that read more files than fit, in the same
// order each time, would then never find one. It is safe for concurrent use. A nil Cache keeps
// nothing.
type Cache[E byte | uint64] struct {
	limit int64

	mu    sync.Mutex // guards what follows
	size  int64      // of all contents and names
	files map[string]content[E]
}

// content is the content of a version of a file. It is never changed.
type content[E byte | uint64] struct {
	version workspace.Version
	data    []E
}

// overhead is what a content costs beside its data and its name, about.
const overhead = 128

// sizeOf returns what the content c of the file name costs.
func sizeOf[E byte | uint64](name string, c content[E]) int64 {
	return int64(len(c.data))*int64(reflect.TypeFor[E]().Size()) + int64(len(name)+len(c.version)) + overhead
}

// New returns an empty cache of limit bytes. Zero keeps nothing.
func New[E byte | uint64](limit int64) *Cache[E] {
	return &Cache[E]{limit: limit, files: make(map[string]content[E])}
}

// Get returns the content of the file name if that still has the version.
func (c *Cache[E]) Get(name string, version workspace.Version) (data []E, ok bool) {
	if c == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.files[name]
	if ok && found.version != version {
		c.remove(name)
		return nil, false
	}
	return found.data, ok
}

// Has reports whether a content of the file name is kept, of any version.
func (c *Cache[E]) Has(name string) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.files[name]
	return ok
}

// Put keeps data, which must not change any more. What is larger than a quarter of the
// limit is not kept: it would drive out too much. Nor is what has a weak version, which
// other contents may have, or none.
func (c *Cache[E]) Put(name string, version workspace.Version, data []E) {
	added := content[E]{version: version, data: data}
	if c == nil || sizeOf(name, added) > c.limit/4 || version == "" || strings.HasPrefix(string(version), "W/") {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(name)
	for other := range c.files { // in no order
		if c.size+sizeOf(name, added) <= c.limit {
			break
		}
		c.remove(other)
	}
	c.files[name] = added
	c.size += sizeOf(name, added)
}

// Size returns how many files are kept, and the bytes that they take.
func (c *Cache[E]) Size() (files int, bytes int64) {
	if c == nil {
		return 0, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.files), c.size
}

// remove drops the file name, if it is kept. c.mu is held.
func (c *Cache[E]) remove(name string) {
	if dropped, ok := c.files[name]; ok {
		delete(c.files, name)
		c.size -= sizeOf(name, dropped)
	}
}
