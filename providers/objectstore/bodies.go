package objectstore

import (
	"container/list"
	"sync"

	"github.com/workspacekit/workspacekit/workspace"
)

// bodies keeps the contents of files that a search has downloaded, the ones
// used last, up to a number of bytes. It is safe for concurrent use.
type bodies struct {
	limit int64

	mu    sync.Mutex               // guards what follows
	size  int64                    // of all contents and names
	names map[string]*list.Element // of *body
	used  *list.List               // of *body, the last used first
}

// body is the content of a version of a file: of a large binary one, no more
// than the beginning. It is never changed.
type body struct {
	name    string
	version workspace.Version
	data    []byte
}

// bodyOverhead is what a body costs beside its content and its name, about.
const bodyOverhead = 256

func (b *body) size() int64 { return int64(len(b.data)+len(b.name)) + bodyOverhead }

func newBodies(limit int64) *bodies {
	return &bodies{limit: limit, names: make(map[string]*list.Element), used: list.New()}
}

// get returns the content of the file name if that still has the version.
func (c *bodies) get(name string, version workspace.Version) (data []byte, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element := c.names[name]
	if element == nil {
		return nil, false
	}
	found := element.Value.(*body)
	if found.version != version {
		c.remove(element)
		return nil, false
	}
	c.used.MoveToFront(element)
	return found.data, true
}

// put keeps data, which is not to be changed any more. What is larger than a
// quarter of the limit is not kept: it would drive out too much.
func (c *bodies) put(name string, version workspace.Version, data []byte) {
	added := &body{name: name, version: version, data: data}
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
func (c *bodies) remove(element *list.Element) {
	dropped := c.used.Remove(element).(*body)
	delete(c.names, dropped.name)
	c.size -= dropped.size()
}
