package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The interpreter appends to no element and to no associative array, and makes an indexed array
// of m=([k]=v). An array that has got no list counts as unset for set -u, and a key that looks like
// an expression ends the run. So rewrite spells out what these assignments do:
//
//	a[1]=x             a+=() a[1]=x
//	m[$k]+=x           m+=() m[$k]="${m[$k]-}"x
//	m+=([a]=1 [b]=2)   m+=() m[a]=1 m[b]=2
//	declare -A m       { declare -A m; m+=(); }
//	m=([$k]=1)         m=(["$k"]=1)
//	m=()               { m=([""]=); unset 'm[]'; }
//	m[a-b]=1           m+=() m["a-b"]=1
//
// The last three are for names that were declared as associative arrays. An associative array
// comes from a list whose first key is in quotes.

// assignments rewrites those of a call. What the assignments of a command without a name do, they
// do one after the other.
func (r *Rewriter) assignments(call *syntax.CallExpr) error {
	var result []*syntax.Assign
	for _, as := range call.Assigns {
		if r.maps[as.Name.Value] {
			keys(as)
		}
		elems, err := r.assignment(as)
		if err != nil {
			return err
		}
		if elems[0].Index != nil && len(call.Args) == 0 && (len(result) == 0 || !appendsNothing(result[len(result)-1], as.Name.Value)) {
			result = append(result, emptyAppend(as.Name))
		}
		result = append(result, elems...)
	}
	call.Assigns = result
	return nil
}

// assignment returns what an assignment is replaced by: as itself, or assignments of elements.
func (r *Rewriter) assignment(as *syntax.Assign) ([]*syntax.Assign, error) {
	switch {
	case as.Index != nil && r.refs[as.Name.Value]:
		return nil, fmt.Errorf("%s[...]=: %[1]s is a reference, whose elements cannot be assigned", as.Name.Value)
	case as.Append && as.Index != nil && as.Array == nil && !r.maps[as.Name.Value] && changes(as.Index):
		return nil, fmt.Errorf("%s[%s]+=: an index that assigns must stand alone, before the assignment", as.Name.Value, printedExpression(as.Index))
	case as.Append && as.Index != nil && as.Array == nil:
		return []*syntax.Assign{appendElement(as)}, nil
	case as.Array == nil:
		return []*syntax.Assign{as}, nil
	case as.Index != nil:
		return nil, fmt.Errorf("%s[%s]: a list cannot be assigned to an element", as.Name.Value, printedExpression(as.Index))
	case as.Append:
		var elems []*syntax.Assign
		for _, elem := range as.Array.Elems {
			if elem.Index == nil {
				return []*syntax.Assign{as}, nil
			}
			elems = append(elems, &syntax.Assign{Name: as.Name, Index: elem.Index, Value: elem.Value})
		}
		if elems == nil {
			return []*syntax.Assign{as}, nil
		}
		return elems, nil
	case r.maps[as.Name.Value]:
		return []*syntax.Assign{as}, quoteKey(as)
	}
	return []*syntax.Assign{as}, nil
}

// appendElement returns a[i]="${a[i]-}"x for a[i]+=x.
func appendElement(as *syntax.Assign) *syntax.Assign {
	old := &syntax.ParamExp{Param: as.Name, Index: as.Index, Exp: &syntax.Expansion{Op: syntax.DefaultUnset}}
	value := &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{old}}}}
	if as.Value != nil {
		value.Parts = append(value.Parts, as.Value.Parts...)
	}
	plain := &syntax.Assign{Name: as.Name, Index: as.Index, Value: value}
	// Each use of the index is rewritten by itself.
	text := printed(&syntax.CallExpr{Assigns: []*syntax.Assign{plain}})
	if call, ok := parseCommand(text).(*syntax.CallExpr); ok && len(call.Assigns) == 1 && len(call.Args) == 0 {
		return call.Assigns[0]
	}
	return plain
}

// quoteKey puts the first key of m=([k]=v) into quotes.
func quoteKey(as *syntax.Assign) error {
	for i, elem := range as.Array.Elems {
		key, ok := elem.Index.(*syntax.Word)
		if !ok {
			return fmt.Errorf("%s=(...): a key is missing, or needs quotes", as.Name.Value)
		}
		if i > 0 || len(key.Parts) == 1 && isQuoted(key.Parts[0]) {
			continue
		}
		if slices.ContainsFunc(key.Parts, isSingleQuoted) {
			return fmt.Errorf("%s=(...): the first key needs double quotes", as.Name.Value)
		}
		elem.Index = &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: unquoted(key.Parts)}}}
	}
	return nil
}

// isQuoted reports whether part is in quotes of its own.
func isQuoted(part syntax.WordPart) bool {
	_, ok := part.(*syntax.DblQuoted)
	return ok || isSingleQuoted(part)
}

// isSingleQuoted reports whether part is in single quotes.
func isSingleQuoted(part syntax.WordPart) bool {
	_, ok := part.(*syntax.SglQuoted)
	return ok
}

