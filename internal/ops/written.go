package ops

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// curly are quotes of word processors, which are a part of what stands between them.
const curly = "“”„‘’‚"

// CheckWritten returns the error of a pattern or path that cannot be what its writer sees: one with
// control or invisible characters (beside those that join others), or a curly quote at an end.
func CheckWritten(text string) error {
	for _, r := range text {
		switch {
		case unicode.IsControl(r):
			return fmt.Errorf("it has the control character %U: remove it, or use single quotes if it is meant to be a backslash", r)
		case unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) && !joins(r):
			return fmt.Errorf("it has the character %U, which nobody sees: remove it", r)
		}
	}
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	quote := strings.ContainsRune(curly, first)
	if !quote && last != '’' { // names may end in an apostrophe
		first, quote = last, strings.ContainsRune(curly, last)
	}
	if quote {
		return fmt.Errorf("the quote %c is a part of it: use \" or '", first)
	}
	return nil
}

// joins reports whether a character is one that joins others, or chooses a flag among emoji.
func joins(r rune) bool {
	return r == '\u200c' || r == '\u200d' || r >= '\U000e0020' && r <= '\U000e007f'
}

// CheckHostPath returns the error of a path of this computer that a person wrote and cannot mean.
func CheckHostPath(path string) error {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return fmt.Errorf(`%q begins with "~", which is not expanded: use "${HOME}" instead`, path)
	}
	return CheckWritten(path)
}
