package rewrite

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
)

// Function returns the source of a function as it was written, "" if what is printed of
// it cannot be parsed again, or if it has a here-document in another one.
//
// It restores a copy: the interpreter still needs the body with its guards.
func (s *Session) Function(name string, body *syntax.Stmt) string {
	decl := &syntax.File{Stmts: []*syntax.Stmt{{Cmd: &syntax.FuncDecl{Parens: true, Name: &syntax.Lit{Value: name}, Body: body}}}}
	text, err := source(decl)
	if err != nil {
		return ""
	}
	text = s.restored(strings.NewReader(text))
	if strings.Contains(text, s.Prefix) { // something is not restored, and another session has other names
		return ""
	}
	return text
}

// Restore is Function for the source of functions as the interpreter prints it.
func (s *Session) Restore(text string) string { return s.restored(NewReader(text)) }

// restored returns a rewritten script as it was written, "" if it cannot be parsed or printed. The
// printer may put a here-document in another one after that, where its text is run as commands.
func (s *Session) restored(script io.Reader) string {
	file, err := syntax.NewParser().Parse(script, "")
	if err != nil {
		return ""
	}
	s.restore(file)
	nested := false
	syntax.Walk(file, func(node syntax.Node) bool {
		redir, ok := node.(*syntax.Redirect)
		nested = nested || ok && hasHereDocument(redir)
		return !nested
	})
	if nested {
		return ""
	}
	text, _ := source(file)
	return text
}

// restore takes back what rewrite has done. It changes node in place.
//
// It need not give the text of the script to the byte, but a text that does the same and
// that rewrite makes the same of: what is stored goes through rewrite again.
func (s *Session) restore(node syntax.Node) {
	back := map[string]string{}
	for name, renamed := range renames {
		if name != "PPID" { // which is shown as $$
			back[renamed] = name
		}
	}
	syntax.Walk(node, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Stmt:
			s.restoreStmt(node)
		case *syntax.CallExpr:
			node.Args = slices.DeleteFunc(node.Args, isGuardWord)
			if n := len(node.Args); len(shiftArgs(node)) > 1 && isShiftCount(node.Args[n-1]) {
				node.Args = node.Args[:n-1]
			}
		case *syntax.Assign:
			node.Index = restoredOperand(node.Index)
			if node.Name != nil && node.Name.Value == "OPTIND" && node.Value != nil && isGuard(node.Value.Parts[0]) {
				node.Naked, node.Value = true, nil
			}
		case *syntax.Redirect:
			forgetLine(node)
		case *syntax.WordIter:
			node.Items = slices.DeleteFunc(node.Items, isGuardWord)
		case *syntax.ForClause:
			switch l := node.Loop.(type) {
			case *syntax.CStyleLoop:
				if len(node.Do) > 1 {
					node.Do = node.Do[:len(node.Do)-1]
				}
			case *syntax.WordIter:
				if skipsEmpty(node, l) {
					node.Do = node.Do[1:]
				}
			}
		case *syntax.Word:
			if parts := s.numberParts(node); parts != nil {
				node.Parts = parts
			}
			restoreLists(node)
			s.restoreQuotes(node)
			node.Parts = s.restoredParts(node.Parts)
		case *syntax.TestClause, *syntax.ParenTest, *syntax.UnaryTest, *syntax.BinaryTest:
			restoreTests(node)
		case *syntax.DblQuoted:
			node.Parts = s.restoredParts(node.Parts)
		case *syntax.BinaryArithm:
			node.Y = restoredOperand(node.Y)
		case *syntax.ParamExp:
			node.Index = restoredOperand(node.Index)
			if node.Slice != nil {
				node.Slice.Offset, node.Slice.Length = restoredOperand(node.Slice.Offset), restoredOperand(node.Slice.Length)
			}
			if node.Exp != nil && node.Exp.Op == syntax.RemSmallPrefix && (node.Exp.Word == nil || len(node.Exp.Word.Parts) == 0) {
				node.Exp = nil // from word
			}
			s.restoreTrim(node)
			s.restoreAnchor(node)
			restoreReplacement(node)
			if node.Param != nil {
				index, ok := node.Index.(*syntax.Word)
				if name := back[node.Param.Value]; name != "" && ok && index.Lit() == "0" {
					node.Param.Value = name
					node.Index = nil
				}
			}
		}
		s.restoreTails(node)
		return true
	})
}

