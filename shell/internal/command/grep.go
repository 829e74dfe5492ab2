package command

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/shell/internal/pattern"
	"github.com/workspacekit/workspacekit/workspace"
)

// grepOptions are what grep and rg do with the lines that match.
//
// A zero value prints the lines that match, without limits but max, which must be set to
// -1: zero selects no line, as grep -m 0 does.
type grepOptions struct {
	invert, count, list, listNot, only, quiet, silent bool // -v, -c, -l, -L, -o, -q and -s
	zeroCount                                         bool // with count: files without a match are printed, too
	number, offset, withName, zeroName, text, noBinary,
	zeroLines, tab bool
	before, after int     // -B and -A
	max           int     // of the lines of one file, -1 for all
	label         string  // of --label, for the standard input
	replace       *string // rg -r: what is printed in place of a match
	column        bool    // rg --column
	heading       bool    // rg --heading
	anyBytes      bool    // rg: lines that are not UTF-8 are printed

	// The files of a directory that are searched: all that one of includes matches, or all
	// if there is none, without those that one of excludes matches; excludeDirs are names
	// of directories.
	includes, excludes, excludeDirs []string
	gitignore                       bool
	follow                          bool // -R: what symlinks in a directory lead to, too
}

// grep finds lines, as POSIX says, with GNU's options but colors. egrep and fgrep are
// grep -E and -F. The status is 0 if a line was selected, 1 if none, and 2 after an
// error, unless -q has found one. A directory is searched with -r only, and what symlinks in it
// lead to with -R.
//
// Lines are searched where they are, in three steps, of fewer and fewer lines:
//
//	lines.Matcher   finds lines that may match, over a whole buffer at once
//	is              decides, where the expression of the first step is wider
//	pattern.Regexp  says where in the line, for -o, --column and -r of rg
//
// Binary files, which have a NUL byte, print one message for all matches. In a
// directory the workspace itself searches, see grepRun.tree.
func grep(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... PATTERNS [FILE]...")
	f.failure = exitUsage
	f.number = "context"
	o := grepOptions{zeroCount: true}
	language := pattern.Basic
	if p.name() == "egrep" {
		language = pattern.Extended
	} else if p.name() == "fgrep" {
		language = pattern.Fixed
	}
	for letter, l := range map[string]struct {
		name string
		to   pattern.Syntax
	}{"E": {"extended-regexp", pattern.Extended}, "F": {"fixed-strings", pattern.Fixed}, "G": {"basic-regexp", pattern.Basic}, "P": {"perl-regexp", pattern.Perl}} {
		f.BoolFuncP(l.name, letter, "the patterns are of that kind", func(string) error {
			language = l.to
			return nil
		})
	}
	var po pattern.Options
	given := f.StringArrayP("regexp", "e", nil, "a pattern; can be repeated")
	files := f.StringArrayP("file", "f", nil, "a file with patterns, one a line")
	for _, name := range []string{"i", "y"} {
		long := map[string]string{"i": "ignore-case", "y": "y"}[name]
		f.BoolFuncP(long, name, "letters match in either case", func(string) error {
			po.IgnoreCase = true
			return nil
		})
	}
	f.BoolFunc("no-ignore-case", "the opposite of -i", func(string) error {
		po.IgnoreCase = false
		return nil
	})
	f.BoolVarP(&po.Word, "word-regexp", "w", false, "a match is a whole word")
	f.BoolVarP(&po.Line, "line-regexp", "x", false, "a match is a whole line")
	f.BoolVarP(&o.invert, "invert-match", "v", false, "print the lines that do not match")
	f.BoolVarP(&o.count, "count", "c", false, "print how many lines of each file match")
	f.BoolVarP(&o.list, "files-with-matches", "l", false, "print the names of the files with matches")
	f.BoolVarP(&o.listNot, "files-without-match", "L", false, "print the names of the files without matches")
	f.BoolVarP(&o.only, "only-matching", "o", false, "print only the part of a line that matches")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print nothing, the status tells")
	f.BoolVar(&o.quiet, "silent", false, "the same as -q")
	f.BoolVarP(&o.silent, "no-messages", "s", false, "no messages about files that cannot be read")
	f.BoolVarP(&o.number, "line-number", "n", false, "print the numbers of lines")
	f.BoolVarP(&o.offset, "byte-offset", "b", false, "print the places of lines in bytes")
	withName := f.BoolP("with-filename", "H", false, "print the names of files before lines")
	noName := f.BoolP("no-filename", "h", false, "print no names of files")
	f.StringVar(&o.label, "label", "(standard input)", "the name of the standard input")
	f.BoolVarP(&o.zeroName, "null", "Z", false, "print a NUL byte after the names of files")
	f.BoolVarP(&o.zeroLines, "null-data", "z", false, "lines end with a NUL byte")
	f.BoolVarP(&o.text, "text", "a", false, "binary files are text")
	f.BoolVarP(&o.noBinary, "binary-without-match", "I", false, "binary files have no matches")
	kind := f.String("binary-files", "binary", "what binary files are: binary, text or without-match")
	f.IntVarP(&o.max, "max-count", "m", -1, "stop after so many lines of a file")
	f.IntVarP(&o.before, "before-context", "B", -1, "print so many lines before a match")
	f.IntVarP(&o.after, "after-context", "A", -1, "print so many lines after a match")
	around := f.IntP("context", "C", 0, "print so many lines around a match")
	recursive := f.BoolP("recursive", "r", false, "search directories with all that is in them")
	f.BoolVarP(&o.follow, "dereference-recursive", "R", false, "the same, and what symlinks in them lead to")
	directories := f.StringP("directories", "d", "read", "what to do with directories: recurse or skip")
	f.StringArrayVar(&o.includes, "include", nil, "search only files whose name matches")
	f.StringArrayVar(&o.excludes, "exclude", nil, "leave out files whose name matches")
	f.StringArrayVar(&o.excludeDirs, "exclude-dir", nil, "leave out directories whose name matches")
	color := f.String("color", "never", "only never and auto")
	f.Lookup("color").NoOptDefVal = "auto"
	f.StringVar(color, "colour", "never", "the same as --color")
	f.Lookup("colour").NoOptDefVal = "auto"
	f.BoolP("line-buffered", "U", false, "(ignored)")
	f.BoolVarP(&o.tab, "initial-tab", "T", false, "print a tab before the text of a line")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	patterns, err := grepPatterns(ctx, p, *given, *files)
	if err != nil {
		p.errorf("%v", err)
		return exitUsage
	}
	if !f.Changed("regexp") && !f.Changed("file") {
		if len(names) == 0 {
			fmt.Fprintf(p.Stderr, "Usage: %s %s\nTry '%s --help' for more information.\n", p.name(), f.usage, p.name())
			return exitUsage
		}
		patterns, names = strings.Split(names[0], "\n"), names[1:]
	}
	if *color != "never" && *color != "auto" {
		p.errorf("colors are not possible here: --color=%s", *color)
		return exitUsage
	}
	o.text = o.text || *kind == "text"
	o.noBinary = o.noBinary || *kind == "without-match"
	for _, n := range []*int{&o.before, &o.after} {
		if *n < 0 {
			*n = *around
		}
	}
	*recursive = *recursive || o.follow || *directories == "recurse"
	implicit := *recursive && len(names) == 0
	if implicit {
		names = []string{"."}
	}
	o.withName = (*withName || len(names) > 1) && !*noName
	// Nothing can be selected, so that no file is read, and no error found. GNU's grep does the
	// same.
	never := o.max == 0 || len(patterns) == 0 && !o.invert ||
		o.invert && !po.Word && !po.Line && len(patterns) == 1 && patterns[0] == ""
	if never && !o.listNot {
		return 1
	}
	g, err := newGrep(ctx, p, o, patterns, language, &po)
	if err != nil {
		p.errorf("%v", err)
		return exitUsage
	}
	for _, warning := range g.re.Warnings() {
		p.errorf("warning: %s", warning)
	}
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		// tree finds out whether it is a directory. A file of the arguments is shown as a file is.
		if *recursive && g.mayBeDir(ctx, name) {
			g.withName = !*noName
			g.tree(ctx, name, implicit, func() bool {
				g.withName = o.withName
				return !g.filter(".", path.Base(name))
			})
		} else if info, err := p.Stat(ctx, name); name == "-" || err != nil || !info.IsDir() {
			if name == "-" || err != nil || !g.filter(".", path.Base(name)) {
				g.operand(ctx, name)
			}
		} else if *directories != "skip" {
			g.fail(name, workspace.ErrIsDir)
			g.newFile(name).end()
		}
		if g.done(ctx) {
			break
		}
	}
	return g.finish()
}

