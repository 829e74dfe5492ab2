package command

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
)

// printf is bash's builtin, not the program of coreutils, as scripts get the builtin.
// It sets no variable (-v): that is for the shell.
//
// The format is used again as long as arguments are left, and a directive without an
// argument gets "" or 0:
//
//	printf '%s=%d\n' a 1 b       a=1, b=0
//	printf '%5.2f|%-5s|%05d\n' 3.14159 ab 42    " 3.14|ab   |00042"
//	printf '%d %d\n' "'A" 0x1f   65 31: the code of a character, C's integers
//	printf '%b' 'a\tb\c' x       a tab b: %b reads escapes, and \c ends all output
//	printf '%q\n' "a b"          a\ b: what bash reads back
//	printf '%(%Y)T\n' 0          1970: a time in seconds, in the form of strftime
//
// A wrong number is reported, counts up to what is wrong, and makes the status 1. %n is
// refused, and so are %a and %A.
//
// once writes the format a single time, directive one of its directives, and the methods of
// the type directive format one value. Other programs use the parts: seq, od and sort -g
// the numbers, diff the quotes, xargs the escapes.
func printf(ctx context.Context, p *Process) int {
	args := p.Args[1:]
	if len(args) == 1 && args[0] == "--help" {
		fmt.Fprintln(p.Stdout, "printf: printf [-v var] format [arguments]")
		return 2 // as bash
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	} else if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		fmt.Fprintf(p.Stderr, "printf: %s: invalid option\n", args[0][:2])
		args = nil
	}
	if len(args) == 0 {
		fmt.Fprintln(p.Stderr, "printf: usage: printf [-v var] format [arguments]")
		return 2
	}
	out := bufio.NewWriter(p.Stdout)
	f := formatter{p: p, out: out, args: args[1:]}
	for {
		before := len(f.args)
		err := f.once(args[0])
		if errors.Is(err, errStopOutput) {
			break
		}
		if err != nil {
			f.complain("%v", err)
			break
		}
		// A format that takes no arguments would be written for ever.
		if len(f.args) == 0 || len(f.args) == before || ctx.Err() != nil {
			break
		}
	}
	if err := out.Flush(); err != nil {
		return p.failWrite(err)
	}
	return f.status
}

// errStopOutput ends everything: a \c in an argument of %b.
//
// It is no failure: the status is what it was before.
var errStopOutput = errors.New("stop")

// maxField bounds a width and a precision.
//
// Without it, the few bytes of %999999999d would take a gigabyte of memory. Dates and the
// lines of od have the same bound.
const maxField = 1 << 20

// formatter writes arguments in the form that a format describes.
type formatter struct {
	p      *Process
	out    *bufio.Writer
	args   []string // that are left
	status int      // 1 once an argument was wrong
}

// complain reports a wrong argument, and goes on: the status will be 1.
//
// format gets no newline at its end. What the program has written so far is still in out,
// so the message comes first.
func (f *formatter) complain(format string, args ...any) {
	fmt.Fprintf(f.p.Stderr, "printf: "+format+"\n", args...)
	f.status = 1
}

// next returns the next argument, "" after the last one.
func (f *formatter) next() string {
	if len(f.args) == 0 {
		return ""
	}
	arg := f.args[0]
	f.args = f.args[1:]
	return arg
}

// once writes the format once.
//
// The error is errStopOutput, or that of a directive that cannot be written, which ends the
// program. Text, escapes and directives before it have been written then.
func (f *formatter) once(format string) error {
	for format != "" {
		switch format[0] {
		case '\\':
			text, n, _ := unescape(format, false)
			f.out.Write(text)
			format = format[n:]
		case '%':
			rest, err := f.directive(format[1:])
			if err != nil {
				return err
			}
			format = rest
		default:
			n := strings.IndexAny(format, "\\%")
			if n < 0 {
				n = len(format)
			}
			f.out.WriteString(format[:n])
			format = format[n:]
		}
	}
	return nil
}

// directive is what stands between % and its letter: flags, width and precision.
//
// "%-08.3f" has the flags "-0", the width 8 and the precision 3. The zero value is a
// directive with the precision 0, so that callers without one set -1.
type directive struct {
	flags     string
	width     int
	precision int // -1: none
}

// has reports whether the directive has a flag, such as '-' or '0'.
func (d directive) has(flag byte) bool { return strings.IndexByte(d.flags, flag) >= 0 }

