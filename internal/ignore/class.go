package ignore

import "strings"

// class is a set of bytes.
type class [4]uint64

func (s *class) has(c byte) bool { return s[c/64]&(1<<(c%64)) != 0 }
func (s *class) add(c byte)      { s[c/64] |= 1 << (c % 64) }

func (s *class) addRange(low, high byte) {
	for c := int(low); c <= int(high); c++ {
		s.add(byte(c))
	}
}

// complete turns the set round if it is negated, and takes out the slash, which
// no class matches.
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

func (p *classParser) addLast() bool {
	p.set.add(p.last)
	return true
}

// addNamed adds the ASCII characters of a named class, with git's idea of
// what is a space.
func (p *classParser) addNamed(name string) bool {
	ranges, ok := namedRanges(name)
	for i := 0; i+1 < len(ranges); i += 2 {
		p.set.addRange(ranges[i], ranges[i+1])
	}
	return ok
}

// namedRanges returns pairs of the first and the last byte of each range.
func namedRanges(name string) (pairs string, ok bool) {
	switch name {
	case "alnum":
		return "09AZaz", true
	case "alpha":
		return "AZaz", true
	case "blank":
		return "  \t\t", true
	case "cntrl":
		return "\x00\x1f\x7f\x7f", true
	case "digit":
		return "09", true
	case "graph":
		return "!~", true
	case "lower":
		return "az", true
	case "print":
		return " ~", true
	case "punct":
		return "!/:@[`{~", true
	case "space":
		return "\t\n\r\r  ", true
	case "upper":
		return "AZ", true
	case "xdigit":
		return "09AFaf", true
	}
	return "", false
}
