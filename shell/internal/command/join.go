package command

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// orderCheck is whether join and comm check that their inputs are sorted. An input in
// disorder loses lines, so by default GNU's programs check it once a line has had no
// partner: two files with the same lines need not be sorted.
type orderCheck int

// The values of orderCheck.
const (
	checkUnpairable orderCheck = iota // once there is a line without a partner
	checkAlways
	checkNever
)

// orderCheck adds the options about sorted input. The last one on the command line holds.
//
// The value is right after parse only.
func (f *flags) orderCheck() *orderCheck {
	check := new(orderCheck)
	set := func(value orderCheck) func(string) error {
		return func(string) error { *check = value; return nil }
	}
	f.BoolFunc("check-order", "check that the input is correctly sorted", set(checkAlways))
	f.BoolFunc("nocheck-order", "do not check that the input is correctly sorted", set(checkNever))
	return check
}

// pair opens two files, and calls do with readers of their lines, which end with end. One may be
// the standard input, or both, which then get its lines in turn. The status is the worst of the
// two files and of do.
//
// names are exactly two, and both files are open while do runs. An error of do is printed
// under the name of the first file if that could not be read, and else of the second one.
func (p *Process) pair(ctx context.Context, names []string, end byte, do func(readers [2]*lineReader) (int, error)) int {
	result := 0
	status := p.Inputs(ctx, names[:1], func(a *Input) (failed error) {
		opened := p.Inputs(ctx, names[1:], func(b *Input) (err error) {
			readers := [2]*lineReader{newLineReader(ctx, p, a, end), newLineReader(ctx, p, b, end)}
			// Two readers would each take a buffer of the one standard input.
			if names[0] == "-" && names[1] == "-" {
				readers[1] = readers[0]
			}
			if result, err = do(readers); readers[0].err != nil {
				failed, err = err, nil
			}
			return err
		})
		result = max(result, opened)
		return failed
	})
	return max(status, result)
}

// join joins the lines of two sorted files that have a field in common, as POSIX says,
// with GNU's --header, --check-order, -i, -z and -o auto. Both files are read once,
// side by side: the lesser line goes on, and for an equal field each line of one file
// is joined with each of the other:
//
//	1 a       1 x         1 a x
//	2 b       2 y         2 b y
//	2 c       2 z         2 b z
//	4 d       3 w         2 c y
//	                      2 c z
//
// Only the lines with one key are held in memory. The lines 3 w and 4 d have no
// partner, and are printed with -a 2 and -a 1. The output is the key, the other fields
// of file 1, and those of file 2. Without -t, fields are separated by blanks, and
// blanks before the first one do not count; with -t, two separators in a row have an
// empty field between them.
func join(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... FILE1 FILE2")
	j := &joiner{p: p, separator: -1, end: '\n'}
	unpaired := f.StringArrayP("a", "a", nil, "also print unpairable lines from file FILENUM")
	only := f.StringArrayP("v", "v", nil, "like -a FILENUM, but without the joined lines")
	f.StringVarP(&j.empty, "e", "e", "", "replace missing input fields with STRING")
	f.BoolVarP(&j.fold, "ignore-case", "i", false, "ignore differences in case when comparing fields")
	both := f.StringP("j", "j", "", "the same as -1 FIELD -2 FIELD")
	format := f.StringP("o", "o", "", "obey FORMAT while constructing the output line")
	separator := f.StringP("t", "t", "", "use CHAR as input and output field separator")
	first := f.StringP("1", "1", "1", "join on this FIELD of file 1")
	second := f.StringP("2", "2", "1", "join on this FIELD of file 2")
	header := f.Bool("header", false, "treat the first line in each file as field headers")
	zero := f.BoolP("zero-terminated", "z", false, "lines end with NUL, not newline")
	check := f.orderCheck()
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	j.check, j.end = *check, lineEnd(*zero)
	if err := j.configure(*unpaired, *only, *format, [2]string{*first, *second}, *both); err != nil {
		return p.errorf("%v", err)
	}
	if f.Changed("t") {
		switch {
		case *separator == "":
			// With -t '' no line has this byte, so that a whole line is one field.
			j.separator = int(j.end)
		case *separator == `\0`:
			j.separator = 0
		case len(*separator) > 1:
			return p.errorf("multi-character tab %s", quoteName(*separator))
		default:
			j.separator = int((*separator)[0])
		}
	}
	switch {
	case len(names) == 0:
		return f.wrong("missing operand")
	case len(names) == 1:
		return f.wrong("missing operand after %s", quoteName(names[0]))
	case len(names) > 2:
		return f.wrong("extra operand %s", quoteName(names[2]))
	case names[0] == "-" && names[1] == "-":
		return p.errorf("both files cannot be standard input")
	}
	j.names = names
	j.out = bufio.NewWriter(p.Stdout)
	status = p.pair(ctx, names, j.end, func(readers [2]*lineReader) (int, error) {
		j.readers = readers
		return j.run(*header)
	})
	return p.finish(j.out, status)
}

