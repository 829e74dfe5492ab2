package awk

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// separator is what ends a record: a byte, an expression (gawk's RS of several
// characters), or with RS="" empty lines.
//
// The zero value ends records at NUL bytes; setSeparators sets another one before the first
// record is read, and when RS changes. POSIX leaves an RS of several characters open.
type separator struct {
	c         byte // if there is no re
	re        *regex
	paragraph bool // one or more empty lines
}

// reader reads records. It has its own buffer, as a record can be of any length, and an
// expression must be tried on all that has been read.
//
// The file that it reads is closed by endFile, close or abandon. A reader of the standard
// input has a closer that does nothing, as all forms of getline and the main input share it.
type reader struct {
	io.Closer
	r          io.Reader
	buf        []byte
	start, end int   // the part of buf that has not been a record
	eof        bool  // r has nothing more
	limit      int64 // the most bytes of a record
	held       int   // bytes that are counted as those of variables
	status     int   // of the command whose output it is
}

// newReader returns a reader of the records of r; a record has at most limit bytes.
// Close closes closer.
func newReader(r io.Reader, closer io.Closer, limit int64) *reader {
	return &reader{Closer: closer, r: r, limit: limit}
}

// fill reads more. Offsets from start stay what they are.
//
// The buffer doubles when a record does not fit. It may grow past limit once, so a record of
// exactly limit bytes is still read; the next growth is refused.
func (r *reader) fill() error {
	if r.start > 0 {
		copy(r.buf, r.buf[r.start:r.end])
		r.end -= r.start
		r.start = 0
	}
	if r.end == len(r.buf) {
		if int64(len(r.buf)) > r.limit {
			return fmt.Errorf("a record needs too much memory; at most %d bytes are possible", r.limit)
		}
		r.buf = append(r.buf, make([]byte, max(64<<10, len(r.buf)))...)
	}
	n, err := r.r.Read(r.buf[r.end:])
	r.end += n
	if err == io.EOF {
		r.eof, err = true, nil
	}
	return err
}

// next reads a record, and what ends it (RT). In paragraphs, line ends before the first
// one are skipped. A match of an expression that ends with the buffer could be longer,
// so it counts only at the end of the input. searched is where a search goes on after
// more was read, so that a long record is not searched from its beginning each time.
//
// For RS="x+" and a buffer that ends within a run of x:
//
//	"aaxx" more to come    the match "xx" ends with the buffer: read on
//	"aaxxxb"               the match "xxx" does not: the record is "aa", RT is "xxx"
//
// The last record needs no end: ok is true if there was a byte, and end is "", or
// the line end that closes a paragraph.
func (r *reader) next(ctx context.Context, sep *separator) (record, end string, ok bool, err error) {
	for sep.paragraph {
		for r.start < r.end && r.buf[r.start] == '\n' {
			r.start++
		}
		if r.start < r.end || r.eof {
			break
		}
		if err := r.fill(); err != nil {
			return "", "", false, err
		}
	}
	for searched := 0; ; {
		data := r.buf[r.start:r.end]
		at, n := -1, 0
		switch {
		case sep.paragraph:
			at, n = bytes.Index(data[max(0, searched-1):], []byte("\n\n")), 2
			if at >= 0 {
				at += max(0, searched-1)
			}
		case sep.re != nil:
			if m := sep.re.find(ctx, string(data)); m != nil && m[1] > m[0] && (m[1] < len(data) || r.eof) {
				at, n = m[0], m[1]-m[0]
			}
		default:
			if at, n = bytes.IndexByte(data[searched:], sep.c), 1; at >= 0 {
				at += searched
			}
		}
		if at >= 0 {
			r.start += at + n
			return string(data[:at]), string(data[at : at+n]), true, nil
		}
		if searched = len(data); r.eof {
			r.start = r.end
			if sep.paragraph || sep.re != nil {
				if trimmed := bytes.TrimSuffix(data, []byte("\n")); sep.paragraph {
					return string(trimmed), string(data[len(trimmed):]), len(data) > 0, nil
				}
			}
			return string(data), "", len(data) > 0, nil
		}
		for size := len(data); ; { // a regexp looks again only when there is twice as much
			if err := r.fill(); err != nil {
				return "", "", false, err
			}
			if sep.re == nil || r.eof || r.end-r.start >= 2*size {
				break
			}
		}
	}
}

