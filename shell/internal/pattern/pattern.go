// Package pattern translates the regular expressions of GNU's programs to RE2, and finds
// what they match. In go patterns and their [Syntax]; out comes a [Regexp], or an error
// that says what RE2 cannot do: back references, and what looks ahead or behind.
//
// The translation is exact. What RE2 has no word for, the beginning and the end of a
// word in a text that is not ASCII, is a character of the translation that no text
// has, and [machine] knows its meaning. A search in a store gets the expression without
// those characters ([Regexp.Remote]): it finds more lines, and the Regexp decides.
package pattern

import (
	"context"
	"fmt"
	"iter"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/ctxregexp"
)

// Syntax is the language of a pattern. It decides what is an operator, what a
// class has in it, and which of several matches at one place counts.
type Syntax int

// The languages.
const (
	Basic    Syntax = iota // grep, sed
	Extended               // grep -E, sed -E
	Fixed                  // grep -F
	Perl                   // grep -P
	Rust                   // rg
)

// Options change what a pattern means. The zero value matches anywhere.
type Options struct {
	IgnoreCase bool
	Word       bool // a match neither follows nor precedes a letter, a digit or "_"
	Line       bool // a match is the whole line
	Multiline  bool // "^" and "$" match at each line of the text
	Sed        bool // "\n", "\t" and the like are characters in basic and extended patterns
}

// maxDepth is how many groups can be in each other, in a pattern.
const maxDepth = 200

// maxPattern bounds all patterns of a Regexp, in bytes.
const maxPattern = 16 << 10

// Error is the error of a pattern.
type Error struct {
	// Text says what is wrong, in GNU's words if GNU refuses it, too.
	Text string
	// Unsupported says that the pattern is right, and is not possible here.
	Unsupported bool
}

// Error implements the error interface.
func (e *Error) Error() string { return e.Text }

// syntaxError returns the error of a malformed pattern, in the words of the program
// that it is for.
func syntaxError(text string) error { return &Error{Text: text} }

// unsupported returns the error of what RE2 cannot do.
func unsupported(format string, args ...any) error {
	return &Error{Text: fmt.Sprintf(format, args...) + " is not possible here: patterns are translated to RE2, which has no back references and does not look around", Unsupported: true}
}

// Regexp is what some patterns match: what one of them matches. It is safe for
// concurrent use.
//
// Two expressions do the work: the one of re or machine, which decides, and
// remote, which a store can evaluate. "\r{0}" in the second one matches nothing
// and spells out a "\r", so that a search shows the pattern the "\r" at the end
// of a line.
type Regexp struct {
	re       *ctxregexp.Regexp // finds the matches, unless there is a machine
	machine  *machine          // finds the matches of a pattern with assertions; nil for another
	remote   string            // the pattern for a search by a provider
	exact    bool              // remote matches no other lines
	words    string            // matches the lines of ASCII that have a match of whole words, and of the others too many; "" for none
	names    []string          // of the groups, "" for one without a name; the first stands for the match
	warnings []string          // about escapes without a meaning, as GNU's programs print them
}

// Compile returns what patterns match. Nil opts mean the zero Options. Several
// patterns match what one of them matches, and their groups are counted on from
// one to the next.
//
// # Errors
//
// An [*Error].
func Compile(patterns []string, language Syntax, opts *Options) (*Regexp, error) {
	if opts == nil {
		opts = &Options{}
	}
	r := &Regexp{}
	expressions, size := make([]string, len(patterns)), 0
	asserted := opts.Word && !opts.Line
	for i, text := range patterns {
		if size += len(text); size > maxPattern {
			return nil, &Error{Text: fmt.Sprintf("the pattern is longer than %d bytes", maxPattern), Unsupported: true}
		}
		t, err := translate(text, language, opts)
		if err != nil {
			return nil, err
		}
		expressions[i], asserted = "(?:"+t.expression+")", asserted || t.asserted
		r.warnings = append(r.warnings, t.warnings...)
	}
	plain := strings.Join(expressions, "|")
	if len(expressions) == 1 {
		plain = expressions[0][len("(?:") : len(expressions[0])-1]
	}
	flags := "s" // "." is any character
	if language == Perl || language == Rust || opts.Sed && opts.Multiline {
		flags = ""
	}
	if opts.IgnoreCase {
		flags += "i"
	}
	if opts.Multiline {
		flags += "m"
	}
	if flags != "" {
		flags = "(?" + flags + ")"
	}
	full := plain
	if opts.Line {
		full = "^(?:" + plain + ")$"
	} else if opts.Word {
		full = noWordBefore + "(?:" + plain + ")" + noWordAfter
	}
	return r, r.compile(flags, full, plain, asserted, opts, language != Perl && language != Rust)
}

