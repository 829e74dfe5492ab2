package container

import (
	"fmt"
	"io"
)

// chunker writes a stream whose length is not known, in parts whose lengths
// are.
type chunker struct {
	w   io.Writer
	buf []byte
}

// maxChunk is the length of a part.
const maxChunk = 256 << 10

// Write implements [io.Writer].
func (c *chunker) Write(p []byte) (int, error) {
	c.buf = append(c.buf, p...)
	if len(c.buf) < maxChunk {
		return len(p), nil
	}
	return len(p), c.flush()
}

func (c *chunker) flush() error {
	if len(c.buf) == 0 {
		return nil // that would be the end
	}
	if _, err := fmt.Fprintf(c.w, "%d\n", len(c.buf)); err != nil {
		return err
	}
	_, err := c.w.Write(c.buf)
	c.buf = c.buf[:0]
	return err
}

// end writes what is left, and the end.
func (c *chunker) end() error {
	if err := c.flush(); err != nil {
		return err
	}
	_, err := io.WriteString(c.w, "0\n")
	return err
}
