package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/wording"
)

// lineReader reads lines of any length that memory allows. A line that fits into its
// buffer of 32 KiB is not copied.
//
// The zero value is not usable; see newLineReader. After next has returned false, err says
// why, nil at the end of the input.
type lineReader struct {
	// line is the line that next has read, without its end. It is valid until next
	// is called again.
	line []byte
	// terminated is whether the line has an end.
	terminated bool
	err        error

	ctx   context.Context
	r     *bufio.Reader
	end   byte   // of a line: "\n", or NUL
	limit int64  // the most bytes of a line
	long  []byte // a line that does not fit into the buffer
}

// newLineReader returns a reader of lines that end with end. A line that is longer than
// the memory of p ends the reading with an error.
func newLineReader(ctx context.Context, p *Process, r io.Reader, end byte) *lineReader {
	return &lineReader{ctx: ctx, r: bufio.NewReaderSize(r, 32<<10), end: end, limit: p.MaxMemory}
}

// next reads a line. It reports whether there is one.
//
// An input that ends without a line end has a last line with terminated false. Most programs
// print such a line with an end, as GNU's do; split, which copies, asks terminated.
func (r *lineReader) next() bool {
	if r.err = r.ctx.Err(); r.err != nil {
		return false
	}
	line, err := r.r.ReadSlice(r.end)
	if err == bufio.ErrBufferFull {
		r.long = append(r.long[:0], line...)
		for err == bufio.ErrBufferFull {
			if int64(len(r.long)) > r.limit {
				r.err = errTooMuch(r.limit)
				return false
			}
			line, err = r.r.ReadSlice(r.end)
			r.long = append(r.long, line...)
		}
		line = r.long
	}
	if r.err = notEOF(err); r.err != nil || len(line) == 0 {
		return false
	}
	r.terminated = line[len(line)-1] == r.end
	if r.line = line; r.terminated {
		r.line = line[:len(line)-1]
	}
	return true
}

// eachLine calls do with each line of the files, or of the standard input.
// The status is that of Inputs: 1 after an error of a file, whose message has been printed.
func (p *Process) eachLine(ctx context.Context, names []string, end byte, do func(r *lineReader) error) int {
	return p.Inputs(ctx, names, func(in *Input) error {
		r := newLineReader(ctx, p, in, end)
		for r.next() {
			if err := do(r); err != nil {
				return err
			}
		}
		return r.err
	})
}

// errTooMuch returns the error of a program that would hold more than limit bytes.
func errTooMuch(limit int64) error {
	return fmt.Errorf("the input is too large for the memory of a program, %s", wording.Bytes(limit))
}

// notEOF is err, or nil if that only says that there is no more.
func notEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// failWrite is what a program returns whose output failed: quietly if nobody
// reads it any more, or it has been said.
func (p *Process) failWrite(err error) int {
	if isPipe(err) {
		return exitPipe
	}
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !p.writeFailed {
		p.writeFailed = true
		p.errorf("write error: %s", ErrorText(err))
	}
	return 1
}

// finish flushes the output of a program that returns status. A failed flush is the
// greater error.
//
// It is what a program with a buffered output returns at its end: without it, a full disk or
// a reader that has gone would be a success.
func (p *Process) finish(out *bufio.Writer, status int) int {
	if err := out.Flush(); err != nil {
		return max(status, p.failWrite(err))
	}
	return status
}

// quoteName quotes a word in a message, as GNU does in the C locale.
func quoteName(s string) string { return "'" + strings.ReplaceAll(s, "'", `\'`) + "'" }

// wrong reports a usage that is wrong.
func (f *flags) wrong(format string, args ...any) int {
	f.p.errorf(format, args...)
	fmt.Fprintf(f.p.Stderr, "Try '%s --help' for more information.\n", f.p.name())
	return f.failure
}

// end is the end of lines: NUL if the program is asked for it.
func lineEnd(zero bool) byte {
	if zero {
		return 0
	}
	return '\n'
}

// count is an option that is a number, zero or more. What is too large is the largest.
type count int

// countP adds an option whose value is a number that is not negative.
func (f *flags) countP(name, shorthand string, value int, usage string) *int {
	n := count(value)
	f.VarP(&n, name, shorthand, usage)
	return (*int)(&n)
}

// Set implements [pflag.Value].
func (c *count) Set(s string) error {
	n, err := parseSize(s)
	*c = count(min(n, math.MaxInt))
	return err
}

// String implements [pflag.Value].
func (c *count) String() string { return strconv.Itoa(int(*c)) }

// Type implements [pflag.Value].
func (c *count) Type() string { return "count of things" }

// sizeUnits are the suffixes of sizes.
const sizeUnits = "KMGTPEZY"

// parseSize reads a number with a suffix: b for 512, K or KiB for 1024, KB for 1000,
// and so on up to Y, as in GNU's coreutils. What is too large is the largest, which is
// as good as no bound.
func parseSize(s string) (int64, error) {
	digits := digitsEnd(s, 0, len(s), 10)
	if digits == 0 {
		return 0, strconv.ErrSyntax
	}
	n, err := strconv.ParseInt(s[:digits], 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		n = math.MaxInt64
	}
	unit := s[digits:]
	factor, power := int64(1024), 0
	switch {
	case unit == "":
		return n, nil
	case unit == "b":
		factor, power = 512, 1
	case unit == "k" || unit == "kB":
		unit = strings.ToUpper(unit)
		fallthrough
	default:
		power = strings.IndexByte(sizeUnits, unit[0]) + 1
		switch unit[1:] {
		case "", "iB":
		case "B":
			factor = 1000
		default:
			power = 0
		}
	}
	if power == 0 {
		return 0, strconv.ErrSyntax
	}
	for range power {
		if n > math.MaxInt64/factor {
			return math.MaxInt64, nil
		}
		n *= factor
	}
	return n, nil
}

// location is the time zone that TZ names: UTC, or an offset such as EST5.
func (p *Process) location() *time.Location {
	zone, err := parseZone(p.Env("TZ"))
	if err != nil {
		return time.UTC
	}
	return zone
}

// readBounded reads all of r, which has to fit into memory.
func readBounded(ctx context.Context, p *Process, r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, p.MaxMemory+1))
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && int64(len(data)) > p.MaxMemory {
		err = errTooMuch(p.MaxMemory)
	}
	return data, err
}