// mainInput is what ARGV names: files, "-" for the standard input, and NAME=value,
// which is assigned when its turn comes. With no file among them, it is the standard
// input.
//
// r is nil between files, and edits is nil unless a file is edited in place. readMain opens the next file only when a record is asked for, so that an
// assignment in ARGV comes after the last record of the file before it.
type mainInput struct {
	at   int // in ARGV
	r    *reader
	read bool // a file, or the standard input
	// kept is where the output went before a file that is edited in place.
	kept  *bufio.Writer
	edits io.WriteCloser
	err   error  // of the reading of a file that is edited, which then stays as it is
	name  string // FILENAME
}

// readMain reads a record, from the next file where one ends. exit in ENDFILE cannot be
// returned from here, as getline calls it in an expression, too: it unwinds.
func (in *interp) readMain() (string, bool) {
	for {
		in.step()
		if in.input.r == nil && !in.openNext() {
			return "", false
		}
		s, end, ok, err := in.input.r.next(in.ctx, &in.separator)
		if err != nil {
			in.check()
			in.complain("error reading %s: %s", in.input.name, in.config.ErrorText(err))
			in.input.err = err
		}
		if ok {
			in.nr++
			in.fnr++
			in.setEnd(end)
			return s, true
		}
		if how := in.endFile(); how == doExit {
			panic(unwind{how})
		}
	}
}

// check ends the program if its context has ended.
// It is called after an error from outside, before that is reported: an error that only says
// that the context has ended would else be printed as one of the file.
func (in *interp) check() {
	if err := in.ctx.Err(); err != nil {
		fail(0, "%v", err)
	}
}

// complain prints a message about a file, and goes on. The exit status will be 2.
// The output is flushed first, so that a message stands after what was printed before it.
func (in *interp) complain(format string, args ...any) {
	in.out.Flush()
	fmt.Fprintf(in.config.Stderr, "awk: "+format+"\n", args...)
	in.status = 2
}

// setEnd sets RT, if it changed: it mostly is a line end.
func (in *interp) setEnd(end string) {
	if c := &in.globals[varRT]; c.v.s != end || c.v.kind == unset {
		in.store(c, str(end))
	}
}

// openNext opens the next file of ARGV, or the standard input if it names none. A
// program may change ARGV and ARGC while it runs, and delete elements, which are
// skipped.
//
// It returns false when all is read.
func (in *interp) openNext() bool {
	argv := in.cellArray(&in.globals[varARGV])
	argc := in.global(varARGC)
	for in.input.at++; in.input.at < int(min(argc.number(), 1<<30)); in.input.at++ {
		in.step()
		c := argv.elements[strconv.Itoa(in.input.at)]
		if c == nil {
			continue
		}
		arg := in.text(c.v)
		if arg == "" || in.assignArgument(arg) {
			continue
		}
		if in.open(arg) {
			return true
		}
		in.input.read = true
	}
	if in.input.read {
		return false
	}
	return in.open("")
}

// open opens a file of the main input, the standard input for "".
//
// It returns false where the caller goes on with the next file: for a directory, and if
// BEGINFILE called nextfile. A file that cannot be opened ends the program, where
// getline returns -1 instead.
func (in *interp) open(name string) bool {
	r, err := in.newReader(name)
	if err != nil {
		in.check()
		if status := in.status; errors.Is(err, ErrDirectory) {
			in.complain("warning: %q is a directory: skipped", name)
			in.status = status
			return false
		}
		fail(0, "cannot open file %q for reading: %s", name, in.config.ErrorText(err))
	}
	in.input.r, in.input.read, in.input.name, in.input.err = r, true, name, nil
	in.fnr = 0
	in.setGlobal(varFILENAME, input(cmp.Or(name, "-")))
	if in.config.InPlace && name != "" && name != "-" {
		w, err := in.config.Create(name, false)
		if err != nil {
			fail(0, "cannot edit %q: %s", name, in.config.ErrorText(err))
		}
		in.input.kept, in.input.edits = in.out, w
		in.out = bufio.NewWriterSize(w, 32<<10)
	}
	if how := in.blocks(in.program.beginFile); how == doExit {
		panic(unwind{how})
	} else if how == doNextFile {
		if in.endFile() == doExit {
			panic(unwind{doExit})
		}
		return false
	}
	return true
}

