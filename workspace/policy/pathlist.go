package policy

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// pathList is a compiled list of globs of names that are off limits, with all
// below them. It compares letters regardless of their case, because file systems
// that do would open ".ENV" as ".env". A pattern without a slash matches in every
// directory. With the patterns ".env*" and "conf/keys":
//
//	.env.local      matches the first
//	a/.ENV/b        matches the first, as its parent does
//	conf/keys/a     matches the second
//	conf            matches none, and something below it can
//	sub/conf/keys   matches none
type pathList struct {
	key      string // what the list is called, for errors
	texts    []string
	patterns []*glob.Pattern
}

// compilePathList compiles patterns, which errors call key.
func compilePathList(key string, patterns []string) (pathList, error) {
	list := pathList{key: key, texts: patterns}
	for _, text := range patterns {
		pattern, err := compilePath(text)
		if err != nil {
			return pathList{}, err
		}
		list.patterns = append(list.patterns, pattern)
	}
	return list, nil
}

// compilePath compiles one pattern of a [pathList].
func compilePath(text string) (*glob.Pattern, error) {
	anywhere := ""
	if !strings.Contains(strings.TrimSuffix(text, "/"), "/") {
		anywhere = "**/"
	}
	compiled, err := glob.Compile(text)
	if err == nil {
		compiled, err = glob.Compile(anywhere + foldCase(strings.TrimSuffix(text, "/")))
	}
	if err != nil {
		return nil, ops.Error(opRestrict, text, nil, err)
	}
	return compiled, nil
}

// CheckDeniedPath returns the error of a pattern that cannot be one of
// [Rules].DeniedPaths, or of the read-only paths of [ReadOnlyPaths].
//
// # Errors
//
// [workspace.ErrPattern] or [workspace.ErrEscape].
func CheckDeniedPath(pattern string) error {
	_, err := compilePath(pattern)
	return err
}

// foldCase returns s with each letter replaced by the first of those that differ
// from it in case alone, as [strings.EqualFold] sees it.
func foldCase(s string) string { return strings.Map(foldRune, s) }

// foldRune returns the least rune that differs from r only in case.
func foldRune(r rune) rune {
	if r < unicode.MaxASCII {
		return unicode.ToLower(r)
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if least <= unicode.MaxASCII {
		return unicode.ToLower(least)
	}
	return least
}

// match says what is off limits: name is, if it or a directory above it matches a
// pattern; below is whether something in the directory name can be. text is the
// pattern that matches, and which it is.
func (l pathList) match(name string) (text string, matches, below bool) {
	if len(l.patterns) == 0 {
		return "", false, false
	}
	if name != "." {
		name = foldCase(name)
	}
	for i, pattern := range l.patterns {
		matched, deeper := matchPrefix(pattern.Start(), name)
		if matched {
			return fmt.Sprintf("%s[%d], %q", l.key, i, l.texts[i]), true, true
		}
		below = below || deeper
	}
	return "", false, below
}

// matchPrefix reports whether what leads to state matches name or a directory
// above it, and whether it can match something below.
func matchPrefix(state glob.State, name string) (matches, below bool) {
	if name == "." {
		return false, !state.Empty()
	}
	for rest := name; ; {
		element, deeper, more := strings.Cut(rest, "/")
		if state.Match(element) {
			return true, true
		}
		state = state.Enter(element)
		if !more || state.Empty() {
			return false, !more && !state.Empty()
		}
		rest = deeper
	}
}

// ReadOnlyPaths returns a view of fsys in which the names that match one of
// patterns, and all below them, cannot be changed: see [Protect]. The patterns
// are as in [Rules].DeniedPaths.
//
// # Errors
//
// [workspace.ErrPattern] or [workspace.ErrEscape] for a pattern that cannot be
// used, and those of [Protect].
func ReadOnlyPaths(fsys workspace.FileSystem, patterns []string) (*ProtectedFS, error) {
	list, err := compilePathList("readOnlyPaths", patterns)
	if err != nil {
		return nil, err
	}
	return Protect(fsys, func(name string) string {
		if text, matches, _ := list.match(name); matches {
			return "it can only be read: it matches " + text
		}
		return ""
	})
}
