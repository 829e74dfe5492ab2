package awk

import (
	"context"
	"strings"

	"github.com/workspacekit/workspacekit/shell/internal/pattern"
)

// regex is what a regular expression of awk matches. Without operators it is a text,
// which is searched for much faster.
// It is safe for concurrent use, so that a Program can keep it.
type regex struct {
	source  string
	re      *pattern.Regexp
	literal bool // the source is a text without operators
}

// newRegex compiles an extended regular expression of awk. One without special
// characters is searched for as text, which is faster.
//
// The errors are those of package pattern; the callers add the source and the line.
func newRegex(source string, ignoreCase bool) (*regex, error) {
	re, err := pattern.Compile([]string{extended(source)}, pattern.Extended, &pattern.Options{IgnoreCase: ignoreCase})
	if err != nil {
		return nil, err
	}
	literal := source != "" && !ignoreCase && !strings.ContainsAny(source, `\^$.[]|()*+?{}`)
	return &regex{source, re, literal}, nil
}

// extended spells an expression of awk as one of grep -E: in awk, a backslash is an
// escape in classes, too, and "\y" is the edge of a word.
//
//	awk        grep -E
//	[\]\/]+    [[.].][./.]]+
//	\ya\/b\t   \ba/b and a tab
func extended(source string) string {
	var b strings.Builder
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case c == '[':
			i = class(&b, source, i)
		case c != '\\' || i+1 == len(source):
			b.WriteByte(c)
		default:
			i++
			c = source[i]
			text, n := escape(source[i:])
			switch {
			case c == 'y':
				b.WriteString(`\b`)
			case n > 0:
				if strings.Contains(`\^$.[]|()*+?{}`, text) {
					b.WriteByte('\\')
				}
				b.WriteString(text)
				i += n - 1
			case isDigit(c) || c == '&' || c == '"':
				b.WriteByte(c)
			default:
				b.WriteByte('\\')
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}

// class writes the class that begins at source[at], and returns where it ends. A "]"
// that comes first is a member of it, and [:alpha:] and the like are copied. An escape
// becomes a collating symbol, as grep -E knows no escapes in classes.
func class(b *strings.Builder, source string, at int) int {
	i := at + 1
	if i < len(source) && source[i] == '^' {
		i++
	}
	if i < len(source) && source[i] == ']' {
		i++
	}
	b.WriteString(source[at:i])
	for ; i < len(source); i++ {
		switch c := source[i]; {
		case c == ']':
			b.WriteByte(c)
			return i
		case c == '[' && i+1 < len(source) && source[i+1] == ':':
			end := strings.Index(source[i:], ":]")
			if end < 0 {
				b.WriteString(source[i:])
				return len(source)
			}
			b.WriteString(source[i : i+end+2])
			i += end + 1
		case c == '\\' && i+1 < len(source):
			text, n := escape(source[i+1:])
			if n == 0 {
				text, n = source[i+1:i+2], 1
			}
			if text[0] < 0x80 {
				text = "[." + text + ".]"
			}
			b.WriteString(text)
			i += n
		default:
			b.WriteByte(c)
		}
	}
	return i
}

// match reports whether the expression matches somewhere in s. Once ctx has ended, nothing
// matches any more, and the program ends soon.
func (r *regex) match(ctx context.Context, s string) bool {
	if r.literal {
		return strings.Contains(s, r.source)
	}
	return r.re.MatchString(ctx, s)
}

// find returns the bounds of the first match in s and of its groups, nil for none.
func (r *regex) find(ctx context.Context, s string) []int {
	if all := r.all(ctx, s, 1); len(all) > 0 {
		return all[0]
	}
	return nil
}

// all returns at most n matches, all if n is negative.
// A result of exactly n matches may mean that there are more: see limited.
func (r *regex) all(ctx context.Context, s string, n int) [][]int { return r.re.AllString(ctx, s, n) }
