package view

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// grepView prints lines as ripgrep does: at a terminal below the path of their
// file, otherwise each with it. A line around several matches is printed once,
// and "--" stands where lines between those around matches are left out.
//
// A match has the lines before and after it, and may share them with the next
// one, which can be on the next page. So the lines after a match wait in the
// field after until it is known where the next match begins.
type grepView struct {
	term.Console
	highlighter  highlighter
	context      bool // lines around matches were asked for
	only         bool // only what matches is printed
	page         grepPage
	skipped      []workspace.Skipped // of all pages, the first of each
	skippedTotal int

	path    string   // of the last match
	match   int      // its line
	after   []string // the lines after it, which are not printed yet
	printed int      // the line that was printed last
	apart   bool     // something was printed that needs a separator
}

// grepPage is a page of the result of grep, whatever its output is.
type grepPage struct {
	Page
	Matches      []workspace.Match   `json:"matches"`
	Files        []grepFile          `json:"files"`
	Skipped      []workspace.Skipped `json:"skipped"`
	SkippedTotal int                 `json:"skippedTotal"`
}

// grepFile is a file with matches, and how many if that was asked for.
type grepFile struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

// newGrepView returns the view of a search with the arguments args.
func newGrepView(c term.Console, args json.RawMessage) *grepView {
	var q query
	// The tool refuses arguments that cannot be decoded.
	_ = json.Unmarshal(args, &q)
	return &grepView{Console: c, highlighter: q.highlighter(c.Style), context: q.Before > 0 || q.After > 0, only: q.OnlyMatching}
}

// Take implements [View].
func (v *grepView) Take(result *tools.Result) (Page, error) {
	v.page = grepPage{}
	err := decode(result, &v.page)
	return v.page.Page, err
}

// Show implements [View]. Skipped files are kept until the end, as they are noted once.
func (v *grepView) Show() {
	for _, f := range v.page.Files {
		fmt.Fprint(v, v.Paint(term.Magenta, v.Name(f.Path)))
		if f.Count > 0 {
			fmt.Fprintf(v, "%s%d", v.Paint(term.Cyan, ":"), f.Count)
		}
		fmt.Fprintln(v)
	}
	for _, m := range v.page.Matches {
		v.print(m)
	}
	v.skipped = append(v.skipped, v.page.Skipped...)
	v.skippedTotal += v.page.SkippedTotal
}

// End implements [View].
func (v *grepView) End() error {
	v.printAfter(0)
	if err := v.Flush(); err != nil {
		return term.Fail(err)
	}
	v.noteSkipped()
	return end(v.Console, v.page.Page)
}

// skippedShown is how many skipped files a note names.
const skippedShown = 5

// noteSkipped says which files were not searched, by the names of the first ones.
func (v *grepView) noteSkipped() {
	if v.skippedTotal == 0 {
		return
	}
	var names []string
	for _, f := range v.skipped[:min(len(v.skipped), skippedShown)] {
		names = append(names, fmt.Sprintf("%s (%s)", f.Path, f.Reason))
	}
	if rest := v.skippedTotal - len(names); rest > 0 {
		names = append(names, fmt.Sprintf("and %d more", rest))
	}
	v.Note("not searched: %s", strings.Join(names, ", "))
}

// print prints a match, after the lines that wait from the match before it.
// Lines around both are printed once: those after "two" and before "four" here,
// with one line of context, are the same.
//
//	1-one
//	2:two
//	3-three
//	4:four
//	5-five
func (v *grepView) print(m workspace.Match) {
	if m.Path == v.path {
		v.printAfter(m.LineNumber)
	} else {
		v.printAfter(0)
		v.begin(m.Path)
	}
	for n, line := range m.Before {
		if number := m.LineNumber - len(m.Before) + n; number > v.printed {
			v.printLine(number, "-", v.Line(line))
		}
	}
	lines := strings.Split(m.Line, "\n")
	for n, line := range lines {
		number := m.LineNumber + n
		if v.only && len(lines) != m.LastLine-m.LineNumber+1 { // several parts that match, each on a line
			number = m.LineNumber
		}
		v.printLine(number, ":", v.highlighter.highlight(line))
	}
	v.match, v.after = max(m.LineNumber, m.LastLine), m.After
}

// printAfter prints the lines that wait, up to the line end if that is not 0.
func (v *grepView) printAfter(end int) {
	for n, line := range v.after {
		if number := v.match + 1 + n; end == 0 || number < end {
			v.printLine(number, "-", v.Line(line))
		}
	}
	v.after = nil
}

// begin continues with another file. A pipe has the path on each line instead.
func (v *grepView) begin(path string) {
	v.path, v.printed = path, 0
	if !v.Terminal {
		return
	}
	if v.apart {
		fmt.Fprintln(v)
	}
	fmt.Fprintln(v, v.Paint(term.Magenta, v.Name(path)))
	v.apart = false
}

// printLine prints one line of a file. What cannot be written is reported when the buffer is
// flushed. mark is ":" for a line that matches, and "-" for one around it, as in grep.
func (v *grepView) printLine(number int, mark, text string) {
	if v.context && v.apart && (number != v.printed+1 || v.printed == 0) {
		fmt.Fprintln(v, v.Paint(term.Cyan, "--"))
	}
	v.printed, v.apart = number, true
	prefix := ""
	if !v.Terminal {
		prefix = v.Paint(term.Magenta, v.path) + v.Paint(term.Cyan, mark)
	}
	fmt.Fprintf(v, "%s%s%s%s\n", prefix, v.Paint(term.Green, fmt.Sprint(number)), v.Paint(term.Cyan, mark), text)
}

// query is the part of a search that says how its result is printed.
type query struct {
	Pattern    string `json:"pattern"`
	Literal    bool   `json:"literal"`
	IgnoreCase bool   `json:"ignoreCase"`
	Before     int    `json:"before"`
	After      int    `json:"after"`

	OnlyMatching bool `json:"onlyMatching"`
}

// highlighter colors what matches in a line.
type highlighter struct {
	style   term.Style
	pattern *regexp.Regexp // nil if nothing is colored
}

// highlighter finds again what the search has found: a result has the lines that match, and
// not where they do. It is Go's regular expression of the same pattern, which may differ from
// the search in details, such as the end of a line: then a line that matches has no color.
func (q query) highlighter(s term.Style) highlighter {
	if !s.Color {
		return highlighter{style: s}
	}
	source := q.Pattern
	if q.Literal {
		source = regexp.QuoteMeta(source)
	}
	if q.IgnoreCase {
		source = "(?i)" + source
	}
	// The tool refuses a pattern that is not valid.
	pattern, err := regexp.Compile(source)
	if err != nil {
		pattern = nil
	}
	return highlighter{style: s, pattern: pattern}
}

// highlight returns a line for the terminal, with what matches in color. The parts are
// made printable one by one, so that an escape sequence in the file cannot end a color.
func (h highlighter) highlight(line string) string {
	if h.pattern == nil {
		return h.style.Line(line)
	}
	var out strings.Builder
	end := 0
	for _, span := range h.pattern.FindAllStringIndex(line, -1) {
		out.WriteString(h.style.Line(line[end:span[0]]))
		out.WriteString(h.style.Paint(term.BoldRed, h.style.Line(line[span[0]:span[1]])))
		end = span[1]
	}
	out.WriteString(h.style.Line(line[end:]))
	return out.String()
}
