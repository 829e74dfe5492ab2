package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
)

// The interpreter expands some parameters in another way than bash:
//
//	"${*:-x}"                  it forgets the operator if nothing else is in the quotes: a guard is
//	${a[@]+"${a[@]}"}          it joins the elements and splits them again: "${a[@]}" does the same
//	"${x:-'y'}"                it removes the inner quotes: "${x:-"'y'"}"
//	${x/a/\n}                  it keeps the backslash: ${x/a/'n'}

// word replaces process substitutions, and tildes before names of users: ~root would be looked
// up among the users of the host. "~" and "~/x" stay, and lead to HOME.
func (r *run) word(w *syntax.Word) error {
	expandLists(w)
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.ProcSubst:
			if part.Op != syntax.CmdIn {
				return fmt.Errorf("%s...) is not supported; write to a file below /tmp, and read that", part.Op)
			}
			w.Parts[i] = r.keepSubst(part)
		case *syntax.ParamExp:
			if r.countsMap(part) {
				w.Parts[i] = r.countSubst(part.Param.Value)
			}
		case *syntax.DblQuoted:
			if isDefault(part) {
				return fmt.Errorf("%s is not supported where it may make several words; use if ((${#array[@]})) or if (($#))", printed(&syntax.Word{Parts: []syntax.WordPart{part}}))
			}
			quoteLiterally(part.Parts)
			for j, inner := range part.Parts {
				if p, ok := inner.(*syntax.ParamExp); ok && r.countsMap(p) {
					part.Parts[j] = r.countSubst(p.Param.Value)
				}
			}
		case *syntax.Lit:
			if i == 0 && len(part.Value) > 1 && part.Value[0] == '~' && part.Value[1] != '/' {
				rest := *part
				rest.Value = part.Value[1:]
				w.Parts = slices.Insert(slices.Clone(w.Parts), 0, syntax.WordPart(&syntax.SglQuoted{Value: "~"}))
				w.Parts[1] = &rest
				return nil
			}
		}
	}
	return nil
}

// countsMap reports whether p is ${#m[@]} for an associative array, which the interpreter
// says has one element. Which names are such arrays is known from the declarations in scripts
// of the session; a name that is computed is not.
func (r *run) countsMap(p *syntax.ParamExp) bool {
	if !p.Length || p.Index == nil || p.Param == nil || !r.maps[p.Param.Value] {
		return false
	}
	index, ok := p.Index.(*syntax.Word)
	return ok && (index.Lit() == "@" || index.Lit() == "*")
}

// countSubst returns what replaces ${#m[@]}.
func (r *run) countSubst(name string) *syntax.CmdSubst {
	return &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: r.internalCall(countCommand, name)}}}
}

// keepSubst returns what replaces <(...): its output is kept as /dev/fd/N. So all of it is
// read before the command begins, unlike in bash, where both run at the same time:
//
//	cat <(ls)    cat $({ ls; } | 'wk keep')
func (r *run) keepSubst(subst *syntax.ProcSubst) *syntax.CmdSubst {
	return &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: &syntax.BinaryCmd{
		Op: syntax.Pipe,
		X:  &syntax.Stmt{Cmd: &syntax.Block{Stmts: subst.Stmts}},
		Y:  &syntax.Stmt{Cmd: r.internalCall(keepCommand)},
	}}}}
}

// parameter rewrites an expansion of a parameter.
func (r *run) parameter(p *syntax.ParamExp) error {
	if err := checkParam(p); err != nil {
		return err
	}
	if p.Param != nil && r.refs[p.Param.Value] && listName(p) == "@" && !p.Length {
		return fmt.Errorf("${%s[@]} is not supported, as %[1]s is a reference; pass the elements as arguments", p.Param.Value)
	}
	sliced, err := r.trim(p)
	if err != nil {
		return err
	}
	replaceSlashes(p)
	unescapeReplacement(p)
	unescapeDefault(p, func(c byte) bool { return strings.IndexByte("$`\"\\", c) >= 0 }) // also in double quotes
	if p.Param != nil && p.Index != nil && r.maps[p.Param.Value] {
		p.Index = keyOf(p.Index)
	}
	if p.Param != nil && !r.maps[p.Param.Value] {
		renameArithm(p.Index)
	}
	renameParam(p)
	if p.Slice != nil && !sliced {
		r.numbers(p.Slice.Offset, inExpansion, true)
		r.numbers(p.Slice.Length, inExpansion, true)
	}
	return nil
}

