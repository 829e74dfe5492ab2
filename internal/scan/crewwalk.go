package scan

import (
	"container/heap"
	"errors"
	"io/fs"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/workspace"
)

// maxTasks is how many files that a walk has met wait for a worker before the
// walk stops to search some of them itself, so that a walk that is faster than
// the searches does not fill the memory.
const maxTasks = 4096

// walkTree adds a task for each file below in, as the source lists them, and
// stops behind what is wanted.
func (c *crew) walkTree(walker Walker, in *folder, scratch *[]byte) error {
	below, err := c.literal(in)
	if err != nil || below == nil {
		return err
	}
	err = c.flat(walker, below, c.beforeBegin(), func(in *folder, info workspace.FileInfo) error {
		switch {
		case !c.found.wants(info.Path):
			return fs.SkipAll
		case info.Type != workspace.TypeFile || !c.wantsFile(in, info.Name):
			return nil
		}
		c.add(task{in: in, files: []string{info.Name}, known: &info, path: info.Path})
		return c.relieve(scratch)
	})
	if errors.Is(err, fs.SkipAll) || below != in && notThere(err) {
		return nil
	}
	return err
}

// beforeBegin returns a path behind which the one where the search begins is.
func (c *crew) beforeBegin() string {
	_, size := utf8.DecodeLastRuneInString(c.begin)
	return c.begin[:len(c.begin)-size]
}

// relieve searches files while too many of them wait.
func (c *crew) relieve(scratch *[]byte) error {
	for {
		c.mu.Lock()
		if len(c.tasks) <= maxTasks || c.err != nil {
			defer c.mu.Unlock()
			return c.err
		}
		t := heap.Pop(&c.tasks).(task)
		c.mu.Unlock()
		if err := c.do(t, scratch); err != nil {
			return err
		}
	}
}
