package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
)

// cat copies files to the standard output, as POSIX says, with GNU's options to show
// what is invisible. Numbers and empty lines count on from file to file.
func cat(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	var o catOptions
	f.BoolVarP(&o.number, "number", "n", false, "number all lines")
	f.BoolVarP(&o.nonblank, "number-nonblank", "b", false, "number lines that are not empty")
	f.BoolVarP(&o.squeeze, "squeeze-blank", "s", false, "print one of several empty lines in a row")
	f.BoolVarP(&o.ends, "show-ends", "E", false, "print $ at the end of each line")
	f.BoolVarP(&o.tabs, "show-tabs", "T", false, "print tabs as ^I")
	f.BoolVarP(&o.nonprinting, "show-nonprinting", "v", false, "print control characters as ^X and M-x")
	f.BoolP("u", "u", false, "(ignored)")
	all := f.BoolP("show-all", "A", false, "the same as -vET")
	e := f.BoolP("e", "e", false, "the same as -vE")
	t := f.BoolP("t", "t", false, "the same as -vT")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	o.nonprinting = o.nonprinting || *all || *e || *t
	o.ends = o.ends || *all || *e
	o.tabs = o.tabs || *all || *t
	o.number = o.number && !o.nonblank
	if o == (catOptions{}) {
		return p.Inputs(ctx, names, func(in *Input) error {
			_, err := io.Copy(p.Stdout, in)
			return err
		})
	}
	out := bufio.NewWriter(p.Stdout)
	w := &catWriter{catOptions: o, out: out, start: true}
	status = p.Inputs(ctx, names, func(in *Input) error {
		if _, err := io.Copy(w, in); err != nil {
			return err
		}
		return out.Flush()
	})
	if w.cr {
		out.WriteByte('\r')
	}
	return p.finish(out, status)
}

// catOptions are the options of cat that change the text. Without any, files are copied in
// large pieces. show-all is the three of the last line:
//
//	number       -n   a number before each line
//	nonblank     -b   only before lines that are not empty; number is then off
//	squeeze      -s   one of several empty lines in a row
//	ends, tabs, nonprinting   -E, -T and -v
type catOptions struct{ number, nonblank, squeeze, ends, tabs, nonprinting bool }

// catWriter changes text on its way. Its state goes over the ends of files, so that the second
// file goes on in the middle of a line if the first has no line end. It writes a byte at a
// time into out. With -A:
//
//	a<TAB>b<CR><LF>    a^Ib^M$
//	é                  M-CM-)$
type catWriter struct {
	catOptions
	out   *bufio.Writer
	lines int
	start bool // the next byte begins a line
	cr    bool // the last byte was a carriage return, which is not written yet
	blank int  // how many empty lines there were before it
}

// Write implements [io.Writer]. It handles all of b, and flushes out, so that a reader sees a
// line as soon as it is there.
func (w *catWriter) Write(b []byte) (int, error) {
	for _, c := range b {
		if w.cr {
			w.cr = false
			if c == '\n' {
				w.out.WriteString("^M")
			} else {
				w.out.WriteByte('\r')
			}
		}
		if w.start && c == '\n' {
			if w.blank++; w.squeeze && w.blank > 1 {
				continue
			}
		}
		if w.start && (w.number || w.nonblank && c != '\n') {
			w.lines++
			fmt.Fprintf(w.out, "%6d\t", w.lines)
		}
		if c != '\n' {
			w.blank = 0
		}
		w.start = c == '\n'
		w.char(c)
	}
	return len(b), w.out.Flush()
}

// char prints one byte. With -v, 0x01 is ^A, 0x7f is ^?, and 0x80 or more M- and the
// byte without the highest bit; a tab and a line end stay. A carriage return waits for
// the next byte, as -E prints "^M$" for the line ends of Windows.
func (w *catWriter) char(c byte) {
	switch {
	case c == '\r' && w.ends && !w.nonprinting:
		w.cr = true
		return
	case c == '\n':
		if w.ends {
			w.out.WriteByte('$')
		}
	case c == '\t':
		if w.tabs {
			w.out.WriteString("^I")
			return
		}
	case w.nonprinting:
		if c >= 0x80 {
			w.out.WriteString("M-")
			c -= 0x80
		}
		if c < ' ' || c == 0x7f {
			w.out.WriteByte('^')
			c ^= 0x40
		}
	}
	w.out.WriteByte(c)
}
