//go:build !amd64

package lines

// index returns the first place at or after from where the pair is, -1 if there is none.
func (p *pair) index(buf []byte, from int) int { return p.indexGo(buf, from) }
