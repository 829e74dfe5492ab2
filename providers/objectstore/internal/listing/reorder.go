package listing

import (
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// Entry is a file or directory of a listing. Rel is its path from where the
// listing begins.
type Entry struct {
	Rel  string
	Info workspace.FileInfo
}

// compare puts a file before a directory of the same name.
func (e Entry) compare(other Entry) int {
	if c := strings.Compare(e.Rel, other.Rel); c != 0 {
		return c
	}
	return -strings.Compare(string(e.Info.Type), string(other.Info.Type))
}

// ReorderBuffer turns the order of keys into the one of paths. The two differ in
// two places: the directory "a" is known from keys that begin with "a/", which
// come after "a-b"; and an escape begins with "%", while the character that it
// stands for is less than all others. So an entry that something may yet have to
// come before is held back.
//
// The keys "a-b", "a/x" and "b" of a listing, each added with the directories
// that it shows:
//
//	key    added    Release returns   held afterwards
//	"a-b"  a-b      -                 a-b: "a/..." may follow, and a is before a-b
//	"a/x"  a, a/x   a, a-b, a/x       -
//	"b"    b        b                 -
//
// Had "a/x" been missing, the key "b" would have released a-b. Between "a-b" and
// "a/x" a million "a-..." may come. So a caller that holds too many asks the
// store whether there is a key that begins with "a/", adds the directory if there
// is, and calls Settle("a"): then a-b needs to wait no longer.
//
// The zero ReorderBuffer is empty. It is for one goroutine.
type ReorderBuffer struct {
	held    []Entry
	settled []string // prefixes: nothing more can come before these
}

// Add adds an entry that the last key shows.
func (b *ReorderBuffer) Add(e Entry) { b.held = append(b.held, e) }

// Len returns how many entries are held.
func (b *ReorderBuffer) Len() int { return len(b.held) }

// Release returns, in order, what comes before all that can follow the key
// last. The empty last means that nothing follows.
func (b *ReorderBuffer) Release(last string) []Entry {
	slices.SortFunc(b.held, Entry.compare)
	n := len(b.held)
	if last != "" {
		prefix, ok := b.HoldsFor(last)
		if !ok {
			prefix = last + "\x00" // what is after last has been misspelt
		}
		n, _ = slices.BinarySearchFunc(b.held, prefix, func(e Entry, prefix string) int { return strings.Compare(e.Rel, prefix) })
	}
	released := b.held[:n:n]
	b.held = slices.Clone(b.held[n:])
	return released
}

// HoldsFor returns the shortest prefix of the key last such that something that
// begins with it may yet come and belong before what begins with it already.
func (b *ReorderBuffer) HoldsFor(last string) (prefix string, ok bool) {
	for i := range len(last) {
		if (beforeDir(last, i) || beforeEscape(last, i)) && !slices.Contains(b.settled, last[:i]) {
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

// Settle says that nothing that begins with prefix comes out of order.
func (b *ReorderBuffer) Settle(prefix string) {
	b.settled = slices.DeleteFunc(b.settled, func(s string) bool { return !strings.HasPrefix(prefix, s) })
	b.settled = append(b.settled, prefix)
}
