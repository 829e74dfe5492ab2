package edit

import "math/bits"

// signature is the set of the pairs of adjacent bytes in a line, hashed: a
// cheap way to tell how alike two lines are.
type signature [4]uint64

func signatureOf(line []byte) signature {
	var s signature
	for i := 1; i < len(line); i++ {
		h := line[i-1]*31 + line[i]
		s[h>>6] |= 1 << (h & 63)
	}
	return s
}

// similarity is 1 for equal sets and 0 for sets that share nothing (Dice's
// coefficient).
func (s signature) similarity(other signature) float64 {
	shared, total := 0, 0
	for i := range s {
		shared += bits.OnesCount64(s[i] & other[i])
		total += bits.OnesCount64(s[i]) + bits.OnesCount64(other[i])
	}
	if total == 0 {
		return 0
	}
	return 2 * float64(shared) / float64(total)
}
