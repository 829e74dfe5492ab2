package ignore

import (
	"math"
	"strings"
)

// pattern is a compiled pattern of a name, or of a path. As git's, it compares
// bytes, not characters.
type pattern struct {
	prefix  string // the literal text at the front
	middle  []term // the terms after prefix, up to the last one that repeats
	tail    []term // the terms after middle: each matches one byte
	slashes int    // the most slashes that a match has
}

// compile returns the pattern that text spells. It is not ok if text can match
// nothing.
func compile(text string) (p pattern, ok bool) {
	// git compares the text before the first special character by itself, so
	// "**" after it counts as the beginning of a pattern: "a**/b" is a path
	// that begins with "a" and ends in "b".
	special := strings.IndexAny(text, `*?[\`)
	if special < 0 {
		special = len(text)
	}
	c := compiler{text: text[special:]}
	for c.text != "" {
		if !c.next() {
			return pattern{}, false
		}
	}
	p.prefix, c.terms = absorb(text[:special], c.terms)
	p.slashes = countSlashes(p.prefix, c.terms)
	tail := len(c.terms)
	for tail > 0 && !c.terms[tail-1].repeats() {
		tail--
	}
	p.middle, p.tail = c.terms[:tail], c.terms[tail:]
	return p, true
}

// absorb moves literal bytes from the front of terms to prefix: they were
// escaped.
func absorb(prefix string, terms []term) (string, []term) {
	front := 0
	for front < len(terms) && terms[front].kind == one {
		front++
	}
	return prefix + literalText(terms[:front]), terms[front:]
}

// literalText returns the bytes of terms that are one byte each.
func literalText(terms []term) string {
	text := make([]byte, len(terms))
	for i, t := range terms {
		text[i] = t.char
	}
	return string(text)
}

// countSlashes counts the slashes that a pattern matches. It returns
// math.MaxInt if a term can match any number of them.
func countSlashes(prefix string, terms []term) int {
	count := strings.Count(prefix, "/")
	for _, t := range terms {
		switch {
		case t.kind == anyPath, t.kind == anyDirs:
			return math.MaxInt
		case t.kind == one && t.char == '/':
			count++
		}
	}
	return count
}

// match reports whether the pattern matches dir and name, one after the other.
// dir, if longer than the prefix, begins with it: see reaches.
func (p *pattern) match(dir, name string) bool {
	if len(dir) > len(p.prefix) {
		return p.matchRest(newSubject(dir[len(p.prefix):], name))
	}
	rest, ok := strings.CutPrefix(name, p.prefix[len(dir):])
	return ok && p.matchRest(newSubject("", rest))
}

// matchRest matches the terms after the prefix with s. It begins at the end,
// where most names differ.
func (p *pattern) matchRest(s subject) bool {
	s.len -= len(p.tail)
	if s.len < 0 {
		return false
	}
	for i := len(p.tail) - 1; i >= 0; i-- {
		if !p.tail[i].matches(s.at(s.len + i)) {
			return false
		}
	}
	return match(p.middle, s)
}

// subject is the first len bytes of a text in two parts.
type subject struct {
	dir, name string
	len       int
}

func newSubject(dir, name string) subject { return subject{dir, name, len(dir) + len(name)} }

// at returns a byte of the path: of the directory first, and then of the name.
func (s *subject) at(i int) byte {
	if i < len(s.dir) {
		return s.dir[i]
	}
	return s.name[i-len(s.dir)]
}

// match reports whether terms match s, in time proportional to the product of
// their lengths: only the last repeating term of a kind is ever tried with a
// longer match, since a longer match of an earlier one cannot help where that
// fails.
func match(terms []term, s subject) bool {
	var stars, anys retry
	i, at := 0, 0
	for at < s.len {
		if i < len(terms) {
			t := &terms[i]
			if t.repeats() {
				i++
				if t.kind == star {
					stars = retry{ok: true, term: i, at: at}
				} else {
					anys, stars = retry{ok: true, term: i, at: at, dirs: t.kind == anyDirs}, retry{}
				}
				continue
			}
			if t.matches(s.at(at)) {
				i++
				at++
				continue
			}
		}
		switch {
		case stars.ok && s.at(stars.at) != '/':
			stars.at++
			i, at = stars.term, stars.at
		case anys.advance(&s):
			stars = retry{}
			i, at = anys.term, anys.at
		default:
			return false
		}
	}
	return allRepeat(terms[i:])
}

// retry is where to continue if what follows a repeating term does not match.
type retry struct {
	ok   bool
	term int  // the one that follows
	at   int  // where the match of the repeating term ends
	dirs bool // it matches whole directories
}

// advance lets the term match more.
func (r *retry) advance(s *subject) bool {
	if !r.ok {
		return false
	}
	for r.at < s.len {
		r.at++
		if !r.dirs || s.at(r.at-1) == '/' {
			return true
		}
	}
	return false
}

// allRepeat reports whether all terms match the empty text, so that the rest
// of a pattern may be empty.
func allRepeat(terms []term) bool {
	for i := range terms {
		if !terms[i].repeats() {
			return false
		}
	}
	return true
}
