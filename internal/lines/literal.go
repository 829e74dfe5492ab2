package lines

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// Literal is text to look for. It is safe for concurrent use.
type Literal struct {
	text   []byte // in lower case if fold is set
	fold   bool   // ASCII letters match in either case
	pair   pair   // its two rarest bytes
	offset int    // of the pair in text
}

// Len returns how many bytes it has.
func (l *Literal) Len() int { return len(l.text) }

// common lists bytes from the most common to the less common, as they occur in
// source code and prose. What is not in it is rare.
const common = " etaoinrs\tlcdupmfhg_.yb,vw()\"kx=/0:1;-*{}2TSECIAPRNqj[]FDL<>MOBU3"

// rarity grows as b is less common.
func rarity(b byte) int {
	if at := strings.IndexByte(common, b); at >= 0 {
		return at
	}
	return len(common)
}

// NewLiteral returns the search for text, which is not empty. If fold is set, it is ASCII.
func NewLiteral(text string, fold bool) Literal {
	if fold && strings.ToLower(text) == strings.ToUpper(text) {
		fold = false
	}
	if fold {
		text = strings.ToLower(text)
	}
	first, second := rarest(text)
	l := Literal{text: []byte(text), fold: fold, offset: min(first, second)}
	l.pair = pair{first: text[l.offset], second: text[max(first, second)], distance: max(first, second) - l.offset}
	if fold {
		l.pair.fold = caseBit
		l.pair.first |= caseBit
		l.pair.second |= caseBit
	}
	return l
}

// rareWithin is how many bytes of a text are looked at for the rarest.
const rareWithin = 256

// rarest returns the indexes of the two bytes of text that are least common in source code
// and prose: twice 0 for a single byte.
func rarest(text string) (first, second int) {
	second = min(1, len(text)-1)
	if rarity(text[second]) > rarity(text[first]) {
		first, second = second, first
	}
	for i := 2; i < min(len(text), rareWithin); i++ {
		switch r := rarity(text[i]); {
		case r > rarity(text[first]):
			first, second = i, first
		case r > rarity(text[second]):
			second = i
		}
	}
	return first, second
}

// score estimates how much of a buffer l rules out.
func (l Literal) score() int {
	first, _ := rarest(string(l.text))
	score := 8*min(len(l.text), 16) + rarity(l.text[first])
	if l.fold {
		score -= 8
	}
	return score
}

// Index returns the first place of l in buf at or after from, or -1. It looks for the two
// rarest bytes, and compares the rest where it finds them. Where these are not rare after
// all, [bytes.Index] does better.
func (l *Literal) Index(buf []byte, from int) int {
	for at, misses := from+l.offset, 0; ; misses++ {
		next := l.pair.index(buf, at)
		if next < 0 {
			return -1
		}
		start := next - l.offset
		if start+len(l.text) > len(buf) {
			return -1
		}
		if l.fold && equalFold(buf[start:], l.text) || !l.fold && bytes.HasPrefix(buf[start:], l.text) {
			return start
		}
		if at = next + 1; !l.fold && misses > 8+(start-from)/16 {
			if rest := bytes.Index(buf[start+1:], l.text); rest >= 0 {
				return start + 1 + rest
			}
			return -1
		}
	}
}

// equalFold reports whether b begins with text in either case. It is as long at least.
func equalFold(b, text []byte) bool {
	for i, want := range text {
		if b[i] != want && b[i] != upper(want) {
			return false
		}
	}
	return true
}

// upper returns the ASCII letter b in upper case, and any other byte as it is.
func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		return b - 'a' + 'A'
	}
	return b
}

// pair is two bytes at a distance, which a search looks for at many places at once. A fold
// of caseBit ignores the bit in which upper and lower case of a letter differ, in all
// bytes, letters or not; both bytes have it then. Otherwise fold is 0.
type pair struct {
	first, second, fold byte
	distance            int // from first to second; 0 if they are one byte
}

// The constants of a search that looks at eight bytes at once.
const (
	caseBit   = 0x20
	everyLow  = 0x0101010101010101
	everyHigh = 0x80 * everyLow
	everyCase = caseBit * everyLow
)

// indexGo is index without instructions that only some processors have: it returns the first
// place at or after from where the pair is, -1 if there is none.
func (p *pair) indexGo(buf []byte, from int) int {
	at, end := from, len(buf)-p.distance
	for p.fold != 0 && at+8 <= end {
		differ := (binary.LittleEndian.Uint64(buf[at:]) | everyCase) ^ everyLow*uint64(p.first)
		differ |= (binary.LittleEndian.Uint64(buf[at+p.distance:]) | everyCase) ^ everyLow*uint64(p.second)
		// Zero bytes are found as in Warren, Hacker's Delight, section 6-1. A bit above the
		// lowest can be wrong.
		if hits := (differ - everyLow) &^ differ & everyHigh; hits != 0 {
			return at + bits.TrailingZeros64(hits)/8
		}
		at += 8
	}
	for ; at < end; at++ {
		if p.fold == 0 {
			next := bytes.IndexByte(buf[at:end], p.first)
			if next < 0 {
				return -1
			}
			at += next
		}
		if buf[at]|p.fold == p.first && buf[at+p.distance]|p.fold == p.second {
			return at
		}
	}
	return -1
}
