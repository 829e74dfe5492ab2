package awk

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// formatValues is sprintf. in is nil for CONVFMT and OFMT themselves, which must not
// lead back to themselves. A directive that is not known is printed as it stands.
//
// Width, precision and what has been written are checked against MaxMemory before each
// directive, so the result can exceed it by the text of one directive only. Too few arguments end the program; too many are ignored.
func formatValues(format string, args []value, in *interp) string {
	var b strings.Builder
	next := func() value {
		if len(args) == 0 {
			fail(0, "not enough arguments to satisfy the format %q", format)
		}
		v := args[0]
		args = args[1:]
		return v
	}
	for {
		at := strings.IndexByte(format, '%')
		if at < 0 {
			b.WriteString(format)
			return b.String()
		}
		b.WriteString(format[:at])
		format = format[at:]
		n, flags, width, precision := directive(format, next)
		if n == 0 { // the format ends in a directive
			b.WriteString(format)
			return b.String()
		}
		if limit := 1 << 20; in != nil {
			limit = int(min(in.config.MaxMemory, math.MaxInt32))
			if width > limit || precision > limit || b.Len() > limit {
				fail(0, "a format with a width of %d needs too much memory", max(width, precision))
			}
		} else {
			width, precision = min(width, limit), min(precision, limit)
		}
		verb := format[n-1]
		spec := format[:n]
		format = format[n:]
		switch verb {
		case '%':
			b.WriteByte('%')
		case 'c', 's':
			v := next()
			text := v.s
			switch {
			case verb == 'c':
				text = character(v)
			case v.kind == isNum && in != nil:
				text = in.text(v)
			case v.kind == isNum:
				text = formatNumber(v.n, "%.6g")
			}
			if verb == 's' && precision >= 0 {
				text = firstCharacters(text, precision)
			}
			pad(&b, text, width, strings.Contains(flags, "-"))
		case 'd', 'i', 'o', 'x', 'X', 'u', 'e', 'E', 'f', 'F', 'g', 'G':
			v := next()
			pad(&b, numberText(verb, flags, width, precision, v.number()), width, strings.Contains(flags, "-"))
		default:
			b.WriteString(spec)
		}
	}
}

// directive reads a directive of a format: %[flags][width][.precision][size]verb. n is
// its length. "*" takes the number from the arguments, and a negative width means "-".
// Sizes such as the l of %ld mean nothing.
//
// n is 0 where the format ends within a directive, which is then printed as it stands.
// A precision of -1 means that none is given, and one of "." alone is 0.
func directive(format string, next func() value) (n int, flags string, width, precision int) {
	i := 1
	for i < len(format) && strings.IndexByte("-+ #0'", format[i]) >= 0 {
		i++
	}
	flags = format[1:i]
	count := func() int {
		if i < len(format) && format[i] == '*' {
			i++
			v := next()
			return int(max(min(v.number(), math.MaxInt32), -math.MaxInt32))
		}
		from := i
		for i < len(format) && isDigit(format[i]) {
			i++
		}
		return int(min(parseInteger(format[from:i], 10), math.MaxInt32))
	}
	if width = count(); width < 0 {
		width, flags = -width, flags+"-"
	}
	precision = -1
	if i < len(format) && format[i] == '.' {
		i++
		precision = count()
	}
	for i < len(format) && strings.IndexByte("hlLqjzt", format[i]) >= 0 {
		i++
	}
	if i == len(format) {
		return 0, "", 0, 0
	}
	return i + 1, flags, width, precision
}

// character returns what %c prints: the character with a number, or the first one of a
// text. A field that looks like a number is one: echo 65 | awk '{ printf "%c", $1 }'
// prints A.
func character(v value) string {
	if v.kind != isStr && v.numeric() && v.kind != unset {
		n := v.number()
		if n >= 0 && n <= utf8.MaxRune {
			return string(rune(n))
		}
		return string([]byte{byte(int(n))})
	}
	_, n := utf8.DecodeRuneInString(v.s)
	return v.s[:n]
}

// firstCharacters returns at most n characters.
func firstCharacters(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// pad appends text with spaces up to width, which counts characters and not bytes.
func pad(b *strings.Builder, text string, width int, left bool) {
	fill := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
	if left {
		b.WriteString(text + fill)
	} else {
		b.WriteString(fill + text)
	}
}

// numberText returns a number in the form of a directive, with zeros, but without blanks,
// up to width.
//
// POSIX wants a precision of an integer to override the flag "0": "%05.2d" of 3 is "   03".
// Hexadecimal and octal digits of a negative number are those of its 64 bits, and numbers
// that no 64 bits hold are printed as %g.
func numberText(verb byte, flags string, width, precision int, n float64) string {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return strange(n)
	}
	sign, digits := "", ""
	switch {
	case strings.Contains(flags, "+"):
		sign = "+"
	case strings.Contains(flags, " "):
		sign = " "
	}
	integer := strings.IndexByte("dioxXu", verb) >= 0
	switch {
	case integer && strings.IndexByte("oxXu", verb) >= 0 && (n < -1<<63 || n >= 1<<64):
		return numberText('g', flags, width, precision, math.Trunc(n))
	case integer:
		digits = integerText(math.Abs(math.Trunc(n)))
		if base := map[byte]int{'o': 8, 'x': 16, 'X': 16}[verb]; base > 0 {
			sign = ""
			bits := uint64(max(n, 0))
			if n < 0 {
				bits = uint64(int64(n))
			}
			digits = strconv.FormatUint(bits, base)
			if verb == 'X' {
				digits = strings.ToUpper(digits)
			}
			if strings.Contains(flags, "#") && digits != "0" {
				if sign = "0" + string(verb); base == 8 {
					sign = "0"
				}
			}
		} else if verb == 'u' {
			sign = ""
		}
		digits = strings.Repeat("0", max(0, precision-len(digits))) + digits
		if n < 0 && math.Trunc(n) != 0 && (verb == 'd' || verb == 'i') {
			sign = "-"
		}
	default:
		if precision < 0 {
			precision = 6
		}
		if verb == 'F' {
			verb = 'f'
		}
		sharp := ""
		if strings.Contains(flags, "#") {
			sharp = "#"
		}
		digits = fmt.Sprintf("%"+sharp+"."+strconv.Itoa(precision)+string(verb), math.Abs(n))
		if math.Signbit(n) {
			sign = "-"
		}
	}
	if strings.Contains(flags, "0") && !strings.Contains(flags, "-") && (!integer || precision < 0) {
		digits = strings.Repeat("0", max(0, width-len(sign)-len(digits))) + digits
	}
	return sign + digits
}

// integerText returns the integer part of n, with all digits: 2^100 has 31.
func integerText(n float64) string {
	if math.Abs(n) < 1e18 {
		return strconv.FormatInt(int64(n), 10)
	}
	i, _ := big.NewFloat(n).Int(nil)
	return i.String()
}
