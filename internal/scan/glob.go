package scan

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Glob is [workspace.FileSystem].Glob over src without what is hidden.
func Glob(ctx context.Context, src Source, pattern string, opts *workspace.GlobOptions, hidden Hidden) ([]string, error) {
	var o workspace.GlobOptions
	if opts != nil {
		o = *opts
	}
	if o.Dir == "" {
		o.Dir = "."
	}
	if err := ops.Check(ctx, ops.Glob, o.Dir); err != nil {
		return nil, err
	}
	if err := CheckGlob(pattern, o); err != nil {
		return nil, err
	}
	compiled, err := glob.Compile(pattern)
	if err != nil {
		return nil, ops.Error(ops.Glob, pattern, nil, err)
	}
	g := &globber{
		dirReader: dirReader{ctx: ctx, src: src, pattern: compiled, begin: o.After, gitignore: o.Gitignore, hidden: hidden},
		limit:     o.Limit, paths: []string{},
	}
	err = g.run(o.Dir)
	switch {
	case err == nil, errors.Is(err, fs.SkipAll):
		return g.paths, nil
	case ctx.Err() != nil:
		return nil, ops.Error(ops.Glob, o.Dir, ctx.Err(), nil)
	}
	return nil, ops.Rename(err, ops.Glob, o.Dir)
}

// CheckGlob returns the [fs.ErrInvalid] error of options that no search can
// honour.
func CheckGlob(pattern string, o workspace.GlobOptions) error {
	if o.Limit < 0 {
		return ops.Error(ops.Glob, pattern, fs.ErrInvalid, errors.New("negative limit"))
	}
	return nil
}

// globber is one Glob. There are three ways through a tree: list takes it directory by
// directory, globTree several directories of an [Opener] at a time, and tree asks a
// [Walker] for less. All find the same paths in the same order.
type globber struct {
	dirReader
	limit int
	paths []string // the result

	walker Walker                   // nil for a source that lists directories alone
	search func(in *dirState) error // list or tree: searches the directory in
}

// run searches the directory dir. The error of dir itself is the error of the
// Glob; directories below that cannot be read are left out.
func (g *globber) run(dir string) error {
	top, err := g.top(dir)
	if err != nil {
		return err
	}
	walker, ok := g.src.(Walker)
	if _, opens := g.src.(Opener); opens && !ok {
		return g.sideBySide(top)
	}
	if !ok {
		g.search = g.list
		return g.list(top)
	}
	g.walker, g.search = walker, g.tree
	err = g.tree(top)
	if _, spelled := top.match.Literal(); !spelled || !isMissing(err) {
		return err
	}
	if dir == "." && errors.Is(err, fs.ErrNotExist) {
		return nil // the source has answered, so it has a root
	}
	return g.checkDir(dir) // what is missing was a name in it
}

// checkDir returns the error of a directory that does not exist or is none.
func (g *globber) checkDir(dir string) error {
	kind, err := g.src.Stat(g.ctx, dir)
	if err == nil && kind != workspace.TypeDirectory {
		err = ops.Error(ops.Stat, dir, workspace.ErrNotDir, nil)
	}
	return err
}

// isMissing reports whether err says that a directory does not exist, is none,
// may not be read, or has a name that nothing can have. A search passes it by.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, workspace.ErrNotDir) || errors.Is(err, fs.ErrPermission)
}

// visit adds a child of in to the result if the pattern matches it. It returns
// [fs.SkipAll] once the result has reached the limit.
func (g *globber) visit(in *dirState, child Child) error {
	if path, ok := g.matched(in, child); ok {
		g.paths = append(g.paths, path)
		if len(g.paths) == g.limit {
			return fs.SkipAll
		}
	}
	return nil
}

// matched returns the path of a child of in if it belongs to the result.
func (g *globber) matched(in *dirState, child Child) (path string, ok bool) {
	if !g.wants(child.Type) || !in.match.Match(child.Name) {
		return "", false
	}
	path = in.join(child.Name)
	return path, path > g.begin && in.shows(child.Name, child.Type == workspace.TypeDirectory)
}

// wants reports whether something of type t is in the result: directories if
// the pattern ends in a slash, and else files and symlinks.
func (g *globber) wants(t workspace.FileType) bool {
	if g.pattern.Dirs() {
		return t == workspace.TypeDirectory
	}
	return t == workspace.TypeFile || t == workspace.TypeSymlink
}

