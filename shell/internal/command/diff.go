package command

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/workspace"
)

// diffRun is one run of diff.
type diffRun struct {
	p                                *Process
	out                              *bufio.Writer
	context                          int              // lines around a change in a unified diff; -1 for the normal form
	recursive, newFile, brief, same  bool             // -r, -N, -q and -s
	fold, allSpace, spaces, trailing bool             // what does not count: -i, -w, -b and -Z
	blank, text, stripCR             bool             // -B, -a and --strip-trailing-cr
	labels                           []string         // of --label, which stand in place of names
	exclude                          []*regexp.Regexp // of -x, for base names
	options                          string           // of the command line, as it is shown
	status                           int              // 1 if something differs, 2 if something failed
}

// diff compares files, or directories with -r, as GNU's diffutils do: in the normal
// form of POSIX, or a unified diff (-u, -U). The status is 0 if they are the same, 1 if
// they differ, and 2 after an error. Context diffs, scripts for ed, and two columns are
// refused, with a hint at -u.
//
// The options -i, -w, -b, -Z, -B and --strip-trailing-cr change what is compared and
// not what is printed: each line has a key, see diffRun.key, and -B hides changes of
// blank lines afterwards. A file that has a NUL byte is binary unless -a is given.
//
//	--- a      the name of the first file, and its time
//	+++ b
//	@@ -1,4 +1,4 @@    lines 1 to 4 become lines 1 to 4
//	 one
//	-two       line 2 of a
//	+TWO       line 2 of b
//	 three
//	 four
func diff(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... FILES")
	f.failure = exitUsage
	d := &diffRun{p: p, out: bufio.NewWriter(p.Stdout), context: -1}
	f.BoolFuncP("u", "u", "a unified diff", func(string) error {
		d.context = max(d.context, 3)
		return nil
	})
	around := func(s string) error {
		if digitsEnd(s, 0, len(s), 10) < max(len(s), 1) {
			return strconv.ErrSyntax
		}
		d.context = max(d.context, min(atoi(s), math.MaxInt/4)) // twice as many must be a number
		return nil
	}
	f.FuncP("U", "U", "a unified diff with so many lines around a change", around)
	f.Func("unified", "the same, or 3 lines", around)
	f.Lookup("unified").NoOptDefVal = "3"
	f.Bool("normal", false, "the normal form")
	f.BoolVarP(&d.recursive, "recursive", "r", false, "directories with all that is in them")
	f.BoolVarP(&d.newFile, "new-file", "N", false, "a file that does not exist is empty")
	f.BoolVarP(&d.brief, "brief", "q", false, "print only whether files differ")
	f.BoolVarP(&d.same, "report-identical-files", "s", false, "print which files are the same")
	f.BoolVarP(&d.fold, "ignore-case", "i", false, "letters are equal in either case")
	f.BoolVarP(&d.allSpace, "ignore-all-space", "w", false, "white space counts for nothing")
	f.BoolVarP(&d.spaces, "ignore-space-change", "b", false, "how much white space there is counts for nothing")
	f.BoolVarP(&d.trailing, "ignore-trailing-space", "Z", false, "white space at the end of a line counts for nothing")
	f.BoolVarP(&d.blank, "ignore-blank-lines", "B", false, "empty lines count for nothing")
	f.BoolVarP(&d.text, "text", "a", false, "binary files are text")
	f.BoolVar(&d.stripCR, "strip-trailing-cr", false, "line ends of Windows count for nothing")
	labels := f.StringArrayP("label", "L", nil, "the name of a file in the head; can be given twice")
	exclude := f.StringArrayP("exclude", "x", nil, "leave out files whose name matches")
	color := f.String("color", "never", "only never and auto")
	f.Lookup("color").NoOptDefVal = "auto"
	f.BoolP("minimal", "d", false, "(ignored)")
	f.Bool("speed-large-files", false, "(ignored)")
	f.Bool("no-dereference", false, "(ignored)")
	refused := map[string]string{"y": "side-by-side", "c": "c", "e": "ed", "n": "rcs", "p": "show-c-function"}
	for letter, name := range refused {
		f.BoolP(name, letter, false, "not possible here; use -u")
	}
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	for letter, name := range refused {
		if f.Changed(name) {
			p.errorf("-%s is not possible here; use -u", letter)
			return exitUsage
		}
	}
	switch {
	case *color != "never" && *color != "auto":
		p.errorf("colors are not possible here: --color=%s", *color)
		return exitUsage
	case len(names) == 0:
		return f.wrong("missing operand after '%s'", p.Args[len(p.Args)-1])
	case len(names) == 1:
		return f.wrong("missing operand after '%s'", names[0])
	case len(names) > 2:
		return f.wrong("extra operand '%s'", names[2])
	case len(*labels) > 2:
		p.errorf("too many file label options")
		return exitUsage
	}
	d.labels = *labels
	for _, text := range *exclude {
		d.exclude = append(d.exclude, wildcard(text, false))
	}
	d.options = shownOptions(f.words)
	d.operands(ctx, names[0], names[1])
	return p.finish(d.out, d.status)
}

