package command

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// nl numbers lines, as POSIX says. A page has up to three sections, each begun by a
// line of delimiters, which is printed as an empty line: "\:\:\:" for the header,
// "\:\:" for the body, "\:" for the footer. By default only the lines of the body that
// are not empty have numbers, and the text before any delimiter is a body. Styles with
// expressions (-b pRE) are refused.
//
// A line without a number begins with as many blanks as a number and its separator take:
//
//	nl -s' '     nl -ba -v10 -i5 -nln -s') '
//	     1 a     10    ) a
//	             15    )
//	     2 b     20    ) b
//
// With -l 2 and the style a, only each second empty line of a group has a number.
func nl(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	styles := map[string]*string{
		"body":   f.StringP("body-numbering", "b", "t", "number body lines by STYLE: a, t or n"),
		"footer": f.StringP("footer-numbering", "f", "n", "number footer lines by STYLE"),
		"header": f.StringP("header-numbering", "h", "n", "number header lines by STYLE"),
	}
	delimiter := f.StringP("section-delimiter", "d", `\:`, "use CC for logical page delimiters")
	increment := f.Int64P("line-increment", "i", 1, "add this much to the number from line to line")
	join := f.Int64P("join-blank-lines", "l", 1, "count this many empty lines as one")
	format := f.StringP("number-format", "n", "rn", "insert numbers according to FORMAT: ln, rn or rz")
	keep := f.BoolP("no-renumber", "p", false, "do not reset the number for each section")
	separator := f.StringP("number-separator", "s", "\t", "add STRING after the number")
	start := f.Int64P("starting-line-number", "v", 1, "the first number for each section")
	width := f.Int64P("number-width", "w", 6, "the columns for the number")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	for section, style := range styles {
		if !slices.Contains([]string{"a", "t", "n"}, *style) {
			if strings.HasPrefix(*style, "p") {
				return p.errorf("the style %s is not supported; number matches with grep -n", quoteName(*style))
			}
			return f.wrong("invalid %s numbering style: %s", section, quoteName(*style))
		}
	}
	if !slices.Contains([]string{"ln", "rn", "rz"}, *format) {
		return f.wrong("invalid line numbering format: %s", quoteName(*format))
	}
	if *width < 1 || *width > maxField {
		return p.errorf("invalid line number field width: '%d'", *width)
	}
	if *join < 1 {
		return p.errorf("invalid line number of blank lines: '%d'", *join)
	}
	// POSIX (nl, -d): the second character remains a colon.
	if len(*delimiter) == 1 {
		*delimiter += ":"
	}
	out := bufio.NewWriter(p.Stdout)
	section, number, blank := "body", *start, int64(0)
	pad := strings.Repeat(" ", int(*width)+len(*separator))
	status = p.eachLine(ctx, names, '\n', func(r *lineReader) error {
		next := ""
		if *delimiter != "" {
			switch string(r.line) {
			case strings.Repeat(*delimiter, 3):
				next = "header"
			case strings.Repeat(*delimiter, 2):
				next = "body"
			case *delimiter:
				next = "footer"
			}
		}
		// Without -p, the number begins again with each section.
		if next != "" {
			section = next
			if !*keep {
				number = *start
			}
			return out.WriteByte('\n')
		}
		numbered := false
		switch *styles[section] {
		case "t":
			numbered = len(r.line) > 0
		case "a":
			numbered = true
			if *join > 1 {
				if len(r.line) == 0 {
					blank++
				}
				if numbered = len(r.line) > 0 || blank == *join; numbered {
					blank = 0
				}
			}
		}
		if numbered {
			text := strconv.FormatInt(number, 10)
			switch *format {
			case "ln":
				fmt.Fprintf(out, "%-*s", int(*width), text)
			case "rn":
				fmt.Fprintf(out, "%*s", int(*width), text)
			default:
				out.WriteString(directive{flags: "0", width: int(*width)}.pad(text, true))
			}
			out.WriteString(*separator)
			number += *increment
		} else {
			out.WriteString(pad)
		}
		out.Write(r.line)
		return out.WriteByte('\n')
	})
	return p.finish(out, status)
}

// tac prints files with their lines in reverse, as GNU's does. A separator ends its
// record, so that the last record may have none: "a\nb" becomes "ba\n". With -b it
// begins the record. Each file is held in memory.
//
// It looks for separators from the end. end is where the record ends that comes next. The
// separator right before end belongs to that record, and the one before it, or the beginning
// of the file, is where it begins:
//
//	a\nb\nc\n     end = 6: c\n from 4; end = 4: b\n from 2; end = 2: a\n
func tac(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	before := f.BoolP("before", "b", false, "the separator is before a record, not after it")
	regex := f.BoolP("regex", "r", false, "not supported: separators are plain text")
	separator := f.StringP("separator", "s", "\n", "use STRING as the separator instead of newline")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if *regex {
		return p.errorf("-r is not supported: separators are plain text")
	}
	if *separator == "" {
		*separator = "\x00"
	}
	out := bufio.NewWriter(p.Stdout)
	status = p.Inputs(ctx, names, func(in *Input) error {
		data, err := readBounded(ctx, p, in)
		if err != nil {
			return err
		}
		for end := len(data); end > 0; {
			at := bytes.LastIndex(data[:end], []byte(*separator))
			if *before {
				at = max(at, 0)
				out.Write(data[at:end])
				end = at
				continue
			}
			if at >= 0 && at+len(*separator) == end {
				at = bytes.LastIndex(data[:at], []byte(*separator))
			}
			start := 0
			if at >= 0 {
				start = at + len(*separator)
			}
			if _, err := out.Write(data[start:end]); err != nil {
				return err
			}
			end = start
		}
		return nil
	})
	return p.finish(out, status)
}

// rev prints lines with their characters in reverse, as util-linux's does. A byte that
// is no UTF-8 counts as one. A last line without an end stays without one.
func rev(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	out := bufio.NewWriter(p.Stdout)
	status = p.eachLine(ctx, names, '\n', func(r *lineReader) error {
		for line := r.line; len(line) > 0; {
			_, size := utf8.DecodeLastRune(line)
			out.Write(line[len(line)-size:])
			line = line[:len(line)-size]
		}
		if r.terminated {
			return out.WriteByte('\n')
		}
		return nil
	})
	return p.finish(out, status)
}
