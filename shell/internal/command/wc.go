package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// wc counts lines, words, characters and bytes, as POSIX says, in this order whatever
// the order of the options. A line is a line end: text after the last one is none. With
// several files, a last line has the totals.
//
// A file that cannot be opened has no line, and one that fails in the middle the counts so
// far. Files are read in pieces and may be of any size. Names of --files0-from are held in
// memory.
func wc(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	bytes := f.BoolP("bytes", "c", false, "print the byte counts")
	chars := f.BoolP("chars", "m", false, "print the character counts")
	lines := f.BoolP("lines", "l", false, "print the newline counts")
	longest := f.BoolP("max-line-length", "L", false, "print the maximum display width")
	words := f.BoolP("words", "w", false, "print the word counts")
	from := f.String("files0-from", "", "read the names of files, each ended by NUL, from FILE")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if *from != "" {
		if len(names) > 0 {
			return f.wrong("extra operand %s\nfile operands cannot be combined with --files0-from", quoteName(names[0]))
		}
		data, err := p.readAll(ctx, *from)
		if err != nil {
			return p.fail(*from, err)
		}
		if len(data) == 0 {
			return 0
		}
		names = strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
	}
	// POSIX (wc, OPTIONS): without options they are -l, -w and -c.
	if !*bytes && !*chars && !*lines && !*longest && !*words {
		*lines, *words, *bytes = true, true, true
	}
	show := func(c counts) []int64 {
		var shown []int64
		for _, column := range []struct {
			on bool
			n  int64
		}{{*lines, c.lines}, {*words, c.words}, {*chars, c.chars}, {*bytes, c.bytes}, {*longest, c.longest}} {
			if column.on {
				shown = append(shown, column.n)
			}
		}
		return shown
	}
	columns := len(show(counts{}))
	w := countWidth(ctx, p, names, columns)
	out := bufio.NewWriter(p.Stdout)
	print := func(c counts, name string) {
		for i, n := range show(c) {
			if i > 0 {
				out.WriteByte(' ')
			}
			fmt.Fprintf(out, "%*d", w, n)
		}
		if name != "" {
			out.WriteString(" " + name)
		}
		out.WriteByte('\n')
	}
	var total counts
	status = p.Inputs(ctx, names, func(in *Input) error {
		c, err := countText(ctx, in, *words || *chars || *longest)
		total.add(c)
		name := in.Name
		if len(names) == 0 {
			name = ""
		}
		print(c, name)
		return err
	})
	if len(names) > 1 {
		print(total, "total")
	}
	return p.finish(out, status)
}

// readAll reads a file, or the standard input for "-". The error is that of
// [Process.ReadFile]: more than the memory of a program is [workspace.ErrTooLarge].
func (p *Process) readAll(ctx context.Context, name string) ([]byte, error) {
	if name == "-" {
		name = "/dev/stdin"
	}
	data, _, err := p.ReadFile(ctx, name)
	return data, err
}

// countWidth is how wide the columns are, as in GNU's wc: as the sum of the sizes of
// the files, a redirected standard input included, or at least 7 where one is no regular file, as
// its size is not known. One number alone has no padding.
//
// Files of 5 and 120 bytes have columns of 3, as their sum is 125. A file that does not exist
// adds nothing; its error comes when it is read.
func countWidth(ctx context.Context, p *Process, names []string, columns int) int {
	if len(names) < 2 && columns == 1 {
		return 1
	}
	least, sum := 1, int64(0)
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		if name == "-" {
			if in, ok := p.Stdin.(interface{ FileSize() int64 }); ok {
				sum += in.FileSize()
			} else {
				least = 7
			}
			continue
		}
		info, err := p.Stat(ctx, name)
		switch {
		case err != nil:
		case info.IsDir() || info.Type != "file":
			least = 7
		default:
			sum += info.Size
		}
	}
	return max(least, len(strconv.FormatInt(sum, 10)))
}

// counts are what wc counts of one input, or of all.
type counts struct{ lines, words, chars, bytes, longest int64 }

// add adds the counts of another input. The longest line of all is not a sum.
func (c *counts) add(d counts) {
	c.lines += d.lines
	c.words += d.words
	c.chars += d.chars
	c.bytes += d.bytes
	c.longest = max(c.longest, d.longest)
}

// countText counts what in has: only lines and bytes, unless it is to decode. A word is
// a run of printable characters without white space in it; characters that cannot be
// printed neither begin nor end one. For -L, the width of a line counts tabs and wide
// characters.
//
// Bytes that are no UTF-8 count as bytes only. The counts are valid also with an error.
func countText(ctx context.Context, in io.Reader, decode bool) (c counts, err error) {
	buf := make([]byte, 64<<10)
	rest := 0 // bytes of a character that the last read cut off
	inWord := false
	column := int64(0)
	for ctx.Err() == nil {
		n, err := in.Read(buf[rest:])
		c.bytes += int64(n)
		data := buf[:rest+n]
		rest = 0
		if !decode {
			c.lines += int64(strings.Count(string(data), "\n"))
			data = nil
		}
		for len(data) > 0 {
			// The rest of the character comes with the next read.
			if !utf8.FullRune(data) && err == nil {
				break
			}
			r, size := utf8.DecodeRune(data)
			data = data[size:]
			if r == utf8.RuneError && size == 1 {
				continue
			}
			c.chars++
			switch {
			case r == '\n' || r == '\r' || r == '\f':
				if r == '\n' {
					c.lines++
				}
				c.longest, column = max(c.longest, column), 0
				inWord = false
			case r == '\t':
				column += 8 - column%8
				inWord = false
			case r == '\v' || unicode.Is(unicode.Zs, r) || r == '\u2028' || r == '\u2029' || r == '\u2060':
				if r != '\v' {
					column += int64(runeWidth(r))
				}
				inWord = false
			case unicode.IsPrint(r):
				column += int64(runeWidth(r))
				if !inWord {
					c.words++
				}
				inWord = true
			}
		}
		rest = copy(buf, data)
		if err != nil {
			c.longest = max(c.longest, column)
			return c, notEOF(err)
		}
	}
	return c, ctx.Err()
}

// runeWidth is how many columns a printable character takes: none for one that combines with
// the character before it or that controls, two for wide ones of East Asia.
func runeWidth(r rune) int {
	switch {
	case r >= 0x20 && r < 0x7f:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.IsControl(r):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
