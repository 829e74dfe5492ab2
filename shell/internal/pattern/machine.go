package pattern

import (
	"context"
	"iter"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/ctxregexp"
)

// The assertions, as characters that stand for them in an expression. The repetition
// keeps the parser from making a class of two of them.
const (
	atWordStart  = `(?:\x{10FFF0}){1}` // \<
	atWordEnd    = `(?:\x{10FFF1}){1}` // \>
	atBoundary   = `(?:\x{10FFF2}){1}` // \b
	noBoundary   = `(?:\x{10FFF3}){1}` // \B
	noWordBefore = `(?:\x{10FFF4}){1}`
	noWordAfter  = `(?:\x{10FFF5}){1}`

	firstAssertion, lastAssertion = '\U0010FFF0', '\U0010FFF5'
)

// assertions are the conditions on a place, by the letter that follows the backslash.
var assertions = map[rune]string{'<': atWordStart, '>': atWordEnd, 'b': atBoundary, 'B': noBoundary}

// withoutAssertions returns an expression that matches wherever the one with
// assertions does. It may match elsewhere, too.
func withoutAssertions(expression string) string {
	for _, a := range []string{atWordStart, atWordEnd, atBoundary, noBoundary, noWordBefore, noWordAfter} {
		expression = strings.ReplaceAll(expression, a, "(?:)")
	}
	return expression
}

// holds reports whether an assertion holds between two characters; -1 is the end of the
// text.
//
// The end of the text is no word character, so that \< holds before the first letter.
//
// By the last digit of the character that stands for it:
//
//	0   \<   word start: no word character before, one after
//	1   \>   word end: one before, none after
//	2   \b   either of these
//	3   \B   neither of them
//	4        no word character before
//	5        no word character after
func holds(assertion, before, after rune) bool {
	left, right := isWord(before), isWord(after)
	switch assertion - firstAssertion {
	case 0:
		return !left && right
	case 1:
		return left && !right
	case 2:
		return left != right
	case 3:
		return left == right
	case 4:
		return !left
	}
	return !right
}

// machine finds the matches of a program of package syntax in which some characters are
// assertions. It follows all ways through the program at once, one character at a time,
// so its time is at most the size of the program times the size of the text.
//
// It is safe for concurrent use: each search has a run of its own.
type machine struct {
	prog    *syntax.Prog
	longest bool // of the matches that begin first, the longest one counts, else the first way
	slots   int
}

// newMachine compiles a tree. Of the matches that begin at one place it finds the
// longest, as POSIX wants, or else the first by the order of the alternatives, as Perl
// does.
func newMachine(tree *syntax.Regexp, longest bool) (*machine, error) {
	slots := 2 * (tree.MaxCap() + 1)
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, re2Error(err)
	}
	return &machine{prog: prog, longest: longest, slots: slots}, nil
}

// thread is one way: the instruction that it has come to, and the bounds of the groups.
//
// caps is shared by threads, and copied when one changes it (see run.add).
type thread struct {
	pc   uint32
	caps []int
}

// threads are the ways at one place, the preferred ones first.
//
// The order is what makes the first alternative win: an instruction that is
// already in the list is not added again, see run.add.
type threads struct {
	list []thread
	seen []bool // by instruction
}

// clear removes all threads.
func (t *threads) clear() {
	t.list = t.list[:0]
	clear(t.seen)
}

// run is one search.
type run struct {
	*machine
	at            int
	before, after rune // the characters around that place, -1 at an end of the text
}

