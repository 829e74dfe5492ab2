package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// xxd makes a hex dump or does the reverse, as the program of Vim does. Its options are
// not GNU's: -len is -l.
//
//	xxd -p          the digits alone, 30 bytes a line
//	xxd -r -p       bytes from digits
//	xxd -i f        an array of C
//	xxd -e -g4      words of 4 bytes, as numbers of a little-endian machine
//	xxd -s -8       from 8 bytes before the end
func xxd(ctx context.Context, p *Process) int {
	x := &hexWriter{count: math.MaxInt64, columns: -1, group: -1}
	names, revert, status, ok := x.options(p)
	if !ok {
		return status
	}
	switch {
	case len(names) > 2:
		fmt.Fprintln(p.Stderr, "Usage: xxd [options] [infile [outfile]]")
		return 1
	case x.columns < 0:
		x.columns = map[string]int{"plain": 30, "bits": 6, "include": 12}[x.style]
		if x.columns == 0 {
			x.columns = 16
		}
	case x.columns == 0 && x.style == "plain":
		x.columns = maxField
	case x.columns == 0:
		x.columns = 16
	case x.columns > 256 && x.style != "plain" && x.style != "include":
		return p.errorf("invalid number of columns (max. 256).")
	}
	if x.group < 0 {
		x.group = map[string]int{"bits": 1, "little": 4}[x.style]
		if x.group == 0 {
			x.group = 2
		}
	}
	if x.group == 0 || x.group > x.columns {
		x.group = x.columns
	}
	if x.style == "little" && x.group&(x.group-1) != 0 {
		return p.errorf("number of octets per group must be a power of 2 with -e.")
	}
	out := io.WriteCloser(nopCloser{p.Stdout})
	x.out = bufio.NewWriter(out)
	opened, failed := false, 0
	status = p.Inputs(ctx, names[:min(1, len(names))], func(in *Input) error {
		opened = true
		if len(names) == 2 && names[1] != "-" { // not before there is an input
			file, err := p.Create(ctx, names[1], 0)
			if err != nil {
				failed = p.fail(names[1], err) + 2
				return ErrStop
			}
			out = file
			x.out.Reset(out)
		}
		if revert {
			return x.revert(ctx, p, in)
		}
		return x.dump(ctx, p, in)
	})
	if status = max(status, failed); !opened {
		status = 2
	}
	status = p.finish(x.out, status)
	if err := out.Close(); err != nil {
		return p.failWrite(err)
	}
	return status
}

// hexWriter is a dump of xxd.
//
// columns and group are -1 until xxd has given them the defaults of the style, and then at
// least 1. group is at most columns.
type hexWriter struct {
	out            *bufio.Writer
	style          string // "", plain, bits, little or include
	columns, group int    // -c and -g, in bytes
	upper, decimal bool   // -u and -d
	autoskip       bool   // -a: lines of zeros are "*"
	skip, count    int64  // -s and -l
	fromEnd        bool   // -s with a minus: from the end of the input
	shift          int64  // -o: is added to the offsets
	capital        bool   // -C: the name of the C variable in capitals
	name           string // of the C variable
}

