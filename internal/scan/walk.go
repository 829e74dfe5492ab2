package scan

import (
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// walk visits a tree in bytewise order of paths.
type walk struct {
	explorer
	visit func(in *folder, child Child) error
}

// run visits what is below dir. Directories that cannot be listed are passed
// by, except dir itself.
func (w *walk) run(dir string) error {
	top, err := w.top(dir)
	if err != nil {
		return err
	}
	return w.list(top)
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
	if in.top || w.ctx.Err() != nil {
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
		if err := w.list(child); err != nil {
			return pending, err
		}
	}
	return pending, nil
}