// restoreTails takes back what ignoreFailures has done.
func (s *Session) restoreTails(node syntax.Node) {
	for _, list := range stmtLists(node) {
		if n := len(*list); n > 1 && s.isTail((*list)[n-1]) {
			*list = (*list)[:n-1]
		}
	}
}

// numberParts returns what makeNumber has replaced, nil if w is another word.
func (s *Session) numberParts(w *syntax.Word) []syntax.WordPart {
	for i, part := range w.Parts {
		if name, ok := strings.CutPrefix(readName(part), NumberPath); ok && name != "" {
			if len(name) == 1 {
				continue
			}
			_, text, isVariable := splitNumber(name[1:])
			if isVariable {
				return []syntax.WordPart{&syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: text}}}
			}
			return []syntax.WordPart{&syntax.Lit{Value: text}}
		}
		if call := s.substitutedCall(part, NumberCommand); call != nil && len(call.Args) == 3 {
			parts := call.Args[2].Parts
			quoted, ok := parts[len(parts)-1].(*syntax.DblQuoted)
			switch {
			case !ok:
			case i+1 < len(w.Parts) && readName(w.Parts[i+1]) == NumberPath+string(InTest):
				return s.testNumber(quoted)
			default:
				return s.undivided(quoted.Parts)
			}
		}
	}
	return nil
}

// testNumber returns an operand of [[ ]], from numberTest. Text with a blank or an operator of [[ ]]
// was in quotes, which the parser needs again.
func (s *Session) testNumber(quoted *syntax.DblQuoted) []syntax.WordPart {
	if len(quoted.Parts) == 0 {
		return []syntax.WordPart{quoted}
	}
	if exp, ok := quoted.Parts[0].(*syntax.ArithmExp); ok && len(quoted.Parts) == 1 {
		if word, ok := exp.X.(*syntax.Word); ok {
			s.restore(word)
			return word.Parts
		}
	}
	for _, part := range quoted.Parts {
		if lit, ok := part.(*syntax.Lit); ok && needsQuotes().MatchString(lit.Value) {
			return []syntax.WordPart{quoted}
		}
	}
	return quoted.Parts
}

// needsQuotes matches what an operand of [[ ]] may not have, or could mean something else.
var needsQuotes = lazyregexp.New(`[^\w#+*/%-]`)

// undivided returns the parts of a divisor or an exponent, from checked, or of an index, and others
// as they are.
func (s *Session) undivided(parts []syntax.WordPart) []syntax.WordPart {
	exp, ok := parts[0].(*syntax.ArithmExp)
	if !ok || len(parts) != 1 {
		return parts
	}
	s.restore(exp)
	if product, ok := exp.X.(*syntax.BinaryArithm); ok && product.Op == syntax.Mul {
		one, _ := product.X.(*syntax.Word)
		if word, ok := product.Y.(*syntax.Word); ok && one != nil && one.Lit() == "1" {
			return word.Parts
		}
	}
	return []syntax.WordPart{&syntax.Lit{Value: printedExpression(exp.X)}}
}

// restoredOperand returns what computedOnce or slice has replaced, and other expressions as they are.
func restoredOperand(expr syntax.ArithmExpr) syntax.ArithmExpr {
	paren, ok := expr.(*syntax.ParenArithm)
	if !ok {
		return expr
	}
	assign, ok := paren.X.(*syntax.BinaryArithm)
	if ok && assign.Op == syntax.Comma {
		assign, ok = assign.X.(*syntax.BinaryArithm)
	}
	if !ok || assign.Op != syntax.Assgn {
		return expr
	}
	name, isName := assign.X.(*syntax.Word)
	once, isParen := assign.Y.(*syntax.ParenArithm)
	if isName && isParen && (name.Lit() == NumberName || name.Lit() == OffsetName) {
		return once.X
	}
	return expr
}

// restoredParts returns parts without guards, with the substitutions as they were written.
func (s *Session) restoredParts(parts []syntax.WordPart) []syntax.WordPart {
	parts = slices.DeleteFunc(parts, func(part syntax.WordPart) bool {
		return isGuard(part) || s.substitutedCall(part, GlobCommand) != nil || strings.HasPrefix(readName(part), NumberPath) && len(readName(part)) == len(NumberPath)+1
	})
	for i, part := range parts {
		if subst, ok := part.(*syntax.CmdSubst); ok {
			parts[i] = s.restoreSubst(subst)
		}
	}
	return parts
}

