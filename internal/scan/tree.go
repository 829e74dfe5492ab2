package scan

import (
	"container/heap"
	"context"
	"errors"
	"io/fs"
	"slices"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// treeSearch is the Grep of a directory.
type treeSearch struct {
	workers
	dirReader
	search *search
	chunk  int // how many files of a directory are a task
	found  collector
}

// tree searches the directory of the options with n workers. Zero suits a
// source that answers from memory or a local disk.
func (s *search) tree(ctx context.Context, n int) (*workspace.GrepResult, error) {
	w := &treeSearch{
		dirReader: dirReader{ctx: ctx, src: s.src, begin: s.opts.StartAfter.Path, gitignore: s.opts.Gitignore, hidden: s.hidden},
		search:    s,
		chunk:     1,
	}
	w.workers.do = w.do
	w.found.limit = s.opts.MaxResults
	if n == 0 {
		n, w.chunk = localWorkers(), localChunk
	}
	top, err := w.top(s.opts.Path)
	if err == nil {
		err = w.run(task{in: top, path: top.path}, n)
	}
	if ended := ctx.Err(); ended != nil {
		return nil, ops.Error(ops.Grep, s.opts.Path, ended, nil)
	}
	if err != nil {
		return nil, ops.Rename(err, ops.Grep, s.opts.Path)
	}
	return w.found.result(), nil
}

// do does one task, unless the collector already has enough results from
// before its path.
func (w *treeSearch) do(t task, scratch *[]byte) error {
	if !w.found.wants(t.path) {
		return nil
	}
	if t.files != nil {
		return w.searchTask(t, scratch)
	}
	if t.part.tree != nil {
		return w.searchPart(t.part, scratch)
	}
	if walker, ok := w.src.(Walker); ok {
		return w.walkDir(walker, t.in, scratch)
	}
	return w.listDir(t.in, scratch)
}

// listDir opens in and adds tasks for its children. It searches the first files
// itself, while their directory is in the system's caches, unless a limit makes
// the order matter and directories come before some of them.
func (w *treeSearch) listDir(in *dirState, scratch *[]byte) error {
	dir, err := w.openDir(in)
	if err == nil {
		defer dir.Close()
	}
	return w.listOpen(in, dir, err, scratch)
}

// listOpen is listDir for a directory that is open, or cannot be opened because of err. What
// is below a [Sieve] takes less time than a task, so it is done at once if there is no limit.
func (w *treeSearch) listOpen(in *dirState, dir Dir, err error, scratch *[]byte) error {
	var children []Child
	if err == nil {
		children, err = w.list(in, dir)
	}
	switch {
	case err == nil:
	case in.top || w.ctx.Err() != nil:
		return err
	case !wasRemoved(err):
		w.skip(in, workspace.SkipUnreadable, err)
	}
	if tree, ok := dir.(Tree); ok && err == nil && w.wantsAll(in) {
		for _, part := range partsOf(tree, in) {
			w.push(part)
		}
		return nil
	}
	sieve, _ := dir.(Sieve)
	lacking := 0
	if w.found.limit > 0 {
		children = sorted(children)
	}
	if slices.ContainsFunc(children, func(child Child) bool { return w.wantsUnnamed(in, child) }) {
		w.skip(in, workspace.SkipInvalidNames, nil)
	}
	var files []string
	ordered := false // with a limit, the files after a directory may not be wanted
	for _, child := range children {
		switch child.Type {
		case workspace.TypeDirectory:
			if w.found.limit > 0 {
				w.enqueue(in, files)
				files, ordered = nil, true
			}
			switch below := w.enter(in, child.Name); {
			case below == nil:
			case sieve != nil && w.found.limit == 0 && !in.top:
				if err := w.listKnown(sieve, below, scratch); err != nil {
					return err
				}
			default:
				w.push(task{in: below, path: below.path})
			}
		case workspace.TypeFile:
			switch {
			case !w.wantsFile(in, child.Name):
			case sieve != nil && sieve.Lacks(child.Name):
				lacking++
			default:
				files = append(files, child.Name)
			}
		}
	}
	w.found.searched.Add(int64(lacking))
	w.search.progress.Add(lacking)
	if ordered {
		w.enqueue(in, files)
		return nil
	}
	first := files[:min(w.chunk, len(files))]
	w.enqueue(in, files[len(first):])
	return w.searchFiles(task{in: in, files: first}, dir, scratch)
}

// searchPart searches some directories of a Tree whose files are all wanted.
func (w *treeSearch) searchPart(part treePart, scratch *[]byte) error {
	var left []string
	total := 0
	for n := part.begin; n < part.end; n++ {
		path, _, known := part.tree.Dir(n)
		if !known {
			w.push(task{in: &dirState{path: path}, path: path})
			continue
		}
		var lacking int
		left, lacking = part.tree.Left(n, left[:0])
		if total += lacking; len(left) == 0 {
			continue
		}
		in, first := &dirState{path: path}, left[:min(w.chunk, len(left))]
		w.enqueue(in, slices.Clone(left[len(first):]))
		if err := w.searchFiles(task{in: in, files: first}, part.tree.Open(n), scratch); err != nil {
			return err
		}
	}
	w.found.searched.Add(int64(total))
	w.search.progress.Add(total)
	return w.ctx.Err()
}

// listKnown lists the directory below, which is in a Sieve, or adds a task for it.
func (w *treeSearch) listKnown(sieve Sieve, below *dirState, scratch *[]byte) error {
	if sub := sieve.Sub(below.path); sub != nil {
		return w.listOpen(below, sub, w.ctx.Err(), scratch)
	}
	w.push(task{in: below, path: below.path})
	return nil
}

// wasRemoved reports whether err says that a directory was removed or replaced
// after its parent was listed, which is no error of a search.
func wasRemoved(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrNotDir) || errors.Is(err, workspace.ErrSymlink)
}

