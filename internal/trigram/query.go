package trigram

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/workspace"
)

// Query is what a text must have for a pattern to match in it: all of some grams
// and shapes, and one of each list of alternatives. The zero Query is met by every text.
//
// Hashes stand for grams and shapes. They are in three lists because a [Union]
// lacks the grams of three bytes, and a small [Set] those of five: what only they could
// exclude is not excluded there. A Query is not changed after it is made, so it is safe for concurrent
// use.
type Query struct {
	short   []uint32 // of grams of three bytes
	hashes  []uint32 // of grams of four bytes, and of shapes
	long    []uint32 // of grams of five bytes, which only a large Set has
	choices [][]Query
}

// Everything reports whether every text meets q. A search then has no use for
// sets, and can leave out making them.
func (q Query) Everything() bool {
	return len(q.short) == 0 && len(q.hashes) == 0 && len(q.choices) == 0
}

// Meets reports whether the text with the given set may meet q. False is
// certain; true means that the text must be read.
func (q Query) Meets(set Set) bool { return q.meets(set, true, len(set) >= largeWords) }

// MeetsUnion reports whether a text of a [Union] with the given set may meet q.
func (q Query) MeetsUnion(set Set) bool { return q.meets(set, false, false) }

// meets reports whether set may have all that q asks for, of the grams of three and of five
// bytes only if they count.
func (q Query) meets(set Set, short, long bool) bool {
	for _, hash := range q.hashes {
		if !set.has(hash) {
			return false
		}
	}
	for _, hash := range q.short {
		if short && !set.has(hash) {
			return false
		}
	}
	for _, hash := range q.long {
		if long && !set.has(hash) {
			return false
		}
	}
	for _, choice := range q.choices {
		if !slices.ContainsFunc(choice, func(q Query) bool { return q.meets(set, short, long) }) {
			return false
		}
	}
	return true
}

// PlanGrep returns the Query of a search. It is the zero Query if the pattern is malformed:
// the search itself has the error.
func PlanGrep(pattern string, opts workspace.GrepOptions) Query {
	tree, err := lines.Parse(pattern, lines.Options{Literal: opts.Literal, IgnoreCase: opts.IgnoreCase, Multiline: opts.Multiline})
	if err != nil {
		return Query{}
	}
	return Plan(tree)
}

// Plan returns the Query of a pattern, as [syntax.Parse] returns it. It never asks for
// a gram or a shape with a line break, so it holds for a text with "\r\n" as with "\n".
func Plan(pattern *syntax.Regexp) Query {
	pattern = pattern.Simplify()
	p := plan(pattern)
	p.query.add(alternatives(p.texts))
	if p.query.Everything() {
		return planShapes(pattern)
	}
	return p.query
}

// planned is what is known of the matches of a part of a pattern.
//
// For "GCStats" there is one text, and no query yet; for "(get.x|set.y)" the
// texts are not known, and the query has "get" or "set". The zero planned knows
// nothing.
type planned struct {
	texts []string // each match is one of these, in lower case; nil if there are too many
	query Query    // and meets this
}

// maxTexts bounds the texts of a part. Without it, "[ab][ab][ab]..." would
// double them with each part.
const maxTexts = 32

// plan says what is known of re. What may match the empty text, or anything,
// such as "x*" and ".", adds no knowledge, and must add none: a query that asks
// for too much would lose matches.
func plan(re *syntax.Regexp) planned {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return planned{texts: []string{""}}
	case syntax.OpLiteral:
		return planLiteral(re)
	case syntax.OpCharClass:
		return planned{texts: textsOfClass(re.Rune)}
	case syntax.OpCapture:
		return plan(re.Sub[0])
	case syntax.OpQuest:
		return planned{texts: orEmpty(plan(re.Sub[0]).texts)}
	case syntax.OpPlus:
		return planConcat([]*syntax.Regexp{re})
	case syntax.OpConcat:
		return planConcat(re.Sub)
	case syntax.OpAlternate:
		return planAlternate(re.Sub)
	}
	return planned{}
}

// orEmpty returns texts and the empty text.
func orEmpty(texts []string) []string {
	if texts == nil {
		return nil
	}
	return union(texts, []string{""})
}

// union returns the texts of a and b, nil if there are too many. The result is
// sorted, and without duplicates.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > maxTexts {
		return nil
	}
	return all
}

// planLiteral plans the text of re. It is cut where a character has other
// spellings. In "(?i)grünes" the "ü" may be "Ü", which has other bytes, so the
// texts are "gr" and "nes".
func planLiteral(re *syntax.Regexp) planned {
	r := run{texts: []string{""}}
	var text []byte
	for _, c := range re.Rune {
		c, ok := spelled(c, re.Flags&syntax.FoldCase != 0)
		if text = append(text, c...); !ok {
			r.append([]string{string(text)})
			r.cut()
			text = nil
		}
	}
	r.append([]string{string(text)})
	return r.planned()
}

