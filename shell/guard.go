package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// A guard is a command substitution $(<'/dev/guard/TERMS') that expands to nothing. The
// interpreter opens the file before it expands what comes after it, and the handler for
// files refuses if that would take too much memory. TERMS is an upper bound in bytes, a
// sum of products, in which a name stands for the size of the variable:
//
//	x=$x$x              x=$(<'/dev/guard/=x+x')$x$x
//	y=${x//a/$z}        y=$(<'/dev/guard/=x*z+x*2')${x//a/$z}
//	[[ $a == $p ]]      [[ $a == $(<'/dev/guard/?p+p')$p ]]
//	echo $x*            echo $(<'/dev/guard/~x+x') $x*
//	x=$(ls)             x=$(<'/dev/guard/=')$(ls)
//
// "=" at the beginning says that the value will be kept. "?name" is a pattern, which is
// compiled and so must be short, and "~name" one whose words are patterns if they have the
// characters of globs. "!name" is the variable whose name name holds, and "@" the positional
// parameters.
//
// The bound is computed each time that the guard is expanded, so that a loop is checked in
// each round. What a command substitution will print is not known before it runs:
// [capture] looks after that.
const guardPrefix = "/dev/guard/"

// maxPattern is the longest pattern in bytes that a variable may hold. The interpreter
// translates a pattern into a regular expression, which takes many times its length.
const maxPattern = 32 << 10

// guarding collects what a word needs.
//
// The zero value is ready. A word without expansions leaves it as it is.
type guarding struct {
	terms    []string
	plain    int  // expansions of the form $x
	unlikely bool // there is more than those: it must be guarded
	output   bool // there is a command substitution
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
	if p.Excl {
		name = "!" + name
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
// substitutions before it are counted then (run.keep).
func (g *guarding) part(kept bool) *syntax.CmdSubst {
	switch {
	case kept && (len(g.terms) > 0 || g.output):
		return newGuard("=" + strings.Join(g.terms, "+"))
	case g.unlikely, g.plain > 3:
		return newGuard(strings.Join(g.terms, "+"))
	}
	return nil
}

// newGuard returns the guard with terms, which have no quote: parameters, numbers and marks.
func newGuard(terms string) *syntax.CmdSubst {
	return &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Redirs: []*syntax.Redirect{{
		Op:   syntax.RdrIn,
		Word: &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: guardPrefix + terms}}},
	}}}}}
}

// isGuard reports whether part is a guard. A script can spell one itself; that is expanded
// like any other, and lost when a function is shown.
func isGuard(part syntax.WordPart) bool {
	subst, ok := part.(*syntax.CmdSubst)
	if !ok || len(subst.Stmts) != 1 || subst.Stmts[0].Cmd != nil || len(subst.Stmts[0].Redirs) != 1 {
		return false
	}
	word := subst.Stmts[0].Redirs[0].Word
	if word == nil || len(word.Parts) != 1 {
		return false
	}
	quoted, ok := word.Parts[0].(*syntax.SglQuoted)
	return ok && strings.HasPrefix(quoted.Value, guardPrefix)
}

// check is the other half of a guard: it ends the run if what terms say would be too much.
// It is called by the handler for files, with the variables as the interpreter sees them.
//
// Sizes are cut at 1<<40 after each step, so that no product overflows. A value that is kept
// is counted by keep; another one may have four times the budget Variables, as it goes when the
// command ends.
//
// For example, x has 1,000 bytes and z has 3, and each size counts one more:
//
//	=x*z+x*2    1001*4 + 1001*2 = 6006 bytes, which are kept
//	?p          ends the run if p has more than 32 KiB
func (r *run) check(env expand.Environ, terms string) error {
	terms, kept := strings.CutPrefix(terms, "=")
	total := int64(0)
	for term := range strings.SplitSeq(terms, "+") {
		if term == "" {
			continue
		}
		if name, ok := strings.CutPrefix(term, "?"); ok {
			if r.sizeOf(env, name) > maxPattern {
				return r.stop("a pattern longer than %d bytes", maxPattern)
			}
			continue
		}
		if name, ok := strings.CutPrefix(term, "~"); ok {
			if longestPattern(env.Get(name)) > maxPattern {
				return r.stop("a pattern longer than %d bytes", maxPattern)
			}
			continue
		}
		product := int64(1)
		for factor := range strings.SplitSeq(term, "*") {
			if name, ok := strings.CutPrefix(factor, "!"); ok && renames[env.Get(name).Str] != "" {
				return r.stop("${!%s} is not possible where %s is %s", name, name, env.Get(name).Str)
			}
			product = min(product*r.sizeOf(env, factor), 1<<40)
		}
		total = min(total+product, 1<<40)
	}
	if !kept {
		if total > 4*int64(r.opts.Variables) {
			return r.stopBudget("expansions", r.opts.Variables, "Variables")
		}
		return nil
	}
	return r.keep(env, total)
}

// keep counts size bytes that are about to be stored in a variable, and ends the run if the
// variables would pass the budget. The sizes of all variables are added up only when so much
// has been stored since the last time that the budget may have been reached.
//
// Adding up each time would make a loop over n variables take n*n steps. So stored only grows
// between two sums: bytes that replace others count as if they were added. A single value of
// more than a quarter of the budget always causes a sum.
func (r *run) keep(env expand.Environ, size int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	limit := int64(r.opts.Variables)
	r.stored += size + r.captured.Swap(0)
	if r.stored <= limit/4 && size <= limit/4 {
		return nil
	}
	if r.held = variablesSize(env); r.held+size > limit {
		return r.stopBudget("variables", r.opts.Variables, "Variables")
	}
	r.stored = size
	return nil
}

// sizeOf returns the size of what factor stands for.
// A number stands for itself. At most ten name references are followed, as they may form a
// circle. An unset variable counts 1.
//
// Positional parameters come from the arguments of a call, so that the longest call so far is
// a bound for them.
func (r *run) sizeOf(env expand.Environ, factor string) int64 {
	if n, err := strconv.Atoi(factor); err == nil {
		return int64(n)
	}
	if factor == "@" || factor == "!@" {
		return max(r.maxArgs.Load(), 16)
	}
	if name, ok := strings.CutPrefix(factor, "!"); ok {
		if vr := env.Get(name); vr.Kind == expand.String {
			factor = vr.Str
		}
	}
	if factor == "" {
		return 0
	}
	vr := env.Get(factor)
	for range 10 {
		if vr.Kind != expand.NameRef || vr.Str == "" {
			break
		}
		vr = env.Get(vr.Str)
	}
	return variableSize(vr)
}

// variableSize returns about how much memory a variable takes.
// The numbers added for each element are about what Go needs for a string and an entry of a map.
func variableSize(vr expand.Variable) int64 {
	size := int64(len(vr.Str))
	for _, s := range vr.List {
		size += int64(len(s)) + 24
	}
	for k, s := range vr.Map {
		size += int64(len(k)+len(s)) + 64
	}
	return size + 1
}

// variablesSize returns the sizes of all variables.
func variablesSize(env expand.Environ) int64 {
	size := int64(0)
	env.Each(func(name string, vr expand.Variable) bool {
		size += variableSize(vr) + int64(len(name)) + 64
		return true
	})
	return size
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