// compile sets what finds the matches, and the expression for a store.
//
// longest chooses between the matches that begin at one place: POSIX wants the longest one,
// and Perl and Rust the first by the order of the alternatives.
//
// With Word, a store that knows no word of Unicode gets an expression that asks
// for another character on both sides, or the end of the line. That finds the
// same lines, but the matches in it have those characters, too.
func (r *Regexp) compile(flags, full, plain string, asserted bool, opts *Options, longest bool) error {
	tree, err := syntax.Parse(flags+full, syntax.Perl)
	if err != nil {
		return re2Error(err)
	}
	r.names = tree.CapNames()
	if asserted {
		if r.machine, err = newMachine(tree, longest); err != nil {
			return err
		}
	} else if r.re, err = ctxregexp.Compile(flags+full, longest); err != nil {
		return re2Error(err)
	}
	r.remote, r.exact = flags+full, !asserted
	if asserted {
		r.remote = flags + withoutAssertions(full)
		if opts.Word && withoutAssertions(plain) == plain {
			notWord := "[^" + classes()["word"] + "]"
			r.remote, r.exact = flags+"(?:^|"+notWord+")(?:"+plain+")(?:"+notWord+"|$)", true
			if words, err := syntax.Parse(flags+plain, syntax.Perl); err == nil && edge(words, true) && edge(words, false) {
				r.words = "(?:" + flags + `\b(?:` + plain + `)\b)(?:\r{0})`
			}
		}
	}
	remote, err := syntax.Parse(r.remote, syntax.Perl)
	if err != nil {
		return re2Error(err)
	}
	if seesLineEnd(remote) {
		r.remote = "(?:" + r.remote + `)(?:\r{0})`
	}
	return nil
}

// edge reports whether each match begins, or ends, with a letter, a digit or "_" of ASCII.
//
// It may report false although all matches do. That only costs the faster expression words.
func edge(tree *syntax.Regexp, begins bool) bool {
	subs := len(tree.Sub)
	switch tree.Op {
	case syntax.OpLiteral:
		c := tree.Rune[0]
		if !begins {
			c = tree.Rune[len(tree.Rune)-1]
		}
		if tree.Flags&syntax.FoldCase != 0 {
			for other := unicode.SimpleFold(c); other != c; other = unicode.SimpleFold(other) {
				if !isWord(other) || other >= utf8.RuneSelf {
					return false
				}
			}
		}
		return isWord(c) && c < utf8.RuneSelf
	case syntax.OpCharClass:
		for i := 0; i < len(tree.Rune); i += 2 {
			for c := tree.Rune[i]; c <= tree.Rune[i+1]; c++ {
				if !isWord(c) || c >= utf8.RuneSelf {
					return false
				}
			}
		}
		return len(tree.Rune) > 0
	case syntax.OpCapture, syntax.OpPlus:
		return edge(tree.Sub[0], begins)
	case syntax.OpConcat:
		if begins {
			return edge(tree.Sub[0], begins)
		}
		return edge(tree.Sub[subs-1], begins)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(tree.Sub, func(sub *syntax.Regexp) bool { return !edge(sub, begins) })
	}
	return false
}

