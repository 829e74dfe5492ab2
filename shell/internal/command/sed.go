package command

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/shell/internal/pattern"
	"github.com/workspacekit/workspacekit/workspace"
)

// sed edits a stream as POSIX says, with GNU's extensions; with -i it edits files, each
// in one write, on the condition that nobody else has changed it since it was read. The
// commands w, W and e, and the flags w and e of s, are refused: a script writes to its
// output and to nothing else. -u, --posix and --sandbox change nothing.
//
// A cycle reads a line without its end into the pattern space, runs the script, prints
// the pattern space (not with -n), and then what a, r and R have queued. The hold space
// remains from cycle to cycle. So sed -n '1!G;h;$p' prints the lines of "a b c" in
// reverse:
//
//	line  1!G          h           $p
//	a     a            hold: a
//	b     b\na         hold: b\na
//	c     c\nb\na                  prints c, b, a
//
// Each -i file begins with line 1, with an empty hold space and with no range open;
// without -i or -s, all files are one stream, and $ is the last line of the last one.
func sed(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... {script-only-if-no-other-script} [input-file]...")
	s := &sedRun{p: p, eol: '\n', wrap: 70}
	f.BoolVarP(&s.quiet, "quiet", "n", false, "print only what the script prints")
	f.BoolVar(&s.quiet, "silent", false, "the same as -n")
	scripts := f.StringArrayP("expression", "e", nil, "a script; can be repeated")
	file := &sedFile{p: p, ctx: ctx, scripts: scripts}
	f.VarP(file, "file", "f", "a file with a script")
	inPlace := f.StringP("in-place", "i", "", "edit files, with a copy if a suffix is given")
	f.Lookup("in-place").NoOptDefVal = noSuffix
	extended := f.BoolP("regexp-extended", "E", false, "extended regular expressions")
	f.BoolVarP(extended, "r", "r", false, "the same as -E")
	f.BoolVarP(&s.separate, "separate", "s", false, "each file begins with line 1")
	zero := f.BoolP("null-data", "z", false, "lines end with a NUL byte")
	f.BoolP("unbuffered", "u", false, "(ignored)")
	f.Bool("posix", false, "(ignored)")
	f.Bool("sandbox", false, "(ignored: it is always so)")
	f.IntVarP(&s.wrap, "line-length", "l", 70, "where the command l wraps lines")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if file.failed != nil {
		p.errorf("couldn't open file %v", file.failed)
		return sedPanic
	}
	if len(*scripts) == 0 {
		if len(names) == 0 {
			fmt.Fprintf(p.Stderr, "Usage: %s %s\n", p.name(), f.usage)
			return 1
		}
		*scripts, names = names[:1], names[1:]
	}
	// POSIX (sed, -e) joins the scripts with line ends, so that -e 'a\' -e text is one command.
	script, err := parseSed(strings.Join(*scripts, "\n"), *extended)
	if errors.Is(err, errSedLabel) {
		p.errorf("%v", err)
		return sedPanic
	}
	if err != nil {
		return p.errorf("%v", err)
	}
	if *zero {
		s.eol = 0
	}
	s.quiet = s.quiet || script.quiet
	s.commands = script.commands
	if *inPlace != "" {
		return s.editFiles(ctx, names, strings.TrimPrefix(*inPlace, noSuffix))
	}
	out := bufio.NewWriter(p.Stdout)
	s.out = out
	s.run(ctx, names)
	return p.finish(out, s.status)
}

// noSuffix stands for -i without a suffix.
const noSuffix = "\x00"

// sedFile is the option -f. It adds a script to those of -e.
// It implements pflag.Value, as only the parser of the options knows the order of -f and -e.
type sedFile struct {
	p       *Process
	ctx     context.Context
	scripts *[]string // to which the text of the file is added
	failed  error     // of a file
}

// sedPanic is the status after an error of reading or writing.
const sedPanic = 4

