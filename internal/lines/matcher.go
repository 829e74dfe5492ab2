// Package lines finds the lines of a buffer that a pattern matches. Every
// search on every provider goes through it.
//
// It first looks through the whole buffer for literal text that any match must
// contain, and runs the regular expression on the lines that have it.
package lines

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"

	"github.com/workspacekit/workspacekit/workspace"
)

// Options change what a pattern means.
type Options struct {
	Literal    bool // the pattern is plain text
	IgnoreCase bool // letters match in either case
}

// Matcher is a compiled pattern. It is safe for concurrent use.
type Matcher struct {
	re      *regexp.Regexp
	needs   []literal  // any match contains one of them; none means nothing is known
	exact   bool       // a line with one of needs is a match
	guarded bool       // needs are rare enough to look for before running dfa
	dfa     *automaton // tells lines that cannot match, where needs are weak; or nil
}

// maxPattern bounds a pattern, in bytes.
const maxPattern = 32 << 10

// Compile compiles an RE2 pattern that is applied to one line at a time.
//
// # Errors
//
// [workspace.ErrPattern], with the reason.
func Compile(pattern string, opts Options) (*Matcher, error) {
	tree, err := Parse(pattern, opts)
	if err != nil {
		return nil, err
	}
	pattern = opts.expression(pattern)
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", workspace.ErrPattern, reason(err))
	}
	m := &Matcher{re: re}
	need := required(tree.Simplify())
	m.needs, m.exact = need.anyOf, need.exact && len(need.anyOf) > 0
	if !m.exact && need.weak() {
		m.dfa, m.guarded = newAutomaton(pattern), need.guards()
	}
	return m, nil
}

// Parse returns the syntax tree of a pattern.
//
// # Errors
//
// Those of [Compile].
func Parse(pattern string, opts Options) (*syntax.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("%w: longer than %d bytes", workspace.ErrPattern, maxPattern)
	}
	tree, err := syntax.Parse(opts.expression(pattern), syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", workspace.ErrPattern, reason(err))
	}
	if wantsNewline(tree) {
		return nil, fmt.Errorf("%w: a search looks at one line at a time, so a line break cannot match", workspace.ErrPattern)
	}
	return tree, nil
}

// expression returns the regular expression that pattern stands for.
func (o Options) expression(pattern string) string {
	if o.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if o.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	return pattern
}

// reason returns what is wrong with a pattern, without the package's prefix.
func reason(err error) string {
	var bad *syntax.Error
	if errors.As(err, &bad) {
		return fmt.Sprintf("%s: %q", bad.Code, bad.Expr)
	}
	return err.Error()
}

// wantsNewline reports whether re has a line break as literal text.
func wantsNewline(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral && slices.Contains(re.Rune, '\n') {
		return true
	}
	return slices.ContainsFunc(re.Sub, wantsNewline)
}

// BinaryWindow is how much of a file, in bytes, is looked at to tell whether it
// is text.
const BinaryWindow = 8 << 10

// IsBinary reports whether data has a NUL byte in its first 8 KiB.
func IsBinary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), BinaryWindow)], 0) >= 0
}
