package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// tee copies the standard input to files and to the standard output, as POSIX says. A
// file is stored when the input has ended. One that cannot be written does not stop the
// others.
//
// Nothing is buffered: what is read goes to all outputs before the next read. A reader of
// the standard output that wants no more does not end the files, unlike with GNU's, where
// SIGPIPE ends the program.
func tee(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	add := f.BoolP("append", "a", false, "append to the given FILEs, do not overwrite")
	f.BoolP("ignore-interrupts", "i", false, "(ignored)")
	f.BoolP("p", "p", false, "(ignored)")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	flag := 0
	if *add {
		flag = os.O_APPEND
	}
	type target struct {
		name string
		io.WriteCloser
	}
	targets := []target{{"standard output", nopCloser{p.Stdout}}}
	for _, name := range names {
		file, err := p.Create(ctx, name, flag)
		if err != nil {
			status = p.fail(name, err)
			continue
		}
		targets = append(targets, target{name, file})
	}
	buf := make([]byte, 32<<10)
	for len(targets) > 0 {
		n, err := p.Stdin.Read(buf)
		for i := 0; i < len(targets) && n > 0; i++ {
			if _, err := targets[i].Write(buf[:n]); err != nil {
				status = max(1, p.fail(targets[i].name, err))
				targets[i].Close()
				targets = append(targets[:i], targets[i+1:]...)
				i--
			}
		}
		if err = errors.Join(notEOF(err), ctx.Err()); err != nil {
			status = p.fail("read error", err)
		}
		if err != nil || n == 0 {
			break
		}
	}
	for _, t := range targets {
		if err := t.Close(); err != nil {
			status = p.fail(t.name, err)
		}
	}
	return status
}

// split cuts a file into files, as GNU's does: of -l lines (1000), -b bytes, -C bytes
// of whole lines, or into -n parts. Names are PREFIX and a suffix that counts aa, ab,
// and so on. --filter is refused.
func split(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE [PREFIX]]")
	s := &splitter{ctx: ctx, p: p, lines: 1000}
	var modes []string
	size := func(mode string, set func(string) error) func(string) error {
		return func(value string) error {
			if len(modes) == 0 || modes[0] != mode {
				modes = append(modes, mode)
			}
			return set(value)
		}
	}
	number := func(n *int64) func(string) error {
		return func(value string) (err error) {
			if *n, err = parseSize(value); err == nil && *n == 0 {
				err = strconv.ErrRange
			}
			return err
		}
	}
	f.FuncP("lines", "l", "put NUMBER lines per output file", size("l", number(&s.lines)))
	f.FuncP("bytes", "b", "put SIZE bytes per output file", size("b", number(&s.bytes)))
	f.FuncP("line-bytes", "C", "put at most SIZE bytes of lines per output file", size("C", number(&s.lineBytes)))
	chunks := f.StringP("number", "n", "", "generate CHUNKS output files: N, or l/N without splitting lines")
	length := f.countP("suffix-length", "a", 0, "generate suffixes of length N (default 2, and more if needed)")
	f.BoolP("d", "d", false, "use numeric suffixes starting at 0, not alphabetic")
	f.BoolP("x", "x", false, "use hexadecimal suffixes starting at 0, not alphabetic")
	numeric := f.String("numeric-suffixes", "", "the same as -d, but allow setting the start value")
	f.Lookup("numeric-suffixes").NoOptDefVal = "0"
	hex := f.String("hex-suffixes", "", "the same as -x, but allow setting the start value")
	f.Lookup("hex-suffixes").NoOptDefVal = "0"
	f.StringVar(&s.additional, "additional-suffix", "", "append an additional SUFFIX to file names")
	f.BoolVarP(&s.elide, "elide-empty-files", "e", false, "do not generate empty output files with -n")
	f.BoolVar(&s.verbose, "verbose", false, "print a diagnostic just before each output file is opened")
	f.String("filter", "", "not supported: write files, and use a loop")
	separator := f.StringP("separator", "t", "\n", "use SEP instead of newline as the record separator")
	operands, status, ok := f.parse()
	if !ok {
		return status
	}
	s.alphabet = "abcdefghijklmnopqrstuvwxyz"
	var err error
	switch {
	case f.Changed("filter"):
		return p.errorf("--filter is not supported: write files, and use a loop")
	case f.Changed("d") || f.Changed("numeric-suffixes"):
		s.alphabet = "0123456789"
		s.next, err = strconv.Atoi("0" + *numeric)
	case f.Changed("x") || f.Changed("hex-suffixes"):
		s.alphabet = "0123456789abcdef"
		var n uint64
		n, err = strconv.ParseUint("0"+*hex, 16, 31)
		s.next = int(n)
	}
	if f.Changed("number") {
		modes = append(modes, "n")
	}
	if *separator == `\0` {
		*separator = "\x00"
	}
	name, prefix := "-", "x"
	switch {
	case err != nil:
		return f.wrong("invalid start value for numerical suffix")
	case len(modes) > 1:
		return f.wrong("cannot split in more than one way")
	case len(operands) > 2:
		return f.wrong("extra operand %s", quoteName(operands[2]))
	case len(*separator) != 1:
		return f.wrong("multi-character separator %s", quoteName(*separator))
	case *length > 255: // bytes that a name has
		return f.wrong("suffix length %d is too large", *length)
	case strings.Contains(s.additional, "/"):
		return f.wrong("invalid suffix %s, contains directory separator", quoteName(s.additional))
	}
	if len(operands) > 0 {
		name = operands[0]
	}
	if len(operands) > 1 {
		prefix = operands[1]
	}
	if name != "-" {
		s.input = p.resolve(ctx, name, false)
	}
	s.end, s.prefix, s.length, s.widens = (*separator)[0], prefix, *length, *length == 0 && s.next == 0
	if s.length == 0 {
		s.length = 2
	}
	failed := false
	result := p.Inputs(ctx, []string{name}, func(in *Input) (err error) {
		switch {
		case s.bytes > 0:
			err = s.byBytes(in)
		case s.lineBytes > 0:
			err = s.byLineBytes(in)
		case *chunks != "":
			err = s.byChunks(in, *chunks)
		default:
			err = s.byLines(in)
		}
		if err = errors.Join(err, s.close()); s.failed {
			failed, err = true, nil
		}
		return err
	})
	if failed {
		return 1
	}
	return result
}

