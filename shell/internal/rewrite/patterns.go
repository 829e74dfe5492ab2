package rewrite

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"

	"github.com/workspacekit/workspacekit/internal/ctxregexp"
	"github.com/workspacekit/workspacekit/internal/lazyregexp"
)

// The interpreter forgets the quotes in the expression of =~ and in the patterns of ${x#p} and
// ${x%p}. So rewrite makes quoted text a command substitution that prints it with escapes:
//
//	[[ $x =~ ^"$p" ]]    [[ $x =~ '(?s)'^$('wk quote' '=~' "$p") ]]
//	${x#"$p"}            ${x#$('wk quote' '#' "$p")}
//
// It also knows no patterns of extglob in expansions, and finds the wrong suffix in some texts
// of several lines. There, a command prints how many characters are left out at the beginning,
// or stay. Its last argument is what has been replaced, for Restore:
//
//	${x##+(0)}    ${x:$('wk trim' '##' 'x' "+(0)" '${x##+(0)}')$(<'/dev/guarded-number/e')}
//	${x%.*}       ${x:0:$('wk trim' '%' 'x' ".*" '${x%.*}')$(<'/dev/guarded-number/e')}
//
// Nor does it know where a pattern is anchored. The same command prints "*" if the pattern matches
// there, and the rest of the text is in the replacement:
//
//	${x/#a/b}     ${x/$('wk trim' '/#=' 'x' "a" '#a')$(<'/dev/guarded-number/e')/b${x##a}}
//	${x/%a/b}     ${x/$('wk trim' '/%=' 'x' "a" '%a')$(<'/dev/guarded-number/e')/${x%%a}b}
//
// where ${x##a} and ${x%%a} are slices as above, too.

// anyNewline is how an expression begins in which "." is also the end of a line, as in bash.
const anyNewline = "(?s)"

// isAnyNewline reports whether part is what quoteExpression puts in front.
func isAnyNewline(part syntax.WordPart) bool {
	quoted, ok := part.(*syntax.SglQuoted)
	return ok && quoted.Value == anyNewline
}

// quoteParts makes command substitutions of the quoted parts of w that have special characters.
func (r *Rewriter) quoteParts(w *syntax.Word, mark string) {
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.SglQuoted:
			if !part.Dollar && plainText().MatchString(part.Value) {
				continue
			}
		case *syntax.DblQuoted:
			if text, ok := literalText(part.Parts); ok && plainText().MatchString(text) {
				continue
			}
		default:
			continue
		}
		w.Parts[i] = r.quoteSubst(part, mark)
	}
}

// quoteSubst returns what replaces quoted text in a pattern.
func (r *Rewriter) quoteSubst(part syntax.WordPart, mark string) *syntax.CmdSubst {
	arg := &syntax.Word{Parts: []syntax.WordPart{part}}
	guardWord(arg, false, false)
	call := r.internalCall(QuoteCommand, singleQuoted(mark), arg)
	return &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: call}}}
}

// plainText matches text that means itself in patterns and expressions.
var plainText = lazyregexp.New(`^[\w/ ,:;@%=~"'<>&!-]*$`)

// literalText returns the text of parts that are all literal.
func literalText(parts []syntax.WordPart) (text string, ok bool) {
	for _, part := range parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return "", false
		}
		text += lit.Value
	}
	return text, true
}

// Quoted returns what the command [QuoteCommand] prints for its arguments: text as a part of an
// expression or a pattern that matches only that text.
func Quoted(mark, text string) string {
	if mark == "=~" {
		return strings.ReplaceAll(regexp.QuoteMeta(text), "\n", `\n`)
	}
	return strings.ReplaceAll(quotePattern(text), "\n", "[\n]")
}

// trim rewrites ${x#p}, ${x##p}, ${x%p} and ${x%%p}. It reports whether p is a slice now.
func (r *Rewriter) trim(p *syntax.ParamExp) (sliced bool, err error) {
	if p.Exp == nil || p.Exp.Word == nil || p.Excl || p.Length || p.Param == nil {
		return false, nil
	}
	isSuffix := p.Exp.Op == syntax.RemSmallSuffix || p.Exp.Op == syntax.RemLargeSuffix
	if !isSuffix && p.Exp.Op != syntax.RemSmallPrefix && p.Exp.Op != syntax.RemLargePrefix {
		return false, nil
	}
	text, extended := r.patternText(p.Exp.Word)
	source := printed(&syntax.Word{Parts: []syntax.WordPart{p}})
	if isList(p) || slices.Contains(computed, p.Param.Value) || text == nil || !extended && (p.Exp.Op != syntax.RemSmallSuffix || !strings.Contains(source, "*")) {
		if extended {
			return false, errors.New("patterns of extglob are not supported in this expansion: " + source)
		}
		r.quoteParts(p.Exp.Word, "#")
		return false, nil
	}
	slice := r.trimSlice(p, p.Exp.Op.String(), text, source)
	p.Exp, p.Short, p.Slice = nil, false, slice
	return true, nil
}

