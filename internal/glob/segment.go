package glob

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// segment is one element of a pattern, and matches one element of a path.
type segment struct {
	kind    kind
	text    string   // the pattern, with runs of stars as one star
	prefix  string   // the literal text before the first star, class or "?"
	suffix  string   // the literal text after the last one
	middle  []string // the literal texts between several stars
	letters letters  // those of the literal texts
}

type kind int

const (
	literal kind = iota // prefix is the name
	affix               // one star between prefix and suffix
	pieces              // several stars
	general             // classes and "?"
)

// newSegment compiles text, which has no braces and no slash outside classes.
func newSegment(text string) segment {
	if !strings.ContainsAny(text, `*?[\`) { // as most are
		return segment{text: text, prefix: text, suffix: text, letters: lettersOf(text)}
	}
	var (
		s       segment
		normal  []byte
		parts   = [][]byte{nil} // the literal texts around stars, classes and "?"
		special = byte(0)       // the star, class or "?" that ends here, if there is one
	)
	for i := 0; i < len(text); {
		term := text[i : i+termLen(text[i:])]
		i += len(term)
		if c := term[0]; c == '*' || c == '?' || c == '[' {
			if c == '*' && special == '*' {
				continue
			}
			if c != '*' {
				s.kind = general
			}
			special = c
			parts = append(parts, nil)
		} else {
			special = 0
			last := &parts[len(parts)-1]
			*last = append(*last, strings.TrimPrefix(term, `\`)...)
		}
		normal = append(normal, term...)
	}
	s.text = string(normal)
	s.split(parts)
	return s
}

// split completes s, which has a star, class or "?" between each two of parts.
func (s *segment) split(parts [][]byte) {
	last := len(parts) - 1
	s.prefix, s.suffix = string(parts[0]), string(parts[last])
	for _, part := range parts {
		s.letters |= lettersOf(string(part))
	}
	switch {
	case s.kind == general || last == 0:
	case last == 1:
		s.kind = affix
	default:
		s.kind = pieces
		for _, part := range parts[1:last] {
			s.middle = append(s.middle, string(part))
		}
	}
}

// letters is the set of the ASCII characters in a text, with one bit for a letter in
// either case. A segment only matches names that have all of its letters, which few
// have: "secret.env" has those of "*.env" and not those of "*.pem".
type letters uint64

// lettersOf returns the letters of s.
func lettersOf(s string) letters {
	var set letters
	for i := range len(s) {
		switch c := s[i]; {
		case c < 0x40: // digits and punctuation
			set |= 1 << c
		case c < 0x80: // 'a' is 'A' + 0x20
			set |= 1 << (c & 0x1f)
		}
	}
	return set
}

// match reports whether the segment matches a name. The text before the first
// star and after the last is compared first, which settles most names.
func (s *segment) match(name string) bool {
	switch s.kind {
	case literal:
		return name == s.prefix
	case affix:
		return s.affixes(name)
	case pieces:
		return s.affixes(name) && contains(name[len(s.prefix):len(name)-len(s.suffix)], s.middle)
	}
	return s.affixes(name) && doublestar.MatchUnvalidated(s.text, name)
}

func (s *segment) affixes(name string) bool {
	return len(name) >= len(s.prefix)+len(s.suffix) &&
		strings.HasSuffix(name, s.suffix) && strings.HasPrefix(name, s.prefix)
}

// contains reports whether name has all parts, in order and apart.
func contains(name string, parts []string) bool {
	for _, part := range parts {
		at := strings.Index(name, part)
		if at < 0 {
			return false
		}
		name = name[at+len(part):]
	}
	return true
}
