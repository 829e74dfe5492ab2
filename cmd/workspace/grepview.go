package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// grepView prints lines as ripgrep does: at a terminal below the path of their
// file, else each with it. A line that is around several matches is printed
// once, and "--" stands where lines are left out between those around matches.
type grepView struct {
	console
	marker  marker
	context bool // lines around matches were asked for
	skipped skippedFiles
	cursor  string

	path    string   // of the last match
	match   int      // its line
	after   []string // the lines after it, which are not printed yet
	printed int      // the line that was printed last
	apart   bool     // something was printed that needs a separator
}

type grepResult struct {
	Matches      []workspace.Match   `json:"matches"`
	Skipped      []workspace.Skipped `json:"skipped"`
	SkippedTotal int                 `json:"skippedTotal"`
	NextCursor   string              `json:"nextCursor"`
}

func newGrepView(c console, args json.RawMessage) *grepView {
	var q grepQuery
	// Arguments that cannot be decoded are refused by the tool.
	_ = json.Unmarshal(args, &q)
	return &grepView{console: c, marker: q.marker(c.look), context: q.Before > 0 || q.After > 0}
}

func (v *grepView) show(result json.RawMessage) error {
	var found grepResult
	if err := json.Unmarshal(result, &found); err != nil {
		return fault(err)
	}
	for _, m := range found.Matches {
		v.print(m)
	}
	v.skipped.add(found)
	v.cursor = found.NextCursor
	return nil
}

func (v *grepView) end() error {
	v.printAfter(0)
	if err := v.Flush(); err != nil {
		return fault(err)
	}
	v.skipped.note(v.console)
	v.noteMore(v.cursor)
	return nil
}

func (v *grepView) print(m workspace.Match) {
	if m.Path == v.path {
		v.printAfter(m.LineNumber)
	} else {
		v.printAfter(0)
		v.begin(m.Path)
	}
	for n, line := range m.Before {
		if number := m.LineNumber - len(m.Before) + n; number > v.printed {
			v.line(number, "-", v.look.line(line))
		}
	}
	v.line(m.LineNumber, ":", v.marker.mark(m.Line))
	v.match, v.after = m.LineNumber, m.After
}

// printAfter prints the lines that wait, up to the line end if that is not 0.
func (v *grepView) printAfter(end int) {
	for n, line := range v.after {
		if number := v.match + 1 + n; end == 0 || number < end {
			v.line(number, "-", v.look.line(line))
		}
	}
	v.after = nil
}

// begin goes on with another file.
func (v *grepView) begin(path string) {
	v.path, v.printed = path, 0
	if !v.look.terminal {
		return
	}
	if v.apart {
		fmt.Fprintln(v)
	}
	fmt.Fprintln(v, v.look.paint(magenta, v.look.name(path)))
	v.apart = false
}

// line prints one line of a file. What cannot be written is reported when the
// buffer is flushed.
func (v *grepView) line(number int, mark, text string) {
	if v.context && v.apart && (number != v.printed+1 || v.printed == 0) {
		fmt.Fprintln(v, v.look.paint(cyan, "--"))
	}
	v.printed, v.apart = number, true
	prefix := ""
	if !v.look.terminal {
		prefix = v.look.paint(magenta, v.path) + v.look.paint(cyan, mark)
	}
	fmt.Fprintf(v, "%s%s%s%s\n", prefix, v.look.paint(green, fmt.Sprint(number)), v.look.paint(cyan, mark), text)
}

// skippedFiles are those that a search did not look into.
type skippedFiles struct {
	files []workspace.Skipped
	total int
}

// skippedShown is how many skipped files a note names.
const skippedShown = 5

func (s *skippedFiles) add(found grepResult) {
	s.files = append(s.files, found.Skipped...)
	s.total += found.SkippedTotal
}

func (s *skippedFiles) note(c console) {
	if s.total == 0 {
		return
	}
	var names []string
	for _, f := range s.files[:min(len(s.files), skippedShown)] {
		names = append(names, fmt.Sprintf("%s (%s)", f.Path, f.Reason))
	}
	if rest := s.total - len(names); rest > 0 {
		names = append(names, fmt.Sprintf("and %d more", rest))
	}
	c.note("not searched: %s", strings.Join(names, ", "))
}
