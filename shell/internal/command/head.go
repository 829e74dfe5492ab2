package command

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// amount is the value of -n and -c of head and tail: a number, and a sign before it.
//
// n is never negative. head uses the sign "-" and tail the sign "+"; each takes the other one
// as if it were not there.
type amount struct {
	n    int64
	sign byte // '+', '-' or 0
	// bytes is whether bytes are counted, not lines.
	bytes bool
}

// countedBy makes -n and -c set a, the last one counts.
// As in GNU's programs, a sign of -n means something else: head -n -2 is all but the
// last two lines, tail -n +2 all from the second one on.
//
// A number that is too large for an int64 is an error, where other counts are cut: it would
// mean something else with a sign.
func (a *amount) countedBy(f *flags) {
	set := func(inBytes bool) func(string) error {
		return func(s string) error {
			a.sign, a.bytes = 0, inBytes
			if s != "" && (s[0] == '-' || s[0] == '+') {
				a.sign, s = s[0], s[1:]
			}
			n, err := parseSize(s)
			if n == math.MaxInt64 {
				return strconv.ErrRange
			}
			a.n = n
			return err
		}
	}
	f.FuncP("bytes", "c", "the number of bytes", set(true))
	f.FuncP("lines", "n", "the number of lines", set(false))
	f.number = "lines"
}

// headers prints the names of files before their contents.
// printed says that one has been written: the next one has an empty line before it.
type headers struct {
	quiet, verbose bool
	printed        bool
}

// define adds the options for headers to f.
func (h *headers) define(f *flags) {
	f.BoolVarP(&h.quiet, "quiet", "q", false, "never print headers giving file names")
	f.BoolVar(&h.quiet, "silent", false, "the same as -q")
	f.BoolVarP(&h.verbose, "verbose", "v", false, "always print headers giving file names")
}

// print writes the header of the file name, one of names, with an empty line before all
// but the first. One file alone gets a header only with -v.
func (h *headers) print(w io.Writer, name string, names []string) {
	if h.quiet || !h.verbose && len(names) < 2 {
		return
	}
	if name == "-" {
		name = "standard input"
	}
	if h.printed {
		fmt.Fprintln(w)
	}
	h.printed = true
	fmt.Fprintf(w, "==> %s <==\n", name)
}

// head prints the beginnings of files, as POSIX says, with GNU's -c, -q, -v and -z: 10
// lines, or the number of -n. The old form head -5 is accepted. Several files have
// headers.
func head(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	a := amount{n: 10}
	a.countedBy(f)
	var h headers
	h.define(f)
	zero := f.BoolP("zero-terminated", "z", false, "lines end with NUL, not newline")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	out := bufio.NewWriter(p.Stdout)
	status = p.Inputs(ctx, names, func(in *Input) error {
		h.print(out, in.Name, names)
		switch {
		case a.bytes && a.sign == '-':
			return allButLastBytes(ctx, p, out, in, a.n)
		case a.bytes:
			_, err := io.CopyN(out, in, a.n)
			return notEOF(err)
		case a.sign == '-':
			return allButLastLines(ctx, p, out, in, a.n, lineEnd(*zero))
		}
		r := bufio.NewReader(in)
		err := firstLines(ctx, out, r, a.n, lineEnd(*zero))
		if in.Name == "-" {
			p.unreadBuffer(r)
		}
		return err
	})
	return p.finish(out, status)
}

// firstLines copies the first n lines of r, which may have read more. A line
// may be longer than the buffer: it is then copied in pieces.
func firstLines(ctx context.Context, out *bufio.Writer, r *bufio.Reader, n int64, end byte) error {
	if n == 0 {
		return nil
	}
	for ctx.Err() == nil {
		line, err := r.ReadSlice(end)
		if _, err := out.Write(line); err != nil {
			return err
		}
		switch {
		case err == bufio.ErrBufferFull:
		case err != nil:
			return notEOF(err)
		default:
			if n--; n == 0 {
				return nil
			}
		}
	}
	return ctx.Err()
}

// allButLastLines holds as many lines as it leaves out: a line is written when that
// many have come after it. Those that are left out stay in the standard input.
func allButLastLines(ctx context.Context, p *Process, out *bufio.Writer, in *Input, n int64, end byte) error {
	window := lastLines{limit: n, memory: p.MaxMemory}
	r := newLineReader(ctx, p, in, end)
	for r.next() {
		line := r.line
		if r.terminated {
			line = append(line[:len(line):len(line)], end)
		}
		if err := window.add(line, out); err != nil {
			return err
		}
	}
	if in.Name == "-" {
		var rest bytes.Buffer
		window.write(&rest)
		p.unread(rest.Bytes())
	}
	return r.err
}

// lastLines holds the last lines of a text.
//
// With a limit of three, after the lines a b c d:
//
//	lines  d b c     d took the place of a, which was written
//	first  1         b is the oldest
type lastLines struct {
	limit, memory int64    // in lines, and in bytes
	lines         [][]byte // a ring once it has limit lines
	first         int      // the place of the oldest line
	held          int64    // bytes of all lines
}

