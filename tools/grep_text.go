package tools

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
)

// searchedForMatch is how much of a long line is searched again for the place
// of the match.
const searchedForMatch = 1 << 20

// excerpter cuts long lines around what a search found in them.
type excerpter struct {
	ctx     context.Context // of the call
	matcher *lines.Matcher  // nil if the place of a match cannot be told
	only    bool            // only what matches is shown
}

// newExcerpter compiles the pattern once for the page.
func newExcerpter(ctx context.Context, in *grepInput) *excerpter {
	// The provider has judged the pattern; what it takes and the engine does not
	// is shown from the start of the line.
	matcher, _ := lines.Compile(in.Pattern, lines.Options{Literal: in.Literal, IgnoreCase: in.IgnoreCase, Multiline: in.Multiline})
	return &excerpter{ctx: ctx, matcher: matcher, only: in.OnlyMatching && matcher != nil}
}

// match returns a match with lines that are cut to a length that a model can read,
// around what matches.
//
// With onlyMatching, the lines are the parts that match. Otherwise a match that spans lines
// shows the beginning of each line, and any other the part of its line around the first
// match.
func (e *excerpter) match(m workspace.Match) grepMatch {
	out := grepMatch{Path: m.Path, LineNumber: m.LineNumber, LastLine: m.LastLine, Before: around(m.Before), After: around(m.After)}
	switch {
	case e.only:
		out.Line, out.numbers, out.LineTruncated = e.parts(m)
	case m.LastLine > 0:
		out.Line, out.LineTruncated = clipLines(strings.Split(m.Line, "\n"))
	default:
		out.Line, out.LineTruncated = e.line(m)
	}
	return out
}

// around cuts the lines around a match. Bytes that are not UTF-8 become U+FFFD.
func around(lines []string) []string {
	cut := make([]string, len(lines))
	for i, line := range lines {
		cut[i], _ = clipLine(strings.ToValidUTF8(line, "\uFFFD"), grepChars)
	}
	return cut
}

// clipLines joins lines, each cut as those around a match. If there are very many,
// a mark stands for the last ones.
func clipLines(all []string) (_ string, cut bool) {
	kept := all[:min(len(all), grepParts)]
	clipped := around(kept)
	if left := len(all) - len(kept); left > 0 {
		clipped = append(clipped, fmt.Sprintf("… [cut: %d more]", left))
	}
	text := strings.Join(clipped, "\n")
	return text, text != strings.ToValidUTF8(strings.Join(all, "\n"), "\uFFFD")
}

// line returns the part of a line around its first match.
//
// A quarter of the characters is from before the match. If the match is not found again,
// because the line is very long or the pattern is not known here, it is the beginning of the
// line.
func (e *excerpter) line(m workspace.Match) (_ string, cut bool) {
	if len(m.Line) <= grepChars || utf8.RuneCountInString(m.Line) <= grepChars {
		return strings.ToValidUTF8(m.Line, "\uFFFD"), false
	}
	start := 0
	if _, parts := e.found(m, 1); len(parts) > 0 {
		start = wording.StepBack(m.Line, parts[0][0], grepChars/4)
	}
	return wording.ClipAround(m.Line, start, grepChars), true
}

// parts returns what matches in the lines of m, but for empty parts, with the number
// of each line that a part is on.
//
// Of the line 7 "one two one" and the pattern "one",
//
//	"one\none", [7, 7]
//
// A part that spans lines has a number for each. After the parts, a mark stands for what of
// very long lines is not searched for them.
func (e *excerpter) parts(m workspace.Match) (_ string, numbers []int, cut bool) {
	seen, found := e.found(m, -1)
	var parts []string
	line, at := m.LineNumber, 0
	for _, part := range found {
		line += strings.Count(seen[at:part[0]], "\n")
		at = part[0]
		if part[0] == part[1] {
			continue
		}
		for i, text := range strings.Split(seen[part[0]:part[1]], "\n") {
			parts, numbers = append(parts, text), append(numbers, line+i)
		}
	}
	text, cut := clipLines(parts)
	if len(m.Line) > searchedForMatch {
		if len(parts) > 0 {
			text += "\n"
		}
		text += fmt.Sprintf("… [cut: %d more characters]", utf8.RuneCountInString(m.Line[searchedForMatch:]))
		cut = true
		numbers = append(numbers, m.LineNumber+strings.Count(seen, "\n"))
	}
	return text, numbers, cut
}