// shownOptions returns options and their values, each after a space.
// They stand in the line "diff -r a/f b/f" before each pair of files that differ in two
// directories.
func shownOptions(words []string) string {
	var b strings.Builder
	for _, word := range words {
		if b.WriteByte(' '); strings.Contains(word, "=") && quoteShell(word) == word {
			word = "'" + word + "'"
		} else {
			word = quoteShell(word)
		}
		b.WriteString(word)
	}
	return b.String()
}

// trouble prints an error.
// It does not stop the comparison of directories; the status remains 2 whatever comes after.
func (d *diffRun) trouble(name string, err error) {
	d.out.Flush()
	d.p.errorf("%s: %s", name, ErrorText(err))
	d.status = exitUsage
}

// diffFile is one of two files, or directories.
type diffFile struct {
	name    string // as it is printed and opened; "-" for the standard input
	info    workspace.FileInfo
	missing bool // with -N: it counts as empty
}

// describe looks at an argument. The standard input has the time of now, as in GNU's
// diff.
func (d *diffRun) describe(ctx context.Context, name string) (diffFile, error) {
	if name == "-" {
		return diffFile{name: name, info: workspace.FileInfo{Type: workspace.TypeFile, ModTime: d.p.Now()}}, nil
	}
	info, err := d.p.Stat(ctx, name)
	return diffFile{name: name, info: info}, err
}

// operands compares the two arguments. A file and a directory are the file and the one
// of that name in the directory; with -N, one of both may be missing, but not both.
func (d *diffRun) operands(ctx context.Context, nameA, nameB string) {
	a, errA := d.describe(ctx, nameA)
	b, errB := d.describe(ctx, nameB)
	if errA == nil && errB == nil && a.info.IsDir() != b.info.IsDir() {
		if a.info.IsDir() {
			nameA = joinShown(nameA, path.Base(nameB), false)
			a, errA = d.describe(ctx, nameA)
		} else {
			nameB = joinShown(nameB, path.Base(nameA), false)
			b, errB = d.describe(ctx, nameB)
		}
	}
	one := d.newFile && (errA == nil) != (errB == nil)
	if one && errA != nil && errors.Is(errA, fs.ErrNotExist) {
		a, errA = diffFile{name: nameA, missing: true, info: workspace.FileInfo{Type: b.info.Type}}, nil
	}
	if one && errB != nil && errors.Is(errB, fs.ErrNotExist) {
		b, errB = diffFile{name: nameB, missing: true, info: workspace.FileInfo{Type: a.info.Type}}, nil
	}
	if errA != nil {
		d.trouble(nameA, errA)
	}
	if errB != nil {
		d.trouble(nameB, errB)
	}
	switch {
	case errA != nil || errB != nil:
	case a.info.IsDir() && b.info.IsDir() && d.sameDir(ctx, a.name, b.name):
	case a.info.IsDir() && b.info.IsDir():
		d.dirs(ctx, a, b)
	default:
		d.files(ctx, a, b, false)
	}
}

// sameDir reports whether two names are one directory, which is like itself. It asks where
// they are, and follows no symlinks: two names of one directory are otherwise compared, with
// the same result.
func (d *diffRun) sameDir(ctx context.Context, a, b string) bool {
	at, err := d.p.Files.Locate(ctx, d.p.Dir, a)
	other, errOther := d.p.Files.Locate(ctx, d.p.Dir, b)
	return err == nil && errOther == nil && at == other
}