// directive writes one directive, and returns the rest of the format. The lengths of C,
// such as the l of %ld, mean nothing.
//
// s begins after the "%". A negative width from an argument is the flag "-" and a width,
// and a negative precision is none, as C says. The order of the arguments is width,
// precision, value:
//
//	printf '%*.*f|' 8 3 3.14159    "   3.142|"
func (f *formatter) directive(s string) (rest string, err error) {
	d := directive{precision: -1}
	n := len(s) - len(strings.TrimLeft(s, "#'-+ 0"))
	d.flags, s = s[:n], s[n:]
	if d.width, s, err = f.field(s); err != nil {
		return "", err
	}
	if d.width < 0 {
		d.flags, d.width = d.flags+"-", -d.width
	}
	if strings.HasPrefix(s, ".") {
		if d.precision, s, err = f.field(s[1:]); err != nil {
			return "", err
		}
	}
	if strings.HasPrefix(s, "(") {
		if end := strings.Index(s, ")T"); end >= 0 {
			f.out.WriteString(d.pad(f.time(s[1:end]), false))
			return s[end+2:], nil
		}
	}
	s = strings.TrimLeft(s, "hjlLtz")
	if s == "" {
		return "", errors.New("`%': missing format character")
	}
	switch s[0] {
	case '%':
		if n > 0 || d.width != 0 || d.precision >= 0 {
			return "", errors.New("`%': invalid format character")
		}
		f.out.WriteByte('%')
	case 's':
		f.out.WriteString(d.pad(d.cut(f.next()), false))
	case 'c':
		c := f.next()
		f.out.WriteString(d.pad((c + "\x00")[:1], false))
	case 'b':
		text, stop := unescapeAll(f.next())
		f.out.WriteString(d.pad(d.cut(string(text)), false))
		if stop {
			return "", errStopOutput
		}
	// %q quotes and then cuts, which can leave half a quote; %Q cuts and then quotes.
	case 'q':
		f.out.WriteString(d.pad(d.cut(quoteShell(f.next())), false))
	case 'Q':
		f.out.WriteString(d.pad(quoteShell(d.cut(f.next())), false))
	case 'd', 'i':
		f.out.WriteString(d.integer(big.NewInt(f.signed(f.next())), 'd'))
	case 'u', 'o', 'x', 'X':
		f.out.WriteString(d.integer(new(big.Int).SetUint64(f.unsigned(f.next())), s[0]))
	case 'e', 'E', 'f', 'F', 'g', 'G':
		f.out.WriteString(d.float(f.float(f.next()), s[0]))
	case 'n', 'a', 'A':
		return "", fmt.Errorf("`%%%c' is not supported", s[0])
	default:
		return "", fmt.Errorf("`%c': invalid format character", s[0])
	}
	return s[1:], nil
}

// field reads a width or a precision: digits, or * for an argument.
//
// No digits are 0: "%.f" has the precision 0. More than maxField is an error, and nothing
// is written.
func (f *formatter) field(s string) (n int, rest string, err error) {
	if strings.HasPrefix(s, "*") {
		v := f.signed(f.next())
		n, rest = int(v), s[1:]
	} else {
		rest = strings.TrimLeft(s, "0123456789")
		n, err = strconv.Atoi("0" + s[:len(s)-len(rest)])
	}
	if err != nil || n > maxField || n < -maxField {
		return 0, "", fmt.Errorf("a width or a precision is too large; at most %d", maxField)
	}
	return n, rest, nil
}

// time is the time of an argument (seconds since 1970, -1 or none for now).
//
// bash has -2 for the start of the shell; here every negative number is now. An empty
// format is %X.
func (f *formatter) time(format string) string {
	t := f.p.Now()
	if len(f.args) > 0 {
		if n := f.signed(f.next()); n >= 0 {
			if n > 1<<55 { // the year is none
				n = 0
			}
			t = time.Unix(n, 0)
		}
	}
	if format == "" {
		format = "%X"
	}
	return formatTime(t.In(f.p.location()), format)
}

// pad pads a string with blanks to the width; a number may ask for zeros, which come
// after its sign and its 0x. The width counts bytes, as in bash.
//
// The flag "-" wins over zeros, as in C.
func (d directive) pad(s string, zeros bool) string {
	n := d.width - len(s)
	switch {
	case n <= 0:
		return s
	case d.has('-'):
		return s + strings.Repeat(" ", n)
	case zeros:
		sign := len(s) - len(strings.TrimLeft(s, "+- "))
		if x := strings.ToLower(s[sign:]); strings.HasPrefix(x, "0x") {
			sign += 2
		}
		return s[:sign] + strings.Repeat("0", n) + s[sign:]
	}
	return strings.Repeat(" ", n) + s
}

