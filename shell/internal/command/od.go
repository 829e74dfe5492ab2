package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// od dumps bytes in octal and other formats, as POSIX says, with GNU's -w, --endian and
// z. Lines that are equal to the one before are printed as one "*", unless -v is given.
// A number at the end that is not whole is filled with zeros.
//
//	printf 'AB\n' | od -An -tx1      41 42 0a
//	printf 'AB\n' | od -An -c        A B \n
//	printf 'AB\n' | od -An -tu2      16961 10: low bytes first
//
// The input is all files one after the other: -j and -N count over all of them, and a line,
// or a number, can begin in one file and end in the next. read cuts it into blocks of the
// width, block prints "*" for equal ones, and write prints one block in each format.
// hexdump uses read and block with a write and an end of its own.
func od(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	d := &dumper{address: "%07o", width: 16, order: binary.LittleEndian}
	radix := f.StringP("address-radix", "A", "o", "output format for file offsets: d, o, x or n")
	endian := f.String("endian", "little", "swap input bytes according the specified order: big or little")
	skip := f.StringP("skip-bytes", "j", "0", "skip BYTES input bytes first")
	limit := f.StringP("read-bytes", "N", "", "limit dump to BYTES input bytes")
	f.StringP("strings", "S", "", "not supported: use strings")
	add := func(spec string) func(string) error { return func(string) error { return d.add(spec) } }
	f.FuncP("format", "t", "select output format or formats: a, c, d, f, o, u or x, with a SIZE and z", d.add)
	for letter, spec := range map[string]string{"a": "a", "b": "o1", "c": "c", "d": "u2", "f": "fF", "i": "dI", "l": "dL", "o": "o2", "s": "d2", "x": "x2"} {
		f.BoolFuncP(letter, letter, "the same as -t "+spec, add(spec))
	}
	all := f.BoolP("output-duplicates", "v", false, "do not use * to mark line suppression")
	width := f.StringP("width", "w", "16", "output BYTES bytes per output line")
	f.Lookup("width").NoOptDefVal = "32"
	f.Bool("traditional", false, "accept arguments in the traditional form")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	switch *radix {
	case "d":
		d.address = "%07d"
	case "o":
	case "x":
		d.address = "%06x"
	case "n":
		d.address = ""
	default:
		return f.wrong("invalid output address radix %s; it must be one character from [doxn]", quoteName(*radix))
	}
	if f.Changed("strings") {
		return p.errorf("-S is not supported: use strings")
	}
	if *endian == "big" {
		d.order = binary.BigEndian
	} else if *endian != "little" {
		return f.wrong("invalid argument %s for '--endian'", quoteName(*endian))
	}
	n, err := parseOffset(*skip)
	if err != nil {
		return p.errorf("invalid -j argument %s", quoteName(*skip))
	}
	count := int64(math.MaxInt64)
	if f.Changed("read-bytes") {
		if count, err = parseOffset(*limit); err != nil {
			return p.errorf("invalid -N argument %s", quoteName(*limit))
		}
	}
	if len(d.specs) == 0 {
		d.add("o2")
	}
	w, err := strconv.Atoi(*width)
	if err != nil || w < 1 {
		return p.errorf("invalid -w argument %s", quoteName(*width))
	}
	block := 1
	for _, s := range d.specs {
		block = max(block, s.size)
	}
	d.width, d.all = w, *all
	// A line holds whole numbers of every format. All sizes are powers of two, so a
	// multiple of the largest is one of all.
	if w%block != 0 || w > maxField {
		p.errorf("warning: invalid width %d; using %d instead", w, block)
		d.width = block
	}
	d.align()
	out := bufio.NewWriter(p.Stdout)
	d.out, d.line, d.offset = out, d.write, n
	var pending []byte
	opened := false
	status = p.Inputs(ctx, names, func(in *Input) error {
		opened = true
		skipped, err := io.CopyN(io.Discard, in, n)
		if n -= skipped; err != nil {
			return notEOF(err)
		}
		pending, err = d.read(ctx, in, pending, &count)
		return err
	})
	if n > 0 {
		out.Flush()
		return p.errorf("cannot skip past end of combined input")
	}
	if opened {
		d.end(pending)
	}
	return p.finish(out, status)
}