// options reads the options. Most have a long form with one dash, too.
//
// xxd parses its options itself, without flags: a number may stand in the same word or in
// the next one, be negative, octal or hexadecimal, and any other text after the letter is ignored.
func (x *hexWriter) options(p *Process) (names []string, revert bool, status int, ok bool) {
	args := p.Args[1:]
	number := func(target *int64) bool {
		if len(args) == 0 {
			return false
		}
		n, err := strconv.ParseInt(strings.TrimPrefix(args[0], "+"), 0, 64)
		args = args[1:]
		*target = n
		return err == nil
	}
	for len(args) > 0 {
		arg := args[0]
		if len(arg) < 2 || arg[0] != '-' {
			names, args = append(names, arg), args[1:]
			continue
		}
		args = args[1:]
		if arg == "--" {
			return append(names, args...), revert, 0, true
		}
		option := strings.TrimPrefix(arg[1:], "-")
		long := map[string]string{"autoskip": "a", "bits": "b", "cols": "c", "decimal": "d", "capitalize": "C", "groupsize": "g", "help": "h",
			"include": "i", "len": "l", "name": "n", "offset": "o", "ps": "p", "plain": "p", "postscript": "p", "revert": "r", "seek": "s", "skip": "s", "uppercase": "u"}
		if short := long[option]; short != "" {
			option = short
		} else if len(option) > 1 && strings.Contains("cglnos", option[:1]) {
			args, option = append([]string{option[1:]}, args...), option[:1]
		} else if len(option) > 1 {
			option = option[:1]
		}
		var n int64
		good := true
		switch option {
		case "a":
			x.autoskip = true
		case "b":
			x.style = "bits"
		case "c":
			good = number(&n) && n >= 0 && n <= maxField
			x.columns = int(n)
		case "C":
			x.capital = true
		case "d":
			x.decimal = true
		case "e":
			x.style = "little"
		case "g":
			good = number(&n) && n >= 0 && n <= maxField
			x.group = int(n)
		case "i":
			x.style = "include"
		case "l":
			good = number(&x.count)
			if x.count < 0 {
				x.count = math.MaxInt64
			}
		case "n":
			if good = len(args) > 0; good {
				x.name, args = args[0], args[1:]
			}
		case "o":
			good = number(&x.shift)
		case "p":
			x.style = "plain"
		case "r":
			revert = true
		case "s":
			x.fromEnd = len(args) > 0 && strings.HasPrefix(args[0], "-")
			good = number(&x.skip)
		case "u":
			x.upper = true
		default:
			good = false
		}
		if !good {
			out, status := io.Writer(p.Stderr), 1
			if option == "h" {
				out, status = p.Stdout, 0
			}
			fmt.Fprintln(out, "Usage:\n       xxd [options] [infile [outfile]]\n    or\n       xxd -r [-s [-]offset] [-c cols] [-ps] [infile [outfile]]\n"+
				"Options: -a autoskip, -b bits, -c cols, -d decimal offsets, -e little-endian, -g group, -i C include,\n"+
				"-l len, -n name, -o offset, -p plain, -r revert, -s seek, -u upper case")
			return nil, false, status, false
		}
	}
	x.name = cmp.Or(x.name, strings.Join(names[:min(1, len(names))], ""))
	return names, revert, 0, true
}

// dump writes a dump.
//
// With -a, a run of three or more lines of zeros is its first line and "*"; a run of two is
// printed, so the second line is held back until the next one is known. The last line of
// zeros at the end of the input is always printed, to show where it ends.
func (x *hexWriter) dump(ctx context.Context, p *Process, in io.Reader) error {
	if x.fromEnd {
		data, err := readBounded(ctx, p, in)
		if err != nil {
			return err
		}
		if x.skip += int64(len(data)); x.skip < 0 {
			return fmt.Errorf("sorry, cannot seek")
		}
		in = bytes.NewReader(data)
	}
	if _, err := io.CopyN(io.Discard, in, x.skip); err != nil {
		return notEOF(err)
	}
	r := bufio.NewReaderSize(io.LimitReader(in, x.count), 32<<10)
	if x.style == "include" {
		return x.include(r)
	}
	line := make([]byte, x.columns)
	if x.style == "plain" {
		line = make([]byte, min(x.columns, 4096))
	}
	zeros, held := 0, []byte(nil)
	for offset := x.skip; ctx.Err() == nil; offset += int64(len(line)) {
		n, err := io.ReadFull(r, line)
		part := line[:n]
		switch {
		case n == 0:
		case x.style == "plain":
			if _, err := x.out.WriteString(x.hex(part)); err != nil {
				return err
			}
			if n == len(line) && x.columns == len(line) {
				x.out.WriteByte('\n')
			}
		case x.autoskip && n == len(line) && len(bytes.Trim(part, "\x00")) == 0:
			if zeros++; zeros == 1 {
				x.out.Write(x.format(offset, part))
			} else {
				held = append(held[:0], x.format(offset, part)...)
				if zeros == 3 {
					x.out.WriteString("*\n")
				}
			}
		default:
			if zeros == 2 {
				x.out.Write(held)
			}
			zeros = 0
			if _, err := x.out.Write(x.format(offset, part)); err != nil {
				return err
			}
		}
		if err != nil {
			if zeros > 1 {
				x.out.Write(held)
			}
			if x.style == "plain" && (n > 0 || x.columns != len(line) && offset > x.skip) {
				x.out.WriteByte('\n')
			}
			if err == io.ErrUnexpectedEOF {
				err = nil
			}
			return notEOF(err)
		}
	}
	return ctx.Err()
}