// renameParam replaces parameters that the interpreter would take from the host. The index keeps
// them apart, for restore, from variables that the script itself names:
//
//	$$          ${BASHPID[0]}
//	$BASHPID    $BASHPID
func renameParam(p *syntax.ParamExp) {
	if p.Param == nil {
		return
	}
	if name := renames[p.Param.Value]; name != "" {
		p.Param.Value = name
		p.Short = false
		if p.Index == nil {
			p.Index = literal("0")
		}
	}
}

// checkParam refuses what the interpreter would expand to something else.
func checkParam(p *syntax.ParamExp) error {
	if p.Param != nil && p.Param.Value == "PIPESTATUS" {
		return errors.New("PIPESTATUS is not supported; use set -o pipefail")
	}
	if p.Excl && p.Param != nil && (p.Exp != nil || p.Repl != nil || p.Slice != nil) {
		text := printed(&syntax.Word{Parts: []syntax.WordPart{p}})
		name := p.Param.Value
		return fmt.Errorf("%s is not supported; use declare -n ref=$%s, and ${ref%s", text, name, strings.TrimPrefix(text, "${!"+name))
	}
	if p.Repl != nil && p.Repl.Orig != nil {
		if _, extended := patternText(p.Repl.Orig); extended {
			return errors.New("patterns of extglob are not supported in this expansion: " + printed(&syntax.Word{Parts: []syntax.WordPart{p}}))
		}
	}
	if p.Repl == nil || p.Repl.Orig == nil || p.Repl.All || len(p.Repl.Orig.Parts) == 0 {
		return nil
	}
	if lit, ok := p.Repl.Orig.Parts[0].(*syntax.Lit); ok && strings.HasPrefix(lit.Value, "#") || ok && strings.HasPrefix(lit.Value, "%") {
		return errors.New("${x/#...} and ${x/%...} are not supported; use ${x#...} and ${x%...}, or sed")
	}
	return nil
}

// listDefault returns the expansion with an operator, such as "-", that is all that a word in
// quotes has, of "$@", "$*" or the elements of an array. It returns nil for other words.
func listDefault(quoted *syntax.DblQuoted) *syntax.ParamExp {
	if len(quoted.Parts) != 1 {
		return nil
	}
	p, ok := quoted.Parts[0].(*syntax.ParamExp)
	if !ok || listName(p) == "" || p.Exp == nil || p.Excl || p.Length {
		return nil
	}
	switch p.Exp.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return p
	}
	return nil
}

// listName returns "@" or "*" for an expansion of all parameters or elements, else "".
func listName(p *syntax.ParamExp) string {
	if p.Param == nil {
		return ""
	}
	name := p.Param.Value
	if index, ok := p.Index.(*syntax.Word); ok {
		name = index.Lit()
	}
	if name == "@" || name == "*" {
		return name
	}
	return ""
}

// isDefault reports whether quoted is "${@:-x}" or the like. A guard mends "${*:-x}".
func isDefault(quoted *syntax.DblQuoted) bool {
	p := listDefault(quoted)
	if p == nil {
		return false
	}
	if listName(p) == "*" {
		quoted.Parts = []syntax.WordPart{newGuard(""), p}
		return false
	}
	return true
}

// joinList mends "${@:-x}" and the like in a word that makes one field. w may be nil.
func joinList(w *syntax.Word) {
	if w == nil {
		return
	}
	for _, part := range w.Parts {
		if quoted, ok := part.(*syntax.DblQuoted); ok {
			if p := listDefault(quoted); p != nil {
				quoted.Parts = []syntax.WordPart{newGuard(""), p}
			}
		}
	}
}

// listGuard is the guard in front of what expandLists has put into a word. The mark that follows
// says what it was:
//
//	${a[@]+"${a[@]}"}      $(<'/dev/guard/+')"${a[@]}"
//	"${a[@]+"${a[@]}"}"    $(<'/dev/guard/++')"${a[@]}"
//	${a[@]:+"${a[@]}"}     $(<'/dev/guard/+++')"${a[@]}"
const listGuard = guardPrefix + "+"