// mayBeDir reports whether name can be a directory: the search of a workspace finds
// that out by itself, and no request is spent on it. With names of directories to leave
// out, it has to be one.
func (g *grepRun) mayBeDir(ctx context.Context, name string) bool {
	if _, device := g.p.device(name); device || name == "-" {
		return false
	}
	at, err := g.p.Files.Locate(ctx, g.p.Dir, name)
	if err != nil || at.Workspace != nil && len(g.excludeDirs) == 0 {
		return err == nil
	}
	info, err := g.p.Stat(ctx, name)
	return err == nil && info.IsDir()
}

// grepPatterns returns the patterns of the options -e and -f, one for each line. An empty line
// is a pattern that matches everything, and an empty file none.
func grepPatterns(ctx context.Context, p *Process, given, files []string) ([]string, error) {
	var patterns []string
	for _, text := range given {
		patterns = append(patterns, strings.Split(text, "\n")...)
	}
	for _, name := range files {
		err := p.input(ctx, name, func(in *Input) error {
			data, err := readBounded(ctx, p, in)
			for line := range strings.Lines(string(data)) {
				patterns = append(patterns, strings.TrimSuffix(line, "\n"))
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %s", name, ErrorText(err))
		}
	}
	return patterns, nil
}

// grepRun is one search of grep or rg.
type grepRun struct {
	grepOptions
	ctx      context.Context
	p        *Process
	out      *bufio.Writer
	re       *pattern.Regexp
	fast     *lines.Matcher              // finds the lines that can match; nil if all can
	is       pattern.Decide              // which of those match; nil for all
	nothing  bool                        // no line matches
	filter   func(dir, name string) bool // whether a file is left out
	found    bool                        // a line was selected, which makes the status 0
	failed   bool                        // a file could not be read, which makes it 2
	broken   bool                        // the reader of the output wants no more
	headings int                         // how many names have been printed above lines
	groups   bool                        // a group of lines has been printed
	trail    trail                       // with -R, the directories that are being walked
}

// newGrep returns a search for patterns. No pattern at all, as from an empty file of
// -f, matches nothing. The error is for the user: a pattern or a glob that is wrong, or one of
// a kind that is not possible here.
//
// With -z there is no first step, as the matcher of whole buffers looks for lines.
func newGrep(ctx context.Context, p *Process, o grepOptions, patterns []string, language pattern.Syntax, po *pattern.Options) (*grepRun, error) {
	g := &grepRun{grepOptions: o, ctx: ctx, p: p, out: bufio.NewWriterSize(p.Stdout, 32<<10), nothing: len(patterns) == 0}
	if g.nothing {
		patterns = []string{"."}
	}
	var err error
	if g.re, err = pattern.Compile(patterns, language, po); err != nil {
		return nil, err
	}
	if !o.zeroLines {
		var expression string
		expression, g.is = g.re.Candidates()
		g.fast, _ = lines.Compile(expression, lines.Options{}) // it refuses a line break, and re does not
	}
	return g, g.compileFilter()
}

// compileFilter sets the function that says which files are left out.
// The same globs go to the search of a workspace, so that a file among the arguments and one
// in a directory are left out by the same rule.
func (g *grepRun) compileFilter() error {
	include, exclude := g.globs()
	var in, out *glob.FilePattern
	var err error
	if include != "" {
		if in, err = glob.CompileFile(include); err != nil {
			return err
		}
	}
	if exclude != "" {
		if out, err = glob.CompileFile(exclude); err != nil {
			return err
		}
	}
	g.filter = func(dir, name string) bool {
		return in != nil && !in.Match(dir, name) || out != nil && out.Match(dir, name)
	}
	return nil
}

// globs returns the globs of a search in a workspace. --exclude-dir leaves out what is
// in a directory of that name, and not a file of the name.
func (g *grepRun) globs() (include, exclude string) {
	var in, out []string
	for _, text := range g.includes {
		in = append(in, anywhere(text))
	}
	for _, text := range g.excludes {
		out = append(out, anywhere(text))
	}
	for _, text := range g.excludeDirs {
		if text = strings.TrimRight(text, "/"); text != "" && !strings.Contains(text, "/") {
			out = append(out, anywhere(text)+"/**/*") // and not a file of that name
		}
	}
	return oneOf(in), oneOf(out)
}

// anywhere returns the glob that matches a name in any directory, from a wildcard of the C
// library, where braces are characters. One that begins with "**/" or "/" is a glob.
func anywhere(text string) string {
	if rest, ok := strings.CutPrefix(text, "/"); ok {
		return rest
	}
	if strings.HasPrefix(text, "**/") {
		return text
	}
	return "**/" + strings.NewReplacer("{", `\{`, "}", `\}`).Replace(text)
}

// oneOf returns the glob that matches what one of globs matches.
func oneOf(globs []string) string {
	switch len(globs) {
	case 0:
		return ""
	case 1:
		return globs[0]
	}
	return "{" + strings.Join(globs, ",") + "}"
}

// done reports whether the search is over: the reader of the output wants no more, -q has
// found a line, or ctx has ended. It is asked before each
// file and each buffer.
func (g *grepRun) done(ctx context.Context) bool {
	return g.broken || g.quiet && g.found || ctx.Err() != nil
}

// finish writes what is left, and returns the status.
//
// POSIX (grep, EXIT STATUS) has a status above 1 after any error. GNU's -q is the
// exception: a line that was found counts more than a file that could not be read.
func (g *grepRun) finish() int {
	if err := g.out.Flush(); err != nil && !isPipe(err) {
		g.fail("write error", err)
	}
	switch {
	case g.quiet && g.found:
		return 0
	case g.failed:
		return exitUsage
	case g.found:
		return 0
	}
	return 1
}

// fail prints the error of a file.
// -s hides the message; the status is 2 all the same.
func (g *grepRun) fail(name string, err error) {
	g.failed = true
	if !g.silent {
		g.out.Flush()
		g.p.fail(name, err)
	}
}

// operand searches a file of the arguments, or the standard input for "-". Its error is
// printed, and makes the status 2.
func (g *grepRun) operand(ctx context.Context, name string) {
	shown := name
	if name == "-" {
		shown = g.label
	}
	err := g.p.input(ctx, name, func(in *Input) error {
		return g.stream(ctx, shown, in)
	})
	if err != nil {
		g.fail(name, err)
	}
}

// grepFile is the search of one file. Buffers are searched one after the other; what
// the next one needs of this one is here: the number of its first line, the lines
// before it for -B, and how many lines of -A are still to print.
type grepFile struct {
	*grepRun
	name     string
	line     int      // of the line that begins at the place that has been reached
	base     int64    // of the buffer in the file
	selected int      // how many lines there were
	pending  int      // how many lines are still to print after the last one
	last     int      // the number of the last line that was printed
	history  [][]byte // the last lines of the buffer before this one
	binary   bool     // it has a NUL, so lines are not printed
	hidden   bool     // a line was not printed because the file is binary
	over     bool     // nothing more of the file counts
	rest     []byte   // of the buffer, after the last line that max allows
	headed   bool     // the name has been printed
	eol      byte     // of a line: "\n", or NUL with -z
}

// newFile returns the state of searching one input, with lines that are numbered from
// 1.
func (g *grepRun) newFile(name string) *grepFile {
	f := &grepFile{grepRun: g, name: name, line: 1, eol: '\n'}
	if g.zeroLines {
		f.eol = 0
	}
	return f
}

// grepBuffer is how much of a file is searched at a time, if no line is longer.
const grepBuffer = 256 << 10

// grepBuffers are for the next files: a search of many small ones would otherwise spend much
// of its time with new memory. A buffer that a long line has made larger is not put back.
var grepBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, 32<<10)
	return &b
}}

