package shell

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/workspacekit/workspacekit/shell/internal/command"
	"mvdan.cc/sh/v3/syntax"
)

// Commands of the shell itself. Their names begin with state.prefix, which no script can guess:
// "wk run" is short for such a name in comments. What rewrite puts into a tree has the name in
// single quotes. What run.call puts in place of a builtin is a list of arguments, which nothing
// parses again.
//
// A script can learn the prefix from a trace (set -x). That is of no use: text with the prefix in
// single quotes is refused (run.parse), so that whatever rewrite and restore regard as a
// command of the shell is one. A call of "$x" can name such a command; its arguments are rewritten and
// guarded as those of all calls are, and the commands are safe with any arguments.
const (
	internalPrefix = "wk "
	runCommand     = "run"    // runs a piece of the script as a part of a pipeline or in the background
	keepCommand    = "keep"   // keeps its input as /dev/fd/N, and prints that name
	statusCommand  = "status" // returns its argument, or 1 if a file could not be stored
	showCommand    = "show"   // declare -f: prints functions as they were written
	namesCommand   = "names"  // declare -F
	countCommand   = "count"  // prints how many elements an associative array has
	timeCommand    = "time"   // the keyword time
	typeCommand    = "type"   // type, command -v
	readCommand    = "read"   // read
	mapfileCommand = "mapfile"
	printfCommand  = "printf"
	numberCommand  = "number" // prints the number that a value in an expression stands for
	quoteCommand   = "quote"  // prints quoted text as a part of a pattern
	trimCommand    = "trim"   // prints what ${x##p} leaves out
	pushdCommand   = "pushd"  // pushd
	dirsCommand    = "dirs"   // dirs
	tailCommand    = "tail"   // returns the status of a command whose failure set -e ignores
)

// reserved are names that a script cannot give to functions, because what they do is
// replaced where they are called. A function eval would otherwise be passed over without a
// word, or get arguments that are meant for the builtin.
var reserved = []string{"source", ".", "eval", "builtin", "command", "exec", "type", "trap", "alias", "read", "mapfile",
	"readarray", "printf", "set", "exit"}

// errDepth says that a script has too many constructs in each other.
var errDepth = errors.New("the script is nested too deeply")

// maxParseFrames is how deep the stack may be while a script is read. The parser calls itself
// for each construct in another one, and nothing else bounds that: a megabyte of "(" could
// let the stack grow until Go ends the process.
const maxParseFrames = 3000

// script reads the text of a script, which the parser asks for in small pieces: so it is
// seen how deeply the parser has called itself.
type script struct {
	rest string
	base int // frames of the stack before the parser
}

// newScript returns the script text, to be parsed by whoever calls newScript: the frames
// of the stack are counted from there.
func newScript(text string) *script { return &script{text, depth()} }

// Read implements [io.Reader]. The parser calls it from whatever depth it has reached, at
// least once for each 256 bytes, so it cannot get much deeper than the bound unseen.
func (s *script) Read(b []byte) (int, error) {
	if deeper(s.base + maxParseFrames) {
		return 0, errDepth
	}
	if s.rest == "" {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), 256)], s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// depth returns how many frames the stack has: at least 100, and at most 1<<15.
func depth() int {
	if !deeper(100) {
		return 100
	}
	pcs := make([]uintptr, 1<<15)
	return runtime.Callers(0, pcs)
}

// deeper reports whether the stack has more than n frames. It needs no memory,
// unlike depth, and time in proportion to n.
func deeper(n int) bool {
	var pc [1]uintptr
	return runtime.Callers(n, pc[:]) > 0
}