// newReader opens a file, or the standard input, which all share.
func (in *interp) newReader(name string) (*reader, error) {
	if name == "" || name == "-" || name == "/dev/stdin" {
		if in.stdin == nil {
			in.stdin = newReader(in.config.Stdin, io.NopCloser(nil), in.config.MaxMemory)
		}
		return in.stdin, nil
	}
	file, err := in.config.Open(name)
	if err != nil {
		return nil, err
	}
	return newReader(file, file, in.config.MaxMemory), nil
}

// endFile leaves the current file of the main input. What has been printed since it was
// opened replaces it, with -i inplace.
//
// It does nothing if no file is open. The control is how ENDFILE ended; the file is closed
// by then, whatever that says.
func (in *interp) endFile() control {
	if in.input.r == nil {
		return goOn
	}
	how := in.blocks(in.program.endFile)
	in.input.r.Close()
	in.input.r = nil
	if in.input.edits != nil {
		err := in.out.Flush()
		switch file, ok := in.input.edits.(interface{ Drop(error) }); {
		case ok && in.input.err != nil:
			file.Drop(in.input.err)
		case err == nil:
			err = in.input.edits.Close()
		}
		in.out, in.input.edits = in.input.kept, nil
		if err != nil {
			fail(0, "cannot edit %q: %s", in.input.name, in.config.ErrorText(err))
		}
	}
	return how
}

// assignArgument assigns if arg is NAME=value. Escapes are read as in a string, and a
// value that looks like a number is compared as one. A name that the program does not
// use needs no variable.
func (in *interp) assignArgument(arg string) bool {
	name, text, ok := strings.Cut(arg, "=")
	if !ok || !isName(name) {
		return false
	}
	if _, isFunction := in.program.functions[name]; isFunction {
		fail(0, "cannot use function name %q as variable name", name)
	}
	possible(name, 0)
	if i, ok := in.program.globals[name]; ok {
		in.setGlobal(i, input(unescape(text)))
	}
	return true
}

// isName reports whether s can be the name of a variable, as in an argument such as
// "x=1".
func isName(s string) bool {
	if s == "" || isDigit(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isLetter(s[i]) && !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// maxStreams is how many files and commands can be open; a program that needs more
// calls close.
// Each has a buffer of 4 KiB or more, which MaxMemory does not count.
const maxStreams = 256

// getline reads a record: 1 is one, 0 none, -1 an error. A file or a command stays open
// under its name and form until close, so that the next getline goes on there. For
// which variables each form sets, see parser.primary.
func (in *interp) getline(e *getline) value {
	if e.form == 0 {
		s, ok := in.readMain()
		if ok {
			in.got(e, s)
		}
		return boolean(ok)
	}
	name := in.string(e.source)
	key := string(e.form) + name
	r := in.readers[key]
	if r == nil {
		if len(in.readers)+len(in.writers) >= maxStreams {
			fail(e.line, "more than %d files and commands are open; close some", maxStreams)
		}
		var err error
		if e.form == '|' {
			r = in.capture(name)
		} else if r, err = in.newReader(name); err != nil {
			in.check()
			return num(-1)
		}
		in.readers[key] = r
	}
	in.step()
	s, end, ok, err := r.next(in.ctx, &in.separator)
	if err != nil {
		in.check()
		return num(-1)
	}
	if ok {
		in.setEnd(end)
		if e.form == '|' {
			in.nr++
			if e.to == nil {
				in.fnr++
			}
		}
		in.got(e, s)
	}
	return boolean(ok)
}

// got assigns what getline has read.
//
// A variable gets a text of the kind isInput, so that it is compared as a number if it looks
// like one. Only the form without a variable changes $0 and NF.
func (in *interp) got(e *getline, s string) {
	if e.to == nil {
		in.setRecord(input(s))
		return
	}
	in.assign(e.to, input(s))
}

// capture runs a command to its end, and returns what it prints: commands are programs
// of the shell and no processes, so that they cannot run side by side with the program.
//
// What was printed before is flushed first, so it stands before what the command writes to
// the standard error. The output counts as memory of variables until the reader is closed.
func (in *interp) capture(command string) *reader {
	in.flushAll()
	out := &captured{limit: in.config.MaxMemory - in.held}
	status := in.config.Command(command, in.config.Stdin, out)
	in.check()
	if out.full {
		fail(0, "the output of %q needs too much memory", command)
	}
	in.charge(out.Len())
	r := newReader(&out.Buffer, io.NopCloser(nil), in.config.MaxMemory)
	r.held, r.status = out.Len(), status
	return r
}

// captured keeps what is written to it, up to limit.
//
// After the limit each write fails with io.ErrClosedPipe, which ends the command as a reader
// that has gone away does; full tells capture the reason.
type captured struct {
	bytes.Buffer
	limit int64
	full  bool
}

// Write implements [io.Writer].
func (c *captured) Write(b []byte) (int, error) {
	if int64(c.Len()+len(b)) > c.limit {
		c.full = true
		return 0, io.ErrClosedPipe
	}
	return c.Buffer.Write(b)
}

// ReadFrom hides the method of the buffer, which knows no limit.
// io.Copy would call the embedded buffer's ReadFrom.
func (c *captured) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{c}, r)
}

