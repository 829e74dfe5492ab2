package container

import (
	"sync"

	"github.com/workspacekit/workspacekit/providers/container/internal/program"
)

// content is what a file has in it, as a search sees it.
type content int

const (
	unknown   content = iota
	plainText         // no NUL
	lateNUL           // text with a NUL that comes late enough
	binary
)

// maxContents is how many files are remembered.
const maxContents = 1 << 18

// contents remembers what files have in them, by what changes when their bytes
// do. It is safe for concurrent use. Its zero value is empty.
type contents struct {
	mu   sync.Mutex
	seen map[identity]content // guarded by mu
}

// identity stands for the bytes of a file.
type identity struct {
	inode    uint64
	size     int64
	modified int64
}

func identityOf(e *program.Entry) identity { return identity{e.Inode, e.Size, e.Modified.UnixNano()} }

func (c *contents) get(e *program.Entry) content {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[identityOf(e)]
}

func (c *contents) put(e *program.Entry, kind content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil || len(c.seen) >= maxContents {
		c.seen = map[identity]content{}
	}
	c.seen[identityOf(e)] = kind
}