// emptyAppend returns a+=().
func emptyAppend(name *syntax.Lit) *syntax.Assign {
	return &syntax.Assign{Name: name, Append: true, Array: &syntax.ArrayExpr{}}
}

// appendsNothing reports whether as is name+=().
func appendsNothing(as *syntax.Assign, name string) bool {
	return as.Append && as.Array != nil && len(as.Array.Elems) == 0 && as.Name.Value == name
}

// emptyMap returns what replaces m=() for an associative array, nil for another command.
func (r *Rewriter) emptyMap(call *syntax.CallExpr) *syntax.Block {
	if len(call.Args) > 0 || len(call.Assigns) != 1 {
		return nil
	}
	as := call.Assigns[0]
	if as.Array == nil || len(as.Array.Elems) > 0 || as.Append || as.Index != nil || !r.maps[as.Name.Value] {
		return nil
	}
	key := &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{}}}
	as.Array.Elems = []*syntax.ArrayElem{{Index: key, Value: literal("")}}
	unset := quotedCall("unset", singleQuoted(as.Name.Value+"[]"))
	return &syntax.Block{Stmts: []*syntax.Stmt{{Cmd: call}, {Cmd: unset}}}
}

// keyOf returns the key of an element of an associative array that the parser regards as an
// expression, such as a-b, as a word in quotes. Other indexes are returned as they are, with a guard.
//
// Blanks in it are lost, and the quotes of a key with quotes in it: m["a"-b].
func keyOf(index syntax.ArithmExpr) syntax.ArithmExpr {
	switch index := index.(type) {
	case *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm:
	case *syntax.Word:
		guardWord(index, false, false)
		return index
	default:
		return index
	}
	text := strings.NewReplacer(" ", "", `"`, "", "'", "").Replace(printedExpression(index))
	word, err := syntax.NewParser().Document(NewReader(text))
	if err != nil {
		return index
	}
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: word.Parts}}}
}

// keys rewrites the keys in an assignment to an associative array or to its elements.
func keys(as *syntax.Assign) {
	as.Index = keyOf(as.Index)
	if as.Array != nil {
		for _, elem := range as.Array.Elems {
			elem.Index = keyOf(elem.Index)
		}
	}
}

// declClause guards a declaration, and makes typeset what the interpreter knows. A local OPTIND
// begins with 1, as getopts needs it.
//
// It notes which names are associative arrays, for countsMap.
func (r *Rewriter) declClause(decl *syntax.DeclClause) {
	if decl.Variant.Value == "typeset" {
		decl.Variant.Value = "declare"
	}
	isMap := false
	for _, as := range decl.Args {
		if as.Naked && as.Name == nil && as.Value != nil && strings.HasPrefix(as.Value.Lit(), "-") {
			isMap = isMap || strings.Contains(as.Value.Lit(), "A")
		} else if as.Naked && as.Name != nil && renames[as.Name.Value] != "" {
			as.Name = &syntax.Lit{Value: renames[as.Name.Value]}
		} else if isMap && as.Name != nil {
			r.maps[as.Name.Value] = true
		}
	}
	for _, as := range decl.Args {
		if as.Naked && as.Name != nil && as.Name.Value == "OPTIND" && decl.Variant.Value == "local" {
			as.Naked, as.Value = false, &syntax.Word{Parts: []syntax.WordPart{newGuard(""), &syntax.Lit{Value: "1"}}}
		}
		r.guardAssign(as)
	}
}

// declaration rewrites a statement that is a declaration.
func (r *Rewriter) declaration(st *syntax.Stmt, decl *syntax.DeclClause) {
	splitFlags(decl)
	r.noteReferences(decl)
	if flag := r.refusedFlag(decl); flag != "" {
		name := "declare"
		if decl.Variant.Value == "local" {
			name = "local"
		}
		st.Cmd = quotedCall(name, literal(flag))
	} else if call := r.functionNames(decl); call != nil {
		st.Cmd = call
	} else if call := computedDecl(decl); call != nil {
		st.Cmd = call
		if slices.ContainsFunc(decl.Args, func(as *syntax.Assign) bool { return as.Name != nil }) {
			st.Cmd = &syntax.Block{Stmts: []*syntax.Stmt{{Cmd: decl}, {Cmd: call}}}
		}
	} else if call := declaredArrays(decl); call != nil && !r.wrapped[decl] {
		r.wrapped[decl] = true
		st.Cmd = &syntax.Block{Stmts: []*syntax.Stmt{{Cmd: decl}, {Cmd: call}}}
	}
}

// splitFlags takes flags apart that stand together: the interpreter knows only the first of them.
//
//	declare -gA m    declare -g -A m
func splitFlags(decl *syntax.DeclClause) {
	var args []*syntax.Assign
	for _, as := range decl.Args {
		flags := ""
		if as.Naked && as.Name == nil && as.Value != nil {
			flags = as.Value.Lit()
		}
		if len(flags) < 3 || flags[0] != '-' {
			args = append(args, as)
			continue
		}
		for _, letter := range flags[1:] {
			args = append(args, &syntax.Assign{Naked: true, Value: literal("-" + string(letter))})
		}
	}
	decl.Args = args
}