// parseOffset reads a number that may be hexadecimal or octal, with a suffix.
//
// A letter b at the end of a hexadecimal number is a digit: 0x1b is 27, and 1b is 512. A
// hexadecimal or octal number has no suffix. A number that is negative is an error.
func parseOffset(s string) (int64, error) {
	digits := strings.ToLower(s)
	if strings.HasPrefix(digits, "0x") || len(digits) > 1 && digits[0] == '0' {
		return strconv.ParseInt(digits, 0, 64)
	}
	return parseSize(s)
}

// dumper writes blocks of bytes in several formats.
//
// The options are the fields down to specs. Errors of writing are those that out keeps;
// finish returns them.
type dumper struct {
	out     *bufio.Writer
	address string           // a format; "": none
	width   int              // bytes of a line
	order   binary.ByteOrder // of the bytes of a number
	all     bool             // equal blocks, too
	specs   []dumpSpec

	line    func(b []byte) error // writes one block, which may be short
	offset  int64                // of the next line in the input
	last    []byte               // the line before, for equal ones
	starred bool                 // "*" stands for the lines that were equal
}

// dumpSpec is one format of od: a letter, and the size of its numbers in bytes. field
// is as wide as the largest number.
type dumpSpec struct {
	verb    byte // the letter of the type: a, c, d, f, o, u or x
	size    int  // of a value, in bytes
	field   int  // columns of a field, without the blank before it
	pad     int  // blanks among all fields of a line
	trailer bool // z: the bytes as text follow
}

// dumpFields are how many columns a field of od takes, by the letter of its type and
// its size in bytes: as many as the longest value needs.
var dumpFields = map[byte]map[int]int{
	'o': {1: 3, 2: 6, 4: 11, 8: 22}, 'x': {1: 2, 2: 4, 4: 8, 8: 16}, 'd': {1: 4, 2: 6, 4: 11, 8: 20},
	'u': {1: 3, 2: 5, 4: 10, 8: 20}, 'f': {4: 15, 8: 24}, 'a': {1: 3}, 'c': {1: 3},
}

// add adds the formats of -t, such as "x1z" or "d4c".
//
// The errors are shown as those of an option (see flags.set), which names the text. A size
// that has no entry in dumpFields is one.
//
//	x1z    x of 1 byte, and the text after it
//	dS     d of 2 bytes, which is C's short
//	f      f of 8 bytes
//	d4c    two formats: d of 4 bytes, and c
func (d *dumper) add(text string) error {
	if text == "" {
		return errors.New("empty")
	}
	for text != "" {
		s := dumpSpec{verb: text[0], size: map[byte]int{'a': 1, 'c': 1, 'f': 8}[text[0]]}
		if s.size == 0 {
			s.size = 4
		}
		text = text[1:]
		if s.verb != 'a' && s.verb != 'c' && text != "" {
			sizes := map[byte]int{'C': 1, 'S': 2, 'I': 4, 'L': 8}
			if s.verb == 'f' {
				sizes = map[byte]int{'F': 4, 'D': 8}
			}
			if n := digitsEnd(text, 0, len(text), 10); n > 0 {
				s.size, text = atoi(text[:n]), text[n:]
			} else if sizes[text[0]] > 0 {
				s.size, text = sizes[text[0]], text[1:]
			}
		}
		if s.field = dumpFields[s.verb][s.size]; s.field == 0 {
			return errors.New("invalid type string")
		}
		if text != "" && text[0] == 'z' {
			s.trailer, text = true, text[1:]
		}
		d.specs = append(d.specs, s)
	}
	return nil
}

