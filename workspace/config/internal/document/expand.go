package document

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Variable is a variable of the environment that a file uses. Its Value is empty if the
// variable is, or is not set.
type Variable struct{ Name, Value string }

// expansion is a text in which variables are being replaced.
type expansion struct {
	lookup func(string) (string, bool)
	out    strings.Builder
	used   []Variable
}

// fault is what is wrong with a text, and the part of it that is. The part is looked for in
// the line, to tell the column.
type fault struct{ part, text string }

// expand returns text with "${VAR}" and "${VAR:-default}" replaced by what
// lookup says, and "$$" by "$"; the variables in it; and what is wrong with it.
//
// With HOST=example.org and EMPTY set to nothing:
//
//	https://${HOST}/    https://example.org/
//	${PORT:-80}         80
//	${EMPTY:-80}        80, as for a shell
//	${EMPTY}            nothing, and no fault: it is set
//	${PORT}             a fault
//	$$5                 $5
//	$5                  a fault, as it is likely to be a mistake
//
// A value is not expanded again, and a default cannot have variables.
func expand(text string, lookup func(string) (string, bool)) (string, []Variable, []fault) {
	if !strings.Contains(text, "$") {
		return text, nil, nil
	}
	e := &expansion{lookup: lookup}
	var faults []fault
	for {
		plain, rest, found := strings.Cut(text, "$")
		e.out.WriteString(plain)
		if !found {
			return e.out.String(), e.used, faults
		}
		var wrong *fault
		if text, wrong = e.dollar(rest); wrong != nil {
			faults = append(faults, *wrong)
		}
	}
}

// dollar replaces what a dollar sign begins, and returns what follows.
func (e *expansion) dollar(rest string) (string, *fault) {
	if after, ok := strings.CutPrefix(rest, "$"); ok {
		e.out.WriteByte('$')
		return after, nil
	}
	inner, ok := strings.CutPrefix(rest, "{")
	if !ok {
		return rest, &fault{"$", `a single "$" means nothing here: write "${NAME}" for a variable of the environment, or "$$" for a dollar sign`}
	}
	inner, after, ok := strings.Cut(inner, "}")
	if !ok {
		return "", &fault{"${" + inner, `the "}" is missing that ends "${"`}
	}
	return after, e.reference(inner)
}

// reference replaces "${inner}".
func (e *expansion) reference(inner string) *fault {
	part := "${" + inner
	name, fallback, hasFallback := strings.Cut(inner, ":-")
	if !variableName(name) || strings.Contains(fallback, "$") {
		return &fault{part, fmt.Sprintf("%q cannot be read: there are only ${NAME} and ${NAME:-default}", part+"}")}
	}
	value, set := e.lookup(name)
	e.used = append(e.used, Variable{name, value})
	switch {
	case value != "":
		e.out.WriteString(value)
	case hasFallback:
		e.out.WriteString(fallback)
	case !set:
		return &fault{part, fmt.Sprintf("the environment has no variable %s: set it, or write ${%s:-default}", name, name)}
	}
	return nil
}

// variableName reports whether name can be that of a variable.
func variableName(name string) bool {
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// Redact returns text with the values of variables replaced by their names, in whatever way a
// message spells them. For example, a path from a variable is cleaned before an error shows
// it, and a password in a URL is escaped. The longest values are replaced first. A short
// value is replaced where it is a word: other words of the text may have it in them.
func Redact(text string, used []Variable) string {
	// A value may be part of another one.
	used = slices.SortedFunc(slices.Values(used), func(a, b Variable) int {
		return cmp.Or(len(b.Value)-len(a.Value), strings.Compare(a.Name, b.Name))
	})
	var names []string
	for i, v := range slices.Compact(used) {
		mark := string(rune(firstMark + i)) // until all values are replaced, as a name may have one in it
		for _, spelled := range spellings(v.Value) {
			text = replace(text, spelled, mark)
		}
		names = append(names, mark, "${"+v.Name+"}")
	}
	return strings.NewReplacer(names...).Replace(text)
}

// firstMark is the first character for private use of plane 15, which no message has.
const firstMark = 0xF0000

// maxShort is how many bytes a short value has at most.
const maxShort = 3

// replace replaces value in text by mark.
func replace(text, value, mark string) string {
	if len(value) > maxShort {
		return strings.ReplaceAll(text, value, mark)
	}
	parts := strings.Split(text, value)
	replaced := []byte(parts[0])
	for _, part := range parts[1:] {
		before, _ := utf8.DecodeLastRune(replaced)
		after, _ := utf8.DecodeRuneInString(part)
		between := mark
		if inWord(before) || inWord(after) {
			between = value
		}
		replaced = append(append(replaced, between...), part...)
	}
	return string(replaced)
}

// inWord reports whether r is a character of words.
func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// spellings returns the ways in which messages show a value.
func spellings(value string) []string {
	quoted := strconv.Quote(value)
	all := []string{value, quoted[1 : len(quoted)-1], url.QueryEscape(value), url.PathEscape(value),
		filepath.Clean(value), filepath.ToSlash(filepath.Clean(value))}
	if plain, err := url.PathUnescape(value); err == nil {
		all = append(all, plain, filepath.Clean(plain))
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" || s == "." || s == "/" })
}