// writer is a file that is written, or the input of a command that begins when it is
// closed.
//
// Exactly one of file and command is set.
type writer struct {
	*bufio.Writer
	file    io.WriteCloser // nil for a command
	command *bytes.Buffer  // the input of a command, which runs on close; nil for a file
	name    string
}

// output returns the stream of a redirection. ">" empties a file when it is first
// opened, and adds to it as long as it is open; ">>" never empties it. A command gets
// its input when it is closed.
//
// The stream has the key ">" with its name for both ">" and ">>": after print > "f", a
// print >> "f" writes to the file that is open.
func (in *interp) output(mode kind, name string, line int) *bufio.Writer {
	switch {
	case mode == "|":
	case name == "/dev/stdout" || name == "-" || name == "/dev/fd/1":
		return in.out
	}
	key := ">" + name
	if mode == "|" {
		key = "|" + name
	}
	if w := in.writers[key]; w != nil {
		return w.Writer
	}
	if len(in.readers)+len(in.writers) >= maxStreams {
		fail(line, "more than %d files and commands are open; close some", maxStreams)
	}
	w := &writer{name: name}
	switch {
	case mode == "|":
		in.flush(in.out)
		w.command = &bytes.Buffer{}
		w.Writer = bufio.NewWriter(charged{in, w.command})
	case name == "":
		fail(line, "the name of a file is empty")
	default:
		file, err := in.config.Create(name, mode == ">>")
		if err != nil {
			in.check()
			fail(line, "cannot redirect to %q: %s", name, in.config.ErrorText(err))
		}
		w.file, w.Writer = file, bufio.NewWriter(file)
	}
	in.writers[key] = w
	in.order = append(in.order, key)
	return w.Writer
}

// charged counts what is kept for a command.
type charged struct {
	in *interp
	b  *bytes.Buffer
}

// Write implements [io.Writer].
func (c charged) Write(b []byte) (int, error) {
	c.in.charge(len(b))
	return c.b.Write(b)
}

// flush writes what is buffered.
func (in *interp) flush(w *bufio.Writer) {
	if err := w.Flush(); err != nil {
		in.failWrite(w, err)
	}
}

// failWrite ends the program when a write has failed.
//
// An error of the standard output is a writeError, so that the command ends as others do
// when nobody reads them any more; one of any other file is a message of awk.
func (in *interp) failWrite(w *bufio.Writer, err error) {
	if w == in.out && in.input.edits == nil {
		panic(writeError{err})
	}
	fail(0, "write error: %s", in.config.ErrorText(err))
}

// flushAll writes what print has kept back, to the output and to files. What goes to a
// command waits: it runs when it is closed.
func (in *interp) flushAll() {
	in.flush(in.out)
	for _, key := range in.order {
		if w := in.writers[key]; w.command == nil {
			in.flush(w.Writer)
		}
	}
}

// print writes a line.
func (in *interp) print(w *bufio.Writer, s string) {
	w.WriteString(s)
	if _, err := w.WriteString(in.ors); err != nil {
		in.failWrite(w, err)
	}
}

