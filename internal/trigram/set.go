// Package trigram tells from a small summary of a text that a pattern cannot match in
// it. [Append] makes the summary, a [Set], and [Plan] turns a pattern into a [Query].
//
// A gram is three or four bytes that follow each other, with ASCII letters in lower case. The
// long s (ſ) and the Kelvin sign, which equal s and k where case is ignored, count as these. A
// text that contains "Context(" has all of its grams. So a text that lacks one of
// them need not be read. A text of 64 KiB or more has most grams that occur in words, and its
// Set has those of five bytes, too. A shape is the kinds of five bytes, one of them a digit, for patterns
// that have no grams:
//
//	pattern                query
//	GCStats                gcst csta stat tats gcs cst sta tat ats
//	func \w+Context\(      func unc␣ fun unc nc␣ and those of "context("
//	(get|set)Stats?        those of "getstat" or those of "setstat"
//	[a-z]\d{4}             the shape of a small letter and four digits
//	\w+                    none: every text may match
//
// A Set is a Bloom filter with one hash function, or three for shapes, and about one bit for each
// byte of the text, an eighth of its size. In source code a quarter of the bits are
// set, so a word of eight letters that a text lacks is taken for present in one text of
// millions. A Set never says that a text lacks what it has.
//
// A [Union] makes the Set of many texts together, without the grams of three bytes: one of
// many texts has most of them. If it does not meet a query, none of them needs to be looked at.
package trigram

import (
	"bytes"
	"slices"
)

// Set is the set of the grams and shapes of a text.
//
// It is a Bloom filter: has may report what is not in it, and never denies what
// is. Reads are safe for concurrent use. An empty Set has no bits, and a Query
// must not ask it.
type Set []uint64

// maxWords bounds the Set of a text: 256 KiB, for a text of two million bytes.
const maxWords = 32 << 10

// largeWords is the size of a Set from which on it has grams of five bytes.
const largeWords = 1 << 10

// maxUnionWords bounds the Set of many texts: 32 KiB. More of them have few more grams.
const maxUnionWords = 4 << 10

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

// The kinds of bytes in a shape.
const (
	digit = 1 + iota
	small
	capital
	underscore
	space
	other
	kinds
)

// kindOf has the kind of each byte.
var kindOf = func() (table [256]uint32) {
	for b := range table {
		switch {
		case '0' <= b && b <= '9':
			table[b] = digit
		case 'a' <= b && b <= 'z':
			table[b] = small
		case 'A' <= b && b <= 'Z':
			table[b] = capital
		case b == '_':
			table[b] = underscore
		case b == ' ' || '\t' <= b && b <= '\r':
			table[b] = space
		default:
			table[b] = other
		}
	}
	return table
}()

// longS and kelvin equal "s" and "k" where case is ignored, and count as these everywhere.
var (
	longS  = []byte("ſ")
	kelvin = []byte("\u212a")
)

// Append appends the Set of text to sets. The Set has a word for each 64 bytes
// of text, at least one and at most maxWords. The caller keeps where it begins, if
// sets has several.
func Append(sets []uint64, text []byte) []uint64 { return appendSet(sets, text, nil) }

// appendSet is Append, and adds the text to union, unless that is nil.
func appendSet(sets []uint64, text []byte, union *places) []uint64 {
	begin := len(sets)
	sets = append(sets, make([]uint64, min(max(len(text)/64, 1), maxWords))...)
	add(text, sets[begin:], union)
	return sets
}

// shapeLen is how many bytes a shape has. The kind of each takes kindBits.
const (
	shapeLen = 5
	kindBits = 3
)

// places are the words of a Set of many texts, of the largest size.
type places [maxUnionWords]uint64