// joiner joins two files.
//
// The fields down to check are the options. next reads lines and checks their order, step
// compares the two lines that are read and prints, and finish reads what one file has left:
//
//	run    step, step, ... while both files have a line, then finish
//	step   a < b: a has no partner, and the next line of file 1 is read
//	       a > b: the same for b and file 2
//	       a = b: all lines with that key are read from both, and joined
type joiner struct {
	p         *Process
	names     []string // of the files, for messages
	readers   [2]*lineReader
	out       *bufio.Writer
	key       [2]int // the field to join on, from zero
	separator int    // a byte; -1: runs of blanks
	end       byte
	fold      bool        // -i: keys are equal in either case
	empty     string      // of -e: stands for a field that is missing
	unpaired  [2]bool     // -a and -v: which files print lines without a partner
	paired    bool        // lines with a partner are printed: not with -v
	format    []joinField // of -o; nil for the key and all other fields
	auto      bool        // -o auto
	counts    [2]int      // with auto: the fields of each output line
	check     orderCheck

	// The state of a run: the last line of each file and how many there were, whether a
	// line had no partner yet, and which files are in disorder.
	previous   [2]*joinLine
	lines      [2]int
	unpairable bool
	disorder   [2]bool
	held       int64 // bytes of the lines with one key, which are all in memory
}

// joinField is one of -o: the field of file 1 or 2, counted from zero, or of file 0,
// the key.
//
// -o 0,1.2 is {0, 0}, {1, 1}.
type joinField struct{ file, field int }

// joinLine is a line and its fields, which are parts of text.
type joinLine struct {
	text   []byte
	fields [][]byte
}

// field returns field n. A line with fewer fields has empty ones, and so has no line:
// -a prints them as the text of -e.
//
// The bytes are a part of the line's text. l may be nil.
func (l *joinLine) field(n int) []byte {
	if l == nil || n >= len(l.fields) {
		return nil
	}
	return l.fields[n]
}

// configure reads the options with numbers. -o has a list of 0, 1.N and 2.N, with
// commas or blanks between them; "auto" makes all lines have the fields of the first
// ones.
//
// Fields count from 1 in the options and from 0 in j. A field number that is too large for
// an int is one that no line has, and no error, as in GNU's join. -j counts more than -1
// and -2.
func (j *joiner) configure(unpaired, only []string, format string, keys [2]string, both string) error {
	j.paired = len(only) == 0
	for _, number := range slices.Concat(unpaired, only) {
		if number != "1" && number != "2" {
			return fmt.Errorf("invalid file number: %s", quoteName(number))
		}
		j.unpaired[number[0]-'1'] = true
	}
	for i, key := range keys {
		if both != "" {
			key = both
		}
		n, err := strconv.Atoi(key)
		if err != nil && !errors.Is(err, strconv.ErrRange) || n < 1 {
			return fmt.Errorf("invalid field number: %s", quoteName(key))
		}
		j.key[i] = n - 1
	}
	if format == "auto" {
		j.auto = true
		return nil
	}
	for _, spec := range strings.FieldsFunc(format, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		if spec == "0" {
			j.format = append(j.format, joinField{})
			continue
		}
		file, field, ok := strings.Cut(spec, ".")
		n, err := strconv.Atoi(field)
		if !ok || file != "1" && file != "2" {
			return fmt.Errorf("invalid file number in field spec: %s", quoteName(spec))
		}
		if err != nil || n < 1 {
			return fmt.Errorf("invalid field number: %s", quoteName(field))
		}
		j.format = append(j.format, joinField{int(file[0] - '0'), n - 1})
	}
	return nil
}

// errDisorder says that a line sorts before the one that it follows, so the result
// would miss pairs.
//
// Where next returns it, the message is printed already.
var errDisorder = errors.New("input is not in sorted order")

