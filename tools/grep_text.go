package tools

import (
	"fmt"
	"strings"

	"github.com/workspacekit/workspacekit/internal/wording"
)

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
