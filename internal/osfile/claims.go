package osfile

import "slices"

// claim is the names that a call removes, renames, opens or stores. No two calls have claims of names
// at, above or below each other, but for those that only open or store: nothing comes between a change
// in the workspace and what is forgotten or renamed here.
type claim struct {
	names  []string
	stores bool
}

// conflicts reports whether the calls of two claims must come one after the other.
func (c *claim) conflicts(other *claim) bool {
	return !(c.stores && other.stores) && slices.ContainsFunc(c.names, func(a string) bool {
		return slices.ContainsFunc(other.names, func(b string) bool { return inPath(a, b) || inPath(b, a) })
	})
}

// inPath reports whether name is dir or below it.
func inPath(name, dir string) bool {
	_, ok := under(name, dir)
	return ok || dir == "."
}

// take waits until no call has a claim that conflicts with that of mine, which it calls with mu
// held, and keeps the claim until release is called.
func (f *FS) take(mine func() *claim) (release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := mine()
	for slices.ContainsFunc(f.claims, c.conflicts) {
		f.released.Wait()
		c = mine()
	}
	f.claims = append(f.claims, c)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.claims = slices.DeleteFunc(f.claims, func(other *claim) bool { return other == c })
		f.released.Broadcast()
	}
}

// change claims names that are removed or renamed.
func (f *FS) change(names ...string) (release func()) {
	return f.take(func() *claim { return &claim{names: names} })
}

// opening claims a name that is opened for writing.
func (f *FS) opening(name string) (release func()) {
	return f.take(func() *claim { return &claim{names: []string{name}, stores: true} })
}

// storing claims the names of a content, which a rename changes.
func (f *FS) storing(c *content) (release func()) {
	return f.take(func() *claim {
		mine := &claim{stores: true}
		for name, other := range f.written {
			if other == c {
				mine.names = append(mine.names, name)
			}
		}
		return mine
	})
}
