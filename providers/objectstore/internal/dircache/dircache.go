// Package dircache remembers directories that have been seen or created a short
// while ago, so that a write need not look whether its directory exists and
// whether its own name is a directory. A bucket has no directories, so each look
// is a request.
//
// In goes what listings and writes have shown; out comes whether that is enough
// for a write to go without a look.
package dircache

import (
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
)

// maxDirs is how many directories are remembered.
const maxDirs = 1024

// Cache remembers directories. It is safe for concurrent use.
//
// After a listing of the directory "d" that was cut after 1,000 keys, at
// "m.txt", and showed the directories "a" and "b":
//
//	write to   look?  because
//	d/c.txt    no     "c.txt/" is before "m.txt", and is none of a and b
//	d/b        yes    b is a directory: the look says so in the contract's words
//	d/z.txt    yes    the listing ended before "z.txt/"
//	e/c.txt    yes    nothing is known about e
//
// An answer of the store can be older than what another call has noted while the answer was under
// way, so whoever tells the cache something says at which [Moment] it asked. Names noted since stay.
// After a Forget, the answer no longer proves that a directory exists.
type Cache struct {
	ttl time.Duration

	mu        sync.Mutex
	known     map[string]*dirState // guarded by mu, as what follows
	now       Moment
	dropped   Moment // when the last name was noted that has been dropped since
	forgotten Moment // the last Forget
}

// Moment is a point in the order of what a cache was told.
type Moment uint64

// dirState is what is known about a directory.
type dirState struct {
	expires     time.Time
	markedUntil time.Time         // when what is known of its marker expires; zero if nothing is
	dirs        map[string]Moment // the names of what may be directories in it, and when they were noted
	noted       Moment            // the last of dirs
	upTo        string            // the last key that dirs is complete for; empty if for none
	whole       bool              // dirs is complete for all keys
}

// New returns a cache that believes what it has seen for as long as ttl.
func New(ttl time.Duration) *Cache {
	return &Cache{ttl: ttl, known: make(map[string]*dirState)}
}

// Now returns the moment to remember before a request is sent.
func (c *Cache) Now() Moment {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Has reports whether dir is known to exist. The root does.
func (c *Cache) Has(dir string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return dir == "." || c.get(dir) != nil
}

// get returns what is known about dir, nil if nothing is. c.mu is held.
func (c *Cache) get(dir string) *dirState {
	known := c.known[dir]
	if known == nil || !time.Now().Before(known.expires) {
		return nil
	}
	return known
}

// HoldsFile reports whether a file base of dir can be written without a look:
// dir exists and has no directory of that name.
func (c *Cache) HoldsFile(dir, base string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.get(dir)
	if known == nil || !known.whole && object.Escape(base)+"/" > known.upTo {
		return false
	}
	_, isDir := known.dirs[base]
	return !isDir
}

// Learn remembers that dir existed at the moment since, with the directories dirs. They are
// complete up to the key upTo in dir, or if that is empty altogether. What it knew of dir has been
// seen again, but for a marker.
func (c *Cache) Learn(since Moment, dir string, dirs []string, upTo string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exists(since, dir)
	if since < c.forgotten {
		return
	}
	known := c.put(dir)
	if since < c.dropped {
		return // dirs may lack what was noted meanwhile
	}
	known.expires = time.Now().Add(c.ttl)
	known.upTo, known.whole = upTo, upTo == ""
	maps.DeleteFunc(known.dirs, func(_ string, noted Moment) bool { return noted <= since })
	for _, name := range dirs {
		known.dirs[name] = max(known.dirs[name], since)
	}
}

// Exists remembers that dir existed at the moment since, and so did the directories that it lies in.
func (c *Cache) Exists(since Moment, dir string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exists(since, dir)
}

// exists is Exists. c.mu is held.
func (c *Cache) exists(since Moment, dir string) {
	c.now++
	for _, dir := range Ancestors(dir) {
		parent, base := workspace.Split(dir)
		if since >= c.forgotten {
			c.put(dir)
			c.put(parent)
		}
		known := c.known[parent]
		if known == nil {
			c.dropped = c.now
			continue
		}
		known.dirs[base], known.noted = c.now, c.now
	}
}

// put returns what is known about dir, which exists. c.mu is held.
func (c *Cache) put(dir string) *dirState {
	known := c.get(dir)
	if known == nil {
		c.drop(dir)
		c.shrink()
		known = &dirState{expires: time.Now().Add(c.ttl), dirs: make(map[string]Moment)}
		c.known[dir] = known
	}
	return known
}

// drop drops what is known about dir. c.mu is held.
func (c *Cache) drop(dir string) {
	if known := c.known[dir]; known != nil {
		c.dropped = max(c.dropped, known.noted)
		delete(c.known, dir)
	}
}

// shrink makes room for one more: what has expired goes, and if nothing has,
// any other. c.mu is held.
func (c *Cache) shrink() {
	if len(c.known) < maxDirs {
		return
	}
	now := time.Now()
	for dir, known := range c.known {
		if now.After(known.expires) {
			c.drop(dir)
		}
	}
	for dir := range c.known {
		if len(c.known) < maxDirs {
			return
		}
		c.drop(dir)
	}
}

// Mark remembers that dir had a marker at the moment since.
func (c *Cache) Mark(since Moment, dir string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exists(since, dir)
	if known := c.get(dir); known != nil && since >= c.forgotten {
		known.markedUntil = time.Now().Add(c.ttl)
	}
}

// Marked reports whether dir is known to have a marker.
func (c *Cache) Marked(dir string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.get(dir)
	return known != nil && time.Now().Before(known.markedUntil)
}

// Forget forgets that the directory dir and all below it exist. Its name stays noted: somebody may
// have created it again, and if not, a write looks once more.
func (c *Cache) Forget(dir string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now++
	c.forgotten = c.now
	for name := range c.known {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			c.drop(name)
		}
	}
}

// Ancestors returns dir and the directories that it lies in, without the root,
// the deepest first.
func Ancestors(dir string) []string {
	var dirs []string
	for dir != "." {
		dirs = append(dirs, dir)
		dir, _ = workspace.Split(dir)
	}
	return dirs
}

// Unknown returns dir and the directories that it lies in, up to the first that
// is known to exist.
func (c *Cache) Unknown(dir string) []string {
	all := Ancestors(dir)
	for i, name := range all {
		if c.Has(name) {
			return all[:i]
		}
	}
	return all
}