// printStatement runs print and printf. What goes to the standard error is written at
// once, so that it stands where it belongs among the messages of others.
//
// All arguments are evaluated before the stream is opened: print f() > "x" where f fails
// leaves x as it was.
func (in *interp) printStatement(s *printStmt) {
	in.step()
	var text string
	switch {
	case s.format:
		args := make([]value, len(s.args))
		for i, arg := range s.args {
			args[i] = in.eval(arg)
		}
		text = formatValues(in.text(args[0]), args[1:], in)
	case len(s.args) == 0:
		text = in.record0()
	case len(s.args) == 1:
		text = in.printed(in.eval(s.args[0]))
	default:
		parts, size := make([]string, len(s.args)), 0
		for i, arg := range s.args {
			parts[i] = in.printed(in.eval(arg))
			size += len(parts[i]) + len(in.ofs)
			in.bound(size)
		}
		text = strings.Join(parts, in.ofs)
	}
	w := in.out
	if s.mode != "" {
		w = in.output(s.mode, in.string(s.to), s.line)
	}
	if s.format {
		if _, err := w.WriteString(text); err != nil {
			in.failWrite(w, err)
		}
	} else {
		in.print(w, text)
	}
	if s.mode != "" && len(in.order) > 0 {
		if o := in.writers[">/dev/stderr"]; o != nil && o.Writer == w {
			in.flush(w)
		}
	}
}

// printed returns what print prints of a value: numbers in OFMT, where other
// conversions use CONVFMT.
func (in *interp) printed(v value) string {
	if v.kind == isNum {
		return formatNumber(v.n, in.ofmt)
	}
	return v.s
}

// closeWriter closes a stream that is written. A command runs now.
//
// The entry is removed before the command runs. What the program printed so far is flushed
// before it, as in {print "x"; print "y" | "cat"}: x comes first.
func (in *interp) closeWriter(key string, w *writer) float64 {
	delete(in.writers, key)
	for i, other := range in.order {
		if other == key {
			in.order = append(in.order[:i:i], in.order[i+1:]...)
			break
		}
	}
	if w.command != nil {
		in.flush(w.Writer)
		in.flush(in.out)
		size := w.command.Len()
		status := in.config.Command(w.name, w.command, in.outer())
		in.held -= int64(size)
		in.check()
		return float64(status)
	}
	err := w.Flush()
	if err == nil {
		err = w.file.Close()
	}
	if err != nil {
		in.check()
		fail(0, "cannot write %q: %s", w.name, in.config.ErrorText(err))
	}
	return 0
}

// outer is where commands print.
// While a file is edited in place, that is the new file, as with print.
func (in *interp) outer() io.Writer {
	if in.input.edits != nil {
		return in.input.edits
	}
	return in.config.Stdout
}

// closeAll closes all streams, in the order in which they were opened.
//
// Streams are in the order of their first write, which makes the output of several commands the same
// in each run. POSIX leaves it open.
func (in *interp) closeAll() {
	if in.input.edits != nil {
		in.finishEdit()
	}
	in.flush(in.out)
	for len(in.order) > 0 {
		key := in.order[0]
		in.closeWriter(key, in.writers[key])
	}
}

// finishEdit stores a file that exit has left in place. The program is set aside, so
// that ENDFILE does not run.
func (in *interp) finishEdit() {
	in.program = &Program{}
	in.endFile()
}

// abandon closes what is read. Nothing of what is not stored by now will be.
func (in *interp) abandon() {
	for _, r := range in.readers {
		if r != in.stdin {
			r.Close()
		}
	}
	if in.input.r != nil && in.input.r != in.stdin {
		in.input.r.Close()
	}
}

// splitter splits a text into fields.
//
// One of the fields is set. fields.next tries them in the order blanks, each, content, re,
// literal.
type splitter struct {
	blanks  bool   // one space
	each    bool   // each character
	literal string // a text
	re      *regex
	content *regex // FPAT: what a field is
}

// newSplitter returns the splitter of FS, or of the third argument of split. A space
// means runs of blanks, without those around the record; another character is itself,
// even if it is an operator of expressions; the empty text splits characters; and more
// is an expression. In paragraphs, a line end separates fields, too.
//
//	FS      " a  b "          "a||b"
//	" "     a, b
//	"|"                       a, "", b
//	"[ ]"   "", a, "", b, ""
func (in *interp) newSplitter(fs string, paragraph bool) *splitter {
	switch {
	case fs == " ":
		return &splitter{blanks: true}
	case fs == "" && paragraph:
		return &splitter{literal: "\n"}
	case fs == "":
		return &splitter{each: true}
	case utf8.RuneCountInString(fs) == 1:
		if paragraph {
			return &splitter{re: in.compile("[[." + fs + ".]]|\n")}
		}
		return &splitter{literal: fs}
	case paragraph:
		return &splitter{re: in.compile("(" + fs + ")|\n")}
	}
	return regexSplitter(in.compile(fs))
}

