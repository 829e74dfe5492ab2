// Package ctxregexp searches with regular expressions until a context ends.
//
// A search with package regexp cannot be stopped. It takes up to some nanoseconds for each
// byte of the text and each instruction of the expression's program, which are hours for a
// text and an expression that are both large. A [Regexp] leaves the small searches to
// package regexp as they are, and in large ones it hands over the text character by
// character, and ends it when the context has ended.
package ctxregexp

import (
	"context"
	"errors"
	"io"
	"iter"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"
)

// MaxProgram is the most instructions of an expression: a limit on time and memory.
const MaxProgram = 100_000

// ErrTooLarge says that an expression has more instructions than [MaxProgram].
var ErrTooLarge = errors.New("the expression is too large: repeat less in it")

// Regexp is a regular expression. It is safe for concurrent use.
type Regexp struct {
	re      *regexp.Regexp
	size    int                   // instructions of its program
	endless func() bool           // a match can have any length
	later   func() *regexp.Regexp // see find
	small   int                   // maxSmall, but in tests
}

// Compile returns the regular expression expr, in the syntax of package regexp. Of the matches
// that begin at one place the longest one counts if longest is set, and else the first in the
// order of the alternatives.
//
// # Errors
//
// [ErrTooLarge], or a [*syntax.Error].
func Compile(expr string, longest bool) (*Regexp, error) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil || len(program.Inst) > MaxProgram {
		return nil, ErrTooLarge
	}
	rest := "(?s:.)(" + expr + ")"
	if _, err := syntax.Parse(rest, syntax.Perl); err != nil { // expr has a "\Q" that nothing ends
		rest = "(?s:.)(" + expr + `\E)`
		if _, err := syntax.Parse(rest, syntax.Perl); err != nil { // with two groups more it nests too deeply
			return nil, ErrTooLarge
		}
	}
	re := regexp.MustCompile(expr)
	if longest {
		re.Longest()
	}
	return &Regexp{
		re: re, size: len(program.Inst), small: maxSmall,
		endless: sync.OnceValue(func() bool { return isEndless(tree) }),
		later: sync.OnceValue(func() *regexp.Regexp {
			later := regexp.MustCompile(rest)
			if longest {
				later.Longest()
			}
			return later
		}),
	}, nil
}

// Size returns how many instructions the expression's program has.
func (r *Regexp) Size() int { return r.size }

// Plain returns the expression for what is no search, such as the names of its groups.
func (r *Regexp) Plain() *regexp.Regexp { return r.re }

// maxSmall is how large a search may be that cannot be stopped, in bytes of the text times
// instructions. It takes half a second.
const maxSmall = 1 << 27

// IsSmall reports whether a search of so many bytes for at most n matches cannot take long.
// With (a.*b|a) in a text of a alone, each of the matches takes a look at the whole rest.
func (r *Regexp) IsSmall(size, n int) bool {
	most := r.small / r.size // bytes
	return size <= most && (n == 1 || !r.endless() || size == 0 || size <= most/size)
}

// isEndless reports whether something in tree can be repeated without end.
func isEndless(tree *syntax.Regexp) bool {
	switch tree.Op {
	case syntax.OpStar, syntax.OpPlus:
		return true
	case syntax.OpRepeat:
		if tree.Max < 0 {
			return true
		}
	}
	return slices.ContainsFunc(tree.Sub, isEndless)
}

// ended reports whether ctx has ended, before a search of so many bytes. A search of few bytes
// takes little more time than the question.
func ended(ctx context.Context, size int) bool { return size > 1<<10 && ctx.Err() != nil }

// Match reports whether there is a match in text. It returns false once ctx has ended.
func (r *Regexp) Match(ctx context.Context, text []byte) bool {
	if r.IsSmall(len(text), 1) {
		return !ended(ctx, len(text)) && r.re.Match(text)
	}
	return r.re.MatchReader(r.reader(ctx, text)) && ctx.Err() == nil
}

// MatchString is [Regexp.Match] for a string.
func (r *Regexp) MatchString(ctx context.Context, text string) bool {
	if r.IsSmall(len(text), 1) {
		return !ended(ctx, len(text)) && r.re.MatchString(text)
	}
	return r.Match(ctx, []byte(text))
}

