package lines

import (
	"regexp/syntax"
	"slices"
	"unicode"
)

// need says what every match of an expression contains: one of anyOf. Empty
// means that nothing is known. exact says that whatever contains one of them is
// a match.
//
// The need of a tree comes from the needs of its parts. For
// (get|set)[A-Z]\w*Stats:
//
//	get, set         each needs itself, and is exact
//	(get|set)        needs get or set, and is exact
//	[A-Z], \w*       need nothing that is known
//	Stats            needs Stats, and is exact
//	the whole        needs Stats, as five letters are better than three; not exact
type need struct {
	anyOf []Literal
	exact bool
}

// Required says what every line that matches contains: one of some texts. No
// texts mean that nothing is known.
type Required struct {
	Texts []string
	Fold  bool // ASCII letters are the same in either case
	Exact bool // a line that has one of them is a match
}

// RequiredBy returns what the matches of a tree contain.
func RequiredBy(tree *syntax.Regexp) Required {
	n := required(tree.Simplify())
	r := Required{Exact: n.exact && len(n.anyOf) > 0}
	for _, l := range n.anyOf {
		r.Texts = append(r.Texts, string(l.text))
		r.Fold = r.Fold || l.fold
		r.Exact = r.Exact && l.fold == n.anyOf[0].fold
	}
	return r
}

// maxNeeds bounds the literals of one need; beyond it looking for all of them
// costs more than it saves.
const maxNeeds = 8

// required returns what every match of re contains.
func required(re *syntax.Regexp) need {
	switch re.Op {
	case syntax.OpLiteral:
		return requiredLiteral(re)
	case syntax.OpCapture:
		return required(re.Sub[0])
	case syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		return requiredConcat(re.Sub)
	case syntax.OpAlternate:
		return requiredAlternate(re.Sub)
	}
	return need{}
}

// requiredConcat returns the best of what the parts require.
func requiredConcat(parts []*syntax.Regexp) need {
	var best need
	for _, part := range parts {
		if n := required(part); n.better(best) {
			best = n
		}
	}
	best.exact = false
	return best
}

// requiredAlternate returns what the alternatives require together.
func requiredAlternate(alternatives []*syntax.Regexp) need {
	all := need{exact: true}
	for _, alternative := range alternatives {
		n := required(alternative)
		if len(n.anyOf) == 0 {
			return need{}
		}
		all.anyOf = append(all.anyOf, n.anyOf...)
		all.exact = all.exact && n.exact
	}
	if len(all.anyOf) > maxNeeds {
		return need{}
	}
	return all
}

// better reports whether a search for n lets fewer lines through, or takes less
// time, than a search for other.
func (n need) better(other need) bool {
	if len(n.anyOf) == 0 || len(other.anyOf) == 0 {
		return len(n.anyOf) > 0
	}
	return n.score() > other.score()
}

// strong is the length in bytes from which a literal is rare enough to look for
// it instead of running an automaton.
const strong = 3

// weak reports whether so many lines are likely to contain what n requires that
// looking for it helps little.
func (n need) weak() bool {
	return slices.ContainsFunc(n.anyOf, func(l Literal) bool { return len(l.text) < strong }) || len(n.anyOf) == 0
}

// guards reports whether so few lines contain what n requires that looking for
// them first takes less time than running an automaton on all lines.
func (n need) guards() bool {
	common := func(l Literal) bool { return len(l.text) == 1 && (l.fold || rarity(l.text[0]) < rarity('_')) }
	return len(n.anyOf) > 0 && !slices.ContainsFunc(n.anyOf, common)
}

// score grows with the weakest literal and falls with their number.
func (n need) score() int {
	weakest := slices.MinFunc(n.anyOf, func(a, b Literal) int { return a.score() - b.score() })
	return weakest.score() - 2*(len(n.anyOf)-1)
}

// requiredLiteral returns the text of re, or where letters match in either
// case the longest part of it in which that concerns ASCII letters only.
func requiredLiteral(re *syntax.Regexp) need {
	if slices.Contains(re.Rune, unicode.ReplacementChar) {
		return need{} // it also matches bytes that are not UTF-8
	}
	if re.Flags&syntax.FoldCase == 0 {
		return need{anyOf: []Literal{NewLiteral(string(re.Rune), false)}, exact: true}
	}
	var best, run string
	for _, r := range append(slices.Clone(re.Rune), -1) {
		if foldsInASCII(r) {
			run += string(r)
			continue
		}
		if len(run) > len(best) {
			best = run
		}
		run = ""
	}
	if best == "" {
		return need{}
	}
	best = best[:min(len(best), maxFolded)]
	return need{anyOf: []Literal{NewLiteral(best, true)}, exact: len(best) == len(string(re.Rune))}
}

// maxFolded is how many bytes of a text in either case are looked for. A text such as "aaa" in
// lines of the same letter is compared at each place.
const maxFolded = 32

// foldsInASCII reports whether every rune that equals r without case is ASCII.
// "k" and "s" have a third form each, the Kelvin sign and the long s.
func foldsInASCII(r rune) bool {
	switch r {
	case 'k', 'K', 's', 'S':
		return false
	}
	return r >= 0 && r < 0x80
}

// spells reports whether the character r is in the literal text of tree.
func spells(tree *syntax.Regexp, r rune) bool {
	if tree.Op == syntax.OpLiteral && slices.Contains(tree.Rune, r) {
		return true
	}
	return slices.ContainsFunc(tree.Sub, func(part *syntax.Regexp) bool { return spells(part, r) })
}
