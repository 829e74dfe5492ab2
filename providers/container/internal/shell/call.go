package shell

import (
	"io"
	"strconv"
	"strings"
)

// Call is one request.
type Call struct {
	// Function is a function that the shell knows, and Args its arguments.
	// They have no NUL byte.
	Function string
	Args     []string
	// Input is what the function asks for, and Size its exact length, or
	// [Unknown] if it says itself where it ends. Nil means that the
	// function asks for nothing.
	Input io.Reader
	Size  int64
	// Once says that a call which may have been carried out must not be
	// repeated.
	Once bool
}

// Unknown is the size of an input that says where it ends.
const Unknown = -1

// line returns the call as a line of shell whose reply ends with marker.
func (c Call) line(marker string) []byte {
	var b strings.Builder
	b.WriteString("request ")
	b.WriteString(marker)
	b.WriteByte(' ')
	b.WriteString(c.Function)
	for _, arg := range c.Args {
		b.WriteByte(' ')
		b.WriteString(Quote(arg))
	}
	b.WriteByte('\n')
	return []byte(b.String())
}

// Quote returns text as one word of shell that means nothing but text.
func Quote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Number returns n as an argument.
func Number(n int64) string { return strconv.FormatInt(n, 10) }
