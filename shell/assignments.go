package shell

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
func (r *run) assignments(call *syntax.CallExpr) error {
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
func (r *run) assignment(as *syntax.Assign) ([]*syntax.Assign, error) {
	switch {
	case as.Index != nil && r.refs[as.Name.Value]:
		return nil, fmt.Errorf("%s[...]=: %[1]s is a reference, whose elements cannot be assigned", as.Name.Value)
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

// emptyAppend returns a+=().
func emptyAppend(name *syntax.Lit) *syntax.Assign {
	return &syntax.Assign{Name: name, Append: true, Array: &syntax.ArrayExpr{}}
}

// appendsNothing reports whether as is name+=().
func appendsNothing(as *syntax.Assign, name string) bool {
	return as.Append && as.Array != nil && len(as.Array.Elems) == 0 && as.Name.Value == name
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
	file, err := syntax.NewParser().Parse(newScript(printed(&syntax.CallExpr{Assigns: []*syntax.Assign{plain}})), "")
	if err != nil || len(file.Stmts) != 1 {
		return plain
	}
	if call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr); ok && len(call.Assigns) == 1 && len(call.Args) == 0 {
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

// keyOf returns the key of an element of an associative array that the parser regards as an
// expression, such as a-b, as a word in quotes. Other indexes are returned as they are.
//
// Blanks in it are lost, and the quotes of a key with quotes in it: m["a"-b].
func keyOf(index syntax.ArithmExpr) syntax.ArithmExpr {
	switch index.(type) {
	case *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm:
	default:
		return index
	}
	text := strings.NewReplacer(" ", "", `"`, "", "'", "").Replace(printedExpression(index))
	word, err := syntax.NewParser().Document(newScript(text))
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