// cut applies a precision to a string.
//
// It counts bytes, and may cut a character in two.
func (d directive) cut(s string) string {
	if d.precision >= 0 && d.precision < len(s) {
		return s[:d.precision]
	}
	return s
}

// sign is what stands before a number that is not negative.
func (d directive) sign() string {
	switch {
	case d.has('+'):
		return "+"
	case d.has(' '):
		return " "
	}
	return ""
}

// integer formats an integer as C does. A precision is the least number of digits, and
// turns off the flag 0. With the precision 0, the number 0 has no digits at all.
//
// verb is one of d, u, o, x and X. For -42, 42, 255 and 8:
//
//	%5d "  -42"    %05d "-0042"    %.5d "-00042"    %+d "+42"    %#x "0xff"    %#o "010"
func (d directive) integer(n *big.Int, verb byte) string {
	base := map[byte]int{'d': 10, 'u': 10, 'o': 8, 'x': 16, 'X': 16}[verb]
	digits := new(big.Int).Abs(n).Text(base)
	if d.precision == 0 && n.Sign() == 0 {
		digits = ""
	}
	if len(digits) < d.precision {
		digits = strings.Repeat("0", d.precision-len(digits)) + digits
	}
	prefix := ""
	switch {
	case n.Sign() < 0:
		prefix = "-"
	case verb == 'd':
		prefix = d.sign()
	case verb == 'o' && d.has('#') && !strings.HasPrefix(digits, "0"):
		prefix = "0"
	case base == 16 && d.has('#') && n.Sign() != 0:
		prefix = "0x"
	}
	s := d.pad(prefix+digits, d.has('0') && d.precision < 0)
	if verb == 'X' {
		s = strings.ToUpper(s)
	}
	return s
}

// extended is a number as C's long double has it on most machines: a mantissa of 64
// bits, or not a number. Coreutils and bash compute with it, so that seq 0 .1 1 ends
// with 1.0.
type extended struct {
	*big.Float
	nan bool
}

// float formats a number as C does. Its verb is one of e, f and g, in either case.
//
// A missing precision is 6. Infinity and NaN are not padded with zeros. big.Float formats
// exactly, so that %.30f prints the digits that the number has, and no others.
func (d directive) float(n extended, verb byte) string {
	precision := d.precision
	if precision < 0 {
		precision = 6
	}
	var s string
	lower := verb | 0x20
	switch {
	case n.nan:
		s = "nan"
	case n.IsInf():
		s = "inf"
	case lower == 'g':
		s = d.shortest(n, precision)
	default:
		s = new(big.Float).Abs(n.Float).Text(lower, precision)
		if precision == 0 && d.has('#') {
			mantissa, exponent, e := strings.Cut(s, "e")
			s = mantissa + "."
			if e {
				s += "e" + exponent
			}
		}
	}
	if n.Signbit() {
		s = "-" + s
	} else {
		s = d.sign() + s
	}
	s = d.pad(s, d.has('0') && !n.nan && !n.IsInf())
	if verb != lower {
		s = strings.ToUpper(s)
	}
	return s
}

