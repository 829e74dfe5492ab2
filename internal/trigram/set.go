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
//
// A [Union] makes the Set of many texts together. If that does not meet a query, none of
// them needs to be looked at.
package trigram

import (
	"bytes"
	"slices"
)

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
	Set(sets[begin:]).add(text)
	return sets
}

// add adds the trigrams of text.
func (s Set) add(text []byte) {
	if bytes.Contains(text, longS) || bytes.Contains(text, kelvin) {
		for i := range s {
			s[i] = ^uint64(0)
		}
		return
	}
	if len(text) < 3 {
		return
	}
	size := uint64(len(s)) * 64
	gram := folded[text[0]]<<8 | folded[text[1]]
	for _, b := range text[2:] {
		gram = (gram<<8 | folded[b]) & 0xffffff
		bit := uint64(gram*multiplier) * size >> 32
		s[bit/64] |= 1 << (bit % 64)
	}
}

// multiplier spreads trigrams over 32 bits: see Knuth, The Art of Computer Programming,
// volume 3, section 6.4.
const multiplier = 2654435769

// has reports whether the trigram with the given hash may be in the set.
func (s Set) has(hash uint32) bool {
	bit := uint64(hash) * (uint64(len(s)) * 64) >> 32
	return s[bit/64]&(1<<(bit%64)) != 0
}

// Union makes the Set of many texts together. The zero Union has none.
type Union struct {
	set  Set // of maxWords, once there is a text
	size int // of the texts, in bytes
}

// Reset removes all texts.
func (u *Union) Reset() {
	clear(u.set)
	u.size = 0
}

// Add adds a text.
func (u *Union) Add(text []byte) { u.grow(len(text)).add(text) }

// AddSet adds texts of size bytes together, which are among the texts of set.
func (u *Union) AddSet(set Set, size int) {
	all := u.grow(size)
	for len(set) < len(all) {
		set = set.doubled()
	}
	for i, word := range set {
		all[i] |= word
	}
}

// grow makes room for size more bytes.
func (u *Union) grow(size int) Set {
	if u.set == nil {
		u.set = make(Set, maxWords)
	}
	u.size += size
	return u.set
}

// Set returns the Set of all texts, and removes them. It takes less than 1/32 of
// their size, and at most 32 KiB: texts that belong together have many trigrams in common.
func (u *Union) Set() Set {
	set := u.grow(0)
	for len(set) > 1 && 256*len(set) > u.size {
		set = set.halved()
	}
	set = slices.Clone(set)
	u.Reset()
	return set
}

// halved makes s a Set of half the size, whose length is even. A trigram's place is that of
// its hash among all hashes, so each two bits become one.
func (s Set) halved() Set {
	for i := range len(s) / 2 {
		s[i] = joined(s[2*i]) | joined(s[2*i+1])<<32
	}
	return s[:len(s)/2]
}

// doubled returns a Set of twice the size that has all that s has: each bit becomes two.
func (s Set) doubled() Set {
	twice := make(Set, 2*len(s))
	for i, word := range s {
		twice[2*i], twice[2*i+1] = doubled(word&(1<<32-1)), doubled(word>>32)
	}
	return twice
}

// The steps by which every second bit of a word moves to its lower half, and back. See
// Warren, Hacker's Delight, section 7-2.
var steps = []struct {
	shift int
	mask  uint64
}{
	{1, 0x3333333333333333}, {2, 0x0f0f0f0f0f0f0f0f}, {4, 0x00ff00ff00ff00ff}, {8, 0x0000ffff0000ffff}, {16, 0x00000000ffffffff},
}

// everySecond is the mask of the bits 0, 2, 4 and so on.
const everySecond = 0x5555555555555555

// joined returns 32 bits, one for each two neighbours in word, which is set if one of them is.
func joined(word uint64) uint64 {
	word = (word | word>>1) & everySecond
	for _, step := range steps {
		word = (word | word>>step.shift) & step.mask
	}
	return word
}

// doubled returns each of the lower 32 bits of word twice.
func doubled(word uint64) uint64 {
	for i := len(steps) - 1; i > 0; i-- {
		word = (word | word<<steps[i].shift) & steps[i-1].mask
	}
	word = (word | word<<1) & everySecond
	return word | word<<1
}