// stream searches a file. A buffer is searched up to its last line end, and the rest is
// moved to the beginning of the next. A line that is longer than the buffer makes it
// grow, up to MaxMemory.
func (g *grepRun) stream(ctx context.Context, name string, r io.Reader) error {
	f := g.newFile(name)
	defer f.end()
	if g.max == 0 {
		return nil
	}
	kept := grepBuffers.Get().(*[]byte)
	buf := (*kept)[:0]
	defer func() {
		if cap(buf) <= grepBuffer {
			*kept = buf
		}
		grepBuffers.Put(kept)
	}()
	size := 32 << 10 // also of a larger buffer, so that it is the same what has been read after the first match
	for {
		n, err := io.ReadFull(r, buf[len(buf):size])
		buf = buf[:len(buf)+n]
		ended := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !ended {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		whole := len(buf)
		if !ended {
			whole = bytes.LastIndexByte(buf, f.eol) + 1
		}
		if whole > 0 {
			f.chunk(buf[:whole])
		}
		if ended || f.over || g.done(ctx) {
			if in, ok := r.(*Input); ok && in.Name == "-" && f.rest != nil && !f.binary {
				g.p.unread(slices.Concat(f.rest, buf[whole:]))
			}
			return nil
		}
		f.rest = nil // its bytes will be others
		if whole == 0 && int64(len(buf)) > g.p.MaxMemory {
			return fmt.Errorf("a line is longer than %d bytes", g.p.MaxMemory)
		}
		rest := buf[whole:]
		f.base += int64(whole)
		size = max(cap(buf), grepBuffer)
		if len(rest) == cap(buf) { // no line end in it
			size = 2 * cap(buf)
		}
		if size != cap(buf) {
			buf = append(make([]byte, 0, size), rest...)
		} else {
			buf = buf[:copy(buf, rest)]
		}
	}
}

// chunk searches whole lines. A NUL byte makes the file binary from there on; in such a
// file NUL bytes end lines, too, as GNU's grep has it, so that a match is found in a
// part of it.
//
// The lines between two selected ones are only counted, by their line ends, and not looked
// at one by one: that makes a search with few matches fast.
func (f *grepFile) chunk(data []byte) {
	if f.eol == '\n' && !f.text && bytes.IndexByte(data, 0) >= 0 {
		if f.noBinary {
			f.over, f.binary = true, true
			return
		}
		f.binary = true
	}
	if f.binary && !f.text {
		if !f.invert && f.fast != nil && !f.fast.CanMatch(data) {
			return // no lines of it are printed, or counted
		}
		for at := bytes.IndexByte(data, 0); at >= 0; {
			for ; at < len(data) && data[at] == 0; at++ {
				data[at] = '\n' // data is the search's own
			}
			next := bytes.IndexByte(data[at:], 0)
			if next < 0 {
				break
			}
			at += next
		}
	}
	if f.full() {
		f.rest = data[min(f.contextAfter(data, 0, len(data)), len(data)):]
		f.over = f.pending == 0
		return
	}
	next := f.selectedLines(data)
	at := 0 // the lines before are done
	for !f.over {
		start, end, ok := next()
		if f.ctx.Err() != nil { // so that what does not match is unknown
			f.over = true
			return
		}
		stop := len(data)
		if ok {
			stop = start
		}
		at = f.contextAfter(data, at, stop)
		if at < stop {
			f.line += bytes.Count(data[at:stop], []byte{f.eol})
		}
		if !ok {
			f.keepHistory(data)
			return
		}
		f.contextBefore(data, min(at, stop), start)
		f.selected++
		f.found = true
		f.match(data[start:end], int64(start))
		f.line++
		at = min(end+1, len(data))
		f.pending = f.after
		if f.full() {
			f.rest = data[at:]
			f.contextAfter(data, at, len(data))
			f.over = f.over || f.pending == 0
			return
		}
	}
}

// full reports whether there were as many lines as max allows.
func (f *grepFile) full() bool { return f.max >= 0 && f.selected >= f.max }

// contextAfter prints the lines of data from at to stop that -A asks for, and returns where the
// next one begins: past data if the last has no line end.
func (f *grepFile) contextAfter(data []byte, at, stop int) int {
	for f.pending > 0 && at < stop {
		to := endOfLine(data, at, f.eol)
		f.context(data[at:to], f.line, int64(at))
		f.pending--
		f.line++
		at = to + 1
	}
	return at
}

// endOfLine returns where the line ends that begins at from: the place of its end, or len(data)
// for a last line without one.
func endOfLine(data []byte, from int, eol byte) int {
	if n := bytes.IndexByte(data[from:], eol); n >= 0 {
		return from + n
	}
	return len(data)
}

// selectedLines returns a function that returns the bounds of one line after the other
// that is selected.
// The bounds are without the line end, and end is where it stands, or len(data).
func (f *grepFile) selectedLines(data []byte) func() (start, end int, ok bool) {
	matching := f.matchingLines(data)
	if !f.invert {
		return matching
	}
	at := 0
	start, end, ok := matching()
	return func() (int, int, bool) {
		for ok && at == start {
			at = end + 1
			start, end, ok = matching()
		}
		if at >= len(data) {
			return 0, 0, false
		}
		from := at
		to := endOfLine(data, from, f.eol)
		at = to + 1
		return from, to, true
	}
}

// matchingLines is selectedLines for the lines that match: by the matcher for whole
// buffers, or with -z line by line.
func (f *grepFile) matchingLines(data []byte) func() (start, end int, ok bool) {
	if f.nothing {
		return func() (int, int, bool) { return 0, 0, false }
	}
	if f.fast != nil {
		scanner := f.fast.Scan(f.ctx, data)
		return func() (int, int, bool) {
			for {
				start, end, ok := scanner.Next()
				if !ok || f.is == nil || f.is(f.ctx, data[start:end]) {
					return start, end, ok
				}
			}
		}
	}
	at := 0
	return func() (int, int, bool) {
		for at < len(data) {
			start := at
			end := endOfLine(data, start, f.eol)
			at = end + 1
			if f.re.Match(f.ctx, data[start:end]) {
				return start, end, true
			}
		}
		return 0, 0, false
	}
}

// quietly reports whether no lines are printed.
func (f *grepFile) quietly() bool { return f.quiet || f.count || f.list || f.listNot }

// contextBefore prints lines before the one that begins at start, but none before from.
//
// Lines that were printed already are skipped by context, which compares their number with
// last. The line at which the search stands, f.line, is the one that begins at start.
func (f *grepFile) contextBefore(data []byte, from, start int) {
	if f.before == 0 || f.quietly() {
		return
	}
	at, n := start, 0
	for at > from && n < f.before {
		at = bytes.LastIndexByte(data[:at-1], f.eol) + 1
		n++
	}
	if at == 0 {
		older := f.history
		older = older[max(0, len(older)-(f.before-n)):]
		for i, line := range older {
			f.context(line, f.line-n-len(older)+i, 0)
		}
	}
	for ; at < start; n-- {
		to := endOfLine(data, at, f.eol)
		f.context(data[at:to], f.line-n, int64(at))
		at = to + 1
	}
	f.history = nil
}

// keepHistory keeps the last lines of a buffer, for what is printed before a match in
// the next one.
// The lines are copies, as the buffer is used again. Where a buffer has fewer lines than -B
// asks for, lines of the history before it stay.
func (f *grepFile) keepHistory(data []byte) {
	if f.before == 0 {
		return
	}
	at := len(data)
	var kept [][]byte
	for at > 0 && len(kept) < f.before {
		from := bytes.LastIndexByte(data[:at-1], f.eol) + 1
		kept = append([][]byte{bytes.Clone(bytes.TrimSuffix(data[from:at], []byte{f.eol}))}, kept...)
		at = from
	}
	if missing := f.before - len(kept); missing > 0 && len(f.history) > 0 {
		kept = append(f.history[max(0, len(f.history)-missing):], kept...)
	}
	f.history = kept
}

// context prints a line that is not selected, unless it has been printed already. number is
// its number, and at its place in the buffer, for -b.
func (f *grepFile) context(line []byte, number int, at int64) {
	if f.quietly() || f.binary || number <= f.last {
		return
	}
	if f.only { // only the separators are printed
		f.separate(number)
		f.last = number
		return
	}
	f.print(line, number, at, '-')
}

// match handles a selected line. -q, -l and -L need no more of the file.
//
// In a binary file the first line that would be printed ends the search, as one message
// stands for all.
func (f *grepFile) match(line []byte, at int64) {
	switch {
	case f.quiet, f.list, f.listNot:
		f.over = true
	case f.count:
	case f.binary:
		f.over, f.hidden, f.groups = true, true, true
	case f.only && f.invert:
		f.separate(f.line)
	case f.only:
		if f.separate(f.line); f.last < f.line {
			f.last = f.line
		}
		for m := range f.re.Each(f.ctx, line) {
			if m[0] < m[1] {
				f.printPart(line, m, at)
			}
		}
	default:
		f.print(line, f.line, at, ':')
	}
}

// separate prints "--" between groups of lines that do not touch, if lines of context
// are asked for.
func (f *grepFile) separate(number int) {
	if f.before+f.after > 0 && f.groups && (f.last == 0 || f.last < number-1) {
		f.out.WriteString("--\n")
	}
	f.groups = true
}

// print prints a line. mark is ":" for a selected line and "-" for one of the context; column,
// replacement and the like are for selected ones only.
func (f *grepFile) print(line []byte, number int, at int64, mark byte) {
	f.separate(number)
	f.last = number
	if f.hides(line) {
		f.hidden = true
		return
	}
	column := 0
	if f.column && mark == ':' && !f.invert {
		if first := f.re.All(f.ctx, line, 1); len(first) > 0 { // and none if the run ends
			column = first[0][0] + 1
		}
	}
	f.head(number, column, at, mark)
	if f.tab && len(line) > 0 && (f.withName || f.number || f.offset) {
		f.out.WriteByte('\t')
	}
	if f.replace != nil && mark == ':' && !f.invert {
		line = f.replaced(line)
	}
	f.out.Write(line)
	f.newline()
}

// hides reports whether text is not printed, because it is not UTF-8: GNU's grep
// regards such a file as binary.
func (f *grepFile) hides(text []byte) bool {
	return !f.text && !f.anyBytes && !utf8.Valid(text)
}

// printPart prints what matches in a line, in a line of its own. m is a match of
// [pattern.Regexp.All], and at the place of the line in the buffer.
func (f *grepFile) printPart(line []byte, m []int, at int64) {
	part := line[m[0]:m[1]]
	if f.hides(part) {
		f.hidden = true
		return
	}
	f.head(f.line, m[0]+1, at+int64(m[0]), ':')
	if f.replace != nil {
		part = f.expand(nil, line, m)
	}
	f.out.Write(part)
	f.newline()
}

// newline ends a line of output. A write that fails means that the reader wants no
// more, and ends the search.
func (f *grepFile) newline() {
	if err := f.out.WriteByte(f.eol); err != nil {
		f.over, f.broken = true, true
	}
}

// head prints what stands before a line: name, number, column and offset, each with ":"
// for a selected line and "-" for one of the context.
func (f *grepFile) head(number, column int, at int64, mark byte) {
	switch {
	case f.withName && f.heading:
		if f.headed {
			break
		}
		if f.headings++; f.headings > 1 {
			f.out.WriteByte('\n')
		}
		f.out.WriteString(f.name + "\n")
		f.headed = true
	case f.withName:
		f.printBefore(mark)
	}
	if f.number {
		f.out.WriteString(strconv.Itoa(number))
		f.out.WriteByte(mark)
	}
	if f.column && mark == ':' {
		f.out.WriteString(strconv.Itoa(column))
		f.out.WriteByte(mark)
	}
	if f.offset {
		f.out.WriteString(strconv.FormatInt(f.base+at, 10))
		f.out.WriteByte(mark)
	}
}

// end prints what is known at the end of a file: its name for -l and -L, the count for -c, and
// the message for a binary file. It is called once for each file, also after an error.
func (f *grepFile) end() {
	switch {
	case f.quiet:
	case f.list && f.selected > 0, f.listNot && f.selected == 0 && !(f.binary && f.noBinary && f.anyBytes):
		f.printName()
		f.found = f.found || f.anyBytes // rg has found a file
	case f.list, f.listNot:
	case f.count && (f.zeroCount || f.selected > 0):
		f.printCount()
	}
	if f.hidden && !f.quietly() {
		f.out.Flush()
		f.p.errorf("%s: binary file matches", f.name)
	}
	// A bufio.Writer returns the error of an earlier write.
	if _, err := f.out.Write(nil); err != nil {
		f.broken = true
	}
}

// printName prints the name of a file alone.
func (f *grepFile) printName() {
	f.out.WriteString(f.name)
	if f.zeroName {
		f.out.WriteByte(0)
		return
	}
	f.out.WriteByte('\n')
}

// printCount prints the line of -c: the lines that are selected, and not the matches in them.
func (f *grepFile) printCount() {
	if f.withName {
		f.printBefore(':')
	}
	fmt.Fprintln(f.out, f.selected)
}

// printBefore prints the name of a file before something else. With -Z a NUL byte stands in
// place of mark.
func (f *grepFile) printBefore(mark byte) {
	f.out.WriteString(f.name)
	if f.zeroName {
		mark = 0
	}
	f.out.WriteByte(mark)
}
