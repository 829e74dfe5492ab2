package ignore

import "strings"

// term is a part of a pattern.
type term struct {
	kind  termKind
	char  byte
	class *class
}

type termKind byte

const (
	one     termKind = iota // the byte char
	any1                    // any byte but a slash
	oneOf                   // any byte of class but a slash
	star                    // any bytes but slashes, or none
	anyPath                 // any bytes, or none
	anyDirs                 // any bytes up to and with a slash, or none
)

func (t *term) repeats() bool { return t.kind >= star }

func (t *term) matches(c byte) bool {
	switch t.kind {
	case one:
		return c == t.char
	case any1:
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
		c.add(term{kind: any1}, 1)
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