// align makes the lines of all formats equally wide: the blanks that a format lacks are
// spread over its fields.
//
// With -tx1 -tc and 16 bytes, a line of c is 16 * (1+3) = 64 columns wide and one of x1
// only 16 * (1+2) = 48. So x1 gets 64 - 16 * 2 = 32 blanks, two for each field:
//
//	41  42  0a
//	 A   B  \n
func (d *dumper) align() {
	width := 0
	for _, s := range d.specs {
		width = max(width, (s.field+1)*d.width/s.size)
	}
	for i := range d.specs {
		s := &d.specs[i]
		s.pad = width - s.field*d.width/s.size
	}
}

// read dumps whole blocks, and returns what is left over.
//
// count is how many bytes may still be read, and is reduced by those that were. pending
// comes from the file before, is shorter than the width, and is reused. With an error, what
// was read and not printed is returned, too, except after a failed write.
func (d *dumper) read(ctx context.Context, in io.Reader, pending []byte, count *int64) ([]byte, error) {
	buf := make([]byte, max(d.width, 32<<10))
	for *count > 0 {
		n, err := in.Read(buf[:min(int64(len(buf)), *count)])
		*count -= int64(n)
		pending = append(pending, buf[:n]...)
		at := 0
		for ; len(pending)-at >= d.width; at += d.width {
			if err := d.block(pending[at : at+d.width]); err != nil {
				return nil, err
			}
		}
		pending = append(pending[:0], pending[at:]...)
		if err != nil {
			return pending, notEOF(err)
		}
		if ctx.Err() != nil {
			return pending, ctx.Err()
		}
	}
	return pending, nil
}

// end dumps the last block, which may be short, and the final offset.
//
// A short block is printed even if it is equal to the beginning of the one before.
func (d *dumper) end(pending []byte) {
	if len(pending) > 0 {
		d.line(pending)
		d.offset += int64(len(pending))
	}
	if d.address != "" {
		fmt.Fprintf(d.out, d.address+"\n", d.offset)
	}
}

// block dumps a whole block. Only the first of equal ones is written.
//
// b is copied. The offset counts blocks that are not written as well.
func (d *dumper) block(b []byte) error {
	defer func() { d.offset += int64(len(b)) }()
	if !d.all && d.last != nil && bytes.Equal(d.last, b) {
		if !d.starred {
			d.out.WriteString("*\n")
		}
		d.starred = true
		return nil
	}
	d.starred = false
	d.last = append(d.last[:0], b...)
	return d.line(b)
}

// write prints a line for each type: b, which is shorter than the width at the end of
// the input only, is padded with zeros to read the last values, and what is missing is
// left blank.
//
// The blanks of align are spread by whole numbers: after field n, as many are left as
// belong to the fields after it, so that the last field ends where the line does.
func (d *dumper) write(b []byte) error {
	whole := append(bytes.Clone(b), make([]byte, d.width-len(b))...)
	for i, s := range d.specs {
		if d.address != "" {
			address := fmt.Sprintf(d.address, d.offset)
			if i > 0 {
				address = strings.Repeat(" ", len(address))
			}
			d.out.WriteString(address)
		}
		fields := d.width / s.size
		blank := (d.width - len(b)) / s.size
		left := s.pad
		for n := range fields - blank {
			next := s.pad * (fields - n - 1) / fields
			fmt.Fprintf(d.out, "%*s", left-next+s.field, d.field(s, whole[n*s.size:(n+1)*s.size]))
			left = next
		}
		if s.trailer {
			fmt.Fprintf(d.out, "%*s  >%s<", blank*s.field+s.pad*blank/fields, "", dotted(b))
		}
		if err := d.out.WriteByte('\n'); err != nil {
			return err
		}
	}
	return nil
}

// dotted is b with a dot for each byte that does not print.
func dotted(b []byte) string {
	text := bytes.Clone(b)
	for i, c := range text {
		if c < ' ' || c >= 0x7f {
			text[i] = '.'
		}
	}
	return string(text)
}

// The names that -t a and -t c have for bytes that cannot be printed.
var (
	asciiNames = strings.Fields("nul soh stx etx eot enq ack bel bs ht nl vt ff cr so si dle dc1 dc2 dc3 dc4 nak syn etb can em sub esc fs gs rs us sp")
	cEscapes   = map[byte]string{0: `\0`, '\a': `\a`, '\b': `\b`, '\t': `\t`, '\n': `\n`, '\v': `\v`, '\f': `\f`, '\r': `\r`}
)

