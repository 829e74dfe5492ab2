package awk

import (
	"math"
	"strconv"
	"strings"
)

// value is a string, a number, or both. Comparisons depend on where it comes from
// (POSIX, "Expressions in awk"): what comes from outside is text, and is compared as a
// number if it looks like one; a constant is what it is.
//
//	left       right      compared as
//	10         9          numbers: 10 > 9
//	"10"       9          strings: "10" < "9"
//	$1 (10)    9          numbers, as the field looks numeric
//	$1 (10x)   9          strings
//	$1 (10)    "9"        strings, as one side is a string
//	unset      0          numbers: equal
//	unset      ""         strings: equal
//	$9 (none)  0          strings: not equal, as a missing field is empty text
//
// A variable that was never set is 0 as a number and "" as a string.
type value struct {
	s    string  // of a text
	n    float64 // of a number
	kind valueKind
}

// valueKind says which of the fields of a value count, and whether text that looks like
// a number is compared as one.
type valueKind uint8

const (
	unset   valueKind = iota
	isNum             // n
	isStr             // s
	isInput           // s, from a field, getline, an argument or a variable of the environment
)

// num returns a number.
func num(n float64) value { return value{n: n, kind: isNum} }

// str returns a text that is compared as text, whatever it looks like.
func str(s string) value { return value{s: s, kind: isStr} }

// input returns a text from outside the program: POSIX calls it a numeric string if it
// looks like a number, and compares it as a number.
func input(s string) value { return value{s: s, kind: isInput} }

// boolean returns 1 or 0.
func boolean(b bool) value {
	if b {
		return num(1)
	}
	return num(0)
}

// number returns the number that v is, or begins with.
func (v *value) number() float64 {
	switch v.kind {
	case isNum:
		return v.n
	case unset:
		return 0
	}
	return toNumber(v.s)
}

// true reports whether v counts as true in a condition. "0" in the program is true, as
// it is a string that is not empty; a field 0, 0.0 or " 0 " is false.
func (v *value) true() bool {
	switch v.kind {
	case isNum:
		return v.n != 0
	case isInput:
		if looksNumeric(v.s) {
			return toNumber(v.s) != 0
		}
	}
	return v.s != ""
}

// numeric reports whether v is compared as a number.
// A variable that was not set counts as a number, so that x == 0 holds for it.
func (v *value) numeric() bool {
	return v.kind == isNum || v.kind == unset || v.kind == isInput && looksNumeric(v.s)
}

// isBlank reports whether c is white space of C, which may stand around a number.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || '\v' <= c && c <= '\r' }

// numberPrefix returns how long the decimal number is that s begins with.
//
// It is 0 where there is none: for ".", "+" and "e5". An exponent without digits is no part
// of the number: the prefix of "1e" and of "1e+" is "1".
func numberPrefix(s string) int {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	first := i
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	digits := i - first
	if i < len(s) && s[i] == '.' {
		i++
		for first = i; i < len(s) && isDigit(s[i]); i++ {
		}
		digits += i - first
	}
	if digits == 0 {
		return 0
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if j < len(s) && isDigit(s[j]) {
			for i = j; i < len(s) && isDigit(s[i]); i++ {
			}
		}
	}
	return i
}

// special returns the number that a sign and inf or nan stand for. Without a sign,
// these are words: a name such as "nan" in a list must not become a number.
func special(s string) (float64, bool) {
	if len(s) != 4 {
		return 0, false
	}
	switch strings.ToLower(s) {
	case "+inf":
		return math.Inf(1), true
	case "-inf":
		return math.Inf(-1), true
	case "+nan":
		return math.NaN(), true
	case "-nan":
		return math.Copysign(math.NaN(), -1), true
	}
	return 0, false
}

// toNumber returns the number that s begins with, 0 if there is none: "3 apples" is 3.
// It is decimal, so that "0x11" is 0. Most numbers are short integers, which are read
// without strconv.
func toNumber(s string) float64 {
	for len(s) > 0 && isBlank(s[0]) {
		s = s[1:]
	}
	n := numberPrefix(s)
	if n == 0 {
		f, _ := special(strings.TrimRight(s, " \t\n\v\f\r"))
		return f
	}
	if n < 16 { // an integer that a float64 holds
		i, negative, whole := 0, false, 0
		if s[0] == '-' || s[0] == '+' {
			negative, i = s[0] == '-', 1
		}
		for ; i < n && isDigit(s[i]); i++ {
			whole = whole*10 + int(s[i]-'0')
		}
		if i == n && !(negative && whole == 0) {
			if negative {
				whole = -whole
			}
			return float64(whole)
		}
	}
	f, _ := strconv.ParseFloat(s[:n], 64)
	return f
}

// looksNumeric reports whether all of s is a number, with blanks around it at most.
//
// The check of the first byte is for speed: most texts begin with a letter, and "inf" and
// "nan" without a sign are words.
func looksNumeric(s string) bool {
	for len(s) > 0 && isBlank(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isBlank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	if s == "" || s[0] > '9' {
		return false
	}
	if n := numberPrefix(s); n > 0 {
		return n == len(s)
	}
	_, ok := special(s)
	return ok
}

// formatNumber returns a number as a string: an integer in full, another in format,
// which is CONVFMT, or OFMT for print. So 17 is "17" whatever CONVFMT is, and 1e6 is
// "1000000".
func formatNumber(n float64, format string) string {
	switch {
	case n == math.Trunc(n) && math.Abs(n) < 1e15:
		return strconv.FormatInt(int64(n), 10)
	case math.IsNaN(n) || math.IsInf(n, 0):
		return strange(n)
	case n == math.Trunc(n):
		return strconv.FormatFloat(n, 'f', 0, 64)
	case format == "%.6g":
		return strconv.FormatFloat(n, 'g', 6, 64)
	}
	return formatValues(format, []value{num(n)}, nil)
}

// strange returns how an infinity and what is no number are spelled: with a sign, so
// that they can be read back.
func strange(n float64) string {
	sign := "+"
	if math.Signbit(n) {
		sign = "-"
	}
	if math.IsNaN(n) {
		return sign + "nan"
	}
	return sign + "inf"
}

// cell is a variable, an element of an array, or a parameter: a value or an array.
//
// One without a value may still become either. Once array is set, it stays set, and v is not
// used.
type cell struct {
	v     value
	array *array
	// from is the variable of the caller that becomes an array when the parameter does.
	from *cell
	// seq orders the elements of an array by when they were created.
	seq int
}

// array is an associative array. Loops see its elements in the order in which they were
// created: awk leaves the order open, and a map of Go would give another one in each
// run.
type array struct {
	elements map[string]*cell
	seq      int
}

// value returns the value of an element, and an unset one where there is no element: the
// function that orders the keys of a loop may delete elements while it compares them.
func (a *array) value(key string) value {
	if c := a.elements[key]; c != nil {
		return c.v
	}
	return value{}
}
