package memory

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/internal/trigram"
	"github.com/workspacekit/workspacekit/workspace"
)

// GlobSource implements [scan.Searcher].
func (t *tree) GlobSource(string, workspace.GlobOptions) scan.Source { return source{tree: t} }

// GrepSource implements [scan.Searcher].
func (t *tree) GrepSource(pattern string, opts workspace.GrepOptions, _ scan.Hidden) (src scan.Source, workers int) {
	return source{tree: t, query: trigram.PlanGrep(pattern, opts), limit: opts.MaxFileSize}, 0
}

// source shows a tree to the search engine.
type source struct {
	tree  *tree         // that is searched
	query trigram.Query // what a text must meet for the pattern to match in it
	limit int64         // a larger file is not searched; zero for none
}

var _ scan.Opener = source{}

// List implements [scan.Source].
func (s source) List(_ context.Context, dir string, _ bool) ([]scan.Child, error) {
	l, err := s.tree.listing(dir)
	if err != nil {
		return nil, err
	}
	return l.children, nil
}

// OpenDir implements [scan.Opener]. A sieve costs a little for each file, so there is one only
// where the pattern has something that a summary can lack.
func (s source) OpenDir(dir string, _ bool) (scan.Dir, error) {
	l, err := s.tree.listing(dir)
	if err != nil {
		return nil, err
	}
	opened := openDir{listing: l, source: s}
	if s.query.Everything() {
		return opened, nil
	}
	return &sieve{openDir: opened}, nil
}

// Read implements [scan.Source]. It copies nothing: the content of a node is
// replaced, and never changed.
func (s source) Read(_ context.Context, name string, _ *[]byte, opts scan.ReadOptions) ([]byte, error) {
	c, _, err := s.tree.content(name)
	if err != nil {
		return nil, err
	}
	return s.read(name, c, opts)
}

// read returns the bytes of c, the content of the file name, which the caller must not change.
// A file over the limit is [workspace.ErrTooLarge] before it counts as searched.
func (s source) read(name string, c *content, opts scan.ReadOptions) ([]byte, error) {
	if err := ops.CheckSize(ops.ReadFile, name, int64(len(c.data)), opts.Limit); err != nil {
		return nil, err
	}
	if !s.query.Everything() {
		c.searched()
	}
	return c.data, nil
}

// searched notes that a search has to read c, and makes the summary when it is time. Of
// searches at one time exactly one makes it, as each gets another number. Binary data gets
// none: it is known to be binary from its beginning.
func (c *content) searched() {
	if int(c.searches.Add(1)) != summaryAfter+len(c.data)%summarySteps || lines.IsBinary(c.data) {
		return
	}
	set := trigram.Set(trigram.Append(nil, c.data))
	c.summary.Store(&set)
}

// Stat implements [scan.Source].
func (s source) Stat(ctx context.Context, name string) (workspace.FileType, error) {
	info, err := s.tree.Stat(ctx, name)
	return info.Type, err
}

// openDir is a directory as it was when it was opened. What is written to it later does not
// show, except through source.
type openDir struct {
	*listing
	source source
}

// List implements [scan.Dir].
func (d openDir) List(context.Context) ([]scan.Child, error) { return d.children, nil }

// Read implements [scan.Dir].
func (d openDir) Read(_ context.Context, path string, _ *[]byte, opts scan.ReadOptions) ([]byte, error) {
	_, name := workspace.Split(path)
	n, ok := slices.BinarySearchFunc(d.children, name, func(c scan.Child, name string) int { return strings.Compare(c.Name, name) })
	if !ok || d.contents[n] == nil { // it was removed between two listings
		return nil, fs.ErrNotExist
	}
	return d.source.read(path, d.contents[n], opts)
}

// Close implements [scan.Dir].
func (openDir) Close() error { return nil }

// sieve is an openDir for a pattern that summaries can exclude.
type sieve struct {
	openDir
	next int // the index of the child that Lacks looks at first
}

var _ scan.Sieve = (*sieve)(nil)

// Lacks implements [scan.Sieve]. It looks on from the last name, as it is called in the order
// of List. A file over the limit is not reported: it must be read to be listed as skipped
// (S16).
func (d *sieve) Lacks(name string) bool {
	for d.next < len(d.children) {
		n := d.next
		d.next++
		if d.children[n].Name == name {
			c := d.contents[n]
			return (d.source.limit == 0 || int64(len(c.data)) <= d.source.limit) && c.lacks(d.source.query)
		}
	}
	return false
}

// lacks reports whether c is known to be a text that does not meet query. Without a summary
// nothing is known.
func (c *content) lacks(query trigram.Query) bool {
	set := c.summary.Load()
	return set != nil && !query.Meets(*set)
}

// Sub implements [scan.Sieve].
func (d *sieve) Sub(dir string) scan.Sieve {
	if l, err := d.source.tree.listing(dir); err == nil {
		return &sieve{openDir: openDir{listing: l, source: d.source}}
	}
	return nil
}