// regexSplitter returns a splitter by an expression, which may be a plain text.
func regexSplitter(re *regex) *splitter {
	if re.literal {
		return &splitter{literal: re.source}
	}
	return &splitter{re: re}
}

// setSeparators prepares what splits the input after FS, FPAT, RS or IGNORECASE
// changed. Of FS and FPAT, the one counts that was set last.
//
// An IGNORECASE that changes compiles the same expressions again. POSIX wants a new FS to
// hold from the next record on: setRecord keeps the splitter of its time in the record.
func (in *interp) setSeparators(fpat, fs bool) {
	rs := in.text(in.globals[varRS].v)
	in.separator = separator{}
	switch {
	case rs == "":
		in.separator.paragraph = true
	case len(rs) == 1:
		in.separator.c = rs[0]
	default:
		in.separator.re = in.compile(rs)
	}
	if fpat || !fs && in.splitter != nil && in.splitter.content != nil {
		in.splitter = &splitter{content: in.compile(in.text(in.globals[varFPAT].v))}
		return
	}
	in.splitter = in.newSplitter(in.text(in.globals[varFS].v), in.separator.paragraph)
}

// fields splits a text, one field after the other: a program that only looks at $1 does
// not pay for the others.
type fields struct {
	s       string
	at      int // where the next field begins; -1 after the last one
	by      *splitter
	matches [][]int // of by.re or by.content in s
	before  string  // the separator before the field
}

// maxMatches bounds the matches in one text: each needs some dozen bytes.
// With more, the program ends: to drop matches would give a wrong NF.
const maxMatches = 2 << 20

// newFields begins to split s. Expressions are matched here, for the whole text at once.
func newFields(ctx context.Context, s string, by *splitter) fields {
	f := fields{s: s, by: by}
	switch {
	case s == "":
		f.at = -1
	case by.content != nil:
		f.matches = limited(by.content.all(ctx, s, maxMatches))
	case by.re != nil:
		f.matches = limited(by.re.all(ctx, s, maxMatches))
	}
	return f
}

// limited returns the matches, or ends the program if there are more than a text may
// have.
func limited(matches [][]int) [][]int {
	if len(matches) == maxMatches {
		fail(0, "more than %d matches in one text need too much memory", maxMatches-1)
	}
	return matches
}

// next returns the next field, and sets before to what stands between it and the field
// before it. Afterwards at is -1 if there is no further field.
//
// For "a:b" split at ":" it returns "a" with at 2, then "b" with at -1, then false. The
// field shares the memory of s, so what keeps it for longer copies it (see store).
func (f *fields) next() (field string, ok bool) {
	switch from := f.at; {
	case from < 0:
		return "", false
	case f.by.blanks:
		s, i := f.s, from
		for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n') {
			i++
		}
		f.before = s[from:i]
		if i == len(s) {
			f.at = -1
			return "", false
		}
		j := i
		for j < len(s) && s[j] != ' ' && s[j] != '\t' && s[j] != '\n' {
			j++
		}
		f.at = j
		return s[i:j], true
	case f.by.each:
		_, n := utf8.DecodeRuneInString(f.s[from:])
		if f.at += n; f.at == len(f.s) {
			f.at = -1
		}
		return f.s[from : from+n], true
	case f.by.content != nil:
		if len(f.matches) == 0 {
			f.at = -1
			return "", false
		}
		m := f.matches[0]
		f.before, f.at, f.matches = f.s[from:m[0]], m[1], f.matches[1:]
		return f.s[m[0]:m[1]], true
	case f.by.re != nil:
		for len(f.matches) > 0 && f.matches[0][0] == f.matches[0][1] {
			f.matches = f.matches[1:] // what is empty separates nothing
		}
		if len(f.matches) == 0 {
			f.at = -1
			return f.s[from:], true
		}
		m := f.matches[0]
		f.matches, f.at, f.before = f.matches[1:], m[1], f.s[m[0]:m[1]]
		return f.s[from:m[0]], true
	default:
		i := strings.Index(f.s[from:], f.by.literal)
		if i < 0 {
			f.at = -1
			return f.s[from:], true
		}
		f.at, f.before = from+i+len(f.by.literal), f.by.literal
		return f.s[from : from+i], true
	}
}

