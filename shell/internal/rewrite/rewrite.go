// Package rewrite changes a script so that the interpreter of mvdan.cc/sh runs it as bash runs the
// original, within budgets, and does not reach the host.
//
// The text of a script goes in ([Rewriter.Parse]), and a tree comes out. The tree is a script again,
// which can be printed and parsed: functions, eval and the parts of pipelines need that. It calls
// commands of the shell itself, such as 'wk run' ([RunCommand]), and reads files that only the shell
// has: guards ([GuardPath]), numbers ([NumberPath]) and outputs ([CapturePath]). Package shell runs
// these commands and opens these files. What their names and arguments mean is computed here, beside
// what writes them: [GuardSize], [Number], [NamedNumber], [Quoted] and [Trimmed].
//
// A node is rewritten before the nodes in it, so what stands in a replacement is visited as
// well. Two marks keep that from going on for ever: Rewriter.wrapped has nodes that were put into
// something else, and internal commands are left alone. This is what is done:
//
//	a & and a | b             a becomes a piece: 'wk run' N
//	a > f                     a block that reports a failure to store f
//	time, declare -f and -F   calls of internal commands
//	<(a), ${#m[@]}            command substitutions of internal commands
//	words, assignments        a guard, if they need one
//	values in expressions     files with numbers, see NumberPath
//	[[ a && b ]], [[ a -eq b ]]  see shortCircuit and numberTest
//	=~ "a", ${x#"a"}          command substitutions, see quoteParts; ${x%a*}, see trim
//	${x/#a/b}                 another pattern, see anchored
//	((a[i]++))                an assignment, see assignElement
//	{,x}                      x, see dropEmpty
//	a[i]+=x, m+=([k]=v)       other assignments, see assignments
//	<<- with << in it         <<, see withoutTabs
//	$$, $0, $PPID             variables of the session
//	coproc, 3>a, PIPESTATUS   an error
//
// For example, f becomes the second function, where the piece 1 is
// echo $((${x:0:0}$(<'/dev/guarded-number/ex') / 2)) '~'root:
//
//	f() { x=$x$1; echo $((x / 2)) ~root | sort > out; }
//
//	f() {
//		x=$(<'/dev/guard/=x+@')$x$1
//		'wk run' 1 | {
//			{ sort >out; }
//			'wk status' $?
//		}
//	}
//
// Functions are shown and stored as they were written: [Session.Restore] and [Session.Function] take
// back what would not be understood. They know a replacement by what no script has, the name of a
// command of the shell or the path of a file. Other changes stay, such as declare for typeset.
// [Trace] does the same for a line of a trace (set -x).
package rewrite

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
)

// Options are what a [Rewriter] begins with, and what it asks the shell.
type Options struct {
	Expansions int                            // how many words the braces of one command may make
	Functions  map[string]*syntax.Stmt        // of the session; they are not changed
	Variables  map[string]expand.Variable     // of the session; they are not changed
	KeepPiece  func(text string) (int, error) // keeps the text of a piece, and returns its number
	IsProgram  func(name string) bool         // tells whether a name is that of a program, which cannot change the shell
	Refuses    func(flag string) bool         // tells whether the shell refuses a flag of declare, such as "-i"
}

// Rewriter rewrites the scripts of one run, which may call each other. It is safe for concurrent use.
type Rewriter struct {
	*Session
	opts Options

	parsing   sync.Mutex           // held by rewrite
	functions map[string]bool      // guarded by parsing; names that scripts of the session have declared as functions
	maps      map[string]bool      // guarded by parsing; names that were declared as associative arrays
	refs      map[string]bool      // guarded by parsing; names that were declared as references
	wrapped   map[syntax.Node]bool // guarded by parsing; what rewrite has put into something else in this script
}

// New returns a rewriter for a run in s.
//
// It copies the names of functions, associative arrays and references, because they must be known
// before a script declares its own.
func New(s *Session, opts Options) *Rewriter {
	r := &Rewriter{Session: s, opts: opts, functions: map[string]bool{}, maps: map[string]bool{}, refs: map[string]bool{}}
	for name := range opts.Functions {
		r.functions[name] = true
	}
	for name, vr := range opts.Variables {
		r.maps[name] = vr.Kind == expand.Associative
		r.refs[name] = vr.Kind == expand.NameRef
	}
	return r
}

