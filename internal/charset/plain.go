package charset

import (
	"unicode"
	"unicode/utf8"
)

// PlainRune returns the character of ASCII that editors and models put in the place of a
// quotation mark, a dash or a space of Unicode, and any other character as it is. Angle
// quotes are like the others, single or double, and corner brackets are double.
func PlainRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
	case unicode.Is(unicode.Quotation_Mark, r):
		switch r {
		case '‘', '’', '‚', '‛', '‹', '›', '＇':
			return '\''
		}
		return '"'
	case unicode.Is(unicode.Pd, r), r == '−': // a minus sign is no dash for Unicode
		return '-'
	case unicode.Is(unicode.Zs, r):
		return ' '
	}
	return r
}