// splitter writes one file after another.
type splitter struct {
	ctx                    context.Context
	p                      *Process
	lines, bytes           int64 // -l and -b: how much a file gets
	lineBytes              int64 // -C: how many bytes of whole lines
	end                    byte
	input                  Location       // of the file, the zero one for the standard input
	prefix, additional     string         // of the names, and what follows their letters
	alphabet               string         // of the suffixes: letters, digits or hexadecimal digits
	length                 int            // of the suffixes
	widens, elide, verbose bool           // suffixes get longer when they are used up; -e; --verbose
	next                   int            // the number of the next file
	file                   io.WriteCloser // that is being written, nil for none
	out                    *bufio.Writer
	failed                 bool // a message has been printed
}

// errSplit ends a split whose reason has been printed.
var errSplit = errors.New("split failed")

// open ends the file, and begins the next one.
// It must be called before the first write: the zero splitter has no file.
func (s *splitter) open() error {
	if err := s.close(); err != nil {
		return err
	}
	name, ok := s.name()
	if !ok {
		s.failed = true
		s.p.errorf("output file suffixes exhausted")
		return errSplit
	}
	if s.verbose {
		fmt.Fprintf(s.p.Stdout, "creating file %s\n", quoteName(name))
	}
	if s.input.Workspace != nil && s.p.resolve(s.ctx, name, false) == s.input {
		s.failed = true
		s.p.errorf("'%s' would overwrite input; aborting", name)
		return errSplit
	}
	file, err := s.p.Create(s.ctx, name, 0)
	if err != nil {
		s.failed = true
		s.p.fail(name, err)
		return errSplit
	}
	s.next++
	s.file, s.out = file, bufio.NewWriter(file)
	return nil
}

// name is the next name. When all suffixes but those in the last block are used, they
// become longer, so that the names remain sorted: with two letters, after yz comes
// zaaa. Suffixes of a length that was given, or with a start, do not grow, and end.
func (s *splitter) name() (string, bool) {
	n, length, lead := s.next, s.length, ""
	base := len(s.alphabet)
	for s.widens {
		room := base - 1
		for range length - 1 {
			room *= base
		}
		if n < room {
			break
		}
		n -= room
		lead += s.alphabet[base-1:]
		length++
	}
	suffix := make([]byte, length)
	for i := length - 1; i >= 0; i-- {
		suffix[i] = s.alphabet[n%base]
		n /= base
	}
	return s.prefix + lead + string(suffix) + s.additional, n == 0
}

