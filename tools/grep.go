package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

type grepInput struct {
	Pattern        string  `json:"pattern" jsonschema:"an RE2 regular expression that is applied to one line at a time, or plain text if literal"`
	Path           string  `json:"path,omitempty" jsonschema:"the file or directory to search; left out for the root"`
	Literal        bool    `json:"literal,omitempty" jsonschema:"take pattern as plain text"`
	IgnoreCase     bool    `json:"ignoreCase,omitempty" jsonschema:"match letters in either case"`
	IncludeGlob    string  `json:"includeGlob,omitempty" jsonschema:"search only the files that this glob matches: by name if it has no slash, such as *.go, else by path from path, such as src/**/*.{ts,tsx}"`
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
	op: ops.Grep, annotations: Annotations{Title: "Search text", ReadOnly: true, Idempotent: true}, handler: define(runGrep, planGrep),
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

func runGrep(ctx context.Context, ts *toolset, in *grepInput) (*grepOutput, error) {
	id, start, err := in.start(ts)
	if err != nil {
		return nil, err
	}
	found, err := ts.ws.Grep(ctx, in.Pattern, &workspace.GrepOptions{
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

// start returns the id of the query, and where the page begins.
func (in *grepInput) start(ts *toolset) (id string, start workspace.Position, err error) {
	same := *in
	same.MaxResults, same.Cursor, same.Before, same.After = 0, "", 0, 0
	id = ts.query(same)
	start, err = decodeCursor(ops.Grep, id, in.Cursor)
	return id, start, err
}

func planGrep(_ context.Context, ts *toolset, in *grepInput) ([]policy.Request, error) {
	if _, _, err := in.start(ts); err != nil {
		return nil, err
	}
	return ts.touches(ops.Grep, policy.OpRead, in.Path)
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

// searchedForMatch is how much of a long line is searched again for the place
// of the match.
const searchedForMatch = 1 << 20

// excerpter cuts long lines around what a search found in them.
type excerpter struct {
	pattern *regexp.Regexp // nil if the place of a match cannot be told
}

func newExcerpter(in *grepInput) *excerpter {
	source := in.Pattern
	if in.Literal {
		source = regexp.QuoteMeta(source)
	}
	if in.IgnoreCase {
		source = "(?i:" + source + ")"
	}
	// The provider has judged the pattern; what it takes and regexp does not
	// is shown from the start of the line.
	pattern, _ := regexp.Compile(source)
	return &excerpter{pattern: pattern}
}

func (e *excerpter) match(m workspace.Match) grepMatch {
	out := grepMatch{Path: m.Path, LineNumber: m.LineNumber, Before: around(m.Before), After: around(m.After)}
	out.Line, out.LineTruncated = e.line(m.Line)
	return out
}

// around cuts the lines around a match.
func around(lines []string) []string {
	cut := make([]string, len(lines))
	for i, line := range lines {
		cut[i], _ = clipLine(strings.ToValidUTF8(line, "\uFFFD"), grepChars)
	}
	return cut
}

// line returns the part of a line around its first match.
func (e *excerpter) line(line string) (_ string, cut bool) {
	if len(line) <= grepChars || utf8.RuneCountInString(line) <= grepChars {
		return strings.ToValidUTF8(line, "\uFFFD"), false
	}
	return wording.ClipAround(line, e.start(line), grepChars), true
}

// start returns where to begin to show a long line so that its match, with
// some of what is before it, is in.
func (e *excerpter) start(line string) int {
	if e.pattern == nil {
		return 0
	}
	found := e.pattern.FindStringIndex(line[:min(len(line), searchedForMatch)])
	if found == nil {
		return 0
	}
	return wording.StepBack(line, found[0], grepChars/4)
}

// text shows matches as ripgrep does for people: the path once, then
// "12:line" for a match and "11-line" for a line around one.
func (o *grepOutput) text() string {
	var out strings.Builder
	if len(o.Matches) == 0 {
		out.WriteString("No lines match.\n")
	}
	g := &grepWriter{out: &out, context: o.hasContext()}
	for i, m := range o.Matches {
		g.match(m, o.Matches[i+1:])
	}
	o.writeSkipped(&out)
	out.WriteString(moreText(o.NextCursor))
	return strings.TrimSuffix(out.String(), "\n")
}

func (o *grepOutput) hasContext() bool {
	for _, m := range o.Matches {
		if len(m.Before)+len(m.After) > 0 {
			return true
		}
	}
	return false
}

func (o *grepOutput) writeSkipped(out *strings.Builder) {
	if o.SkippedTotal == 0 {
		return
	}
	fmt.Fprintf(out, "[not searched: %s]\n", wording.Count(o.SkippedTotal, "file", "files"))
	for _, s := range o.Skipped {
		fmt.Fprintf(out, "%s (%s)\n", s.Path, s.Reason)
	}
	if more := o.SkippedTotal - len(o.Skipped); more > 0 {
		fmt.Fprintf(out, "and %d more\n", more)
	}
}

// grepWriter writes matches, and no line of a file twice.
type grepWriter struct {
	out     *strings.Builder
	context bool
	path    string
	line    int // the last line of path that was written
}

func (g *grepWriter) match(m grepMatch, rest []grepMatch) {
	g.heading(m.Path)
	first := m.LineNumber - len(m.Before)
	if g.context && g.line > 0 && first > g.line+1 {
		g.out.WriteString("--\n")
	}
	for i, line := range m.Before {
		g.write(first+i, "-", line)
	}
	g.write(m.LineNumber, ":", m.Line)
	for i, line := range m.After {
		number := m.LineNumber + 1 + i
		if len(rest) > 0 && rest[0].Path == m.Path && number >= rest[0].LineNumber {
			return
		}
		g.write(number, "-", line)
	}
}

func (g *grepWriter) heading(path string) {
	if path == g.path {
		return
	}
	if g.path != "" {
		g.out.WriteString("\n")
	}
	g.out.WriteString(path + "\n")
	g.path, g.line = path, 0
}

func (g *grepWriter) write(number int, sign, line string) {
	if number <= g.line {
		return
	}
	fmt.Fprintf(g.out, "%d%s%s\n", number, sign, strings.TrimSuffix(line, "\r"))
	g.line = number
}