// Set implements [pflag.Value].
// A file is read where -f stands among the arguments, so that -f and -e keep their
// order. Its error is kept: sed reports it with its own status.
func (f *sedFile) Set(name string) error {
	err := f.p.input(f.ctx, name, func(in *Input) error {
		data, err := readBounded(f.ctx, f.p, in)
		*f.scripts = append(*f.scripts, strings.TrimSuffix(string(data), "\n"))
		return err
	})
	if err != nil {
		f.failed = fmt.Errorf("%s: %s", name, ErrorText(err))
	}
	return nil
}

// String implements [pflag.Value].
func (f *sedFile) String() string { return "" }

// Type implements [pflag.Value].
func (f *sedFile) Type() string { return "string" }

// sedOutput is where the output of a script goes: a bufio.Writer, or the buffer of a file that
// is edited. Most writes do not look at their error, as a bufio.Writer returns it again later,
// to print or Flush.
type sedOutput interface {
	io.Writer
	io.ByteWriter
	io.StringWriter
}

// sedRun is one run of a script. From input on, its fields are the state that a script
// sees.
//
// The commands are changed, too: sedCommand.active and end are the state of a range.
type sedRun struct {
	p        *Process
	commands []sedCommand
	quiet    bool // -n: only p and the like print
	separate bool // -s, and -i: each file begins with line 1
	eol      byte // of a line: "\n", or NUL with -z
	wrap     int  // bytes of a line of l; 0 for no bound
	out      sedOutput
	missing  bool // the output does not end with a line end
	status   int
	failed   error // of an output or of a regular expression

	input  *sedInput
	number int                      // of the line
	space  []byte                   // the pattern space
	ended  bool                     // its last line had a line end
	hold   []byte                   // the hold space
	queue  []sedQueued              // of a, r and R
	last   *pattern.Regexp          // the last expression used, which an empty one means
	flag   bool                     // a substitution has been made, for t and T
	quit   bool                     // q or Q has come
	files  map[string]*bytes.Reader // of R
}

// sedQueued is what is printed at the end of a cycle, or when n or N reads a line:
// text, or the content of a file as it is then.
type sedQueued struct {
	text []byte
	file string // whose content is printed
}

// editFiles edits each file in place.
//
// q ends the editing: the file in which it comes keeps what was printed so far, and the files
// after it are not read.
func (s *sedRun) editFiles(ctx context.Context, names []string, suffix string) int {
	if len(names) == 0 {
		s.p.errorf("no input files")
		return sedPanic
	}
	for _, name := range names {
		if err := s.editFile(ctx, name, suffix); err != nil {
			if errors.Is(err, workspace.ErrIsDir) {
				s.p.errorf("couldn't edit %s: not a regular file", name)
				s.status = sedPanic
			} else if s.status == 0 || s.status == 2 {
				s.p.errorf("can't read %s: %s", name, ErrorText(err))
				s.status = 2
			}
		}
		if s.failed != nil {
			s.p.errorf("%v", s.failed)
			return sedPanic
		}
		if s.quit || ctx.Err() != nil {
			break
		}
	}
	return s.status
}

// editFile edits one file, in one write. The copy of -i.bak has the content that was
// read, and a file whose content stays the same is not written.
//
// A file that somebody else changed meanwhile is not overwritten: the version that was read
// is the condition of the write.
func (s *sedRun) editFile(ctx context.Context, name, suffix string) error {
	data, version, err := s.p.ReadFile(ctx, name)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	s.out, s.separate, s.missing = &out, true, false
	s.runInputs(ctx, &sedInput{s: s, ctx: ctx, opened: true, current: bufio.NewReader(bytes.NewReader(data)), name: name})
	if s.failed != nil || ctx.Err() != nil {
		return nil
	}
	written := name
	if suffix != "" {
		written = backupName(name, suffix)
		err = s.p.WriteFile(ctx, written, data, nil)
	}
	if err == nil && !bytes.Equal(out.Bytes(), data) {
		written = name
		err = s.p.WriteFile(ctx, name, out.Bytes(), &workspace.WriteOptions{IfVersion: version})
	}
	if err != nil {
		s.failed = fmt.Errorf("couldn't write %s: %s", written, ErrorText(err))
	}
	return nil
}

