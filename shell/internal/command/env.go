package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// env prints the variables, or runs a program with others, as POSIX says, with GNU's
// -u, -C and -0. The variables are those of the program alone. The status is the
// program's, and 125 after an error of env itself.
//
// First comes -i, then -u, and then the assignments, so that env -u A A=1 sets A. -S would
// split a text into words, with quotes and variables of its own; in a script the words can
// be written as arguments.
//
//	env                     prints all variables, sorted
//	env A=1                 prints them with A, which comes last if it is new
//	env -i A=1 printenv     A=1
//	env -C dir prog         runs prog in dir
func env(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]")
	f.first, f.failure = true, 125
	clear := f.BoolP("ignore-environment", "i", false, "start with an empty environment")
	zero := f.BoolP("null", "0", false, "end each output line with NUL, not newline")
	unset := f.StringArrayP("unset", "u", nil, "remove variable from the environment")
	dir := f.StringP("chdir", "C", "", "change working directory to DIR")
	f.StringP("split-string", "S", "", "not supported: write the words as arguments")
	words, status, ok := f.parse()
	if !ok {
		return status
	}
	if f.Changed("split-string") {
		p.errorf("-S is not supported: write the words as arguments")
		return 125
	}
	variables := p.Environ()
	if len(words) > 0 && words[0] == "-" {
		*clear, words = true, words[1:]
	}
	if *clear {
		variables = nil
	}
	// set replaces a variable, or removes it if no assignment is given. It works on a copy:
	// the slice of Environ belongs to the caller.
	set := func(name string, assignment ...string) {
		at := slices.IndexFunc(variables, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		if at < 0 {
			variables = append(slices.Clone(variables), assignment...)
			return
		}
		variables = slices.Replace(slices.Clone(variables), at, at+1, assignment...)
	}
	for _, name := range *unset {
		if name == "" || strings.Contains(name, "=") {
			p.errorf("cannot unset %s: Invalid argument", quoteName(name))
			return 125
		}
		set(name)
	}
	for len(words) > 0 && strings.Contains(words[0], "=") {
		name, _, _ := strings.Cut(words[0], "=")
		set(name, words[0])
		words = words[1:]
	}
	if len(words) == 0 {
		if *dir != "" {
			return f.wrong("must specify command with --chdir (-C)")
		}
		out := bufio.NewWriter(p.Stdout)
		for _, variable := range variables {
			out.WriteString(variable)
			out.WriteByte(lineEnd(*zero))
		}
		return p.finish(out, 0)
	}
	if *zero {
		return f.wrong("cannot specify --null (-0) with command")
	}
	child := *p
	child.Args = words
	child.Environ = func() []string { return variables }
	// The program sees only what Env and Environ say, so that both must be replaced.
	child.Env = func(name string) string {
		for _, variable := range slices.Backward(variables) {
			if value, ok := strings.CutPrefix(variable, name+"="); ok {
				return value
			}
		}
		return ""
	}
	if *dir != "" {
		info, err := p.Stat(ctx, *dir)
		if err == nil && !info.IsDir() {
			err = workspace.ErrNotDir
		}
		if err != nil {
			p.errorf("cannot change directory to %s: %s", quoteName(*dir), ErrorText(err))
			return 125
		}
		child.Dir = p.Files.Absolute(ctx, p.Dir, *dir)
	}
	return p.Run(ctx, &child)
}