// add adds a line, and writes the one that has to go to w. The ring takes the place of
// the oldest line, whose memory it uses again.
//
// The line is copied. Each line counts 48 bytes more than it has, and the error comes after the
// line was added, when what is held exceeds memory.
func (l *lastLines) add(line []byte, w io.Writer) error {
	if l.limit == 0 {
		_, err := w.Write(line)
		return err
	}
	const overhead = 48
	l.held += int64(len(line)) + overhead
	if int64(len(l.lines)) < l.limit {
		l.lines = append(l.lines, bytes.Clone(line))
	} else {
		old := l.lines[l.first]
		l.held -= int64(len(old)) + overhead
		if _, err := w.Write(old); err != nil {
			return err
		}
		l.lines[l.first] = append(old[:0], line...)
		l.first = (l.first + 1) % len(l.lines)
	}
	if l.held > l.memory {
		return errTooMuch(l.memory)
	}
	return nil
}

// write writes the lines in the order in which they came. They are in a ring, whose
// oldest line is at first.
func (l *lastLines) write(w io.Writer) error {
	for i := range l.lines {
		if _, err := w.Write(l.lines[(l.first+i)%len(l.lines)]); err != nil {
			return err
		}
	}
	return nil
}

// lastBytes reads all of in, and returns the last n bytes. What comes before goes to w.
// The bytes are moved down only when there are as many again, or 1 MiB more, so that
// each is moved a few times at most.
//
// The result shares no memory with in. An error of in is returned with what was held.
func lastBytes(ctx context.Context, p *Process, w io.Writer, in io.Reader, n int64) ([]byte, error) {
	var held []byte
	buf := make([]byte, 64<<10)
	for ctx.Err() == nil {
		read, err := in.Read(buf)
		held = append(held, buf[:read]...)
		if extra := int64(len(held)) - n; extra > 0 && (extra > n || extra > 1<<20 || err != nil) {
			if _, err := w.Write(held[:extra]); err != nil {
				return nil, err
			}
			held = append(held[:0], held[extra:]...)
		}
		if int64(len(held)) > p.MaxMemory {
			return nil, errTooMuch(p.MaxMemory)
		}
		if err != nil {
			return held, notEOF(err)
		}
	}
	return nil, ctx.Err()
}

// allButLastBytes copies in but for its last n bytes, which it leaves in the standard input.
func allButLastBytes(ctx context.Context, p *Process, out io.Writer, in *Input, n int64) error {
	rest, err := lastBytes(ctx, p, out, in, n)
	if in.Name == "-" {
		p.unread(rest)
	}
	return err
}

// tail prints the ends of files, as POSIX says, with GNU's -q, -v and -z. It reads
// files from their beginning, as a workspace has no seeking, and holds what it may
// print. -f is refused: it would wait for changes until the time of the script is over.
func tail(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	a := amount{n: 10}
	a.countedBy(f)
	var h headers
	h.define(f)
	zero := f.BoolP("zero-terminated", "z", false, "lines end with NUL, not newline")
	f.StringP("follow", "f", "", "not supported: nothing waits for more to be written")
	f.Lookup("follow").NoOptDefVal = "descriptor"
	again := f.BoolP("F", "F", false, "not supported, as -f")
	f.StringP("sleep-interval", "s", "", "of no effect without -f")
	f.String("pid", "", "of no effect without -f")
	f.Bool("retry", false, "of no effect without -f")
	if args := p.Args[1:]; len(args) > 0 && len(args) < 3 && strings.HasPrefix(args[0], "+") && len(args[0]) > 1 && isDigit(args[0][1]) {
		p.Args = append([]string{p.Args[0], "-n", args[0]}, args[1:]...) // tail +5 [FILE], which old systems have
	}
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if f.Changed("follow") || *again {
		return p.errorf("-f is not supported: it would wait for ever; run tail again to see what was added")
	}
	if a.n == 0 && a.sign != '+' {
		return 0
	}
	out := bufio.NewWriter(p.Stdout)
	status = p.Inputs(ctx, names, func(in *Input) error {
		h.print(out, in.Name, names)
		switch {
		case a.sign == '+' && a.bytes:
			if _, err := io.CopyN(io.Discard, in, max(0, a.n-1)); err != nil {
				return notEOF(err)
			}
			_, err := io.Copy(out, in)
			return err
		case a.sign == '+':
			r := bufio.NewReader(in)
			if a.n > 1 {
				if err := firstLines(ctx, bufio.NewWriter(io.Discard), r, a.n-1, lineEnd(*zero)); err != nil {
					return err
				}
			}
			_, err := io.Copy(out, r)
			return err
		case a.bytes:
			end, err := lastBytes(ctx, p, io.Discard, in, a.n)
			out.Write(end)
			return err
		}
		return tailLines(ctx, p, out, in, a.n, lineEnd(*zero))
	})
	return p.finish(out, status)
}

// tailLines writes the last n lines of in. It holds no more than those, and fails if
// they are more than a program may hold.
// Nothing is written before the end of in.
func tailLines(ctx context.Context, p *Process, out io.Writer, in io.Reader, n int64, end byte) error {
	window := lastLines{limit: n, memory: p.MaxMemory}
	r := newLineReader(ctx, p, in, end)
	for r.next() {
		line := r.line
		if r.terminated {
			line = append(line[:len(line):len(line)], end)
		}
		if err := window.add(line, io.Discard); err != nil {
			return err
		}
	}
	if r.err != nil {
		return r.err
	}
	return window.write(out)
}