// expandLists replaces the ways to expand an array that may be unset.
func expandLists(w *syntax.Word) {
	for i, part := range w.Parts {
		mark := "+"
		if quoted, ok := part.(*syntax.DblQuoted); ok && len(quoted.Parts) == 1 {
			part, mark = quoted.Parts[0], "++"
		}
		p, ok := part.(*syntax.ParamExp)
		if !ok || p.Exp == nil || p.Exp.Word == nil || p.Param == nil || len(p.Exp.Word.Parts) != 1 || p.Excl || p.Length {
			continue
		}
		if p.Exp.Op == syntax.AlternateUnsetOrNull && mark == "+" {
			mark = "+++"
		} else if p.Exp.Op != syntax.AlternateUnset {
			continue
		}
		quoted, ok := p.Exp.Word.Parts[0].(*syntax.DblQuoted)
		if !ok || len(quoted.Parts) != 1 {
			continue
		}
		list, ok := quoted.Parts[0].(*syntax.ParamExp)
		if !ok || listName(list) != "@" || listName(p) != "@" || list.Param.Value != p.Param.Value || list.Exp != nil || list.Slice != nil || list.Repl != nil || list.Excl || list.Length {
			continue
		}
		w.Parts = slices.Concat(w.Parts[:i], []syntax.WordPart{newGuard(mark), quoted}, w.Parts[i+1:])
		return
	}
}

// restoreLists takes back what expandLists has done.
func restoreLists(w *syntax.Word) {
	for i, part := range w.Parts[:max(len(w.Parts)-1, 0)] {
		subst, ok := part.(*syntax.CmdSubst)
		if !ok || !strings.HasPrefix(readName(subst), listGuard) {
			continue
		}
		quoted, ok := w.Parts[i+1].(*syntax.DblQuoted)
		if !ok || len(quoted.Parts) != 1 {
			continue
		}
		list, ok := quoted.Parts[0].(*syntax.ParamExp)
		if !ok {
			continue
		}
		op := syntax.AlternateUnset
		if readName(subst) == listGuard+"++" {
			op = syntax.AlternateUnsetOrNull
		}
		var restored syntax.WordPart = &syntax.ParamExp{Param: list.Param, Index: list.Index,
			Exp: &syntax.Expansion{Op: op, Word: &syntax.Word{Parts: []syntax.WordPart{quoted}}}}
		if readName(subst) == listGuard+"+" {
			restored = &syntax.DblQuoted{Parts: []syntax.WordPart{restored}}
		}
		w.Parts = slices.Concat(w.Parts[:i], []syntax.WordPart{restored}, w.Parts[i+2:])
		return
	}
}

// quoteLiterally makes text of single quotes in the defaults of parameters. parts stand in double
// quotes or in a here-document, where such quotes mean themselves.
func quoteLiterally(parts []syntax.WordPart) {
	for _, part := range parts {
		p, ok := part.(*syntax.ParamExp)
		if !ok || p.Exp == nil || p.Exp.Word == nil {
			continue
		}
		switch p.Exp.Op {
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		default:
			continue
		}
		for i, inner := range p.Exp.Word.Parts {
			if quoted, ok := inner.(*syntax.SglQuoted); ok && !quoted.Dollar && !strings.ContainsAny(quoted.Value, "$`\\\"") {
				p.Exp.Word.Parts[i] = &syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.Lit{Value: "'" + quoted.Value + "'"}}}
			}
		}
	}
}

// replaceSlashes makes "/" the pattern of ${x////text}, whose pattern is empty for the parser.
func replaceSlashes(p *syntax.ParamExp) {
	if p.Repl == nil || !p.Repl.All || p.Repl.Orig != nil && len(p.Repl.Orig.Parts) > 0 || p.Repl.With == nil || len(p.Repl.With.Parts) == 0 {
		return
	}
	if lit, ok := p.Repl.With.Parts[0].(*syntax.Lit); ok && strings.HasPrefix(lit.Value, "/") {
		p.Repl.Orig = literal(`\/`)
		p.Repl.With.Parts[0] = &syntax.Lit{Value: lit.Value[1:]}
	}
}

// unescapeReplacement puts what has a backslash in the text of ${x/a/text} into quotes instead.
func unescapeReplacement(p *syntax.ParamExp) {
	if p.Repl != nil && p.Repl.With != nil {
		p.Repl.With.Parts = unescaped(p.Repl.With.Parts, isEscaped)
	}
}

