package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/wording"
)

// clip cuts text to at most limit characters, the last of them an ellipsis
// that says so.
func clip(text string, limit int) string {
	if len(text) <= limit || utf8.RuneCountInString(text) <= limit {
		return text
	}
	return text[:wording.RuneOffset(text, limit-1)] + "…"
}

// clipLine cuts a line to at most limit characters and a mark that says how
// many were left out. The line end stays.
func clipLine(line string, limit int) (_ string, cut bool) {
	if len(line) <= limit {
		return line, false
	}
	body := strings.TrimRight(line, "\r\n")
	offset := wording.RuneOffset(body, limit)
	if offset == len(body) {
		return line, false
	}
	left := utf8.RuneCountInString(body[offset:])
	return fmt.Sprintf("%s… [cut: %d more characters]%s", body[:offset], left, line[len(body):]), true
}
