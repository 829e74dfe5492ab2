package lines

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// literal is text to look for.
type literal struct {
	text []byte // in lower case if fold is set
	rare int    // the index in text of the byte to look for first
	fold bool   // ASCII letters match in either case
}

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

// newLiteral returns the search for text. Its rarest byte is what the search
// looks for first.
func newLiteral(text string, fold bool) literal {
	if fold && strings.ToLower(text) == strings.ToUpper(text) {
		fold = false
	}
	if fold {
		text = strings.ToLower(text)
	}
	return literal{text: []byte(text), rare: Rarest(text), fold: fold}
}

// Rarest returns the index of the byte in text that is least common in source code and
// prose, where a search for text begins.
func Rarest[T string | []byte](text T) int {
	rarest := 0
	for i := range len(text) {
		if rarity(text[i]) > rarity(text[rarest]) {
			rarest = i
		}
	}
	return rarest
}

// score estimates how much of a buffer l rules out.
func (l literal) score() int {
	score := 8*min(len(l.text), 16) + rarity(l.text[l.rare])
	if l.fold {
		score -= 8
	}
	return score
}

// index returns the first place of l in buf at or after from, or -1.
func (l *literal) index(buf []byte, from int) int {
	if l.fold {
		return l.indexFold(buf, from)
	}
	return l.indexExact(buf, from)
}

// indexExact looks for the rarest byte, which [bytes.IndexByte] does many bytes
// at a time, and compares the rest where it finds one. Where that byte is not rare
// after all, [bytes.Index] does better.
func (l *literal) indexExact(buf []byte, from int) int {
	want := l.text[l.rare]
	misses := 0
	for at := from + l.rare; at < len(buf); misses++ {
		if begin := at - l.rare; misses > 8+(begin-from)/16 {
			if next := bytes.Index(buf[begin:], l.text); next >= 0 {
				return begin + next
			}
			return -1
		}
		next := bytes.IndexByte(buf[at:], want)
		if next < 0 {
			return -1
		}
		start := at + next - l.rare
		if start+len(l.text) > len(buf) {
			return -1
		}
		if buf[start] == l.text[0] && bytes.Equal(buf[start:start+len(l.text)], l.text) { // the first saves most calls
			return start
		}
		at += next + 1
	}
	return -1
}

// The constants of a search that looks at eight bytes at a time: eight times
// 0x01, 0x80, and the bit in which upper and lower case of a letter differ.
const (
	everyLow  = 0x0101010101010101
	everyHigh = 0x8080808080808080
	everyCase = 0x2020202020202020
)

// indexFold looks for the rarest byte and its neighbour, in either case, at
// 32 places at a time, and compares the rest where it finds both. It ignores
// the bit of the case in all bytes, letters or not, which costs a comparison now
// and then.
func (l *literal) indexFold(buf []byte, from int) int {
	if len(l.text) == 1 {
		return l.indexFoldByte(buf, from)
	}
	pair := min(l.rare, len(l.text)-2)
	first := everyLow * uint64(l.text[pair])
	second := everyLow * uint64(l.text[pair+1])
	at := from + pair
	for ; at+33 <= len(buf); at += 32 {
		window := buf[at : at+33]
		a, b := pairs(window, first, second), pairs(window[8:], first, second)
		c, d := pairs(window[16:], first, second), pairs(window[24:], first, second)
		if (a|b|c|d)&everyHigh == 0 {
			continue
		}
		for i, hits := range [...]uint64{a, b, c, d} {
			if start := l.confirm(buf, at-pair+8*i, hits&everyHigh); start >= 0 {
				return start
			}
		}
	}
	for start := at - pair; start+len(l.text) <= len(buf); start++ {
		if l.foldsAt(buf, start) {
			return start
		}
	}
	return -1
}

// confirm returns the first place of l among the places that hits, a result of
// pairs, has from at on, or -1.
func (l *literal) confirm(buf []byte, at int, hits uint64) int {
	for ; hits != 0; hits &= hits - 1 {
		if start := at + bits.TrailingZeros64(hits)/8; l.foldsAt(buf, start) {
			return start
		}
	}
	return -1
}

// pairs returns a word with the high bit set for each of the first eight bytes
// of window that is first and is followed by second, in either case. Sometimes
// the bit of the byte above such a one is set, too; the other bits mean nothing.
// first and second are bytes that are repeated eight times.
//
// The exclusive or is zero in a byte that is equal, so the word is searched for
// zero bytes: see Warren, Hacker's Delight, section 6-1. To find "ne" in
// "a Needle", eight places at a time:
//
//	window              a . N e e d l e   (. is the space)
//	window ^ nnnnnnnn   zero at N, without the bit of the case
//	window[1:] ^ eeee   zero at N, e and l
//	both, or-ed         zero at N: the high bit of byte 2 is set
func pairs(window []byte, first, second uint64) uint64 {
	differ := (binary.LittleEndian.Uint64(window) ^ first) | (binary.LittleEndian.Uint64(window[1:]) ^ second)
	differ &^= everyCase
	return (differ - everyLow) &^ differ
}

// indexFoldByte looks for a single letter.
func (l *literal) indexFoldByte(buf []byte, from int) int {
	for i, b := range buf[from:] {
		if b|0x20 == l.text[0] {
			return from + i
		}
	}
	return -1
}

// foldsAt reports whether l is at start in buf.
func (l *literal) foldsAt(buf []byte, start int) bool {
	return start+len(l.text) <= len(buf) && equalFold(buf[start:start+len(l.text)], l.text)
}

// equalFold reports whether b in lower case is text.
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
