package rewrite

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// isSameInput reports whether redir is <&0, which changes nothing and which the interpreter refuses.
func isSameInput(redir *syntax.Redirect) bool {
	return redir.Op == syntax.DplIn && redir.Word.Lit() == "0" && (redir.N == nil || redir.N.Value == "0")
}

// stmt rewrites what belongs to a whole statement. It may change st in place to something
// else; what it was is then a copy in the replacement.
func (r *Rewriter) stmt(st *syntax.Stmt) error {
	if st.Coprocess {
		return errors.New("coproc is not supported")
	}
	if st.Cmd != nil {
		st.Redirs = slices.DeleteFunc(st.Redirs, isSameInput)
	}
	if st.Background || st.Disown {
		piece := *st
		piece.Background, piece.Disown, piece.Comments = false, false, nil
		// The piece runs in the background as a whole: redirections and "!" are part of it.
		call, err := r.piece(&piece)
		if err != nil {
			return err
		}
		st.Cmd, st.Redirs, st.Negated = call, nil, false
		return nil
	}
	if storesFile(st) && !r.wrapped[st] {
		inner := *st
		// "!" stays outside, where it is for the status of the block.
		inner.Negated, inner.Comments = false, nil
		r.wrapped[&inner] = true
		status := r.internalCall(StatusCommand, lastStatus())
		st.Redirs = nil
		st.Cmd = &syntax.Block{Stmts: []*syntax.Stmt{{Cmd: &syntax.Block{Stmts: []*syntax.Stmt{&inner}}}, {Cmd: status}}}
		return nil
	}
	switch cmd := st.Cmd.(type) {
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll {
			if err := r.pipe(cmd); err != nil {
				return err
			}
		}
	case *syntax.TimeClause:
		r.timeClause(st, cmd)
	case *syntax.ArithmCmd:
		if block := r.assignElement(cmd.X); block != nil {
			st.Cmd = block
		}
	case *syntax.CallExpr:
		if block := r.emptyMap(cmd); block != nil {
			st.Cmd = block
		}
	case *syntax.TestClause:
		if block := shortCircuit(cmd); block != nil {
			st.Cmd = block
		}
	case *syntax.DeclClause:
		r.declaration(st, cmd)
	}
	return nil
}

// storesFile reports whether a statement has a redirection into a file. Storing it can
// fail when the statement has ended.
//
// An exec keeps its file open for the script, so there is no end to look at. Devices store
// nothing, except for the files below /dev/shm.
func storesFile(st *syntax.Stmt) bool {
	if call, ok := st.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 && call.Args[0].Lit() == "exec" {
		return false
	}
	return slices.ContainsFunc(st.Redirs, func(redirect *syntax.Redirect) bool {
		switch redirect.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob:
			name := redirect.Word.Lit()
			return !strings.HasPrefix(name, "/dev/") || strings.HasPrefix(name, "/dev/shm/")
		}
		return false
	})
}

// timeClause makes a block of the keyword time, whose output is standard output in the
// interpreter: the same command before the statement, and after it with its status.
func (r *Rewriter) timeClause(st *syntax.Stmt, clause *syntax.TimeClause) {
	n := literal(strconv.Itoa(r.nextNumber()))
	block := &syntax.Block{Stmts: []*syntax.Stmt{{Cmd: r.internalCall(TimeCommand, n)}}}
	if clause.Stmt != nil {
		block.Stmts = append(block.Stmts, clause.Stmt)
	}
	after := r.internalCall(TimeCommand, n, lastStatus())
	if clause.PosixFormat {
		after.Args = append(after.Args, literal("-p"))
	}
	block.Stmts = append(block.Stmts, &syntax.Stmt{Cmd: after})
	st.Cmd = block
}

// nextNumber returns a number that is given out once.
func (s *Session) nextNumber() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	return s.next
}

// lastStatus returns the word $?.
func lastStatus() *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: "?"}}}}
}

// pipe gives both sides of a pipeline a subshell: the interpreter runs the right one in
// the shell itself, so that `a | read x` would set x, unlike in bash.
//
//	a | while read l; do b; done    'wk run' 1 | (while read l; do b; done)
//
// A program needs no subshell, as it cannot change the shell. That keeps the common pipeline
// cheap.
func (r *Rewriter) pipe(cmd *syntax.BinaryCmd) error {
	x, err := r.piece(cmd.X)
	if err != nil {
		return err
	}
	cmd.X = &syntax.Stmt{Cmd: x}
	switch y := cmd.Y.Cmd.(type) {
	case *syntax.BinaryCmd, *syntax.Subshell:
		return nil
	case *syntax.CallExpr:
		if len(y.Args) > 0 && len(y.Assigns) == 0 && r.opts.IsProgram(y.Args[0].Lit()) && !r.functions[y.Args[0].Lit()] {
			return nil
		}
	}
	cmd.Y = &syntax.Stmt{Cmd: &syntax.Subshell{Stmts: []*syntax.Stmt{cmd.Y}}}
	return nil
}

// piece rewrites a statement, puts it aside, and returns a call that runs it. The call
// counts how many subshells there are, and outlives a panic of the interpreter, which
// starts goroutines for these statements.
//
// The piece is text and not a tree, as a handler can run a part of a script in its own
// interpreter only by eval.
func (r *Rewriter) piece(st *syntax.Stmt) (*syntax.CallExpr, error) {
	file := &syntax.File{Stmts: []*syntax.Stmt{st}}
	if err := r.rewrite(file); err != nil {
		return nil, err
	}
	text, err := source(file)
	if err != nil {
		return nil, err
	}
	n, err := r.opts.KeepPiece(text)
	return r.internalCall(RunCommand, literal(strconv.Itoa(n))), err
}

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
func (r *Rewriter) ignoreFailures(file *syntax.File) {
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
func (r *Rewriter) ignoreLast(st *syntax.Stmt) {
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
			if r.isTail(last) {
				continue
			}
			r.ignoreLast(last)
			and, ok := last.Cmd.(*syntax.BinaryCmd)
			if last.Background || last.Disown || !last.Negated && (!ok || and.Op != syntax.AndStmt) {
				continue
			}
			flags := &syntax.Word{Parts: []syntax.WordPart{&syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: "-"}}}}
			tail := r.internalCall(TailCommand, lastStatus(), flags)
			*list = append(*list, &syntax.Stmt{Cmd: &syntax.BinaryCmd{Op: syntax.AndStmt, X: &syntax.Stmt{Cmd: tail}, Y: &syntax.Stmt{Cmd: r.internalCall(TailCommand)}}})
		}
	}
}

// isTail reports whether ignoreFailures has added st.
func (s *Session) isTail(st *syntax.Stmt) bool {
	and, ok := st.Cmd.(*syntax.BinaryCmd)
	if !ok {
		return false
	}
	call, ok := and.X.Cmd.(*syntax.CallExpr)
	return ok && s.internal(call) == TailCommand
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
