package rewrite

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
)

// GuardPath is the directory of guards. A guard is a command substitution
// $(<'/dev/guard/TERMS') that expands to nothing. The interpreter opens the file before it
// expands what comes after it, and the handler for files refuses if that would take too much
// memory. TERMS is an upper bound in bytes, a sum of products, in which a name stands for the
// size of the variable:
//
//	x=$x$x              x=$(<'/dev/guard/=x+x')$x$x
//	y=${x//a/$z}        y=$(<'/dev/guard/=x*z+x*2')${x//a/$z}
//	[[ $a == $p ]]      [[ $a == $(<'/dev/guard/?p+p')$p ]]
//	echo $x*            echo $(<'/dev/guard/~x+x') $x*
//	x=$(ls)             x=$(<'/dev/guard/=')$(ls)
//
// "=" at the beginning says that the value will be kept. "?name" is a pattern, which is
// compiled and so must be short, and "~name" one whose words are patterns if they have the
// characters of globs. "^name" is a part of an expression for =~, which has no back references.
// "!name" is the variable whose name name holds, "!#name" the same if name is no array, and "@"
// the positional parameters. "!@" are the variables whose names positional parameters hold. The
// values of these follow, as no handler knows them. With >&1, the interpreter expands them in a
// subshell; without, it would print them:
//
//	x=${!1}             x=$(<'/dev/guard/=!@*4'"/${1-}" >&1)${!1}
//
// The bound is computed each time that the guard is expanded, so that a loop is checked in
// each round. What a command substitution will print is not known before it runs:
// the file [CapturePath] looks after that.
const GuardPath = "/dev/guard/"

// maxPattern is the longest pattern in bytes that a variable may hold. The interpreter
// translates a pattern into a regular expression, which takes many times its length.
const maxPattern = 32 << 10

// guarding collects what a word needs.
//
// The zero value is ready. A word without expansions leaves it as it is.
type guarding struct {
	terms    []string
	names    []*syntax.ParamExp // positional parameters that hold the name of a variable
	plain    int                // expansions of the form $x
	unlikely bool               // there is more than those: it must be guarded
	output   bool               // there is a command substitution
}

// word adds the expansions in a word. pattern says that the word is a pattern, and split
// that it makes fields: braces then repeat the rest of the word.
//
//	{1..9}$x    x*9
func (g *guarding) word(w *syntax.Word, pattern, split bool) {
	if w == nil {
		return
	}
	before := len(g.terms)
	g.parts(w.Parts, pattern, split)
	if !split {
		return
	}
	if n := braces(w); n > 1 {
		for i, term := range g.terms[before:] {
			if term[0] != '~' && term[0] != '?' {
				g.terms[before+i] = term + "*" + strconv.Itoa(n)
				g.unlikely = true
			}
		}
		if size := literalSize(w); size > 1000 {
			g.terms = append(g.terms, strconv.Itoa(size)+"*"+strconv.Itoa(n))
			g.unlikely = true
		}
	}
}

// parts is word for parts. Literals are in the script already, arithmetic is a number, and a
// process substitution a short name, so that none of them needs a term.
func (g *guarding) parts(parts []syntax.WordPart, pattern, split bool) {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.DblQuoted:
			g.parts(part.Parts, pattern, false)
		case *syntax.CmdSubst:
			g.output = true
		case *syntax.ParamExp:
			g.param(part, pattern, split)
		}
	}
}

