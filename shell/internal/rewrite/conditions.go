package rewrite

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
)

// shortCircuit returns what replaces a test with && or ||. The interpreter evaluates all operands:
// in [[ $# -gt 0 && $1 == a ]], $1 may be unset. It returns nil for other tests.
//
//	[[ a && b || ! ( c && d ) ]]    { { [[ a ]] && [[ b ]]; } || ! { [[ c ]] && [[ d ]]; }; }
func shortCircuit(test *syntax.TestClause) *syntax.Block {
	st := testStmt(test.X)
	if _, ok := st.Cmd.(*syntax.TestClause); ok {
		return nil
	}
	if block, ok := st.Cmd.(*syntax.Block); ok && !st.Negated {
		return block
	}
	return &syntax.Block{Stmts: []*syntax.Stmt{st}}
}

// testStmt returns the statement for a part of a test: a list, a block, or a test without operators.
func testStmt(expr syntax.TestExpr) *syntax.Stmt {
	expr = precedence(expr)
	switch test := expr.(type) {
	case *syntax.BinaryTest:
		if op, ok := listOperators[test.Op]; ok {
			return &syntax.Stmt{Cmd: &syntax.BinaryCmd{Op: op, X: testStmt(test.X), Y: testStmt(test.Y)}}
		}
	case *syntax.ParenTest:
		inner := testStmt(test.X)
		if _, plain := inner.Cmd.(*syntax.TestClause); !plain && restoredTest(test) == expr {
			return &syntax.Stmt{Cmd: &syntax.Block{Stmts: []*syntax.Stmt{inner}}}
		}
	case *syntax.UnaryTest:
		if block, ok := testStmt(test.X).Cmd.(*syntax.Block); ok {
			return &syntax.Stmt{Negated: true, Cmd: block}
		}
	}
	return &syntax.Stmt{Cmd: &syntax.TestClause{X: expr}}
}

// listOperators are the operators of [[ ]] that are operators between commands, too.
var listOperators = map[syntax.BinTestOperator]syntax.BinCmdOperator{syntax.AndTest: syntax.AndStmt, syntax.OrTest: syntax.OrStmt}

// guardTest guards the patterns in [[ ]]: the right sides of ==, != and =~. Comparisons of
// numbers are replaced, see numberTest. Other operands are guarded as words that are not kept.
func (r *Rewriter) guardTest(expr syntax.TestExpr) syntax.TestExpr {
	switch expr := expr.(type) {
	case *syntax.ParenTest:
		expr.X = r.guardTest(expr.X)
	case *syntax.UnaryTest:
		testElement(expr)
		expr.X = r.guardTest(expr.X)
	case *syntax.BinaryTest:
		switch expr.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			return r.numberTest(expr)
		case syntax.TsDevIno:
			return sameFileTest(expr)
		}
		expr.X = r.guardTest(expr.X)
		switch expr.Op {
		case syntax.TsMatchShort, syntax.TsMatch, syntax.TsNoMatch, syntax.TsReMatch:
			if w, ok := expr.Y.(*syntax.Word); ok {
				guardWord(w, true, false)
				if expr.Op == syntax.TsReMatch {
					r.quoteExpression(w)
				}
			}
			return expr
		}
		expr.Y = r.guardTest(expr.Y)
	case *syntax.Word:
		joinList(expr)
		unescapeWord(expr)
		guardWord(expr, false, false)
	}
	return expr
}

// quoteExpression gives the right side of =~ what the interpreter would take away. A digit after a
// backslash is itself, and a back reference only in a variable, which has a guard.
func (r *Rewriter) quoteExpression(w *syntax.Word) {
	if len(w.Parts) == 0 || isAnyNewline(w.Parts[0]) {
		return
	}
	r.quoteParts(w, "=~")
	parts := []syntax.WordPart{&syntax.SglQuoted{Value: anyNewline}}
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			part.Value = escapedDigit().ReplaceAllString(part.Value, "$1$2")
		case *syntax.ParamExp:
			if part.Param != nil && syntax.ValidName(part.Param.Value) {
				parts = append(parts, newGuard("^"+part.Param.Value))
			}
		}
		parts = append(parts, part)
	}
	w.Parts = parts
}

// escapedDigit matches a digit after a backslash, or two backslashes.
var escapedDigit = lazyregexp.New(`\\([1-9])|(\\\\)`)

// testElement changes a test of an element of an array, which the interpreter does not find.
//
//	[[ -v m[$k] ]]    [[ -n ${m[$k]+x} ]]
func testElement(test *syntax.UnaryTest) {
	word, ok := test.X.(*syntax.Word)
	if !ok || test.Op != syntax.TsVarSet {
		return
	}
	name, index, found := strings.Cut(strings.TrimSpace(printed(word)), "[")
	if !found || !syntax.ValidName(name) {
		return
	}
	if clause, ok := parseCommand("[[ -n ${" + name + "[" + index + "+x} ]]").(*syntax.TestClause); ok {
		if set, ok := clause.X.(*syntax.UnaryTest); ok {
			*test = *set
		}
	}
}

