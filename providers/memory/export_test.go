package memory

import "github.com/workspacekit/workspacekit/workspace"

// SearchesForSummaries is how many searches give all files a summary.
const SearchesForSummaries = summaryAfter + summarySteps

// Lacking returns how many files the summaries exclude for a pattern.
func (f *FS) Lacking(pattern string) (lacking int) {
	src, _ := f.tree.GrepSource(pattern, workspace.GrepOptions{}, nil)
	var count func(n *node)
	count = func(n *node) {
		if n.content != nil && n.content.lacks(src.(source).query) {
			lacking++
		}
		for _, child := range n.children {
			count(child)
		}
	}
	count(f.tree.root)
	return lacking
}

// Forget makes f as if it had never been searched.
func (f *FS) Forget() {
	var forget func(n *node)
	forget = func(n *node) {
		if n.content != nil {
			n.content.searches.Store(0)
			n.content.summary.Store(nil)
		}
		for _, child := range n.children {
			forget(child)
		}
	}
	forget(f.tree.root)
}
