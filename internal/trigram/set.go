// Package trigram tells from a small summary of a text that a pattern cannot match in
// it. [Append] makes the summary, a [Set], and [Plan] turns a pattern into a [Query].
//
// A trigram is three bytes that follow each other, with ASCII letters in lower case. A
// text that contains "Context(" has all of its trigrams. So a text that lacks one of
// them need not be read:
//
//	pattern                query
//	readGCStats            rea ead adg dgc gcs cst sta tat ats
//	func \w+Context\(      fun unc nc␣ con ont nte tex ext xt(
//	(get|set)Stats?        (get ets tst sta tat) or (set ets tst sta tat)
//	[a-z]\d{4}             none: every text may match
//
// A Set is a Bloom filter with one hash function and about one bit for each byte of the
// text, an eighth of its size. In source code a fifth to a half of the bits are set, so
// a word of eight trigrams that a text lacks is taken for present in one text of some
// thousand. A Set never says that a text lacks what it has.
package trigram

import "bytes"

// Set is the set of the trigrams of a text.
type Set []uint64

// maxWords bounds a Set: 32 KiB. Larger texts have few more trigrams.
const maxWords = 4 << 10

// folded has each byte, with ASCII letters in lower case.
var folded = func() (table [256]uint32) {
	for b := range table {
		table[b] = uint32(b)
		if 'A' <= b && b <= 'Z' {
			table[b] += 'a' - 'A'
		}
	}
	return table
}()

// longS and kelvin equal "s" and "k" where case is ignored.
var (
	longS  = []byte("ſ")
	kelvin = []byte("\u212a")
)

// Append appends the Set of text to sets. A text with a letter that is not ASCII and
// equals one that is, except for case, gets a Set of everything.
func Append(sets []uint64, text []byte) []uint64 {
	words := min(len(text)/64+1, maxWords)
	begin := len(sets)
	sets = append(sets, make([]uint64, words)...)
	set := Set(sets[begin:])
	if bytes.Contains(text, longS) || bytes.Contains(text, kelvin) {
		for i := range set {
			set[i] = ^uint64(0)
		}
		return sets
	}
	if len(text) < 3 {
		return sets
	}
	size := uint64(words) * 64
	gram := folded[text[0]]<<8 | folded[text[1]]
	for _, b := range text[2:] {
		gram = (gram<<8 | folded[b]) & 0xffffff
		bit := uint64(gram*multiplier) * size >> 32
		set[bit/64] |= 1 << (bit % 64)
	}
	return sets
}

// multiplier spreads trigrams over 32 bits: see Knuth, The Art of Computer Programming,
// volume 3, section 6.4.
const multiplier = 2654435769

// has reports whether the trigram with the given hash may be in the set.
func (s Set) has(hash uint32) bool {
	bit := uint64(hash) * (uint64(len(s)) * 64) >> 32
	return s[bit/64]&(1<<(bit%64)) != 0
}