// re2Error is the error of an expression that RE2 refuses although it is a right
// translation.
func re2Error(err error) error {
	text := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	if strings.Contains(text, "repeat") || strings.Contains(text, "too large") {
		text = errTooBig
	}
	return &Error{Text: text, Unsupported: true}
}

// seesLineEnd reports whether what a pattern matches can depend on a "\r" at the end of
// a line. A search does not show that to patterns that do not spell it out.
func seesLineEnd(tree *syntax.Regexp) bool {
	switch tree.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpEndLine, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	case syntax.OpCharClass:
		for i := 0; i < len(tree.Rune); i += 2 {
			if tree.Rune[i] <= '\r' && '\r' <= tree.Rune[i+1] {
				return true
			}
		}
	}
	for _, sub := range tree.Sub {
		if seesLineEnd(sub) {
			return true
		}
	}
	return false
}

// Groups returns how many groups the pattern has. Those without a number, as
// (?:a), do not count.
func (r *Regexp) Groups() int { return len(r.names) - 1 }

// Group returns the number of the group with a name that is not empty, -1 if there is none.
func (r *Regexp) Group(name string) int { return slices.Index(r.names, name) }

// Warnings returns what GNU's programs warn about. Only extended patterns have
// any. The caller must not change the slice.
func (r *Regexp) Warnings() []string { return r.warnings }

// Remote returns an expression in RE2 for the search of a workspace. The lines that it
// matches are at least those that r matches, and if exact is true they are the same.
func (r *Regexp) Remote() (expression string, exact bool) { return r.remote, r.exact }

// Decide reports whether a line matches. It returns false once ctx has ended.
type Decide func(ctx context.Context, line []byte) bool

// Candidates returns the expression whose lines are found fastest. is says which of them
// match; nil means all.
//
// In a line of ASCII, \b means the same in RE2 as in GNU's programs, so that the decision of
// the first step stands; in any other line, Match decides.
func (r *Regexp) Candidates() (expression string, is Decide) {
	switch {
	case r.words != "":
		return r.words, func(ctx context.Context, line []byte) bool { return isASCII(line) || r.Match(ctx, line) }
	case r.exact:
		return r.remote, nil
	}
	return r.remote, r.Match
}

// isASCII reports whether a line has no byte above 127.
func isASCII(line []byte) bool {
	for _, c := range line {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Match reports whether there is a match in text. What is no UTF-8 counts as
// one U+FFFD for each byte. It returns false once ctx has ended.
func (r *Regexp) Match(ctx context.Context, text []byte) bool {
	if r.machine != nil {
		return r.machine.find(ctx, text, 0) != nil
	}
	return r.re.Match(ctx, text)
}

// MatchString is [Regexp.Match] for a string.
func (r *Regexp) MatchString(ctx context.Context, text string) bool {
	if r.machine != nil {
		return r.machine.find(ctx, []byte(text), 0) != nil
	}
	return r.re.MatchString(ctx, text)
}

// AllString is [Regexp.All] for a string.
func (r *Regexp) AllString(ctx context.Context, text string, n int) [][]int {
	if r.machine != nil {
		return r.machine.all(ctx, []byte(text), n)
	}
	return r.re.AllString(ctx, text, n)
}

// Each returns an iterator over all matches in text, as [Regexp.All] has them, which keeps few of
// them at a time. It ends with ctx.
func (r *Regexp) Each(ctx context.Context, text []byte) iter.Seq[[]int] {
	if r.machine == nil {
		return r.re.Each(ctx, text)
	}
	return r.machine.each(ctx, text)
}

// All returns at most n matches in text, or all if n is negative: for each the bounds of
// the match and of its groups, -1 for a group that has no part in it. An empty match
// right after another match is none. There are none once ctx has ended.
func (r *Regexp) All(ctx context.Context, text []byte, n int) [][]int {
	if r.machine == nil {
		return r.re.All(ctx, text, n)
	}
	return r.machine.all(ctx, text, n)
}
