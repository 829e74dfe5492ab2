package tools

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// grepInput are the parameters of grep.
type grepInput struct {
	Pattern        string     `json:"pattern" jsonschema:"an RE2 regular expression"`
	Path           string     `json:"path,omitempty" jsonschema:"a file or directory, even if ignored"`
	Output         grepShape  `json:"output,omitempty" jsonschema:"content (the default), files that match, or count per file"`
	Literal        bool       `json:"literal,omitempty" jsonschema:"pattern is plain text"`
	IgnoreCase     bool       `json:"ignoreCase,omitempty" jsonschema:"match either case"`
	Multiline      bool       `json:"multiline,omitempty" jsonschema:"pattern may span lines, with \\n, or . after (?s)"`
	OnlyMatching   bool       `json:"onlyMatching,omitempty" jsonschema:"only the part of a line that matches"`
	IncludeGlob    string     `json:"includeGlob,omitempty" jsonschema:"file name (*.go), or with a slash path (src/**)"`
	ExcludeGlob    string     `json:"excludeGlob,omitempty" jsonschema:"like includeGlob"`
	Before         integer    `json:"before,omitempty" jsonschema:"lines before a match"`
	After          integer    `json:"after,omitempty" jsonschema:"lines after it"`
	Sort           resultSort `json:"sort,omitempty" jsonschema:"mtime: newest first"`
	MaxResults     integer    `json:"maxResults,omitempty" jsonschema:"per page"`
	IncludeIgnored bool       `json:"includeIgnored,omitempty" jsonschema:"also .git and gitignored files"`
	Cursor         string     `json:"cursor,omitempty" jsonschema:"last nextCursor"`
}

// grepShape is what a grep returns. The empty one is shapeContent.
type grepShape string

// What grep returns: the lines, the files that have one, or how many each has.
const (
	shapeContent grepShape = "content"
	shapeFiles   grepShape = "files"
	shapeCount   grepShape = "count"
)

// listsFiles reports whether the result has one entry for each file.
func (in *grepInput) listsFiles() bool { return in.Output == shapeFiles || in.Output == shapeCount }

// grepOutput is the result of grep. Either Matches or Files has something.
type grepOutput struct {
	Matches      []grepMatch `json:"matches" jsonschema:"the matching lines; empty with output files or count"`
	Files        []grepFile  `json:"files,omitempty" jsonschema:"with output files or count: the files with matches"`
	Total        *int        `json:"total,omitempty" jsonschema:"matches on all pages, or with output files or count files, if known"`
	Searched     *int        `json:"searched,omitempty" jsonschema:"how many files were searched, if known"`
	Truncated    bool        `json:"truncated" jsonschema:"whether there are more"`
	Skipped      []grepSkip  `json:"skipped" jsonschema:"the first {{.GrepSkipped}} files and directories of this page that were not searched"`
	SkippedTotal int         `json:"skippedTotal" jsonschema:"how many these are in all"`
	NextCursor   string      `json:"nextCursor,omitempty" jsonschema:"cursor of the next page, if any"`

	in      *grepInput
	skipped []workspace.Skipped // all of this page
}

// grepFile is a file with a match. Count is zero where only the files are wanted.
type grepFile struct {
	Path  string `json:"path" jsonschema:"the file"`
	Count int    `json:"count,omitempty" jsonschema:"with output count: how many matching lines; of a multiline match, one"`
}

// grepSkip is a file that was not searched.
type grepSkip struct {
	Path   string               `json:"path" jsonschema:"the file or directory"`
	Reason workspace.SkipReason `json:"reason" jsonschema:"binary, too large, unreadable, denied (with denied: show) or invalid names: some names in the directory, which no tool accepts"`
}

// grepMatch is a line, or the lines of a match with multiline, that matches.
type grepMatch struct {
	Path          string   `json:"path" jsonschema:"the file"`
	LineNumber    int      `json:"lineNumber" jsonschema:"its number, from 1"`
	LastLine      int      `json:"lastLine,omitempty" jsonschema:"the last line of a match that spans lines"`
	Line          string   `json:"line" jsonschema:"the line, or all lines of a match that spans some; with onlyMatching a line for each part"`
	LineTruncated bool     `json:"lineTruncated,omitempty" jsonschema:"whether line is cut, with a mark"`
	Before        []string `json:"before,omitempty" jsonschema:"the lines before"`
	After         []string `json:"after,omitempty" jsonschema:"the lines after"`

	numbers []int // of the lines that line has a part of, with onlyMatching
}