// list visits the children of the directory in, and what is below them, in
// bytewise order of paths. The children of a directory "a" come after its
// sibling "a-b", because "/" is greater than "-". So a directory waits in
// pending until a sibling is greater than its name with a slash. For the
// children a, a-b, a.go, a0 and b, where a and a-b are directories:
//
//	sibling   pending   visited
//	a         -         a
//	a-b       a         a-b               "a/" is greater than "a-b", so a waits
//	a.go      a, a-b    a-b/..., a.go     "a-b/" is less than "a.go", and "a/" is greater
//	a0        a         a/..., a0         "a/" is less than "a0"
//	b         -         b
//
// pending is a stack, as the name of each directory that waits begins with the
// name of the one below it on the stack.
func (g *globber) list(in *dirState) error {
	children, err := g.children(in)
	if err != nil {
		return err
	}
	var pending []Child
	for _, child := range sorted(children) {
		if pending, err = g.descend(in, pending, child.Name); err != nil {
			return err
		}
		if err := g.visit(in, child); err != nil {
			return err
		}
		if child.Type == workspace.TypeDirectory {
			pending = append(pending, child)
		}
	}
	_, err = g.descend(in, pending, "")
	return err
}

// children opens and lists the directory in. One that cannot be read has none, unless
// the search begins there or the store is at fault.
func (g *globber) children(in *dirState) ([]Child, error) {
	dir, err := g.openDir(in)
	if err == nil {
		defer dir.Close()
	}
	return g.childrenOf(in, dir, err)
}

// childrenOf is children for a directory that is open, or cannot be opened because of err.
func (g *globber) childrenOf(in *dirState, dir Dir, err error) ([]Child, error) {
	var children []Child
	if err == nil {
		children, err = g.dirReader.list(in, dir)
	}
	if err != nil && !in.top && g.ctx.Err() == nil && !errors.Is(err, workspace.ErrUnavailable) {
		return nil, nil
	}
	return children, err
}

// globTree lists several directories at a time.
type globTree struct {
	workers
	glob *globber
	last atomic.Pointer[string] // the last path that can be part of the result; nil if that is not known

	found sync.Mutex // guards the paths of glob, which are not sorted
}

// sideBySide searches the directory top with several workers.
func (g *globber) sideBySide(top *dirState) error {
	t := &globTree{glob: g}
	t.do = t.listDir
	if err := t.run(task{in: top, path: top.path}, localWorkers()); err != nil {
		return err
	}
	slices.Sort(g.paths)
	if g.limit > 0 && len(g.paths) > g.limit {
		g.paths = g.paths[:g.limit]
	}
	return nil
}

// listDir adds the children of a directory that belong to the result, and a task for each
// directory in it.
func (t *globTree) listDir(k task, _ *[]byte) error {
	if last := t.last.Load(); last != nil && k.path > *last {
		return nil
	}
	if k.part.tree != nil {
		t.add(t.listPart(k))
		return t.glob.ctx.Err()
	}
	dir, err := t.glob.openDir(k.in)
	if err == nil {
		defer dir.Close()
	}
	paths, err := t.listOpen(nil, k.in, dir, err)
	t.add(paths)
	return err
}

// listOpen lists a directory that is open, or cannot be opened because of err, and appends
// what belongs to the result to paths. What is below a [Sieve] takes less time than a task, so
// it is done at once if there is no limit.
func (t *globTree) listOpen(paths []string, in *dirState, dir Dir, err error) ([]string, error) {
	children, err := t.glob.childrenOf(in, dir, err)
	if tree, ok := dir.(Tree); ok && err == nil && t.glob.begin == "" && !t.glob.gitignore && in.hides == nil {
		for _, part := range partsOf(tree, in) {
			t.push(part)
		}
		return paths, nil
	}
	sieve, _ := dir.(Sieve)
	for _, child := range children {
		if path, ok := t.glob.matched(in, child); ok {
			paths = append(paths, path)
		}
		if child.Type != workspace.TypeDirectory {
			continue
		}
		below := t.glob.enter(in, child.Name)
		if below == nil {
			continue
		}
		if sieve != nil && t.glob.limit == 0 && !in.top {
			if sub := sieve.Sub(below.path); sub != nil {
				if paths, err = t.listOpen(paths, below, sub, t.glob.ctx.Err()); err != nil {
					return paths, err
				}
				continue
			}
		}
		t.push(task{in: below, path: below.path})
	}
	return paths, err
}