// field is the text of one field.
//
// b has s.size bytes. The result may be narrower than s.field, and write pads it. -t a
// ignores the high bit, as POSIX says, and -t c does not.
func (d *dumper) field(s dumpSpec, b []byte) string {
	switch s.verb {
	case 'c':
		return characterField(b[0])
	case 'a':
		switch c := b[0] & 0x7f; {
		case c <= ' ':
			return asciiNames[c]
		case c == 0x7f:
			return "del"
		default:
			return string(rune(c))
		}
	}
	var n uint64
	switch s.size {
	case 1:
		n = uint64(b[0])
	case 2:
		n = uint64(d.order.Uint16(b))
	case 4:
		n = uint64(d.order.Uint32(b))
	case 8:
		n = d.order.Uint64(b)
	}
	switch s.verb {
	case 'o':
		return fmt.Sprintf("%0*o", s.field, n)
	case 'x':
		return fmt.Sprintf("%0*x", s.field, n)
	case 'u':
		return strconv.FormatUint(n, 10)
	case 'd':
		// The shift to the left and back extends the sign.
		shift := 64 - 8*s.size
		return strconv.FormatInt(int64(n<<shift)>>shift, 10)
	}
	if s.size == 4 {
		return shortFloat(float64(math.Float32frombits(uint32(n))), 32)
	}
	return shortFloat(math.Float64frombits(n), 64)
}

// characterField returns a byte as -c shows it: an escape, three octal digits, or
// itself.
func characterField(c byte) string {
	switch escape := cEscapes[c]; {
	case escape != "":
		return escape
	case c < ' ' || c >= 0x7f:
		return fmt.Sprintf("%03o", c)
	}
	return string(rune(c))
}

// shortFloat is the shortest form of %g that reads back as n.
//
// The loop begins with the digits that every number of that size keeps, 6 or 15, and ends
// at the latest with the 9 or 17 that tell any two numbers apart. Numbers below the normal
// ones have less precision, so for them it begins with 1.
func shortFloat(n float64, bits int) string {
	switch {
	case math.IsNaN(n):
		if math.Signbit(n) {
			return "-nan"
		}
		return "nan"
	case math.IsInf(n, 0):
		return strings.TrimPrefix(strings.ToLower(fmt.Sprint(n)), "+")
	}
	precision := map[int]int{32: 6, 64: 15}[bits]
	if least := map[int]float64{32: 0x1p-126, 64: 0x1p-1022}[bits]; math.Abs(n) < least {
		precision = 1
	}
	for ; ; precision++ {
		text := directive{precision: precision}.float(extended{Float: new(big.Float).SetFloat64(n)}, 'g')
		back, _ := strconv.ParseFloat(text, bits)
		if back == n || precision > 17 {
			return text
		}
	}
}

