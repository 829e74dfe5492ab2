package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// errLongLine says that a line was longer than the limit and has been passed
// over.
var errLongLine = errors.New("message too long")

// lines reads lines of bounded length. It is for one goroutine.
type lines struct {
	in    *bufio.Reader
	limit int
}

func newLines(in io.Reader, limit int) *lines {
	return &lines{in: bufio.NewReaderSize(in, 64<<10), limit: limit}
}

// next returns the next line that is not blank, without its end. A last line
// needs none.
//
// # Errors
//
// [io.EOF] at the end, [errLongLine] for one line, or the error of the input.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.line()
		if line = bytes.TrimSpace(line); len(line) > 0 || err != nil {
			return line, err
		}
	}
}

// line reads to the next line feed, and keeps no more than the limit.
func (l *lines) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > l.limit; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0):
			return nil, err
		case long:
			return nil, errLongLine
		}
		return line, nil
	}
}
