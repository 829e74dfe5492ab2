package main

import (
	"regexp"
	"strings"
)

// grepQuery is what a search was asked for, as far as it matters to how its
// result is printed.
type grepQuery struct {
	Pattern    string `json:"pattern"`
	Literal    bool   `json:"literal"`
	IgnoreCase bool   `json:"ignoreCase"`
	Before     int    `json:"before"`
	After      int    `json:"after"`
}

// marker colors what matches in a line.
type marker struct {
	look    look
	pattern *regexp.Regexp // nil if nothing is colored
}

func (q grepQuery) marker(l look) marker {
	if !l.color {
		return marker{look: l}
	}
	source := q.Pattern
	if q.Literal {
		source = regexp.QuoteMeta(source)
	}
	if q.IgnoreCase {
		source = "(?i)" + source
	}
	// A pattern that is not valid is refused by the tool.
	pattern, err := regexp.Compile(source)
	if err != nil {
		pattern = nil
	}
	return marker{look: l, pattern: pattern}
}

func (m marker) mark(line string) string {
	if m.pattern == nil {
		return m.look.line(line)
	}
	var out strings.Builder
	end := 0
	for _, span := range m.pattern.FindAllStringIndex(line, -1) {
		out.WriteString(m.look.line(line[end:span[0]]))
		out.WriteString(m.look.paint(boldRed, m.look.line(line[span[0]:span[1]])))
		end = span[1]
	}
	out.WriteString(m.look.line(line[end:]))
	return out.String()
}
