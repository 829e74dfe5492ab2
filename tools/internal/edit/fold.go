package edit

import (
	"unicode"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/charset"
)

// folding is a set of differences between two texts to look past.
type folding int

const (
	foldSpace folding = 1 << iota // white space, line ends too
	foldCase                      // letter case
	foldType                      // typographic quotes, dashes and spaces
	foldAll   = foldSpace | foldCase | foldType
)

// appendFolded appends text to dst without the differences in how.
func appendFolded(dst, text []byte, how folding) []byte {
	for len(text) > 0 {
		r, size := rune(text[0]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text)
		}
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, text[0])
		} else if r, keep := foldRune(r, how); keep {
			dst = utf8.AppendRune(dst, r)
		}
		text = text[size:]
	}
	return dst
}

// foldRune returns r as it is compared, and whether it counts at all.
func foldRune(r rune, how folding) (_ rune, keep bool) {
	if how&foldSpace != 0 && unicode.IsSpace(r) {
		return 0, false
	}
	if how&foldType != 0 {
		r = charset.PlainRune(r)
	}
	if how&foldCase != 0 {
		r = unicode.ToLower(r)
	}
	return r, true
}
