package tools

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

type grepInput struct {
	Pattern        string  `json:"pattern" jsonschema:"an RE2 regular expression that is applied to one line at a time, or plain text if literal"`
	Path           string  `json:"path,omitempty" jsonschema:"the file or directory to search; left out for the root"`
	Literal        bool    `json:"literal,omitempty" jsonschema:"take pattern as plain text"`
	IgnoreCase     bool    `json:"ignoreCase,omitempty" jsonschema:"match letters in either case"`
	IncludeGlob    string  `json:"includeGlob,omitempty" jsonschema:"search only the files that this glob matches: by name if it has no slash, such as *.go, else by path from the root, such as src/**/*.{ts,tsx}"`
	ExcludeGlob    string  `json:"excludeGlob,omitempty" jsonschema:"leave out the files that this glob matches, in the same way"`
	Before         integer `json:"before,omitempty" jsonschema:"how many lines before each match to return"`
	After          integer `json:"after,omitempty" jsonschema:"how many lines after each match to return"`
	MaxResults     integer `json:"maxResults,omitempty" jsonschema:"how many matches to return at most"`
	IncludeIgnored bool    `json:"includeIgnored,omitempty" jsonschema:"search also what .gitignore files exclude, and .git"`
	Cursor         string  `json:"cursor,omitempty" jsonschema:"nextCursor of the page before, with the other parameters unchanged"`
}

type grepOutput struct {
	Matches      []grepMatch `json:"matches" jsonschema:"the matching lines, sorted by path, then by line"`
	Truncated    bool        `json:"truncated" jsonschema:"whether there are more"`
	Skipped      []grepSkip  `json:"skipped" jsonschema:"files that were not searched, and why: binary, too large, unreadable or invalid names; the first {{.GrepSkipped}} of this page"`
	SkippedTotal int         `json:"skippedTotal" jsonschema:"how many files were not searched on this page"`
	NextCursor   string      `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent at the end"`
}

type grepSkip struct {
	Path   string               `json:"path" jsonschema:"the file, or a directory with all below it; with invalid names, the directory that holds what has them"`
	Reason workspace.SkipReason `json:"reason" jsonschema:"binary, too large, unreadable or invalid names: some of what is in the directory has a name that no tool can be given"`
}

type grepMatch struct {
	Path          string   `json:"path" jsonschema:"the file"`
	LineNumber    int      `json:"lineNumber" jsonschema:"the line, counted from 1"`
	Line          string   `json:"line" jsonschema:"the line, or the part around the match if it is longer than {{.GrepChars}} characters"`
	LineTruncated bool     `json:"lineTruncated,omitempty" jsonschema:"whether line is a part, with a mark where it is cut"`
	Before        []string `json:"before,omitempty" jsonschema:"the lines before"`
	After         []string `json:"after,omitempty" jsonschema:"the lines after"`
}

var grepSpec = spec{
	op: ops.Grep, annotations: Annotations{Title: "Search text", ReadOnly: true, Idempotent: true}, handler: define(runGrep),
	shape: func(p properties, _ workspace.Capabilities) {
		p.between("before", 0, grepContext)
		p.between("after", 0, grepContext)
		p.between("maxResults", 1, grepMax)
		p.byDefault("path", ".")
		p.byDefault("maxResults", grepDefault)
		for _, name := range []string{"before", "after"} {
			p.byDefault(name, 0)
		}
		for _, name := range []string{"literal", "ignoreCase", "includeIgnored"} {
			p.byDefault(name, false)
		}
	},
}

func runGrep(ctx context.Context, k *kit, in *grepInput) (*grepOutput, error) {
	same := *in
	same.MaxResults, same.Cursor, same.Before, same.After = 0, "", 0, 0
	id := k.query(same)
	start, err := decodeCursor(ops.Grep, id, in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := k.ws.Grep(ctx, in.Pattern, &workspace.GrepOptions{
		Path: in.Path, Literal: in.Literal, IgnoreCase: in.IgnoreCase,
		IncludeGlob: in.IncludeGlob, ExcludeGlob: in.ExcludeGlob,
		Before: int(in.Before), After: int(in.After),
		MaxResults: orDefault(in.MaxResults, grepDefault),
		StartAfter: start, Gitignore: !in.IncludeIgnored,
	})
	if err != nil {
		return nil, in.blame(err)
	}
	return newGrepOutput(id, in, found), nil
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

func newGrepOutput(id string, in *grepInput, found *workspace.GrepResult) *grepOutput {
	cut := newExcerpter(in)
	matches := make([]grepMatch, len(found.Matches))
	for i, m := range found.Matches {
		matches[i] = cut.match(m)
	}
	kept, less := page(matches, len(matches), grepMatch.size)
	out := &grepOutput{Matches: kept, Truncated: found.Truncated || less}
	skipped := found.Skipped
	if out.Truncated && len(kept) > 0 {
		last := kept[len(kept)-1]
		out.NextCursor = encodeCursor(ops.Grep, id, workspace.Position{Path: last.Path, LineNumber: last.LineNumber})
		// The next page lists what comes after its start.
		skipped = slices.DeleteFunc(slices.Clone(skipped), func(s workspace.Skipped) bool { return s.Path > last.Path })
	}
	out.SkippedTotal = len(skipped)
	out.Skipped = make([]grepSkip, min(len(skipped), grepSkipped))
	for i := range out.Skipped {
		out.Skipped[i] = grepSkip(skipped[i])
	}
	return out
}

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
