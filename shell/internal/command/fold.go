package command

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// fold breaks lines that are too long, as POSIX says: at -w columns, with -s after the
// last blank that fits. A tab goes to the next multiple of 8, a backspace back, and a
// carriage return to column 0; with -b each is one byte. Characters of UTF-8 count by
// their bytes, as in GNU's fold.
//
//	fold -w 6       "abc defg" becomes "abc de", "fg"
//	fold -s -w 6    "abc defg" becomes "abc ", "defg"
func fold(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	inBytes := f.BoolP("bytes", "b", false, "count bytes rather than columns")
	spaces := f.BoolP("spaces", "s", false, "break at spaces")
	width := f.countP("width", "w", 80, "use WIDTH columns instead of 80")
	f.number = "width"
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if *width == 0 {
		return p.errorf("invalid number of columns: '0'")
	}
	out := bufio.NewWriter(p.Stdout)
	advance := func(column int, c byte) int {
		switch {
		case *inBytes:
			return column + 1
		case c == '\b':
			return max(0, column-1)
		case c == '\r':
			return 0
		case c == '\t':
			return column + 8 - column%8
		}
		return column + 1
	}
	status = p.eachLine(ctx, names, '\n', func(r *lineReader) error {
		var line []byte
		column := 0
		for _, c := range r.line {
			for {
				next := advance(column, c)
				// A tab may be wider than a line: it stands alone.
				if next <= *width || len(line) == 0 {
					column = next
					line = append(line, c)
					break
				}
				cut := len(line)
				if *spaces {
					if blank := bytes.LastIndexAny(line, " \t"); blank >= 0 {
						cut = blank + 1
					}
				}
				out.Write(line[:cut])
				out.WriteByte('\n')
				line = append(line[:0], line[cut:]...)
				column = 0
				// What goes to the next line is measured again, as tabs in it may become wider.
				for _, c := range line {
					column = advance(column, c)
				}
			}
		}
		out.Write(line)
		if r.terminated {
			return out.WriteByte('\n')
		}
		return nil
	})
	return p.finish(out, status)
}

// tabStops are the columns of tabs.
//
// size is set, and nothing else counts, or list is not empty. parseTabs makes no other.
//
//	-t 4         size 4
//	-t 3,7       list 3, 7: after that, a tab is a space
//	-t 3,7,/8    list 3, 7, extend 8: 3, 7, 8, 16, 24
//	-t 3,7,+8    list 3, 7, repeat 8: 3, 7, 15, 23
type tabStops struct {
	size   int   // if all are as far apart
	list   []int // otherwise: these, and then
	extend int   // multiples of this ("/8"), or
	repeat int   // steps of this after the last ("+8")
}

// parseTabs reads the value of -t: one number, or a list that may end with /N or +N. Several
// -t are one list. No specs at all are 8 columns. The errors are in GNU's words.
func parseTabs(specs []string) (*tabStops, error) {
	t := &tabStops{}
	for _, spec := range specs {
		for _, word := range strings.FieldsFunc(spec, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
			target := (*int)(nil)
			switch word[0] {
			case '/':
				target, word = &t.extend, word[1:]
			case '+':
				target, word = &t.repeat, word[1:]
			}
			n, err := strconv.Atoi(word)
			switch {
			case err != nil || n < 0:
				return nil, fmt.Errorf("tab size contains invalid character(s): %s", quoteName(word))
			case target != nil:
				if *target != 0 {
					return nil, errors.New("'/' specifier only allowed with the last value")
				}
				*target = n
				continue
			case t.extend+t.repeat > 0:
				return nil, errors.New("'/' specifier only allowed with the last value")
			case n == 0:
				return nil, errors.New("tab size cannot be 0")
			case len(t.list) > 0 && n <= t.list[len(t.list)-1]:
				return nil, errors.New("tab sizes must be ascending")
			}
			t.list = append(t.list, n)
		}
	}
	switch {
	case t.extend > 0 && t.repeat > 0:
		return nil, errors.New("'/' specifier is mutually exclusive with '+'")
	case len(t.list) == 0:
		if t.size = max(t.extend, t.repeat); t.size == 0 {
			t.size = 8
		}
	case len(t.list) == 1 && t.extend == 0 && t.repeat == 0:
		t.size = t.list[0]
	}
	return t, nil
}

// next is the tab stop after column. last is whether there is none.
//
// Columns count from 0, and stop is greater than column.
func (t *tabStops) next(column int) (stop int, last bool) {
	if t.size > 0 {
		return column + t.size - column%t.size, false
	}
	for _, stop := range t.list {
		if column < stop {
			return stop, false
		}
	}
	final := t.list[len(t.list)-1]
	switch {
	case t.extend > 0:
		return column + t.extend - column%t.extend, false
	case t.repeat > 0:
		return column + t.repeat - (column-final)%t.repeat, false
	}
	return column + 1, true
}

