package edit

import "strings"

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
