package container

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// need is what every line that matches has in it: one of some literal texts. No
// texts mean that nothing is known.
type need struct {
	texts []string
	fold  bool // ASCII letters are the same in either case
	exact bool // a line that has one of them is a match
}

// maxNeeds is the most texts that are looked for at a time.
const maxNeeds = 8

// needOf returns what a match of pattern, as a search takes it, has in it.
func needOf(pattern string, literal, ignoreCase bool) need {
	if literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	flags := syntax.Perl
	if ignoreCase {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		return need{}
	}
	var n need
	n.texts = n.of(tree.Simplify())
	n.exact = tree.Op == syntax.OpLiteral
	return n
}

// of returns the texts of which every match of re has one.
func (n *need) of(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return n.literal(re)
	case syntax.OpCapture, syntax.OpPlus:
		return n.of(re.Sub[0])
	case syntax.OpConcat:
		return n.best(re.Sub)
	case syntax.OpAlternate:
		return n.any(re.Sub)
	}
	return nil
}

// best returns the texts of the part whose shortest text is longest.
func (n *need) best(parts []*syntax.Regexp) []string {
	var best []string
	for _, part := range parts {
		if texts := n.of(part); shortest(texts) > shortest(best) {
			best = texts
		}
	}
	return best
}

func shortest(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	return len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) }))
}

// any returns the texts of all the parts.
func (n *need) any(parts []*syntax.Regexp) []string {
	var all []string
	for _, part := range parts {
		texts := n.of(part)
		if len(texts) == 0 || len(all)+len(texts) > maxNeeds {
			return nil
		}
		all = append(all, texts...)
	}
	return all
}

// literal returns the text of re. Where letters match in either case that is
// the longest part of it in which no letter has a third form: "k" has the Kelvin
// sign, and "s" the long s. What is not UTF-8 matches the replacement character.
func (n *need) literal(re *syntax.Regexp) []string {
	if slices.Contains(re.Rune, utf8.RuneError) || slices.Contains(re.Rune, 0) {
		return nil
	}
	if re.Flags&syntax.FoldCase == 0 {
		return []string{string(re.Rune)}
	}
	n.fold = true
	longest := ""
	for part := range strings.FieldsFuncSeq(string(re.Rune), foldsBeyondASCII) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	if longest == "" {
		return nil
	}
	return []string{longest}
}

func foldsBeyondASCII(r rune) bool { return r >= utf8.RuneSelf || strings.ContainsRune("kKsS", r) }

// search returns how grep finds what matches of pattern have in it, as options
// and a pattern; nothing if all files are to be read.
func (i image) search(pattern string, literal, ignoreCase bool) (options, found string) {
	n := needOf(pattern, literal, ignoreCase)
	switch {
	case n.exact && len(n.texts) > 0, !i.bytes && len(n.texts) > 0:
		options = "-F"
		if n.fold {
			options += " -i"
		}
		return options, strings.Join(n.texts, "\n")
	case !i.bytes:
		return "", ""
	}
	if found = extended(pattern, literal, ignoreCase); found == "" {
		return "", ""
	}
	return "-E", found
}
