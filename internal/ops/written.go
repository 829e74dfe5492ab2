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
// control or invisible characters (beside those that join letters), or a curly quote at an end.
func CheckWritten(text string) error {
	for _, r := range text {
		switch {
		case unicode.IsControl(r):
			return fmt.Errorf("it has the control character %U: remove it, or use single quotes if it is meant to be a backslash", r)
		case unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d':
			return fmt.Errorf("it has the character %U, which nobody sees: remove it", r)
		}
	}
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	for _, r := range []rune{first, last} {
		if strings.ContainsRune(curly, r) {
			return fmt.Errorf("the quote %c is a part of it: use \" or '", r)
		}
	}
	return nil
}

// CheckHostPath returns the error of a path of this computer that a person wrote and cannot mean.
func CheckHostPath(path string) error {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return fmt.Errorf(`%q begins with "~", which is not expanded: use "${HOME}" instead`, path)
	}
	return CheckWritten(path)
}