// dirs compares two directories. Both lists are sorted, so that it goes through them
// side by side, and an entry is in one of them or in both.
func (d *diffRun) dirs(ctx context.Context, a, b diffFile) {
	listA, errA := d.list(ctx, a)
	listB, errB := d.list(ctx, b)
	if errA != nil {
		d.trouble(a.name, errA)
		return
	}
	if errB != nil {
		d.trouble(b.name, errB)
		return
	}
	for len(listA) > 0 || len(listB) > 0 {
		if ctx.Err() != nil {
			return
		}
		var in [2]*workspace.FileInfo
		if len(listB) == 0 || len(listA) > 0 && listA[0].Name <= listB[0].Name {
			in[0] = &listA[0]
		}
		if len(listA) == 0 || len(listB) > 0 && listB[0].Name <= listA[0].Name {
			in[1] = &listB[0]
		}
		if in[0] != nil {
			listA = listA[1:]
		}
		if in[1] != nil {
			listB = listB[1:]
		}
		d.pair(ctx, a, b, in[0], in[1])
	}
}

// list returns the entries of a directory that are compared, none for one that is
// missing. They are sorted bytewise, as dirs needs them.
func (d *diffRun) list(ctx context.Context, dir diffFile) ([]workspace.FileInfo, error) {
	if dir.missing {
		return nil, nil
	}
	list, err := d.p.ReadDir(ctx, dir.name)
	return slices.DeleteFunc(list, func(info workspace.FileInfo) bool {
		return slices.ContainsFunc(d.exclude, func(re *regexp.Regexp) bool { return re.MatchString(info.Name) })
	}), err
}

// pair compares what two directories have under one name. One of both may be missing.
//
// At most one of infoA and infoB is nil. A file against a directory is a difference of
// its own, and is not looked into.
func (d *diffRun) pair(ctx context.Context, dirA, dirB diffFile, infoA, infoB *workspace.FileInfo) {
	if (infoA == nil || infoB == nil) && !d.newFile {
		only, dir := infoA, dirA.name
		if only == nil {
			only, dir = infoB, dirB.name
		}
		fmt.Fprintf(d.out, "Only in %s: %s\n", dir, only.Name)
		d.status = max(d.status, 1)
		return
	}
	file := func(dir diffFile, info, other *workspace.FileInfo) diffFile {
		if info == nil {
			return diffFile{name: joinShown(dir.name, other.Name, false), missing: true, info: workspace.FileInfo{Name: other.Name, Type: other.Type}}
		}
		return diffFile{name: joinShown(dir.name, info.Name, false), info: *info}
	}
	a, b := file(dirA, infoA, infoB), file(dirB, infoB, infoA)
	switch {
	case a.info.IsDir() && b.info.IsDir() && d.recursive:
		d.dirs(ctx, a, b)
	case a.info.IsDir() && b.info.IsDir():
		fmt.Fprintf(d.out, "Common subdirectories: %s and %s\n", a.name, b.name)
	case a.info.Type != b.info.Type:
		fmt.Fprintf(d.out, "File %s is a %s while file %s is a %s\n", a.name, typeName(a.info), b.name, typeName(b.info))
		d.status = max(d.status, 1)
	default:
		d.files(ctx, a, b, true)
	}
}

// typeName is a type in the words of GNU.
func typeName(info workspace.FileInfo) string {
	switch info.Type {
	case workspace.TypeDirectory:
		return "directory"
	case workspace.TypeSymlink:
		return "symbolic link"
	case workspace.TypeOther:
		return "character special file"
	}
	if info.Size == 0 {
		return "regular empty file"
	}
	return "regular file"
}

