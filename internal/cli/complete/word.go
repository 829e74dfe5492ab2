package complete

import (
	"bytes"
	"strings"
)

// word is the last word of a script that is being typed, such as old\ r.
type word struct {
	start int    // where it begins
	text  string // what it stands for
	quote rune   // ' or " if it ends inside such quotes, or else 0
	first bool   // it is the first of its command
}

// lastWord returns the word that text ends in, which may be empty. It returns false if that
// has an expansion or a pattern, or cannot be told from what surrounds it: a comment, a
// here-document, backquotes, and what is nested in double quotes.
//
//	rm old\ r     {start: 3, text: "old r"}
//	rm "old r     {start: 3, text: "old r", quote: '"'}
//	rm $x/r       false
func lastWord(text string) (word, bool) {
	s := scanner{rest: text, size: len(text), word: word{first: true}, plain: true}
	for s.rest != "" && !s.lost {
		switch s.word.quote {
		case '\'':
			s.single()
		case '"':
			s.double()
		default:
			s.unquoted()
		}
	}
	s.word.text = string(s.text)
	return s.word, s.plain && !s.lost
}

// scanner finds the last word.
type scanner struct {
	rest  string
	size  int  // of the whole text
	word  word // without its text
	text  []byte
	after byte // what ended the word before
	plain bool // the word has stood for its text up to here
	lost  bool // what follows cannot be understood
	doc   bool // a here-document begins with the next line
}

// next returns the next byte, and whether it begins the word.
func (s *scanner) next() (c byte, begins bool) {
	c, begins = s.rest[0], s.size-len(s.rest) == s.word.start
	s.rest = s.rest[1:]
	return c, begins
}

// single reads a byte in single quotes.
func (s *scanner) single() {
	if c, _ := s.next(); c == '\'' {
		s.word.quote = 0
	} else {
		s.text = append(s.text, c)
	}
}

// double reads a byte in double quotes.
func (s *scanner) double() {
	switch c, _ := s.next(); {
	case c == '"':
		s.word.quote = 0
	case c == '\\':
		if s.rest == "" || !strings.ContainsRune("$`\"\\\n", rune(s.rest[0])) {
			s.text = append(s.text, '\\')
		}
		s.escaped()
	case c == '`', c == '$' && (strings.HasPrefix(s.rest, "(") || strings.HasPrefix(s.rest, "{")):
		s.lost = true
	default:
		s.plain = s.plain && c != '$'
		s.text = append(s.text, c)
	}
}

// escaped reads what follows a backslash, which a line feed removes.
func (s *scanner) escaped() {
	if s.rest == "" {
		s.lost = true
	} else if c, _ := s.next(); c != '\n' {
		s.text = append(s.text, c)
	}
}

// unquoted reads a byte that is not in quotes.
func (s *scanner) unquoted() {
	switch c, begins := s.next(); {
	case strings.IndexByte(" \t\n;|&<>(", c) >= 0:
		s.separate(c, begins)
	case c == '\'' || c == '"':
		s.word.quote = rune(c)
	case c == '\\':
		s.escaped()
	case c == '#' && begins:
		_, after, found := strings.Cut(s.rest, "\n")
		s.rest, s.lost = "\n"+after, !found
	case c == '`', c == '$' && strings.HasPrefix(s.rest, "'"):
		s.lost = true
	default:
		s.plain = s.plain && strings.IndexByte("$*?[{)=", c) < 0 && !(c == '~' && begins)
		s.text = append(s.text, c)
	}
}

// separate ends the word, which is none if c begins it, with a blank or an operator. What follows
// >| and >& is a file, and so is an element of an array. An arithmetic expression has no files.
func (s *scanner) separate(c byte, begins bool) {
	s.lost = c == '\n' && s.doc
	s.doc = s.doc || c == '<' && strings.HasPrefix(s.rest, "<")
	s.plain = true
	blank := c == ' ' || c == '\t'
	first := strings.IndexByte("\n;|&(", c) >= 0 || blank && begins && s.word.first
	switch {
	case (c == '|' || c == '&') && begins && (s.after == '<' || s.after == '>'), c == '(' && bytes.HasSuffix(s.text, []byte("=")):
		first = false
	case c == '(' && begins && s.after == '(':
		_, rest, found := strings.Cut(s.rest, "))")
		s.rest, s.lost, s.plain, first = rest, !found, false, false
	}
	s.word, s.text, s.after = word{start: s.size - len(s.rest), first: first}, s.text[:0], c
}

// spell returns text as the shell reads it after an open quote, which it begins with, or as a
// word without quotes if quote is 0.
func spell(text string, quote rune) string {
	switch quote {
	case '\'':
		return "'" + strings.ReplaceAll(text, "'", `'\''`)
	case '"':
		return `"` + escape(text, func(r rune) bool { return strings.ContainsRune("$`\"\\", r) })
	}
	return escape(text, func(r rune) bool {
		return r < 0x80 && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') && !strings.ContainsRune("_-./:,+@%", r)
	})
}

// escape returns text with a backslash before special characters.
func escape(text string, special func(rune) bool) string {
	var out strings.Builder
	for _, r := range text {
		if special(r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}
