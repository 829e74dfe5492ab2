package glob

import (
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// trie is where the alternatives of a pattern are collected: those that begin
// with the same elements share their nodes.
type trie struct{ nodes int }

// node stands for the elements of a pattern that lead to it.
type node struct {
	id   int
	end  bool             // an alternative ends here
	deep bool             // its last element is "**": every name leads back to it
	any  *node            // behind a "**" element
	next map[string]*link // by the text of the segment; until finish
	all  []*link          // next, in order of insertion

	accepts bool  // a path that leads here matches
	finals  links // to nodes that accept
	inner   links // to nodes with something behind them
	below   *set  // the nodes that a path which leads here may go on from
}

// link leads to a node by the names that a segment matches.
type link struct {
	segment
	to *node
}

func (t *trie) node() *node {
	t.nodes++
	return &node{id: t.nodes}
}

// insert adds an alternative to the trie that begins at n.
func (t *trie) insert(n *node, text string) error {
	if strings.HasPrefix(text, "/") {
		return errAbsolute()
	}
	elements := split(text)
	if slices.ContainsFunc(elements, isLiteral("..")) {
		return workspace.ErrEscape
	}
	if slices.ContainsFunc(elements, isLiteral("")) {
		return invalid("an element of it is empty, and no name has one: " +
			"it has two slashes in a row, or an alternative that is empty or ends in a slash")
	}
	if slices.ContainsFunc(elements, isLiteral(".")) {
		return invalid(`it has a "." element, and no name has one; leave the element out`)
	}
	for _, element := range elements {
		n = t.child(n, element)
	}
	n.end = true
	return nil
}

// isLiteral returns a function that reports whether an element is name, with
// or without escapes.
func isLiteral(name string) func(element string) bool {
	return func(element string) bool {
		s := newSegment(element)
		return s.kind == literal && s.prefix == name
	}
}

// child returns the node behind n and element.
func (t *trie) child(n *node, element string) *node {
	if element == "**" {
		return t.anyChild(n)
	}
	s := newSegment(element)
	if known, ok := n.next[s.text]; ok {
		return known.to
	}
	if n.next == nil {
		n.next = make(map[string]*link)
	}
	added := &link{s, t.node()}
	n.next[s.text] = added
	n.all = append(n.all, added)
	return added.to
}

// anyChild returns the node behind n and "**". Several in a row are as one.
func (t *trie) anyChild(n *node) *node {
	if n.deep {
		return n
	}
	if n.any == nil {
		n.any = t.node()
		n.any.deep = true
	}
	return n.any
}

// split returns the elements of text.
func split(text string) []string {
	var elements []string
	start := 0
	for i := 0; i < len(text); i += termLen(text[i:]) {
		if text[i] == '/' {
			elements = append(elements, text[start:i])
			start = i + 1
		}
	}
	return append(elements, text[start:])
}

// finish prepares n and all behind it for matching.
func (n *node) finish() {
	n.accepts = n.end || n.any != nil && n.any.end
	if n.any != nil {
		n.any.finish()
	}
	for _, l := range n.all {
		l.to.finish()
		if l.to.accepts {
			n.finals.tested = append(n.finals.tested, l)
		}
		if l.to.below != nil {
			n.inner.tested = append(n.inner.tested, l)
		}
	}
	n.next = nil
	n.finals.index()
	n.inner.index()
	n.below = newSet(n.behind(nil))
}

// behind appends the nodes that a path which leads to n may go on from.
func (n *node) behind(nodes []*node) []*node {
	if n.deep || len(n.all) > 0 {
		nodes = append(nodes, n)
	}
	if n.any != nil {
		nodes = append(nodes, n.any)
	}
	return nodes
}

// minIndexed is the number of literal names from which a map is faster than
// comparing each.
const minIndexed = 8

// links are tested against the names of a directory.
type links struct {
	byName map[string]*node
	tested []*link
}

// index moves literal names to the map if they are many.
func (l *links) index() {
	names := make(map[string]*node)
	var rest []*link
	for _, candidate := range l.tested {
		if candidate.kind == literal {
			names[candidate.prefix] = candidate.to
		} else {
			rest = append(rest, candidate)
		}
	}
	if len(names) >= minIndexed {
		l.byName, l.tested = names, rest
	}
}

func (l *links) match(name string) bool {
	if l.byName[name] != nil {
		return true
	}
	for _, candidate := range l.tested {
		if candidate.match(name) {
			return true
		}
	}
	return false
}

// follow appends the nodes that name leads to.
func (l *links) follow(nodes []*node, name string) []*node {
	if to := l.byName[name]; to != nil {
		nodes = append(nodes, to)
	}
	for _, candidate := range l.tested {
		if candidate.match(name) {
			nodes = append(nodes, candidate.to)
		}
	}
	return nodes
}