// parse reads a script and rewrites it. name is for the parser's messages, where bash has the
// name of the script. Nothing is run.
//
// Its errors are those of the parser, errDepth, and texts that say what is not supported. The
// name of a command of the shell itself is not.
func (r *run) parse(text, name string) (*syntax.File, error) {
	if len(text) > maxScript {
		return nil, fmt.Errorf("the script has %d bytes, and the limit is %d", len(text), maxScript)
	}
	file, err := syntax.NewParser().Parse(newScript(text), name)
	if errors.Is(err, errDepth) {
		return nil, errDepth
	}
	if err != nil {
		if text, found := strings.CutSuffix(err.Error(), "floating point arithmetic is a zsh feature; tried parsing as bash"); found {
			return nil, errors.New(text + `a number has no "."; a key with one needs quotes, as in m["a.b"]`)
		}
		return nil, err
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		if quoted, ok := node.(*syntax.SglQuoted); ok && strings.Contains(quoted.Value, r.shell.state.prefix) {
			err = errors.New("the script has the name of a command of the shell itself")
		}
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	r.parsing.Lock()
	defer r.parsing.Unlock()
	r.wrapped = map[syntax.Node]bool{}
	r.ignoreFailures(file)
	return file, r.rewrite(file)
}

// rewritten returns the text of a script as the interpreter may parse it by itself: for eval,
// source and trap, whose text the interpreter parses without asking a handler.
func (r *run) rewritten(text string) (string, error) {
	file, err := r.parse(text, "bash")
	if err != nil {
		return "", err
	}
	return printed(file), nil
}

// printed returns the source of a node. Where the printer fails it returns a command that
// fails, and never a part of the script.
func printed(node syntax.Node) string {
	var b bytes.Buffer
	if err := syntax.NewPrinter().Print(&b, node); err != nil {
		return "false"
	}
	return b.String()
}

// rewrite changes a tree so that it can be run. r.parsing is held.
//
// A node is rewritten before the nodes in it, so what stands in a replacement is visited as
// well. Two marks keep that from going on for ever: r.wrapped has nodes that were put into
// something else, and internal commands are left alone. This is what it does:
//
//	a & and a | b             a becomes a piece: 'wk run' N
//	a > f                     a block that reports a failure to store f
//	time, declare -f and -F   calls of internal commands
//	<(a), ${#m[@]}            command substitutions of internal commands
//	words, assignments        a guard, if they need one
//	values in expressions     files with numbers, see numberPath
//	[[ a && b || c ]]         parentheses, see precedence; [[ a -eq b ]], see numberTest
//	=~ "a", ${x#"a"}          command substitutions, see quoteParts; ${x%a*}, see trim
//	((a[i]++))                an assignment, see assignElement
//	a[i]+=x, m+=([k]=v)       other assignments, see assignments
//	$$, $0, $PPID             variables of the session
//	coproc, >(a), ${x/#a/b}   an error
//
// For functions that are shown or stored, state.restore takes back what would not be
// understood. Other changes stay, such as declare for typeset.
func (r *run) rewrite(node syntax.Node) (err error) {
	syntax.Walk(node, func(node syntax.Node) bool {
		if err != nil {
			return false
		}
		switch node := node.(type) {
		case *syntax.Stmt:
			err = r.stmt(node)
			if call, ok := node.Cmd.(*syntax.CallExpr); ok && r.shell.state.internal(call) != "" {
				// The arguments are final, but for the text of a number. The words of redirections are not.
				return len(node.Redirs) > 0 || r.shell.state.internal(call) == numberCommand ||
					r.shell.state.internal(call) == quoteCommand || r.shell.state.internal(call) == trimCommand
			}
		case *syntax.CmdSubst:
			captured(node)
		case *syntax.CallExpr:
			err = r.callExpr(node)
		case *syntax.DeclClause:
			r.declClause(node)
		case *syntax.ForClause:
			err = r.forClause(node)
		case *syntax.FuncDecl:
			if node.Name != nil {
				r.functions[node.Name.Value] = true
				if slices.Contains(reserved, node.Name.Value) {
					err = fmt.Errorf("%s: the name is reserved, and cannot be a function's", node.Name.Value)
				}
			}
		case *syntax.Assign:
			joinList(node.Value)
			unescapeWord(node.Value)
			unescapeElements(node)
			if node.Name != nil && r.maps[node.Name.Value] {
				keys(node)
			}
			if node.Name != nil && !r.maps[node.Name.Value] {
				renameArithm(node.Index)
				if node.Array != nil {
					for _, elem := range node.Array.Elems {
						renameArithm(elem.Index)
					}
				}
			}
		case *syntax.ArrayExpr:
			total := 0
			for _, elem := range node.Elems {
				if elem.Value != nil {
					err = cmp.Or(err, r.countBraces(elem.Value, &total))
				}
			}
		case *syntax.CaseClause:
			joinList(node.Word)
			unescapeWord(node.Word)
			for _, item := range node.Items {
				for _, pattern := range item.Patterns {
					guardWord(pattern, true, false)
				}
			}
		case *syntax.TestClause:
			node.X = r.guardTest(precedence(node.X))
		case *syntax.Redirect:
			if node.Op == syntax.RdrClob {
				node.Op = syntax.RdrOut
			}
			joinList(node.Word)
			if node.Op != syntax.Hdoc && node.Op != syntax.DashHdoc {
				unescapeWord(node.Word)
			}
			if node.Hdoc != nil {
				quoteLiterally(node.Hdoc.Parts)
			}
			guardWord(node.Hdoc, false, false)
		case *syntax.Word:
			err = r.word(node)
		case *syntax.ParamExp:
			err = r.parameter(node)
		case *syntax.ArithmExp:
			r.numbers(node.X, inExpansion, true)
		case *syntax.ArithmCmd:
			r.numbers(node.X, inCommand, true)
		case *syntax.CStyleLoop:
			r.numbers(node.Init, inCommand, true)
			r.numbers(node.Cond, inCommand, true)
			r.numbers(node.Post, inCommand, true)
		case *syntax.LetClause:
			for i, expr := range node.Exprs {
				node.Exprs[i] = unquoteLet(expr)
				r.numbers(node.Exprs[i], inCommand, true)
			}
		case *syntax.UnaryArithm:
			if node.Op == syntax.Inc || node.Op == syntax.Dec {
				err = r.arithmeticTarget(node.X)
			}
		case *syntax.BinaryArithm:
			if assigns(node.Op) {
				err = r.arithmeticTarget(node.X)
			}
		case *syntax.CoprocClause:
			err = errors.New("coproc is not supported")
		}
		return err == nil
	})
	return err
}

// arithmeticTarget returns an error for an assignment in an expression to what the interpreter does
// not assign to. What stands alone has been replaced already, see assignElement.
func (r *run) arithmeticTarget(target syntax.ArithmExpr) error {
	word, ok := target.(*syntax.Word)
	if !ok || len(word.Parts) != 1 {
		return nil
	}
	if element, ok := word.Parts[0].(*syntax.ParamExp); ok && element.Index != nil || r.refs[word.Lit()] {
		return fmt.Errorf("the assignment to %s in an expression must stand alone, as in ((%[1]s += 1))", printed(word))
	}
	return nil
}

// unescapeElements is unescapeWord for the elements of an array that have an index.
func unescapeElements(as *syntax.Assign) {
	if as.Array == nil {
		return
	}
	for _, elem := range as.Array.Elems {
		if elem.Index != nil {
			unescapeWord(elem.Value)
		}
	}
}

// internal returns which command of the shell itself a call is of, "" if of none. Such a call
// comes from rewrite; see the commands.
func (s *state) internal(call *syntax.CallExpr) string {
	if len(call.Args) == 0 || len(call.Args[0].Parts) != 1 {
		return ""
	}
	if quoted, ok := call.Args[0].Parts[0].(*syntax.SglQuoted); ok && !quoted.Dollar {
		if name, ok := strings.CutPrefix(quoted.Value, s.prefix); ok {
			return name
		}
	}
	return ""
}

// internalCall returns a call of a command of the shell itself. args need no quotes.
func (r *run) internalCall(name string, args ...string) *syntax.CallExpr {
	return quotedCall(r.shell.state.prefix+name, args...)
}

// quotedCall returns a call of a command by its name in quotes, which keep it from being a
// keyword. args need no quotes.
func quotedCall(name string, args ...string) *syntax.CallExpr {
	call := &syntax.CallExpr{Args: []*syntax.Word{{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: name}}}}}
	for _, arg := range args {
		call.Args = append(call.Args, literal(arg))
	}
	return call
}

