package remotegrep

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The expressions for what is not one byte.
const (
	wide    = "[\x80-\xff]{1,4}" // a character of several bytes, or a byte that is none
	anyChar = ".{1,4}"
)

// extend returns the expression for re, which is empty if that can match
// nothing at all.
func extend(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return extendLiteral(re)
	case syntax.OpCharClass:
		return extendClass(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return anyChar
	case syntax.OpCapture:
		return extend(re.Sub[0])
	case syntax.OpConcat:
		return extendAll(re.Sub)
	case syntax.OpAlternate:
		return extendAny(re.Sub)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return extendRepeat(re)
	}
	return "" // anchors and boundaries
}

func extendAll(parts []*syntax.Regexp) string {
	var b strings.Builder
	for _, part := range parts {
		b.WriteString(extend(part))
	}
	return b.String()
}

func extendAny(alternatives []*syntax.Regexp) string {
	texts := make([]string, len(alternatives))
	for i, alternative := range alternatives {
		if texts[i] = extend(alternative); texts[i] == "" {
			return ""
		}
	}
	return "(" + strings.Join(texts, "|") + ")"
}

func extendRepeat(re *syntax.Regexp) string {
	text := extend(re.Sub[0])
	if text == "" {
		return ""
	}
	switch re.Op {
	case syntax.OpStar:
		return "(" + text + ")*"
	case syntax.OpPlus:
		return "(" + text + ")+"
	case syntax.OpQuest:
		return "(" + text + ")?"
	}
	const maxTimes = 8 // more of them make the expression large, and find little less
	if re.Max < 0 || re.Max > maxTimes {
		return fmt.Sprintf("(%s){%d,}", text, min(re.Min, maxTimes))
	}
	return fmt.Sprintf("(%s){%d,%d}", text, re.Min, re.Max)
}

func extendLiteral(re *syntax.Regexp) string {
	var b strings.Builder
	for _, r := range re.Rune {
		switch {
		case re.Flags&syntax.FoldCase != 0:
			b.WriteString(extendClass(folds(r)))
		case r == utf8.RuneError:
			b.WriteString(wide)
		case r == 0:
			b.WriteByte('.')
		case strings.ContainsRune(`\.[]()*+?{}|^$`, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// folds returns the runes that equal r but for case, as a class has them.
func folds(r rune) []rune {
	class := []rune{r, r}
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		class = append(class, other, other)
	}
	return class
}

// extendClass returns the expression for a class of pairs of runes.
func extendClass(class []rune) string {
	var members []byte
	beyond := false
	for i := 0; i < len(class); i += 2 {
		for r := class[i]; r <= min(class[i+1], unicode.MaxASCII); r++ {
			if r != 0 && r != '\n' {
				members = append(members, byte(r))
			}
		}
		beyond = beyond || class[i+1] > unicode.MaxASCII
	}
	switch bracket := bracket(members); {
	case !beyond && bracket == "":
		return "." // a NUL, or nothing
	case !beyond:
		return bracket
	case bracket == "":
		return wide
	default:
		return "(" + bracket + "|" + wide + ")"
	}
}

// bracket returns the bracket expression of members. What has a meaning there
// is put where it has none.
func bracket(members []byte) string {
	slices.Sort(members)
	members = slices.Compact(members)
	switch {
	case len(members) == 0:
		return ""
	case len(members) == 1 && members[0] == '^':
		return `\^`
	}
	var front, middle, back string
	for _, c := range members {
		switch c {
		case ']':
			front = "]"
		case '^', '[':
			back += string(c)
		case '-':
			// after all others
		default:
			middle += string(c)
		}
	}
	switch {
	case !slices.Contains(members, '-'):
	case front+middle == "" && back == "^":
		back = "-^"
	default:
		back += "-"
	}
	return "[" + front + middle + back + "]"
}
