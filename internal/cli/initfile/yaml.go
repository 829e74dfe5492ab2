package initfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// head is what each file begins with.
const head = `# yaml-language-server: $schema=%s
#
# Which workspaces there are, where their files live, and what may be done with them.
# All that can be said here is described at
# %s

workspaces:
  %s:
`

// tail is what each file ends with.
const tail = `
    # Settings that hold for every provider, and whoever uses the workspace.
    # fs:
    #   maxFileSizeMb: 10   # the largest file to write or copy, and for tools other than bash to read or search
    #   readOnly: true
    #   allowedPaths: ["src/**", "docs/**", "*.md"]   # all others are refused, and hidden

    # A log of each operation, denials included, whose lines are chained by hashes.
    # audit:
    #   file: ../audit.jsonl

    # Capabilities without which the workspace is not opened.
    # requires: [watch]

# In local folders, tools for files and bash can neither change this file nor create one that would be found.
# protectConfig: false   # lets agents do so

# The tools that an agent is given.
tools:
  bash: true   # a tool that runs scripts of bash over the files; it starts no process
#   run: true   # tools that run commands, each with an approval, where the provider can
#   dialect: workspace   # or the tools of another framework, such as mcp-filesystem
#   naming: "workspace__{name}__{op}"
#   descriptions: compact   # fewer tokens than full
#   disable: [rm]
#   strict: true   # refuses "5" for 5, instead of understanding it
#   timeout: 2m   # how long one call may take
#   shared: auto   # or true, one set of tools whose calls name the workspace, or false; auto shares above maxTools
#   maxTools: 100
`

// Where the format of the file is described, for editors and for people.
const (
	schemaURL = "https://raw.githubusercontent.com/workspacekit/workspacekit/main/docs/workspace.schema.json"
	docsURL   = "https://github.com/workspacekit/workspacekit/blob/main/docs/config.md"
)

// yamlText returns text as a value in a file. A string of JSON is one of YAML,
// too; a dollar sign is written twice, or it would begin a variable.
//
//	team-files   team-files
//	yes          "yes"
//	a $ b: c     "a $$ b: c"
//
// It must print: a line break in a name would begin another key.
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

// flagError returns an error about the value of a flag.
func flagError(flag string, err error) error { return fmt.Errorf("--%s: %w", flag, err) }
