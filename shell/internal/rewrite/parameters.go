package rewrite

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
)

// The interpreter expands some parameters in another way than bash:
//
//	"${*:-x}"                  it forgets the operator if nothing else is in the quotes: a guard is
//	${a[@]+"${a[@]}"}          it joins the elements and splits them again: "${a[@]}" does the same
//	"${x:-'y'}"                it removes the inner quotes: "${x:-"'y'"}"
//	${x/a/\n}                  it keeps the backslash: ${x/a/'n'}
//	${10}                      it knows nine parameters: ${*:10:1}
//	"${m[@]}"                  it makes an empty word if the associative array is empty: "${m[@]#}"

// word replaces process substitutions, and tildes before names of users: ~root would be looked
// up among the users of the host. "~" and "~/x" stay, and lead to HOME.
func (r *Rewriter) word(w *syntax.Word) error {
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
			if p := r.mapList(part); p != nil && !p.Excl {
				p.Exp = &syntax.Expansion{Op: syntax.RemSmallPrefix}
			}
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

// mapList returns the expansion if part is "${m[@]}" or "${!m[@]}" for an associative array.
func (r *Rewriter) mapList(part syntax.WordPart) *syntax.ParamExp {
	quoted, ok := part.(*syntax.DblQuoted)
	if !ok || len(quoted.Parts) != 1 {
		return nil
	}
	p, ok := quoted.Parts[0].(*syntax.ParamExp)
	if !ok || listName(p) != "@" || !r.maps[p.Param.Value] || p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Length {
		return nil
	}
	return p
}

// skipEmpty gives a loop over the keys of an associative array a first statement for the empty word
// that the interpreter makes if there are none. No key is empty.
//
//	for k in "${!m[@]}"; do a; done    for k in "${!m[@]}"; do [[ -n $k ]] || continue; a; done
func (r *Rewriter) skipEmpty(loop *syntax.ForClause, l *syntax.WordIter) {
	if len(l.Items) != 1 || len(l.Items[0].Parts) != 1 || skipsEmpty(loop, l) { // a rewritten loop may be rewritten again
		return
	}
	if p := r.mapList(l.Items[0].Parts[0]); p != nil && p.Excl {
		skip := parseCommand("[[ -n $" + l.Name.Value + " ]] || continue")
		loop.Do = slices.Insert(loop.Do, 0, &syntax.Stmt{Cmd: skip})
	}
}

// skipsEmpty reports whether the first statement of a loop is that of skipEmpty. A guard may stand
// before the keys.
func skipsEmpty(loop *syntax.ForClause, l *syntax.WordIter) bool {
	n := len(l.Items)
	return len(loop.Do) > 1 && (n == 1 || n == 2 && isGuardWord(l.Items[0])) && strings.HasPrefix(printed(l.Items[n-1]), `"${!`) &&
		printed(loop.Do[0]) == "[[ -n $"+l.Name.Value+" ]] || continue"
}

// countsMap reports whether p is ${#m[@]} for an associative array, which the interpreter
// says has one element. Which names are such arrays is known from the declarations in scripts
// of the session; a name that is computed is not.
func (r *Rewriter) countsMap(p *syntax.ParamExp) bool {
	if !p.Length || p.Index == nil || p.Param == nil || !r.maps[p.Param.Value] {
		return false
	}
	index, ok := p.Index.(*syntax.Word)
	return ok && (index.Lit() == "@" || index.Lit() == "*")
}

// countSubst returns what replaces ${#m[@]}.
func (r *Rewriter) countSubst(name string) *syntax.CmdSubst {
	return &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: r.internalCall(CountCommand, literal(name))}}}
}

// keepSubst returns what replaces <(...): its output is kept as /dev/fd/N. So all of it is
// read before the command begins, unlike in bash, where both run at the same time:
//
//	cat <(ls)    cat $({ ls; } | 'wk keep')
func (r *Rewriter) keepSubst(subst *syntax.ProcSubst) *syntax.CmdSubst {
	return &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: &syntax.BinaryCmd{
		Op: syntax.Pipe,
		X:  &syntax.Stmt{Cmd: &syntax.Block{Stmts: subst.Stmts}},
		Y:  &syntax.Stmt{Cmd: r.internalCall(KeepCommand)},
	}}}}
}