// param adds one parameter expansion.
//
// $?, $#, $- and $! are short, and ${#x} is a number, so they need no term.
func (g *guarding) param(p *syntax.ParamExp, pattern, split bool) {
	if p.Param == nil || p.Length {
		return
	}
	name := p.Param.Value
	switch name[0] {
	case '?', '#', '-', '!':
		return
	// All parameters together are the bound of each.
	case '@', '*', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		name = "@"
	}
	switch {
	case p.Excl && name == "@":
		g.names = append(g.names, nameIn(p.Param.Value))
		fallthrough
	case p.Excl && p.Index == nil && p.Names == 0:
		name = "!" + name
		g.unlikely = true
	case p.Excl:
		name = "!#" + name
		g.unlikely = true
	}
	switch {
	case pattern:
		g.terms, g.unlikely = append(g.terms, "?"+name), true
	case split:
		g.terms, g.unlikely = append(g.terms, "~"+name), true
	}
	switch {
	case p.Repl != nil:
		g.unlikely = true
		g.word(p.Repl.Orig, true, false)
		with := guarding{}
		with.word(p.Repl.With, false, false)
		g.names = append(g.names, with.names...)
		// At worst, each byte of the value is replaced.
		for _, factor := range append(with.terms, strconv.Itoa(literalSize(p.Repl.With)+1)) {
			g.terms = append(g.terms, name+"*"+factor)
		}
	case p.Exp != nil:
		g.unlikely = true
		trim := p.Exp.Op == syntax.RemSmallPrefix || p.Exp.Op == syntax.RemLargePrefix ||
			p.Exp.Op == syntax.RemSmallSuffix || p.Exp.Op == syntax.RemLargeSuffix
		g.word(p.Exp.Word, trim, split)
		g.terms = append(g.terms, name+"*4")
	case p.Excl, p.Index != nil, p.Slice != nil:
		g.terms = append(g.terms, name+"*4")
		g.plain++
	default:
		g.terms = append(g.terms, name)
		g.plain++
	}
}

// literalSize returns how many bytes of a word are spelled out.
func literalSize(w *syntax.Word) int {
	size := 0
	if w != nil {
		syntax.Walk(w, func(node syntax.Node) bool {
			switch node := node.(type) {
			case *syntax.Lit:
				size += len(node.Value)
			case *syntax.SglQuoted:
				size += len(node.Value)
			}
			return true
		})
	}
	return size
}

// part returns the guard for what has been collected, nil if none is needed. kept says
// that the value is kept.
//
// A few plain expansions need no guard where nothing is kept: their variables are bounded
// already, and a guard costs a call of the handler.
//
// A substitution that is kept has a guard also without terms, "=": the bytes of the
// substitutions before it are counted then.
func (g *guarding) part(kept bool) *syntax.CmdSubst {
	switch {
	case kept && (len(g.terms) > 0 || g.output):
		return newGuard("="+strings.Join(g.terms, "+"), g.names...)
	case g.unlikely, g.plain > 3:
		return newGuard(strings.Join(g.terms, "+"), g.names...)
	}
	return nil
}

// newGuard returns the guard with terms, which have no quote: parameters, numbers and marks. The
// values of names follow, each after a slash.
func newGuard(terms string, names ...*syntax.ParamExp) *syntax.CmdSubst {
	guard := readFrom(GuardPath + terms)
	if len(names) == 0 {
		return guard
	}
	st := guard.Stmts[0]
	path := st.Redirs[0].Word
	for _, p := range names {
		path.Parts = append(path.Parts, &syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.Lit{Value: "/"}, p}})
	}
	st.Redirs = append(st.Redirs, &syntax.Redirect{Op: syntax.DplOut, Word: literal("1")})
	return guard
}

// nameIn returns the expansion of a positional parameter in a guard, which is no error with set -u.
func nameIn(param string) *syntax.ParamExp {
	p := &syntax.ParamExp{Param: &syntax.Lit{Value: param}}
	if param != "@" && param != "*" {
		p.Exp = &syntax.Expansion{Op: syntax.DefaultUnset}
	}
	return p
}