// restoreSubst takes back what rewrite has done to a substitution.
func (s *Session) restoreSubst(subst *syntax.CmdSubst) syntax.WordPart {
	subst.Stmts = s.uncaptured(subst)
	if n := len(subst.Stmts); n > 0 { // else the printer would leave lines for what was there
		subst.Left, subst.Right = subst.Stmts[0].Pos(), subst.Stmts[n-1].End()
	}
	if len(subst.Stmts) != 1 {
		return subst
	}
	if call := s.substitutedCall(subst, CatCommand); call != nil {
		subst.Stmts[0].Cmd = nil
		return subst
	}
	// ${#m[@]}, from countSubst.
	if call := s.substitutedCall(subst, CountCommand); call != nil && len(call.Args) == 2 {
		return &syntax.ParamExp{Length: true, Param: &syntax.Lit{Value: call.Args[1].Lit()}, Index: literal("@")}
	}
	pipe, ok := subst.Stmts[0].Cmd.(*syntax.BinaryCmd)
	if !ok || pipe.Op != syntax.Pipe {
		return subst
	}
	// <(...), from keepSubst; pipe may have put the right side into a subshell.
	y := pipe.Y
	if sub, ok := y.Cmd.(*syntax.Subshell); ok && len(sub.Stmts) == 1 {
		y = sub.Stmts[0]
	}
	if call, ok := y.Cmd.(*syntax.CallExpr); !ok || s.internal(call) != KeepCommand {
		return subst
	}
	s.restoreStmt(pipe.X)
	stmts := []*syntax.Stmt{pipe.X}
	if block, ok := pipe.X.Cmd.(*syntax.Block); ok && len(pipe.X.Redirs) == 0 {
		stmts = block.Stmts
	}
	return &syntax.ProcSubst{Op: syntax.CmdIn, Stmts: stmts}
}

// uncaptured returns the statements in a substitution, without what captured has put around them.
func (s *Session) uncaptured(subst *syntax.CmdSubst) []*syntax.Stmt {
	if len(subst.Stmts) != 1 || len(subst.Stmts[0].Redirs) != 1 {
		return subst.Stmts
	}
	redirect := subst.Stmts[0].Redirs[0]
	block, ok := subst.Stmts[0].Cmd.(*syntax.Block)
	if ok && redirect.Op == syntax.RdrOut && redirect.N == nil && redirect.Word.Lit() == CapturePath {
		if call, ok := block.Stmts[0].Cmd.(*syntax.CallExpr); ok && s.internal(call) == IgnoreCommand {
			return block.Stmts[1:]
		}
		return block.Stmts
	}
	return subst.Stmts
}

// isGuardWord reports whether w is nothing but a guard.
func isGuardWord(w *syntax.Word) bool { return len(w.Parts) == 1 && isGuard(w.Parts[0]) }

// isGuard reports whether part is a guard. A script can spell one itself; that is expanded
// like any other, and lost when a function is shown.
func isGuard(part syntax.WordPart) bool {
	return strings.HasPrefix(readName(part), GuardPath)
}

// readName returns the name in $(<'name'), "" for another part.
func readName(part syntax.WordPart) string {
	subst, ok := part.(*syntax.CmdSubst)
	if !ok || len(subst.Stmts) != 1 || subst.Stmts[0].Cmd != nil || len(subst.Stmts[0].Redirs) == 0 {
		return ""
	}
	redirs := subst.Stmts[0].Redirs
	if quoted := onlyQuoted(redirs[0].Word); quoted != nil && len(redirs) == 1 {
		return quoted.Value
	}
	if len(redirs) == 2 && redirs[1].Op == syntax.DplOut && isGuardPath(redirs[0].Word) {
		return GuardPath // values follow
	}
	return ""
}

// isGuardPath reports whether a word is the path of a guard. w may be nil.
func isGuardPath(w *syntax.Word) bool {
	if w == nil || len(w.Parts) == 0 {
		return false
	}
	quoted, ok := w.Parts[0].(*syntax.SglQuoted)
	return ok && strings.HasPrefix(quoted.Value, GuardPath)
}

// onlyQuoted returns the quotes that are all of a word, nil for another one. w may be nil.
func onlyQuoted(w *syntax.Word) *syntax.SglQuoted {
	if w == nil || len(w.Parts) != 1 {
		return nil
	}
	quoted, _ := w.Parts[0].(*syntax.SglQuoted)
	return quoted
}

