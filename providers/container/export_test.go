package container

import "github.com/workspacekit/workspacekit/internal/lines"

// Extended is extended, for a pattern.
func Extended(pattern string, literal, ignoreCase bool) string {
	tree, err := lines.Parse(pattern, lines.Options{Literal: literal, IgnoreCase: ignoreCase})
	if err != nil {
		return ""
	}
	return extended(tree)
}

// Program is what shells are taught.
func Program() (string, error) { return program() }
