package scan

import (
	"container/heap"
	"runtime"
	"sync"

	"github.com/workspacekit/workspacekit/workspace"
)

// A fast source gets a worker for each processor and spareWorkers more, which
// work while others wait in a system call, but not more than maxLocalWorkers.
// A worker takes localChunk files of a directory at a time, so that taking
// costs little beside searching.
const (
	localChunk      = 64
	spareWorkers    = 2
	maxLocalWorkers = 8
)

// workers search a tree side by side. Each takes the task that comes first in
// order of paths, does it, and adds the tasks that it finds on the way. So
// directories are listed side by side, too, no worker waits for another to take
// its results, and a search with a limit stays near the beginning of the tree.
//
// For example, two workers look for 2 matches in the files a, d/x, d/y and z,
// which have one match each, with one file to a task:
//
//	worker 1                                 worker 2                        tasks left
//	lists the root                           waits                           a, d, z
//	takes a: a match                         takes d, lists it, adds d/y     d/y, z
//	takes d/y, which is less than z          searches d/x itself: a match    z
//	a match in d/y, one more than wanted     takes z, which is after d/y
//	and so the last that can be of use       and so need not be read
//
// The result is the matches in a and d/x, and the match in d/y only proves that
// there are more. Had z been taken before d/y, it would have been read for nothing;
// the result is the same in any order, as the collector sorts.
type workers struct {
	do func(t task, scratch *[]byte) error // does one task, and may use scratch

	mu    sync.Mutex // guards what follows
	ready sync.Cond  // there are tasks, or the search has ended
	tasks tasks
	busy  int   // workers that may yet add tasks
	err   error // the first that ends the search
}

// task is a directory to open, some files in one that is open, or some directories of a Tree.
type task struct {
	in    *dirState           // of a part: where the Tree begins
	files []string            // nil for the directory itself
	part  treePart            // its tree is nil for none
	known *workspace.FileInfo // the description of the only file, if a walk gave one
	path  string              // the first path of the task
}

// treePart is the directories begin to end of a Tree.
type treePart struct {
	tree       Tree
	begin, end int
}

// partSize is how many directories of a Tree are a task: few, so that there is work for all
// workers, and so many that a task costs little beside them.
const partSize = 64

// partsOf returns a task for each part of tree, which begins at in.
func partsOf(tree Tree, in *dirState) (parts []task) {
	for n, size := 0, tree.Size(); n < size; n += partSize {
		path, _, _ := tree.Dir(n)
		parts = append(parts, task{in: in, part: treePart{tree, n, min(n+partSize, size)}, path: path})
	}
	return parts
}

// localWorkers is how many workers a source gets that answers from memory or a local disk.
func localWorkers() int { return min(runtime.GOMAXPROCS(0)+spareWorkers, maxLocalWorkers) }

// run lets n workers do first, and what that adds. The caller's goroutine is one of them.
func (w *workers) run(first task, n int) error {
	w.ready.L = &w.mu
	w.push(first)
	var group sync.WaitGroup
	for range n - 1 {
		group.Go(w.work)
	}
	w.work()
	group.Wait()
	return w.err
}

// buffers are what workers read files into, for the next search. Those of more than
// maxKeptBuffer bytes are not kept.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxKeptBuffer = 4 << 20

// work does tasks until there are none. scratch is the buffer into which this
// worker reads one file after the other.
func (w *workers) work() {
	scratch := buffers.Get().(*[]byte)
	defer func() {
		if cap(*scratch) <= maxKeptBuffer {
			buffers.Put(scratch)
		}
	}()
	for {
		t, ok := w.next()
		if !ok {
			return
		}
		err := w.do(t, scratch)
		w.done(err)
	}
}

// next waits for a task. It returns false when there will be none.
func (w *workers) next() (task, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.tasks) == 0 && w.busy > 0 && w.err == nil {
		w.ready.Wait()
	}
	if len(w.tasks) == 0 || w.err != nil {
		w.ready.Broadcast()
		return task{}, false
	}
	w.busy++
	return *heap.Pop(&w.tasks).(*task), true
}

// push adds a task and wakes a worker.
func (w *workers) push(t task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	heap.Push(&w.tasks, &t)
	w.ready.Signal()
}

// done records the end of a task, and its error.
func (w *workers) done(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
	if w.err == nil {
		w.err = err
	}
	if w.busy == 0 || w.err != nil {
		w.ready.Broadcast()
	}
}

// tasks is a heap of tasks by their paths.
type tasks []*task

// Len implements [heap.Interface].
func (t tasks) Len() int { return len(t) }

// Less implements [heap.Interface]: the task that is first in order of paths
// comes first.
func (t tasks) Less(i, j int) bool { return t[i].path < t[j].path }

// Swap implements [heap.Interface].
func (t tasks) Swap(i, j int) { t[i], t[j] = t[j], t[i] }

// Push implements [heap.Interface].
func (t *tasks) Push(x any) { *t = append(*t, x.(*task)) }

// Pop implements [heap.Interface].
func (t *tasks) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}