// isEscaped reports whether a backslash before c can become quotes. Others stay, for the interpreter.
func isEscaped(c byte) bool { return c != '\'' && c < 0x80 }

// unescapeDefault does that for ${x:-text}.
func unescapeDefault(p *syntax.ParamExp, special func(c byte) bool) {
	if p.Exp == nil || p.Exp.Word == nil {
		return
	}
	switch p.Exp.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		p.Exp.Word.Parts = unescaped(p.Exp.Word.Parts, special)
	}
}

// unescapeWord does that for a word that makes one field, in which the interpreter keeps
// backslashes: the value of an assignment, the word of a redirection or of a case, and those of
// [[ ]] that are no patterns. w may be nil.
func unescapeWord(w *syntax.Word) {
	if w == nil {
		return
	}
	unescapeDefaults(w)
	w.Parts = unescaped(w.Parts, func(byte) bool { return true })
}

// unescapeDefaults does that for each ${x:-text} in w that is not in quotes.
func unescapeDefaults(w *syntax.Word) {
	for _, part := range w.Parts {
		if p, ok := part.(*syntax.ParamExp); ok {
			unescapeDefault(p, func(byte) bool { return true })
		}
	}
}

// unescaped returns parts with quotes in place of the backslashes before characters that are
// special.
func unescaped(words []syntax.WordPart, special func(c byte) bool) []syntax.WordPart {
	var parts []syntax.WordPart
	for _, part := range words {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			parts = append(parts, part)
			continue
		}
		plain, rest := "", lit.Value
		for {
			at := strings.IndexByte(rest, '\\')
			if at < 0 || at+1 >= len(rest) {
				break
			}
			plain += rest[:at]
			c := rest[at+1]
			rest = rest[at+2:]
			if !special(c) {
				plain += "\\" + string([]byte{c})
				continue
			}
			if c >= 0x80 { // the first byte of a character, which needs no quotes
				plain += string([]byte{c})
				continue
			}
			if plain != "" {
				parts = append(parts, &syntax.Lit{Value: plain})
			}
			plain = ""
			if c == '\'' {
				parts = append(parts, &syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.Lit{Value: "'"}}})
				continue
			}
			parts = append(parts, &syntax.SglQuoted{Value: string(c)})
		}
		if plain+rest != "" {
			parts = append(parts, &syntax.Lit{Value: plain + rest})
		}
	}
	return parts
}

// restoreReplacement takes back what unescapeReplacement has done.
func restoreReplacement(p *syntax.ParamExp) {
	if p.Repl == nil || p.Repl.With == nil {
		return
	}
	for i, part := range p.Repl.With.Parts {
		if quoted, ok := part.(*syntax.SglQuoted); ok && !quoted.Dollar && len(quoted.Value) == 1 {
			p.Repl.With.Parts[i] = &syntax.Lit{Value: `\` + quoted.Value}
		}
	}
}

// The interpreter forgets the quotes in the expression of =~ and in the patterns of ${x#p} and
// ${x%p}. So rewrite makes quoted text a command substitution that prints it with escapes:
//
//	[[ $x =~ ^"$p" ]]    [[ $x =~ '(?s)'^$('wk quote' '=~' "$p") ]]
//	${x#"$p"}            ${x#$('wk quote' '#' "$p")}
//
// It also knows no patterns of extglob in expansions, and finds the wrong suffix in some texts
// of several lines. There, a command prints how many characters are left out at the beginning,
// or stay. Its last argument is what has been replaced, for restore:
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

// plainText matches text that means itself in patterns and expressions.
var plainText = lazyregexp.New(`^[\w/ ,:;@%=~"'<>&!-]*$`)

// quoteParts makes command substitutions of the quoted parts of w that have special characters.
func (r *run) quoteParts(w *syntax.Word, mark string) {
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
		call := r.internalCall(quoteCommand)
		call.Args = append(call.Args, &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: mark}}}, arg)
		w.Parts[i] = &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: call}}}
	}
}

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

// extendedGlob matches text in which a pattern of extglob begins.
var extendedGlob = lazyregexp.New(`[?*+@!]\(`)