// find returns the first match that begins at from or later; nil if there is none.
//
// For "a|ab" in "xab", with longest:
//
//	at 0   a thread begins, and dies at "x"
//	at 1   a thread begins; "a" leads to a match, and on to "b"
//	at 2   the match is "a"; the other way reads "b"
//	at 3   the match of the same beginning is longer: "ab"
//
// Without longest the first alternative is preferred, and the match "a" ends the ways after it.
// No thread begins once there is a match, as only those that began first count.
func (m *machine) find(ctx context.Context, text []byte, from int) (match []int) {
	r := run{machine: m, at: from, before: -1, after: -1}
	if from > 0 {
		r.before, _ = utf8.DecodeLastRune(text[:from])
	}
	now := &threads{seen: make([]bool, len(m.prog.Inst))}
	next := &threads{seen: make([]bool, len(m.prog.Inst))}
	width := r.look(text)
	for read := 0; ; read++ {
		if read&0xff == 0 && ctx.Err() != nil {
			return nil
		}
		if match == nil {
			caps := newCaps(m.slots)
			caps[0] = r.at
			r.add(now, uint32(m.prog.Start), caps)
		}
		if len(now.list) == 0 && match != nil {
			return match
		}
		at, char := r.at, r.after
		r.at, r.before = at+width, char
		step := width
		width = r.look(text)
		next.clear()
		for _, t := range now.list {
			inst := &m.prog.Inst[t.pc]
			if match != nil && m.longest && t.caps[0] > match[0] {
				continue
			}
			if inst.Op != syntax.InstMatch {
				if step > 0 && inst.MatchRune(char) {
					r.add(next, inst.Out, t.caps)
				}
				continue
			}
			if match == nil || !m.longest || t.caps[0] < match[0] || at > match[1] {
				match = append([]int(nil), t.caps...)
				match[1] = at
			}
			if !m.longest {
				break // the ways after this one are worse
			}
		}
		if step == 0 {
			return match
		}
		now, next = next, now
	}
}

// look sets the character at the place of r, and returns its width: zero at the end.
func (r *run) look(text []byte) (width int) {
	if r.after = -1; r.at < len(text) {
		r.after, width = utf8.DecodeRune(text[r.at:])
	}
	return width
}

// newCaps returns the places of n/2 groups that have not matched: -1.
func newCaps(n int) []int {
	caps := make([]int, n)
	for i := range caps {
		caps[i] = -1
	}
	return caps
}

// add adds a way, and all that it leads to without a character.
//
// An instruction is added once for each place: a second way to it is less preferred, and
// would go on in the same way. It recurses without reading, at most once per instruction.
func (r *run) add(t *threads, pc uint32, caps []int) {
	if t.seen[pc] {
		return
	}
	t.seen[pc] = true
	inst := &r.prog.Inst[pc]
	switch inst.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		r.add(t, inst.Out, caps)
		r.add(t, inst.Arg, caps)
	case syntax.InstNop:
		r.add(t, inst.Out, caps)
	case syntax.InstCapture:
		if int(inst.Arg) < len(caps) {
			caps = append([]int(nil), caps...)
			caps[inst.Arg] = r.at
		}
		r.add(t, inst.Out, caps)
	case syntax.InstEmptyWidth:
		if syntax.EmptyOp(inst.Arg)&^syntax.EmptyOpContext(r.before, r.after) == 0 {
			r.add(t, inst.Out, caps)
		}
	case syntax.InstFail:
	default:
		if inst.Op == syntax.InstRune1 && inst.Rune[0] >= firstAssertion && inst.Rune[0] <= lastAssertion {
			if holds(inst.Rune[0], r.before, r.after) {
				r.add(t, inst.Out, caps)
			}
			return
		}
		t.list = append(t.list, thread{pc, caps})
	}
}

// all returns at most n matches, as [Regexp.All] does.
func (m *machine) all(ctx context.Context, text []byte, n int) (matches [][]int) {
	for match := range m.each(ctx, text) {
		if n >= 0 && len(matches) == n {
			break
		}
		matches = append(matches, match)
	}
	return matches
}

// each returns an iterator over all matches.
func (m *machine) each(ctx context.Context, text []byte) iter.Seq[[]int] {
	return ctxregexp.Matches(text, func(at int) []int { return m.find(ctx, text, at) })
}
