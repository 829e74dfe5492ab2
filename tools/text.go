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

// clipAround returns at most limit characters of a line from the byte start on, and
// marks that say how many were left out on either side.
func clipAround(line string, start, limit int) string {
	end := start + runeOffset(line[start:], limit)
	text := strings.ToValidUTF8(line[start:end], "\uFFFD")
	if start > 0 {
		text = fmt.Sprintf("[cut: %d characters] …", utf8.RuneCountInString(line[:start])) + text
	}
	if end < len(line) {
		text += fmt.Sprintf("… [cut: %d more characters]", utf8.RuneCountInString(line[end:]))
	}
	return text
}

// stepBack returns the offset of the character that is n characters before the
// byte at, or of the first one.
func stepBack(text string, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return at
}