// literal returns the word s, which must need no quotes: nothing in it is expanded.
func literal(s string) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: s}}}
}

// stmt rewrites what belongs to a whole statement. It may change st in place to something
// else; what it was is then a copy in the replacement.
func (r *run) stmt(st *syntax.Stmt) error {
	if st.Coprocess {
		return errors.New("coproc is not supported")
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
		status := r.internalCall(statusCommand)
		status.Args = append(status.Args, lastStatus())
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
	case *syntax.DeclClause:
		r.noteReferences(cmd)
		if flag := refusedFlag(cmd); flag != "" {
			name := "declare"
			if cmd.Variant.Value == "local" {
				name = "local"
			}
			st.Cmd = quotedCall(name, flag)
		} else if call := r.functionNames(cmd); call != nil {
			st.Cmd = call
		} else if call := computedDecl(cmd); call != nil {
			st.Cmd = call
			if slices.ContainsFunc(cmd.Args, func(as *syntax.Assign) bool { return as.Name != nil }) {
				st.Cmd = &syntax.Block{Stmts: []*syntax.Stmt{{Cmd: cmd}, {Cmd: call}}}
			}
		} else if call := declaredArrays(cmd); call != nil && !r.wrapped[cmd] {
			r.wrapped[cmd] = true
			st.Cmd = &syntax.Block{Stmts: []*syntax.Stmt{{Cmd: cmd}, {Cmd: call}}}
		}
	}
	return nil
}

