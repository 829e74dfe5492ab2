package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// cut prints parts of lines, as POSIX says: bytes (-b, and -c, which GNU's cut regards
// as the same), or fields (-f). The parts are printed in the order of the line and once
// each, whatever the order and the overlaps of the list. A line without a delimiter is
// printed whole, unless -s is given: it is no line of fields.
//
//	printf 'a:b:c:d\n' | cut -d: -f3,1         a:c
//	printf 'a:b:c:d\n' | cut -d: -f2-          b:c:d
//	printf 'a:b:c:d\n' | cut -d: --complement -f2   a:c:d
//	printf 'abcdef\n' | cut -c-2,5             abe
//	printf 'a:b\nx\n' | cut -d: -f2            b, and x
func cut(ctx context.Context, p *Process) int {
	f := newFlags(p, "OPTION... [FILE]...")
	byteList := f.StringArrayP("bytes", "b", nil, "select only these bytes")
	charList := f.StringArrayP("characters", "c", nil, "select only these characters, which are bytes as in GNU's cut")
	delimiter := f.StringP("delimiter", "d", "\t", "use DELIM instead of TAB for field delimiter")
	fieldList := f.StringArrayP("fields", "f", nil, "select only these fields")
	f.BoolP("n", "n", false, "(ignored)")
	complement := f.Bool("complement", false, "complement the set of selected bytes or fields")
	only := f.BoolP("only-delimited", "s", false, "do not print lines without delimiters")
	joiner := f.String("output-delimiter", "", "use STRING as the output delimiter")
	zero := f.BoolP("zero-terminated", "z", false, "lines end with NUL, not newline")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	lists := slices.Concat(*byteList, *charList, *fieldList)
	inFields := len(*fieldList) > 0
	switch {
	case len(lists) == 0:
		return f.wrong("you must specify a list of bytes, characters, or fields")
	case len(lists) > 1:
		return f.wrong("only one list may be specified")
	case !inFields && f.Changed("delimiter"):
		return f.wrong("an input delimiter may be specified only when operating on fields")
	case !inFields && *only:
		return f.wrong("suppressing non-delimited lines makes sense\n\tonly when operating on fields")
	case len(*delimiter) > 1:
		return f.wrong("the delimiter must be a single character")
	}
	c := &cutter{only: *only, end: lineEnd(*zero), joiner: []byte(*joiner), join: f.Changed("output-delimiter")}
	if *delimiter != "" {
		c.delimiter = (*delimiter)[0]
	}
	var err error
	if c.ranges, err = parseRanges(lists[0], *complement); err != nil {
		return f.wrong("%v", err)
	}
	if inFields && !c.join {
		c.joiner = []byte{c.delimiter}
	}
	out := bufio.NewWriter(p.Stdout)
	status = p.eachLine(ctx, names, c.end, func(r *lineReader) error {
		if inFields {
			return c.fields(out, r.line)
		}
		return c.bytes(out, r.line)
	})
	return p.finish(out, status)
}

// cutter prints the parts of lines in ranges. joiner stands between parts: between
// fields it is the delimiter unless --output-delimiter is given, and between bytes only
// with it.
type cutter struct {
	ranges    []numberRange // of fields or bytes from 1, sorted, without overlaps
	delimiter byte          // between fields
	joiner    []byte        // of --output-delimiter, if join is set
	join      bool
	only      bool // -s: lines without a delimiter are left out
	end       byte // of a line: "\n", or NUL with -z
}

// numberRange is the numbers from low to high, which count from one. An open end is
// [math.MaxInt].
type numberRange struct{ low, high int }