// files compares two files. inDirs says that they were found in directories.
//
// Both are read whole, at most MaxMemory or the workspace's limit each, as the comparison
// of lines goes back and forth. Two standard inputs are the same content.
func (d *diffRun) files(ctx context.Context, a, b diffFile, inDirs bool) {
	var data [2][]byte
	for i, file := range []diffFile{a, b} {
		if file.missing {
			continue
		}
		var err error
		if file.name == "-" {
			data[i], err = readBounded(ctx, d.p, d.p.Stdin)
		} else {
			data[i], _, err = d.p.ReadFile(ctx, file.name)
		}
		if err != nil {
			d.trouble(file.name, err)
			return
		}
	}
	if a.name == "-" && b.name == "-" {
		data[1] = data[0]
	}
	if bytes.Equal(data[0], data[1]) {
		d.identical(a, b)
		return
	}
	if !d.text && (lines.IsBinary(data[0]) || lines.IsBinary(data[1])) {
		what := "Binary files"
		if d.brief {
			what = "Files"
		}
		fmt.Fprintf(d.out, "%s %s and %s differ\n", what, a.name, b.name)
		d.status = max(d.status, 1)
		return
	}
	old, now := splitLines(data[0]), splitLines(data[1])
	changes, err := compareLines(ctx, old, now, d.key)
	if err != nil {
		return
	}
	if d.blank && !slices.ContainsFunc(changes, func(c diffChange) bool { return !d.ignored(c, old, now) }) {
		changes = nil
	}
	if len(changes) == 0 {
		d.identical(a, b)
		return
	}
	d.status = max(d.status, 1)
	if d.brief {
		fmt.Fprintf(d.out, "Files %s and %s differ\n", a.name, b.name)
		return
	}
	if inDirs {
		fmt.Fprintf(d.out, "diff%s %s %s\n", d.options, quoteShell(a.name), quoteShell(b.name))
	}
	if d.context >= 0 {
		d.unified(a, b, old, now, changes)
		return
	}
	for _, c := range changes {
		if !d.blank || !d.ignored(c, old, now) {
			d.normal(c, old, now)
		}
	}
}

// identical prints that two files are the same, with -s.
func (d *diffRun) identical(a, b diffFile) {
	if d.same {
		fmt.Fprintf(d.out, "Files %s and %s are identical\n", a.name, b.name)
	}
}

// ignored reports whether a change has only blank lines.
func (d *diffRun) ignored(c diffChange, old, now []string) bool {
	for _, line := range slices.Concat(old[c.a:c.aEnd], now[c.b:c.bEnd]) {
		if !isBlankLine(line, d.allSpace || d.spaces || d.trailing) {
			return false
		}
	}
	return true
}

// isBlankLine reports whether a line has nothing, or with spaces nothing but white space. A
// line end does not count.
func isBlankLine(line string, spaces bool) bool {
	line = strings.TrimSuffix(line, "\n")
	return line == "" || spaces && strings.TrimSpace(line) == ""
}

// key returns what of a line counts. Lines with the same key are equal:
//
//	-w   "a  b "  ab
//	-b   "a  b "  "a b", and "  a" " a": where there is white space counts
//	-Z   "a  b "  "a  b"
//	-i   "A"      "a"
func (d *diffRun) key(line string) string {
	if d.stripCR {
		if rest, ok := strings.CutSuffix(line, "\r\n"); ok {
			line = rest + "\n"
		}
	}
	if d.fold {
		line = strings.ToLower(line)
	}
	switch {
	case d.allSpace:
		return strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, line)
	case d.spaces:
		trimmed := strings.TrimRightFunc(line, unicode.IsSpace)
		fields := strings.FieldsFunc(trimmed, unicode.IsSpace)
		if len(fields) > 0 && !strings.HasPrefix(trimmed, fields[0]) {
			fields = append([]string{""}, fields...)
		}
		return strings.Join(fields, " ")
	case d.trailing:
		return strings.TrimRightFunc(line, unicode.IsSpace)
	}
	return line
}

// normal prints a change in the normal form.
//
//	2c2,3    line 2 of the old file becomes lines 2 and 3 of the new one
//	0a1      line 1 of the new file is added before line 1 of the old
//	5,6d4    lines 5 and 6 are deleted; they would stand after line 4 of the new
//
// POSIX (diff, "Diff Default Output Format") defines it.
func (d *diffRun) normal(c diffChange, old, now []string) {
	letter := "c"
	switch {
	case c.a == c.aEnd:
		letter = "a"
	case c.b == c.bEnd:
		letter = "d"
	}
	fmt.Fprintf(d.out, "%s%s%s\n", normalRange(c.a, c.aEnd), letter, normalRange(c.b, c.bEnd))
	d.lines("< ", old[c.a:c.aEnd])
	if letter == "c" {
		d.out.WriteString("---\n")
	}
	d.lines("> ", now[c.b:c.bEnd])
}

