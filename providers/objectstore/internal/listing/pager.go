package listing

import (
	"context"
	"slices"
	"sync"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
)

// pagesAhead is how many pages of a listing are asked for side by side, where
// it is known where they end.
const pagesAhead = 8

// Pager lists everything below a prefix, page by page. A store says where the
// next page begins at the end of one, so pages come one after the other; but
// where the last listing of the prefix ended its pages, this one can, too, and
// then several pages are asked for at a time. What has changed since makes a page
// longer or shorter, and does no harm.
//
// The last listing had pages that ended at "c" and "f". This one has three parts,
// which are asked for side by side:
//
//	part        request                    answer                  page
//	to "c"      after nothing              a, b, c, then a token   a, b, c
//	"c" to "f"  after "c"                  d, e, e2, and a token   d, e, e2
//	            the token, as "f" is next  f, g                    f
//	from "f"    after "f"                  g, h, and no token      g, h
//
// The second part has grown by e2, so it takes one request more, whose answer is
// dropped after "f": g belongs to the part after it, and has been asked for.
//
// A Pager is for one goroutine, and must be closed.
type Pager struct {
	list       Func
	boundaries *PageBoundaries
	ctx        context.Context
	cancel     context.CancelFunc
	group      sync.WaitGroup
	prefix     string

	parts []part   // what has not been listed; the first may have begun
	rest  Query    // what is left of the first part; without a token if it has not begun
	ahead int      // how many parts may be asked for
	ends  []string // the last keys of the pages
	whole bool     // ends are all there are, from the beginning
	keys  int      // that were listed
}

// part is a part of a listing: the keys after after, up to the key to.
type part struct {
	after, to string // to is empty for the end
	first     chan listed
}

// listed is the answer to a listing.
type listed struct {
	page Page
	err  error
}

// NewPager returns the pager for the keys of prefix after the key after, which
// is empty for all of them. It remembers in boundaries where the pages end.
func NewPager(ctx context.Context, list Func, boundaries *PageBoundaries, prefix, after string) *Pager {
	p := &Pager{list: list, boundaries: boundaries, prefix: prefix, ahead: 1, whole: after == ""}
	p.ctx, p.cancel = context.WithCancel(ctx)
	for _, end := range boundaries.get(prefix) {
		if end > after {
			p.parts = append(p.parts, part{after: after, to: end})
			after = end
		}
	}
	p.parts = append(p.parts, part{after: after})
	return p
}

// Close ends the requests under way.
func (p *Pager) Close() {
	p.cancel()
	p.group.Wait()
}

// Next returns the next page, and whether there are more.
func (p *Pager) Next() (next Page, more bool, err error) {
	current := p.parts[0]
	if p.rest.Token == "" {
		p.rest = p.query(current)
		p.ask()
		answer := <-p.parts[0].first
		next, err = answer.page, answer.err
	} else {
		next, err = p.list(p.ctx, p.rest)
	}
	if err != nil {
		return Page{}, false, err
	}
	p.rest = p.rest.Next(next)
	switch {
	case next.Token == "":
		p.parts = nil // nor does anything follow in the other parts
	case current.to != "" && next.Last() >= current.to:
		next.dropAfter(current.to)
		p.parts, p.rest = p.parts[1:], Query{}
	}
	p.keys += len(next.Objects)
	if len(p.parts) == 0 {
		p.remember()
		return next, false, nil
	}
	if last := next.Last(); last != "" {
		p.ends = append(p.ends, last)
	}
	return next, true, nil
}

// dropAfter drops what comes after the key last, which p reaches.
func (p *Page) dropAfter(last string) {
	n := slices.IndexFunc(p.Objects, func(o object.Object) bool { return o.Key >= last && !p.misspelt(o.Key) })
	if p.Objects[n].Key == last {
		n++
	}
	p.Objects = slices.Clip(p.Objects[:n])
}

// ask asks for the first pages of the next parts: of one at first, as who looks
// for little may end the listing there, and then of four times as many each time.
func (p *Pager) ask() {
	for i := range min(p.ahead, len(p.parts)) {
		if next := &p.parts[i]; next.first == nil {
			first := make(chan listed, 1) // which a jump may take from the part meanwhile
			next.first = first
			q := p.query(*next)
			p.group.Go(func() {
				found, err := p.list(p.ctx, q)
				first <- listed{found, err}
			})
		}
	}
	p.ahead = min(4*p.ahead, pagesAhead)
}

// query is what the part is asked for first.
func (p *Pager) query(of part) Query { return Query{Prefix: p.prefix, Flat: true, After: of.after} }

// Jump continues after key.
func (p *Pager) Jump(key string) {
	for len(p.parts) > 1 && p.parts[0].to <= key {
		p.parts = p.parts[1:]
	}
	p.parts[0] = part{after: key, to: p.parts[0].to}
	p.rest, p.whole = Query{}, false
}

// maxPages is how many pages the listing of so many keys may have for their
// ends to be worth keeping: with more it is better to let the store divide it again.
func maxPages(keys int) int { return keys/MaxKeys + keys/(4*MaxKeys) + 2 }

// remember keeps the ends for the next listing.
func (p *Pager) remember() {
	if !p.whole || len(p.ends)+1 > maxPages(p.keys) {
		p.boundaries.put(p.prefix, nil)
		return
	}
	p.boundaries.put(p.prefix, p.ends)
}

// maxBoundaries is how many listings the boundaries are remembered of.
const maxBoundaries = 64

// PageBoundaries remembers where the pages of listings ended. It is safe for
// concurrent use. The zero PageBoundaries knows none.
type PageBoundaries struct {
	mu    sync.Mutex
	known map[string][]string // by prefix; guarded by mu
}

func (c *PageBoundaries) get(prefix string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[prefix]
}

// put keeps ends, which must not change any more, or forgets those there are if
// there are none.
func (c *PageBoundaries) put(prefix string, ends []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, prefix)
	if len(ends) == 0 {
		return
	}
	for dropped := range c.known {
		if len(c.known) < maxBoundaries {
			break
		}
		delete(c.known, dropped)
	}
	if c.known == nil {
		c.known = make(map[string][]string)
	}
	c.known[prefix] = ends
}