// restoreStmt takes back what rewrite has done to a statement.
func (s *Session) restoreStmt(st *syntax.Stmt) {
	if block, ok := st.Cmd.(*syntax.Block); ok && len(block.Stmts) == 2 {
		call, ok := block.Stmts[1].Cmd.(*syntax.CallExpr)
		inner, isBlock := block.Stmts[0].Cmd.(*syntax.Block)
		if ok && isBlock && len(inner.Stmts) == 1 && s.internal(call) == StatusCommand {
			// A redirection into a file, from stmt.
			negated, background := st.Negated, st.Background
			*st = *inner.Stmts[0]
			st.Negated = st.Negated || negated
			st.Background = st.Background || background
		}
	}
	if block, ok := st.Cmd.(*syntax.Block); ok && len(block.Stmts) >= 2 {
		call, ok := block.Stmts[0].Cmd.(*syntax.CallExpr)
		if ok && s.internal(call) == TimeCommand {
			// The keyword time, from timeClause.
			after, ok := block.Stmts[len(block.Stmts)-1].Cmd.(*syntax.CallExpr)
			clause := &syntax.TimeClause{PosixFormat: ok && len(after.Args) == 4}
			if len(block.Stmts) == 3 {
				clause.Stmt = block.Stmts[1]
			}
			st.Cmd, st.Semicolon = clause, syntax.Pos{} // else the printer would put ";" on a line of its own
		}
	}
	if block, ok := st.Cmd.(*syntax.Block); ok {
		if decl := undeclared(block); decl != nil {
			st.Cmd = decl
		} else if test := joinedTest(block); test != nil {
			st.Cmd = &syntax.TestClause{X: test}
		}
	}
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok {
		return
	}
	if len(call.Args) > 0 {
		if quoted := onlyQuoted(call.Args[0]); quoted != nil && slices.Contains(declarations, quoted.Value) {
			call.Args[0] = literal(quoted.Value) // from computedDecl
		}
	}
	switch name := s.internal(call); name {
	case RunCommand:
		if len(call.Args) == 2 {
			n, _ := strconv.Atoi(call.Args[1].Lit())
			if file, err := syntax.NewParser().Parse(strings.NewReader(s.Piece(n)), ""); err == nil && len(file.Stmts) == 1 {
				background := st.Background
				*st = *file.Stmts[0]
				st.Background = background
				s.restoreStmt(st)
			}
		}
	case NamesCommand, ShowCommand:
		flag := map[string]string{NamesCommand: "-F", ShowCommand: "-f"}[name]
		decl := &syntax.DeclClause{Variant: &syntax.Lit{Value: "declare"}, Args: []*syntax.Assign{{Naked: true, Value: literal(flag)}}}
		for _, arg := range call.Args[1:] {
			decl.Args = append(decl.Args, &syntax.Assign{Naked: true, Value: arg})
		}
		st.Cmd = decl
	}
}

// undeclared returns the declaration that stands in front of what declaredArrays has returned, nil
// for other commands.
func undeclared(block *syntax.Block) *syntax.DeclClause {
	if len(block.Stmts) != 2 {
		return nil
	}
	decl, ok := block.Stmts[0].Cmd.(*syntax.DeclClause)
	if call, isCall := block.Stmts[1].Cmd.(*syntax.CallExpr); ok && isCall && len(call.Args) == 0 && len(call.Assigns) > 0 &&
		appendsNothing(call.Assigns[0], call.Assigns[0].Name.Value) {
		return decl
	}
	return nil
}

// joinedTest returns the test that shortCircuit has made a block of, nil for other blocks.
func joinedTest(block *syntax.Block) syntax.TestExpr {
	if len(block.Stmts) != 1 {
		return nil
	}
	if _, isList := block.Stmts[0].Cmd.(*syntax.BinaryCmd); !isList && !block.Stmts[0].Negated {
		return nil
	}
	return testOperand(block.Stmts[0])
}

// testOperand returns the test that a statement is, nil if it is none.
func testOperand(st *syntax.Stmt) (test syntax.TestExpr) {
	if len(st.Redirs) > 0 || st.Background {
		return nil
	}
	switch cmd := st.Cmd.(type) {
	case *syntax.TestClause:
		test = cmd.X
	case *syntax.Block:
		if len(cmd.Stmts) == 1 {
			test = inParentheses(testOperand(cmd.Stmts[0]))
		}
	case *syntax.BinaryCmd:
		x, y := testOperand(cmd.X), testOperand(cmd.Y)
		if before, ok := cmd.X.Cmd.(*syntax.BinaryCmd); ok && before.Op != cmd.Op {
			x = inParentheses(x)
		}
		for op, list := range listOperators {
			if list == cmd.Op && x != nil && y != nil {
				test = &syntax.BinaryTest{Op: op, X: x, Y: y}
			}
		}
	}
	if test != nil && st.Negated {
		return &syntax.UnaryTest{Op: syntax.TsNot, X: test}
	}
	return test
}