// Functions returns the names of the functions of the session, sorted. It knows those that have been
// parsed, also where the declaration has not run or is removed by unset.
func (r *Rewriter) Functions() []string {
	r.parsing.Lock()
	defer r.parsing.Unlock()
	return slices.Sorted(maps.Keys(r.functions))
}

// HasFunction reports whether a name is one of Functions.
func (r *Rewriter) HasFunction(name string) bool {
	r.parsing.Lock()
	defer r.parsing.Unlock()
	return r.functions[name]
}

// MaxScript is the largest script in bytes, also for eval, source and bash. A longer one is
// not parsed.
const MaxScript = 1 << 20

// Parse reads a script and rewrites it. name is for the parser's messages, where bash has the
// name of the script. Nothing is run.
//
// Its errors are those of the parser, errDepth, and texts that say what is not supported. The
// name of a command of the shell itself is not.
func (r *Rewriter) Parse(text, name string) (*syntax.File, error) {
	if len(text) > MaxScript {
		return nil, fmt.Errorf("the script has more than %d bytes", MaxScript)
	}
	file, err := syntax.NewParser().Parse(NewReader(text), name)
	if errors.Is(err, errDepth) {
		return nil, errDepth
	}
	if err != nil {
		if text, found := strings.CutSuffix(err.Error(), "floating point arithmetic is a zsh feature; tried parsing as bash"); found {
			return nil, errors.New(text + `a number has no "."; a key with one needs quotes, as in m["a.b"]`)
		}
		if wrong, ok := errors.AsType[syntax.ParseError](err); ok && strings.HasPrefix(wrong.Text, "not a valid arithmetic operator") {
			before := text[:min(wrong.Pos.Offset(), uint(len(text)))]
			if strings.LastIndexByte(before, '[') > max(strings.LastIndexByte(before, ']'), strings.LastIndex(before, "((")) {
				return nil, fmt.Errorf(`%w; a key with a blank needs quotes, as in m["a b"]`, err)
			}
		}
		return nil, err
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		if quoted, ok := node.(*syntax.SglQuoted); ok && strings.Contains(quoted.Value, r.Prefix) {
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

// errDepth says that a script has too many constructs in each other.
var errDepth = errors.New("the script is nested too deeply")

// maxParseFrames is how deep the stack may be while a script is read. The parser calls itself
// for each construct in another one, and nothing else bounds that: a megabyte of "(" could
// let the stack grow until Go ends the process.
const maxParseFrames = 3000

// scriptReader reads the text of a script, which the parser asks for in small pieces: so it is
// seen how deeply the parser has called itself.
type scriptReader struct {
	rest string
	base int // frames of the stack before the parser
}

// NewReader returns a script, to be parsed by whoever calls NewReader: the frames of the stack
// are counted from there, and Read fails when there are too many.
func NewReader(text string) io.Reader { return &scriptReader{text, depth()} }

// Read implements [io.Reader]. The parser calls it from whatever depth it has reached, at
// least once for each 256 bytes, so it cannot get much deeper than the bound unseen.
func (s *scriptReader) Read(b []byte) (int, error) {
	if Deeper(s.base + maxParseFrames) {
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
	if !Deeper(100) {
		return 100
	}
	pcs := make([]uintptr, 1<<15)
	return runtime.Callers(0, pcs)
}

// Deeper reports whether the stack has more than n frames. It needs no memory,
// unlike depth, and time in proportion to n.
func Deeper(n int) bool {
	var pc [1]uintptr
	return runtime.Callers(n, pc[:]) > 0
}

// Text returns the text of a script as the interpreter may parse it by itself: for eval,
// source and trap, whose text the interpreter parses without asking a handler.
func (r *Rewriter) Text(text string) (string, error) {
	file, err := r.Parse(text, "bash")
	if err != nil {
		return "", err
	}
	return source(file)
}

// parseCommand returns the command of a script that is one statement, nil for others.
func parseCommand(text string) syntax.Command {
	file, err := syntax.NewParser().Parse(NewReader(text), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil
	}
	return file.Stmts[0].Cmd
}

// errPrint says that the printer failed.
var errPrint = errors.New("a construct is used in a way that is not supported in a pipeline, a background job, a function or eval")

// source returns the source of a node. The printer panics for some trees that no script has.
func source(node syntax.Node) (text string, err error) {
	defer func() {
		if recover() != nil {
			text, err = "", errPrint
		}
	}()
	var b bytes.Buffer
	if err := syntax.NewPrinter().Print(&b, node); err != nil {
		return "", errPrint
	}
	return b.String(), nil
}

// printed is source for a part of a script. Where the printer fails it returns a command that
// fails, and never a part of the script.
func printed(node syntax.Node) string {
	text, err := source(node)
	if err != nil {
		return "false"
	}
	return text
}

// rewrite changes a tree so that it can be run; see the comment of the package. r.parsing is held.
func (r *Rewriter) rewrite(node syntax.Node) (err error) {
	syntax.Walk(node, func(node syntax.Node) bool {
		if err != nil {
			return false
		}
		switch node := node.(type) {
		case *syntax.Stmt:
			err = r.stmt(node)
			if call, ok := node.Cmd.(*syntax.CallExpr); ok && r.internal(call) != "" {
				// The arguments are final, but for the text of a number. The words of redirections are not.
				return len(node.Redirs) > 0 || r.internal(call) == NumberCommand ||
					r.internal(call) == QuoteCommand || r.internal(call) == TrimCommand
			}
		case *syntax.CmdSubst:
			r.captured(node)
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
			if node.Name != nil && node.Name.Value == "GLOBIGNORE" {
				err = errors.New("GLOBIGNORE is not supported; use !(...) of extglob")
			}
			r.assign(node)
		case *syntax.ArrayExpr:
			total := 0
			for _, elem := range node.Elems {
				if elem.Value != nil {
					err = cmp.Or(err, r.countBraces(elem.Value, &total))
				}
			}
			if err == nil {
				dropEmptyElems(node)
			}
		case *syntax.CaseClause:
			joinList(node.Word)
			unescapeWord(node.Word)
			guardWord(node.Word, false, false)
			for _, item := range node.Items {
				for _, pattern := range item.Patterns {
					guardWord(pattern, true, false)
				}
			}
		case *syntax.TestClause:
			node.X = r.guardTest(node.X)
		case *syntax.Redirect:
			err = redirect(node)
		case *syntax.Word:
			err = r.word(node)
		case *syntax.ParamExp:
			err = r.parameter(node)
		case *syntax.ArithmExp:
			r.numbers(node.X, InExpansion, true)
		case *syntax.ArithmCmd:
			r.numbers(node.X, InCommand, true)
		case *syntax.CStyleLoop:
			r.numbers(node.Init, InCommand, true)
			r.numbers(node.Cond, InCommand, true)
			r.numbers(node.Post, InCommand, true)
		case *syntax.LetClause:
			for i, expr := range node.Exprs {
				node.Exprs[i] = unquoteLet(expr)
				r.numbers(node.Exprs[i], InCommand, true)
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

// assign rewrites one assignment, to a name or to an element, but for its guard.
func (r *Rewriter) assign(as *syntax.Assign) {
	joinList(as.Value)
	unescapeWord(as.Value)
	unescapeElements(as)
	switch {
	case as.Name == nil:
	case r.maps[as.Name.Value]:
		keys(as)
	default:
		renameArithm(as.Index)
		as.Index = r.index(as.Name.Value, as.Index)
		if as.Array != nil {
			for _, elem := range as.Array.Elems {
				r.assignedIndex(elem.Index)
			}
		}
	}
}

// assignedIndex rewrites the index of an element in a list, which the interpreter checks. A name or a
// number may be a key.
func (r *Rewriter) assignedIndex(expr syntax.ArithmExpr) {
	renameArithm(expr)
	if _, ok := expr.(*syntax.Word); expr != nil && !ok && mayFail(expr) {
		r.numbers(expr, InExpansion, true)
	}
}

// highDescriptor matches file descriptors above 2 in redirections: 3, 3- and {name}.
var highDescriptor = lazyregexp.New(`^({.*|0*([3-9]|[1-9][0-9]+)-?)$`)

// redirect rewrites a redirection. The end of a here-document is no word that is expanded.
func redirect(redir *syntax.Redirect) error {
	number := ""
	if redir.N != nil {
		number = redir.N.Value
	}
	isCopy := redir.Op == syntax.DplOut || redir.Op == syntax.DplIn
	if highDescriptor().MatchString(number) || isCopy && highDescriptor().MatchString(redir.Word.Lit()) {
		return fmt.Errorf("%s%s%s: file descriptors above 2 are not supported; write to a file below /tmp", number, redir.Op, printed(redir.Word))
	}
	switch {
	case redir.Op == syntax.RdrInOut:
		return errors.New("<> is not supported")
	case redir.Op == syntax.RdrClob:
		redir.Op = syntax.RdrOut
	case redir.Op == syntax.DplOut && number == "" && !mayBeNumber(redir.Word):
		redir.Op = syntax.RdrAll
	}
	joinList(redir.Word)
	if redir.Op != syntax.Hdoc && redir.Op != syntax.DashHdoc {
		unescapeWord(redir.Word)
		if !isGuardPath(redir.Word) {
			guardWord(redir.Word, false, false)
		}
	}
	if redir.Hdoc != nil {
		withoutTabs(redir)
		forgetLine(redir)
		quoteLiterally(redir.Hdoc.Parts)
	}
	guardWord(redir.Hdoc, false, false)
	return nil
}

// forgetLine keeps the printer from beginning a here-document that is not where it expects it with
// "\" and line ends: if the end is in quotes, that is text.
func forgetLine(redir *syntax.Redirect) {
	if redir.Hdoc != nil && len(redir.Hdoc.Parts) == 1 {
		if lit, ok := redir.Hdoc.Parts[0].(*syntax.Lit); ok {
			lit.ValuePos = syntax.Pos{}
		}
	}
}

// withoutTabs makes << of a <<- with a here-document in it, in a substitution: the printer would
// lose that.
func withoutTabs(redir *syntax.Redirect) {
	if redir.Op != syntax.DashHdoc || !hasHereDocument(redir) {
		return
	}
	redir.Op = syntax.Hdoc
	begins := true // a line
	for _, part := range redir.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		if ok {
			lines := strings.SplitAfter(lit.Value, "\n")
			for i, line := range lines {
				if begins || i > 0 {
					lines[i] = strings.TrimLeft(line, "\t")
				}
			}
			lit.Value = strings.Join(lines, "")
		}
		begins = ok && strings.HasSuffix(lit.Value, "\n")
	}
}

// hasHereDocument reports whether a redirection is a here-document with another one in it.
func hasHereDocument(redir *syntax.Redirect) bool {
	found := false
	if redir.Hdoc != nil {
		syntax.Walk(redir.Hdoc, func(node syntax.Node) bool {
			inner, ok := node.(*syntax.Redirect)
			found = found || ok && (inner.Op == syntax.Hdoc || inner.Op == syntax.DashHdoc)
			return !found
		})
	}
	return found
}

// mayBeNumber reports whether word can expand to a number, or to "-": no letter of it is there
// before.
func mayBeNumber(word *syntax.Word) bool {
	number := true
	syntax.Walk(word, func(node syntax.Node) bool {
		text := ""
		switch x := node.(type) {
		case *syntax.Lit:
			text = x.Value
		case *syntax.SglQuoted:
			text = x.Value
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp:
			return false
		}
		number = number && strings.Trim(text, "-0123456789") == ""
		return true
	})
	return number
}

// reserved are names that a script cannot give to functions, because what they do is
// replaced where they are called. A function eval would otherwise be passed over without a
// word, or get arguments that are meant for the builtin.
var reserved = []string{"source", ".", "eval", "builtin", "command", "exec", "type", "trap", "alias", "read", "mapfile",
	"readarray", "printf", "set", "exit"}

// arithmeticTarget returns an error for an assignment in an expression to what the interpreter does
// not assign to. What stands alone has been replaced already, see assignElement.
func (r *Rewriter) arithmeticTarget(target syntax.ArithmExpr) error {
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
		text, ok = literalText(part.Parts)
	default:
		ok = false
	}
	if parsed, err := syntax.NewParser().Arithmetic(NewReader(text)); ok && err == nil && parsed != nil {
		return parsed
	}
	return expr
}

// CapturePath is the file through which a command substitution writes.
const CapturePath = "/dev/guarded-capture"

// captured gives a command substitution a standard output that its parts can use at the same
// time, and that has a bound. $(<file) would have neither, and leave out the command if there is no
// such file.
//
// In a substitution, bash ignores set -e:
//
//	$(a; b)      $({ 'wk ignore' $?; a; b; } >/dev/guarded-capture)
//	$(<f)        $({ 'wk cat' <f; } >/dev/guarded-capture)
func (r *Rewriter) captured(subst *syntax.CmdSubst) {
	if len(subst.Stmts) == 0 {
		return
	}
	if st := subst.Stmts[0]; st.Cmd == nil && len(subst.Stmts) == 1 {
		name := readName(subst)
		if len(st.Redirs) != 1 || st.Redirs[0].Op != syntax.RdrIn || strings.HasPrefix(name, GuardPath) || strings.HasPrefix(name, NumberPath) {
			return
		}
		st.Cmd = r.internalCall(CatCommand)
	}
	if len(subst.Stmts) > 1 || !r.isOne(subst.Stmts[0]) {
		ignore := &syntax.Stmt{Cmd: r.internalCall(IgnoreCommand, lastStatus())}
		subst.Stmts = slices.Concat([]*syntax.Stmt{ignore}, subst.Stmts)
	}
	subst.Stmts = []*syntax.Stmt{{
		Cmd:    &syntax.Block{Stmts: subst.Stmts},
		Redirs: []*syntax.Redirect{{Op: syntax.RdrOut, Word: literal(CapturePath)}},
	}}
}

// isOne reports whether a statement is a call of a program or of the shell itself, after which set -e
// has nothing to end, or comes from <(...), where bash does not ignore set -e.
func (r *Rewriter) isOne(st *syntax.Stmt) bool {
	switch cmd := st.Cmd.(type) {
	case *syntax.CallExpr:
		if r.internal(cmd) != "" {
			return true
		}
		return len(cmd.Args) > 0 && r.opts.IsProgram(cmd.Args[0].Lit()) && !r.functions[cmd.Args[0].Lit()]
	case *syntax.BinaryCmd:
		call, ok := cmd.Y.Cmd.(*syntax.CallExpr)
		return ok && r.internal(call) == KeepCommand
	}
	return false
}

// callExpr guards a simple command.
func (r *Rewriter) callExpr(call *syntax.CallExpr) error {
	if r.internal(call) != "" {
		return nil
	}
	if len(call.Args) == 1 && call.Args[0].Lit() == "return" {
		call.Args = append(call.Args, lastStatus()) // the interpreter returns 0
	}
	r.countShift(call)
	if err := r.assignments(call); err != nil {
		return err
	}
	for _, as := range call.Assigns {
		r.guardAssign(as)
	}
	return r.fields(&call.Args, 1)
}

// countShift tells shift how many parameters there are: the interpreter removes all where bash fails.
//
//	shift 2            shift 2 =$#
//	builtin shift 2    builtin shift 2 =$#
func (r *Rewriter) countShift(call *syntax.CallExpr) {
	args := shiftArgs(call)
	if len(args) == 0 || r.functions["shift"] && len(args) == len(call.Args) || isShiftCount(args[len(args)-1]) {
		return
	}
	count := &syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: "#"}}
	call.Args = append(call.Args, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: "="}, count}})
}

// shiftArgs returns the words of a call of shift, without builtin and command before it. It returns
// nil for other calls.
func shiftArgs(call *syntax.CallExpr) []*syntax.Word {
	for args := call.Args; len(args) > 0; args = args[1:] {
		switch args[0].Lit() {
		case "builtin", "command":
			continue
		case "shift":
			return args
		}
		return nil
	}
	return nil
}

// isShiftCount reports whether w is what countShift has added.
func isShiftCount(w *syntax.Word) bool { return len(w.Parts) == 2 && printed(w) == "=$#" }

// forClause guards the words of a loop. The interpreter ends a loop of the form for ((;;))
// if its body fails, so it gets a body that does not.
func (r *Rewriter) forClause(loop *syntax.ForClause) error {
	switch l := loop.Loop.(type) {
	case *syntax.WordIter:
		r.skipEmpty(loop, l)
		return r.fields(&l.Items, 0)
	case *syntax.CStyleLoop:
		loop.Do = append(loop.Do, &syntax.Stmt{Cmd: &syntax.CallExpr{Args: []*syntax.Word{literal(":")}}})
	}
	return nil
}