// run joins the files. A header is joined with the other header, whatever the keys, and
// does not count for the order. A disorder with --check-order ends the run at once;
// otherwise it is reported at the end, too, as GNU's join does.
//
// The status goes with an error that is nil; with another error, the caller prints that. -o
// auto counts the fields of the first line of each file, which is the header if there is
// one.
func (j *joiner) run(header bool) (int, error) {
	a, err := j.next(0)
	if err != nil {
		return 1, err
	}
	b, err := j.next(1)
	if err != nil {
		return 1, err
	}
	if j.auto {
		for i, l := range []*joinLine{a, b} {
			if l != nil {
				j.counts[i] = len(l.fields)
			}
		}
	}
	if header && (a != nil || b != nil) {
		j.write(a, b)
		j.previous = [2]*joinLine{}
		if a, err = j.next(0); err == nil {
			b, err = j.next(1)
		}
	}
	for err == nil && a != nil && b != nil {
		a, b, err = j.step(a, b)
	}
	if err == nil {
		err = j.finish(a, b)
	}
	if err == errDisorder {
		return 1, nil
	}
	if err == nil && (j.disorder[0] || j.disorder[1]) {
		j.out.Flush()
		return j.p.errorf("%v", errDisorder), nil
	}
	return 0, err
}

// step handles two lines, and those with the same key, and returns the next ones. It
// reads the groups of both files before it prints their product.
//
// The lines of one key may take MaxMemory, with 64 bytes for each line beside its text: a
// key that is in all lines of both files would otherwise hold both files.
//
// The next line is read before unpairable is set, as in GNU's join: that line is not yet
// checked.
func (j *joiner) step(a, b *joinLine) (nextA, nextB *joinLine, err error) {
	switch c := j.compare(a, 0, b, 1); {
	case c < 0:
		if j.unpaired[0] {
			j.write(a, nil)
		}
		next, err := j.next(0)
		j.unpairable = true
		return next, b, err
	case c > 0:
		if j.unpaired[1] {
			j.write(nil, b)
		}
		next, err := j.next(1)
		j.unpairable = true
		return a, next, err
	}
	var groups [2][]*joinLine
	var after [2]*joinLine
	heads := [2]*joinLine{a, b}
	for i := range groups {
		groups[i] = []*joinLine{heads[i]}
		for {
			l, err := j.next(i)
			if err != nil {
				return nil, nil, err
			}
			// A line of the first file goes with the other file's line, and the other way round.
			if l == nil || j.compare(l, i, heads[1-i], 1-i) != 0 {
				after[i] = l
				break
			}
			if j.held += int64(len(l.text)) + 64; j.held > j.p.MaxMemory {
				return nil, nil, errTooMuch(j.p.MaxMemory)
			}
			groups[i] = append(groups[i], l)
		}
	}
	j.held = 0
	if j.paired {
		for _, a := range groups[0] {
			for _, b := range groups[1] {
				if err := j.write(a, b); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	return after[0], after[1], nil
}

// finish handles what one file has after the end of the other: lines without a partner.
// They are read even if nothing is printed, to check their order.
//
// At least one of a and b is nil. A file whose disorder is known is read no further if
// nothing of it is printed.
func (j *joiner) finish(a, b *joinLine) error {
	rest := [2]*joinLine{a, b}
	check := j.check != checkNever && !(j.disorder[0] && j.disorder[1])
	for i, l := range rest {
		if l == nil || !j.unpaired[i] && !check {
			continue
		}
		if rest[1-i] != nil {
			j.unpairable = true
		}
		for l != nil {
			if j.unpaired[i] {
				pair := [2]*joinLine{}
				pair[i] = l
				if err := j.write(pair[0], pair[1]); err != nil {
					return err
				}
			}
			var err error
			if l, err = j.next(i); err != nil {
				return err
			}
			if j.disorder[i] && !j.unpaired[i] {
				break
			}
		}
	}
	return nil
}

// next reads a line of a file, and compares it with the one before it. It returns nil
// at the end. A file in disorder is reported once.
//
// The line is a copy, as groups hold several at a time. An error is that of reading, or
// errDisorder with --check-order.
func (j *joiner) next(file int) (*joinLine, error) {
	r := j.readers[file]
	if !r.next() {
		return nil, r.err
	}
	j.lines[file]++
	l := &joinLine{text: bytes.Clone(r.line)}
	l.fields = splitJoinFields(l.text, j.separator)
	previous := j.previous[file]
	j.previous[file] = l
	if previous == nil || j.check == checkNever || j.check == checkUnpairable && !j.unpairable || j.disorder[file] {
		return l, nil
	}
	if j.compare(previous, file, l, file) > 0 {
		j.out.Flush()
		j.p.errorf("%s:%d: is not sorted: %s", j.names[file], j.lines[file], l.text)
		j.disorder[file] = true
		if j.check == checkAlways {
			return nil, errDisorder
		}
	}
	return l, nil
}

// splitJoinFields splits a line. A blank at its end makes an empty last field, as in
// GNU's join, where blanks at the beginning do not.
//
// The fields are parts of line:
//
//	separator -1     " a  b "    a, b and an empty one
//	separator ','    "a,,b"      a, an empty one, and b
//	either           ""          none
func splitJoinFields(line []byte, separator int) [][]byte {
	if separator >= 0 {
		if len(line) == 0 {
			return nil
		}
		return bytes.Split(line, []byte{byte(separator)})
	}
	fields := bytes.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' })
	if len(line) > 0 && len(bytes.TrimLeft(line, " \t\n")) > 0 && isBlank(line[len(line)-1]) {
		fields = append(fields, nil)
	}
	return fields
}

// compare compares the keys of two lines, which may be of one file. -i folds ASCII to
// upper case, the order of sort -f.
//
// The order is that of bytes, as sort has it in the C locale. A line without the key sorts
// first, as its key is empty.
func (j *joiner) compare(a *joinLine, fileA int, b *joinLine, fileB int) int {
	x, y := a.field(j.key[fileA]), b.field(j.key[fileB])
	if !j.fold {
		return bytes.Compare(x, y)
	}
	return slices.CompareFunc(x, y, func(c, d byte) int { return int(upperByte(c)) - int(upperByte(d)) })
}

// upperByte returns the upper case of an ASCII letter, and other bytes as they are: the
// order of the C locale knows no more.
func upperByte(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// write writes a line of output. Without a partner, one line is nil.
//
// At least one of a and b is not nil. The key of a pair is that of file 1, which differs
// from the other with -i only. An empty field and a missing one are both printed as the
// text of -e. The error is that of a failed write.
func (j *joiner) write(a, b *joinLine) error {
	separator := byte(' ')
	if j.separator >= 0 {
		separator = byte(j.separator)
	}
	first := true
	put := func(field []byte) {
		if !first {
			j.out.WriteByte(separator)
		}
		first = false
		if len(field) == 0 {
			j.out.WriteString(j.empty)
			return
		}
		j.out.Write(field)
	}
	lines := [2]*joinLine{a, b}
	key := a.field(j.key[0])
	if a == nil {
		key = b.field(j.key[1])
	}
	if j.format != nil {
		for _, f := range j.format {
			if f.file == 0 {
				put(key)
			} else {
				put(lines[f.file-1].field(f.field))
			}
		}
		return j.out.WriteByte(j.end)
	}
	put(key)
	for i, l := range lines {
		count := j.counts[i]
		if !j.auto && l != nil {
			count = len(l.fields)
		}
		for n := range count {
			if n != j.key[i] {
				put(l.field(n))
			}
		}
	}
	return j.out.WriteByte(j.end)
}

// comm compares two sorted files line by line, as POSIX says, with GNU's --total,
// --output-delimiter, --check-order and -z. Lines of the first file alone have no tab
// before them, those of the second one, and those of both two; a column that is left
// out takes its tab with it:
//
//	comm -23 a b    what only a has
//	comm -12 a b    what both have
func comm(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... FILE1 FILE2")
	var hidden [3]bool
	f.BoolVarP(&hidden[0], "1", "1", false, "suppress column 1 (lines unique to FILE1)")
	f.BoolVarP(&hidden[1], "2", "2", false, "suppress column 2 (lines unique to FILE2)")
	f.BoolVarP(&hidden[2], "3", "3", false, "suppress column 3 (lines that appear in both files)")
	delimiter := f.String("output-delimiter", "\t", "separate columns with STR")
	total := f.Bool("total", false, "output a summary")
	zero := f.BoolP("zero-terminated", "z", false, "lines end with NUL, not newline")
	check := f.orderCheck()
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	switch {
	case len(names) == 0:
		return f.wrong("missing operand")
	case len(names) == 1:
		return f.wrong("missing operand after %s", quoteName(names[0]))
	case len(names) > 2:
		return f.wrong("extra operand %s", quoteName(names[2]))
	}
	if *delimiter == "" {
		*delimiter = "\x00"
	}
	c := &commRun{p: p, out: bufio.NewWriter(p.Stdout), hidden: hidden, delimiter: *delimiter, end: lineEnd(*zero), check: *check}
	status = p.pair(ctx, names, c.end, func(readers [2]*lineReader) (int, error) {
		c.readers = readers
		return c.run(*total)
	})
	return p.finish(c.out, status)
}

// commRun is one run of comm.
type commRun struct {
	p          *Process
	out        *bufio.Writer
	readers    [2]*lineReader
	hidden     [3]bool // -1, -2 and -3: columns that are not printed
	delimiter  string  // before the second column, and twice before the third
	end        byte
	check      orderCheck
	recent     [2][2][]byte // of each file, the last line and the one before it
	ended      [2]bool      // files that have no more lines
	unpairable bool         // a line without a partner has been found
	disorder   [2]bool      // files that are known not to be sorted
	totals     [3]int       // of the columns, for --total
}

// run reads both files side by side. The lesser line goes on; a file that has ended is
// greater than any line.
//
// For the files a, b and b, c:
//
//	a < b    column 1: a      the next line of file 1
//	b = b    column 3: b      the next lines of both
//	end      column 2: c      file 1 has ended
//
// A disorder without --check-order makes the status 1 at the end, and the output is
// complete.
func (c *commRun) run(total bool) (int, error) {
	for i := range c.readers {
		if err := c.next(i); err != nil {
			return 1, err
		}
	}
	for !c.ended[0] || !c.ended[1] {
		order := 0
		switch {
		case c.ended[0]:
			order = 1
		case c.ended[1]:
			order = -1
		default:
			order = bytes.Compare(c.recent[0][0], c.recent[1][0])
		}
		column, line := 2, c.recent[0][0]
		switch {
		case order < 0:
			column = 0
		case order > 0:
			column, line = 1, c.recent[1][0]
		}
		c.unpairable = c.unpairable || order != 0
		c.totals[column]++
		if err := c.write(column, line); err != nil {
			return 1, err
		}
		for i := range c.readers {
			if i == 0 && order > 0 || i == 1 && order < 0 {
				continue
			}
			if err := c.next(i); err == errDisorder {
				return 1, nil
			} else if err != nil {
				return 1, err
			}
		}
	}
	if total {
		d := c.delimiter
		fmt.Fprintf(c.out, "%d%s%d%s%d%stotal%c", c.totals[0], d, c.totals[1], d, c.totals[2], d, c.end)
	}
	if c.disorder[0] || c.disorder[1] {
		c.out.Flush()
		return c.p.errorf("%v", errDisorder), nil
	}
	return 0, nil
}

// next reads a line of a file. At the end it checks the last two lines once more, as
// a line without a partner may have been found only since.
//
// recent[0] is the line that run looks at. Only two lines of each file are in memory.
func (c *commRun) next(file int) error {
	r := c.readers[file]
	recent := &c.recent[file]
	if r.next() {
		recent[0], recent[1] = append(recent[1][:0:0], r.line...), recent[0]
		// nil means that there is no line yet, and an empty line is one.
		if recent[0] == nil {
			recent[0] = []byte{}
		}
	} else if c.ended[file] = true; r.err != nil {
		return r.err
	}
	if recent[1] == nil || c.check == checkNever || c.disorder[file] || c.check == checkUnpairable && !c.unpairable {
		return nil
	}
	if bytes.Compare(recent[1], recent[0]) > 0 {
		c.out.Flush()
		c.p.errorf("file %d is not in sorted order", file+1)
		c.disorder[file] = true
		if c.check == checkAlways {
			return errDisorder
		}
	}
	return nil
}

// write prints a line with a delimiter for each column before it that is shown.
//
// column counts from 0.
func (c *commRun) write(column int, line []byte) error {
	if c.hidden[column] {
		return nil
	}
	for i := range column {
		if !c.hidden[i] {
			c.out.WriteString(c.delimiter)
		}
	}
	c.out.Write(line)
	return c.out.WriteByte(c.end)
}