// add adds the grams and shapes of text to set, unless that is empty, and all but the grams
// of three bytes to union, unless that is nil.
//
// gram has the last four bytes, and shape the kinds of the last five. Both move
// on by a byte at a time, so each byte is looked at once. A shape is added only
// while one of its five bytes is a digit: shapesEnd is the first place where
// that has ended.
func add(text []byte, set Set, union *places) {
	if bytes.Contains(text, longS) || bytes.Contains(text, kelvin) {
		text = bytes.ReplaceAll(bytes.ReplaceAll(text, longS, []byte("s")), kelvin, []byte("k"))
	}
	if len(text) < 3 {
		return
	}
	gram := folded[text[0]]<<8 | folded[text[1]]
	shape := kindOf[text[0]]<<kindBits | kindOf[text[1]]
	shapesEnd := 0 // the shapes that end before have a digit
	for i, b := range text[:2] {
		if kindOf[b] == digit {
			shapesEnd = i + shapeLen
		}
	}
	for i := 2; i < len(text); i++ {
		b := text[i]
		if len(set) >= largeWords && i >= 4 {
			set.put(hashOf5(gram, folded[b]))
		}
		gram = gram<<8 | folded[b]
		hash := hashOf4(gram)
		if union != nil {
			union.put(hash)
		}
		if len(set) > 0 {
			set.put(hash)
			set.put(hashOf3(gram))
		}
		kind := kindOf[b]
		shape = shape<<kindBits | kind
		if kind == digit {
			shapesEnd = i + shapeLen
		}
		if i < shapesEnd {
			for _, hash := range hashesOfShape(shape) {
				if union != nil {
					union.put(hash)
				}
				if len(set) > 0 {
					set.put(hash)
				}
			}
		}
	}
}

// put adds what has the given hash. The bit is the hash scaled to the size of
// the Set, and not its remainder. So two neighbours become one bit when the Set
// is halved, and one bit becomes two neighbours when it is doubled.
func (s Set) put(hash uint32) {
	bit := uint64(hash) * (uint64(len(s)) * 64) >> 32
	s[bit/64] |= 1 << (bit % 64)
}

// put adds what has the given hash. It is the bit that Set.put would choose for
// maxUnionWords.
func (p *places) put(hash uint32) { p[hash>>20] |= 1 << (hash >> 14 & 63) }

// The hashes spread over 32 bits what a text has: its last three to five bytes, and the kinds
// of its last five. See Knuth, The Art of Computer Programming, volume 3, section 6.4.

func hashOf3(gram uint32) uint32 { return (gram & 0xffffff) * 2654435769 }

func hashOf4(gram uint32) uint32 { return gram * 2246822519 }

func hashOf5(first4, last uint32) uint32 { return (first4 + last*374761393) * 668265263 }

func hashesOfShape(shape uint32) [3]uint32 {
	shape &= 1<<(shapeLen*kindBits) - 1
	return [3]uint32{shape * 3266489917, (shape + 1<<15) * 3266489917, (shape + 1<<16) * 3266489917}
}

// has reports whether what has the given hash may be in the set.
func (s Set) has(hash uint32) bool {
	bit := uint64(hash) * (uint64(len(s)) * 64) >> 32
	return s[bit/64]&(1<<(bit%64)) != 0
}

// Union makes the Set of many texts together, without their grams of three
// bytes: see [Query.MeetsUnion]. The zero Union has no texts. It is not safe
// for concurrent use.
type Union struct {
	set  *places // nil before there is a text
	size int     // of the texts, in bytes
}

// Reset removes all texts.
func (u *Union) Reset() {
	if u.set != nil {
		clear(u.set[:])
	}
	u.size = 0
}

// Add adds a text.
func (u *Union) Add(text []byte) { add(text, nil, u.grow(len(text))) }

// AddAndAppend is Add and [Append], in less time than both.
func (u *Union) AddAndAppend(sets []uint64, text []byte) []uint64 {
	return appendSet(sets, text, u.grow(len(text)))
}

// AddSet adds texts of size bytes together, which are among the texts of set.
// set must be one that Set has returned: its length is a power of two, which
// doubles to the length of a Union.
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
func (u *Union) grow(size int) *places {
	if u.set == nil {
		u.set = new(places)
	}
	u.size += size
	return u.set
}

// Set returns the Set of all texts, and removes them. It takes less than 1/24 of
// their size, and at most 32 KiB: texts that belong together have many grams in common.
func (u *Union) Set() Set {
	set := Set(u.grow(0)[:])
	for len(set) > 1 && 192*len(set) > u.size {
		set = set.halved()
	}
	set = slices.Clone(set)
	u.Reset()
	return set
}

// halved makes s a Set of half the size, whose length is even. A gram's place
// is that of its hash among all hashes, so each two bits become one. It
// overwrites s. If words had four bits, written with the highest one first:
//
//	0100 0011  ->  0110
//
// The pairs 01 and 00 of the first word make the lower half, 10, and those of
// the second, 00 and 11, the upper half, 01.
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

// joined returns 32 bits, one for each two neighbours in word, which is set if
// one of them is. The lower half of the result has them all; the upper half is
// zero.
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