// trim rewrites ${x#p}, ${x##p}, ${x%p} and ${x%%p}. It reports whether p is a slice now.
func (r *run) trim(p *syntax.ParamExp) (sliced bool, err error) {
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
	value := &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: p.Param.Value}}}
	if !syntax.ValidName(p.Param.Value) || p.Index != nil {
		unset := &syntax.Expansion{Op: syntax.DefaultUnset}
		value.Parts = []syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.ParamExp{Param: p.Param, Index: p.Index, Exp: unset}}}}
	}
	arg := &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: text}}}
	guardWord(value, false, false)
	guardWord(arg, true, false)
	call := r.internalCall(trimCommand)
	op := &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: p.Exp.Op.String()}}}
	if value.Lit() == "" && len(value.Parts) == 1 {
		if _, ok := value.Parts[0].(*syntax.SglQuoted); ok {
			op.Parts[0].(*syntax.SglQuoted).Value += "="
		}
	}
	call.Args = append(call.Args, op, value, arg, &syntax.Word{Parts: []syntax.WordPart{dollarQuoted(source)}})
	count := &syntax.Word{Parts: []syntax.WordPart{&syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: call}}}, readFrom(numberPath + string(inExpansion))}}
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
				value, _, _ = expand.Format(nil, value, nil)
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

// quotePattern returns a pattern that matches only text, also where extglob is on.
func quotePattern(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "+", `\+`, "@", `\@`, "!", `\!`, "|", `\|`, ")", `\)`).Replace(text)
}

// dollarQuoted returns text in quotes of the form $'...'.
func dollarQuoted(text string) *syntax.SglQuoted {
	return &syntax.SglQuoted{Dollar: true, Value: strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(text)}
}

// restoreTrim takes back what trim has done to p.
func (s *state) restoreTrim(p *syntax.ParamExp) {
	if p.Slice == nil {
		return
	}
	for _, expr := range []syntax.ArithmExpr{p.Slice.Offset, p.Slice.Length} {
		w, ok := expr.(*syntax.Word)
		if !ok {
			continue
		}
		call := s.substitutedCall(w.Parts, trimCommand)
		if call == nil || len(call.Args) != 5 || len(call.Args[4].Parts) != 1 {
			continue
		}
		source, ok := call.Args[4].Parts[0].(*syntax.SglQuoted)
		if !ok {
			continue
		}
		text := strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\n`, "\n").Replace(source.Value)
		file, err := syntax.NewParser().Parse(newScript(": "+text), "")
		if err != nil || len(file.Stmts) != 1 {
			continue
		}
		if parsed, ok := file.Stmts[0].Cmd.(*syntax.CallExpr); ok && len(parsed.Args) == 2 && len(parsed.Args[1].Parts) == 1 {
			if exp, ok := parsed.Args[1].Parts[0].(*syntax.ParamExp); ok {
				*p = *exp
				return
			}
		}
	}
}

// restoreQuotes takes back what quoteExpression and quoteParts have done to w.
func (s *state) restoreQuotes(w *syntax.Word) {
	if len(w.Parts) > 1 && isAnyNewline(w.Parts[0]) {
		w.Parts = w.Parts[1:]
	}
	for i, part := range w.Parts {
		if call := s.substitutedCall([]syntax.WordPart{part}, quoteCommand); call != nil && len(call.Args) == 3 {
			parts := call.Args[2].Parts
			w.Parts[i] = parts[len(parts)-1]
		}
	}
}

// substitutedCall returns the call of a command of the shell in the first of parts that is a
// command substitution, nil if it is none.
func (s *state) substitutedCall(parts []syntax.WordPart, name string) *syntax.CallExpr {
	for _, part := range parts {
		subst, ok := part.(*syntax.CmdSubst)
		if !ok {
			continue
		}
		stmts := subst.Stmts
		if isCaptured(subst) {
			stmts = stmts[0].Cmd.(*syntax.Block).Stmts
		}
		if len(stmts) != 1 {
			return nil
		}
		if call, ok := stmts[0].Cmd.(*syntax.CallExpr); ok && s.internal(call) == name {
			return call
		}
		return nil
	}
	return nil
}

// restoreExpansion takes back what has been done to a parameter, but for the names, or to the parts
// of a word, where guards are still there.
func (s *state) restoreExpansion(node syntax.Node) {
	switch node := node.(type) {
	case *syntax.ParamExp:
		s.restoreTrim(node)
		restoreReplacement(node)
	case *syntax.Word:
		restoreLists(node)
		s.restoreQuotes(node)
	}
}
