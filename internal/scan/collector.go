package scan

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/workspacekit/workspacekit/workspace"
)

// outcome is what the search of one file, or directory, gave.
type outcome struct {
	path     string
	searched bool // whether it is a file that was searched
	matches  []workspace.Match
	skipped  workspace.SkipReason // why it was not; empty also for a file that was removed
	err      error                // why it was skipped
}

// collector keeps the first outcomes in order of paths, in whatever order they arrive.
// It is safe for concurrent use.
//
// Workers search files of a tree in no order, and the result has the first limit
// matches in order of paths. So the collector must keep more than limit until it knows
// that nothing smaller can come, and tells the workers, by last, which files need no
// search any more. With a limit of 2:
//
//	add c: 1 match     count 1                  last: not known
//	add f: 2 matches   count 3 > 2: cut. Sorted, c has 1 and f has 3, which
//	                   is beyond the limit: f is kept, last = f
//	wants(g)           false: g and all after it can be left out
//	add a: 2 matches   a < f; count 5: a cut would help, but costs a sort, and
//	                   is put off until count > 4*2
//	result             a: 2, c: 1 -> 3 matches > 2: the two of a, truncated
//
// What is skipped stays in outcomes up to last, as a result lists what was skipped
// before its last match. last only becomes smaller.
type collector struct {
	limit    int                    // of matches; zero for none
	last     atomic.Pointer[string] // the last path that can be part of the result; nil if that is not known
	searched atomic.Int64           // files

	mu       sync.Mutex // guards what follows
	outcomes []outcome  // not sorted
	count    int        // of matches
}

// wants reports whether path can still be part of the result. If it cannot, nor
// can any greater path.
func (c *collector) wants(path string) bool {
	last := c.last.Load()
	return last == nil || path <= *last
}

// add adds the outcome of one file.
func (c *collector) add(o outcome) {
	if o.searched {
		c.searched.Add(1)
	}
	if len(o.matches) == 0 && o.skipped == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outcomes = append(c.outcomes, o)
	c.count += len(o.matches)
	// The first cut tells the workers where to stop. Others, which only save
	// memory, are worth a sort when there is much to drop.
	known := c.last.Load() != nil
	if c.limit > 0 && (c.count > c.limit && !known || c.count/4 >= c.limit) {
		c.cut()
	}
}

// cut drops all after the first match beyond the limit. That match is kept,
// because the result says whether there is one. c.mu is held.
func (c *collector) cut() {
	c.sort()
	count := 0
	for i, o := range c.outcomes {
		if count += len(o.matches); count > c.limit {
			c.outcomes, c.count = c.outcomes[:i+1], count
			c.last.Store(&o.path)
			return
		}
	}
}

// sort sorts the outcomes by path. c.mu is held.
func (c *collector) sort() {
	slices.SortFunc(c.outcomes, func(a, b outcome) int { return strings.Compare(a.path, b.path) })
}

// result returns all that was added as one result.
func (c *collector) result() *workspace.GrepResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sort()
	result := &workspace.GrepResult{Matches: make([]workspace.Match, 0, c.count), Searched: int(c.searched.Load())}
	for _, o := range c.outcomes {
		if o.skipped != "" {
			result.Skipped = append(result.Skipped, workspace.Skipped{Path: o.path, Reason: o.skipped})
		}
		result.Matches = append(result.Matches, o.matches...)
		if c.limit > 0 && len(result.Matches) > c.limit {
			Truncate(result, c.limit)
			break
		}
	}
	return result
}

// Truncate keeps the first limit matches of a result that has more, and what
// was skipped before the last of them. The next page has the rest.
func Truncate(result *workspace.GrepResult, limit int) {
	result.Matches = result.Matches[:limit:limit]
	result.Truncated, result.Searched = true, 0
	last := result.Matches[limit-1].Path
	if i := slices.IndexFunc(result.Skipped, func(s workspace.Skipped) bool { return s.Path > last }); i >= 0 {
		result.Skipped = result.Skipped[:i]
	}
}
