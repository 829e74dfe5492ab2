package config

// position is a place in a file. Lines and columns (in characters) count from
// 1; the zero position is the file as a whole.
type position struct{ line, column int }

func (p position) before(other position) bool {
	if p.line != other.line {
		return p.line < other.line
	}
	return p.column < other.column
}