// record is $0 and the fields that have been split from it. Each is made from the other
// when it is asked for: a changed field makes $0 stale, and a changed $0 drops the
// fields.
//
//	$0 = "a b c"     fields: none yet
//	$2 == "b"        fields: a b; rest: " c"
//	$2 = "x"         fields: a x c; $0 is stale
//	print            $0 is "a x c", joined with OFS
type record struct {
	whole  value   // $0
	stale  bool    // a field has changed, and whole has not
	fields []value // those from $1 that have been split off
	rest   fields  // what has not been split yet: few programs need all fields
	split  bool    // nothing is left in rest
}

// setRecord sets $0. The splitter is the one of now: a change of FS is for the next
// record. -2 says that rest has not begun.
func (in *interp) setRecord(v value) {
	r := &in.record
	r.whole, r.stale, r.split = v, false, false
	r.fields = r.fields[:0]
	r.rest = fields{by: in.splitter, at: -2}
}

// more splits fields until there are n.
//
// A splitter of nil means that start has not run yet, when $0 is empty. The size is looked
// at each 65,536 fields.
func (in *interp) more(n int) {
	r := &in.record
	if r.split {
		return
	}
	if r.rest.at == -2 {
		if r.rest.by == nil {
			r.split = true
			return
		}
		r.rest = newFields(in.ctx, r.whole.s, r.rest.by)
	}
	for len(r.fields) < n {
		s, ok := r.rest.next()
		if !ok {
			r.split = true
			break
		}
		if len(r.fields)&0xffff == 0xffff {
			in.bound(len(r.fields) * fieldSize)
		}
		r.fields = append(r.fields, input(s))
	}
}

// fieldSize is about what a field needs.
// It is the size of a value: a string, a number and its kind, rounded.
const fieldSize = 32

// fieldCount returns NF, for which the whole record is split.
func (in *interp) fieldCount() int {
	in.more(int(^uint(0) >> 1))
	return len(in.record.fields)
}

// record0 returns $0, which is put together if a field has changed.
//
// OFS is the one of the moment when $0 is asked for, not of when the field changed.
func (in *interp) record0() string {
	r := &in.record
	if r.stale {
		parts, size := make([]string, len(r.fields)), 0
		for i, v := range r.fields {
			parts[i] = in.text(v)
			size += len(parts[i]) + len(in.ofs)
			in.bound(size)
		}
		r.whole, r.stale = input(strings.Join(parts, in.ofs)), false
	}
	return r.whole.s
}

// field returns a field, or the record for 0.
//
// A field after NF is empty, and reading it does not change NF.
func (in *interp) field(n float64) value {
	r := &in.record
	i := fieldIndex(n)
	if i == 0 {
		in.record0()
		return r.whole
	}
	if i > len(r.fields) {
		in.more(i)
	}
	if i > len(r.fields) {
		return input("") // which is compared as a string
	}
	return r.fields[i-1]
}

// fieldIndex returns the number of a field that a program computed, cut to an integer: $2.9
// is $2. What is no number ends the program, as a negative number does. A number that no
// record can have becomes one that does not overflow an int.
func fieldIndex(n float64) int {
	if !(n >= 0) {
		fail(0, "attempt to access field %.0f", n)
	}
	return int(min(n, 1<<30))
}

// setField gives a field a value, and so the record. A field beyond NF makes those
// between them empty.
func (in *interp) setField(n float64, v value) {
	if v.kind == isNum || v.kind == unset {
		v = value{s: in.text(v), kind: isInput}
	}
	i := fieldIndex(n)
	if i == 0 {
		v.kind = isInput
		in.setRecord(v)
		return
	}
	if i > in.fieldCount() {
		in.setFieldCount(float64(i))
	}
	in.record.fields[i-1] = v
	in.record.stale = true
}

// setFieldCount sets NF: fields after it are dropped, and missing ones are empty.
//
// Any assignment to NF, even of its own value, makes $0 be joined again with OFS: the idiom
// { NF = NF; print } depends on it.
func (in *interp) setFieldCount(n float64) {
	if !(n >= 0) { // negative, or no number
		fail(0, "NF set to negative value")
	}
	if n*fieldSize > float64(in.config.MaxMemory) {
		fail(0, "%.0f fields need too much memory", n)
	}
	in.fieldCount()
	r := &in.record
	for len(r.fields) < int(n) {
		r.fields = append(r.fields, value{})
	}
	r.fields = r.fields[:int(n)]
	r.stale = true
}