var grepSpec = spec{
	op: ops.Grep, annotations: Annotations{Title: "Search text", ReadOnly: true, Idempotent: true}, handler: define(runGrep, planGrep),
	shape: func(p properties, _ *toolset) {
		p.between("before", 0, grepContext)
		p.between("after", 0, grepContext)
		p.between("maxResults", 1, grepMax)
		p.byDefault("maxResults", grepDefault)
		p.oneOf("output", string(shapeContent), string(shapeFiles), string(shapeCount))
		p.sorted()
	},
}

// runGrep returns one page: the search of the workspace, cut to what a model can read. Total
// and Searched are only set where they are of the whole search, and not of a page. In the
// order of paths, each page lists the skipped files of its own part.
func runGrep(ctx context.Context, ts *toolset, in *grepInput) (*grepOutput, error) {
	id, start, err := in.start(ts)
	if err != nil {
		return nil, err
	}
	found, total, modified, err := in.search(ctx, ts, start)
	if err != nil {
		return nil, in.blame(err)
	}
	out := newGrepOutput(ctx, in, found)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch {
	case total > 0:
		out.Total = &total
	case in.Cursor == "" && !found.Truncated:
		total = len(found.Matches)
		out.Total = &total
	}
	skipped := found.Skipped
	if shown := len(out.Matches) + len(out.Files); out.Truncated && shown > 0 {
		last := found.Matches[shown-1]
		at := place{workspace.Position{Path: last.Path, LineNumber: last.LineNumber}, modified[last.Path]}
		out.NextCursor = at.cursor(ops.Grep, id, in.Sort.byTime())
		if !in.Sort.byTime() { // the next page lists what comes after its start
			skipped = slices.DeleteFunc(slices.Clone(skipped), func(s workspace.Skipped) bool { return s.Path > last.Path })
		}
	}
	out.skip(skipped)
	return out, nil
}

// start returns the id of the query, and where the page begins. The number of results, and
// the lines around them, may change from page to page.
func (in *grepInput) start(ts *toolset) (id string, start place, err error) {
	same := *in
	same.MaxResults, same.Cursor, same.Before, same.After = 0, "", 0, 0
	id = ts.query(same)
	start, err = decodePlace(ops.Grep, id, in.Cursor, in.Sort.byTime())
	return id, start, err
}

func planGrep(ctx context.Context, ts *toolset, in *grepInput) ([]policy.Request, error) {
	if _, _, err := in.start(ts); err != nil {
		return nil, err
	}
	return ts.touches(ctx, ops.Grep, policy.OpRead, in.Path)
}

// options returns the options of the whole search. Files that are searched over lines have a
// limit of their own, as each is in memory whole. Lines around a match are of no use in a
// list of files.
func (in *grepInput) options() workspace.GrepOptions {
	o := workspace.GrepOptions{
		Path: in.Path, Literal: in.Literal, IgnoreCase: in.IgnoreCase, Multiline: in.Multiline,
		FirstOnly: in.Output == shapeFiles, Count: in.Output == shapeCount,
		IncludeGlob: in.IncludeGlob, ExcludeGlob: in.ExcludeGlob, Gitignore: !in.IncludeIgnored,
	}
	if in.Multiline {
		o.MaxFileSize = multilineBytes
	}
	if !in.listsFiles() {
		o.Before, o.After = int(in.Before), int(in.After)
	}
	return o
}

// search returns one page. total is how many matches or files there are on all pages, 0 if
// that is not known, and modified when each file was, in an order by time. modified is nil in
// the order of paths.
func (in *grepInput) search(ctx context.Context, ts *toolset, start place) (found *workspace.GrepResult, total int, modified map[string]int64, err error) {
	opts, limit := in.options(), int(cmp.Or(in.MaxResults, grepDefault))
	if in.Sort.byTime() {
		return in.searchByTime(ctx, ts, opts, start, limit)
	}
	opts.MaxResults, opts.StartAfter = limit, start.Position
	found, err = ts.ws.Grep(ctx, in.Pattern, &opts)
	return found, 0, nil, err
}