// close stores the file that is being written, if there is one.
func (s *splitter) close() error {
	if s.file == nil {
		return nil
	}
	err := errors.Join(s.out.Flush(), s.file.Close())
	s.file = nil
	return err
}

// byBytes makes files of the same size, but for the last one. It looks for a byte
// before it makes a file, so no file is empty.
// A read ahead of one byte is why split -b 2 of four bytes makes two files, and not three.
func (s *splitter) byBytes(in io.Reader) error {
	r := bufio.NewReader(in)
	for {
		if _, err := r.Peek(1); err != nil {
			return notEOF(err)
		}
		if err := s.open(); err != nil {
			return err
		}
		if _, err := io.CopyN(s.out, r, s.bytes); err != nil {
			return notEOF(err)
		}
	}
}

// byLines makes files of the same number of lines, but for the last one.
func (s *splitter) byLines(in io.Reader) error {
	r := newLineReader(s.ctx, s.p, in, s.end)
	for n := int64(0); r.next(); n++ {
		if n%s.lines == 0 {
			if err := s.open(); err != nil {
				return err
			}
		}
		if err := s.write(r); err != nil {
			return err
		}
	}
	return r.err
}

// write adds a line to the current file, with the end that it had.
func (s *splitter) write(r *lineReader) error {
	_, err := s.out.Write(r.line)
	if err == nil && r.terminated {
		err = s.out.WriteByte(s.end)
	}
	return err
}

// byLineBytes puts as many whole lines into a file as fit. A line that is longer than a
// file is split, and its end shares a file with the next lines.
func (s *splitter) byLineBytes(in io.Reader) error {
	r := newLineReader(s.ctx, s.p, in, s.end)
	room := int64(0)
	for r.next() {
		line := r.line
		if r.terminated {
			line = append(line[:len(line):len(line)], s.end)
		}
		if s.file == nil || int64(len(line)) > room {
			if s.file == nil || room < s.lineBytes {
				if err := s.open(); err != nil {
					return err
				}
				room = s.lineBytes
			}
		}
		for int64(len(line)) > room {
			if _, err := s.out.Write(line[:room]); err != nil {
				return err
			}
			line = line[room:]
			if err := s.open(); err != nil {
				return err
			}
			room = s.lineBytes
		}
		if _, err := s.out.Write(line); err != nil {
			return err
		}
		room -= int64(len(line))
	}
	return r.err
}

// byChunks writes N files of about the same size, or prints the Kth of them (K/N). With
// l/N, a part ends at the first line end after its place: one that a long line covers
// is empty.
//
// The input is read whole, as the size of a part depends on its length, and must fit into
// MaxMemory.
func (s *splitter) byChunks(in io.Reader, spec string) error {
	rest, byLine := strings.CutPrefix(spec, "l/")
	only := 0
	if k, n, ok := strings.Cut(rest, "/"); ok {
		only, rest = atoi(k), n
	}
	if rest, ok := strings.CutPrefix(spec, "r/"); ok {
		s.failed = true
		s.p.errorf("-n %s is not supported; use l/%s", spec, rest)
		return errSplit
	}
	count, err := strconv.Atoi(rest)
	if err != nil || count < 1 || count > 1e6 || only > count {
		s.failed = true
		s.p.errorf("invalid number of chunks: %s", quoteName(spec))
		return errSplit
	}
	data, err := readBounded(s.ctx, s.p, in)
	if err != nil {
		return err
	}
	end := 0
	for i := range count {
		start := end
		end = max(end, chunkEnd(len(data), i+1, count))
		if byLine && end > start && end < len(data) {
			if at := strings.IndexByte(string(data[end-1:]), s.end); at >= 0 {
				end += at
			} else {
				end = len(data)
			}
		}
		switch {
		case only == i+1:
			_, err = s.p.Stdout.Write(data[start:end])
		case only > 0, s.elide && start == end:
		default:
			if err = s.open(); err == nil {
				_, err = s.out.Write(data[start:end])
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// chunkEnd is where the nth of count chunks ends; the last one gets the remainder.
func chunkEnd(size, n, count int) int {
	if n == count {
		return size
	}
	return size / count * n
}
