// Package glob compiles patterns in the dialect of
// github.com/bmatcuk/doublestar, so that a walk of a tree can test names and
// leave out directories at the cost of a comparison.
package glob

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/workspacekit/workspacekit/workspace"
)

// maxLength is the longest pattern, in bytes.
const maxLength = 4096

// Pattern is a compiled pattern. It is immutable, and safe for concurrent use.
//
// # Dialect
//
// It matches what doublestar.Match does, for every name that
// [workspace.ValidName] accepts, but for cases in which that differs from
// doublestar.Glob, or from the same pattern spelled in another way:
//   - A class never matches "/": "a[!b]c" does not match "a/c".
//   - Braces are alternative spellings of the whole pattern: it matches what
//     one of them does. So "a/{**,b}" matches "a", as "a/**" does.
//   - A star, or "/**", at the end can match nothing whatever stands before
//     it: "a***", "a*/**" and "a/**/**" match "a".
//   - A slash at the end of the whole pattern asks for directories.
//   - An escaped slash is a slash.
type Pattern struct {
	dirs  bool
	start *set
}

// Compile returns the compiled pattern.
//
// # Errors
//
// [workspace.ErrEscape] for a ".." element; [workspace.ErrPattern] if pattern
// is empty, malformed, absolute, longer than 4,096 bytes, expands to more than
// 1,000 alternatives, or has an empty or "." element, which no name has. What
// holds for a pattern holds for each of the alternatives that its braces stand
// for.
func Compile(pattern string) (*Pattern, error) {
	if err := check(pattern); err != nil {
		return nil, err
	}
	// doublestar takes a byte that is not UTF-8 for U+FFFD.
	rest, dirs := cutSlash(string([]rune(pattern)))
	alternatives, err := expand(rest)
	if err != nil {
		return nil, err
	}
	tree := new(trie)
	root := tree.node()
	for _, text := range alternatives {
		if err := tree.insert(root, text); err != nil {
			return nil, err
		}
	}
	root.finish()
	return &Pattern{dirs: dirs, start: root.below}, nil
}

func check(pattern string) error {
	switch {
	case pattern == "":
		return invalid("it is empty")
	case len(pattern) > maxLength:
		return invalid("it is longer than %d bytes", maxLength)
	case !doublestar.ValidatePattern(pattern):
		return invalid("an escape, a class or a brace is not complete")
	case pattern[0] == '/', pattern == `\/`:
		return errAbsolute()
	}
	return nil
}

func errAbsolute() error { return invalid("it begins with a slash, and patterns are relative") }

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", workspace.ErrPattern, fmt.Sprintf(format, args...))
}

// cutSlash takes off the slash at the end of pattern, with the backslash that
// escapes it.
func cutSlash(pattern string) (rest string, found bool) {
	rest, found = strings.CutSuffix(pattern, "/")
	backslashes := len(rest) - len(strings.TrimRight(rest, `\`))
	if found && backslashes%2 == 1 {
		rest = rest[:len(rest)-1]
	}
	return rest, found
}

// Dirs reports whether the pattern ends in "/", and so wants directories. The
// slash itself is not matched.
func (p *Pattern) Dirs() bool { return p.dirs }

// Start returns the state in the directory that the pattern is relative to.
func (p *Pattern) Start() State { return State{p.start} }

// Match reports whether the pattern matches path.
func (p *Pattern) Match(path string) bool {
	state := p.Start()
	for {
		name, rest, found := strings.Cut(path, "/")
		if !found {
			return state.Match(path)
		}
		state, path = state.Enter(name), rest
	}
}
