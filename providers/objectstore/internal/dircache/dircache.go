// Package dircache remembers directories that have been seen or created a short
// while ago, so that a write need not look whether its directory exists and
// whether its own name is a directory. A bucket has no directories, so each look
// is a request.
//
// In goes what listings and writes have shown; out comes whether that is enough
// for a write to go without a look.
package dircache

import (
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
type Cache struct {
	ttl time.Duration

	mu    sync.Mutex
	known map[string]*dirState // guarded by mu, as what it holds
}

// dirState is what is known about a directory.
type dirState struct {
	expires     time.Time
	markedUntil time.Time           // when what is known of its marker expires; zero if nothing is
	dirs        map[string]struct{} // the names of the directories in it
	upTo        string              // the last key that dirs is complete for; empty if for none
	whole       bool                // dirs is complete for all keys
}

// New returns a cache that believes what it has seen for as long as ttl.
func New(ttl time.Duration) *Cache {
	return &Cache{ttl: ttl, known: make(map[string]*dirState)}
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

// Learn remembers the directories in dir, which exists. They are complete up
// to the key upTo in dir, or if that is empty altogether. What it knew of dir has been seen
// again, but for a marker.
func (c *Cache) Learn(dir string, dirs []string, upTo string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.put(dir)
	known.expires = time.Now().Add(c.ttl)
	known.dirs, known.upTo, known.whole = make(map[string]struct{}, len(dirs)), upTo, upTo == ""
	for _, name := range dirs {
		known.dirs[name] = struct{}{}
	}
}

// Exists remembers that dir exists, and so do the directories that it lies in.
func (c *Cache) Exists(dir string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, dir := range Ancestors(dir) {
		c.put(dir)
		parent, base := workspace.Split(dir)
		if known := c.known[parent]; known != nil && known.dirs != nil {
			known.dirs[base] = struct{}{}
		}
	}
}

// put returns what is known about dir, which exists. c.mu is held.
func (c *Cache) put(dir string) *dirState {
	known := c.get(dir)
	if known == nil {
		c.shrink()
		known = &dirState{expires: time.Now().Add(c.ttl)}
		c.known[dir] = known
	}
	return known
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
			delete(c.known, dir)
		}
	}
	for dir := range c.known {
		if len(c.known) < maxDirs {
			return
		}
		delete(c.known, dir)
	}
}

// Mark remembers that dir has a marker.
func (c *Cache) Mark(dir string) {
	c.Exists(dir)
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.get(dir); known != nil {
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

// Forget forgets the directory dir and all below it.
func (c *Cache) Forget(dir string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.known {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			delete(c.known, name)
		}
	}
	parent, base := workspace.Split(dir)
	if known := c.known[parent]; known != nil {
		delete(known.dirs, base)
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
