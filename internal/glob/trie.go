package glob

import (
	"iter"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// trie collects the alternatives of a pattern. Alternatives that begin with the
// same elements share their nodes.
type trie struct{ nodes int }

// node stands for the elements of a pattern that lead to it.
type node struct {
	id   int
	end  bool             // an alternative ends here
	deep bool             // its last element is "**": every name leads back to it
	any  *node            // after a "**" element
	next map[string]*link // by the text of the segment; until finish
	all  []*link          // next, in order of insertion

	accepts bool  // a path that leads here matches
	finals  links // to nodes that accept
	inner   links // to nodes from which a path can continue
	below   *set  // the result of onward
}

// link leads to a node by the names that a segment matches.
type link struct {
	segment
	to *node
}

// node returns a new node and its number.
func (t *trie) node() *node {
	t.nodes++
	return &node{id: t.nodes}
}

// insert adds an alternative to the trie that begins at n.
func (t *trie) insert(n *node, text string) error {
	if strings.HasPrefix(text, "/") {
		return invalid("it stands for %.80q, which begins with a slash, and patterns are relative", text)
	}
	elements := split(text)
	segments := make([]segment, len(elements))
	for i, element := range elements {
		segments[i] = newSegment(element)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(segments, func(s segment) bool { return s.kind == literal && s.prefix == name })
	}
	switch {
	case has(".."):
		return workspace.ErrEscape
	case has(""):
		return invalid("an element of it is empty, and no name has one: " +
			"it has two slashes in a row, or an alternative that is empty or ends in a slash")
	case has("."):
		return invalid(`it has a "." element, and no name has one; leave the element out`)
	}
	for i, s := range segments {
		if elements[i] == "**" {
			n = t.anyChild(n)
		} else {
			n = t.child(n, s)
		}
	}
	n.end = true
	return nil
}

// child returns the node that a segment leads to from n.
func (t *trie) child(n *node, s segment) *node {
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

// anyChild returns the node that "**" leads to from n. Several in a row are as
// one.
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

// finish prepares n and all nodes after it for matching.
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
	n.below = newSet(n.onward(nil))
}

// onward appends the nodes from which a path that leads to n can continue.
func (n *node) onward(nodes []*node) []*node {
	if n.deep || len(n.all) > 0 {
		nodes = append(nodes, n)
	}
	if n.any != nil {
		nodes = append(nodes, n.any)
	}
	return nodes
}

// minIndexed is the number of literal names from which on a map is faster than
// one comparison for each, and of other segments from which on it pays to look at
// the letters of a name first.
const minIndexed = 8

// links are tested against the names of a directory.
type links struct {
	byName  map[string]*node
	tested  []*link
	letters []letters // of tested, side by side; nil if they are few
}

// index moves literal names to the map, and compares letters first, if they are many.
func (l *links) index() {
	if len(l.tested) < minIndexed {
		return
	}
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
	if len(l.tested) >= minIndexed {
		for _, candidate := range l.tested {
			l.letters = append(l.letters, candidate.letters)
		}
	}
}

// matching returns the links that accept name, apart from byName.
func (l *links) matching(name string) iter.Seq[*link] {
	return func(yield func(*link) bool) {
		if l.letters == nil {
			for _, candidate := range l.tested {
				if candidate.match(name) && !yield(candidate) {
					return
				}
			}
			return
		}
		has := lettersOf(name)
		for i, needs := range l.letters {
			if needs&^has == 0 && l.tested[i].match(name) && !yield(l.tested[i]) {
				return
			}
		}
	}
}

// match reports whether one of the links accepts name.
func (l *links) match(name string) bool {
	if l.byName[name] != nil {
		return true
	}
	for range l.matching(name) {
		return true
	}
	return false
}

// follow appends the nodes that name leads to.
func (l *links) follow(nodes []*node, name string) []*node {
	if to := l.byName[name]; to != nil {
		nodes = append(nodes, to)
	}
	for candidate := range l.matching(name) {
		nodes = append(nodes, candidate.to)
	}
	return nodes
}

// State is the rest of a pattern inside a directory. It is a value of one word.
// The zero State matches nothing.
type State struct{ set *set }

// Empty reports that nothing below the directory can match.
func (s State) Empty() bool { return s.set == nil }

// Match reports whether the pattern matches the child called name.
func (s State) Match(name string) bool {
	if s.set == nil {
		return false
	}
	for _, n := range s.set.nodes {
		if n.deep && n.end || n.finals.match(name) {
			return true
		}
	}
	return false
}

// Enter returns the state inside the child directory called name. It allocates
// only if that differs from s and no single element of the pattern led there.
func (s State) Enter(name string) State {
	if s.set == nil {
		return s
	}
	var buf [8]*node
	reached := buf[:0]
	for _, n := range s.set.nodes {
		reached = n.inner.follow(reached, name)
	}
	switch {
	case len(reached) == 0:
		return State{s.set.deep}
	case len(reached) == 1 && s.set.deep == nil:
		return State{reached[0].below}
	}
	return State{s.set.join(reached)}
}

// Deep reports whether the rest begins with "**", at least in one alternative,
// so that something can match in every directory below.
func (s State) Deep() bool { return s.set != nil && s.set.deep != nil }

// Literal returns the only name that can match in the directory or lead to a
// match below it. It returns false if there is no such name, or several.
func (s State) Literal() (name string, ok bool) {
	if s.set == nil || s.set.deep != nil {
		return "", false
	}
	for _, n := range s.set.nodes {
		if n.finals.byName != nil || n.inner.byName != nil {
			return "", false
		}
		for _, l := range slices.Concat(n.finals.tested, n.inner.tested) {
			if l.kind != literal || ok && l.prefix != name {
				return "", false
			}
			name, ok = l.prefix, true
		}
	}
	return name, ok
}

// set is the nodes that the elements of a directory's path lead to. It is
// never empty.
type set struct {
	nodes []*node // sorted by id
	deep  *set    // of the nodes that every name leads back to, nil if none
}

// newSet returns the set of nodes, nil if there are none.
func newSet(nodes []*node) *set {
	if len(nodes) == 0 {
		return nil
	}
	var deep []*node
	for _, n := range nodes {
		if n.deep {
			deep = append(deep, n)
		}
	}
	s := &set{nodes: nodes}
	if s.deep = s; len(deep) < len(nodes) {
		s.deep = newSet(deep)
	}
	return s
}

// join returns the set that s leads to by a name that leads to reached.
func (s *set) join(reached []*node) *set {
	var buf [16]*node
	nodes := buf[:0]
	if s.deep != nil {
		nodes = append(nodes, s.deep.nodes...)
	}
	for _, n := range reached {
		nodes = n.onward(nodes)
	}
	slices.SortFunc(nodes, func(a, b *node) int { return a.id - b.id })
	nodes = slices.Compact(nodes)
	switch {
	case slices.Equal(nodes, s.nodes):
		return s
	case s.deep != nil && len(nodes) == len(s.deep.nodes):
		return s.deep
	}
	return newSet(slices.Clone(nodes))
}