// normalRange is "5", "5,7", or for no lines the line before: "0a1,2" adds lines before
// line 1.
func normalRange(from, to int) string {
	if to-from <= 1 {
		return fmt.Sprint(to)
	}
	return fmt.Sprintf("%d,%d", from+1, to)
}

// lines prints lines after a mark.
// A last line without an end has the note of GNU's diff after it, in its own line: without
// it, patch would add a line end.
func (d *diffRun) lines(mark string, list []string) {
	for _, line := range list {
		d.out.WriteString(mark)
		d.out.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			d.out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// unified prints a unified diff: the two names, with a time unless there is a label, and a
// hunk for changes that are near each other. A file that is missing has the time 0, by which
// patch knows that it is created or deleted.
func (d *diffRun) unified(a, b diffFile, old, now []string, changes []diffChange) {
	for i, file := range []diffFile{a, b} {
		head := []string{"---", "+++"}[i] + " "
		if i < len(d.labels) {
			fmt.Fprintf(d.out, "%s%s\n", head, d.labels[i])
			continue
		}
		modified := file.info.ModTime
		if modified.IsZero() {
			modified = time.Unix(0, 0)
		}
		fmt.Fprintf(d.out, "%s%s\t%s\n", head, file.name, formatTime(modified.In(d.p.location()), "%Y-%m-%d %H:%M:%S.%N %z"))
	}
	for len(changes) > 0 {
		// Changes with at most twice the lines of context between them share a hunk.
		n := 1
		for n < len(changes) && changes[n].a-changes[n-1].aEnd <= 2*d.context {
			n++
		}
		if hunk := changes[:n]; !d.blank || slices.ContainsFunc(hunk, func(c diffChange) bool { return !d.ignored(c, old, now) }) {
			d.hunk(hunk, old, now)
		}
		changes = changes[n:]
	}
}

// hunk prints changes that are near each other. The lines of context are those of the
// old file, which may differ from the new ones in what -w and the like ignore.
func (d *diffRun) hunk(changes []diffChange, old, now []string) {
	first, last := changes[0], changes[len(changes)-1]
	before := min(d.context, first.a)
	after := min(d.context, len(old)-last.aEnd)
	fmt.Fprintf(d.out, "@@ -%s +%s @@\n", unifiedRange(first.a-before, last.aEnd+after), unifiedRange(first.b-before, last.bEnd+after))
	at := first.a - before
	for _, c := range changes {
		d.lines(" ", old[at:c.a])
		d.lines("-", old[c.a:c.aEnd])
		d.lines("+", now[c.b:c.bEnd])
		at = c.aEnd
	}
	d.lines(" ", old[at:last.aEnd+after])
}

// unifiedRange is "first,count", without the count where it is 1. For no lines it is
// the line before, and 0.
func unifiedRange(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(to)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

// cmpFiles compares two files byte by byte: POSIX's cmp, with GNU's -n and -i. The
// status is 0, 1 if they differ, or one is the beginning of the other, and 2 after an
// error. Bytes and lines count from 1, and -l prints bytes in octal.
func cmpFiles(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]")
	f.failure = exitUsage
	silent := f.BoolP("silent", "s", false, "print nothing, the status tells")
	f.BoolVar(silent, "quiet", false, "the same as -s")
	verbose := f.BoolP("verbose", "l", false, "print all bytes that differ")
	limit := f.StringP("bytes", "n", "", "compare at most so many bytes")
	skip := f.StringP("ignore-initial", "i", "0", "leave out so many bytes at the beginning, or two numbers with a colon")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	switch {
	case len(names) == 0:
		return f.wrong("missing operand after '%s'", p.name())
	case len(names) > 4:
		return f.wrong("extra operand '%s'", names[4])
	case *silent && *verbose:
		return f.wrong("options -l and -s are incompatible")
	}
	// Without FILE2 it is the standard input, and SKIP1 and SKIP2 come before -i.
	files := append(slices.Clone(names[:min(2, len(names))]), "-")[:2]
	first, second, both := strings.Cut(*skip, ":")
	if !both {
		second = first
	}
	skips := append(slices.Clone(names[len(names[:min(2, len(names))]):]), first, second)[:2]
	if len(names) == 3 {
		skips[1] = second
	}
	c := &cmpRun{p: p, names: files, limit: -1, silent: *silent, verbose: *verbose, out: bufio.NewWriter(p.Stdout)}
	var err error
	if *limit != "" {
		if c.limit, err = parseSize(*limit); err != nil {
			return f.wrong("invalid --bytes value '%s'", *limit)
		}
	}
	for _, text := range []string{first, second} {
		if _, err := parseSize(text); err != nil {
			return f.wrong("invalid --ignore-initial value '%s'", *skip)
		}
	}
	for i := range skips {
		if c.skip[i], err = parseSize(skips[i]); err != nil {
			return f.wrong("invalid --ignore-initial value '%s'", skips[i])
		}
	}
	return p.finish(c.out, c.run(ctx))
}

// cmpRun is one run of cmp.
type cmpRun struct {
	p               *Process
	out             *bufio.Writer
	names           []string // of the two inputs
	skip            [2]int64 // how many bytes of each are passed over
	limit           int64    // -1 for none
	silent, verbose bool     // -s and -l
}

// run opens both files and leaves out what -i says. width is of the numbers of -l: as
// wide as the size of the smaller file.
func (c *cmpRun) run(ctx context.Context) int {
	var readers [2]*bufio.Reader
	width := 19 // of the largest number, if the size is not known
	for i, name := range c.names {
		var in io.Reader = c.p.Stdin
		if name != "-" {
			info, err := c.p.Stat(ctx, name)
			if err == nil && info.IsDir() {
				err = workspace.ErrIsDir
			}
			var file io.ReadCloser
			if err == nil {
				file, err = c.p.Open(ctx, name)
			}
			if err != nil {
				if info.IsDir() || !c.silent {
					c.p.fail(name, err)
				}
				return exitUsage
			}
			defer file.Close()
			in = file
			width = min(width, len(fmt.Sprint(max(info.Size-c.skip[i], 0))))
		}
		readers[i] = bufio.NewReaderSize(in, 64<<10)
		if _, err := io.CopyN(io.Discard, readers[i], c.skip[i]); err != nil && err != io.EOF {
			c.p.fail(name, err)
			return exitUsage
		}
	}
	if c.limit >= 0 {
		width = min(width, len(fmt.Sprint(c.limit)))
	}
	return c.compare(ctx, readers, width)
}

// compare compares what is left of both.
//
// The message about the end of a file goes to the standard error, and the one about a
// difference to the standard output, as POSIX (cmp, STDOUT and STDERR) says.
func (c *cmpRun) compare(ctx context.Context, readers [2]*bufio.Reader, width int) int {
	status, line, last := 0, int64(1), byte('\n')
	for at := int64(1); c.limit < 0 || at <= c.limit; at++ {
		if at&0xffff == 0 && ctx.Err() != nil {
			return exitUsage
		}
		var b [2]byte
		var ended [2]bool
		for i, r := range readers {
			var err error
			if b[i], err = r.ReadByte(); err == io.EOF {
				ended[i] = true
			} else if err != nil {
				c.p.fail(c.names[i], err)
				return exitUsage
			}
		}
		switch {
		case ended[0] && ended[1]:
			return status
		case ended[0] || ended[1]:
			c.end(c.names[slices.Index(ended[:], true)], at-1, line, last)
			return 1
		case b[0] != b[1] && c.verbose:
			fmt.Fprintf(c.out, "%*d %3o %3o\n", width, at, b[0], b[1])
			status = 1
		case b[0] != b[1]:
			if !c.silent {
				fmt.Fprintf(c.out, "%s %s differ: byte %d, line %d\n", c.names[0], c.names[1], at, line)
			}
			return 1
		}
		if last = b[0]; last == '\n' {
			line++
		}
	}
	return status
}

// end prints that a file ends before the other one, in GNU's words. size is how many bytes of
// it were compared, line the line after them, and last the last of them.
func (c *cmpRun) end(name string, size, line int64, last byte) {
	if c.silent {
		return
	}
	c.out.Flush()
	switch {
	case size == 0:
		c.p.errorf("EOF on %s which is empty", name)
	case c.verbose:
		c.p.errorf("EOF on %s after byte %d", name, size)
	case last == '\n':
		c.p.errorf("EOF on %s after byte %d, line %d", name, size, line-1)
	default:
		c.p.errorf("EOF on %s after byte %d, in line %d", name, size, line)
	}
}
