package glob

import "slices"

// State is what is left of a pattern inside a directory. It is a value of one
// word. The zero State matches nothing.
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

// Deep reports whether what is left begins with "**", in an alternative at
// least, so that there is no directory below in which nothing can match.
func (s State) Deep() bool { return s.set != nil && s.set.deep != nil }

// Literal returns the only name that can match in the directory or lead to a
// match below it, and false if that is not for one literal name alone.
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
		nodes = n.behind(nodes)
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