// found returns what the pattern sees of the lines of m, and where it matches there, at most
// n times. A negative n means all. Bounds are offsets in seen, which may lack the "\r" of
// line ends.
func (e *excerpter) found(m workspace.Match, n int) (seen string, parts [][]int) {
	if e.matcher == nil {
		return "", nil
	}
	text, parts := e.matcher.Parts(e.ctx, []byte(m.Line[:min(len(m.Line), searchedForMatch)]), m.LineNumber == 1, n)
	return string(text), parts
}

// text shows matches as ripgrep does for people: the path once, then
// "12:line" for a match and "11-line" for a line around one.
//
//	3 matches in 2 files
//	src/a.go
//	11-	// before
//	12:	x := find()
//	--
//	40:	y := find()
//
//	src/b.go
//	3:	find()
//	[not searched: 1 binary (logo.png)]
//
// A "--" stands where lines are left out, and only if there are lines around matches.
func (o *grepOutput) text() string {
	var out strings.Builder
	out.WriteString(o.heading() + "\n")
	for _, f := range o.Files {
		out.WriteString(onOneLine(f.Path))
		if f.Count > 0 {
			fmt.Fprintf(&out, ":%d", f.Count)
		}
		out.WriteString("\n")
	}
	g := &grepWriter{out: &out, format: "%d%s%s\n", context: o.hasContext()}
	for i, m := range o.Matches {
		g.match(m, o.Matches[i+1:])
	}
	out.WriteString(o.notes())
	return strings.TrimSuffix(out.String(), "\n")
}

// heading says how many matches there are, and if there are none what was searched. It claims
// no more than is known: a page of several cannot count the files of the whole.
func (o *grepOutput) heading() string {
	files := len(o.Files)
	for i, m := range o.Matches {
		if i == 0 || m.Path != o.Matches[i-1].Path {
			files++
		}
	}
	switch {
	case files == 0:
		return o.nothing()
	case o.in.Output == shapeCount:
		count := 0
		for _, f := range o.Files {
			count += f.Count
		}
		if o.Truncated || o.in.Cursor != "" {
			return extent(o.in.Cursor != "", o.Truncated, files, o.Total, "file", "files") + ": " + wording.Count(count, "match", "matches")
		}
		return wording.Count(count, "match", "matches") + " in " + wording.Count(files, "file", "files")
	case o.in.Output == shapeFiles:
		return extent(o.in.Cursor != "", o.Truncated, files, o.Total, "file", "files")
	}
	text := extent(o.in.Cursor != "", o.Truncated, len(o.Matches), o.Total, "match", "matches")
	if !o.Truncated && o.in.Cursor == "" {
		text += " in " + wording.Count(files, "file", "files")
	}
	return text
}

// extent says what part of a result a page has: "7 files", "first 100 of 121 files",
// "next 100 files" or "last 21 files". total is nil or 0 where it is not known.
func extent(later, more bool, n int, total *int, one, many string) string {
	switch {
	case later && more:
		return "next " + wording.Count(n, one, many)
	case later:
		return "last " + wording.Count(n, one, many)
	case more && total != nil && *total > n:
		return fmt.Sprintf("first %d of %s", n, wording.Count(*total, one, many))
	case more:
		return "first " + wording.Count(n, one, many)
	}
	return wording.Count(n, one, many)
}

// nothing says that there is no match, and why perhaps. If no file was searched at all, the
// globs or .gitignore may be the reason.
func (o *grepOutput) nothing() string {
	if o.in.Cursor != "" {
		return "no more lines match"
	}
	why, searched := "", 0
	if o.Searched != nil {
		searched = *o.Searched
	}
	switch {
	case searched > 0, o.SkippedTotal > 0:
	case o.in.IncludeGlob != "" && !strings.Contains(o.in.IncludeGlob, "/"), strings.HasPrefix(o.in.IncludeGlob, "**/"):
		why = ": no file name matches includeGlob, or all are excluded"
	case o.in.IncludeGlob != "" && (o.in.Path == "" || o.in.Path == "."):
		why = ": includeGlob is taken from the root"
	case o.in.IncludeGlob != "":
		why = ": includeGlob is taken from " + onOneLine(o.in.Path)
	case !o.in.IncludeIgnored:
		why = ": includeIgnored searches .git and what .gitignore excludes"
	}
	return fmt.Sprintf("no lines match (%s searched%s)", wording.Count(searched, "file", "files"), why)
}