// searchByTime is search for an order by time. It counts the matches of every file,
// and then searches those that are on the page.
//
// The first search has one match for each file, with the number of all if that is needed, and
// no lines around it. The newest of these files are then searched one by one, until the page
// is full. A file that changes in between may have other matches than were counted, and one
// that is deleted has none. Only the first page lists what was skipped.
func (in *grepInput) searchByTime(ctx context.Context, ts *toolset, opts workspace.GrepOptions, start place, limit int) (found *workspace.GrepResult, total int, modified map[string]int64, err error) {
	whole := opts
	whole.Count, whole.Before, whole.After = whole.Count || !whole.FirstOnly, 0, 0
	all, err := ts.ws.Grep(ctx, in.Pattern, &whole)
	if err != nil {
		return nil, 0, nil, err
	}
	path := func(m workspace.Match) string { return m.Path }
	if modified, err = newestFirst(ctx, ts, ops.Grep, in.Path, all.Matches, path); err != nil {
		return nil, 0, nil, err
	}
	found = &workspace.GrepResult{Matches: []workspace.Match{}, Searched: all.Searched}
	if in.Cursor == "" {
		found.Skipped = all.Skipped
	}
	rest := all.Matches[comesAfter(all.Matches, start, modified, path):]
	if in.listsFiles() {
		found.Matches, found.Truncated = rest[:min(limit, len(rest))], len(rest) > limit
		return found, len(all.Matches), modified, nil
	}
	for _, m := range all.Matches {
		total += m.Count
	}
	if i := slices.IndexFunc(all.Matches, func(m workspace.Match) bool {
		return m.Path == start.Path && modified[m.Path] == start.modified
	}); i >= 0 {
		rest = all.Matches[i:] // the page before may have ended in the middle of the file
	}
	for _, file := range rest {
		if len(found.Matches) == limit {
			found.Truncated = true
			break
		}
		opts.Path, opts.MaxResults, opts.StartAfter = file.Path, limit-len(found.Matches), workspace.Position{}
		if file.Path == start.Path {
			opts.StartAfter = start.Position
		}
		inFile, err := ts.ws.Grep(ctx, in.Pattern, &opts)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // since it was counted
		case err != nil:
			return nil, 0, nil, err
		}
		for _, m := range inFile.Matches {
			if m.Path == file.Path { // a bucket may have a directory of that name, too
				found.Matches = append(found.Matches, m)
			}
		}
		if found.Truncated = inFile.Truncated; found.Truncated {
			break
		}
	}
	return found, total, modified, nil
}

// blame returns err with the hint for globs if it is about one of those, and
// not about the pattern.
func (in *grepInput) blame(err error) error {
	var pathError *fs.PathError
	if errors.Is(err, workspace.ErrPattern) && errors.As(err, &pathError) && pathError.Path != in.Pattern {
		return &hintedError{err, globHint}
	}
	return err
}

// newGrepOutput returns what fits on a page. Long lines are cut before the page is, so that
// one minified file does not fill it.
func newGrepOutput(ctx context.Context, in *grepInput, found *workspace.GrepResult) *grepOutput {
	out := &grepOutput{Matches: []grepMatch{}, in: in}
	if in.Cursor == "" && (found.Searched > 0 || !found.Truncated) { // other pages search a part of the files
		out.Searched = &found.Searched
	}
	if in.listsFiles() {
		fits := fit(found.Matches, func(m workspace.Match) int { return len(m.Path) + 20 })
		for _, m := range found.Matches[:fits] {
			out.Files = append(out.Files, grepFile{m.Path, m.Count})
		}
	} else {
		cut := newExcerpter(ctx, in)
		for _, m := range found.Matches {
			out.Matches = append(out.Matches, cut.match(m))
		}
		out.Matches = out.Matches[:fit(out.Matches, grepMatch.size)]
	}
	out.Truncated = found.Truncated || len(out.Matches)+len(out.Files) < len(found.Matches)
	return out
}

// skip lists what was not searched. The structured result names the first ones; the text has
// all, by reason.
func (o *grepOutput) skip(skipped []workspace.Skipped) {
	o.skipped, o.SkippedTotal = skipped, len(skipped)
	o.Skipped = make([]grepSkip, min(len(skipped), grepSkipped))
	for i := range o.Skipped {
		o.Skipped[i] = grepSkip(skipped[i])
	}
}

// size estimates the bytes of the match as text and as JSON, by which a page is filled.
// 60 and 3 stand for the numbers, names and punctuation.
func (m grepMatch) size() int {
	size := len(m.Path) + len(m.Line) + 60
	for _, line := range m.Before {
		size += len(line) + 3
	}
	for _, line := range m.After {
		size += len(line) + 3
	}
	return size
}
