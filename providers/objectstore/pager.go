package objectstore

import (
	"context"
	"slices"
	"sort"
	"sync"
)

// pagesAhead is how many pages of a listing are asked for side by side, where
// it is known how they are cut.
const pagesAhead = 8

// pager lists everything below a prefix, page by page. A store says where the
// next page begins at the end of one, so pages come one after the other; but
// where the last listing of the prefix was cut, this one can be, too, and then
// several pages are asked for at a time. What has changed since makes a page
// longer or shorter, and does no harm.
type pager struct {
	fs     *FS
	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup
	prefix string

	parts []part   // what has not been listed; the first may have begun
	token string   // where the first part goes on; empty if it has not begun
	ahead int      // how many parts may be asked for
	cuts  []string // the last keys of the pages
	whole bool     // cuts are all there are, from the beginning
	keys  int      // that were listed
}

// part is a part of a listing: the keys behind after, up to the key to.
type part struct {
	after, to string // to is empty for the end
	first     chan listed
}

// listed is the answer to a listing.
type listed struct {
	page page
	err  error
}

// newPager returns the pager for the keys of prefix behind after, which is
// empty for all of them.
func (f *FS) newPager(ctx context.Context, prefix, after string) *pager {
	p := &pager{fs: f, prefix: prefix, ahead: 1, whole: after == ""}
	p.ctx, p.cancel = context.WithCancel(ctx)
	for _, cut := range f.cuts.get(prefix) {
		if cut > after {
			p.parts = append(p.parts, part{after: after, to: cut})
			after = cut
		}
	}
	p.parts = append(p.parts, part{after: after})
	return p
}

// close ends the requests under way.
func (p *pager) close() {
	p.cancel()
	p.group.Wait()
}

// next returns the next page, and whether there are more.
func (p *pager) next() (next page, more bool, err error) {
	current := p.parts[0]
	if p.token == "" {
		p.ask()
		answer := <-p.parts[0].first
		next, err = answer.page, answer.err
	} else {
		next, err = p.fs.list(p.ctx, listQuery{prefix: p.prefix, flat: true, token: p.token})
	}
	if err != nil {
		return page{}, false, err
	}
	p.token = next.token
	switch {
	case next.token == "":
		p.parts = nil // nor does anything follow in the other parts
	case current.to != "" && next.last() >= current.to:
		next.cut(current.to)
		p.parts, p.token = p.parts[1:], ""
	}
	p.keys += len(next.objects)
	if len(p.parts) == 0 {
		p.remember()
		return next, false, nil
	}
	if !next.empty() {
		p.cuts = append(p.cuts, next.last())
	}
	return next, true, nil
}

// ask asks for the first pages of the next parts: of one at first, as who looks
// for little may end the listing there, and then of four times as many each time.
func (p *pager) ask() {
	for i := range min(p.ahead, len(p.parts)) {
		if next := &p.parts[i]; next.first == nil {
			first := make(chan listed, 1) // which a jump may take from the part meanwhile
			next.first = first
			q := listQuery{prefix: p.prefix, flat: true, after: next.after}
			p.group.Go(func() {
				found, err := p.fs.list(p.ctx, q)
				first <- listed{found, err}
			})
		}
	}
	p.ahead = min(4*p.ahead, pagesAhead)
}

// jump goes on behind key.
func (p *pager) jump(key string) {
	for len(p.parts) > 1 && p.parts[0].to <= key {
		p.parts = p.parts[1:]
	}
	p.parts[0] = part{after: key, to: p.parts[0].to}
	p.token, p.whole = "", false
}

// maxPages is how many pages the listing of so many keys may have for its cuts
// to be worth keeping: with more it is better cut anew.
func maxPages(keys int) int { return keys/maxKeys + keys/(4*maxKeys) + 2 }

// remember keeps the cuts for the next listing.
func (p *pager) remember() {
	if !p.whole || len(p.cuts)+1 > maxPages(p.keys) {
		p.fs.cuts.put(p.prefix, nil)
		return
	}
	p.fs.cuts.put(p.prefix, p.cuts)
}

// cut drops what comes after the key last.
func (p *page) cut(last string) {
	n := sort.Search(len(p.objects), func(i int) bool { return p.objects[i].key > last })
	p.objects = slices.Clip(p.objects[:n])
}

// maxCuts is how many listings the cuts are remembered of.
const maxCuts = 64

// cuts remembers where listings were cut. It is safe for concurrent use.
type cuts struct {
	mu    sync.Mutex
	known map[string][]string // by prefix; guarded by mu
}

func newCuts() *cuts { return &cuts{known: make(map[string][]string)} }

func (c *cuts) get(prefix string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[prefix]
}

// put keeps cuts, which are not to be changed any more, or forgets those there
// are if there are none.
func (c *cuts) put(prefix string, cuts []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, prefix)
	if len(cuts) == 0 {
		return
	}
	for dropped := range c.known {
		if len(c.known) < maxCuts {
			break
		}
		delete(c.known, dropped)
	}
	c.known[prefix] = cuts
}
