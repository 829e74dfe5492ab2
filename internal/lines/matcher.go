// Package lines finds the lines of a text that a pattern matches. [Compile]
// turns a pattern into a [Matcher], whose [Scanner] returns the bounds of one
// matching line of a buffer after the other, or where a match can span lines, the
// lines of one match after the other. Every search on every provider goes through
// it.
//
// Package regexp is right, and slow: it decides about few lines only. A
// prefilter goes through the whole buffer and stops in each line that may match.
// It may stop in too many lines, and never misses one. There are three kinds,
// depending on the pattern:
//   - a search for literal text that every match contains;
//   - where there is no such text, a deterministic automaton over bytes;
//   - where the text is short, or there are bytes of a few kinds side by side, the
//     automaton on the lines that contain them.
package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"

	"github.com/workspacekit/workspacekit/internal/ctxregexp"
	"github.com/workspacekit/workspacekit/workspace"
)

// Options change what a pattern means.
type Options struct {
	Literal    bool // the pattern is plain text
	IgnoreCase bool // letters match in either case
	Multiline  bool // the pattern is applied to the whole text
}

// Matcher is a compiled pattern. It is safe for concurrent use.
//
// These patterns become:
//
//	pattern              needs        exact  guarded  factor  dfa   a line is a match if
//	readGCStats          readGCStats  yes             no      no    it contains needs
//	func \w+Context\(    Context(     no              no      no    it contains needs, and re matches
//	(_a|_b)c?            _a, _b       no     yes      no      yes   it contains needs, dfa accepts, and re matches
//	[A-Z]{3,}_[0-9]+     _            no     yes      yes     yes   it contains factor, dfa accepts, and re matches
//	[a-z]\d{4}[a-z]      -            no     no       yes     yes   the same
//	\w+\s*$              -            no     no       no      yes   dfa accepts, and re matches
//
// To find the second in a file, the scanner looks for "C" with "x" five bytes later, the
// rarest bytes of "Context(", compares the bytes around them, and only where these are
// "Context(" looks for the ends of the line and runs re on it.
type Matcher struct {
	re      *ctxregexp.Regexp
	needs   []Literal  // every match contains one of them; none means nothing is known
	exact   bool       // a line with one of needs is a match
	guarded bool       // needs are rare enough to look for before running dfa
	factor  *factor    // what a line must have besides, where needs are weak; or nil
	dfa     *automaton // rules out lines, where needs are weak; or nil
	seesCR  bool       // the pattern sees a "\r" at the end of a line

	multiline bool
	later     *ctxregexp.Regexp // with multiline: re for all but the first line
}

// MaxPattern bounds a pattern, in bytes.
const MaxPattern = 32 << 10

// ErrLineBreak is the [workspace.ErrPattern] of a pattern that asks for a line break without
// Multiline.
var ErrLineBreak = fmt.Errorf("%w: a search looks at one line at a time, so a line break cannot match without multiline", workspace.ErrPattern)

// Compile compiles an RE2 pattern. It is applied to one line at a time, or to the
// whole text, without the "\r" at the ends of lines, unless a "\r" is among the
// characters that the pattern spells out.
//
// # Errors
//
// [workspace.ErrPattern], with the reason.
func Compile(pattern string, opts Options) (*Matcher, error) {
	tree, err := Parse(pattern, opts)
	if err != nil {
		return nil, err
	}
	re, err := ctxregexp.Compile(opts.expression(pattern), false)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", workspace.ErrPattern, reason(err))
	}
	m := &Matcher{re: re, multiline: opts.Multiline, seesCR: spells(tree, '\r')}
	tree = tree.Simplify()
	need := required(tree)
	m.needs, m.exact = need.anyOf, need.exact && len(need.anyOf) > 0
	if m.multiline {
		m.later, err = afterBeginning(re, tree)
		return m, err
	}
	if !m.exact && need.weak() {
		m.dfa, m.guarded, m.factor = newAutomaton(tree), need.guards(), newFactor(tree)
		if m.guarded && m.factor != nil && m.factor.only < 0 {
			m.factor = nil // the text is less work
		}
	}
	return m, nil
}

// Parse returns the syntax tree of a pattern.
//
// # Errors
//
// Those of [Compile].
func Parse(pattern string, opts Options) (*syntax.Regexp, error) {
	if len(pattern) > MaxPattern {
		return nil, fmt.Errorf("%w: longer than %d bytes", workspace.ErrPattern, MaxPattern)
	}
	tree, err := syntax.Parse(opts.expression(pattern), syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", workspace.ErrPattern, reason(err))
	}
	if spells(tree, '\n') || spells(tree, '\r') { // but for one of several characters, which may be in groups
		if tree, err = syntax.Parse(withoutGroups(tree).String(), syntax.Perl); err != nil {
			return nil, fmt.Errorf("%w: %s", workspace.ErrPattern, reason(err))
		}
	}
	if !opts.Multiline && spells(tree, '\n') {
		return nil, ErrLineBreak
	}
	return tree, nil
}

// withoutGroups changes tree so that it captures nothing. When that is parsed, (a)|(b)
// becomes a class, as a|b does.
func withoutGroups(tree *syntax.Regexp) *syntax.Regexp {
	if tree.Op == syntax.OpCapture {
		return withoutGroups(tree.Sub[0])
	}
	for i, part := range tree.Sub {
		tree.Sub[i] = withoutGroups(part)
	}
	return tree
}

// expression returns the regular expression that pattern stands for.
func (o Options) expression(pattern string) string {
	if o.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if o.Multiline {
		pattern = "(?m)" + pattern
	}
	if o.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	return pattern
}

