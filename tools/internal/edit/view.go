package edit

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/charset"
)

// view is a text without some differences, from which places lead back to the
// original. For example, "a \r\n“b”" without any of them is
//
//	a \n " b "      the text
//	0  1 2 3 4  5   a place in it
//	0  2 4 7 8 11   where the original starts that stands there
//	0  1 4 7 8 11   where the original ends that stands before it
type view struct {
	text    []byte
	anchors []anchor // sorted; the first is at 0
	done    int      // how much of the original the text stands for
}

// anchor says that the text from at on stands for the original from start on, and that
// before it for the original up to end.
type anchor struct{ at, end, start int }

// without is a set of differences that a view does not have.
type without int

const (
	withoutCR       without = 1 << iota // carriage returns before line feeds
	withoutTrailing                     // blanks at the ends of lines
	withoutType                         // quotes, dashes and spaces other than those of ASCII
	withoutIndent                       // blanks at the starts of lines
)

// newView returns data without some differences.
func newView(data []byte, how without) *view {
	v := &view{anchors: []anchor{{}}}
	at := 0
	for line := range bytes.Lines(data) {
		body := bytes.TrimSuffix(line, []byte("\n"))
		if how&withoutCR != 0 && len(body) < len(line) {
			body = bytes.TrimSuffix(body, []byte("\r"))
		}
		start, end := at, at+len(body)
		if how&withoutTrailing != 0 {
			end = at + len(bytes.TrimRightFunc(body, isBlank))
		}
		if how&withoutIndent != 0 {
			start = min(at+len(indentation(body)), end)
		}
		v.addText(data[start:end], start, how)
		if next := at + len(line); line[len(line)-1] == '\n' {
			v.add([]byte("\n"), at+len(body), next)
		}
		at += len(line)
	}
	return v
}

// indentation returns the blanks that a line begins with.
func indentation[T []byte | string](line T) T {
	for i, r := range string(line) {
		if !isBlank(r) {
			return line[:i]
		}
	}
	return line
}

// isBlank reports whether r is a tab, or a space of any width.
func isBlank(r rune) bool {
	return r == '\t' || r == ' ' || r >= utf8.RuneSelf && unicode.Is(unicode.Zs, r)
}

// addText appends a part of a line that begins at start of the original.
func (v *view) addText(text []byte, start int, how without) {
	if how&withoutType == 0 {
		v.add(text, start, start+len(text))
		return
	}
	for len(text) > 0 {
		plain := 0
		for plain < len(text) && text[plain] < utf8.RuneSelf {
			plain++
		}
		v.add(text[:plain], start, start+plain)
		if plain == len(text) {
			return
		}
		r, size := utf8.DecodeRune(text[plain:])
		char := text[plain : plain+size]
		if same := charset.PlainRune(r); same != r {
			char = []byte{byte(same)}
		}
		v.add(char, start+plain, start+plain+size)
		text, start = text[plain+size:], start+plain+size
	}
}

// add appends text, which stands for the original from start to end. What is
// between that and what was added before is left out.
func (v *view) add(text []byte, start, end int) {
	if start != v.done {
		v.anchor(v.done, start)
	}
	v.text = append(v.text, text...)
	if v.done = end; len(text) != end-start {
		v.anchor(end, end)
	}
}

// anchor notes where the text up to here ends in the original, and where the text from
// here on starts.
func (v *view) anchor(end, start int) {
	if last := &v.anchors[len(v.anchors)-1]; last.at == len(v.text) {
		last.start = start
		return
	}
	v.anchors = append(v.anchors, anchor{len(v.text), end, start})
}

// start returns where the original starts that stands at a place.
func (v *view) start(at int) int {
	c := v.last(at)
	return c.start + at - c.at
}

// end returns where the original ends that stands before a place.
func (v *view) end(at int) int {
	c := v.last(at)
	if c.at == at {
		return c.end
	}
	return c.start + at - c.at
}

// last returns the last anchor that is not after a place.
func (v *view) last(at int) anchor {
	i, found := slices.BinarySearchFunc(v.anchors, at, func(c anchor, at int) int { return c.at - at })
	if !found {
		i--
	}
	return v.anchors[i]
}