// noteReferences notes which names a declaration makes references, through which the interpreter
// reaches no element of an array.
func (r *run) noteReferences(decl *syntax.DeclClause) {
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

// emptyMap returns what replaces m=() for an associative array, nil for another command.
func (r *run) emptyMap(call *syntax.CallExpr) *syntax.Block {
	if len(call.Args) > 0 || len(call.Assigns) != 1 {
		return nil
	}
	as := call.Assigns[0]
	if as.Array == nil || len(as.Array.Elems) > 0 || as.Append || as.Index != nil || !r.maps[as.Name.Value] {
		return nil
	}
	key := &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{}}}
	as.Array.Elems = []*syntax.ArrayElem{{Index: key, Value: literal("")}}
	unset := quotedCall("unset")
	unset.Args = append(unset.Args, &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: as.Name.Value + "[]"}}})
	return &syntax.Block{Stmts: []*syntax.Stmt{{Cmd: call}, {Cmd: unset}}}
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

// captured gives a command substitution a standard output that its parts can use at the same
// time, see [capture]. $(<file) writes nothing. If the name of its file has several parts, the
// interpreter would print the name as well.
//
//	$(a; b)      $({ a; b; } >/dev/guarded-capture)
//	$(<$d/f)     $({ 'command' cat <$d/f; } >/dev/guarded-capture)
func captured(subst *syntax.CmdSubst) {
	if len(subst.Stmts) == 0 {
		return
	}
	if st := subst.Stmts[0]; st.Cmd == nil && len(subst.Stmts) == 1 {
		if len(st.Redirs) != 1 || st.Redirs[0].Op != syntax.RdrIn || isPlain(st.Redirs[0].Word) {
			return
		}
		st.Cmd = quotedCall("command", "cat")
	}
	subst.Stmts = []*syntax.Stmt{{
		Cmd:    &syntax.Block{Stmts: subst.Stmts},
		Redirs: []*syntax.Redirect{{Op: syntax.RdrOut, Word: literal(capturePath)}},
	}}
}

// isPlain reports whether a word is literal, or nothing but one expansion.
func isPlain(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	quoted, ok := w.Parts[0].(*syntax.DblQuoted)
	return !ok || len(quoted.Parts) < 2
}

// isCaptured reports whether a substitution looks like one that captured has changed.
func isCaptured(subst *syntax.CmdSubst) bool {
	if len(subst.Stmts) != 1 || len(subst.Stmts[0].Redirs) != 1 {
		return false
	}
	redirect := subst.Stmts[0].Redirs[0]
	_, isBlock := subst.Stmts[0].Cmd.(*syntax.Block)
	return isBlock && redirect.Op == syntax.RdrOut && redirect.N == nil && redirect.Word.Lit() == capturePath
}

// timeClause makes a block of the keyword time, whose output is standard output in the
// interpreter: the same command before the statement, and after it with its status.
func (r *run) timeClause(st *syntax.Stmt, clause *syntax.TimeClause) {
	n := r.shell.state.nextNumber()
	block := &syntax.Block{Stmts: []*syntax.Stmt{{Cmd: r.internalCall(timeCommand, strconv.Itoa(n))}}}
	if clause.Stmt != nil {
		block.Stmts = append(block.Stmts, clause.Stmt)
	}
	after := r.internalCall(timeCommand, strconv.Itoa(n))
	after.Args = append(after.Args, lastStatus())
	if clause.PosixFormat {
		after.Args = append(after.Args, literal("-p"))
	}
	block.Stmts = append(block.Stmts, &syntax.Stmt{Cmd: after})
	st.Cmd = block
}

// nextNumber returns a number that is given out once.
func (s *state) nextNumber() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	return s.next
}

// lastStatus returns the word $?.
func lastStatus() *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: "?"}}}}
}

// refusedFlag returns the flag of a declaration that the interpreter does not have, as
// "-i", and "" if there is none. A call of the command by its quoted name is no declaration,
// so that it is refused with a hint, as other builtins are:
//
//	declare -gi x=1    'declare' -i
func refusedFlag(decl *syntax.DeclClause) string {
	for _, as := range decl.Args {
		if !as.Naked || as.Name != nil || as.Value == nil || !strings.HasPrefix(as.Value.Lit(), "-") {
			continue
		}
		for _, letter := range as.Value.Lit()[1:] {
			if flag := "-" + string(letter); refused["declare "+flag] != "" {
				return flag
			}
		}
	}
	return ""
}

// functionNames returns the call that replaces declare -f and -F, nil for other declarations. The
// flag -f of export changes nothing, as functions are not exported.
func (r *run) functionNames(decl *syntax.DeclClause) *syntax.CallExpr {
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
		call.Args[0] = r.internalCall(namesCommand).Args[0]
	case strings.Contains(flags, "f"):
		call.Args[0] = r.internalCall(showCommand).Args[0]
	default:
		return nil
	}
	return call
}

