package lines

// PairIndexes returns the first place at or after from where two bytes are at a distance in buf, as
// this processor's instructions find it and as Go does.
func PairIndexes(buf []byte, from int, first, second byte, distance int, fold bool) (fast, plain int) {
	p := pair{first: first, second: second, distance: distance}
	if fold {
		p = pair{first | caseBit, second | caseBit, caseBit, distance}
	}
	return p.index(buf, from), p.indexGo(buf, from)
}
