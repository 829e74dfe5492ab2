package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible spells out the control characters of text, but for those of keep,
// because a terminal obeys them: a file's name could move the cursor.
func visible(text, keep string) string {
	isHostile := func(r rune) bool {
		return r == utf8.RuneError || (unicode.IsControl(r) && !strings.ContainsRune(keep, r)) || isBidi(r)
	}
	if strings.IndexFunc(text, isHostile) < 0 {
		return text
	}
	var out strings.Builder
	for i, r := range text {
		switch {
		case !isHostile(r):
			out.WriteRune(r)
		case r == utf8.RuneError || r < utf8.RuneSelf:
			fmt.Fprintf(&out, `\x%02x`, text[i])
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// isBidi reports whether r changes the direction of the text around it, which
// can make a name look like another.
func isBidi(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}
