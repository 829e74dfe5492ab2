package objectstore

import (
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// entry is a file or directory of a listing. rel is its path from where the
// listing begins.
type entry struct {
	rel  string
	info workspace.FileInfo
}

// compare puts a file before a directory of the same name.
func (e entry) compare(other entry) int {
	if c := strings.Compare(e.rel, other.rel); c != 0 {
		return c
	}
	return -strings.Compare(string(e.info.Type), string(other.info.Type))
}

// order turns the order of keys into that of paths. The two differ in two
// places: the directory "a" is known from keys that begin with "a/", which come
// after "a-b"; and an escape begins with "%", while the character that it
// stands for is less than all others. So what may yet have to come after
// something that has not been listed is held back.
type order struct {
	held    []entry
	settled []string // prefixes in front of which nothing more can come
}

func (o *order) add(e entry) { o.held = append(o.held, e) }

// release returns, in order, what comes before all that can follow the key
// last. The empty last means that nothing follows.
func (o *order) release(last string) []entry {
	slices.SortFunc(o.held, entry.compare)
	prefix, ok := o.holds(last)
	if last == "" || !ok {
		released := o.held
		o.held = nil
		return released
	}
	n, _ := slices.BinarySearchFunc(o.held, prefix, func(e entry, prefix string) int { return strings.Compare(e.rel, prefix) })
	released := o.held[:n:n]
	o.held = slices.Clone(o.held[n:])
	return released
}

// holds returns the shortest prefix of the key last such that something that
// begins with it may yet come and belong before what begins with it already.
func (o *order) holds(last string) (prefix string, ok bool) {
	for i := range len(last) {
		if (beforeDir(last, i) || beforeEscape(last, i)) && !slices.Contains(o.settled, last[:i]) {
			return last[:i], true
		}
	}
	return "", false
}

// beforeDir reports whether a directory key[:i] would be listed after key.
func beforeDir(key string, i int) bool {
	return key[i] < '/' && i > 0 && key[i-1] != '/'
}

// beforeEscape reports whether a name that differs from key first in having an
// escape at i would be listed after key.
func beforeEscape(key string, i int) bool { return key[i] <= '%' }

// settle says that nothing that begins with prefix comes out of order.
func (o *order) settle(prefix string) {
	o.settled = slices.DeleteFunc(o.settled, func(s string) bool { return !strings.HasPrefix(prefix, s) })
	o.settled = append(o.settled, prefix)
}