// All returns at most n matches in text, or all if n is negative, as
// [regexp.Regexp.FindAllSubmatchIndex] does. It returns none once ctx has ended.
func (r *Regexp) All(ctx context.Context, text []byte, n int) [][]int {
	if n == 0 || ended(ctx, len(text)) {
		return nil
	}
	if r.IsSmall(len(text), n) {
		return r.re.FindAllSubmatchIndex(text, n)
	}
	var matches [][]int
	for match := range r.each(ctx, text) {
		if matches = append(matches, match); len(matches) == n {
			break
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return matches
}

// maxListed is the size in bytes of a text whose matches are kept in a list, which takes some
// dozen bytes for each.
const maxListed = 1 << 20

// Each returns an iterator over all matches in text, as [Regexp.All] has them. It ends with ctx.
func (r *Regexp) Each(ctx context.Context, text []byte) iter.Seq[[]int] {
	if len(text) <= maxListed && r.IsSmall(len(text), -1) {
		return slices.Values(r.All(ctx, text, -1))
	}
	return r.each(ctx, text)
}

// each searches for one match after the other.
func (r *Regexp) each(ctx context.Context, text []byte) iter.Seq[[]int] {
	return Matches(text, func(at int) []int {
		match := r.find(ctx, text, at)
		if ctx.Err() != nil {
			return nil
		}
		return match
	})
}

// Matches returns an iterator over all matches in text. find returns the first one from a place
// on, nil if there is none. After an empty match the search goes on one character later, and an
// empty match right after another one is none.
func Matches(text []byte, find func(at int) []int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for at, end := 0, -1; at <= len(text); {
			match := find(at)
			if match == nil || (match[0] != match[1] || match[0] != end) && !yield(match) {
				return
			}
			if at, end = match[1], match[1]; match[0] == match[1] {
				_, width := utf8.DecodeRune(text[at:])
				at += max(width, 1)
			}
		}
	}
}

// AllString is [Regexp.All] for a string.
func (r *Regexp) AllString(ctx context.Context, text string, n int) [][]int {
	if ended(ctx, len(text)) {
		return nil
	}
	if r.IsSmall(len(text), n) {
		return r.re.FindAllStringSubmatchIndex(text, n)
	}
	return r.All(ctx, []byte(text), n)
}

// find returns the first match that begins at from or later. Whether an anchor or a word
// boundary holds there depends on the character before, so that is read, too, as a "." before
// the expression: every place has one before it, so none is missed.
//
//	(\bb+)       in "abb bbb" from 1   reads "abb bbb" and finds "bbb"
//	(?s:.)(\bb+) is what is searched for; its second group is the whole match
func (r *Regexp) find(ctx context.Context, text []byte, from int) []int {
	if from == 0 {
		return r.re.FindReaderSubmatchIndex(r.reader(ctx, text))
	}
	_, width := utf8.DecodeLastRune(text[:from])
	from -= width
	match := r.later().FindReaderSubmatchIndex(r.reader(ctx, text[from:]))
	if match == nil {
		return nil
	}
	match = match[2:]
	for i := range match {
		if match[i] >= 0 {
			match[i] += from
		}
	}
	return match
}

// reader reads a text until a context ends.
type reader struct {
	ctx  context.Context
	text []byte
	step int // the context is looked at each time that so many characters have been read
	left int // until the next time
}

// reader returns a reader that looks at ctx after some milliseconds at most.
func (r *Regexp) reader(ctx context.Context, text []byte) *reader {
	return &reader{ctx: ctx, text: text, step: max(1, MaxProgram/r.size)}
}

// ReadRune implements [io.RuneReader].
func (r *reader) ReadRune() (c rune, size int, err error) {
	if r.left--; r.left < 0 {
		if r.ctx.Err() != nil {
			r.text = nil
		}
		r.left = r.step
	}
	if len(r.text) == 0 {
		return 0, 0, io.EOF
	}
	c, size = utf8.DecodeRune(r.text)
	r.text = r.text[size:]
	return c, size, nil
}
