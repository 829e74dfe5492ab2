package lines

import (
	"bytes"
	"context"
	"regexp/syntax"
	"slices"

	"github.com/workspacekit/workspacekit/internal/ctxregexp"
)

// spans returns the matches of a pattern that can span lines, as bounds of whole
// lines. Each begins on a line after the last line of the one before.
//
// The pattern is applied to text, which is buf without the "\r" at the ends of its
// lines. The two have the same lines, so a place in one is found in the other by
// counting lines:
//
//	buf    a{\r\n  b\r\n}\r\nc     text   a{\n  b\n}\nc
//	pattern \{\s+b\s+\}            the match is in the lines 1 to 3 of both
type spans struct {
	m           *Matcher
	buf, text   []byte
	at, textsAt int // where the next line to look at begins in buf, and in text
}

// newSpans returns the matches in buf. It returns none if buf lacks the text that
// every match contains.
func (m *Matcher) newSpans(buf []byte) *spans {
	s := &spans{m: m, buf: buf, text: buf}
	if !m.seesCR {
		s.text = withoutCR(buf)
	}
	contains := func(l Literal) bool { return l.Index(s.text, 0) >= 0 }
	if len(m.needs) > 0 && !slices.ContainsFunc(m.needs, contains) {
		s.textsAt = len(s.text)
	}
	return s
}

// withoutCR returns buf without the "\r" at the ends of lines.
func withoutCR(buf []byte) []byte {
	buf = bytes.TrimSuffix(buf, []byte("\r"))
	if !bytes.Contains(buf, []byte("\r\n")) {
		return buf
	}
	return bytes.ReplaceAll(buf, []byte("\r\n"), []byte("\n"))
}

// next returns the bounds of the next match in buf, in whole lines and without the
// last line break.
func (s *spans) next(ctx context.Context) (start, end int, ok bool) {
	rest := s.text[s.textsAt:]
	if len(rest) == 0 || ctx.Err() != nil {
		return 0, 0, false
	}
	re := s.m.re
	if s.textsAt > 0 {
		re = s.m.later
	}
	all := re.All(ctx, rest, 1)
	if len(all) == 0 || all[0][0] == len(rest) && rest[len(rest)-1] == '\n' { // after the last line
		s.textsAt = len(s.text)
		return 0, 0, false
	}
	found := all[0]
	first := bytes.LastIndexByte(rest[:found[0]], '\n') + 1
	last := lineEnd(rest, max(found[0], found[1]-1))
	start = skipLines(s.buf, s.at, bytes.Count(rest[:first], []byte{'\n'}))
	end = skipLines(s.buf, start, bytes.Count(rest[first:last], []byte{'\n'}))
	end = lineEnd(s.buf, end)
	s.at, s.textsAt = min(end+1, len(s.buf)), min(s.textsAt+last+1, len(s.text))
	return start, end, true
}

// skipLines returns where the n-th line after the one that begins at begins.
func skipLines(buf []byte, at, n int) int {
	for range n {
		at = lineEnd(buf, at) + 1
	}
	return at
}

// afterBeginning returns re for the part of a text after its beginning, where "\A"
// never matches.
func afterBeginning(re *ctxregexp.Regexp, tree *syntax.Regexp) (*ctxregexp.Regexp, error) {
	if !replaceBeginning(tree) {
		return re, nil
	}
	return ctxregexp.Compile(tree.String(), false)
}

// replaceBeginning replaces each "\A" in tree, and reports whether there is one.
func replaceBeginning(tree *syntax.Regexp) (found bool) {
	if tree.Op == syntax.OpBeginText {
		tree.Op, found = syntax.OpNoMatch, true
	}
	for _, part := range tree.Sub {
		found = replaceBeginning(part) || found
	}
	return found
}
