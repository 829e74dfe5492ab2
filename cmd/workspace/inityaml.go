package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Where the format of the file is described, for editors and for people.
const (
	schemaURL = "https://raw.githubusercontent.com/workspacekit/workspacekit/main/docs/workspace.schema.json"
	docsURL   = "https://github.com/workspacekit/workspacekit/blob/main/docs/config.md"
)

// yamlText returns text as a value in a file. A string of JSON is one of YAML,
// too; a dollar sign is written twice, or it would begin a variable.
func yamlText(text string) (string, error) {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	switch {
	case !utf8.ValidString(text):
		return "", errors.New("it is not valid UTF-8")
	case strings.IndexFunc(text, hidden) >= 0:
		return "", errors.New("it has a character that cannot be seen, such as a line break")
	}
	if isPlain(text) {
		return text, nil
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(strings.ReplaceAll(text, "$", "$$")); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// isPlain reports whether text means itself in YAML, whatever its version: it is
// a word of letters that is no constant.
func isPlain(text string) bool {
	other := func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }
	switch text {
	case "", "true", "false", "yes", "no", "on", "off", "null", "y", "n", "inf", "nan":
		return false
	}
	return text[0] != '-' && strings.IndexFunc(text, other) < 0
}

func flagFault(flag string, err error) error { return fmt.Errorf("--%s: %w", flag, err) }
