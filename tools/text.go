package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// clip cuts text to at most limit characters, the last of them an ellipsis
// that says so.
func clip(text string, limit int) string {
	if len(text) <= limit || utf8.RuneCountInString(text) <= limit {
		return text
	}
	return text[:runeOffset(text, limit-1)] + "…"
}

// runeOffset returns the offset of rune number n, or the length of text if it
// has no more than n.
func runeOffset(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// clipLine cuts a line to at most limit characters and a mark that says how
// many were left out. The line end stays.
func clipLine(line string, limit int) (_ string, cut bool) {
	if len(line) <= limit {
		return line, false
	}
	body := strings.TrimRight(line, "\r\n")
	offset := runeOffset(body, limit)
	if offset == len(body) {
		return line, false
	}
	left := utf8.RuneCountInString(body[offset:])
	return fmt.Sprintf("%s… [cut: %d more characters]%s", body[:offset], left, line[len(body):]), true
}

// count says how many of a thing there are.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
