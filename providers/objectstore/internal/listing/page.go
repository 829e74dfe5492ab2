// Package listing turns the pages that a store lists into the order and the
// amounts that a workspace needs. A store returns at most 1,000 keys for one
// request, sorted as keys; a workspace wants all of them, fast, sorted as paths.
//
// In goes a function that sends one request. Three mechanisms build on it:
//
//   - [Decode] reads the document of an answer into a [Page].
//   - [Pager] lists everything below a prefix, several pages side by side where
//     the last listing of the prefix showed how it is divided ([PageBoundaries]).
//   - [ReorderBuffer] turns the order of keys into the one of paths.
package listing

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
)

// MaxKeys is the most keys that a store returns for one request.
const MaxKeys = 1000

// Query is what a listing is asked for. Its keys are whole keys of the bucket.
type Query struct {
	Prefix string
	After  string // only keys after it; empty for all; with Token, the last key before
	Token  string // where the page before ended; empty for the first
	Limit  int32  // of keys, up to MaxKeys; zero means MaxKeys
	Flat   bool   // everything below the prefix, not its direct children

	still int // pages in a row after which After was the same
}

// Next returns the query for what follows p, the answer to q.
func (q Query) Next(p Page) Query {
	q.Token = p.Token
	q.still++
	if last := p.Last(); last > q.After {
		q.After, q.still = last, 0
	}
	return q
}

// Func sends one request.
type Func func(ctx context.Context, q Query) (Page, error)

// Page is the answer to a Query.
type Page struct {
	Objects  []object.Object
	Prefixes []string // of what lies deeper, each ending in a slash; none if flat
	Token    string   // where the next page begins; empty if there is none

	prefix string // of the query
}

// Last returns the last key, or prefix of keys, of the page that is the store's own, empty if there
// is none. All that the store has up to it has been listed.
func (p Page) Last() string {
	last := ""
	for _, o := range slices.Backward(p.Objects) {
		if !p.misspelt(o.Key) {
			last = o.Key
			break
		}
	}
	for _, prefix := range slices.Backward(p.Prefixes) {
		if !p.misspelt(prefix) {
			return max(last, prefix)
		}
	}
	return last
}

// misspelt is Misspelt of a key of the page, which begins as the store was asked.
func (p Page) misspelt(key string) bool { return Misspelt(key[len(p.prefix):]) }

// Misspelt reports whether a listing may have spelled another key as key: some
// stores put U+FFFD in the place of a character that XML cannot spell. It is
// listed where the other key belongs.
func Misspelt(key string) bool { return strings.ContainsRune(key, utf8.RuneError) }

// Empty reports whether there is nothing in the page.
func (p Page) Empty() bool { return len(p.Objects) == 0 && len(p.Prefixes) == 0 }

// Keys returns the keys of the objects.
func (p Page) Keys() []string {
	keys := make([]string, len(p.Objects))
	for i, o := range p.Objects {
		keys[i] = o.Key
	}
	return keys
}

// HasFile reports whether the page has an object that is a file at key.
func (p Page) HasFile(key string) bool {
	i := slices.IndexFunc(p.Objects, func(o object.Object) bool { return o.Key == key })
	return i >= 0 && !p.Objects[i].Tombstone
}
