package scan

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/workspacekit/workspacekit/workspace"
)

// found is what the search of one file, or directory, gave.
type found struct {
	path    string
	matches []workspace.Match
	skipped workspace.SkipReason // empty if it was searched
	err     error                // why it was skipped
}

// collector keeps the first of what is found, in order of paths, in whatever
// order it is found. It is safe for concurrent use.
type collector struct {
	limit int                    // of matches; zero for none
	last  atomic.Pointer[string] // a path behind which nothing is wanted; nil if there is none yet

	mu    sync.Mutex // guards what follows
	found []found    // not sorted
	count int        // of matches
}

// wants reports whether path can still be part of the result. Behind what is
// not wanted nothing is.
func (c *collector) wants(path string) bool {
	last := c.last.Load()
	return last == nil || path <= *last
}

// add adds what one file gave.
func (c *collector) add(f found) {
	if len(f.matches) == 0 && f.skipped == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found = append(c.found, f)
	c.count += len(f.matches)
	known := c.last.Load() != nil
	if c.limit > 0 && (c.count > c.limit && !known || c.count > 4*c.limit) {
		c.cut()
	}
}

// cut drops what lies behind the first match that is one too many: that there
// is one is to be known. c.mu is held.
func (c *collector) cut() {
	c.sort()
	count := 0
	for i, f := range c.found {
		if count += len(f.matches); count > c.limit {
			c.found, c.count = c.found[:i+1], count
			c.last.Store(&f.path)
			return
		}
	}
}

func (c *collector) sort() {
	slices.SortFunc(c.found, func(a, b found) int { return strings.Compare(a.path, b.path) })
}

// result puts together what was found.
func (c *collector) result() *workspace.GrepResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sort()
	result := &workspace.GrepResult{Matches: make([]workspace.Match, 0, c.count)}
	for _, f := range c.found {
		if f.skipped != "" {
			result.Skipped = append(result.Skipped, workspace.Skipped{Path: f.path, Reason: f.skipped})
		}
		result.Matches = append(result.Matches, f.matches...)
		if c.limit > 0 && len(result.Matches) > c.limit {
			result.Matches = result.Matches[:c.limit:c.limit]
			result.Truncated = true
			dropSkippedAfter(result, result.Matches[c.limit-1].Path)
			break
		}
	}
	return result
}

// dropSkippedAfter leaves for the next page what lies behind the last match.
func dropSkippedAfter(result *workspace.GrepResult, path string) {
	skipped := result.Skipped
	for len(skipped) > 0 && skipped[len(skipped)-1].Path > path {
		skipped = skipped[:len(skipped)-1]
	}
	result.Skipped = skipped
}
