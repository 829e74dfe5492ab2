package scan

import (
	"container/heap"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/workspacekit/workspacekit/workspace"
)

// localChunk is how many files of a directory a worker takes at a time from a
// fast source, so that taking costs little beside searching. Such a source gets
// a worker for each processor and spareWorkers more, which work while others
// wait in a system call, but not more than maxLocalWorkers.
const (
	localChunk      = 64
	spareWorkers    = 2
	maxLocalWorkers = 8
)

// crew is the workers that search a tree. Each takes the task that comes first
// in order of paths, does it, and adds those that it has met; so directories
// are listed side by side, too, nothing is handed from one to another, and a
// search with a limit stays near the beginning of the tree.
type crew struct {
	explorer
	search *search
	chunk  int
	found  collector

	mu    sync.Mutex // guards what follows
	more  sync.Cond  // that there are tasks, or that all is done
	tasks tasks
	busy  int   // workers that may yet add tasks
	err   error // the first that ends the search
}

// task is a directory to open, or some files in one that is open.
type task struct {
	in    *folder
	files []string            // nil for the directory itself
	known *workspace.FileInfo // of the only file, if a walk has described it
	path  string              // where it begins
}

// tree searches the directory of the options. workers is zero for a source
// that answers from memory or a local disk.
func (s *search) tree(ctx context.Context, workers int) (*workspace.GrepResult, error) {
	c := &crew{
		explorer: explorer{ctx: ctx, src: s.src, begin: s.opts.StartAfter.Path, gitignore: s.opts.Gitignore},
		search:   s,
		chunk:    1,
	}
	c.more.L = &c.mu
	c.found.limit = s.opts.MaxResults
	if workers == 0 {
		workers, c.chunk = min(runtime.GOMAXPROCS(0)+spareWorkers, maxLocalWorkers), localChunk
	}
	top, err := c.top(s.opts.Path)
	if err == nil {
		c.add(task{in: top, path: top.path})
		err = c.run(workers)
	}
	if ended := ctx.Err(); ended != nil {
		return nil, workspace.NewPathError(workspace.OpGrep, s.opts.Path, ended, nil)
	}
	if err != nil {
		return nil, workspace.RenameError(err, workspace.OpGrep, s.opts.Path)
	}
	return c.found.result(), nil
}

// run lets the workers work until nothing is left to do. The caller's goroutine
// is one of them.
func (c *crew) run(workers int) error {
	var group sync.WaitGroup
	for range workers - 1 {
		group.Go(c.work)
	}
	c.work()
	group.Wait()
	return c.err
}

func (c *crew) work() {
	var scratch []byte
	for {
		t, ok := c.take()
		if !ok {
			return
		}
		err := c.do(t, &scratch)
		c.finish(err)
	}
}

// take waits for a task. It returns false when there will be none.
func (c *crew) take() (task, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.tasks) == 0 && c.busy > 0 && c.err == nil {
		c.more.Wait()
	}
	if len(c.tasks) == 0 || c.err != nil {
		c.more.Broadcast()
		return task{}, false
	}
	c.busy++
	return heap.Pop(&c.tasks).(task), true
}

func (c *crew) add(t task) {
	c.mu.Lock()
	defer c.mu.Unlock()
	heap.Push(&c.tasks, t)
	c.more.Signal()
}

// finish says that a task is done, and with which error.
func (c *crew) finish(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
	if c.err == nil {
		c.err = err
	}
	if c.busy == 0 || c.err != nil {
		c.more.Broadcast()
	}
}

func (c *crew) do(t task, scratch *[]byte) error {
	switch {
	case !c.found.wants(t.path):
		return nil
	case t.files == nil:
		return c.directory(t.in, scratch)
	}
	return c.files(t, scratch)
}

// directory opens in, adds tasks for what is in it, and does the first of them
// itself, unless a limit makes their order matter.
func (c *crew) directory(in *folder, scratch *[]byte) error {
	if walker, ok := c.walker(); ok {
		return c.walkTree(walker, in, scratch)
	}
	children, err := c.open(in)
	switch {
	case err == nil:
	case in.top || c.ctx.Err() != nil:
		return err
	case !gone(in, err):
		c.skip(in, workspace.SkipUnreadable, err)
	}
	if slices.ContainsFunc(children, func(child Child) bool { return c.wantsUnnamed(in, child) }) {
		c.skip(in, workspace.SkipInvalidNames, nil)
	}
	var files []string
	inTurn := false // what is behind a directory may not be wanted if there is a limit
	for _, child := range children {
		switch child.Type {
		case workspace.TypeDirectory:
			if c.found.limit > 0 {
				c.leave(in, files)
				files, inTurn = nil, true
			}
			if below := c.enter(in, child.Name); below != nil {
				c.add(task{in: below, path: below.path})
			}
		case workspace.TypeFile:
			if c.wantsFile(in, child.Name) {
				files = append(files, child.Name)
			}
		}
	}
	if inTurn {
		c.leave(in, files)
		return nil
	}
	first := files[:min(c.chunk, len(files))]
	c.leave(in, files[len(first):])
	return c.files(task{in: in, files: first}, scratch)
}

// skip adds the directory in, unless the page before listed it.
func (c *crew) skip(in *folder, reason workspace.SkipReason, err error) {
	if c.begin == "" || in.path > c.begin {
		c.found.add(found{path: in.path, skipped: reason, err: err})
	}
}

// wantsUnnamed reports whether the search would look into child if it had a
// valid name. What is in a directory without one is not known.
func (c *crew) wantsUnnamed(in *folder, child Child) bool {
	return child.Type == UnnamedDirectory || child.Type == UnnamedFile && c.search.filter.wants(in, child.Name)
}

func (c *crew) wantsFile(in *folder, name string) bool {
	return (c.begin == "" || in.join(name) >= c.begin) && c.search.filter.wants(in, name)
}

// leave leaves files to whoever is free.
func (c *crew) leave(in *folder, files []string) {
	for some := range slices.Chunk(files, c.chunk) {
		c.add(task{in: in, files: some, path: in.join(some[0])})
	}
}

// files searches the files of t.
func (c *crew) files(t task, scratch *[]byte) error {
	for _, name := range t.files {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		path := t.in.join(name)
		if !c.found.wants(path) {
			return nil
		}
		found := c.search.file(c.ctx, path, scratch, ReadOptions{Known: t.known})
		if errors.Is(found.err, workspace.ErrUnavailable) {
			return found.err // the store's fault, not the file's
		}
		c.found.add(found)
	}
	return nil
}

// tasks is a heap of tasks by their paths.
type tasks []task

func (t tasks) Len() int           { return len(t) }
func (t tasks) Less(i, j int) bool { return t[i].path < t[j].path }
func (t tasks) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *tasks) Push(x any)        { *t = append(*t, x.(task)) }

func (t *tasks) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}