// hex returns b in hexadecimal digits, in upper case with -u.
func (x *hexWriter) hex(b []byte) string {
	s := hex.EncodeToString(b)
	if x.upper {
		s = strings.ToUpper(s)
	}
	return s
}

// format returns a line: the offset, the bytes in groups, and the text.
//
//	00000000: 6162 630a                                abc.
//	offset    groups of 2, filled up to 16 columns     text
//
// With -e the digits of a group are in the order of a number, so the byte i of it stands at
// the place i XOR (group-1), which is why a group must be a power of 2.
func (x *hexWriter) format(offset int64, b []byte) []byte {
	address := fmt.Sprintf("%08x: ", offset+x.shift)
	if x.decimal {
		address = fmt.Sprintf("%08d: ", offset+x.shift)
	}
	digits := 2
	if x.style == "bits" {
		digits = 8
	}
	groupWidth := digits*x.group + 1
	textAt := len(address) + (groupWidth*x.columns-1)/x.group + 1
	if x.style == "little" {
		textAt = len(address) + (groupWidth*((x.columns+x.group-1)/x.group*x.group)-1)/x.group + 1
	}
	textAt++
	line := append([]byte(address), bytes.Repeat([]byte(" "), textAt-len(address))...)
	for i, c := range b {
		at := i
		if x.style == "little" {
			at = i ^ (x.group - 1)
		}
		text := x.hex([]byte{c})
		if x.style == "bits" {
			text = fmt.Sprintf("%08b", c)
		}
		copy(line[len(address)+groupWidth*at/x.group:], text)
	}
	return append(append(line, dotted(b)...), '\n')
}

// include writes the definition of an array in C.
//
// The names are those of xxd: each character of the file's name that C does not allow is
// "_", and a digit at the beginning gets "__" before it.
func (x *hexWriter) include(r *bufio.Reader) error {
	name := strings.Map(func(c rune) rune {
		if c < 0x80 && (isAlpha(byte(c)) || isDigit(byte(c))) {
			return c
		}
		return '_'
	}, x.name)
	if name != "" && isDigit(name[0]) {
		name = "__" + name
	}
	length := "_len"
	if x.capital {
		name, length = strings.ToUpper(name), "_LEN"
	}
	named := name != "" && x.name != "-"
	if named {
		fmt.Fprintf(x.out, "unsigned char %s[] = {\n", name)
	}
	n := 0
	for ; ; n++ {
		c, err := r.ReadByte()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		switch {
		case n == 0:
			x.out.WriteString("  ")
		case n%x.columns == 0:
			x.out.WriteString(",\n  ")
		default:
			x.out.WriteString(", ")
		}
		format := "0x%02x"
		if x.upper {
			format = "0X%02X"
		}
		if _, err := fmt.Fprintf(x.out, format, c); err != nil {
			return err
		}
	}
	if n > 0 {
		x.out.WriteByte('\n')
	}
	if named {
		fmt.Fprintf(x.out, "};\nunsigned int %s%s = %d;\n", name, length, n)
	}
	return nil
}

