package localbash

import (
	"iter"
	"path"

	"github.com/workspacekit/workspacekit/workspace"
)

// known is what a watch knows to exist, by names relative to the watched
// directory. It tells a new name from a replaced one, and what disappears with
// a directory.
type known struct {
	entries  map[string]entry
	children map[string]map[string]bool // the names in each directory
	byID     map[fileID]string          // the directories
}

// entry is one name.
type entry struct {
	kind workspace.FileType
	id   fileID
}

// fileID is what the operating system knows a file by; zero if it does not
// say.
type fileID struct{ device, inode uint64 }

func newKnown() *known {
	return &known{
		entries:  map[string]entry{},
		children: map[string]map[string]bool{},
		byID:     map[fileID]string{},
	}
}

// has reports whether name is known.
func (k *known) has(name string) bool {
	_, ok := k.entries[name]
	return ok
}

// set makes name known.
func (k *known) set(name string, e entry) {
	k.entries[name] = e
	if e.kind == workspace.TypeDirectory {
		k.children[name] = map[string]bool{}
		if e.id != (fileID{}) {
			k.byID[e.id] = name
		}
	}
	if parent := k.children[path.Dir(name)]; name != "." && parent != nil {
		parent[path.Base(name)] = true
	}
}

// forget makes name unknown, which has no children any more.
func (k *known) forget(name string) {
	e := k.entries[name]
	if k.byID[e.id] == name {
		delete(k.byID, e.id)
	}
	delete(k.entries, name)
	delete(k.children, name)
	delete(k.children[path.Dir(name)], path.Base(name))
}

// below returns what is known below name, each after its own children.
func (k *known) below(name string) []string {
	var names []string
	for base := range k.children[name] {
		child := workspace.Join(name, base)
		names = append(names, k.below(child)...)
		names = append(names, child)
	}
	return names
}

// dirs returns the directories.
func (k *known) dirs() iter.Seq2[string, entry] {
	return func(yield func(string, entry) bool) {
		for name := range k.children {
			if !yield(name, k.entries[name]) {
				return
			}
		}
	}
}