// trimSlice returns the part of p that op leaves, a slice. source is for Restore.
func (r *Rewriter) trimSlice(p *syntax.ParamExp, op string, text []syntax.WordPart, source string) *syntax.Slice {
	count := r.trimWord(p, op, text, source)
	if op[0] == '%' {
		return &syntax.Slice{Offset: literal("0"), Length: count}
	}
	return &syntax.Slice{Offset: count}
}

// trimWord returns what calls [TrimCommand] for the value of p.
func (r *Rewriter) trimWord(p *syntax.ParamExp, op string, text []syntax.WordPart, source string) *syntax.Word {
	value := singleQuoted(p.Param.Value)
	if !syntax.ValidName(p.Param.Value) || p.Index != nil {
		element := copied(&syntax.ParamExp{Param: p.Param, Index: p.Index, Exp: &syntax.Expansion{Op: syntax.DefaultUnset}})
		value.Parts = []syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{element}}}
	} else {
		op += "="
	}
	arg := &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: text}}}
	guardWord(value, false, false)
	guardWord(arg, true, false)
	call := r.internalCall(TrimCommand, singleQuoted(op), value, arg, &syntax.Word{Parts: []syntax.WordPart{dollarQuoted(source)}})
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: call}}}, readFrom(NumberPath + string(InExpansion))}}
}

// copied returns a copy of p, which shares no node with it: rewrite changes each node once.
func copied(p *syntax.ParamExp) syntax.WordPart {
	return parseCommand(": " + printed(&syntax.Word{Parts: []syntax.WordPart{p}})).(*syntax.CallExpr).Args[1].Parts[0]
}

// anchored rewrites ${x/#p/text} and ${x/%p/text}.
func (r *Rewriter) anchored(p *syntax.ParamExp) error {
	if p.Param == nil || !isAnchored(p.Repl) {
		return nil
	}
	orig := p.Repl.Orig
	first := *orig.Parts[0].(*syntax.Lit)
	anchor := first.Value[:1]
	first.Value = first.Value[1:]
	trimmed := &syntax.Word{Parts: append([]syntax.WordPart{&first}, orig.Parts[1:]...)}
	text, _ := r.patternText(trimmed)
	use := ""
	if listName(p) != "" {
		use = "a loop over the elements"
	} else if slices.Contains(computed, p.Param.Value) || text == nil || !mayRepeat(p.Index) {
		use = "variables for the text and the pattern"
	}
	if use != "" {
		return fmt.Errorf("%s is not supported; use %s", printed(&syntax.Word{Parts: []syntax.WordPart{p}}), use)
	}
	again, _ := r.patternText(trimmed)
	rest := &syntax.ParamExp{Param: &syntax.Lit{Value: p.Param.Value}, Slice: r.trimSlice(p, anchor+anchor, again, "")}
	if p.Index != nil {
		rest.Index = copied(&syntax.ParamExp{Param: p.Param, Index: p.Index}).(*syntax.ParamExp).Index
	}
	r.wrapped[rest] = true
	p.Repl.Orig = r.trimWord(p, "/"+anchor, text, printed(orig))
	with := withoutTilde(p.Repl.With)
	if anchor == "#" {
		with = append(with, rest)
	} else {
		with = slices.Insert(with, 0, syntax.WordPart(rest))
	}
	p.Repl.With = &syntax.Word{Parts: with}
	return nil
}