// parameter rewrites an expansion of a parameter.
func (r *Rewriter) parameter(p *syntax.ParamExp) error {
	if err := cmp.Or(checkParam(p), sliceOut(p)); err != nil {
		return err
	}
	if p.Param != nil && r.refs[p.Param.Value] && listName(p) == "@" && !p.Length {
		return fmt.Errorf("${%s[@]} is not supported, as %[1]s is a reference; pass the elements as arguments", p.Param.Value)
	}
	sliced, err := r.trim(p)
	if err := cmp.Or(err, r.anchored(p), r.checkReplaced(p)); err != nil {
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
		p.Index = r.index(p.Param.Value, p.Index)
	}
	renameParam(p)
	if p.Slice != nil && !sliced && !r.wrapped[p] {
		r.slice(p)
	}
	return nil
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
	if p.Exp != nil && p.Exp.Op == syntax.OtherParamOps {
		use := ""
		if listName(p) != "" {
			use = "a loop over the elements"
		} else if letter := p.Exp.Word.Lit(); letter == "K" || letter == "k" || letter == "P" {
			use = "${" + p.Param.Value + "@Q}"
		}
		if use != "" {
			return fmt.Errorf("%s is not supported; use %s", printed(&syntax.Word{Parts: []syntax.WordPart{p}}), use)
		}
	}
	return nil
}

// sliceOut makes ${*:10:1} of ${10}: the interpreter knows the first nine parameters.
func sliceOut(p *syntax.ParamExp) error {
	if p.Param == nil || !manyDigits().MatchString(p.Param.Value) {
		return nil
	}
	if p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Excl || p.Length {
		text := printed(&syntax.Word{Parts: []syntax.WordPart{p}})
		return fmt.Errorf("%s is not supported; assign ${%s} to a variable first", text, p.Param.Value)
	}
	p.Slice = &syntax.Slice{Offset: literal(p.Param.Value), Length: literal("1")}
	p.Param = &syntax.Lit{Value: "*"}
	return nil
}

// manyDigits matches the parameters after the ninth.
var manyDigits = lazyregexp.New(`^[1-9][0-9]+$`)

// checkReplaced refuses patterns of extglob in a replacement, which the interpreter does not know.
func (r *Rewriter) checkReplaced(p *syntax.ParamExp) error {
	if p.Repl == nil || p.Repl.Orig == nil {
		return nil
	}
	if _, extended := r.patternText(p.Repl.Orig); extended {
		return errors.New("patterns of extglob are not supported in this expansion: " + printed(&syntax.Word{Parts: []syntax.WordPart{p}}))
	}
	return nil
}

// renames are parameters that the interpreter would take from the host, and the variables of
// the session that stand for them. A name that is computed, as in ${!p}, is refused when the
// guard is checked ([ErrIndirect]), or replaced in a declaration and in an expression ([Renamed]). One that the index of an array finds in a variable is not seen:
// x=PPID; a[x]=1; echo ${!a[@]}.
var renames = map[string]string{"$": "BASHPID", "PPID": "BASHPID", "0": "BASH_ARGV0"}

// Renamed returns the variable that stands for a parameter of the host, and other names as they are.
func Renamed(name string) string { return cmp.Or(renames[name], name) }

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

// renameArithm is renameParam for names in the index of an array.
func renameArithm(expr syntax.ArithmExpr) {
	if expr == nil {
		return
	}
	syntax.Walk(expr, func(node syntax.Node) bool {
		if word, ok := node.(*syntax.Word); ok && word.Lit() == "PPID" {
			word.Parts = []syntax.WordPart{&syntax.Lit{Value: renames["PPID"]}}
		}
		return true
	})
}

// listGuard is the guard in front of what expandLists has put into a word. The mark that follows
// says what it was:
//
//	${a[@]+"${a[@]}"}      $(<'/dev/guard/+')"${a[@]}"
//	"${a[@]+"${a[@]}"}"    $(<'/dev/guard/++')"${a[@]}"
//	${a[@]:+"${a[@]}"}     $(<'/dev/guard/+++')"${a[@]}"
const listGuard = GuardPath + "+"

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

// unescaped returns parts with quotes in place of the backslashes before characters that are
// special. It returns at least one part.
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
	if len(parts) == 0 { // the printer would panic
		return []syntax.WordPart{&syntax.Lit{}}
	}
	return parts
}