// noteReferences notes which names a declaration makes references, through which the interpreter
// reaches no element of an array.
func (r *Rewriter) noteReferences(decl *syntax.DeclClause) {
	isRef := decl.Variant.Value == "nameref"
	for _, as := range decl.Args {
		if as.Name == nil && as.Value != nil {
			flags := as.Value.Lit()
			isRef = isRef || strings.HasPrefix(flags, "-") && strings.Contains(flags, "n") && decl.Variant.Value != "export"
		} else if as.Name != nil && isRef {
			r.refs[as.Name.Value] = true
		}
	}
}

// declaredArrays returns the command that sets the arrays that a declaration makes without a
// value, nil if there are none.
func declaredArrays(decl *syntax.DeclClause) *syntax.CallExpr {
	flags, call := "", &syntax.CallExpr{}
	for _, as := range decl.Args {
		if as.Naked && as.Name == nil {
			flags += as.Value.Lit()
		} else if as.Naked {
			call.Assigns = append(call.Assigns, emptyAppend(as.Name))
		}
	}
	if len(call.Assigns) == 0 || !strings.ContainsAny(flags, "aA") || strings.ContainsAny(flags, "pfFnr") || decl.Variant.Value == "readonly" {
		return nil
	}
	return call
}

// refusedFlag returns the flag of a declaration that the interpreter does not have, as
// "-i", and "" if there is none. A call of the command by its quoted name is no declaration,
// so that it is refused with a hint, as other builtins are:
//
//	declare -gi x=1    'declare' -i
func (r *Rewriter) refusedFlag(decl *syntax.DeclClause) string {
	for _, as := range decl.Args {
		if !as.Naked || as.Name != nil || as.Value == nil || as.Value.Lit() == "" || !strings.ContainsAny(as.Value.Lit()[:1], "-+") {
			continue
		}
		for _, letter := range as.Value.Lit()[1:] {
			if flag := as.Value.Lit()[:1] + string(letter); r.opts.Refuses(flag) {
				return flag
			}
		}
	}
	return ""
}

// functionNames returns the call that replaces declare -f and -F, nil for other declarations. The
// flag -f of export changes nothing, as functions are not exported.
func (r *Rewriter) functionNames(decl *syntax.DeclClause) *syntax.CallExpr {
	call := r.internalCall("")
	flags := ""
	for _, as := range decl.Args {
		switch {
		case !as.Naked:
		case as.Name != nil:
			call.Args = append(call.Args, literal(as.Name.Value))
		case strings.HasPrefix(as.Value.Lit(), "-"):
			flags += as.Value.Lit()
		default:
			call.Args = append(call.Args, as.Value)
		}
	}
	switch {
	case decl.Variant.Value == "export" && strings.Contains(flags, "f"):
		return quotedCall("true")
	case strings.Contains(flags, "F"):
		call.Args[0] = r.internalCall(NamesCommand).Args[0]
	case strings.Contains(flags, "f"):
		call.Args[0] = r.internalCall(ShowCommand).Args[0]
	default:
		return nil
	}
	return call
}

// declarations are the builtins that the parser knows, so that they are no calls.
var declarations = []string{"declare", "typeset", "local", "export", "readonly", "nameref"}

// computedDecl takes from a declaration what is known only when it runs, and returns a call for
// that, nil if there is nothing. The interpreter would expand tildes in it, and references could
// lead to parameters of the host. The shell evaluates the call.
//
//	declare -x "$a=$b"      'declare' -x "$a=$b"
//	local -n r=$1 s=$2 t    { local -n t; 'local' -n r="$1" s="$2"; }
func computedDecl(decl *syntax.DeclClause) *syntax.CallExpr {
	call := quotedCall(decl.Variant.Value)
	rest, flags, isRef := []*syntax.Assign{}, 0, decl.Variant.Value == "nameref"
	for _, as := range decl.Args {
		switch {
		case as.Name == nil && as.Value.Lit() != "":
			isRef = isRef || strings.Contains(as.Value.Lit(), "n")
			call.Args = append(call.Args, as.Value)
			rest = append(rest, as)
			flags++
		case as.Name == nil:
			call.Args = append(call.Args, as.Value)
		case isRef && as.Naked && decl.Variant.Value == "export": // the interpreter would export it
			call.Args = append(call.Args, literal(as.Name.Value))
		case isRef && as.Value != nil:
			word := literal(as.Name.Value + "=")
			for _, part := range as.Value.Parts {
				switch part.(type) {
				case *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
				default:
					part = &syntax.DblQuoted{Parts: []syntax.WordPart{part}}
				}
				word.Parts = append(word.Parts, part)
			}
			call.Args = append(call.Args, word)
		default:
			rest = append(rest, as)
		}
	}
	if len(call.Args) == 1+flags {
		return nil
	}
	decl.Args = rest
	return call
}