// shortest is the form of %g: with an exponent if that is below -4 or not
// below the precision, and without trailing zeros.
//
// With the precision 6:
//
//	100000     100000         0.0001     0.0001
//	1000000    1e+06          0.00001    1e-05
//
// The exponent is taken from the rounded number: 999999.5 is 1e+06. The flag # keeps the
// zeros.
func (d directive) shortest(n extended, precision int) string {
	precision = max(precision, 1)
	abs := new(big.Float).Abs(n.Float)
	s := abs.Text('e', precision-1)
	mantissa, exponent, _ := strings.Cut(s, "e")
	e, _ := strconv.Atoi(exponent)
	if e >= -4 && e < precision {
		mantissa, exponent = abs.Text('f', precision-1-e), ""
	} else {
		exponent = "e" + exponent
	}
	switch {
	case d.has('#') && !strings.Contains(mantissa, "."):
		mantissa += "."
	case !d.has('#') && strings.Contains(mantissa, "."):
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	return mantissa + exponent
}

// How much of an argument is a number, as strtoll and strtold of C read it. What
// follows is an error that printf reports, after it has printed the number.
var (
	integerPrefix = lazyregexp.New(`^[ \t-\r]*([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[0-9]+)`)
	floatPrefix   = lazyregexp.New(`^[ \t-\r]*([+-]?)(0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:inf(?:inity)?|nan(?:\([0-9a-z_]*\))?))`)
)

// number reads an integer as C's strtol does, in base 10, 8 or 16 by its prefix: what
// cannot be read is zero, and what follows is an error. 010 is 8, and 08 is 0 with an
// error.
//
// "" is zero without a message, as an argument that is missing. The result is never nil,
// and has no bound; signed and unsigned cut it.
func (f *formatter) number(s string) *big.Int {
	if code, ok := characterCode(s); ok {
		return big.NewInt(code)
	}
	n := new(big.Int)
	m := integerPrefix().FindStringSubmatch(s)
	if m == nil {
		if s != "" {
			f.complain("%s: invalid number", s)
		}
		return n
	}
	digits := m[2]
	switch {
	case len(digits) > 1 && (digits[1] == 'x' || digits[1] == 'X'):
		n.SetString(digits[2:], 16)
	case len(digits) > 1000: // far out of range; conversion costs more than linear time
		n.Lsh(big.NewInt(1), 100)
	case digits[0] == '0':
		n.SetString(digits, 8)
	default:
		n.SetString(digits, 10)
	}
	if m[1] == "-" {
		n.Neg(n)
	}
	if len(m[0]) < len(s) {
		kind := "number"
		if digits[0] == '0' && len(digits) > 1 || digits == "0" && strings.ContainsAny(s[len(m[0]):len(m[0])+1], "89") {
			kind = "octal number"
		}
		f.complain("%s: invalid %s", s, kind)
	}
	return n
}

// characterCode is the number of a character after a quote: 65 for "'A". The quote is
// not closed.
//
// A quote alone is 0, and a byte that is no UTF-8 is its own number. What comes after the
// character is ignored.
func characterCode(s string) (code int64, ok bool) {
	if s == "" || s[0] != '\'' && s[0] != '"' {
		return 0, false
	}
	r, size := utf8.DecodeRuneInString(s[1:])
	if r == utf8.RuneError && size == 1 {
		return int64(s[1]), true
	}
	if size == 0 {
		return 0, true
	}
	return int64(r), true
}

// outOfRange warns: the status stays as it is.
func (f *formatter) outOfRange(s string) {
	fmt.Fprintf(f.p.Stderr, "printf: warning: %s: Numerical result out of range\n", s)
}

// signed reads an integer of 64 bits. One that is too large becomes the nearest.
func (f *formatter) signed(s string) int64 {
	n := f.number(s)
	if n.IsInt64() {
		return n.Int64()
	}
	f.outOfRange(s)
	if n.Sign() < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

// unsigned reads a negative number as C does: modulo 2^64.
func (f *formatter) unsigned(s string) uint64 {
	n := f.number(s)
	switch {
	case n.IsUint64():
		return n.Uint64()
	case n.IsInt64():
		return uint64(n.Int64())
	}
	f.outOfRange(s)
	return math.MaxUint64
}

// float reads a number with a fraction, an exponent, "inf" or "nan".
func (f *formatter) float(s string) extended {
	if code, ok := characterCode(s); ok {
		return extended{Float: big.NewFloat(float64(code))}
	}
	n, rest, ok := parseExtended(s)
	if !ok && s != "" || rest != "" {
		f.complain("%s: invalid number", s)
	}
	return n
}

// parseExtended reads the number that s begins with, as C's strtold does. Exponents
// beyond those of a long double are decided without computing the number, which could
// take very long.
//
// rest is what follows the number, for programs that allow a suffix. Without a number, ok
// is false, n is zero and rest is s. Blanks before the number are skipped.
func parseExtended(s string) (n extended, rest string, ok bool) {
	n.Float = new(big.Float).SetPrec(64)
	m := floatPrefix().FindStringSubmatch(s)
	if m == nil {
		return n, s, false
	}
	text := strings.ToLower(m[2])
	hex := strings.HasPrefix(text, "0x")
	mantissa, exponent := text, 0
	if at := strings.LastIndexAny(text, "ep"); at >= 0 && (!hex || text[at] == 'p') {
		mantissa = text[:at]
		exponent, _ = strconv.Atoi(text[at+1:])
	}
	switch {
	case text[0] == 'i':
		n.SetInf(false)
	case text[0] == 'n':
		n.nan = true
	// It is zero, which n is already.
	case exponent < -20000 || !strings.ContainsAny(strings.TrimPrefix(mantissa, "0x"), "123456789abcdef"):
	case exponent > 20000 || len(text) > 10000:
		n.SetInf(false)
	default:
		if _, _, err := n.Parse(text, 0); err != nil {
			return n, s, false
		}
		if n.MantExp(nil) > 16384 {
			n.SetInf(false)
		}
	}
	if m[1] == "-" {
		n.Neg(n.Float)
	}
	return n, s[len(m[0]):], true
}

// unescape reads the escape sequence that s begins with. In an argument of %b, and of
// echo -e, an octal number begins with 0 (\0101), and \c stops; in a format it is \101.
// A sequence that is not known stays as it is, with its backslash.
//
// n is how many bytes of s it has read, at least one. An octal number has at most three
// digits, and of a larger one than 377 the low eight bits count; \x has at most two digits,
// \u four and \U eight. A code that is no character is U+FFFD:
//
//	\x41g      "A", 4 bytes of s
//	\x         "\x", as no digit follows
//	\u20ac     the euro sign, in three bytes
func unescape(s string, argument bool) (text []byte, n int, stop bool) {
	if len(s) < 2 {
		return []byte(s), len(s), false
	}
	if at := strings.IndexByte(`abeEfnrtv\`, s[1]); at >= 0 {
		return []byte{"\a\b\x1b\x1b\f\n\r\t\v\\"[at]}, 2, false
	}
	c := s[1]
	switch {
	case !argument && (c == '\'' || c == '"' || c == '?'):
		return []byte{c}, 2, false
	case argument && c == 'c':
		return nil, 2, true
	case c >= '0' && c <= '7':
		start := 1
		if argument && c == '0' {
			start = 2
		}
		end := digitsEnd(s, start, 3, 8)
		v, _ := strconv.ParseUint("0"+s[start:end], 8, 32)
		return []byte{byte(v)}, end, false
	case c == 'x' || c == 'u' || c == 'U':
		end := digitsEnd(s, 2, map[byte]int{'x': 2, 'u': 4, 'U': 8}[c], 16)
		if end == 2 {
			break
		}
		v, _ := strconv.ParseUint(s[2:end], 16, 32)
		if c == 'x' {
			return []byte{byte(v)}, end, false
		}
		return utf8.AppendRune(nil, rune(v)), end, false
	}
	return []byte(s[:2]), 2, false
}

// digitsEnd is where digits that begin at start end, at most limit of them.
//
// It returns start if there is none.
func digitsEnd(s string, start, limit, base int) int {
	end := start
	for end < len(s) && end < start+limit {
		if _, err := strconv.ParseUint(s[end:end+1], base, 8); err != nil {
			break
		}
		end++
	}
	return end
}

// unescapeAll reads all escapes of an argument of %b. stop is whether there is a \c.
//
// text is then what comes before the \c.
func unescapeAll(s string) (text []byte, stop bool) {
	var b bytes.Buffer
	for s != "" {
		if s[0] != '\\' {
			n := strings.IndexByte(s, '\\')
			if n < 0 {
				n = len(s)
			}
			b.WriteString(s[:n])
			s = s[n:]
			continue
		}
		part, n, stop := unescape(s, true)
		b.Write(part)
		if stop {
			return b.Bytes(), true
		}
		s = s[n:]
	}
	return b.Bytes(), false
}

// quoteShell quotes s so that bash reads it back: special characters get a backslash,
// and text with control characters the form $'...'. A tilde is special at the
// beginning, and after ":" and "=", where bash expands it.
//
//	a b                  a\ b
//	x=~/y                x=\~/y
//	nothing              ''
//	a, a line feed, b    $'a\nb'
func quoteShell(s string) string {
	if s == "" {
		return "''"
	}
	var b strings.Builder
	for i, r := range s {
		if !unicode.IsPrint(r) || r == utf8.RuneError && !strings.HasPrefix(s[i:], string(r)) {
			return quoteANSI(s)
		}
		special := strings.ContainsRune(" '\"\\|&;()<>!{}*[]?^$`,", r) || i == 0 && (r == '#' || r == '~') ||
			r == '~' && (s[i-1] == ':' || s[i-1] == '=')
		if special {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// quoteANSI quotes s in the form $'...'.
//
// Octal numbers have three digits, so that a digit after one is not read as a part of it.
// Bytes that are no UTF-8 are written one by one.
func quoteANSI(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if at := strings.IndexRune("\a\b\x1b\f\n\r\t\v\\'", r); at >= 0 {
			b.WriteByte('\\')
			b.WriteByte("abEfnrtv\\'"[at])
		} else if r == utf8.RuneError && size == 1 || !unicode.IsPrint(r) {
			for _, c := range []byte(s[i : i+size]) {
				fmt.Fprintf(&b, "\\%03o", c)
			}
		} else {
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	b.WriteByte('\'')
	return b.String()
}