// timeout runs a program, and ends it after a time. The status is then 124, or 137 with the signal
// KILL, or with --preserve-status what the program returns; after an error of timeout itself it is 125.
// What runs here ends at once, whatever signal is named.
func timeout(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION] DURATION COMMAND [ARG]...")
	f.first, f.failure = true, 125
	preserve := f.Bool("preserve-status", false, "exit with the status of COMMAND")
	f.Bool("foreground", false, "(ignored: there is no terminal)")
	after := f.StringP("kill-after", "k", "", "(ignored: COMMAND ends at once)")
	signal := f.StringP("signal", "s", "TERM", "the signal, by name or number: only the status depends on it")
	verbose := f.BoolP("verbose", "v", false, "say that COMMAND is ended")
	words, status, ok := f.parse()
	if !ok {
		return status
	}
	if len(words) < 2 {
		return f.wrong("missing operand")
	}
	number := signalNumber(*signal)
	if number < 0 {
		return f.wrong("%s: invalid signal", quoteName(*signal))
	}
	if *after != "" {
		if _, ok := parseInterval(*after); !ok {
			return f.wrong("invalid time interval %s", quoteName(*after))
		}
	}
	limit, ok := parseInterval(words[0])
	if !ok {
		return f.wrong("invalid time interval %s", quoteName(words[0]))
	}
	bounded := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	child := *p
	child.Args = words[1:]
	status = p.Run(bounded, &child)
	if bounded.Err() == nil || ctx.Err() != nil {
		return status
	}
	if *verbose {
		p.errorf("sending signal %s to command %s", strings.TrimPrefix(strings.ToUpper(*signal), "SIG"), quoteName(words[1]))
	}
	if *preserve || number == 9 {
		return 128 + number
	}
	return 124
}

// signalNumbers are the signals that scripts send.
var signalNumbers = map[string]int{"HUP": 1, "INT": 2, "QUIT": 3, "KILL": 9, "USR1": 10, "USR2": 12, "ALRM": 14, "TERM": 15}

// signalNumber returns the number of a signal that a name or a number stands for, -1 if it is none.
func signalNumber(s string) int {
	if n, err := strconv.Atoi(s); err == nil && n >= 0 && n <= 64 {
		return n
	}
	if n, ok := signalNumbers[strings.TrimPrefix(strings.ToUpper(s), "SIG")]; ok {
		return n
	}
	return -1
}

// printenv prints the values of variables, or all as NAME=VALUE. The status is 1 if one
// is not set, and 2 after an error.
//
// Values come in the order of the arguments. A name with "=" in it is never set.
func printenv(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [VARIABLE]...")
	f.first, f.failure = true, 2
	zero := f.BoolP("null", "0", false, "end each output line with NUL, not newline")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	out := bufio.NewWriter(p.Stdout)
	for _, variable := range p.Environ() {
		if len(names) == 0 {
			out.WriteString(variable)
			out.WriteByte(lineEnd(*zero))
		}
	}
	for _, name := range names {
		found := false
		for _, variable := range slices.Backward(p.Environ()) {
			if value, ok := strings.CutPrefix(variable, name+"="); ok && !strings.Contains(name, "=") {
				found = true
				out.WriteString(value)
				out.WriteByte(lineEnd(*zero))
				break
			}
		}
		if !found {
			status = 1
		}
	}
	return p.finish(out, status)
}

// which prints where programs are: all are in /usr/bin.
//
// No file is there: the path is for scripts that test whether there is a program. The
// argument may be a path in /usr/bin; any other path is unknown. The status is 1 if one is
// unknown.
func which(ctx context.Context, p *Process) int {
	f := newFlags(p, "[-a] args")
	f.failure = 2
	f.BoolP("a", "a", false, "print all matches; there is one of each")
	silent := f.BoolP("s", "s", false, "no output")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if len(names) == 0 {
		return 1
	}
	out := bufio.NewWriter(p.Stdout)
	for _, name := range names {
		if p.Known != nil && p.Known(name) {
			name = "/usr/bin/" + name
		}
		if !p.isProgram(name) {
			status = 1
		} else if !*silent {
			out.WriteString(name + "\n")
		}
	}
	return p.finish(out, status)
}

