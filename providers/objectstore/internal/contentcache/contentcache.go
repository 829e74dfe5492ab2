// Package contentcache keeps the contents of files that a search has downloaded,
// so that the next one does not download them again.
//
// In go a name, a version and bytes; out come the bytes while the file still has
// the version. What was used last stays, up to a number of bytes.
package contentcache

import (
	"container/list"
	"sync"

	"github.com/workspacekit/workspacekit/workspace"
)

// Cache keeps contents, the ones used last, up to a number of bytes. It is safe
// for concurrent use.
type Cache struct {
	limit int64

	mu    sync.Mutex               // guards what follows
	size  int64                    // of all contents and names
	names map[string]*list.Element // of *content
	used  *list.List               // of *content, the last used first
}

// content is the content of a version of a file: of a large binary one, no more
// than the beginning. It is never changed.
type content struct {
	name    string
	version workspace.Version
	data    []byte
}

// overhead is what a content costs beside its content and its name, about.
const overhead = 256

func (c *content) size() int64 { return int64(len(c.data)+len(c.name)) + overhead }

// New returns an empty cache of limit bytes. Zero keeps nothing.
func New(limit int64) *Cache {
	return &Cache{limit: limit, names: make(map[string]*list.Element), used: list.New()}
}

// Get returns the content of the file name if that still has the version.
func (c *Cache) Get(name string, version workspace.Version) (data []byte, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element := c.names[name]
	if element == nil {
		return nil, false
	}
	found := element.Value.(*content)
	if found.version != version {
		c.remove(element)
		return nil, false
	}
	c.used.MoveToFront(element)
	return found.data, true
}

// Put keeps data, which must not change any more. What is larger than a
// quarter of the limit is not kept: it would drive out too much.
func (c *Cache) Put(name string, version workspace.Version, data []byte) {
	added := &content{name: name, version: version, data: data}
	if added.size() > c.limit/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.names[name]; known != nil {
		c.remove(known)
	}
	c.names[name] = c.used.PushFront(added)
	c.size += added.size()
	for c.size > c.limit {
		c.remove(c.used.Back())
	}
}

// remove drops element. c.mu is held.
func (c *Cache) remove(element *list.Element) {
	dropped := c.used.Remove(element).(*content)
	delete(c.names, dropped.name)
	c.size -= dropped.size()
}
