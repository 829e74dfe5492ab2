package edit

import (
	"bytes"
	"strings"
)

// insert plans the insertion of whole lines. Their last line end may be left out. A
// file without a final line end stays without one.
func insert(data []byte, e Edit, room int) (located, error) {
	if e.Old != "" || e.All || e.Count != 0 || e.Regexp || e.Tolerant {
		return located{}, &InvalidError{Reason: "an edit that inserts before a line replaces nothing"}
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