// withoutTilde returns a copy of the parts of w, with $HOME in place of "~" and "~/" at the beginning: they
// mean the same only there. w may be nil.
func withoutTilde(w *syntax.Word) []syntax.WordPart {
	if w == nil || len(w.Parts) == 0 {
		return nil
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok || lit.Value != "~" && !strings.HasPrefix(lit.Value, "~/") || lit.Value == "~" && len(w.Parts) > 1 {
		return slices.Clone(w.Parts)
	}
	home := &syntax.ParamExp{Param: &syntax.Lit{Value: "HOME"}}
	return append([]syntax.WordPart{home, &syntax.Lit{Value: lit.Value[1:]}}, w.Parts[1:]...)
}

// isAnchored reports whether a replacement has "#" or "%" at the beginning of its pattern. repl may be nil.
func isAnchored(repl *syntax.Replace) bool {
	if repl == nil || repl.All || repl.Orig == nil || len(repl.Orig.Parts) == 0 {
		return false
	}
	lit, ok := repl.Orig.Parts[0].(*syntax.Lit)
	return ok && (strings.HasPrefix(lit.Value, "#") || strings.HasPrefix(lit.Value, "%"))
}

// mayRepeat reports whether an index can be expanded several times, and printed: nothing in it
// changes a variable or runs a command, or is printed several times itself.
func mayRepeat(index syntax.ArithmExpr) bool {
	if index == nil {
		return true
	}
	simple := !changes(index)
	syntax.Walk(index, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.CmdSubst:
			simple = false
		case *syntax.ParamExp:
			simple = simple && node.Exp == nil && node.Repl == nil && node.Slice == nil
		}
		return simple
	})
	return simple
}

// computed are parameters whose values only the interpreter knows, or that change with each read.
var computed = []string{"0", "$", "PPID", "RANDOM", "SRANDOM", "LINENO", "DIRSTACK"}

// isList reports whether p stands for several elements, or may do so.
func isList(p *syntax.ParamExp) bool {
	index, ok := p.Index.(*syntax.Word)
	return listName(p) != "" || p.Index != nil && (!ok || index.Lit() == "")
}