// parseRanges reads a list such as 1,3-5,7-. The result is sorted, and no range
// overlaps another: 4-6,1,5-8 becomes 1, 4-8. Its complement is 2-3, 9-. Ranges that
// only touch stay apart, as GNU's cut prints an --output-delimiter between them.
//
// Blanks separate like commas. The complement of 1- is empty, and selects nothing. The errors
// are in GNU's words.
func parseRanges(list string, complement bool) ([]numberRange, error) {
	number := func(s string) (int, error) {
		if s == "" || digitsEnd(s, 0, len(s), 10) < len(s) {
			return 0, fmt.Errorf("invalid field value %s", quoteName(s))
		}
		n := atoi(s)
		switch n {
		case 0:
			return 0, errors.New("fields and positions are numbered from 1")
		case math.MaxInt:
			return 0, fmt.Errorf("field number %s is too large", quoteName(s))
		}
		return n, nil
	}
	var ranges []numberRange
	for _, part := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		from, to, isRange := strings.Cut(part, "-")
		r := numberRange{1, math.MaxInt}
		var err error
		if from != "" || !isRange {
			if r.low, err = number(from); err != nil {
				return nil, err
			}
		}
		switch {
		case isRange && from == "" && to == "":
			return nil, errors.New("invalid range with no endpoint: -")
		case !isRange:
			r.high = r.low
		case to != "":
			if r.high, err = number(to); err != nil {
				return nil, err
			}
		}
		if r.high < r.low {
			return nil, errors.New("invalid decreasing range")
		}
		ranges = append(ranges, r)
	}
	if len(ranges) == 0 || strings.HasPrefix(list, ",") || strings.HasSuffix(list, ",") || strings.Contains(list, ",,") {
		return nil, errors.New("fields and positions are numbered from 1")
	}
	slices.SortFunc(ranges, func(a, b numberRange) int { return cmp.Compare(a.low, b.low) })
	merged := ranges[:1]
	for _, r := range ranges[1:] {
		if last := &merged[len(merged)-1]; r.low <= last.high {
			last.high = max(last.high, r.high)
		} else {
			merged = append(merged, r)
		}
	}
	if !complement {
		return merged, nil
	}
	var others []numberRange
	next := 1
	for _, r := range merged {
		if r.low > next {
			others = append(others, numberRange{next, r.low - 1})
		}
		if next = r.high; next == math.MaxInt {
			return others, nil
		}
		next++
	}
	return append(others, numberRange{next, math.MaxInt}), nil
}

// bytes prints the bytes of a line in the ranges.
// A range that begins after the end of the line leaves no joiner. A character of several
// bytes may be cut, as with GNU's cut -c.
func (c *cutter) bytes(out *bufio.Writer, line []byte) error {
	for i, r := range c.ranges {
		if r.low > len(line) {
			break
		}
		if i > 0 {
			out.Write(c.joiner)
		}
		out.Write(line[r.low-1 : min(r.high, len(line))])
	}
	return out.WriteByte(c.end)
}

// fields prints the fields of a line in the ranges. Fields that a line lacks leave no
// delimiters behind.
//
// It stops at the last range, so that the rest of a long line is not split.
func (c *cutter) fields(out *bufio.Writer, line []byte) error {
	if bytes.IndexByte(line, c.delimiter) < 0 {
		if c.only {
			return nil
		}
		out.Write(line)
		return out.WriteByte(c.end)
	}
	ranges, printed := c.ranges, false
	for n := 1; len(ranges) > 0; n++ {
		at := bytes.IndexByte(line, c.delimiter)
		field := line
		if at >= 0 {
			field = line[:at]
		}
		// Ranges do not overlap, so the next one may begin with this field.
		if n > ranges[0].high {
			ranges = ranges[1:]
		}
		if len(ranges) > 0 && n >= ranges[0].low {
			if printed {
				out.Write(c.joiner)
			}
			out.Write(field)
			printed = true
		}
		if at < 0 {
			break
		}
		line = line[at+1:]
	}
	return out.WriteByte(c.end)
}