// listPart returns what belongs to the result of some directories of a Tree in which nothing
// is hidden or ignored, and adds tasks for those that are not known.
func (t *globTree) listPart(k task) (paths []string) {
	tree, begin, end := k.part.tree, k.part.begin, k.part.end
	var in dirState // the directory whose children are visited
	visit := func(child Child) bool {
		if path, ok := t.glob.matched(&in, child); ok {
			paths = append(paths, path)
		}
		return true
	}
	var list func(n int, match glob.State)
	list = func(n int, match glob.State) {
		path, after, known := tree.Dir(n)
		if !known {
			t.push(task{in: &dirState{path: path, match: match}, path: path})
			return
		}
		if n >= begin { // otherwise it belongs to a part before
			in = dirState{path: path, match: match}
			tree.Children(n, visit)
		}
		for n++; n < min(after, end); {
			sub, next, _ := tree.Dir(n)
			if next > begin {
				if below := match.Enter(relative(sub, path)); !below.Empty() {
					list(n, below)
				}
			}
			n = next
		}
	}
	list(0, k.in.match)
	return paths
}

// add adds paths to the result. What is beyond a limit is dropped when there is much of it.
func (t *globTree) add(paths []string) {
	t.found.Lock()
	defer t.found.Unlock()
	all, limit := append(t.glob.paths, paths...), t.glob.limit
	if limit > 0 && (t.last.Load() == nil && len(all) >= limit || len(all)/4 >= limit) {
		slices.Sort(all)
		all = all[:limit]
		last := all[limit-1]
		t.last.Store(&last)
	}
	t.glob.paths = all
}

// descend searches the directories on top of pending whose children come before
// the sibling next, all of them if next is empty. It returns those that still
// wait.
func (g *globber) descend(in *dirState, pending []Child, next string) ([]Child, error) {
	for len(pending) > 0 {
		name := pending[len(pending)-1].Name
		if next != "" && strings.HasPrefix(next, name) && next[len(name)] < '/' {
			return pending, nil
		}
		pending = pending[:len(pending)-1]
		child := g.enter(in, name)
		if child == nil {
			continue
		}
		if err := g.search(child); err != nil && !isMissing(err) {
			return pending, err
		}
	}
	return pending, nil
}

// tree visits what is below in with as few requests as possible:
//   - a name that the pattern spells out is asked for by itself;
//   - below it, one listing of all there is if the pattern can match at any
//     depth;
//   - otherwise directory by directory, so that nothing is listed that is too
//     deep for the pattern.
//
// The patterns src/*.go, src/**/*.go and */test/** list the directory src, the
// tree src, and the root and then each tree */test.
func (g *globber) tree(in *dirState) error {
	in, err := g.skipLiterals(in)
	if err != nil {
		return err
	}
	if name, ok := in.match.Literal(); ok {
		return g.named(in, name)
	}
	if !in.match.Deep() {
		return g.list(in)
	}
	return g.flatWalk(g.walker, in, g.begin, func(in *dirState, info workspace.FileInfo) error {
		return g.visit(in, Child{Name: info.Name, Type: info.Type})
	})
}

// skipLiterals goes down from in, without a request, while the pattern spells
// out a directory that it does not match itself.
func (g *globber) skipLiterals(in *dirState) (*dirState, error) {
	for {
		name, ok := in.match.Literal()
		if !ok || in.match.Match(name) {
			return in, nil
		}
		if err := g.readRules(in, true); err != nil {
			return nil, err
		}
		child := g.enter(in, name)
		if child == nil || g.ignored(in, name, true) {
			return nil, workspace.ErrNotDir // a directory that is left out is as good as none
		}
		child.top = in.top
		in = child
	}
}

// named visits the child name of in, which is the only one that can match, and
// what is below it. It fails with an error that [isMissing] if there is nothing.
func (g *globber) named(in *dirState, name string) error {
	if err := g.readRules(in, true); err != nil {
		return err
	}
	if !in.shows(name, true) && !in.shows(name, false) {
		return workspace.ErrNotDir // nothing is asked about a hidden name, so in may be a file
	}
	child := g.enter(in, name)
	if child != nil && !g.pattern.Dirs() && !g.ignored(in, name, true) {
		// A directory does not match itself, so what is below it is asked for
		// at once; only a file turns out to be none, or has no child of the name
		// that is spelled out.
		err := g.tree(child)
		_, spelled := child.match.Literal()
		if !errors.Is(err, workspace.ErrNotDir) && !(spelled && errors.Is(err, fs.ErrNotExist)) {
			return err
		}
		child = nil
	}
	kind, err := g.walker.Lookup(g.ctx, in.join(name))
	if err != nil || g.ignored(in, name, kind == workspace.TypeDirectory) {
		return err
	}
	if err := g.visit(in, Child{Name: name, Type: kind}); err != nil || child == nil || kind != workspace.TypeDirectory {
		return err
	}
	return g.tree(child)
}