// skip adds the directory in to the result as skipped, unless the page before
// listed it.
func (w *treeSearch) skip(in *dirState, reason workspace.SkipReason, err error) {
	if w.begin == "" || in.path > w.begin {
		w.found.add(outcome{path: in.path, skipped: reason, err: err})
	}
}

// wantsUnnamed reports whether the search would look into child if it had a
// valid name. A directory without one counts, as nobody knows what is in it.
func (w *treeSearch) wantsUnnamed(in *dirState, child Child) bool {
	return child.Type == UnnamedDirectory && in.shows(child.Name, true) ||
		child.Type == UnnamedFile && w.search.filter.wants(in, child.Name) && in.shows(child.Name, false)
}

// wantsFile reports whether to search the file name of in: it is not before the
// position where the page starts, the filters let it through, and it is not hidden.
func (w *treeSearch) wantsFile(in *dirState, name string) bool {
	return (w.begin == "" || in.join(name) >= w.begin) && w.search.filter.wants(in, name) && in.shows(name, false)
}

// wantsAll reports whether wantsFile returns true for every name, and none is ignored.
func (w *treeSearch) wantsAll(in *dirState) bool {
	only := w.search.filter
	return w.begin == "" && !w.gitignore && only.include == nil && only.exclude == nil && in.hides == nil
}

// enqueue adds tasks for files of in.
func (w *treeSearch) enqueue(in *dirState, files []string) {
	for some := range slices.Chunk(files, w.chunk) {
		w.push(task{in: in, files: some, path: in.join(some[0])})
	}
}

// maxTasks is how many files that a walk has found wait for a worker before the
// walk stops to search some of them itself. So a walk that is faster than the
// searches does not fill the memory.
const maxTasks = 4096

// walkDir adds a task for each file below in as the source lists them. It stops
// once the collector wants no more.
func (w *treeSearch) walkDir(walker Walker, in *dirState, scratch *[]byte) error {
	err := w.flatWalk(walker, in, pathBefore(w.begin), func(in *dirState, info workspace.FileInfo) error {
		switch {
		case !w.found.wants(info.Path):
			return fs.SkipAll
		case info.Type != workspace.TypeFile || !w.wantsFile(in, info.Name):
			return nil
		}
		w.push(task{in: in, files: []string{info.Name}, known: &info, path: info.Path})
		return w.helpOut(scratch)
	})
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

// pathBefore returns a path that is less than path, for a walk that includes
// path itself.
func pathBefore(path string) string {
	_, size := utf8.DecodeLastRuneInString(path)
	return path[:len(path)-size]
}

// helpOut searches files while too many of them wait.
func (w *treeSearch) helpOut(scratch *[]byte) error {
	for {
		w.mu.Lock()
		if len(w.tasks) <= maxTasks || w.err != nil {
			defer w.mu.Unlock()
			return w.err
		}
		t := *heap.Pop(&w.tasks).(*task)
		w.mu.Unlock()
		if err := w.do(t, scratch); err != nil {
			return err
		}
	}
}

// manyFiles is how many files of a directory are worth opening it once more.
const manyFiles = 4

// searchTask searches the files of t, whose directory has been listed.
func (w *treeSearch) searchTask(t task, scratch *[]byte) error {
	if opener, ok := w.src.(Opener); ok && len(t.files) >= manyFiles {
		if dir, err := opener.OpenDir(t.in.path, t.in.top); err == nil {
			defer dir.Close()
			return w.searchFiles(t, dir, scratch)
		} // and otherwise the error is that of each file
	}
	return w.searchFiles(t, w.src, scratch)
}

// searchFiles searches the files of t in src.
func (w *treeSearch) searchFiles(t task, src reader, scratch *[]byte) error {
	var numbers []int
	for _, name := range t.files {
		path := t.in.join(name)
		if !w.found.wants(path) {
			return nil
		}
		o := w.search.file(w.ctx, src, path, scratch, &numbers, ReadOptions{Known: t.known})
		if errors.Is(o.err, workspace.ErrUnavailable) {
			return o.err // the store's fault, not the file's
		}
		if err := w.ctx.Err(); err != nil { // perhaps in the middle of the file
			return err
		}
		w.found.add(o)
	}
	return nil
}