// paste joins the lines of files, as POSIX says. Side by side, a file that has ended
// gives empty fields; with -s, each file makes one line. The delimiters of -d are used
// in turn, and begin again with each line, or each file. Several "-" share the standard
// input, so that `seq 4 | paste - -` makes two columns.
//
//	seq 4 | paste -d, - -      seq 4 | paste -sd'+-'
//	1,2                        1+2-3+4
//	3,4
func paste(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	list := f.StringP("delimiters", "d", "\t", "reuse characters from LIST instead of TABs")
	serial := f.BoolP("serial", "s", false, "paste one file at a time instead of in parallel")
	zero := f.BoolP("zero-terminated", "z", false, "lines end with NUL, not newline")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	delimiters, err := parseDelimiters(*list)
	if err != nil {
		return p.errorf("%v", err)
	}
	if len(names) == 0 {
		names = []string{"-"}
	}
	out := bufio.NewWriter(p.Stdout)
	end := lineEnd(*zero)
	if !*serial {
		return pasteParallel(ctx, p, out, names, delimiters, end)
	}
	// One reader for all "-": a second one would lack what the first has buffered.
	stdin := newLineReader(ctx, p, p.Stdin, end)
	status = p.Inputs(ctx, names, func(in *Input) error {
		r := stdin
		if in.Name != "-" {
			r = newLineReader(ctx, p, in, end)
		}
		for n := 0; r.next(); n++ {
			if n > 0 {
				out.WriteString(delimiters[(n-1)%len(delimiters)])
			}
			if _, err := out.Write(r.line); err != nil {
				return err
			}
		}
		out.WriteByte(end)
		return r.err
	})
	return p.finish(out, status)
}

// parseDelimiters reads the list of -d. A delimiter may be empty.
// The result has at least one element, so that callers can count modulo its length.
//
//	','       ","
//	',\n'     "," and a line end
//	',\0'     "," and nothing
//	'\\'      a backslash
func parseDelimiters(list string) ([]string, error) {
	var delimiters []string
	for i := 0; i < len(list); i++ {
		if list[i] != '\\' {
			delimiters = append(delimiters, list[i:i+1])
			continue
		}
		if i++; i == len(list) {
			return nil, fmt.Errorf("delimiter list ends with an unescaped backslash: %s", list)
		}
		s := list[i : i+1]
		if s == "0" {
			s = ""
		} else if at := strings.Index("bfnrtv", s); at >= 0 {
			s = "\b\f\n\r\t\v"[at : at+1]
		}
		delimiters = append(delimiters, s)
	}
	if len(delimiters) == 0 {
		delimiters = []string{""}
	}
	return delimiters, nil
}

// pasteParallel opens all files, and pastes their lines side by side. [Process.Inputs]
// keeps a file open while it calls a function, so the calls are nested.
//
// A file that cannot be opened ends the program before a line is printed, with the status 1.
func pasteParallel(ctx context.Context, p *Process, out *bufio.Writer, names, delimiters []string, end byte) int {
	stdin := newLineReader(ctx, p, p.Stdin, end)
	var readers []*lineReader
	var status int
	// The files stay open together: each opens the next one.
	var open func(rest []string) int
	open = func(rest []string) int {
		if len(rest) == 0 {
			return pasteLines(p, out, names, readers, delimiters, end)
		}
		opened := false
		result := p.Inputs(ctx, rest[:1], func(in *Input) error {
			opened = true
			r := stdin
			if in.Name != "-" {
				r = newLineReader(ctx, p, in, end)
			}
			readers = append(readers, r)
			status = open(rest[1:])
			return nil
		})
		if !opened {
			return result
		}
		return status
	}
	return open(names)
}

// pasteLines writes a line of each reader side by side until all have ended. One that
// has ended before the others gives empty fields: its delimiters are written before the
// next line that comes, and at the end of the row.
//
// The first row that no reader has a line for ends it, so a row is written only if one of them
// had a line. A read error ends that reader alone.
func pasteLines(p *Process, out *bufio.Writer, names []string, readers []*lineReader, delimiters []string, end byte) int {
	status := 0
	ended := make([]bool, len(readers))
	for {
		var pending []byte // delimiters after which no line came yet
		some := false
		for i, r := range readers {
			if !ended[i] && r.next() {
				out.Write(pending)
				pending = pending[:0]
				some = true
				out.Write(r.line)
			} else if !ended[i] {
				ended[i] = true
				if r.err != nil {
					status = p.fail(names[i], r.err)
				}
			}
			if i < len(readers)-1 {
				pending = append(pending, delimiters[i%len(delimiters)]...)
			}
		}
		if !some {
			return p.finish(out, status)
		}
		out.Write(pending)
		if err := out.WriteByte(end); err != nil {
			return p.failWrite(err)
		}
	}
}
