package remotegrep

import (
	"context"
	"slices"
	"sync"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
)

// shortHead is how much of a binary file shows in most cases that it is one.
const shortHead = 512

// binarySniff reads the beginnings of the files that have a NUL, to find out which
// of them are binary. It reads more only where a little does not show that.
func (fs *files) binarySniff(ctx context.Context, some []*file) error {
	suspect := slices.DeleteFunc(slices.Clone(some), func(e *file) bool { return e.content != unknown })
	for batch := range slices.Chunk(suspect, batchFiles) {
		unsure, err := fs.sniff(ctx, batch, shortHead)
		if err == nil && len(unsure) > 0 {
			_, err = fs.sniff(ctx, unsure, lines.BinaryWindow)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sniff reads size bytes of files, and returns those for which that is not enough.
// A file that was deleted or has changed is read later, which tells what it is.
func (fs *files) sniff(ctx context.Context, batch []*file, size int64) (unsure []*file, err error) {
	p, err := fs.fetch(ctx, batch, size)
	if err != nil {
		return nil, err
	}
	for _, e := range batch {
		head := p.sent[e]
		switch {
		case head == nil:
			e.alone = e.alone || p.isLost(e)
		case lines.IsBinary(head):
			fs.note(e, binary)
		case size < lines.BinaryWindow && int64(len(head)) == size:
			unsure = append(unsure, e)
		default:
			fs.note(e, lateNUL)
		}
	}
	return unsure, nil
}

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

// Contents remembers what files have in them, by what changes when their bytes
// do. It is safe for concurrent use. Its zero value is empty.
type Contents struct {
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

func (c *Contents) get(e *program.Entry) content {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[identityOf(e)]
}

func (c *Contents) put(e *program.Entry, kind content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil || len(c.seen) >= maxContents {
		c.seen = map[identity]content{}
	}
	c.seen[identityOf(e)] = kind
}