// spelled returns how a text spells the character c, in lower case, if there is only one
// way. A letter that equals an ASCII letter where case is ignored is spelled as that one
// everywhere, see [Append].
func spelled(c rune, fold bool) (string, bool) {
	if c == unicode.ReplacementChar || c == '\n' || c == '\r' {
		return "", false // the first one also matches bytes that are not UTF-8
	}
	if c == 'ſ' || c == '\u212a' {
		fold = true // as texts have them
	}
	if !fold {
		return lower(c), true
	}
	other := c
	for c > unicode.MaxASCII {
		if c = unicode.SimpleFold(c); c == other {
			break
		}
	}
	if c > unicode.MaxASCII && unicode.SimpleFold(c) != c {
		return "", false
	}
	return lower(c), true
}

// lower returns c as UTF-8, an ASCII letter in lower case.
func lower(c rune) string {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return string(c)
}

// maxClass bounds the characters of a class that are looked at one by one.
const maxClass = 12

// textsOfClass returns the characters of a class, nil if there are many.
func textsOfClass(ranges []rune) []string {
	texts := []string{}
	for i := 0; i+1 < len(ranges); i += 2 {
		if len(texts)+int(ranges[i+1]-ranges[i]) >= maxClass {
			return nil
		}
		for c := ranges[i]; c <= ranges[i+1]; c++ {
			text, ok := spelled(c, false)
			if !ok || !utf8.ValidRune(c) {
				return nil
			}
			texts = append(texts, text)
		}
	}
	return union(texts, nil)
}

// planAlternate plans alternatives.
//
// The texts of all parts are kept as long as they are few, so that what follows
// can be appended to each: "(get|set)Stats" becomes two texts of eight letters.
func planAlternate(parts []*syntax.Regexp) planned {
	texts := []string{}
	choice := make([]Query, 0, len(parts))
	for _, part := range parts {
		p := plan(part)
		if p.texts == nil {
			texts = nil
		} else if texts != nil {
			texts = union(texts, p.texts)
		}
		p.query.add(alternatives(p.texts))
		choice = append(choice, p.query)
	}
	if texts != nil {
		return planned{texts: texts}
	}
	return planned{query: oneOf(choice)}
}

// planConcat plans parts that follow each other.
func planConcat(parts []*syntax.Regexp) planned {
	r := run{texts: []string{""}}
	for _, part := range parts {
		repeated := part.Op == syntax.OpPlus
		if repeated {
			part = part.Sub[0]
		}
		p := plan(part)
		r.query.add(p.query)
		switch {
		case p.texts == nil:
			r.cut()
		case repeated: // the first one follows what is before, and what is after follows the last
			r.append(p.texts)
			r.cut()
			r.texts = p.texts
		default:
			r.append(p.texts)
		}
	}
	return r.planned()
}

// run is a series of parts of a pattern. For "a[bc]d.*e" it goes through these states:
//
//	part   texts      query
//	a      a
//	[bc]   ab, ac
//	d      abd, acd
//	.*     ""         abd or acd
//	e      e          abd or acd
type run struct {
	texts   []string // the matches of the parts since the last cut
	query   Query    // of the parts before
	cutOnce bool
}

// append appends each of texts to each of r's.
//
// If the combinations are too many, what is before and what is after are asked
// for apart.
func (r *run) append(texts []string) {
	if len(r.texts)*len(texts) > maxTexts {
		r.cut()
		r.texts = texts
		return
	}
	var all []string
	for _, a := range r.texts {
		for _, b := range texts {
			all = append(all, a+b)
		}
	}
	r.texts = union(all, nil)
}

// cut begins again after a part that is not known.
func (r *run) cut() {
	r.query.add(alternatives(r.texts))
	r.texts, r.cutOnce = []string{""}, true
}

// planned returns what is known of the whole. After a cut the texts of the last
// part are no longer the whole match, so they go into the query.
func (r *run) planned() planned {
	if !r.cutOnce {
		return planned{texts: r.texts, query: r.query}
	}
	r.cut()
	return planned{query: r.query}
}

// alternatives returns the Query for a text that contains one of texts.
func alternatives(texts []string) Query {
	choice := make([]Query, len(texts))
	for i, text := range texts {
		choice[i] = gramsOf(text)
	}
	return oneOf(choice)
}

// oneOf returns the Query that is met by what meets one of choice. None is as good as no
// knowledge.
func oneOf(choice []Query) Query {
	switch {
	case len(choice) == 0 || slices.ContainsFunc(choice, Query.Everything):
		return Query{}
	case len(choice) == 1:
		return choice[0]
	}
	return Query{choices: [][]Query{choice}}
}

// add makes q ask for what other asks for, too.
func (q *Query) add(other Query) {
	q.short = slices.Concat(q.short, other.short)
	q.hashes = slices.Concat(q.hashes, other.hashes)
	q.long = slices.Concat(q.long, other.long)
	q.choices = slices.Concat(q.choices, other.choices)
}

