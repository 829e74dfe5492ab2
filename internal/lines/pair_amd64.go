package lines

// indexPair returns the first of n places from a byte on where the pair is, -1 if there is
// none. It reads n bytes, at least 32, and as many p.distance bytes later. Its
// instructions, SSE2, are part of every amd64 processor.
//
//go:noescape
func indexPair(from *byte, n int, p *pair) int

// index returns the first place at or after from where the pair is, -1 if there is none.
func (p *pair) index(buf []byte, from int) int {
	n := len(buf) - p.distance - from
	if n < 32 {
		return p.indexGo(buf, from)
	}
	if next := indexPair(&buf[from], n, p); next >= 0 {
		return from + next
	}
	return -1
}