// declarations are the builtins that the parser knows, so that they are no calls.
var declarations = []string{"declare", "typeset", "local", "export", "readonly", "nameref"}

// computedDecl takes from a declaration what is known only when it runs, and returns a call for
// that, nil if there is nothing. The interpreter would expand tildes in it, and references could
// lead to parameters of the host; see run.replaceDeclare.
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

// unquoteLet returns what let has in quotes as an expression: let "x = 1". Text with
// expansions in it stays a word, as its value is not known yet.
func unquoteLet(expr syntax.ArithmExpr) syntax.ArithmExpr {
	word, ok := expr.(*syntax.Word)
	if !ok || len(word.Parts) != 1 {
		return expr
	}
	text := ""
	switch part := word.Parts[0].(type) {
	case *syntax.SglQuoted:
		text = part.Value
	case *syntax.DblQuoted:
		if len(part.Parts) != 1 {
			return expr
		}
		lit, ok := part.Parts[0].(*syntax.Lit)
		if !ok {
			return expr
		}
		text = lit.Value
	default:
		return expr
	}
	if parsed, err := syntax.NewParser().Arithmetic(newScript(text)); err == nil && parsed != nil {
		return parsed
	}
	return expr
}

// pipe gives both sides of a pipeline a subshell: the interpreter runs the right one in
// the shell itself, so that `a | read x` would set x, unlike in bash.
//
//	a | while read l; do b; done    'wk run' 1 | (while read l; do b; done)
//
// A program needs no subshell, as it cannot change the shell. That keeps the common pipeline
// cheap.
func (r *run) pipe(cmd *syntax.BinaryCmd) error {
	x, err := r.piece(cmd.X)
	if err != nil {
		return err
	}
	cmd.X = &syntax.Stmt{Cmd: x}
	switch y := cmd.Y.Cmd.(type) {
	case *syntax.BinaryCmd, *syntax.Subshell:
		return nil
	case *syntax.CallExpr:
		if len(y.Args) > 0 && len(y.Assigns) == 0 && command.Programs[y.Args[0].Lit()] != nil && !r.functions[y.Args[0].Lit()] {
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
func (r *run) piece(st *syntax.Stmt) (*syntax.CallExpr, error) {
	file := &syntax.File{Stmts: []*syntax.Stmt{st}}
	if err := r.rewrite(file); err != nil {
		return nil, err
	}
	n, err := r.keepPiece(printed(file))
	return r.internalCall(runCommand, strconv.Itoa(n)), err
}

// keepPiece keeps the text of a piece, and returns its number. A loop of eval could otherwise
// keep any number of them until the run ends.
func (r *run) keepPiece(text string) (int, error) {
	n, size := r.shell.state.keepPiece(text)
	if size > r.opts.Variables {
		return 0, r.stopBudget("bytes of pipelines and background jobs", r.opts.Variables, "Variables")
	}
	return n, nil
}

// callExpr guards a simple command.
func (r *run) callExpr(call *syntax.CallExpr) error {
	if r.shell.state.internal(call) != "" {
		return nil
	}
	if len(call.Args) == 1 && call.Args[0].Lit() == "return" {
		call.Args = append(call.Args, lastStatus()) // the interpreter returns 0
	}
	if err := r.assignments(call); err != nil {
		return err
	}
	for _, as := range call.Assigns {
		guardAssign(as)
	}
	return r.fields(&call.Args, 1)
}

// fields guards words that make fields: a guard of its own stands at index, or in front if
// there is an expansion before. It also counts what braces make of them.
//
// The guard is a word that expands to no field. In a command, index is 1, as the first word
// says what is called:
//
//	echo $x*     echo $(<'/dev/guard/~x+x') $x*
//	$c $x*       $(<'/dev/guard/~c+c+~x+x') $c $x*
func (r *run) fields(words *[]*syntax.Word, index int) error {
	g := guarding{}
	total := 0
	for i, w := range *words {
		before := len(g.terms)
		unescapeDefaults(w)
		g.word(w, false, true)
		if i < index && len(g.terms) > before {
			index = 0
		}
		if err := r.countBraces(w, &total); err != nil {
			return err
		}
	}
	if part := g.part(false); part != nil && index <= len(*words) {
		*words = slices.Insert(*words, index, &syntax.Word{Parts: []syntax.WordPart{part}})
	}
	return nil
}

// maxBraces is how many words the braces of one word may make for the interpreter, which
// leaves out the command otherwise, and goes on. maxBraceDepth is how many may be in each other.
const (
	maxBraces     = 16384
	maxBraceDepth = 50
)

// countBraces adds how many words the braces in w make to total. It is an error if they
// are too many.
func (r *run) countBraces(w *syntax.Word, total *int) error {
	n := braces(w)
	switch *total += n; {
	case *total > r.opts.Expansions:
		return fmt.Errorf("braces make more words than the %d of the budget Expansions", r.opts.Expansions)
	case n > maxBraces:
		return fmt.Errorf("the braces of one word make more than %d words", maxBraces)
	}
	return nil
}

// braces returns how many words the braces in w make: the product of its braces. Each
// makes the sum of its elements.
//
//	{a,b}{1..3}     2 * 3 = 6
//	{a,{b,c}}x      1 + 2 = 3
//
// w is not changed. Braces that are nested too deeply for the interpreter, whose time grows with
// the square of the depth, count as too many words.
func braces(w *syntax.Word) int {
	word := *w
	syntax.SplitBraces(&word)
	return braceParts(&word, 0)
}

// braceParts is braces for a word whose braces have been split, which is depth braces deep.
func braceParts(w *syntax.Word, depth int) int {
	if depth > maxBraceDepth {
		return saturate(math.MaxInt)
	}
	product := 1
	for _, part := range w.Parts {
		br, ok := part.(*syntax.BraceExp)
		if !ok {
			continue
		}
		n := 0
		if br.Sequence {
			n = sequence(br)
		} else {
			for _, elem := range br.Elems {
				n = saturate(n + braceParts(elem, depth+1))
			}
		}
		product = saturate(product * max(n, 1))
	}
	return product
}

// saturate keeps a count from overflowing.
func saturate(n int) int { return min(n, 1<<30) }

// sequence returns how many words {1..9} and the like make. A sequence of letters has at most
// 256. Zero as the step is 1, as in bash.
func sequence(br *syntax.BraceExp) int {
	from, err1 := strconv.ParseInt(br.Elems[0].Lit(), 10, 64)
	to, err2 := strconv.ParseInt(br.Elems[1].Lit(), 10, 64)
	if err1 != nil || err2 != nil {
		return 256
	}
	step := int64(1)
	if len(br.Elems) > 2 {
		if n, err := strconv.ParseInt(br.Elems[2].Lit(), 10, 64); err == nil && n != 0 {
			step = max(n, -n, 1)
		}
	}
	span := uint64(to) - uint64(from)
	if from > to {
		span = uint64(from) - uint64(to)
	}
	if span >= 1<<62 || max(from, -from) >= 1<<62 || max(to, -to) >= 1<<62 {
		return 1 << 30 // also where counting up to the end would overflow
	}
	return saturate(int(span/uint64(step)) + 1)
}

// guardAssign guards an assignment: what it stores is kept. Each element of an array has its own
// guard in it, as the interpreter goes on with the next element after one that has failed.
func guardAssign(as *syntax.Assign) {
	if as.Value != nil {
		guardWord(as.Value, false, true)
	}
	if as.Array == nil {
		return
	}
	for _, elem := range as.Array.Elems {
		if elem.Value == nil {
			continue
		}
		g := guarding{}
		g.word(elem.Value, false, elem.Index == nil)
		g.insert(elem.Value, true)
	}
}

// guardWord puts a guard into a word that makes one field. w may be nil.
func guardWord(w *syntax.Word, pattern, kept bool) {
	if w == nil {
		return
	}
	g := guarding{}
	g.word(w, pattern, false)
	g.insert(w, kept)
}

// insert puts the guard into the word w: before its first expansion and its first brace, but after
// a literal at the beginning, which may have a tilde.
//
//	~/a$x        ~/a$(<'/dev/guard/x')$x
//	~/{a,b}$x    ~/$(<'/dev/guard/x*2'){a,b}$x
func (g *guarding) insert(w *syntax.Word, kept bool) {
	part := g.part(kept)
	if part == nil {
		return
	}
	parts := []syntax.WordPart{part}
	rest := w.Parts
	if lit, ok := rest[0].(*syntax.Lit); ok {
		rest = rest[1:]
		before, _, found := strings.Cut(lit.Value, "{")
		if found {
			before = strings.TrimRight(before, `\`)
			parts = append(parts, &syntax.Lit{Value: lit.Value[len(before):]})
		}
		if before != "" {
			parts = slices.Insert(parts, 0, syntax.WordPart(&syntax.Lit{Value: before}))
		}
	}
	w.Parts = append(parts, rest...)
}

// declClause guards a declaration, and makes typeset what the interpreter knows. A local OPTIND
// begins with 1, as getopts needs it.
//
// It notes which names are associative arrays, for countsMap.
func (r *run) declClause(decl *syntax.DeclClause) {
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
		guardAssign(as)
	}
}

// forClause guards the words of a loop. The interpreter ends a loop of the form for ((;;))
// if its body fails, so it gets a body that does not.
func (r *run) forClause(loop *syntax.ForClause) error {
	switch l := loop.Loop.(type) {
	case *syntax.WordIter:
		return r.fields(&l.Items, 0)
	case *syntax.CStyleLoop:
		loop.Do = append(loop.Do, &syntax.Stmt{Cmd: &syntax.CallExpr{Args: []*syntax.Word{literal(":")}}})
	}
	return nil
}

// renames are parameters that the interpreter would take from the host, and the variables of
// the session that stand for them. A name that is computed, as in ${!p}, is refused when the
// guard is checked (run.check), or replaced in a declaration (run.replaceDeclare) and in an
// expression (evaluation). One that the index of an array finds in a variable is not seen:
// x=PPID; a[x]=1; echo ${!a[@]}.
var renames = map[string]string{"$": "BASHPID", "PPID": "BASHPID", "0": "BASH_ARGV0"}

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

// restore takes back what rewrite has done to a function, so that it can be shown and
// stored. It changes node in place.
//
// It need not give the text of the script to the byte, but a text that does the same and
// that rewrite makes the same of: what is stored goes through rewrite again.
func (s *state) restore(node syntax.Node) {
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
		case *syntax.Assign:
			if node.Name != nil && node.Name.Value == "OPTIND" && node.Value != nil && isGuard(node.Value.Parts[0]) {
				node.Naked, node.Value = true, nil
			}
		case *syntax.WordIter:
			node.Items = slices.DeleteFunc(node.Items, isGuardWord)
		case *syntax.ForClause:
			if _, ok := node.Loop.(*syntax.CStyleLoop); ok && len(node.Do) > 1 {
				node.Do = node.Do[:len(node.Do)-1]
			}
		case *syntax.Word:
			if parts := s.numberParts(node); parts != nil {
				node.Parts = parts
			}
			s.restoreExpansion(node)
			node.Parts = slices.DeleteFunc(node.Parts, isGuard)
			s.restoreParts(node.Parts)
		case *syntax.TestClause, *syntax.ParenTest, *syntax.UnaryTest, *syntax.BinaryTest:
			restoreTests(node)
		case *syntax.DblQuoted:
			node.Parts = slices.DeleteFunc(node.Parts, isGuard)
			s.restoreParts(node.Parts)
		case *syntax.ParamExp:
			s.restoreExpansion(node)
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
func (s *state) restoreTails(node syntax.Node) {
	for _, list := range stmtLists(node) {
		if n := len(*list); n > 1 && s.isTail((*list)[n-1]) {
			*list = (*list)[:n-1]
		}
	}
}

// isTail reports whether ignoreFailures has added st.
func (s *state) isTail(st *syntax.Stmt) bool {
	and, ok := st.Cmd.(*syntax.BinaryCmd)
	if !ok {
		return false
	}
	call, ok := and.X.Cmd.(*syntax.CallExpr)
	return ok && s.internal(call) == tailCommand
}

// numberParts returns what makeNumber has replaced, nil if w is another word.
func (s *state) numberParts(w *syntax.Word) []syntax.WordPart {
	for _, part := range w.Parts {
		subst, ok := part.(*syntax.CmdSubst)
		if !ok {
			continue
		}
		if isCaptured(subst) {
			subst = &syntax.CmdSubst{Stmts: subst.Stmts[0].Cmd.(*syntax.Block).Stmts}
		}
		if name, ok := strings.CutPrefix(readName(subst), numberPath); ok && name != "" {
			name = strings.TrimPrefix(name[1:], "/")
			if name == "" {
				continue
			}
			if variable := strings.TrimLeft(name, "(="); variable != name {
				return []syntax.WordPart{&syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: variable}}}
			}
			return []syntax.WordPart{&syntax.Lit{Value: name}}
		}
		if len(subst.Stmts) != 1 {
			continue
		}
		if call, ok := subst.Stmts[0].Cmd.(*syntax.CallExpr); ok && s.internal(call) == numberCommand && len(call.Args) == 3 {
			parts := call.Args[2].Parts
			if quoted, ok := parts[len(parts)-1].(*syntax.DblQuoted); ok {
				return s.undivided(quoted.Parts)
			}
		}
	}
	return nil
}

// undivided returns the parts of a divisor, from divisor, and others as they are.
func (s *state) undivided(parts []syntax.WordPart) []syntax.WordPart {
	exp, ok := parts[0].(*syntax.ArithmExp)
	if !ok || len(parts) != 1 {
		return parts
	}
	s.restore(exp)
	if product, ok := exp.X.(*syntax.BinaryArithm); ok && product.Op == syntax.Mul {
		if word, ok := product.Y.(*syntax.Word); ok {
			return word.Parts
		}
	}
	return []syntax.WordPart{&syntax.Lit{Value: printedExpression(exp.X)}}
}

// printedExpression returns the source of an expression.
func printedExpression(expr syntax.ArithmExpr) string {
	text := printed(&syntax.ArithmExp{X: expr})
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(text, "$(("), "))"), "\\\n", "")
}

// readName returns the name in $(<'name'), "" for another substitution.
func readName(subst *syntax.CmdSubst) string {
	if len(subst.Stmts) != 1 || subst.Stmts[0].Cmd != nil || len(subst.Stmts[0].Redirs) != 1 {
		return ""
	}
	word := subst.Stmts[0].Redirs[0].Word
	if word == nil || len(word.Parts) != 1 {
		return ""
	}
	quoted, ok := word.Parts[0].(*syntax.SglQuoted)
	if !ok {
		return ""
	}
	return quoted.Value
}

// restoreParts takes back what rewrite has done to substitutions.
func (s *state) restoreParts(parts []syntax.WordPart) {
	for i, part := range parts {
		if subst, ok := part.(*syntax.CmdSubst); ok {
			parts[i] = s.restoreSubst(subst)
		}
	}
}

// isGuardWord reports whether w is nothing but a guard.
func isGuardWord(w *syntax.Word) bool { return len(w.Parts) == 1 && isGuard(w.Parts[0]) }

// restoreStmt takes back what rewrite has done to a statement.
func (s *state) restoreStmt(st *syntax.Stmt) {
	if block, ok := st.Cmd.(*syntax.Block); ok && len(block.Stmts) == 2 {
		call, ok := block.Stmts[1].Cmd.(*syntax.CallExpr)
		inner, isBlock := block.Stmts[0].Cmd.(*syntax.Block)
		if ok && isBlock && len(inner.Stmts) == 1 && s.internal(call) == statusCommand {
			// A redirection into a file, from stmt.
			negated, background := st.Negated, st.Background
			*st = *inner.Stmts[0]
			st.Negated = st.Negated || negated
			st.Background = st.Background || background
		}
	}
	if block, ok := st.Cmd.(*syntax.Block); ok && len(block.Stmts) >= 2 {
		call, ok := block.Stmts[0].Cmd.(*syntax.CallExpr)
		if ok && s.internal(call) == timeCommand {
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
		}
	}
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok {
		return
	}
	if len(call.Args) > 0 && len(call.Args[0].Parts) == 1 {
		if quoted, ok := call.Args[0].Parts[0].(*syntax.SglQuoted); ok && slices.Contains(declarations, quoted.Value) {
			call.Args[0] = literal(quoted.Value) // from computedDecl
		}
	}
	switch name := s.internal(call); name {
	case runCommand:
		if len(call.Args) == 2 {
			n, _ := strconv.Atoi(call.Args[1].Lit())
			if file, err := syntax.NewParser().Parse(strings.NewReader(s.piece(n)), ""); err == nil && len(file.Stmts) == 1 {
				background := st.Background
				*st = *file.Stmts[0]
				st.Background = background
				s.restoreStmt(st)
			}
		}
	case namesCommand, showCommand:
		flag := map[string]string{namesCommand: "-F", showCommand: "-f"}[name]
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

// restoreSubst takes back what rewrite has done to a substitution.
func (s *state) restoreSubst(subst *syntax.CmdSubst) syntax.WordPart {
	if isCaptured(subst) {
		subst.Stmts = subst.Stmts[0].Cmd.(*syntax.Block).Stmts
	}
	if len(subst.Stmts) != 1 {
		return subst
	}
	// ${#m[@]}, from countSubst.
	if call, ok := subst.Stmts[0].Cmd.(*syntax.CallExpr); ok && len(call.Args) == 2 && s.internal(call) == countCommand {
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
	if call, ok := y.Cmd.(*syntax.CallExpr); !ok || s.internal(call) != keepCommand {
		return subst
	}
	s.restoreStmt(pipe.X)
	stmts := []*syntax.Stmt{pipe.X}
	if block, ok := pipe.X.Cmd.(*syntax.Block); ok && len(pipe.X.Redirs) == 0 {
		stmts = block.Stmts
	}
	return &syntax.ProcSubst{Op: syntax.CmdIn, Stmts: stmts}
}