// backupName returns the name of the copy of a file: "x.bak" for ".bak", and "old_x" for
// "old_*".
func backupName(name, suffix string) string {
	dir, base := path.Split(name)
	switch {
	case !strings.Contains(suffix, "*"):
		return name + suffix
	case strings.Contains(suffix, "/"):
		return strings.ReplaceAll(suffix, "*", base)
	}
	return dir + strings.ReplaceAll(suffix, "*", base)
}

// run runs the script over files, or the standard input.
func (s *sedRun) run(ctx context.Context, names []string) {
	if len(names) == 0 {
		names = []string{"-"}
	}
	s.runInputs(ctx, &sedInput{s: s, ctx: ctx, names: names})
	if s.failed != nil && !isPipe(s.failed) && !isWrite(s.failed) {
		s.p.errorf("%v", s.failed)
		s.status = sedPanic
	}
}

// runInputs runs the script over an input. Ranges begin again.
// The queue is printed after each cycle, also after the one that q ended.
func (s *sedRun) runInputs(ctx context.Context, in *sedInput) {
	s.input, s.number = in, 0
	s.resetFile()
	defer in.close()
	for s.failed == nil && !s.quit && ctx.Err() == nil && s.read() {
		s.cycle()
		for _, q := range s.queue {
			s.dump(ctx, q)
		}
		s.queue = s.queue[:0]
	}
}

// resetFile makes all ranges, and the files of R, begin again, and empties the hold
// space. A range that begins with 0 is open from the start: 0,/re/ can end with line 1.
func (s *sedRun) resetFile() {
	s.hold = s.hold[:0]
	for _, r := range s.files {
		r.Seek(0, io.SeekStart)
	}
	for i := range s.commands {
		s.commands[i].active = s.commands[i].from.kind == sedZero
	}
}

// sedInput is the lines of several files. It knows whether there is another line, which
// $, n and N ask. It opens files early to know it: a line is the last one, too, where
// only empty files follow.
type sedInput struct {
	s       *sedRun
	ctx     context.Context
	names   []string // the files that are left to read
	name    string   // of the file that is read; "-" for the standard input
	opened  bool     // something has been read
	current *bufio.Reader
	closer  io.Closer
	fresh   bool // a file has been opened since the last line
}

// close closes the file that is being read, if there is one.
func (in *sedInput) close() {
	if in.name == "-" && in.current != nil {
		in.s.p.unreadBuffer(in.current)
	}
	if in.closer != nil {
		in.closer.Close()
		in.closer = nil
	}
}

// more reports whether there is another line; with -s, in this file.
//
// It may open the next files, print their errors, and change in.name: after $, F may print
// the name of the file of the next line.
func (in *sedInput) more(separate bool) bool {
	for {
		if in.opened {
			if _, err := in.current.Peek(1); err == nil {
				return true
			} else if err != io.EOF {
				in.s.p.errorf("read error on %s: %s", in.name, ErrorText(err))
				in.s.status = 2
			}
			if separate && len(in.names) > 0 {
				return false
			}
			in.opened = false
			in.close()
		}
		if len(in.names) == 0 || in.s.failed != nil {
			return false
		}
		in.open()
	}
}