// xargs runs a program with the words of the standard input as arguments, as POSIX
// says, with GNU's -0, -d, -r, -a and -t. Programs run one after the other, whatever -P
// says. There are four ways to cut the input into arguments:
//
//	(none)   at blanks and line ends; quotes and backslashes protect them
//	-0       at NUL bytes, without quoting: for find -print0
//	-d X     at the byte X, without quoting
//	-I R     at line ends; each line runs the program once, in place of each R
//
// -n and -L bound how many words or lines a call gets, -s how many bytes. The status is
// 123 if a program failed, 124 after a status of 255, which ends xargs, 126 and 127 as
// the shell has them, 125 for what a signal ended, and 1 for xargs itself.
//
// separated or quoted cut the input, add collects the words, flush makes a call of them,
// and exec runs it:
//
//	seq 3 | xargs echo x          echo x 1 2 3
//	seq 3 | xargs -n 2 echo x     echo x 1 2, echo x 3
//	seq 3 | xargs -I R echo R.    echo 1., echo 2., echo 3.
//
// The options end at the first operand, as those after it belong to the program.
func xargs(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... COMMAND [INITIAL-ARGS]...")
	f.first = true
	x := &xargsRun{p: p, ctx: ctx}
	null := f.BoolP("null", "0", false, "items are separated by a null, not whitespace; disables quote and backslash processing")
	files := f.StringP("arg-file", "a", "", "read arguments from FILE, not standard input")
	delimiter := f.StringP("delimiter", "d", "", "items in input stream are separated by CHARACTER, not by whitespace")
	eof := f.StringP("E", "E", "", "set logical EOF string")
	f.StringVarP(&x.replace, "I", "I", "", "replace R in INITIAL-ARGS with names read from standard input")
	replace := f.StringP("replace", "i", "", "the same as -I, {} if none is given")
	f.Lookup("replace").NoOptDefVal = "{}"
	lines := f.countP("max-lines", "L", 0, "use at most MAX-LINES non-blank input lines per command line")
	args := f.countP("max-args", "n", 0, "use at most MAX-ARGS arguments per command line")
	f.countP("max-procs", "P", 1, "accepted: one at a time is run")
	f.BoolP("interactive", "p", false, "not supported: there is nobody to ask")
	f.BoolVarP(&x.skipEmpty, "no-run-if-empty", "r", false, "if there are no arguments, then do not run COMMAND")
	chars := f.countP("max-chars", "s", 128<<10, "limit length of command line to MAX-CHARS")
	f.BoolVarP(&x.exact, "exit", "x", false, "exit if the size is exceeded")
	f.BoolVarP(&x.trace, "verbose", "t", false, "print commands before executing them")
	f.BoolP("open-tty", "o", false, "(ignored)")
	words, status, ok := f.parse()
	if !ok {
		return status
	}
	if f.Changed("interactive") {
		return p.errorf("-p is not supported: there is nobody to ask")
	}
	for _, option := range []struct {
		name string
		n    int
	}{{"max-lines", *lines}, {"max-args", *args}, {"max-chars", *chars}} {
		if f.Changed(option.name) && option.n == 0 {
			return f.wrong("value 0 for --%s option should be >= 1", option.name)
		}
	}
	if x.command = words; len(words) == 0 {
		x.command = []string{"echo"}
	}
	x.replace = cmp.Or(x.replace, *replace)
	x.lines, x.args, x.chars, x.eof = *lines, *args, *chars, *eof
	x.separator = -1
	if *null {
		x.separator = 0
	}
	if f.Changed("delimiter") {
		text, _ := unescapeAll(*delimiter)
		if len(text) != 1 {
			return f.wrong("Invalid input delimiter specification %s: the delimiter must be either a single character or an escape sequence starting with \\.", *delimiter)
		}
		x.separator = int(text[0])
	}
	if x.replace != "" {
		// -I means one line for each call, as POSIX says, whatever -L and -n ask for.
		x.lines, x.args = 0, 0
	}
	name := "-"
	if *files != "" {
		name = *files
	}
	failed := p.Inputs(ctx, []string{name}, func(in *Input) error {
		// POSIX has /dev/null as the input of the program, which must not read what is left
		// of the list. With -a, it gets the standard input.
		if name == "-" {
			x.stdin = strings.NewReader("")
		}
		return x.run(in)
	})
	return max(x.status, failed)
}