// reason returns why regexp refuses a pattern, without the package's prefix.
func reason(err error) string {
	var bad *syntax.Error
	if errors.As(err, &bad) {
		return fmt.Sprintf("%s: %q", bad.Code, bad.Expr)
	}
	return err.Error()
}

// BinaryWindow is how many bytes at the beginning of a file decide whether it is
// binary.
const BinaryWindow = 8 << 10

// IsBinary reports whether data has a NUL byte in its first [BinaryWindow] bytes.
func IsBinary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), BinaryWindow)], 0) >= 0
}

// CanMatch reports whether buf has any of the literal texts that a match needs. If it has
// none, no line of it matches. A text may need to lose the "\r" at the ends of lines first.
func (m *Matcher) CanMatch(buf []byte) bool {
	return len(m.needs) == 0 || m.multiline && !m.seesCR && bytes.IndexByte(buf, '\r') >= 0 || slices.ContainsFunc(m.needs, func(need Literal) bool { return need.Index(buf, 0) >= 0 })
}

// Scanner returns the matching lines of one buffer in order. It is for one
// goroutine.
type Scanner struct {
	ctx    context.Context
	m      *Matcher
	buf    []byte
	at     int           // where the next line to look at begins
	places [maxNeeds]int // where each literal is next; less than at if that is not known
	spans  *spans        // what finds the matches of a pattern that can span lines; nil for another
}

// Scan returns a scanner at the beginning of buf. Once ctx has ended it finds nothing more.
func (m *Matcher) Scan(ctx context.Context, buf []byte) Scanner {
	s := Scanner{ctx: ctx, m: m, buf: buf}
	if m.multiline {
		s.spans = m.newSpans(buf)
	}
	for i := range m.needs {
		s.places[i] = -1
	}
	return s
}

// Next returns the bounds of the next line that matches, or of the lines of the
// next match, without the last line break.
func (s *Scanner) Next() (start, end int, ok bool) {
	if s.spans != nil {
		return s.spans.next(s.ctx)
	}
	for s.at < len(s.buf) {
		candidate := s.candidate()
		if candidate >= len(s.buf) {
			s.at = len(s.buf)
			break
		}
		start = s.at + bytes.LastIndexByte(s.buf[s.at:candidate], '\n') + 1
		end = lineEnd(s.buf, candidate)
		s.at = end + 1
		if s.m.exact || s.ctx.Err() == nil && s.m.re.Match(s.ctx, s.m.seen(s.buf[start:end])) {
			return start, end, true
		}
	}
	return 0, 0, false
}

// Parts returns what the pattern sees of the lines of a match, and the bounds of at
// most n parts of that which match: none once ctx has ended. first says that the lines begin
// the text.
func (m *Matcher) Parts(ctx context.Context, lines []byte, first bool, n int) (seen []byte, parts [][]int) {
	if !m.multiline {
		seen = m.seen(lines)
		return seen, m.re.All(ctx, seen, n)
	}
	re := m.later
	if first {
		re = m.re
	}
	if seen = lines; !m.seesCR {
		seen = withoutCR(lines)
	}
	// The match may have ended with the line break that ends its last line, or with
	// the text.
	if parts = re.All(ctx, append(bytes.Clone(seen), '\n'), n); parts == nil {
		parts = re.All(ctx, seen, n)
	}
	for _, part := range parts {
		part[0], part[1] = min(part[0], len(seen)), min(part[1], len(seen))
	}
	return seen, parts
}

// seen returns the part of a line that the pattern is applied to.
func (m *Matcher) seen(line []byte) []byte {
	if last := len(line) - 1; !m.seesCR && last >= 0 && line[last] == '\r' {
		return line[:last]
	}
	return line
}

// candidate returns a place in the next line that may match, len(buf) if there
// is none.
func (s *Scanner) candidate() int {
	switch {
	case s.m.factor != nil || s.m.dfa != nil && s.m.guarded:
		return s.guardedCandidate()
	case s.m.dfa != nil:
		return s.m.dfa.candidate(s.buf, s.at)
	case len(s.m.needs) > 0:
		return s.literal()
	}
	return s.at
}

// guardedCandidate runs the automaton only on lines that have the factor or a literal.
func (s *Scanner) guardedCandidate() int {
	for s.at < len(s.buf) {
		guard := s.guard()
		if guard == len(s.buf) || s.m.dfa == nil {
			return guard
		}
		start := s.at + bytes.LastIndexByte(s.buf[s.at:guard], '\n') + 1
		end := lineEnd(s.buf, guard)
		if candidate := s.m.dfa.candidate(s.buf[:end], start); candidate < end {
			return candidate
		}
		s.at = end + 1
	}
	return len(s.buf)
}

// guard returns a place in the next line that has the factor or a literal, len(buf) if
// there is none.
func (s *Scanner) guard() int {
	if s.m.factor == nil {
		return s.literal()
	}
	if place := s.m.factor.index(s.buf, s.at); place >= 0 {
		return place
	}
	return len(s.buf)
}

// literal returns where the first of the literals is next, len(buf) if nowhere.
func (s *Scanner) literal() int {
	first := len(s.buf)
	for i := range s.m.needs {
		first = min(first, s.place(i))
	}
	return first
}

// place returns where the literal i is next, len(buf) if nowhere.
func (s *Scanner) place(i int) int {
	if s.places[i] < s.at {
		s.places[i] = s.m.needs[i].Index(s.buf, s.at)
		if s.places[i] < 0 {
			s.places[i] = len(s.buf)
		}
	}
	return s.places[i]
}

// lineEnd returns the place of the line break at or after at, or len(buf).
func lineEnd(buf []byte, at int) int {
	if next := bytes.IndexByte(buf[at:], '\n'); next >= 0 {
		return at + next
	}
	return len(buf)
}
