package rewrite

import (
	"context"
	"errors"
	"regexp"
	"slices"
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
		arg := &syntax.Word{Parts: []syntax.WordPart{part}}
		guardWord(arg, false, false)
		call := r.internalCall(QuoteCommand, singleQuoted(mark), arg)
		w.Parts[i] = &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: call}}}
	}
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
	return strings.ReplaceAll(pattern.QuoteMeta(text, 0), "\n", "[\n]")
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
	text, extended := patternText(p.Exp.Word)
	source := printed(&syntax.Word{Parts: []syntax.WordPart{p}})
	if isList(p) || slices.Contains(computed, p.Param.Value) || text == nil || !extended && (p.Exp.Op != syntax.RemSmallSuffix || !strings.Contains(source, "*")) {
		if extended {
			return false, errors.New("patterns of extglob are not supported in this expansion: " + source)
		}
		r.quoteParts(p.Exp.Word, "#")
		return false, nil
	}
	op, value := p.Exp.Op.String()+"=", singleQuoted(p.Param.Value)
	if !syntax.ValidName(p.Param.Value) || p.Index != nil {
		unset := &syntax.Expansion{Op: syntax.DefaultUnset}
		op = p.Exp.Op.String()
		value.Parts = []syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.ParamExp{Param: p.Param, Index: p.Index, Exp: unset}}}}
	}
	arg := &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: text}}}
	guardWord(value, false, false)
	guardWord(arg, true, false)
	call := r.internalCall(TrimCommand, singleQuoted(op), value, arg, &syntax.Word{Parts: []syntax.WordPart{dollarQuoted(source)}})
	count := &syntax.Word{Parts: []syntax.WordPart{&syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: call}}}, readFrom(NumberPath + string(InExpansion))}}
	p.Exp, p.Short = nil, false
	p.Slice = &syntax.Slice{Offset: count}
	if isSuffix {
		p.Slice = &syntax.Slice{Offset: literal("0"), Length: count}
	}
	return true, nil
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
func patternText(w *syntax.Word) (text []syntax.WordPart, extended bool) {
	ok := true
	add := func(s string) {
		text = append(text, &syntax.Lit{Value: strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(s)})
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
			value := part.Value
			if part.Dollar {
				value, _, _ = expand.Format(&expand.Config{}, value, nil) // nil would be one that all share
				value, _, _ = strings.Cut(value, "\x00")
			}
			add(quotePattern(value))
		case *syntax.DblQuoted:
			value, isText := literalText(part.Parts)
			ok = ok && isText && !strings.Contains(value, `\`)
			add(quotePattern(value))
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
//	ls a!(b)    ls a$('wk glob' "a!(b)")$(<'/dev/guarded-number/e')!(b)
func (r *Rewriter) checkGlob(w *syntax.Word) {
	for i, part := range w.Parts {
		if _, ok := part.(*syntax.ExtGlob); !ok {
			continue
		}
		if i > 1 && r.substitutedCall(w.Parts[i-2], GlobCommand) != nil {
			return
		}
		text, _ := patternText(w)
		arg := &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: text}}}
		check := &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: r.internalCall(GlobCommand, arg)}}}
		w.Parts = slices.Insert(slices.Clone(w.Parts), i, syntax.WordPart(check), syntax.WordPart(readFrom(NumberPath+string(InExpansion))))
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

// TrimLength returns what the command [TrimCommand] prints: how many characters op leaves out at the
// beginning of text, or leaves there.
// An expression that matches a whole suffix finds the longest one; after as much as possible of
// anything, the shortest.
func TrimLength(ctx context.Context, op, text, pat string) (int, error) {
	if !utf8.ValidString(text) {
		return 0, errors.New("the text is not UTF-8")
	}
	expr, err := pattern.Regexp(pat, pattern.ExtendedOperators)
	if _, ok := errors.AsType[*pattern.NegExtGlobError](err); ok {
		return 0, errors.New("!(...) is not supported in expansions")
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
		return 0, err
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
			return 0, errors.New("the shortest match is too hard to find; use ##, or sed")
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
		return 0, ctx.Err()
	case at == nil && op[0] == '#':
		return 0, nil
	case at == nil:
		return utf8.RuneCountInString(text), nil
	case op[0] == '#':
		return utf8.RuneCountInString(text[:at[1]]), nil
	case op == "%%":
		return utf8.RuneCountInString(text[:at[0]]), nil
	}
	return utf8.RuneCountInString(text[:at[2]]), nil
}
