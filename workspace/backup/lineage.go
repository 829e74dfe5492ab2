package backup

import (
	"slices"

	"github.com/workspacekit/workspacekit/workspace"
)

// lineage knows which versions of a file stand for the same bytes. A file that an undo
// brings back has the bytes that it had, and often another version, while older changes
// know it by the version that it had:
//
//	7  move a -> b         left b with the version v1
//	8  rm b                removed the version v1
//	9  write b, undoes 8   left b with the version v2
//
// An undo of 7 finds v2 where 7 left v1, and has to know that they are the same: what an
// undo leaves is what the change that it undoes began with. It finds that out with the
// hash, too, which some changes know and some do not. An undo that passes over a write whose
// bytes were not kept equates them, too.
type lineage struct {
	first  map[fileVersion]fileVersion // from a version to another one with the same bytes
	hashes map[fileVersion]string      // by the version that has no other
}

// fileVersion is a version of a file.
type fileVersion struct {
	path    string
	version workspace.Version
}

// newLineage returns what the changes all say, which byNumber has by their numbers.
func newLineage(all []*Change, byNumber map[int64]*Change) *lineage {
	l := &lineage{first: map[fileVersion]fileVersion{}, hashes: map[fileVersion]string{}}
	for _, c := range all {
		for _, step := range c.Steps {
			l.learn(step.Path, step.Before)
			l.learn(step.Path, step.After)
		}
		undone := byNumber[c.Undoes]
		switch {
		case undone == nil || !c.Done:
		case len(c.Steps) == 0:
			l.pass(undone, all)
		default:
			l.join(undone.Steps, c.Steps)
		}
	}
	return l
}

// learn notes the hash of a version.
func (l *lineage) learn(path string, s State) {
	if s.Version != "" && s.SHA256 != "" {
		l.hashes[l.root(fileVersion{path, s.Version})] = s.SHA256
	}
}

// root returns the version that stands for all with the bytes of v.
func (l *lineage) root(v fileVersion) fileVersion {
	for {
		next, ok := l.first[v]
		if !ok {
			return v
		}
		v = next
	}
}

// join notes that the steps undo lead from where steps lead to where they begin.
func (l *lineage) join(steps, undo []Step) {
	byPath := map[string]Step{}
	for _, step := range steps {
		byPath[step.Path] = step
	}
	for _, back := range undo {
		if step, ok := byPath[back.Path]; ok {
			l.equate(back.Path, step.Before, back.After)
			l.equate(back.Path, step.After, back.Before)
		}
	}
}

// pass notes that an undo passes over c, one of the changes all: what it left counts as what
// it began with, if a change of the same session left that.
func (l *lineage) pass(c *Change, all []*Change) {
	for _, step := range c.Steps {
		for _, earlier := range slices.Backward(all) {
			writes := func(s Step) bool { return s.Path == step.Path }
			if earlier.Number >= c.Number || !slices.ContainsFunc(earlier.Steps, writes) {
				continue
			}
			if earlier.Session == c.Session {
				l.equate(step.Path, step.Before, step.After)
			}
			break
		}
	}
}

// equate notes that two states have the same bytes.
func (l *lineage) equate(path string, a, b State) {
	if a.Version == "" || b.Version == "" {
		return
	}
	older, newer := l.root(fileVersion{path, a.Version}), l.root(fileVersion{path, b.Version})
	if older == newer {
		return
	}
	l.first[newer] = older
	if hash := l.hashes[newer]; hash != "" {
		l.hashes[older] = hash
	}
}

// complete returns a state with its hash, if that is known about its version.
func (l *lineage) complete(path string, s State) State {
	if s.Version != "" && s.SHA256 == "" {
		s.SHA256 = l.hashes[l.root(fileVersion{path, s.Version})]
	}
	return s
}

// same reports whether two states of path are certainly the same.
func (l *lineage) same(path string, a, b State) bool {
	if a.same(b) {
		return true
	}
	if a.Type != workspace.TypeFile || b.Type != workspace.TypeFile || a.Version == "" || b.Version == "" {
		return false
	}
	return l.root(fileVersion{path, a.Version}) == l.root(fileVersion{path, b.Version})
}

// changed returns the calls of all that left a name as something else than it was before
// them, or may have. A transaction that failed did not: its last changes revert the others.
func (l *lineage) changed(all []*Change) map[string]bool {
	type name struct{ call, path string }
	changed, first, last := map[string]bool{}, map[name]State{}, map[name]State{}
	for _, c := range all {
		if c.Undoes != 0 || c.Call == "" {
			continue
		}
		changed[c.Call] = changed[c.Call] || !c.Done
		for _, step := range c.Steps {
			at := name{c.Call, step.Path}
			if _, ok := first[at]; !ok {
				first[at] = step.Before
			}
			last[at] = step.After
		}
	}
	for at, before := range first {
		if !l.same(at.path, l.complete(at.path, before), l.complete(at.path, last[at])) {
			changed[at.call] = true
		}
	}
	return changed
}
