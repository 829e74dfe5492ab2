package ignore

import (
	"strings"
)

// term is a part of a pattern.
type term struct {
	kind  termKind
	char  byte
	class *class
}

type termKind byte

const (
	one      termKind = iota // the byte char
	notSlash                 // any byte but a slash
	oneOf                    // any byte of class but a slash
	star                     // any bytes but slashes, or none
	anyPath                  // any bytes, or none
	anyDirs                  // any bytes up to and with a slash, or none
)

// repeats reports whether the term can match more than one byte.
func (t *term) repeats() bool { return t.kind >= star }

// matches reports whether the term matches the byte c.
func (t *term) matches(c byte) bool {
	switch t.kind {
	case one:
		return c == t.char
	case notSlash:
		return c != '/'
	}
	return t.class.has(c)
}

// compiler turns text into terms.
type compiler struct {
	text  string
	terms []term
}

// next compiles one term. It reports false if the text is malformed.
func (c *compiler) next() bool {
	char := c.text[0]
	switch char {
	case '*':
		c.stars()
		return true
	case '[':
		set, length, ok := parseClass(c.text)
		if ok {
			c.add(term{kind: oneOf, class: set}, length)
		}
		return ok
	case '?':
		c.add(term{kind: notSlash}, 1)
		return true
	case '\\':
		if len(c.text) == 1 {
			return false
		}
		c.add(term{kind: one, char: c.text[1]}, 2)
		return true
	}
	c.add(term{kind: one, char: char}, 1)
	return true
}

// add adds a term.
func (c *compiler) add(t term, length int) {
	c.terms = append(c.terms, t)
	c.text = c.text[length:]
}

// stars compiles a run of stars. Two or more that are a whole element cross
// directories; anywhere else they are as one.
func (c *compiler) stars() {
	after := strings.TrimLeft(c.text, "*")
	length := len(c.text) - len(after)
	first := len(c.terms) == 0 || c.terms[len(c.terms)-1].isSlash()
	switch {
	case length == 1 || !first:
		c.add(term{kind: star}, length)
	case strings.HasPrefix(after, "/"):
		c.add(term{kind: anyDirs}, length+1)
	case after == "", strings.HasPrefix(after, `\/`):
		c.add(term{kind: anyPath}, length)
	default:
		c.add(term{kind: star}, length)
	}
}

// isSlash reports whether the text of t ends in a slash.
func (t *term) isSlash() bool {
	return t.kind == anyDirs || t.kind == one && t.char == '/'
}

// class is a set of bytes.
type class [4]uint64

// has reports whether b is in the class.
func (s *class) has(c byte) bool { return s[c/64]&(1<<(c%64)) != 0 }

// add adds b to the class.
func (s *class) add(c byte) { s[c/64] |= 1 << (c % 64) }

// addRange adds the bytes from first to last. An empty range adds nothing.
func (s *class) addRange(low, high byte) {
	for c := int(low); c <= int(high); c++ {
		s.add(byte(c))
	}
}

// complete complements the set if it is negated, and removes the slash, which no
// class matches.
func (s *class) complete(negated bool) {
	if negated {
		for i := range s {
			s[i] = ^s[i]
		}
	}
	s['/'/64] &^= 1 << ('/' % 64)
}

// parseClass parses the class that text begins with, and returns its length.
// It is not ok if the class has no end or names a class that does not exist.
func parseClass(text string) (set *class, length int, ok bool) {
	p := classParser{text: text, at: 1, set: new(class)}
	negated := p.char() == '!' || p.char() == '^'
	if negated {
		p.at++
	}
	// A "]" that comes first is a member.
	for first := p.at; p.at == first || p.char() != ']'; {
		if !p.member() {
			return nil, 0, false
		}
	}
	p.set.complete(negated)
	return p.set, p.at + 1, true
}

type classParser struct {
	text string
	at   int
	set  *class
	last byte // the byte that a range can begin with, 0 if none
}

// char returns the byte at the position, 0 at the end.
func (p *classParser) char() byte {
	if p.at >= len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// member parses a byte, the rest of a range, or a named class.
func (p *classParser) member() bool {
	switch {
	case p.char() == '-' && p.last != 0 && p.at+1 < len(p.text) && p.text[p.at+1] != ']':
		p.at++
		low := p.last
		if !p.single() {
			return false
		}
		p.set.addRange(low, p.last)
		p.last = 0
		return true
	case strings.HasPrefix(p.text[min(p.at, len(p.text)):], "[:"):
		return p.named()
	}
	if !p.single() {
		return false
	}
	p.set.add(p.last)
	return true
}

// single reads a byte, which may be escaped, into last.
func (p *classParser) single() bool {
	if p.char() == '\\' {
		p.at++
	}
	p.last = p.char()
	p.at++
	return p.last != 0
}

// named parses "[:name:]", and takes a "[" that does not begin one for itself.
func (p *classParser) named() bool {
	body := p.text[p.at+2:]
	end := strings.IndexByte(body, ']')
	if end < 0 {
		return false
	}
	name, ok := strings.CutSuffix(body[:end], ":")
	if !ok {
		return p.single() && p.addLast()
	}
	p.at += 2 + end + 1
	p.last = 0
	return p.addNamed(name)
}

// addLast adds the byte that was read last, as a member by itself.
func (p *classParser) addLast() bool {
	p.set.add(p.last)
	return true
}

// addNamed adds the ASCII characters of a named class, with git's idea of a
// space.
func (p *classParser) addNamed(name string) bool {
	ranges, ok := namedRanges[name]
	for i := 0; i+1 < len(ranges); i += 2 {
		p.set.addRange(ranges[i], ranges[i+1])
	}
	return ok
}

// namedRanges are the named classes: pairs of the first and the last byte of
// each range.
var namedRanges = map[string]string{
	"alnum":  "09AZaz",
	"alpha":  "AZaz",
	"blank":  "  \t\t",
	"cntrl":  "\x00\x1f\x7f\x7f",
	"digit":  "09",
	"graph":  "!~",
	"lower":  "az",
	"print":  " ~",
	"punct":  "!/:@[`{~",
	"space":  "\t\n\r\r  ",
	"upper":  "AZ",
	"xdigit": "09AFaf",
}
