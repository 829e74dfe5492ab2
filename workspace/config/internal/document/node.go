package document

import (
	"slices"
	"strconv"
	"strings"
)

// Kind is what a [Node] is.
type Kind int

// The kinds of nodes.
const (
	Broken Kind = iota // something was wrong with it, and has been said
	Null
	Text
	Bool
	Int
	Float
	List
	Map
)

// Node is a value of a file. An alias stands for the very Node that it repeats, with the place
// of that one, so a Node can be in several lists and mappings.
type Node struct {
	Kind    Kind
	At      Position
	Text    string     // of a scalar, with Variables replaced
	Raw     string     // of a scalar, as the file spells it
	Used    []Variable // that Raw names
	Coded   bool       // the file has a character of Text by its number, such as \x07
	Items   []*Node    // of a List
	Entries []Entry    // of a Map; of a key that is there twice, the first

	needed bool // it must not be left out
}

// Position is a place in a file. Lines and columns (in characters) count from
// 1; the zero Position is the file as a whole.
type Position struct{ Line, Column int }

// Entry is a key of a Map and its value.
type Entry struct {
	Key   string
	At    Position
	Value *Node
}

// Needed returns n as a value that must not be left out. No error about it advises to remove it.
func (n *Node) Needed() *Node {
	if n.Kind != Null {
		return n
	}
	needed := *n // as an alias may repeat n where it can be left out
	needed.needed = true
	return &needed
}

// Lookup returns the value of key, nil if there is none. A node that is no Map has no keys.
func (n *Node) Lookup(key string) *Node {
	for _, e := range n.Entries {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}

// maxValue is how many characters of a value an error shows.
const maxValue = 60

// Short returns text, cut to what an error shows of a value.
func Short(text string) string {
	if runes := []rune(text); len(runes) > maxValue {
		return string(runes[:maxValue]) + "..."
	}
	return text
}

// Variables returns the variables of the environment in n and all in it, each as often as it is
// there.
func (n *Node) Variables() []Variable {
	used := slices.Clip(n.Used)
	for _, child := range n.children() {
		used = append(used, child.Variables()...)
	}
	return used
}

// Uses returns the place of the first text in n that has the variable name.
func (n *Node) Uses(name string) (at Position, ok bool) {
	if slices.ContainsFunc(n.Used, func(v Variable) bool { return v.Name == name }) {
		return n.At, true
	}
	for _, child := range n.children() {
		if at, ok = child.Uses(name); ok {
			return at, true
		}
	}
	return Position{}, false
}

// HasBroken reports whether something was wrong with n or anything in it.
func (n *Node) HasBroken() bool {
	return n.Kind == Broken || slices.ContainsFunc(n.children(), (*Node).HasBroken)
}

// Find returns the place of what is at a path such as mounts[0].target, or the
// nearest to it that there is.
//
// With {mounts: [{source: .}]}, the path mounts[0].target has the place of the first mount, as
// that has no target.
func (n *Node) Find(path string) Position {
	at := n.At
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		index, err := strconv.Atoi(step)
		switch next := n.Lookup(step); {
		case next != nil:
			n = next
		case err == nil && 0 <= index && index < len(n.Items):
			n = n.Items[index]
		default:
			return at
		}
		at = n.At
	}
	return at
}

// size returns the number of nodes in n, or a number above limit if there are more than that.
// It stops there, as aliases of aliases can stand for more nodes than anybody can count.
func (n *Node) size(limit int) int {
	size := 1
	for _, child := range n.children() {
		if size > limit {
			break
		}
		size += child.size(limit - size)
	}
	return size
}

// children returns the items of a list or the values of a mapping.
func (n *Node) children() []*Node {
	children := slices.Clip(n.Items)
	for _, e := range n.Entries {
		children = append(children, e.Value)
	}
	return children
}
