package scan

import (
	"bytes"
	"slices"
)

// excerpt tells the lines around places of a text that are asked for in
// order.
type excerpt struct {
	data []byte
	at   int // the place of the last question
	line int // the number of the line at that place
}

// lineAt returns the number of the line that begins at start.
func (e *excerpt) lineAt(start int) int {
	e.line += bytes.Count(e.data[e.at:start], []byte{'\n'})
	e.at = start
	return e.line
}

// before returns at most n lines that end before start, nearest last.
func (e *excerpt) before(start, n int) []string {
	var lines []string
	for ; n > 0 && start > 0; n-- {
		end := start - 1
		start = bytes.LastIndexByte(e.data[:end], '\n') + 1
		lines = append(lines, string(e.data[start:end]))
	}
	slices.Reverse(lines)
	return lines
}

// after returns at most n lines that begin after the line break at end,
// nearest first.
func (e *excerpt) after(end, n int) []string {
	var lines []string
	for ; n > 0 && end+1 < len(e.data); n-- {
		start := end + 1
		end = len(e.data)
		if next := bytes.IndexByte(e.data[start:], '\n'); next >= 0 {
			end = start + next
		}
		lines = append(lines, string(e.data[start:end]))
	}
	return lines
}