// sameFileTest replaces a test of two names, which are never of the same file for the interpreter:
// it knows only files of the host.
//
//	[[ $x -ef y ]]    [[ -n ${x:0:0}$('/usr/bin/test' "$x" -ef y && '/usr/bin/echo' x) ]]
func sameFileTest(test *syntax.BinaryTest) syntax.TestExpr {
	x, okX := test.X.(*syntax.Word)
	y, okY := test.Y.(*syntax.Word)
	if !okX || !okY {
		return test
	}
	same := &syntax.Stmt{Cmd: quotedCall("/usr/bin/test", oneField(x), literal("-ef"), oneField(y))}
	subst := &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: &syntax.BinaryCmd{Op: syntax.AndStmt, X: same, Y: &syntax.Stmt{Cmd: quotedCall("/usr/bin/echo", literal("x"))}}}}}
	word := &syntax.Word{}
	for _, part := range unquoted(slices.Concat(x.Parts, y.Parts)) {
		if p, ok := part.(*syntax.ParamExp); ok && isSimple(p) {
			word.Parts = append(word.Parts, emptySlice(p.Param.Value))
		}
	}
	word.Parts = append(word.Parts, subst)
	return &syntax.UnaryTest{Op: syntax.TsNempStr, X: word}
}

// oneField returns a word that makes one field for one that stands in [[ ]].
func oneField(w *syntax.Word) *syntax.Word {
	quoted := &syntax.Word{}
	for _, part := range w.Parts {
		switch part.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp:
			part = &syntax.DblQuoted{Parts: []syntax.WordPart{part}}
		}
		quoted.Parts = append(quoted.Parts, part)
	}
	return quoted
}

// numberTest replaces a comparison of numbers in [[ ]], whose operands are expressions. The
// interpreter goes on with an operand that is none, as if it were 0; the file "!" has a text then.
//
//	[[ $x -lt y+1 ]]    [[ ( $('wk number' ...) -lt $((y+1)) && -z $(<'/dev/guarded-number/t!') ) ]]
func (r *Rewriter) numberTest(test *syntax.BinaryTest) syntax.TestExpr {
	changed := false
	for _, operand := range []syntax.TestExpr{test.X, test.Y} {
		w, ok := operand.(*syntax.Word)
		if !ok || len(w.Parts) == 0 {
			continue
		}
		if n, err := strconv.Atoi(w.Lit()); err == nil && strconv.Itoa(n) == w.Lit() {
			continue
		}
		changed = true
		switch before := w.Parts; {
		case syntax.ValidName(w.Lit()) || isDynamic(w.Parts):
			r.makeNumber(w, InTest, true)
		case strings.Contains(w.Lit(), "["):
			expr, err := syntax.NewParser().Arithmetic(NewReader(w.Lit()))
			if err != nil {
				continue
			}
			w.Parts = r.printedNumber(InTest, "(", &syntax.ArithmExp{X: expr})
		default:
			w.Parts = r.printedNumber(InTest, "(", unquoted(before)...)
		}
	}
	if !changed {
		return test
	}
	failed := &syntax.UnaryTest{Op: syntax.TsEmpStr, X: &syntax.Word{Parts: []syntax.WordPart{readFrom(NumberPath + string(InTest) + "!")}}}
	return &syntax.ParenTest{X: &syntax.BinaryTest{Op: syntax.AndTest, X: test, Y: failed}}
}

// precedence gives the operators of [[ ]] the order that they have in bash: "!" before "&&"
// before "||". The parser makes one of the operator and all that comes after it. Parentheses keep
// the order where the text is parsed again:
//
//	[[ ! a && b || c ]]    [[ ( ! a && b ) || c ]]
func precedence(expr syntax.TestExpr) syntax.TestExpr {
	operands, ops := testOperands(expr)
	if len(operands) == 1 {
		return operands[0]
	}
	ands := [][]syntax.TestExpr{{operands[0]}}
	for i, op := range ops {
		if op == syntax.OrTest {
			ands = append(ands, nil)
		}
		ands[len(ands)-1] = append(ands[len(ands)-1], operands[i+1])
	}
	ors := make([]syntax.TestExpr, len(ands))
	for i, operands := range ands {
		ors[i] = joinTests(syntax.AndTest, operands)
		if len(operands) > 1 && len(ands) > 1 {
			ors[i] = &syntax.ParenTest{X: ors[i]}
		}
	}
	return joinTests(syntax.OrTest, ors)
}

// testOperands returns the operands between "&&" and "||", and these operators.
func testOperands(expr syntax.TestExpr) (operands []syntax.TestExpr, ops []syntax.BinTestOperator) {
	switch test := expr.(type) {
	case *syntax.BinaryTest:
		if test.Op == syntax.AndTest || test.Op == syntax.OrTest {
			operands, ops = testOperands(test.X)
			after, afterOps := testOperands(test.Y)
			return append(operands, after...), append(append(ops, test.Op), afterOps...)
		}
	case *syntax.UnaryTest:
		if test.Op == syntax.TsNot {
			operands, ops = testOperands(test.X)
			operands[0] = &syntax.UnaryTest{Op: syntax.TsNot, X: operands[0]}
			return operands, ops
		}
	}
	return []syntax.TestExpr{expr}, nil
}

// joinTests joins tests by one operator, as the parser does.
func joinTests(op syntax.BinTestOperator, tests []syntax.TestExpr) syntax.TestExpr {
	joined := tests[len(tests)-1]
	for i := len(tests) - 2; i >= 0; i-- {
		joined = &syntax.BinaryTest{Op: op, X: tests[i], Y: joined}
	}
	return joined
}
