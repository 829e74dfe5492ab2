package shell

import "mvdan.cc/sh/v3/syntax"

// With set -e, bash ignores that a fails in "a && b", and that "! a" does. The interpreter forgets
// that where such a command is the last one of a loop, a block, an if or a case, and ends the
// script when that ends. So a command stands after it, which succeeds with set -e or a trap of ERR,
// and else has the status as before:
//
//	for x in 1 2; do [ $x = 1 ] && echo $x; done; echo on
//	for x in 1 2; do [ $x = 1 ] && echo $x; 'wk tail' $? $- && 'wk tail'; done; echo on
//
// Nothing is changed where the loop is the last command of a function or a subshell, or of the
// script: that fails then in bash, too.

// ignoreFailures changes a script before it is rewritten.
func (r *run) ignoreFailures(file *syntax.File) {
	syntax.Walk(file, func(node syntax.Node) bool {
		for _, list := range stmtLists(node) {
			for _, st := range (*list)[:max(len(*list)-1, 0)] {
				r.ignoreLast(st)
			}
		}
		return true
	})
}

// ignoreLast changes the last commands of a statement that is a loop, a block, an if or a case.
func (r *run) ignoreLast(st *syntax.Stmt) {
	if st.Negated || st.Background || st.Disown {
		return
	}
	switch cmd := st.Cmd.(type) {
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.AndStmt || cmd.Op == syntax.OrStmt {
			r.ignoreLast(cmd.Y)
		}
	case *syntax.Block, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
		if clause, ok := cmd.(*syntax.IfClause); ok && clause.Else != nil {
			r.ignoreLast(&syntax.Stmt{Cmd: clause.Else})
		}
		for _, list := range stmtLists(cmd) {
			if clause, ok := cmd.(*syntax.IfClause); ok && list == &clause.Cond || len(*list) == 0 {
				continue
			}
			last := (*list)[len(*list)-1]
			if r.shell.state.isTail(last) {
				continue
			}
			r.ignoreLast(last)
			and, ok := last.Cmd.(*syntax.BinaryCmd)
			if last.Background || last.Disown || !last.Negated && (!ok || and.Op != syntax.AndStmt) {
				continue
			}
			tail := r.internalCall(tailCommand)
			tail.Args = append(tail.Args, lastStatus(), &syntax.Word{Parts: []syntax.WordPart{&syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: "-"}}}})
			*list = append(*list, &syntax.Stmt{Cmd: &syntax.BinaryCmd{Op: syntax.AndStmt, X: &syntax.Stmt{Cmd: tail}, Y: &syntax.Stmt{Cmd: r.internalCall(tailCommand)}}})
		}
	}
}

// stmtLists returns the lists of statements that a node has itself, without conditions of loops.
func stmtLists(node syntax.Node) []*[]*syntax.Stmt {
	switch node := node.(type) {
	case *syntax.File:
		return []*[]*syntax.Stmt{&node.Stmts}
	case *syntax.Block:
		return []*[]*syntax.Stmt{&node.Stmts}
	case *syntax.Subshell:
		return []*[]*syntax.Stmt{&node.Stmts}
	case *syntax.CmdSubst:
		return []*[]*syntax.Stmt{&node.Stmts}
	case *syntax.ProcSubst:
		return []*[]*syntax.Stmt{&node.Stmts}
	case *syntax.IfClause:
		return []*[]*syntax.Stmt{&node.Cond, &node.Then}
	case *syntax.WhileClause:
		return []*[]*syntax.Stmt{&node.Do}
	case *syntax.ForClause:
		return []*[]*syntax.Stmt{&node.Do}
	case *syntax.CaseClause:
		var lists []*[]*syntax.Stmt
		for _, item := range node.Items {
			lists = append(lists, &item.Stmts)
		}
		return lists
	}
	return nil
}