// expand turns tabs into spaces, as POSIX says, with GNU's /N and +N in the list of -t.
// A backspace takes a column back. After the last tab stop of a list, a tab is one
// space.
func expand(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	initial := f.BoolP("initial", "i", false, "do not convert tabs after non blanks")
	stops := f.StringArrayP("tabs", "t", nil, "have tabs N characters apart, or at the columns of a list")
	f.number = "tabs"
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	tabs, err := parseTabs(*stops)
	if err != nil {
		return p.errorf("%v", err)
	}
	out := bufio.NewWriter(p.Stdout)
	status = p.eachLine(ctx, names, '\n', func(r *lineReader) error {
		column, convert := 0, true
		for _, c := range r.line {
			switch {
			case !convert:
			case c == '\t':
				stop, _ := tabs.next(column)
				for column++; column < stop; column++ {
					out.WriteByte(' ')
				}
				c = ' '
			case c == '\b':
				column = max(0, column-1)
			// GNU's expand fails there, too.
			case column == math.MaxInt:
				return errors.New("input line is too long")
			default:
				column++
			}
			convert = convert && (!*initial || c == ' ' || c == '\t')
			if err := out.WriteByte(c); err != nil {
				return err
			}
		}
		if r.terminated {
			return out.WriteByte('\n')
		}
		return nil
	})
	return p.finish(out, status)
}

// unexpand turns spaces into tabs, as POSIX says: those at the beginnings of lines, or
// all with -a or -t. It is the reverse of expand for the same tab stops: what follows blanks stays
// in its column.
func unexpand(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	all := f.BoolP("all", "a", false, "convert all blanks, instead of just initial blanks")
	first := f.Bool("first-only", false, "convert only leading sequences of blanks (overrides -a)")
	stops := f.StringArrayP("tabs", "t", nil, "have tabs N characters apart, or at the columns of a list (enables -a)")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	tabs, err := parseTabs(*stops)
	if err != nil {
		return p.errorf("%v", err)
	}
	entire := (*all || f.Changed("tabs")) && !*first
	out := bufio.NewWriter(p.Stdout)
	status = p.eachLine(ctx, names, '\n', func(r *lineReader) error {
		unexpandLine(out, r.line, tabs, entire)
		if r.terminated {
			return out.WriteByte('\n')
		}
		return nil
	})
	return p.finish(out, status)
}

// unexpandLine holds blanks back until it is known whether a tab replaces them. A
// single blank right before a tab stop becomes a tab only if more blanks follow, as
// POSIX has it:
//
//	"1234567 x"   the blank ends at column 8: it stays
//	"123456  x"   two blanks end there: a tab
//	"1234567  x"  a blank before the stop, and one after it: a tab, and a blank
//
// pending are the blanks held back, and oneBefore says that the first of them ends at a tab
// stop. convert is false after the last stop of a list, and without entire after the first
// character that is no blank: all that follows is copied.
func unexpandLine(out *bufio.Writer, line []byte, tabs *tabStops, entire bool) {
	column, convert, oneBefore, previousBlank := 0, true, false, true
	var pending []byte
	flush := func() {
		if len(pending) > 1 && oneBefore {
			pending[0] = '\t'
		}
		out.Write(pending)
		pending, oneBefore = pending[:0], false
	}
	for _, c := range line {
		if !convert {
			out.WriteByte(c)
			continue
		}
		blank := c == ' ' || c == '\t'
		switch {
		case blank:
			stop, last := tabs.next(column)
			if convert = !last; !convert {
				break
			}
			if c == '\t' {
				column = stop
				if len(pending) > 0 {
					pending[0] = '\t'
				}
			} else {
				column++
				if !previousBlank || column != stop {
					oneBefore = oneBefore || column == stop
					pending = append(pending, c)
					previousBlank = true
					continue
				}
				c = '\t'
				if len(pending) > 0 {
					pending[0] = c
				} else if oneBefore {
					pending = append(pending, c)
				}
			}
			if oneBefore {
				pending = pending[:min(1, len(pending))]
			} else {
				pending = pending[:0]
			}
		case c == '\b':
			column = max(0, column-1)
		default:
			column++
		}
		if len(pending) > 0 {
			flush()
		}
		previousBlank = blank
		convert = convert && (entire || blank)
		out.WriteByte(c)
	}
	flush()
}