// revert turns a dump into bytes. Offsets only fill gaps with zeros: they must not go
// back, as the output is a stream. The text after the digits does not count.
//
// A line that has no offset and colon is left out, without a message, as with Vim's xxd. A gap
// has at most maxField bytes, so that one line cannot ask for a huge output.
func (x *hexWriter) revert(ctx context.Context, p *Process, in io.Reader) error {
	r := newLineReader(ctx, p, in, '\n')
	at := int64(0)
	for r.next() {
		line := string(r.line)
		if x.style == "plain" {
			for len(line) >= 2 {
				data, err := hex.DecodeString(line[:2])
				if err != nil {
					line = line[1:]
					continue
				}
				x.out.Write(data)
				line = line[2:]
			}
			continue
		}
		address, rest, ok := strings.Cut(strings.TrimLeft(line, " \t"), ":")
		offset, err := strconv.ParseInt(address, 16, 64)
		if !ok || err != nil {
			continue
		}
		offset += x.skip
		if offset < at || offset > at+int64(maxField) {
			return fmt.Errorf("sorry, cannot seek backwards")
		}
		x.out.Write(make([]byte, offset-at))
		at = offset
		rest = strings.TrimPrefix(rest, " ")
		for n := 0; n < x.columns; n++ {
			rest = strings.TrimPrefix(rest, " ")
			if len(rest) < 2 || !byteClasses["xdigit"](rest[0]) || !byteClasses["xdigit"](rest[1]) {
				break
			}
			data, _ := hex.DecodeString(rest[:2])
			x.out.Write(data)
			at++
			rest = rest[2:]
		}
	}
	return r.err
}

// stringsProgram prints the sequences of printable characters in files, as binutils'
// strings does: ASCII of at least 4 characters, ended by anything else. -e S counts
// bytes from 0x80 on as printable.
func stringsProgram(ctx context.Context, p *Process) int {
	f := newFlags(p, "[option(s)] [file(s)]")
	f.BoolP("all", "a", false, "scan the entire file (always done)")
	f.BoolP("data", "d", false, "accepted: the entire file is scanned")
	file := f.BoolP("print-file-name", "f", false, "print the name of the file before each string")
	least := f.countP("bytes", "n", 4, "print any sequence of at least N characters")
	f.number = "bytes"
	radix := f.StringP("radix", "t", "", "print the location of the string: o, d or x")
	f.BoolP("o", "o", false, "the same as -t o")
	white := f.BoolP("include-all-whitespace", "w", false, "include all whitespace as valid string characters")
	separator := f.StringP("output-separator", "s", "\n", "the string that separates strings in the output")
	encoding := f.StringP("encoding", "e", "s", "character size: s is the only one")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if f.Changed("o") {
		*radix = "o"
	}
	verb, known := map[string]string{"": "", "o": "%7o ", "d": "%7d ", "x": "%7x "}[*radix]
	switch {
	case !known:
		return f.wrong("invalid radix %s", *radix)
	case *encoding != "s" && *encoding != "S":
		return p.errorf("-e %s is not supported", *encoding)
	case *least < 1:
		return p.errorf("minimum string length is too small: %d", *least)
	case *least > maxField:
		return p.errorf("minimum string length %d is too big", *least)
	}
	out := bufio.NewWriter(p.Stdout)
	status = p.Inputs(ctx, names, func(in *Input) error {
		if info, err := p.Stat(ctx, in.Name); in.Name != "-" && err == nil && info.IsDir() {
			return workspace.ErrIsDir
		}
		r := bufio.NewReaderSize(in, 32<<10)
		var run []byte
		printing := false
		for at := int64(0); ; at++ {
			c, err := r.ReadByte()
			good := err == nil && (c >= ' ' && c < 0x7f || c == '\t' || *white && c >= '\t' && c <= '\r' || *encoding == "S" && c >= 0x80)
			switch {
			case good && printing:
				if err := out.WriteByte(c); err != nil {
					return err
				}
			case good:
				if run = append(run, c); len(run) < *least {
					break
				}
				if printing = true; *file {
					name := in.Name
					if name == "-" {
						name = "{standard input}"
					}
					fmt.Fprintf(out, "%s: ", name)
				}
				if verb != "" {
					fmt.Fprintf(out, verb, at-int64(len(run))+1)
				}
				out.Write(run)
			default:
				if printing {
					if _, err := out.WriteString(*separator); err != nil {
						return err
					}
				}
				run, printing = run[:0], false
			}
			if err != nil {
				return notEOF(err)
			}
			if at&0xffff == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
	})
	return p.finish(out, status)
}