// inParentheses returns a test in parentheses, nil for nil.
func inParentheses(test syntax.TestExpr) syntax.TestExpr {
	if test == nil {
		return nil
	}
	return &syntax.ParenTest{X: test}
}

// restoreTests takes back what has been done to the tests in node.
func restoreTests(node syntax.Node) {
	switch node := node.(type) {
	case *syntax.TestClause:
		node.X = shortened(restoredTest(node.X))
	case *syntax.ParenTest:
		node.X = shortened(restoredTest(node.X))
	case *syntax.UnaryTest:
		node.X = restoredTest(node.X)
	case *syntax.BinaryTest:
		node.X, node.Y = shortened(restoredTest(node.X)), shortened(restoredTest(node.Y))
	}
}

// restoredTest returns what numberTest has replaced, and other expressions as they are.
func restoredTest(expr syntax.TestExpr) syntax.TestExpr {
	if paren, ok := expr.(*syntax.ParenTest); ok {
		if and, ok := paren.X.(*syntax.BinaryTest); ok && and.Op == syntax.AndTest {
			if failed, ok := and.Y.(*syntax.UnaryTest); ok && failed.Op == syntax.TsEmpStr {
				word, ok := failed.X.(*syntax.Word)
				if ok && len(word.Parts) == 1 && readName(word.Parts[0]) == NumberPath+string(InTest)+"!" {
					return and.X
				}
			}
		}
	}
	return expr
}

// shortened takes back what precedence has done, and what the script itself has put into
// parentheses in the same way.
func shortened(expr syntax.TestExpr) syntax.TestExpr {
	switch test := expr.(type) {
	case *syntax.BinaryTest:
		if test.Op == syntax.AndTest || test.Op == syntax.OrTest {
			test.X, test.Y = shortOperand(test.X, test.Op), shortOperand(test.Y, test.Op)
		}
	}
	return expr
}

// shortOperand returns an operand of op without parentheses that it does not need.
func shortOperand(expr syntax.TestExpr, op syntax.BinTestOperator) syntax.TestExpr {
	expr = restoredTest(expr)
	paren, ok := expr.(*syntax.ParenTest)
	if !ok {
		return expr
	}
	if inner, ok := paren.X.(*syntax.BinaryTest); ok && inner.Op == syntax.AndTest && op == syntax.OrTest {
		return inner
	}
	return expr
}

// restoreTrim takes back what trim has done to p.
func (s *Session) restoreTrim(p *syntax.ParamExp) {
	if p.Slice == nil {
		return
	}
	for _, expr := range []syntax.ArithmExpr{p.Slice.Offset, p.Slice.Length} {
		w, ok := expr.(*syntax.Word)
		if !ok || len(w.Parts) == 0 {
			continue
		}
		call := s.substitutedCall(w.Parts[0], TrimCommand)
		if call == nil || len(call.Args) != 5 || onlyQuoted(call.Args[4]) == nil {
			continue
		}
		text := undollared(onlyQuoted(call.Args[4]))
		if parsed, ok := parseCommand(": " + text).(*syntax.CallExpr); ok && len(parsed.Args) == 2 && len(parsed.Args[1].Parts) == 1 {
			if exp, ok := parsed.Args[1].Parts[0].(*syntax.ParamExp); ok {
				*p = *exp
				return
			}
		}
	}
}

// restoreAnchor takes back what anchored has done to p.
func (s *Session) restoreAnchor(p *syntax.ParamExp) {
	if p.Repl == nil || p.Repl.Orig == nil || p.Repl.With == nil || len(p.Repl.Orig.Parts) == 0 {
		return
	}
	call := s.substitutedCall(p.Repl.Orig.Parts[0], TrimCommand)
	if call == nil || len(call.Args) != 5 || onlyQuoted(call.Args[4]) == nil {
		return
	}
	text := undollared(onlyQuoted(call.Args[4]))
	parsed, ok := parseCommand(": ${x/" + text + "/}").(*syntax.CallExpr)
	if !ok {
		return
	}
	p.Repl.Orig = parsed.Args[1].Parts[0].(*syntax.ParamExp).Repl.Orig
	parts := p.Repl.With.Parts
	if text[0] == '#' {
		parts = parts[:len(parts)-1]
	} else {
		parts = parts[1:]
	}
	// The first part has no line, else the printer would begin one before it.
	p.Repl.With.Parts = append([]syntax.WordPart{&syntax.Lit{}}, parts...)
}