// xargsRun collects arguments, and runs the program.
type xargsRun struct {
	ctx       context.Context
	p         *Process
	command   []string  // with its first arguments
	replace   string    // of -I; empty for none
	separator int       // a byte; -1: blanks and newlines, with quotes
	lines     int       // -L: most lines of a call; zero for no limit
	args      int       // -n: most arguments of a call; zero for no limit
	chars     int       // -s: most bytes of a call
	eof       string    // of -E: an argument that ends the input
	skipEmpty bool      // -r: without arguments there is no call
	exact     bool      // -x: arguments that do not fit are an error
	trace     bool      // -t: commands are printed first
	stdin     io.Reader // of the program

	pending []string // the arguments of the next call
	size    int      // bytes of pending, with a byte between them
	line    int      // lines in pending
	ran     bool     // there was a call
	status  int
}

// errStopXargs ends xargs with the status that it has.
//
// The message has been printed where it is returned.
var errStopXargs = errors.New("stop")

// run reads the arguments, and runs the command with those that are left at the end. A
// command that has not run by then runs without arguments, unless -r or -I was given.
//
// The error is one of reading, which Inputs prints. What is pending is then not run.
func (x *xargsRun) run(in io.Reader) error {
	if x.stdin == nil {
		x.stdin = x.p.Stdin
	}
	var err error
	if x.separator >= 0 {
		err = x.separated(in)
	} else {
		err = x.quoted(in)
	}
	if err == nil && (len(x.pending) > 0 || !x.ran && !x.skipEmpty && x.replace == "") {
		err = x.flush()
	}
	if err == errStopXargs {
		return nil
	}
	return err
}

// separated reads words that a byte ends.
//
// An empty word is an argument. The last word need not have a separator after it. -E has no
// meaning here, as in GNU's xargs.
func (x *xargsRun) separated(in io.Reader) error {
	r := newLineReader(x.ctx, x.p, in, byte(x.separator))
	for r.next() {
		err := x.add(string(r.line))
		if err == nil && x.lines > 0 {
			err = x.endLine()
		}
		if err != nil {
			return err
		}
	}
	return r.err
}

// quoted reads words between blanks, with quotes and backslashes. A quote must end in
// its line; a backslash at the end of a line makes the line end part of the word. With
// -L, a line that ends with a blank goes on in the next one.
//
// A word may have several parts. Blanks in quotes or after a backslash belong to it:
//
//	a 'b c'\ d "e"f      the words a, "b c d" and ef
//	''                   one empty word
//	a\                   "a", a line end and "b", as one word
//	b
//
// With -I only line ends separate, and blanks before the first word are skipped, while
// quotes and backslashes keep their meaning. The word of -E ends the input, and all before
// it is used.
func (x *xargsRun) quoted(in io.Reader) error {
	r := newLineReader(x.ctx, x.p, in, '\n')
	var word []byte
	inWord, continued := false, false
	// end adds the word that is being read, if there is one. io.EOF says that it is the
	// word of -E.
	end := func() error {
		if !inWord {
			return nil
		}
		text := string(word)
		word, inWord = word[:0], false
		if x.eof != "" && text == x.eof {
			return io.EOF
		}
		return x.add(text)
	}
	for r.next() {
		line := r.line
		if x.replace != "" && !continued {
			line = bytes.TrimLeft(line, " \t\r\v\f")
		}
		before, trailing := len(x.pending), len(line) > 0 && isBlank(line[len(line)-1])
		for i := 0; i < len(line); i++ {
			c := line[i]
			switch {
			case c == '\\' && i+1 == len(line):
				if continued = r.terminated; continued {
					word = append(word, '\n')
				}
				inWord = true
				continue
			case c == '\\':
				i++
				word, inWord = append(word, line[i]), true
			case c == '"' || c == '\'':
				n := bytes.IndexByte(line[i+1:], c)
				if n < 0 {
					kind := map[byte]string{'"': "double", '\'': "single"}[c]
					x.status = 1
					x.p.errorf("unmatched %s quote; by default quotes are special to xargs unless you use the -0 option", kind)
					return errStopXargs
				}
				word, inWord = append(word, line[i+1:i+1+n]...), true
				i += n + 1
			case !inWord && c >= '\t' && c <= '\r':
			case (c == ' ' || c == '\t') && x.replace == "":
				if err := end(); err != nil {
					return notEOF(err)
				}
			default:
				word, inWord = append(word, c), true
			}
		}
		if len(line) > 0 && line[len(line)-1] == '\\' && continued {
			continued = false
			continue
		}
		if err := end(); err != nil {
			return notEOF(err)
		}
		if x.lines > 0 && len(x.pending) > before && !trailing {
			if err := x.endLine(); err != nil {
				return err
			}
		}
	}
	if r.err != nil {
		return r.err
	}
	return notEOF(end())
}

