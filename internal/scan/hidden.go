package scan

import (
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// Hidden says which names a search leaves out, as [fallback.Hider] describes it.
// Nil hides nothing.
type Hidden func(dir string) func(name string, isDir bool) bool

// Either hides what a or b hides.
func Either(a, b Hidden) Hidden {
	if a == nil || b == nil {
		return firstOf(a, b)
	}
	return func(dir string) func(name string, isDir bool) bool {
		inA, inB := a(dir), b(dir)
		if inA == nil || inB == nil {
			return firstOf(inA, inB)
		}
		return func(name string, isDir bool) bool { return inA(name, isDir) || inB(name, isDir) }
	}
}

// firstOf returns the one of two functions that is not nil.
func firstOf[F Hidden | func(name string, isDir bool) bool](a, b F) F {
	if a == nil {
		return b
	}
	return a
}

// Searcher is a store of this module that is searched by the engine. Package
// provider asks it instead of a Globber and a Grepper, because it can hide names
// from the engine.
type Searcher interface {
	// GlobSource returns the tree for one Glob.
	GlobSource(pattern string, opts workspace.GlobOptions) Source
	// GrepSource returns the tree for one Grep, and the workers for it. The
	// engine asks for no hidden name; a source that reads ahead needs hidden so
	// that it does not either.
	GrepSource(pattern string, opts workspace.GrepOptions, hidden Hidden) (src Source, workers int)
}

// Names tells which paths of a listing are hidden, the paths below a hidden
// directory included. It is fast if the paths of a directory follow each other,
// and not safe for concurrent use.
//
// It keeps the directories on the way to the last path open. With "keys" hidden:
//
//	path       open directories     hidden
//	a/b/x      ., a, a/b            no
//	a/c        ., a                 no
//	keys       ., a                 yes, by the test of "."
//	keys/d/k   ., keys              yes, as keys is
type Names struct {
	hidden Hidden
	open   []openDir
}

// openDir is a directory on the way to the last path.
type openDir struct {
	path string
	test func(name string, isDir bool) bool // nil if nothing in it is hidden
	out  bool                               // it is hidden itself, and so is all below it
}

// hides reports whether the child name of the directory is hidden.
func (d openDir) hides(name string, isDir bool) bool {
	return d.out || d.test != nil && d.test(name, isDir)
}

// NewNames returns the Names for a listing of the directory top. Top itself is
// not hidden.
func NewNames(hidden Hidden, top string) *Names {
	n := &Names{hidden: hidden}
	if hidden != nil {
		n.open = []openDir{{path: top, test: hidden(top)}}
	}
	return n
}

// Hides reports whether path, which is below top, is hidden.
func (n *Names) Hides(path string, isDir bool) bool {
	if n.hidden == nil {
		return false
	}
	for len(n.open) > 1 && !isBelow(path, n.open[len(n.open)-1].path) {
		n.open = n.open[:len(n.open)-1]
	}
	for {
		in := n.open[len(n.open)-1]
		name, _, deeper := strings.Cut(relative(path, in.path), "/")
		if !deeper || in.out {
			return in.hides(name, isDir)
		}
		dir := openDir{path: workspace.Join(in.path, name), out: in.hides(name, true)}
		if !dir.out && in.test != nil {
			dir.test = n.hidden(dir.path)
		}
		n.open = append(n.open, dir)
	}
}

// WalkFunc returns the function for a walk of the directory top that calls fn for
// what is not hidden.
func (h Hidden) WalkFunc(top string, fn workspace.WalkFunc) workspace.WalkFunc {
	if h == nil {
		return fn
	}
	names := NewNames(h, top)
	return func(info workspace.FileInfo, err error) error {
		switch {
		case !names.Hides(info.Path, info.IsDir()):
			return fn(info, err)
		case info.IsDir():
			return fs.SkipDir
		}
		return nil
	}
}
