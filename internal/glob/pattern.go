// Package glob compiles patterns in the dialect of
// github.com/bmatcuk/doublestar for walks of trees. [Compile] returns a
// [Pattern]; its [State] in a directory says which names match there and which
// directories are worth entering, mostly at the cost of a comparison.
//
// The braces of a pattern are expanded first. The alternatives, split into
// elements, become a trie in which those that begin alike share their nodes. A
// State is the set of nodes that the path of a directory leads to. For
// src/{*.go,gen/**} there are two alternatives:
//
//	in         names that match   directories to enter
//	.          -                  src
//	src        *.go, gen          gen
//	src/gen    all                all: the State inside is the same again
//	docs       -                  -
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
// It matches what doublestar.Match matches, for every name that
// [provider.ValidName] accepts, except where doublestar.Match differs from
// doublestar.Glob, or from the same pattern spelled in another way:
//   - A class never matches "/": "a[!b]c" does not match "a/c".
//   - Braces are alternative spellings of the whole pattern, which matches
//     what any of them matches. So "a/{**,b}" matches "a", as "a/**" does.
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
// 1,000 alternatives, or has an empty or "." element, which no name has. Each
// alternative that its braces stand for has to keep these rules, too.
func Compile(pattern string) (*Pattern, error) {
	if len(pattern) > maxLength {
		return nil, errTooLong()
	}
	_, dirs := cutSlash(pattern)
	compiled, err := CompileAny(pattern)
	if err != nil {
		return nil, err
	}
	compiled.dirs = dirs
	return compiled, nil
}

// CompileAny returns the pattern that matches what any of patterns matches. To
// test a name costs little more with fifty patterns than with one. A slash at the
// end of a pattern means nothing. A "**/" at the start does not count for the length, as
// callers put it before what somebody wrote.
//
// # Errors
//
// Those of [Compile] for one of patterns.
func CompileAny(patterns ...string) (*Pattern, error) {
	tree := new(trie)
	root := tree.node()
	for _, pattern := range patterns {
		if err := check(pattern); err != nil {
			return nil, err
		}
		// To doublestar, a byte that is not UTF-8 is U+FFFD.
		rest, _ := cutSlash(string([]rune(pattern)))
		alternatives, err := expand(rest)
		if err != nil {
			return nil, err
		}
		for _, text := range alternatives {
			if err := tree.insert(root, text); err != nil {
				return nil, err
			}
		}
	}
	root.finish()
	return &Pattern{start: root.below}, nil
}

// expand returns the patterns without braces that pattern, which is valid,
// stands for. Nothing is multiplied before its size is known to be in bounds.
func expand(pattern string) ([]string, error) {
	e := expander{pattern: pattern}
	return e.sequence()
}

// check returns the error of a pattern that is not valid.
func check(pattern string) error {
	switch {
	case pattern == "":
		return invalid("it is empty")
	case len(strings.TrimPrefix(pattern, "**/")) > maxLength:
		return errTooLong()
	case !doublestar.ValidatePattern(pattern):
		return invalid("an escape, a class or a brace is not complete")
	case pattern[0] == '/', pattern == `\/`:
		return invalid("it begins with a slash, and patterns are relative")
	}
	return nil
}

// errTooLong is the error of a pattern that is longer than maxLength.
func errTooLong() error { return invalid("it is longer than %d bytes", maxLength) }

// invalid returns the error of a malformed pattern, with the reason.
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

// FilePattern is a pattern for the paths of files, or if it has no slash for
// their names. A slash at its beginning makes it one for paths and does nothing
// else.
type FilePattern struct {
	pattern *Pattern
	path    bool
}

// CompileFile returns the compiled pattern.
//
// # Errors
//
// Those of [Compile].
func CompileFile(pattern string) (*FilePattern, error) {
	compiled, err := Compile(strings.TrimPrefix(pattern, "/"))
	if err != nil {
		return nil, err
	}
	return &FilePattern{pattern: compiled, path: strings.Contains(pattern, "/")}, nil
}

// Match reports whether the pattern matches the file name in the directory dir.
func (p *FilePattern) Match(dir, name string) bool {
	if p.path {
		name = workspace.Join(dir, name)
	}
	return p.pattern.Match(name)
}