// gramsOf returns the Query for the grams of text, which is in lower case. A
// text of fewer than three bytes has none, and every text meets its Query.
func gramsOf(text string) (q Query) {
	for _, gram := range rarestFirst(text, 4) {
		q.hashes = append(q.hashes, hashOf4(binary.BigEndian.Uint32([]byte(gram))))
	}
	for _, gram := range rarestFirst(text, 5) {
		q.long = append(q.long, hashOf5(binary.BigEndian.Uint32([]byte(gram)), uint32(gram[4])))
	}
	for _, gram := range rarestFirst(text, 3) {
		q.short = append(q.short, hashOf3(uint32(gram[0])<<16|uint32(gram[1])<<8|uint32(gram[2])))
	}
	return q
}

// rarestFirst returns the grams of size bytes of text. The one that is likely to be the rarest
// comes first, as most texts lack it.
func rarestFirst(text string, size int) (grams []string) {
	for i := 0; i+size <= len(text); i++ {
		grams = append(grams, text[i:i+size])
	}
	slices.SortStableFunc(grams, func(a, b string) int { return rarity(b) - rarity(a) })
	return grams
}

// common lists letters from the most common to the less common. What is not in it is rare.
const common = "etaoinrslcdupmfhgybvwkxjqz"

// rarity grows as gram is less common.
func rarity(gram string) (sum int) {
	for i := range len(gram) {
		at := strings.IndexByte(common, gram[i])
		if at < 0 {
			at = len(common)
		}
		sum += at
	}
	return sum
}

// kindSet is the kinds that a byte of a match may have, as bits. The zero kindSet stands for
// any bytes, or none.
type kindSet uint8

// planShapes returns the Query for the shapes of a pattern's matches. It looks at each
// shapeLen bytes that follow each other in all matches.
//
// For `[a-z]\d{4}` the only shape is that of a small letter and four digits. It
// is for patterns without grams.
func planShapes(re *syntax.Regexp) (query Query) {
	sets := appendKinds(nil, re)
	for i := 0; i+shapeLen <= min(len(sets), maxShapes); i++ {
		query.add(oneOf(shapesOf(sets[i : i+shapeLen])))
	}
	return query
}

// maxShapes is in how many bytes of a pattern planShapes looks for shapes.
const maxShapes = 64

// appendKinds appends what is known of the kinds of the bytes of each match of
// re. A zero kindSet is appended where the match may have any bytes, so that no
// shape goes over that place.
func appendKinds(sets []kindSet, re *syntax.Regexp) []kindSet {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return sets
	case syntax.OpLiteral:
		for _, c := range re.Rune {
			set := kindsOf(c, c)
			if letters := kindSet(1<<small | 1<<capital); re.Flags&syntax.FoldCase != 0 && set&letters != 0 {
				set = letters
			}
			sets = append(sets, set)
		}
		return sets
	case syntax.OpCharClass:
		return append(sets, kindsOf(re.Rune...))
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			if len(sets) < maxShapes {
				sets = appendKinds(sets, sub)
			}
		}
		return sets
	case syntax.OpPlus:
		sets = appendKinds(sets, re.Sub[0])
		if re.Sub[0].Op != syntax.OpCharClass {
			return append(sets, 0)
		}
		// What is after \d\d\d+ follows three digits, as what is before is followed by three.
		last := len(sets) - 1
		first := last
		for first > 0 && sets[first-1] == sets[last] {
			first--
		}
		return slices.Concat(sets, []kindSet{0}, sets[first:])
	}
	return append(sets, 0)
}

// kindsOf returns the kinds of the characters in ranges, zero if one is a line break or takes
// more than one byte in a [Set].
func kindsOf(ranges ...rune) (set kindSet) {
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if lo == hi && (lo == 'ſ' || lo == '\u212a') {
			set |= 1 << small
			continue
		}
		if hi > unicode.MaxASCII {
			return 0
		}
		for c := lo; c <= hi; c++ {
			if c == '\n' || c == '\r' {
				return 0
			}
			set |= 1 << kindOf[c]
		}
	}
	return set
}

// shapesOf returns a Query for each shape that the sets allow, none if there
// are many or one has no digit. Shapes without a digit are not in a [Set], see
// add.
func shapesOf(sets []kindSet) []Query {
	shapes := []uint32{0}
	for _, set := range sets {
		var longer []uint32
		for _, shape := range shapes {
			for kind := uint32(digit); kind < kinds; kind++ {
				if set&(1<<kind) != 0 {
					longer = append(longer, shape<<kindBits|kind)
				}
			}
		}
		if shapes = longer; len(shapes) > maxTexts {
			return nil
		}
	}
	if !slices.Contains(sets, 1<<digit) {
		return nil
	}
	choice := make([]Query, len(shapes))
	for i, shape := range shapes {
		hashes := hashesOfShape(shape)
		choice[i].hashes = hashes[:]
	}
	return choice
}
