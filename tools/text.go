package tools

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools/internal/charset"
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

// isText reports whether data can be shown to a model as text.
func isText(data []byte) bool {
	_, _, ok := charset.Decode(data)
	return ok
}

// textOf returns the text of data, and data itself if it is not text.
func textOf(data []byte) []byte {
	if text, _, ok := charset.Decode(data); ok {
		return text
	}
	return data
}

// explainCharacter returns what a model is told about a character that the encoding
// of a file does not have, nil if err is another error.
func explainCharacter(err error) error {
	var missing *charset.CharacterError
	if !errors.As(err, &missing) {
		return nil
	}
	return &argumentError{message: "the file keeps its encoding, and " + missing.Error(),
		hint: "Use other characters. Nothing was written."}
}
