package lines

import (
	"bytes"
	"math/bits"
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// factor is a run of bytes that is in every match: what each of its bytes can be. To find
// one, a search looks for the part of it that is the least work. If that part has several
// bytes, only one byte of a buffer in so many is looked at, as the part covers one of those.
// If it is one byte that can only be one thing, [bytes.IndexByte] finds that.
//
//	pattern            run           part     what is looked at
//	[A-Z]{3,}_[0-9]+   [A-Z]_[0-9]   _        what bytes.IndexByte finds
//	[a-z]\d{4}[a-z]    the whole     \d{4}    every fourth byte
type factor struct {
	masks    [256]uint32 // bit i: the byte can be at place i of the run
	size     int         // of the run
	from, to int         // the part of the run
	part     uint32      // its bits
	only     int         // the byte that is the part; negative if that can be several
}

// maxFactor is the most bytes of a factor, as a mask has a bit for each.
const maxFactor = 32

// newFactor returns the best factor of a simplified tree. It returns nil if the automaton
// is likely to be faster than any.
func newFactor(tree *syntax.Regexp) *factor {
	w := factors{bestCost: maxFactorCost, steps: maxFactorSteps}
	w.walk(tree)
	w.flush()
	return w.best
}

// index returns a place in the first run of bytes at or after from that can be the factor,
// -1 if there is none.
func (f *factor) index(buf []byte, from int) int {
	if f.only >= 0 {
		return f.indexOnly(buf, from)
	}
	n := f.to - f.from
	i := from + n - 1
	for ; i+3*n < len(buf); i += 4 * n { // these do not wait for one another
		if (f.masks[buf[i]]|f.masks[buf[i+n]]|f.masks[buf[i+2*n]]|f.masks[buf[i+3*n]])&f.part == 0 {
			continue
		}
		for at := i; at < i+4*n; at += n {
			if f.around(buf, from, at) {
				return at
			}
		}
	}
	for ; i < len(buf); i += n {
		if f.around(buf, from, i) {
			return i
		}
	}
	return -1
}

// indexOnly is index for a part that can be one byte only.
func (f *factor) indexOnly(buf []byte, from int) int {
	for at := from; ; at++ {
		next := bytes.IndexByte(buf[at:], byte(f.only))
		if next < 0 {
			return -1
		}
		if at += next; f.around(buf, from, at) {
			return at
		}
	}
}

// around reports whether the byte at is in the part of a run that can be the factor and does
// not begin before from. Bit i of fits says that the last i+1 bytes can begin the run.
func (f *factor) around(buf []byte, from, at int) bool {
	if f.masks[buf[at]]&f.part == 0 {
		return false
	}
	var fits uint32
	for i := max(from, at-f.to+1); i < min(len(buf), at+f.size-f.from); i++ {
		fits = (fits<<1 | 1) & f.masks[buf[i]]
		if fits>>(f.size-1) != 0 {
			return true
		}
		if fits == 0 && i >= at {
			return false
		}
	}
	return false
}

// byteSet is a set of ASCII characters, or one byte of another character.
type byteSet [4]uint64

func (s *byteSet) add(b byte) { s[b/64] |= 1 << (b % 64) }

func (s byteSet) has(b byte) bool { return s[b/64]>>(b%64)&1 != 0 }

// only returns the byte in s, and false if there are more.
func (s byteSet) only() (b byte, ok bool) {
	count := 0
	for i, word := range s {
		if word != 0 {
			b = byte(64*i + bits.TrailingZeros64(word))
		}
		count += bits.OnesCount64(word)
	}
	return b, count == 1
}

// factors goes through a tree and collects what the bytes of a match can be, as long as
// their number is fixed.
type factors struct {
	steps    int // how many more parts of the tree are looked at
	run      []byteSet
	best     *factor
	bestCost float64
}

// maxFactorSteps bounds the time for a tree, as what repeats is looked at twice, and within
// it, four times, and so on.
const maxFactorSteps = 10_000

// walk adds what re matches to the run, or ends the run.
func (w *factors) walk(re *syntax.Regexp) {
	if w.steps--; w.steps < 0 {
		w.flush()
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			w.character(r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		w.class(re.Rune)
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			w.walk(sub)
		}
	case syntax.OpPlus: // the first one follows what comes before, and the last one is followed by the rest
		w.walk(re.Sub[0])
		w.flush()
		w.walk(re.Sub[0])
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
	default:
		w.flush()
	}
}

// character adds one character, in either case if fold is set.
func (w *factors) character(r rune, fold bool) {
	switch {
	case r == utf8.RuneError: // stands for bytes that are not UTF-8, too
		w.flush()
	case foldsWide(r, fold):
		if fold {
			w.flush()
			return
		}
		for _, b := range []byte(string(r)) {
			var s byteSet
			s.add(b)
			w.run = append(w.run, s)
		}
	default:
		var s byteSet
		s.add(byte(r))
		for other := unicode.SimpleFold(r); fold && other != r; other = unicode.SimpleFold(other) {
			s.add(byte(other))
		}
		w.run = append(w.run, s)
	}
}

// class adds one of the characters in the ranges. A match has no line break.
func (w *factors) class(ranges []rune) {
	if len(ranges) == 0 || ranges[len(ranges)-1] > unicode.MaxASCII {
		w.flush()
		return
	}
	var s byteSet
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if r != '\n' {
				s.add(byte(r))
			}
		}
	}
	w.run = append(w.run, s)
}

// flush ends the run, and keeps it if it has the best part so far.
func (w *factors) flush() {
	for from := range w.run {
		var any byteSet
		for i, s := range w.run[from:min(len(w.run), from+maxFactor)] {
			for j := range any {
				any[j] |= s[j]
			}
			if cost := factorCost(any, i+1); cost < w.bestCost {
				w.best, w.bestCost = compileFactor(w.run, from, from+i+1), cost
			}
		}
	}
	w.run = w.run[:0]
}

// maxFactorCost is what the automaton costs, and a little less, in the unit of factorCost.
const maxFactorCost = 1.5

// factorCost estimates the time for a byte of a text, in nanoseconds, of looking for size
// bytes that are any of s.
func factorCost(s byteSet, size int) float64 {
	const look, compare = 0.5, 1.5
	const find, found = 0.05, 6 // by bytes.IndexByte
	hits := 0.0
	for b := range 256 {
		if s.has(byte(b)) {
			hits += frequency(byte(b))
		}
	}
	if _, ok := s.only(); ok && size == 1 {
		return find + hits*found
	}
	return (look + hits*compare*float64(2*size)) / float64(size)
}

// frequency estimates the part of a text's bytes that are b: less for each place further
// back among the common ones.
func frequency(b byte) float64 { return 0.4 / float64(rarity(b)+5) }

// compileFactor returns the factor that is the part of a run from one place to another, and as
// much around it as there is room for.
func compileFactor(run []byteSet, from, to int) *factor {
	begin := max(0, to-maxFactor)
	run = run[begin:min(len(run), begin+maxFactor)]
	f := &factor{size: len(run), from: from - begin, to: to - begin, only: -1}
	for i, s := range run {
		for b := range 256 {
			if s.has(byte(b)) {
				f.masks[b] |= 1 << i
			}
		}
	}
	f.part = 1<<f.to - 1<<f.from
	if b, ok := run[f.from].only(); ok && to-from == 1 {
		f.only = int(b)
	}
	return f
}