// patternText returns a pattern as it stands in double quotes, with escapes in front of what was
// quoted, and whether it has patterns of extglob. It returns nil for a pattern with more in it than
// text and variables: text that is printed twice must not have such expansions in each other.
func (r *Rewriter) patternText(w *syntax.Word) (text []syntax.WordPart, extended bool) {
	ok := true
	add := func(s string) {
		text = append(text, &syntax.Lit{Value: inQuotes.Replace(s)})
	}
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			extended = extended || extendedGlob().MatchString(part.Value)
			add(part.Value)
		case *syntax.ExtGlob:
			extended = true
			add(part.Op.String() + part.Pattern.Value + ")")
		case *syntax.SglQuoted:
			add(quotePattern(unquotedText(part)))
		case *syntax.DblQuoted:
			value, isText := literalText(part.Parts)
			if isText && !strings.Contains(value, `\`) {
				add(quotePattern(value))
				continue
			}
			ok = ok && !slices.ContainsFunc(part.Parts, isNested)
			text = append(text, r.quoteSubst(part, "#"))
		case *syntax.ParamExp:
			ok = ok && isSimple(part)
			text = append(text, part)
		default:
			ok = false
		}
	}
	if !ok {
		return nil, extended
	}
	return text, extended
}

// unquotedText returns what '…' or $'…' stands for.
func unquotedText(part *syntax.SglQuoted) string {
	if !part.Dollar {
		return part.Value
	}
	value, _, _ := expand.Format(&expand.Config{}, part.Value, nil) // nil would be one that all share
	value, _, _ = strings.Cut(value, "\x00")
	return value
}

// isNested reports whether a part of quoted text is neither text nor $x.
func isNested(part syntax.WordPart) bool {
	p, ok := part.(*syntax.ParamExp)
	_, isText := part.(*syntax.Lit)
	return !isText && (!ok || !isSimple(p))
}

// extendedGlob matches text in which a pattern of extglob begins.
var extendedGlob = lazyregexp.New(`[?*+@!]\(`)

// quotePattern returns a pattern that matches only text, also where extglob is on.
func quotePattern(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "+", `\+`, "@", `\@`, "!", `\!`, "|", `\|`, ")", `\)`).Replace(text)
}

// dollarQuoted returns text in quotes of the form $'...'.
func dollarQuoted(text string) *syntax.SglQuoted {
	return &syntax.SglQuoted{Dollar: true, Value: strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(text)}
}

// checkGlob puts a check in front of a pattern of extglob in a word that makes fields. The interpreter
// leaves out the command otherwise if extglob is off, or if it does not know the pattern.
//
//	ls a!(b)    ls a$('wk glob' "a!(b)")$(<'/dev/guarded-number/c')!(b)
func (r *Rewriter) checkGlob(w *syntax.Word) {
	for i, part := range w.Parts {
		if _, ok := part.(*syntax.ExtGlob); !ok {
			continue
		}
		if i > 1 && r.substitutedCall(w.Parts[i-2], GlobCommand) != nil {
			return
		}
		text, _ := r.patternText(w)
		arg := &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: text}}}
		check := &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: r.internalCall(GlobCommand, arg)}}}
		w.Parts = slices.Insert(slices.Clone(w.Parts), i, syntax.WordPart(check), syntax.WordPart(readFrom(NumberPath+string(InCommand))))
		return
	}
}

// CheckGlob is what the command [GlobCommand] does: it returns an error if the interpreter does not
// know the pattern.
func CheckGlob(pat string) error {
	for part := range strings.SplitSeq(pat, "/") {
		_, err := pattern.Regexp(part, pattern.Filenames|pattern.EntireString|pattern.ExtendedOperators)
		negated, ok := errors.AsType[*pattern.NegExtGlobError](err)
		if ok && pattern.HasMeta(part, 0) && (len(negated.Groups) > 1 || pattern.HasMeta(part[:negated.Groups[0].Start]+part[negated.Groups[0].End:], 0)) {
			return errors.New("!(...) is only supported beside plain text")
		}
	}
	return nil
}

// maxShorter is how many matches of an expression are tried to find the shortest one.
const maxShorter = 1000

// nothing is a pattern that matches no text: each character is in the brackets.
const nothing = "[!\x01-\U0010ffff]"

// Trimmed returns what the command [TrimCommand] prints: how many characters op leaves out at the
// beginning of text, or leaves there. For "/#" and "/%" it is a pattern of the whole text, or of
// nothing, if pat does not match there.
func Trimmed(ctx context.Context, op, text, pat string) (string, error) {
	anchor, isAnchored := strings.CutPrefix(op, "/")
	if isAnchored {
		op = anchor + anchor
	}
	if op == "" {
		return "", errors.New("an operator is missing")
	}
	n, found, err := trimLength(ctx, op, text, pat)
	switch {
	case err != nil:
		return "", err
	case !isAnchored:
		return strconv.Itoa(n), nil
	case found:
		return "*", nil
	}
	return nothing, nil
}

// trimLength returns a number for [Trimmed], and whether the pattern matches.
//
// An expression that matches a whole suffix finds the longest one; after as much as possible of
// anything, the shortest.
func trimLength(ctx context.Context, op, text, pat string) (n int, found bool, err error) {
	if !utf8.ValidString(text) {
		return 0, false, errors.New("the text is not UTF-8")
	}
	expr, err := pattern.Regexp(pat, pattern.ExtendedOperators)
	if _, ok := errors.AsType[*pattern.NegExtGlobError](err); ok {
		return 0, false, errors.New("!(...) is not supported in expansions")
	}
	if err != nil {
		expr = regexp.QuoteMeta(pat)
	}
	switch op {
	case "#", "##":
		expr = `\A(?:` + expr + `)`
	case "%%":
		expr = `(?:` + expr + `)\z`
	default:
		expr = `\A(?s:.*)((?:` + expr + `)\z)`
	}
	re, err := ctxregexp.Compile(expr, op[0] == '#')
	if err != nil {
		return 0, false, err
	}
	first := func(re *ctxregexp.Regexp, text string) []int {
		if all := re.AllString(ctx, text, 1); len(all) > 0 {
			return all[0]
		}
		return nil
	}
	at := first(re, text)
	if op == "#" {
		if lazy, err := pattern.Regexp(pat, pattern.ExtendedOperators|pattern.Shortest); err == nil {
			if re, err := ctxregexp.Compile(`\A(?:`+lazy+`)`, false); err == nil {
				at = first(re, text) // short, but with (ab|a) not the shortest
			}
		}
	}
	for i := 0; op == "#" && at != nil && at[1] > 0; i++ {
		if i > maxShorter || ctx.Err() != nil {
			return 0, false, errors.New("the shortest match is too hard to find; use ##, or sed")
		}
		_, last := utf8.DecodeLastRuneInString(text[:at[1]])
		shorter := first(re, text[:at[1]-last])
		if shorter == nil {
			break
		}
		at = shorter
	}
	switch {
	case ctx.Err() != nil:
		return 0, false, ctx.Err()
	case at == nil && op[0] == '#':
		return 0, false, nil
	case at == nil:
		return utf8.RuneCountInString(text), false, nil
	case op[0] == '#':
		return utf8.RuneCountInString(text[:at[1]]), true, nil
	case op == "%%":
		return utf8.RuneCountInString(text[:at[0]]), true, nil
	}
	return utf8.RuneCountInString(text[:at[2]]), true, nil
}