// hexdump dumps bytes as util-linux's does, in one of its fixed forms: the default of
// two bytes, low one first, or that of -b, -c, -C, -d, -o, -x. Formats of -e are
// refused.
//
// Skipping more than the input has is no error, unlike with od: only the length is printed.
func hexdump(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	h := &hexDumper{style: hexStyles["default"]}
	use := func(name string) func(string) error {
		return func(string) error {
			h.style = hexStyles[name]
			return nil
		}
	}
	f.BoolFuncP("one-byte-octal", "b", "one-byte octal display", use("b"))
	f.BoolFuncP("one-byte-char", "c", "one-byte character display", use("c"))
	f.BoolFuncP("canonical", "C", "canonical hex+ASCII display", use("C"))
	f.BoolFuncP("two-bytes-decimal", "d", "two-byte decimal display", use("d"))
	f.BoolFuncP("two-bytes-octal", "o", "two-byte octal display", use("o"))
	f.BoolFuncP("two-bytes-hex", "x", "two-byte hexadecimal display", use("x"))
	f.StringP("format", "e", "", "not supported: use od -t or xxd")
	f.StringP("format-file", "f", "", "not supported: use od -t or xxd")
	limit := f.StringP("length", "n", "", "interpret only LENGTH bytes of input")
	skip := f.StringP("skip", "s", "0", "skip OFFSET bytes from the beginning")
	all := f.BoolP("no-squeezing", "v", false, "output identical lines")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if f.Changed("format") || f.Changed("format-file") {
		return p.errorf("formats are not supported: use od -t or xxd")
	}
	n, err := parseOffset(*skip)
	count := int64(math.MaxInt64)
	if err == nil && f.Changed("length") {
		count, err = parseOffset(*limit)
	}
	if err != nil {
		return p.errorf("failed to parse length or offset")
	}
	if count == 0 {
		return 0
	}
	out := bufio.NewWriter(p.Stdout)
	h.dumper = dumper{out: out, width: 16, all: *all, offset: n}
	// The methods of dumper would otherwise call dumper.write.
	h.line = h.write
	opened := false
	var pending []byte
	status = p.Inputs(ctx, names, func(in *Input) error {
		opened = true
		skipped, err := io.CopyN(io.Discard, in, n)
		if n -= skipped; err != nil {
			return notEOF(err)
		}
		pending, err = h.read(ctx, in, pending, &count)
		return err
	})
	h.offset -= n
	if opened {
		h.end(pending)
	}
	return p.finish(out, status)
}

// hexStyle is one of the formats of hexdump.
//
// Units of two bytes are read with the low byte first, whatever the machine is.
type hexStyle struct {
	address string // the format of the offset
	size    int    // bytes of a unit
	unit    string // the format of a unit, with the blanks before it
	text    bool   // the bytes as text follow
}

// hexStyles are the options of hexdump that choose a style, with "default" for none of
// them.
var hexStyles = map[string]hexStyle{
	"default": {"%07x", 2, " %04x", false},
	"b":       {"%07x", 1, " %03o", false},
	"c":       {"%07x", 1, " %3s", false},
	"C":       {"%08x", 1, " %02x", true},
	"d":       {"%07x", 2, "   %05d", false},
	"o":       {"%07x", 2, "  %06o", false},
	"x":       {"%07x", 2, "    %04x", false},
}

// hexDumper prints as hexdump does. It differs from od in its columns, and in the line
// with the length at the end.
//
//	00000000  41 42 0a 43 44 45 46 47  48 49 4a                 |AB.CDEFGHIJ|
//	0000000b
type hexDumper struct {
	dumper
	style hexStyle
}

// write prints one line for b. Where b is short the columns are left blank, so that the
// text stands below the text of the other lines.
//
// A unit of two bytes with one byte left has zero for the other.
func (h *hexDumper) write(b []byte) error {
	fmt.Fprintf(h.out, h.style.address, h.offset)
	if h.style.text {
		h.out.WriteByte(' ')
	}
	columns := 0
	for i := 0; i < h.width; i += h.style.size {
		if h.style.text && i == 8 {
			h.out.WriteByte(' ')
		}
		unit := ""
		switch {
		case i >= len(b):
			unit = strings.Repeat(" ", columns)
		case h.style.size == 2:
			n := int(b[i])
			if i+1 < len(b) {
				n |= int(b[i+1]) << 8
			}
			unit = fmt.Sprintf(h.style.unit, n)
		case strings.HasSuffix(h.style.unit, "s"):
			unit = fmt.Sprintf(h.style.unit, characterField(b[i]))
		default:
			unit = fmt.Sprintf(h.style.unit, b[i])
		}
		columns = len(unit)
		h.out.WriteString(unit)
	}
	if h.style.text {
		fmt.Fprintf(h.out, "  |%s|", dotted(b))
	}
	return h.out.WriteByte('\n')
}

// end prints what is left of the input, and the length of all of it as a last address.
// An empty input prints nothing.
func (h *hexDumper) end(pending []byte) {
	if len(pending) > 0 {
		h.write(pending)
		h.offset += int64(len(pending))
	}
	if h.offset > 0 {
		fmt.Fprintf(h.out, h.style.address+"\n", h.offset)
	}
}
