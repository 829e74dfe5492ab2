package edit

import (
	"bytes"
	"errors"
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
	missing := &NotFoundError{}
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
		if !errors.As(err, &missing) {
			return located{spans, t.what}, err
		}
	}
	return located{}, missing
}

// spans returns what to replace in data if a text of a length is at starts in a view
// of it. If the replacement cannot be indented, it is a [*NotFoundError].
func (e Edit) spans(data []byte, v *view, starts []int, length int, how without) ([]Span, error) {
	spans := make([]Span, len(starts))
	size := 0
	for i, at := range starts {
		s := Span{Start: v.start(at), End: v.end(at + length), New: e.New}
		if how&withoutIndent != 0 {
			s.Start = v.end(at)
			var ok bool
			found := string(data[s.Start:s.End])
			if s.New, ok = reindent(e.Old, found, e.New); !ok {
				_, alike := reindent(e.Old, found, "")
				return nil, &NotFoundError{Indent: alike}
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

// reindent returns text with each line indented as the lines of found are, which are
// those of old but for their indentation. It fails if old and found do not differ in
// the same way on all lines, or text cannot be indented in that way. If old begins after
// the indentation of its first line, that line may differ from the others.
//
// For example, old has four spaces where found has a tab, and found is indented by
// one more tab. So the lines of text lose four spaces for each tab and get one more:
//
//	if a {      →if a {      if b {      →if b {
//	    b()     →→b()            c()     →→c()
//	}           →}               d()     →→d()
//	                         }           →}
func reindent(old, found, text string) (string, bool) {
	pairs := indentations(old, found)
	late := len(pairs) > 1 && pairs[0].old == "" && pairs[0].found != "" && strings.TrimLeft(old, "\r\n") == old
	for _, exact := range []bool{true, false} {
		for _, u := range units {
			for _, first := range []int{0, 1} {
				if first == 1 && !late {
					continue // only a text that begins after an indentation
				}
				s, ok := shiftOf(pairs[first:], u)
				if !ok || exact && s != (shift{unit: u}) {
					continue
				}
				if out, ok := s.lines(text, first, pairs[0].found); ok {
					return out, true
				}
			}
		}
	}
	return "", false
}

// pair is how a line is indented that is the same in two texts otherwise.
type pair struct{ old, found string }

// indentations returns the pairs of the lines that are not empty.
func indentations(old, found string) (pairs []pair) {
	theirs := strings.Split(found, "\n")
	for i, line := range strings.Split(old, "\n") {
		if i < len(theirs) && strings.TrimFunc(strings.TrimSuffix(line, "\r"), isBlank) != "" {
			pairs = append(pairs, pair{indentation(line), indentation(theirs[i])})
		}
	}
	return pairs
}

// unit is what stands for one level of indentation in two texts.
type unit struct{ old, found string }

// units are the pairs of indentations that are tried, the likely ones first.
var units = []unit{
	{}, // the same
	{"    ", "\t"}, {"  ", "\t"}, {"        ", "\t"}, {"   ", "\t"},
	{"\t", "    "}, {"\t", "  "}, {"\t", "        "}, {"\t", "   "},
}

// translate returns an indentation in other units. It fails if that is not possible.
func (u unit) translate(indent string) (string, bool) {
	if u.old == "" {
		return indent, true
	}
	levels := strings.Count(indent, u.old)
	return strings.Repeat(u.found, levels), strings.Repeat(u.old, levels) == indent
}

// shift is how the indentation of two texts differs: in its units, and in what the
// other one has more or less in front.
type shift struct {
	unit
	more, less string
}

// shiftOf returns the shift that pairs have in common.
func shiftOf(pairs []pair, u unit) (s shift, ok bool) {
	s = shift{unit: u}
	for i, p := range pairs {
		indent, ok := u.translate(p.old)
		if !ok {
			return s, false
		}
		if i == 0 {
			if more, ok := strings.CutSuffix(p.found, indent); ok {
				s.more = more
			} else if less, ok := strings.CutSuffix(indent, p.found); ok {
				s.less = less
			}
		}
		if s.less+p.found != s.more+indent {
			return s, false
		}
	}
	return s, true
}

// lines shifts the lines of text from number first on. If that is not 0, the line
// before begins behind the indentation lead.
func (s shift) lines(text string, first int, lead string) (string, bool) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i < first {
			lines[i] = lead + line
			continue
		}
		indent := indentation(line)
		if strings.TrimSuffix(line, "\r") == strings.TrimSuffix(indent, "\r") {
			continue // an empty line, or only blanks
		}
		moved, ok := s.translate(indent)
		if !ok {
			return "", false
		}
		if moved, ok = strings.CutPrefix(moved, s.less); !ok {
			return "", false
		}
		lines[i] = s.more + moved + line[len(indent):]
	}
	return strings.Join(lines, "\n"), true
}