// endLine counts a line for -L.
//
// Only a line with a word counts, as POSIX says of -L; a line of -d always does.
func (x *xargsRun) endLine() error {
	if x.line++; x.line >= x.lines {
		return x.flush()
	}
	return nil
}

// add adds an argument, and runs the program if it has enough.
//
// A call has at most x.chars bytes: the command and the words, each with one byte more. If
// the word does not fit, the words before it are run first. A word that fits in no call
// ends xargs, and so does one that does not fit into this call with -x.
func (x *xargsRun) add(word string) error {
	if x.replace != "" {
		return x.runReplaced(word)
	}
	initial := 0
	for _, w := range x.command {
		initial += len(w) + 1
	}
	if initial+x.size+len(word)+1 > x.chars {
		if x.exact || len(x.pending) == 0 {
			x.status = 1
			x.p.errorf("argument line too long")
			return errStopXargs
		}
		if err := x.flush(); err != nil {
			return err
		}
		if initial+len(word)+1 > x.chars {
			x.status = 1
			x.p.errorf("argument line too long")
			return errStopXargs
		}
	}
	x.pending = append(x.pending, word)
	x.size += len(word) + 1
	if x.args > 0 && len(x.pending) >= x.args {
		return x.flush()
	}
	return nil
}

// runReplaced runs the program for one line of -I. The name of the program itself is
// not replaced.
//
// The size of each argument is checked before it is made: a few bytes of R in the command,
// many times, and a long line would make an argument of any size.
func (x *xargsRun) runReplaced(word string) error {
	args := []string{x.command[0]}
	for _, arg := range x.command[1:] {
		if len(arg)+strings.Count(arg, x.replace)*len(word) > x.chars {
			x.status = 1
			x.p.errorf("command too long")
			return errStopXargs
		}
		args = append(args, strings.ReplaceAll(arg, x.replace, word))
	}
	return x.exec(args)
}

// flush runs the program with the arguments that were collected.
//
// For an input without words, that is the command alone.
func (x *xargsRun) flush() error {
	args := slices.Concat(x.command, x.pending)
	x.pending, x.size, x.line = nil, 0, 0
	return x.exec(args)
}

// exec runs the program once. Its statuses become those of xargs.
//
// The statuses are those of GNU's xargs:
//
//	0             as before
//	126, 127      the same, and xargs ends: the program cannot be run
//	255           124, and xargs ends: the program asks for that
//	141           the same, and xargs ends: nobody reads the output
//	129 and more  125, and xargs ends: GNU's status after a signal
//	others        123, and the next call runs
//
// It also ends when ctx ends, before a call.
func (x *xargsRun) exec(args []string) error {
	if err := x.ctx.Err(); err != nil {
		return err
	}
	x.ran = true
	if x.trace {
		fmt.Fprintln(x.p.Stderr, strings.Join(args, " "))
	}
	child := *x.p
	child.Args, child.Stdin = args, x.stdin
	switch status := x.p.Run(x.ctx, &child); {
	case status == 0:
	case status == 255:
		x.p.errorf("%s: exited with status 255; aborting", args[0])
		x.status = 124
		return errStopXargs
	case status == 126 || status == 127:
		x.status = status
		return errStopXargs
	case status == exitPipe:
		x.status = status
		return errStopXargs
	case status > 128:
		x.p.errorf("%s: terminated by signal %d", args[0], status-128)
		x.status = 125
		return errStopXargs
	default:
		x.status = 123
	}
	return nil
}
