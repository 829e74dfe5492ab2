package shell

import (
	"bytes"
	"errors"
	"io"
)

// The sizes of the parts in which a reply is read: most are short.
const (
	firstPart = 512
	lastPart  = 4 << 20
)

// readAll does what [io.ReadAll] does, and copies a large reply once: that one
// copies it whenever it has grown by a quarter.
func readAll(r io.Reader) ([]byte, error) {
	var full [][]byte
	part := make([]byte, 0, firstPart)
	for {
		n, err := r.Read(part[len(part):cap(part)])
		part = part[:len(part)+n]
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			if full == nil {
				return part, err
			}
			return bytes.Join(append(full, part), nil), err
		}
		if len(part) == cap(part) {
			full = append(full, part)
			part = make([]byte, 0, min(2*cap(part), lastPart))
		}
	}
}
