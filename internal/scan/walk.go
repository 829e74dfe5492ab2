package scan

import (
	"errors"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// walk visits a tree in bytewise order of paths.
type walk struct {
	explorer
	visit func(in *folder, child Child) error
	// unsure says that a name was asked for that is not there: nor may be the
	// directory that it was asked for in.
	unsure bool
}

// run visits what is below dir. Directories that cannot be listed are passed
// by, except dir itself.
func (w *walk) run(dir string) error {
	top, err := w.top(dir)
	if err != nil {
		return err
	}
	walker, ok := w.walker()
	if !ok {
		return w.list(top)
	}
	in, err := w.literal(top)
	if err != nil {
		return err
	}
	if in != nil {
		in.top = true
		err := w.tree(walker, in)
		if in != top && notThere(err) {
			return w.checkTop(dir)
		}
		if err != nil || !w.unsure {
			return err
		}
	}
	return w.checkTop(dir)
}

// checkTop returns the error of a dir that need not have been looked at.
func (w *walk) checkTop(dir string) error {
	kind, err := w.src.Stat(w.ctx, dir)
	if err == nil && kind != workspace.TypeDirectory {
		err = workspace.NewPathError(workspace.OpStat, dir, workspace.ErrNotDir, nil)
	}
	return err
}

// tree visits what is below in: in one listing if the pattern can match at any
// depth, and otherwise directory by directory, so as not to list what is too
// deep for it. A name that the pattern spells out is asked for by itself.
func (w *walk) tree(walker Walker, in *folder) error {
	if name, ok := in.match.Literal(); ok {
		return w.named(in, name)
	}
	if !in.match.Deep() {
		return w.list(in)
	}
	return w.flat(walker, in, w.begin, func(in *folder, info workspace.FileInfo) error {
		return w.visit(in, Child{Name: info.Name, Type: info.Type})
	})
}

// named visits the child name of in, and what is below it.
func (w *walk) named(in *folder, name string) error {
	if err := w.openRules(in); err != nil {
		return err
	}
	child := w.enter(in, name)
	if child != nil && !w.pattern.Dirs() && !w.ignored(in, name, true) {
		// If it is a directory, it is not wanted itself, and need not be asked
		// for.
		if err := w.inside(child); !errors.Is(err, workspace.ErrNotDir) {
			return w.unseen(in, err)
		}
		child = nil
	}
	kind, err := w.src.Stat(w.ctx, in.join(name))
	if err != nil {
		return w.unseen(in, err)
	}
	if w.ignored(in, name, kind == workspace.TypeDirectory) {
		return nil
	}
	if err := w.visit(in, Child{Name: name, Type: kind}); err != nil || child == nil || kind != workspace.TypeDirectory {
		return err
	}
	return w.unseen(child, w.inside(child))
}

// unseen passes by what is not there. If that leaves the directory where the
// walk begins unseen, it may not be there either.
func (w *walk) unseen(in *folder, err error) error {
	if notThere(err) {
		w.unsure = w.unsure || in.top
		return nil
	}
	return err
}

// inside visits what is below in, which may not be there.
func (w *walk) inside(in *folder) error {
	walker, ok := w.walker()
	if !ok {
		return w.list(in)
	}
	in, err := w.literal(in)
	if err != nil || in == nil {
		return err
	}
	return w.tree(walker, in)
}

// list visits the children of the directory in. The children of a directory
// "a" come after its sibling "a-b", because "/" is greater than "-": a
// directory that has been visited waits in pending until a sibling is greater
// than it with its slash. What waits is a stack, as each of them begins with
// the one before.
func (w *walk) list(in *folder) error {
	children, err := w.open(in)
	if err != nil {
		return w.unlisted(in, err)
	}
	var pending []Child
	for _, child := range children {
		if pending, err = w.descend(in, pending, child.Name); err != nil {
			return err
		}
		if err := w.visit(in, child); err != nil {
			return err
		}
		if child.Type == workspace.TypeDirectory {
			pending = append(pending, child)
		}
	}
	_, err = w.descend(in, pending, "")
	return err
}

func (w *walk) unlisted(in *folder, err error) error {
	if in.top || w.ctx.Err() != nil || errors.Is(err, workspace.ErrUnavailable) {
		return err
	}
	return nil
}

// descend enters the directories on top of pending whose children come before
// the sibling next, all of them if next is empty.
func (w *walk) descend(in *folder, pending []Child, next string) ([]Child, error) {
	for len(pending) > 0 {
		name := pending[len(pending)-1].Name
		if next != "" && strings.HasPrefix(next, name) && next[len(name)] < '/' {
			return pending, nil
		}
		pending = pending[:len(pending)-1]
		child := w.enter(in, name)
		if child == nil {
			continue
		}
		if err := w.unseen(child, w.inside(child)); err != nil {
			return pending, err
		}
	}
	return pending, nil
}