// insert puts the guard into the word w: before its first expansion and its first brace, but after
// a literal at the beginning, which may have a tilde.
//
//	~/a$x        ~/a$(<'/dev/guard/x')$x
//	~/{a,b}$x    ~/$(<'/dev/guard/x*2'){a,b}$x
func (g *guarding) insert(w *syntax.Word, kept bool) {
	part := g.part(kept)
	if part == nil {
		return
	}
	parts := []syntax.WordPart{part}
	rest := w.Parts
	if lit, ok := rest[0].(*syntax.Lit); ok {
		rest = rest[1:]
		before, _, found := strings.Cut(lit.Value, "{")
		if found {
			before = strings.TrimRight(before, `\`)
			parts = append(parts, &syntax.Lit{Value: lit.Value[len(before):]})
		}
		if before != "" {
			parts = slices.Insert(parts, 0, syntax.WordPart(&syntax.Lit{Value: before}))
		}
	}
	w.Parts = append(parts, rest...)
}

// guardWord puts a guard into a word that makes one field. w may be nil.
func guardWord(w *syntax.Word, pattern, kept bool) {
	if w == nil {
		return
	}
	g := guarding{}
	g.word(w, pattern, false)
	g.insert(w, kept)
}

// guardAssign guards an assignment: what it stores is kept. Each element of an array has its own
// guard in it, as the interpreter goes on with the next element after one that has failed.
func (r *Rewriter) guardAssign(as *syntax.Assign) {
	if as.Value != nil {
		guardWord(as.Value, false, true)
	}
	if as.Array == nil {
		return
	}
	for _, elem := range as.Array.Elems {
		if elem.Value == nil {
			continue
		}
		g := guarding{}
		g.word(elem.Value, false, elem.Index == nil)
		g.insert(elem.Value, true)
		r.checkGlob(elem.Value)
	}
}

// fields guards words that make fields: a guard of its own stands at index, or in front if
// there is an expansion before. It also counts what braces make of them.
//
// The guard is a word that expands to no field. In a command, index is 1, as the first word
// says what is called:
//
//	echo $x*     echo $(<'/dev/guard/~x+x') $x*
//	$c $x*       $(<'/dev/guard/~c+c+~x+x') $c $x*
func (r *Rewriter) fields(words *[]*syntax.Word, index int) error {
	g := guarding{}
	total := 0
	for i, w := range *words {
		before := len(g.terms)
		unescapeDefaults(w)
		g.word(w, false, true)
		r.checkGlob(w)
		if i < index && len(g.terms) > before {
			index = 0
		}
		if err := r.countBraces(w, &total); err != nil {
			return err
		}
	}
	var kept []*syntax.Word
	for _, w := range *words {
		kept = append(kept, dropEmpty(w)...)
	}
	if len(kept) > 0 { // a command needs a word
		*words = kept
	}
	if part := g.part(false); part != nil && index <= len(*words) {
		*words = slices.Insert(*words, index, &syntax.Word{Parts: []syntax.WordPart{part}})
	}
	return nil
}

// emptyBrace matches braces with an empty element.
var emptyBrace = lazyregexp.New(`[{,][,}]`)

// dropEmpty returns a word, or what its braces make if an empty word is part of that, which the
// interpreter keeps and bash leaves out. They have been counted.
//
//	{,x}{,y}    y x xy
func dropEmpty(w *syntax.Word) []*syntax.Word {
	if !emptyBrace().MatchString(w.Lit()) {
		return []*syntax.Word{w}
	}
	split := *w
	syntax.SplitBraces(&split)
	var words []*syntax.Word
	dropped := false
	for word := range expand.BracesSeq(nil, &split) {
		text := word.Lit()
		if dropped = dropped || text == ""; text != "" {
			words = append(words, literal(text))
		}
	}
	if !dropped {
		return []*syntax.Word{w}
	}
	return words
}

// dropEmptyElems is dropEmpty for the elements of an array.
func dropEmptyElems(array *syntax.ArrayExpr) {
	var kept []*syntax.ArrayElem
	for _, elem := range array.Elems {
		if elem.Index != nil || elem.Value == nil {
			kept = append(kept, elem)
			continue
		}
		for _, w := range dropEmpty(elem.Value) {
			kept = append(kept, &syntax.ArrayElem{Value: w})
		}
	}
	array.Elems = kept
}

// maxBraces is how many words the braces of one word may make for the interpreter, which
// leaves out the command otherwise, and goes on. maxBraceDepth is how many may be in each other.
const (
	maxBraces     = 16384
	maxBraceDepth = 50
)

// countBraces adds how many words the braces in w make to total. It is an error if they
// are too many.
func (r *Rewriter) countBraces(w *syntax.Word, total *int) error {
	n := braces(w)
	switch *total += n; {
	case *total > r.opts.Expansions:
		return fmt.Errorf("braces make more words than the %d of the budget Expansions", r.opts.Expansions)
	case n > maxBraces:
		return fmt.Errorf("the braces of one word make more than %d words", maxBraces)
	}
	return nil
}

// braces returns how many words the braces in w make: the product of its braces. Each
// makes the sum of its elements.
//
//	{a,b}{1..3}     2 * 3 = 6
//	{a,{b,c}}x      1 + 2 = 3
//
// w is not changed. Braces that are nested too deeply for the interpreter, whose time grows with
// the square of the depth, count as too many words.
func braces(w *syntax.Word) int {
	word := *w
	syntax.SplitBraces(&word)
	return braceParts(&word, 0)
}

// braceParts is braces for a word whose braces have been split, which is depth braces deep.
func braceParts(w *syntax.Word, depth int) int {
	if depth > maxBraceDepth {
		return saturate(math.MaxInt)
	}
	product := 1
	for _, part := range w.Parts {
		br, ok := part.(*syntax.BraceExp)
		if !ok {
			continue
		}
		n := 0
		if br.Sequence {
			n = sequence(br)
		} else {
			for _, elem := range br.Elems {
				n = saturate(n + braceParts(elem, depth+1))
			}
		}
		product = saturate(product * max(n, 1))
	}
	return product
}

// saturate keeps a count from overflowing.
func saturate(n int) int { return min(n, 1<<30) }

// sequence returns how many words {1..9} and the like make. A sequence of letters has at most
// 256. Zero as the step is 1, as in bash.
func sequence(br *syntax.BraceExp) int {
	from, err1 := strconv.ParseInt(br.Elems[0].Lit(), 10, 64)
	to, err2 := strconv.ParseInt(br.Elems[1].Lit(), 10, 64)
	if err1 != nil || err2 != nil {
		return 256
	}
	step := int64(1)
	if len(br.Elems) > 2 {
		if n, err := strconv.ParseInt(br.Elems[2].Lit(), 10, 64); err == nil && n != 0 {
			step = max(n, -n, 1)
		}
	}
	span := uint64(to) - uint64(from)
	if from > to {
		span = uint64(from) - uint64(to)
	}
	if span >= 1<<62 || max(from, -from) >= 1<<62 || max(to, -to) >= 1<<62 {
		return 1 << 30 // also where counting up to the end would overflow
	}
	return saturate(int(span/uint64(step)) + 1)
}

// GuardSize is the other half of a guard: it returns the bound that terms stand for, with the
// variables as the interpreter sees them, and whether the value is kept. params is a bound of the
// positional parameters. The error says that the guard refuses.
//
// Sizes are cut at 1<<40 after each step, so that no product overflows.
//
// For example, x has 1,000 bytes and z has 3, and each size counts one more:
//
//	=x*z+x*2    1001*4 + 1001*2 = 6006 bytes, which are kept
//	?p          an error if p has more than 32 KiB
func GuardSize(env expand.Environ, terms string, params int64) (total int64, kept bool, err error) {
	terms, kept = strings.CutPrefix(terms, "=")
	terms, values, _ := strings.Cut(terms, "/")
	vars := variables{env, strings.Split(values, "/"), params}
	for term := range strings.SplitSeq(terms, "+") {
		if term == "" {
			continue
		}
		if name, ok := strings.CutPrefix(term, "?"); ok {
			if vars.size(name) > maxPattern+1 { // the size counts one more
				return 0, kept, errPattern
			}
			continue
		}
		if name, ok := strings.CutPrefix(term, "~"); ok {
			for _, name := range vars.names(name) {
				if longestPattern(env.Get(name)) > maxPattern {
					return 0, kept, errPattern
				}
			}
			continue
		}
		if name, ok := strings.CutPrefix(term, "^"); ok {
			if backReference().MatchString(env.Get(name).String()) {
				return 0, kept, fmt.Errorf("bash: %s: %w", name, ErrBackReference)
			}
			continue
		}
		product := int64(1)
		for factor := range strings.SplitSeq(term, "*") {
			if names := vars.names(factor); strings.HasPrefix(factor, "!") && slices.ContainsFunc(names, isHosts) {
				name := strings.TrimLeft(factor, "!#")
				if name == "@" { // of the parameters, the guard does not know which
					name = names[slices.IndexFunc(names, isHosts)]
				}
				return 0, kept, fmt.Errorf("bash: %s: %w", name, ErrIndirect)
			}
			product = min(product*vars.size(factor), 1<<40)
		}
		total = min(total+product, 1<<40)
	}
	return total, kept, nil
}

// errPattern is the error of a pattern that is too long.
var errPattern = fmt.Errorf("a pattern longer than %d bytes", maxPattern)

// ErrBackReference is the error of a guard for an expression with one, which the interpreter refuses
// without a message.
var ErrBackReference = errors.New("back references are not supported in [[ =~ ]]")

// backReference matches text with a back reference. A backslash before it makes it plain text.
var backReference = lazyregexp.New(`^([^\\]|\\[^1-9])*\\[1-9]`)

// ErrIndirect is the error of a guard for an indirect expansion of a parameter of the host.
var ErrIndirect = errors.New("invalid indirect expansion")

// isHosts reports whether the interpreter would take the parameter from the host. It has the $0 of
// the script.
func isHosts(name string) bool { return renames[name] != "" && name != "0" }

// variables are what the factors of a guard stand for.
type variables struct {
	env    expand.Environ
	values []string // of the positional parameters that hold names
	params int64    // a bound of the positional parameters
}

// names returns the parameters that a factor stands for.
func (v variables) names(factor string) []string {
	if factor == "!@" {
		return v.values
	}
	name, indirect := strings.CutPrefix(factor, "!")
	if !indirect {
		return []string{name}
	}
	name, keys := strings.CutPrefix(name, "#")
	vr := v.env.Get(name)
	switch {
	case keys && (vr.Kind == expand.Indexed || vr.Kind == expand.Associative):
		return []string{name}
	case vr.Kind == expand.Associative:
		return []string{vr.Map["0"]}
	case vr.Kind == expand.Indexed && len(vr.List) > 0:
		return vr.List[:1]
	}
	return []string{vr.Str}
}

// size returns the size of what a factor stands for, of the largest if it stands for several.
func (v variables) size(factor string) int64 {
	if n, err := strconv.Atoi(factor); err == nil {
		return int64(n)
	}
	if factor == "@" {
		return max(v.params, 16)
	}
	size := int64(0)
	for _, name := range v.names(factor) {
		size = max(size, v.sizeOf(name))
	}
	return size
}

// sizeOf returns the size of a parameter.
// At most ten name references are followed, as they may form a circle. An unset variable counts 1.
//
// Positional parameters come from the arguments of a call, so that the longest call so far is
// a bound for them.
func (v variables) sizeOf(name string) int64 {
	switch {
	case name == "":
		return 0
	case name == "@", name == "*", name[0] >= '0' && name[0] <= '9':
		return max(v.params, 16)
	}
	vr := v.env.Get(name)
	for range 10 {
		if vr.Kind != expand.NameRef || vr.Str == "" {
			break
		}
		vr = v.env.Get(vr.Str)
	}
	return VariableSize(vr)
}

// VariableSize returns about how much memory a variable takes.
// The numbers added for each element are about what Go needs for a string and an entry of a map.
func VariableSize(vr expand.Variable) int64 {
	size := int64(len(vr.Str))
	for _, s := range vr.List {
		size += int64(len(s)) + 24
	}
	for k, s := range vr.Map {
		size += int64(len(k)+len(s)) + 64
	}
	return size + 1
}

// longestPattern returns the length of the longest word of a variable that the shell would
// compile as a glob. It returns 0 where no element is longer than maxPattern, so that the
// common case costs no search.
func longestPattern(vr expand.Variable) int {
	longest := 0
	for _, s := range append([]string{vr.Str}, vr.List...) {
		if len(s) <= maxPattern {
			continue
		}
		for word := range strings.FieldsSeq(s) {
			if len(word) > longest && strings.ContainsAny(word, "*?[") {
				longest = len(word)
			}
		}
	}
	return longest
}
