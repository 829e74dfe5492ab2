package edit

import (
	"bytes"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// tolerances are the ways to look for a text that does not occur, the least tolerant
// one first.
var tolerances = []struct {
	how  without
	what string
}{
	{withoutCR | withoutTrailing, "line ends or trailing blanks"},
	{withoutCR | withoutTrailing | withoutType, "quotes, dashes or spaces"},
	{withoutCR | withoutTrailing | withoutIndent, "indentation"},
	{withoutCR | withoutTrailing | withoutType | withoutIndent, "indentation, and quotes, dashes or spaces"},
}

// locateTolerant finds what an edit replaces whose text does not occur as it is.
func locateTolerant(data []byte, e Edit, room int) (located, error) {
	for _, t := range tolerances {
		old := newView([]byte(e.Old), t.how).text
		if len(bytes.TrimSpace(old)) == 0 {
			break
		}
		v := newView(data, t.how)
		starts := e.find(v.text, old, where{
			lineStart: t.how&withoutIndent != 0,
			lineEnd:   strings.TrimRightFunc(e.Old, isBlank) != e.Old,
		})
		if len(starts) == 0 {
			continue
		}
		if err := e.accept(v.text, starts, room); err != nil {
			return located{}, err
		}
		spans, err := e.spans(data, v, starts, len(old), t.how)
		if spans != nil || err != nil {
			return located{spans, t.what}, err
		}
	}
	return located{}, &NotFoundError{}
}

// spans returns what to replace in data if a text of a length is at starts in a view
// of it, and nil if the replacement cannot be indented.
func (e Edit) spans(data []byte, v *view, starts []int, length int, how without) ([]Span, error) {
	spans := make([]Span, len(starts))
	size := 0
	for i, at := range starts {
		s := Span{Start: v.start(at), End: v.end(at + length), New: e.New}
		if how&withoutIndent != 0 {
			s.Start = v.end(at)
			var ok bool
			if s.New, ok = reindent(e.Old, string(data[s.Start:s.End]), e.New); !ok {
				return nil, nil
			}
		}
		switch matched := data[s.Start:s.End]; {
		case bytes.Contains(matched, []byte("\r\n")):
			s.New = toCRLF(s.New)
		case bytes.IndexByte(matched, '\n') >= 0:
			s.New = toLF(s.New)
		}
		if size += len(s.New); size > maxNew {
			return nil, workspace.ErrTooLarge
		}
		spans[i] = s
	}
	return spans, nil
}
