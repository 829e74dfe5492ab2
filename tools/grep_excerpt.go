package tools

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/workspace"
)

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
	return clipAround(line, e.start(line), grepChars), true
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
	return stepBack(line, found[0], grepChars/4)
}