// open opens the next file. One that cannot be opened is an error of the status, and the next
// is read; a directory ends the script.
func (in *sedInput) open() {
	in.name, in.names = in.names[0], in.names[1:]
	if in.name == "-" {
		in.current, in.opened, in.fresh = bufio.NewReader(in.s.p.Stdin), true, true
		return
	}
	if info, err := in.s.p.Stat(in.ctx, in.name); err == nil && info.IsDir() {
		in.s.failed = fmt.Errorf("couldn't read %s: Is a directory", in.name)
		return
	}
	file, err := in.s.p.Open(in.ctx, in.name)
	if err != nil {
		in.s.p.errorf("can't read %s: %s", in.name, ErrorText(err))
		in.s.status = 2
		return
	}
	in.current, in.closer, in.opened, in.fresh = bufio.NewReaderSize(file, 64<<10), file, true, true
}

// isLast reports whether the current line is the last one; with -s, of its file.
func (s *sedRun) isLast() bool { return !s.input.more(s.separate) }

// read reads the next line into the pattern space. It reports false at the end of the input,
// and where the line is too long.
func (s *sedRun) read() bool {
	if !s.input.more(false) {
		return false
	}
	s.space = s.space[:0]
	return s.appendLine()
}

// appendLine adds the next line to the pattern space. There is one.
// It reports false where the pattern space would need too much memory; s.failed says so.
func (s *sedRun) appendLine() bool {
	if s.input.fresh {
		if s.input.fresh = false; s.separate {
			s.number = 0
			s.resetFile()
		}
	}
	for {
		part, err := s.input.current.ReadSlice(s.eol)
		s.space = append(s.space, part...)
		if int64(len(s.space)) > s.p.MaxMemory {
			s.failed = errTooMuch(s.p.MaxMemory)
			return false
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if s.ended = err == nil; s.ended {
			s.space = s.space[:len(s.space)-1]
		}
		s.number++
		return true
	}
}

// addLineEnd completes the last line of the output, if more follows. A last line
// without an end is printed without one, as GNU's sed does, and gets one only when text
// comes after it.
func (s *sedRun) addLineEnd(more bool) {
	if s.missing && more {
		s.out.WriteByte(s.eol)
		s.missing = false
	}
}

// print prints a line. ended says whether it had a line end in the input: the end is held
// back where it had none. A failed write ends the script.
func (s *sedRun) print(text []byte, ended bool) {
	s.addLineEnd(true)
	if _, err := s.out.Write(text); err != nil {
		s.failed = err
	}
	if s.missing = !ended; ended {
		s.out.WriteByte(s.eol)
	}
}

// insert prints the text of i or c.
func (s *sedRun) insert(text string) {
	if text != "" {
		s.print([]byte(strings.TrimSuffix(text, "\n")), true)
	}
}

// dump prints what was queued.
func (s *sedRun) dump(ctx context.Context, q sedQueued) {
	s.addLineEnd(true)
	if q.file == "" {
		s.out.Write(q.text)
		return
	}
	file, err := s.p.Open(ctx, q.file)
	if err != nil {
		return // a file that does not exist is empty
	}
	defer file.Close()
	if _, err := io.Copy(s.out, file); err != nil && isPipe(err) {
		s.failed = err
	}
}

// maxSedSteps bounds the commands that run for one line: a script can loop.
const maxSedSteps = 10_000_000

// cycle runs the script for the pattern space. at is the index of the next command: a
// block that does not apply, and branches, set it. A command is skipped where matching
// equals not: its address does not match, or it does and has a "!".
func (s *sedRun) cycle() {
	s.flag = false
	at := 0
	for steps := 0; at < len(s.commands) && s.failed == nil; steps++ {
		if steps&0xfff == 0 && s.input.ctx.Err() != nil {
			return
		}
		if steps > maxSedSteps {
			s.failed = fmt.Errorf("more than %d commands for one line", maxSedSteps)
			return
		}
		c := &s.commands[at]
		at++
		if s.matches(c) == c.not {
			if c.name == '{' {
				at = c.number
			}
			continue
		}
		next, done := s.step(c, at)
		if done {
			return
		}
		at = next
	}
	if !s.quiet && s.failed == nil {
		s.print(s.space, s.ended)
	}
}

// step runs one command. next is the place of the command after it; done ends the cycle
// without printing the pattern space. D begins again without reading a line, if a line
// end is in the pattern space, and c prints its text once, at the end of a range.
//
// A "{" that applies does nothing here: cycle jumps over the blocks that do not. The number
// of b, t and T is the index to continue at.
func (s *sedRun) step(c *sedCommand, at int) (next int, done bool) {
	switch c.name {
	case 's':
		s.substitute(c.subst)
	case 'p':
		s.print(s.space, s.ended)
	case 'd':
		return 0, true
	case 'D':
		n := bytes.IndexByte(s.space, s.eol)
		if n < 0 {
			return 0, true
		}
		s.space = s.space[n+1:]
		for _, q := range s.queue {
			s.dump(s.input.ctx, q)
		}
		s.queue = s.queue[:0]
		return 0, false
	case 'P':
		n := bytes.IndexByte(s.space, s.eol)
		if n < 0 {
			s.print(s.space, s.ended)
		} else {
			s.print(s.space[:n], true)
		}
	case 'n', 'N':
		return s.nextLine(c.name, at)
	case 'h':
		s.hold = append(s.hold[:0], s.space...)
	case 'H':
		s.hold = append(append(s.hold, s.eol), s.space...)
		s.bound(len(s.hold))
	case 'g':
		s.space = append(s.space[:0], s.hold...)
	case 'G':
		s.space = append(append(s.space, s.eol), s.hold...)
		s.bound(len(s.space))
	case 'x':
		s.space, s.hold = s.hold, s.space
	case 'z':
		s.space = s.space[:0]
	case 'y':
		s.space = transliterate(s.space, c.from2, c.to2)
	case 'q':
		s.quit, s.status = true, max(c.number, 0)
		if !s.quiet {
			s.print(s.space, s.ended)
		}
		s.addLineEnd(true)
		return 0, true
	case 'Q':
		s.quit, s.status = true, max(c.number, 0)
		return 0, true
	case '=':
		s.addLineEnd(true)
		fmt.Fprintf(s.out, "%d%c", s.number, s.eol)
	case 'l':
		s.list(c.number)
	case 'F':
		s.addLineEnd(true)
		fmt.Fprintf(s.out, "%s%c", s.input.name, s.eol)
	case 'a':
		s.queue = append(s.queue, sedQueued{text: []byte(c.text)})
	case 'i':
		s.insert(c.text)
	case 'c':
		if c.to.kind == sedNone || !c.active || c.not {
			s.insert(c.text)
		}
		return 0, true
	case 'r':
		s.queue = append(s.queue, sedQueued{file: c.text})
	case 'R':
		s.queueLine(c.text)
	case 'b':
		return c.number, false
	case 't', 'T':
		made := s.flag
		if s.flag = false; made == (c.name == 't') {
			return c.number, false
		}
	}
	return at, false
}

// bound ends a script that collects too much.
func (s *sedRun) bound(size int) {
	if int64(size) > s.p.MaxMemory {
		s.failed = errTooMuch(s.p.MaxMemory)
	}
}

// nextLine runs n and N. Where there is no other line, the script ends, and the pattern
// space is printed: GNU's sed does so for N, too, where POSIX has it deleted.
//
// What a, r and R have queued is printed before the next line, as at the end of a cycle.
func (s *sedRun) nextLine(name byte, at int) (next int, done bool) {
	if s.isLast() {
		return len(s.commands), false
	}
	if name == 'n' {
		if !s.quiet {
			s.print(s.space, s.ended)
		}
		s.space = s.space[:0]
	} else {
		s.space = append(s.space, s.eol)
	}
	for _, q := range s.queue {
		s.dump(s.input.ctx, q)
	}
	s.queue = s.queue[:0]
	if !s.input.more(false) || !s.appendLine() {
		return 0, true
	}
	return at, false
}

// queueLine queues the next line of a file, for R. Each file is read once, and each R
// that names it goes on where the last one stopped.
// At the end of the file R queues nothing, as it does for a file that cannot be read.
func (s *sedRun) queueLine(name string) {
	if s.files == nil {
		s.files = map[string]*bytes.Reader{}
	}
	r := s.files[name]
	if r == nil {
		data, _, err := s.p.ReadFile(s.input.ctx, name)
		if err != nil {
			data = nil
		}
		r = bytes.NewReader(data)
		s.files[name] = r
	}
	var line []byte
	for r.Len() > 0 && !bytes.HasSuffix(line, []byte{s.eol}) {
		c, _ := r.ReadByte() // there is one
		line = append(line, c)
	}
	if len(line) > 0 {
		s.queue = append(s.queue, sedQueued{text: line})
	}
}

// matches reports whether a command is for the current line, whatever its "!". A range
// is for the line that its first address matches, and for those up to its second one:
//
//	2,4     lines 2, 3 and 4; 2,1 is line 2 alone
//	/a/,/b/ from a line with a to the next one after it with b, then again
//	0,/b/   as /a/,/b/, but b may be in line 1
//	/a/,+2  the line, and two more
//	3,~4    from line 3 to the next multiple of 4
//	2~3     lines 2, 5, 8: no range, but a step
//
// A regular expression as the end is first tried on the line after the first. A number
// is compared at once, so that the range has one line if it is not greater.
func (s *sedRun) matches(c *sedCommand) bool {
	switch {
	case c.from.kind == sedNone:
		return true
	case c.to.kind == sedNone:
		return s.matchesAddress(&c.from)
	case c.active:
		return s.continues(c)
	case c.from.kind == sedZero || !s.matchesAddress(&c.from):
		return false
	}
	switch c.to.kind {
	case sedLine:
		c.end = c.to.n
	case sedPlus:
		c.end = s.number + c.to.n
	case sedTimes:
		if c.end = s.number; c.to.n > 0 {
			c.end += c.to.n - s.number%c.to.n
		}
	default:
		c.active = true
		return true
	}
	c.active = c.end > s.number
	return true
}

// continues is matches in a range that has begun.
func (s *sedRun) continues(c *sedCommand) bool {
	if c.to.kind == sedRegexp || c.to.kind == sedLast {
		c.active = !s.matchesAddress(&c.to)
		return true
	}
	c.active = s.number < c.end
	return s.number <= c.end
}

// matchesAddress reports whether the current line is at an address. $ looks ahead,
// which is why a script with $ waits for another line of a terminal.
func (s *sedRun) matchesAddress(a *sedAddress) bool {
	switch a.kind {
	case sedLine:
		return s.number == a.n
	case sedLast:
		return s.isLast()
	case sedStep:
		return s.number >= a.n && (s.number-a.n)%a.m == 0
	}
	re := s.regexp(a.re)
	return re != nil && re.Match(s.input.ctx, s.space)
}

// regexp returns re, or the last one that was used if it is nil: the empty // stands
// for the expression that was used last while the script ran, and not for the last in
// its text.
func (s *sedRun) regexp(re *pattern.Regexp) *pattern.Regexp {
	if re == nil {
		if re = s.last; re == nil {
			s.failed = errors.New("no previous regular expression")
		}
	}
	s.last = re
	return re
}

// substitute runs s. With a number and g, as in s/a/b/2g, it replaces the second match
// and all after it; with a number alone, that match only.
//
//	s/a/b/      aaaa    baaa
//	s/a/b/3     aaaa    aaba
//	s/a/b/2g    aaaa    abbb
//	s/x*/-/g    abc     -a-b-c-    an empty match counts
func (s *sedRun) substitute(c *sedSubstitute) {
	re := s.regexp(c.re)
	if re == nil {
		return
	}
	var out []byte
	at, nth, replaced := 0, 0, false
	for m := range re.Each(s.input.ctx, s.space) {
		if nth++; nth < c.nth {
			continue
		}
		out = append(out, s.space[at:m[0]]...)
		out = c.replace(out, s.space, m)
		at, replaced = m[1], true
		if int64(len(out)) > s.p.MaxMemory {
			s.failed = errTooMuch(s.p.MaxMemory)
			return
		}
		if !c.global {
			break
		}
	}
	if !replaced || s.input.ctx.Err() != nil { // perhaps not all of them
		return
	}
	s.space = append(out, s.space[at:]...)
	s.flag = true
	for range c.print {
		s.print(s.space, s.ended)
	}
}

// replace adds the replacement for a match to out. \U and \L change the case of what
// follows, up to \E, and \u and \l that of one character; both together are possible:
//
//	s/.*/\L\u&/    HELLO becomes Hello
//
// A group that has no part in the match is empty. A case conversion ends with the match.
func (c *sedSubstitute) replace(out, text []byte, m []int) []byte {
	var fold, once byte
	for _, part := range c.parts {
		piece := []byte(part.text)
		switch {
		case part.fold == 'u' || part.fold == 'l':
			once = part.fold
			continue
		case part.fold == 'E':
			fold, once = 0, 0
			continue
		case part.fold != 0:
			fold = part.fold
			continue
		case part.group >= 0 && 2*part.group+1 < len(m) && m[2*part.group] >= 0:
			piece = text[m[2*part.group]:m[2*part.group+1]]
		}
		switch fold {
		case 'U':
			piece = bytes.ToUpper(piece)
		case 'L':
			piece = bytes.ToLower(piece)
		}
		if once != 0 && len(piece) > 0 {
			r, n := utf8.DecodeRune(piece)
			changed := unicode.ToLower(r)
			if once == 'u' {
				changed = unicode.ToUpper(r)
			}
			if r != utf8.RuneError {
				piece = append(utf8.AppendRune(nil, changed), piece[n:]...)
			}
			once = 0
		}
		out = append(out, piece...)
	}
	return out
}

// transliterate replaces characters by others, as y does: by characters and not bytes.
// A byte that is no UTF-8 stays.
func transliterate(text []byte, from, to []rune) []byte {
	out := make([]byte, 0, len(text))
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRune(text[at:])
		if i := slices.Index(from, r); i >= 0 && (r != utf8.RuneError || n > 1) {
			out = utf8.AppendRune(out, to[i])
		} else {
			out = append(out, text[at:at+n]...)
		}
		at += n
	}
	return out
}

// list prints the pattern space with everything visible, as l does: bytes that are no
// ASCII as \ooo, the end as $, and lines of at most width-1 bytes before a \. The width
// 0 means no bound, and a negative one the width of the option -l. An escape is not divided:
//
//	l 10    abcdefghijkl    abcdefghi\
//	                        jkl$
func (s *sedRun) list(width int) {
	if width < 0 {
		width = s.wrap
	}
	var line []byte
	s.addLineEnd(true)
	for at := 0; at < len(s.space); {
		r, n := utf8.DecodeRune(s.space[at:])
		piece := ""
		switch {
		case r == '\\':
			piece = `\\`
		case r < 0x80 && strings.ContainsRune("\a\b\f\n\r\t\v", r):
			piece = `\` + string("abtnvfr"[r-'\a'])
		case r != utf8.RuneError && r >= ' ' && r < 0x7f:
			piece = string(r)
		default:
			piece, n = fmt.Sprintf(`\%03o`, s.space[at]), 1
		}
		if width > 0 && len(line)+len(piece) > width-1 {
			s.out.Write(append(line, '\\', s.eol))
			line = line[:0]
		}
		line = append(line, piece...)
		at += n
	}
	s.out.Write(append(line, '$', s.eol))
}