// undollared returns the text that dollarQuoted has put into quotes.
func undollared(quoted *syntax.SglQuoted) string {
	return strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\n`, "\n").Replace(quoted.Value)
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

// restoreLists takes back what expandLists has done.
func restoreLists(w *syntax.Word) {
	for i, part := range w.Parts[:max(len(w.Parts)-1, 0)] {
		if !strings.HasPrefix(readName(part), listGuard) {
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
		if readName(part) == listGuard+"++" {
			op = syntax.AlternateUnsetOrNull
		}
		var restored syntax.WordPart = &syntax.ParamExp{Param: list.Param, Index: list.Index,
			Exp: &syntax.Expansion{Op: op, Word: &syntax.Word{Parts: []syntax.WordPart{quoted}}}}
		if readName(part) == listGuard+"+" {
			restored = &syntax.DblQuoted{Parts: []syntax.WordPart{restored}}
		}
		w.Parts = slices.Concat(w.Parts[:i], []syntax.WordPart{restored}, w.Parts[i+2:])
		return
	}
}

// restoreQuotes takes back what quoteExpression and quoteParts have done to w.
func (s *Session) restoreQuotes(w *syntax.Word) {
	if len(w.Parts) > 1 && isAnyNewline(w.Parts[0]) {
		w.Parts = w.Parts[1:]
	}
	for i, part := range w.Parts {
		if call := s.substitutedCall(part, QuoteCommand); call != nil && len(call.Args) == 3 {
			parts := call.Args[2].Parts
			w.Parts[i] = parts[len(parts)-1]
		}
	}
}

// substitutedCall returns the call of a command of the shell that part substitutes, nil for others.
func (s *Session) substitutedCall(part syntax.WordPart, name string) *syntax.CallExpr {
	subst, ok := part.(*syntax.CmdSubst)
	if !ok {
		return nil
	}
	stmts := s.uncaptured(subst)
	if len(stmts) != 1 {
		return nil
	}
	if call, ok := stmts[0].Cmd.(*syntax.CallExpr); ok && s.internal(call) == name {
		return call
	}
	return nil
}

// guardText is how a guard looks in a trace.
var guardText = lazyregexp.New(`\$\(<\s*'` + GuardPath + `[^']*'(?:(?:"[^"]*")+ >&1)?\) ?`)

// emptyAppendText is what rewrite has put in front of an assignment, see emptyAppend.
var emptyAppendText = lazyregexp.New(`^\+ \w+\+=\(\)\n$`)

// numberText is how a value in an expression looks in a trace, see NumberPath.
var numberText = lazyregexp.New(`(?:\$\{\w+:0:0\})*(?:\$\(\{ '` + internalPrefix + `\w+ ` + NumberCommand + `' '(?:.|\[\w+)' "((?:[^"\\]|\\.)*)"; \} >` + CapturePath +
	`\)\$\(<'` + NumberPath + `\w'\)|\$\(<'` + NumberPath + `\w(?:\[\w+/)?[/^]?[(=]?(\w+)'\))`)

// onceText is how an operand looks in a trace that computedOnce has replaced.
var onceText = lazyregexp.New(`\(` + NumberName + ` = \((.*?)\), \$\(<'` + NumberPath + `[^']*'\)\)`)

// Trace returns what is written to the standard error at once, such as a line of a trace (set -x),
// without what rewrite has added to the script, and with a clear message in place of one of the
// interpreter. It reports false if nothing is left. A call of an
// internal command is recognized by the beginning of b, and a guard anywhere in it. What a script
// itself prints in the form of a guard is removed as well.
func Trace(b []byte) ([]byte, bool) {
	switch {
	case bytes.HasPrefix(b, []byte("+ "+internalPrefix)), emptyAppendText().Match(b):
		return nil, false
	case string(b) == ErrIndirect.Error()+"\n": // which the interpreter says of an unset variable
		return []byte("bash: " + ErrIndirect.Error() + " of a name that is not set\n"), true
	case bytes.Contains(b, []byte(GuardPath)), bytes.Contains(b, []byte(NumberPath)):
		b = onceText().ReplaceAll(guardText().ReplaceAll(b, nil), []byte("$1"))
		return numberText().ReplaceAll(b, []byte("$1$2")), true
	}
	return b, true
}