// hasContext reports whether a match has lines before or after it.
func (o *grepOutput) hasContext() bool {
	for _, m := range o.Matches {
		if len(m.Before)+len(m.After) > 0 {
			return true
		}
	}
	return false
}

// notes returns the line that says how to continue, and what was not searched. The
// first page names some files for each reason.
func (o *grepOutput) notes() string {
	var notes []string
	if o.NextCursor != "" {
		notes = append(notes, "more: repeat with cursor="+o.NextCursor)
	}
	if len(o.skipped) > 0 {
		notes = append(notes, "not searched: "+strings.Join(skippedByReason(o.skipped, o.in.Cursor == ""), ", "))
	}
	if len(notes) == 0 {
		return ""
	}
	return "[" + strings.Join(notes, "; ") + "]\n"
}

// skippedByReason returns for each reason how many files have it: "12 binary", and with names
// "12 binary (a.bin, b.bin, c.bin, …)". Reasons come in the order in which they first occur.
func skippedByReason(skipped []workspace.Skipped, withNames bool) []string {
	const named = 3
	names := map[workspace.SkipReason][]string{}
	var reasons []workspace.SkipReason
	for _, s := range skipped {
		if names[s.Reason] == nil {
			reasons = append(reasons, s.Reason)
		}
		names[s.Reason] = append(names[s.Reason], clip(onOneLine(s.Path), pathChars))
	}
	parts := make([]string, len(reasons))
	for i, reason := range reasons {
		all := names[reason]
		parts[i] = fmt.Sprintf("%d %s", len(all), reason)
		if !withNames {
			continue
		}
		if len(all) > named {
			all = append(all[:named:named], "…")
		}
		parts[i] += " (" + strings.Join(all, ", ") + ")"
	}
	return parts
}

// grepWriter writes matches, and no line of a file twice. Matches must come in order, those
// of a file together.
type grepWriter struct {
	out     *strings.Builder
	format  string // of a line: its number, the sign of a match or of context, and the text
	context bool   // some match has lines around it
	path    string // of the file whose heading was written last
	line    int    // the last line of path that was written
}

// match writes a match with its context. Lines that a match before has written, and those
// that the next match has as its own, are left out. So lines come in order even where the
// context of two matches overlaps.
func (g *grepWriter) match(m grepMatch, rest []grepMatch) {
	g.heading(m.Path)
	first := m.LineNumber - len(m.Before)
	if g.context && g.line > 0 && first > g.line+1 {
		g.out.WriteString("--\n")
	}
	for i, line := range m.Before {
		g.write(first+i, "-", line)
	}
	for i, line := range strings.Split(m.Line, "\n") {
		number := m.LineNumber + i
		if i < len(m.numbers) {
			number = m.numbers[i]
		}
		g.put(number, ":", line)
	}
	last := max(m.LineNumber, m.LastLine)
	g.line = last
	for i, line := range m.After {
		number := last + 1 + i
		if len(rest) > 0 && rest[0].Path == m.Path && number >= rest[0].LineNumber {
			return
		}
		g.write(number, "-", line)
	}
}

// heading begins a file: its path stands once above its matches.
func (g *grepWriter) heading(path string) {
	if path == g.path {
		return
	}
	if g.path != "" {
		g.out.WriteString("\n")
	}
	g.out.WriteString(onOneLine(path) + "\n")
	g.path, g.line = path, 0
}

// write writes a line of context, unless it has been written.
func (g *grepWriter) write(number int, sign, line string) {
	if number > g.line {
		g.put(number, sign, line)
		g.line = number
	}
}

// put writes a line with its number.
func (g *grepWriter) put(number int, sign, line string) {
	fmt.Fprintf(g.out, g.format, number, sign, strings.TrimSuffix(line, "\r"))
}
