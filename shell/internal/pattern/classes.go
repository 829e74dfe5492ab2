package pattern

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
)

// classes are the members of the classes of characters, as they are written inside
// "[" and "]", with the meaning that they have in GNU's programs with UTF-8.
var classes = sync.OnceValue(func() map[string]string {
	// The letters and digits that are not only ASCII.
	letters := `\p{L}\p{Nd}\p{Nl}` + ranges(unicode.Other_Alphabetic)
	return map[string]string{
		"alpha":  `\p{L}\p{Nl}` + strings.TrimPrefix(ranges(unicode.Nd), `\x{30}-\x{39}`) + ranges(unicode.Other_Alphabetic),
		"alnum":  letters,
		"word":   `_` + letters,
		"digit":  `0-9`,
		"xdigit": `0-9A-Fa-f`,
		"upper":  `\p{Lu}\p{Lt}` + ranges(unicode.Other_Uppercase),
		"lower":  `\p{Ll}` + ranges(unicode.Other_Lowercase),
		"space":  `\t-\r ` + spaces + `\x{2028}\x{2029}`,
		"blank":  `\t ` + spaces,
		"cntrl":  `\p{Cc}\x{2028}\x{2029}`,
		"punct":  "!-/:-@\\[-`{-~" + `\p{P}\p{S}\p{No}\p{Cf}\p{Co}`,
		"graph":  `!-~\x{A0}\x{2007}\x{202F}\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}`,
		"print":  ` -~\p{Zs}\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}`,
	}
})

// spaces are the spaces that are not ASCII, without those that do not break a line.
const spaces = `\x{1680}\x{2000}-\x{2006}\x{2008}-\x{200A}\x{205F}\x{3000}`

// ranges writes a table as it is written in a class. A stride of more than one
// is written as single characters.
func ranges(table *unicode.RangeTable) string {
	var b strings.Builder
	add := func(low, high, stride uint32) {
		if stride == 1 {
			fmt.Fprintf(&b, `\x{%X}-\x{%X}`, low, high)
			return
		}
		for r := low; r <= high; r += stride {
			fmt.Fprintf(&b, `\x{%X}`, r)
		}
	}
	for _, r := range table.R16 {
		add(uint32(r.Lo), uint32(r.Hi), uint32(r.Stride))
	}
	for _, r := range table.R32 {
		add(r.Lo, r.Hi, r.Stride)
	}
	return b.String()
}

// isWord reports whether r is a part of a word: a letter, a digit or "_".
func isWord(r rune) bool {
	if r < unicode.MaxASCII {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return unicode.In(r, unicode.L, unicode.Nl, unicode.Nd, unicode.Other_Alphabetic)
}
