package command

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// wildcard returns the regular expression for a pattern of fnmatch, the C library's
// function, where "*" and "?" match "/" and a leading dot, too. It matches whole names, and
// with fold in either case:
//
//	*.go      ^(?s).*\.go$
//	[!a]?     ^(?s)[^a].$
//	[a        ^(?s)\[a$      a "[" that does not end
//	\*        ^(?s)\*$
//	{a,b}     ^(?s)\{a,b\}$  braces are the shell's
//
// It does not fail. A pattern that makes no expression, as one with the range [z-a], matches
// only itself, spelled the same.
func wildcard(pattern string, fold bool) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^(?s")
	if fold {
		b.WriteByte('i')
	}
	b.WriteByte(')')
	for at := 0; at < len(pattern); {
		c, n := utf8.DecodeRuneInString(pattern[at:])
		switch c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		case '[':
			if class, length := wildcardClass(pattern[at:]); length > 0 {
				b.WriteString(class)
				at += length
				continue
			}
			b.WriteString(`\[`)
		case '\\':
			if at+n < len(pattern) {
				at += n
				c, n = utf8.DecodeRuneInString(pattern[at:])
			}
			b.WriteString(regexp.QuoteMeta(string(c)))
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
		at += n
	}
	b.WriteByte('$')
	re, err := regexp.Compile(b.String())
	if err != nil { // a range that is upside down
		return regexp.MustCompile("^" + regexp.QuoteMeta(pattern) + "$")
	}
	return re
}

// wildcardClass returns the class at the beginning of a pattern, and its length; zero
// if it does not end, so that the "[" is itself. "!" and "^" negate, and a "]" that
// comes first is a member.
//
// The class is one of RE2. Names such as [:alpha:] are the same there, and what RE2 reads in
// another way gets a backslash:
//
//	[!x]    [^x]
//	[]a]    [\]a]
//	[a^&]   [a\^\&]
func wildcardClass(pattern string) (class string, n int) {
	at := 1
	var b strings.Builder
	b.WriteByte('[')
	if at < len(pattern) && (pattern[at] == '!' || pattern[at] == '^') {
		b.WriteByte('^')
		at++
	}
	for first := true; at < len(pattern); first = false {
		switch c := pattern[at]; {
		case c == ']' && !first:
			return b.String() + "]", at + 1
		case strings.HasPrefix(pattern[at:], "[:") && strings.Contains(pattern[at:], ":]"):
			end := at + strings.Index(pattern[at:], ":]") + 2
			b.WriteString(pattern[at:end])
			at = end
			continue
		case c == '\\' && at+1 < len(pattern):
			at++
			b.WriteString(regexp.QuoteMeta(pattern[at : at+1]))
		case c == '[' || c == ']' || c == '^' || c == '&' || c == '~':
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
		at++
	}
	return "", 0
}
