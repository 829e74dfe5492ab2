package edit

import (
	"bytes"
	"strings"

	"github.com/workspacekit/workspacekit/internal/lines"
)

// shownLines is how many occurrences a [NotUniqueError] lists.
const shownLines = 20

// located is what an edit replaces.
type located struct {
	spans     []Span
	tolerated string // how the text differs from the one to replace, if it does
}

// locate finds what an edit replaces, at most room texts. What the errors say about
// the number of the edit is set by the caller.
func locate(data []byte, e Edit, room int) (located, error) {
	if e.Line != 0 {
		return insert(data, e, room)
	}
	switch {
	case e.Old == "":
		return located{}, errEmpty()
	case e.Regexp && e.Tolerant:
		return located{}, &InvalidError{Reason: "a regular expression cannot be matched in a tolerant way", Hint: "Leave regexp or tolerant out."}
	case e.Regexp:
		return afterMark(data, e, room, locateRegexp)
	case e.Old == e.New:
		return located{}, &InvalidError{Reason: "the text to replace and the new text are the same", Hint: otherNew}
	}
	e = adaptLineEnds(data, e)
	if e.Old == e.New {
		return located{}, &InvalidError{Reason: "the text to replace and the new text differ in line ends only, and the file's line ends stay", Hint: otherNew}
	}
	starts := e.find(data, []byte(e.Old), anywhere)
	if len(starts) == 0 && e.Tolerant {
		return afterMark(data, e, room, locateTolerant)
	}
	if err := e.accept(data, starts, room); err != nil {
		return located{}, err
	}
	spans := make([]Span, len(starts))
	crlf := toCRLF(e.New)
	for i, start := range starts {
		spans[i] = e.span(data, start, crlf)
	}
	return located{spans: spans}, nil
}

// span replaces Old at start of data. Where Old begins with the second half of a line end, that
// goes as a whole, and crlf, which is New with CRLF, takes its place.
func (e Edit) span(data []byte, start int, crlf string) Span {
	s := Span{Start: start, End: start + len(e.Old), New: e.New}
	if start > 0 && e.Old[0] == '\n' && data[start-1] == '\r' && !strings.HasSuffix(e.Old, "\r") {
		s.Start, s.New = start-1, crlf
	}
	return s
}

// otherNew is the hint about an edit that would change nothing.
const otherNew = "Give another new text."

// errEmpty returns the error of an edit whose text to replace is empty. Like the texts of
// other errors that every dialect can have, it names no parameter.
func errEmpty() error {
	return &InvalidError{Reason: "the text to replace is empty", Hint: "Give the text that is in the file; the new text may be empty."}
}

// afterMark locates an edit in what comes after a byte order mark, which is no part of
// the first line.
func afterMark(data []byte, e Edit, room int, locate func([]byte, Edit, int) (located, error)) (located, error) {
	text := bytes.TrimPrefix(data, []byte(mark))
	found, err := locate(text, e, room)
	for i := range found.spans {
		found.spans[i].Start += len(data) - len(text)
		found.spans[i].End += len(data) - len(text)
	}
	return found, err
}

// where restricts the places at which a text may be found.
type where struct {
	lineStart, lineEnd bool
}

// anywhere restricts nothing.
var anywhere where

// find returns where old occurs in data, without overlaps, and if the edit needs one
// place to be the only one, with them: of "aba" in "ababa" there are two to choose
// from. It returns a place more than an edit can replace, and no further ones.
func (e Edit) find(data, old []byte, w where) (starts []int) {
	text := lines.NewLiteral(string(old), false)
	for at := w.next(data, &text, 0); at >= 0 && len(starts) <= MaxReplacements; at = w.next(data, &text, at+len(old)) {
		starts = append(starts, at)
	}
	if len(starts) == 1 && !e.All && e.Count == 0 {
		near := data[:min(starts[0]+2*len(old), len(data))] // where one that overlaps ends
		if at := w.next(near, &text, starts[0]+1); at >= 0 {
			starts = append(starts, at)
		}
	}
	return starts
}

// next returns where old begins next, at from or after it, and -1 for nowhere.
func (w where) next(data []byte, old *lines.Literal, from int) int {
	for {
		start := old.Index(data, from)
		if start < 0 {
			return -1
		}
		end := start + old.Len()
		if (!w.lineStart || start == 0 || data[start-1] == '\n') && (!w.lineEnd || end == len(data) || data[end] == '\n') {
			return start
		}
		from = start + 1
	}
}

// accept returns the error of an edit that finds its text at starts.
func (e Edit) accept(data []byte, starts []int, room int) error {
	switch n := len(starts); {
	case n == 0:
		return &NotFoundError{Regexp: e.Regexp}
	case e.Count != 0 && n != e.Count, e.Count == 0 && !e.All && n > 1:
		return &NotUniqueError{Want: e.Count, Count: n, Lines: linesAt(data, starts[:min(n, shownLines)])}
	case n > room:
		return &TooManyError{}
	}
	return nil
}

// linesAt returns the lines, from 1, of the bytes at sorted offsets.
func linesAt(data []byte, offsets []int) []int {
	lines := make([]int, len(offsets))
	line, at := 1, 0
	for i, offset := range offsets {
		line += bytes.Count(data[at:offset], []byte("\n"))
		lines[i], at = line, offset
	}
	return lines
}

// insert plans the insertion of whole lines. Their last line end may be left out. A
// file without a final line end stays without one.
func insert(data []byte, e Edit, room int) (located, error) {
	if e.Old != "" || e.All || e.Count != 0 || e.Regexp || e.Tolerant {
		return located{}, &InvalidError{Reason: "an edit that inserts before a line replaces nothing", Hint: "Leave insertLine out, or give only newText with it."}
	}
	start, lines, ok := lineStart(data, e.Line)
	switch {
	case !ok:
		return located{}, &LineError{Line: e.Line, Lines: lines}
	case room < 1:
		return located{}, &TooManyError{}
	}
	text := strings.TrimSuffix(strings.ReplaceAll(e.New, "\r\n", "\n"), "\n")
	atEnd := start == len(data)
	switch {
	case atEnd && e.Line == 1: // the file is empty
		return located{spans: []Span{{Start: start, End: start, New: e.New}}}, nil
	case atEnd && data[start-1] != '\n':
		text = "\n" + text
	default:
		text += "\n"
	}
	if endsCRLF(data, start) {
		text = toCRLF(text)
	}
	return located{spans: []Span{{Start: start, End: start, New: text}}}, nil
}

// lineStart returns where a line begins, counted from 1, after a byte order mark.
// The line after the last one begins at the end. Otherwise it returns how many lines
// there are.
func lineStart(data []byte, line int) (start, lines int, ok bool) {
	if line == 1 {
		return len(data) - len(bytes.TrimPrefix(data, []byte(mark))), 0, true
	}
	for start < len(data) {
		lines++
		next := bytes.IndexByte(data[start:], '\n') + 1
		if next == 0 {
			next = len(data) - start
		}
		if start += next; lines+1 == line {
			return start, 0, true
		}
	}
	return 0, lines, false
}

// mark is the byte order mark of UTF-8.
const mark = "\uFEFF"

// endsCRLF reports whether the line before start ends in CRLF, or the first line if
// there is none before it.
func endsCRLF(data []byte, start int) bool {
	end := bytes.LastIndexByte(data[:start], '\n')
	if end < 0 {
		end = bytes.IndexByte(data, '\n')
	}
	return end > 0 && data[end-1] == '\r'
}
