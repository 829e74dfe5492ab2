// Package awk is the language awk: that of POSIX, with what gawk adds and scripts use.
// In go a program and a [Config] with files, streams and commands; out come an exit
// status and what the program prints. The package opens no file and starts no command
// itself. What a program holds is counted, and bounded.
//
// A program is read into a tree ([Parse]), which [Program.Run] walks. Values are strings
// and numbers at once, as awk has them; a record is split into fields only when a
// program looks at them.
package awk

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config is what a program sees of the world.
type Config struct {
	Args        []string // ARGV
	Assignments []string // NAME=value, before BEGIN
	Stdin       io.Reader
	Stdout      io.Writer
	Stderr      io.Writer
	Open        func(name string) (io.ReadCloser, error)                             // for getline and the files of ARGV
	Create      func(name string, appends bool) (io.WriteCloser, error)              // for print with > and >>, and -i inplace, which calls Drop(error) for a file to keep if there is that method
	Command     func(command string, stdin io.Reader, stdout io.Writer) (status int) // runs a command line: for system and pipes
	Environ     []string                                                             // NAME=value
	Now         func() time.Time                                                     // for systime and srand
	Location    *time.Location                                                       // of strftime and mktime
	FormatTime  func(t time.Time, format string) string                              // strftime
	ErrorText   func(err error) string                                               // what messages say of an error
	MaxMemory   int64                                                                // bytes of all variables, and of each string
	InPlace     bool                                                                 // what is printed replaces the file that is read
}

// ErrDirectory is the error of opening a directory. awk leaves it out, with a warning.
var ErrDirectory = errors.New("is a directory")

// The special variables come first among the globals.
//
// The order matters in two places: setGlobal leaves at once for an index after
// varIGNORECASE, so a variable that the interpreter must notice stands up to there; and
// argument takes what stands before varENVIRON for a scalar, as only the variables from
// there on can be arrays.
const (
	varNF = iota
	varNR
	varFNR
	varFS
	varRS
	varOFS
	varORS
	varSUBSEP
	varCONVFMT
	varOFMT
	varFPAT
	varIGNORECASE
	varRSTART
	varRLENGTH
	varFILENAME
	varRT
	varENVIRON
	varARGC
	varARGV
	varPROCINFO
)

// specialNames are the variables that the language has itself, in the order of their
// places among the global ones.
//
// Parse numbers them before it reads the program, so the constants above are the indices of
// a Program's globals, whatever the program mentions. The two lists must keep one order.
var specialNames = []string{"NF", "NR", "FNR", "FS", "RS", "OFS", "ORS", "SUBSEP", "CONVFMT", "OFMT", "FPAT", "IGNORECASE",
	"RSTART", "RLENGTH", "FILENAME", "RT", "ENVIRON", "ARGC", "ARGV", "PROCINFO"}

// maxCalls bounds the weight of the functions that have been called and have not
// returned, so that the stack of the process does: a weight is an expression or a
// statement, which needs at most some hundred bytes of it.
//
// The program function f() { f() } therefore ends after some 100,000 calls with an error
// that has a line, instead of a stack overflow, which Go cannot recover from.
const maxCalls = 300_000

// interp is one run of a program. Errors are panics of *Error, which protect recovers:
// the expressions of a program are walked by methods that return values only.
//
// An interp is used by one goroutine, and by one Run. Three of the special variables, NF, NR
// and FNR, are kept outside of globals (see global); OFS and the like are kept twice, as a
// cell that the program reads and as a string that print uses, and setGlobal sets both.
type interp struct {
	ctx     context.Context
	config  *Config
	program *Program
	globals []cell            // by the numbers that the parser gave
	frame   []cell            // the parameters of the call that runs
	calls   int               // the weights of the calls that are nested
	steps   int               // statements and loops, to look now and then whether ctx has ended
	held    int64             // bytes of variables
	result  value             // of the function that returns
	status  int               // of exit
	started []bool            // of the ranges
	regexes map[string]*regex // that have been compiled, by their text
	random  *rand.Rand
	seed    float64 // of srand, which returns the one before

	// The special variables, as the interpreter uses them.
	nr, fnr                         float64
	ofs, ors, subsep, convfmt, ofmt string
	ignoreCase                      bool
	splitter                        *splitter // of FS
	separator                       separator // of RS
	record                          record
	out                             *bufio.Writer
	input                           mainInput
	stdin                           *reader
	readers                         map[string]*reader // by "<" or "|" and the name
	writers                         map[string]*writer // by ">" or "|" and the name
	order                           []string           // of the writers
	inBeginOrEnd                    bool               // where next has no meaning
}

// Run runs the program, and returns its exit status.
//
// # Errors
//
// An [*Error], or the error of a write to the standard output.
//
// The status is what exit set, 2 after a file that could not be read, and else 0. An error
// that follows from the end of ctx is returned as the cause of ctx. Files that are
// still open are stored only if the program ends without an error: after one, closeAll does not run, and
// they are left to the caller, which drops them. What was printed to the standard output
// before the error is flushed all the same.
func (p *Program) Run(ctx context.Context, config *Config) (status int, err error) {
	in := &interp{
		ctx: ctx, config: config, program: p, globals: make([]cell, len(p.globals)), started: make([]bool, len(p.rules)),
		regexes: map[string]*regex{}, readers: map[string]*reader{}, writers: map[string]*writer{},
		out: bufio.NewWriterSize(config.Stdout, 32<<10), random: rand.New(rand.NewPCG(0, 0)),
		ofs: " ", ors: "\n", subsep: "\x1c", convfmt: "%.6g", ofmt: "%.6g",
	}
	in.record.split = true
	defer in.abandon()
	err = in.protect(in.start)
	if err == nil {
		err = in.protect(in.main)
	}
	if err == nil {
		err = in.protect(in.closeAll)
	}
	if flush := in.out.Flush(); err == nil && flush != nil {
		err = flush
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	return in.status, err
}

// writeError is the error of the standard output.
// It is a type of its own as the error must reach the caller as it is: a closed pipe ends
// the program silently, and is no message about the program.
type writeError struct{ error }

// protect calls do, and returns what it has panicked with. Other panics are of the
// interpreter itself, and go on.
//
// The deferred functions run last first: the second one recovers, and then the first one
// unwraps what it has set.
func (in *interp) protect(do func()) (err error) {
	defer func() {
		if w, ok := errors.AsType[writeError](err); ok {
			err = w.error
		}
	}()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			err = r
		case writeError:
			err = r
		default:
			panic(r)
		}
	}()
	do()
	return nil
}

// start gives the special variables their values, and runs the assignments of -v.
//
// ARGV and ENVIRON get values of the kind isInput, so that an argument 10 is compared as a
// number. The assignments of -v come last, so they can set FS and its like, and BEGIN
// sees them.
func (in *interp) start() {
	for i, text := range map[int]string{varFS: " ", varRS: "\n", varOFS: " ", varORS: "\n", varSUBSEP: "\x1c", varCONVFMT: "%.6g", varOFMT: "%.6g"} {
		in.setGlobal(i, str(text))
	}
	in.setGlobal(varRSTART, num(0))
	in.setGlobal(varRLENGTH, num(-1))
	in.setGlobal(varARGC, num(float64(len(in.config.Args))))
	argv, environ := in.cellArray(&in.globals[varARGV]), in.cellArray(&in.globals[varENVIRON])
	for i, arg := range in.config.Args {
		in.store(in.element(argv, strconv.Itoa(i)), input(arg))
	}
	for _, variable := range in.config.Environ {
		name, text, _ := strings.Cut(variable, "=")
		in.store(in.element(environ, name), input(text))
	}
	in.cellArray(&in.globals[varPROCINFO])
	for _, assignment := range in.config.Assignments {
		in.assignArgument(assignment)
	}
}

// main runs BEGIN, the rules with each record, and END. Without rules, END and the like
// the input is not read. exit in BEGIN or in a rule still runs END, and exit in END
// ends it.
//
// exit without an action of END skips closing blocks, but not closeAll: Run calls that in
// any case.
func (in *interp) main() {
	p := in.program
	in.inBeginOrEnd = true
	how := in.unwound(func() control { return in.blocks(p.begin) })
	in.inBeginOrEnd = false
	if how != doExit && len(p.rules)+len(p.end)+len(p.beginFile)+len(p.endFile) > 0 {
		how = in.records()
	}
	if how == doExit && len(p.end) == 0 {
		return
	}
	in.inBeginOrEnd = true
	in.unwound(func() control { return in.blocks(p.end) })
}

// blocks runs blocks of BEGIN or END until one of them does not end by itself.
func (in *interp) blocks(list []*block) control {
	for _, b := range list {
		if how := in.block(b); how != goOn {
			return how
		}
	}
	return goOn
}

// records runs the rules with each record. next in a function unwinds to here, and the
// loop goes on; nextfile also leaves the file.
func (in *interp) records() control {
	for {
		how := in.unwound(func() control {
			for in.nextRecord() {
				if how := in.rules(); how == doExit || how == doNextFile {
					return how
				}
			}
			return goOn
		})
		switch how {
		case goOn, doExit:
			return how
		case doNextFile:
			if how := in.unwound(in.endFile); how == doExit {
				return how
			}
		}
	}
}

// nextRecord reads the next record of the main input into $0.
// It reports false at the end of all input. Then $0 and NF stay those of the last record,
// which POSIX wants END to see.
func (in *interp) nextRecord() bool {
	s, ok := in.readMain()
	if ok {
		in.setRecord(input(s))
	}
	return ok
}

// rules runs the rules for a record. A rule without an action prints it.
//
// The result is what ended the rules early: doNext is handled by the loop of records, as it
// just goes on; doExit and doNextFile leave that loop.
func (in *interp) rules() control {
	for _, r := range in.program.rules {
		if !in.selects(r) {
			continue
		}
		if r.action == nil {
			in.print(in.out, in.record0())
			continue
		}
		if how := in.block(r.action); how != goOn {
			return how
		}
	}
	return goOn
}

// selects reports whether a rule is for the current record. A range begins with a
// record that its first pattern matches and ends with one that its second matches,
// which may be the same one. Then it can begin again.
func (in *interp) selects(r *rule) bool {
	switch {
	case r.pattern == nil:
		return true
	case r.to == nil:
		return in.test(r.pattern)
	case !in.started[r.index] && !in.test(r.pattern):
		return false
	}
	in.started[r.index] = !in.test(r.to)
	return true
}

// step observes the context, in all that can be repeated.
//
// Each 256th call looks, as asking a context costs more than a step does. It is called once per
// turn of a loop, call of a function, record and comparison of a sort, so that no program
// runs on for long after its context has ended.
func (in *interp) step() {
	if in.steps++; in.steps&0xff == 0 {
		if err := in.ctx.Err(); err != nil {
			fail(0, "%v", err)
		}
	}
}

// charge counts what variables hold, in bytes. What is deleted or replaced counts
// negative.
//
// The count is an estimate: bytes of text, with elementSize for each element and cellSize
// for each parameter. It bounds a program that collects without end; strings that are only
// built, and not stored, are checked by bound.
func (in *interp) charge(n int) {
	if in.held += int64(n); in.held > in.config.MaxMemory {
		fail(0, "the variables need too much memory; at most %d bytes are possible", in.config.MaxMemory)
	}
}

// bound ends a program that makes too long a string. It is called before or while the
// string is built, as a value only counts when it is stored.
func (in *interp) bound(n int) {
	if int64(n) > in.config.MaxMemory {
		fail(0, "a string of %d bytes needs too much memory; at most %d are possible", n, in.config.MaxMemory)
	}
}

// store gives a variable a value. What is part of a record is copied, so that it does not
// keep the record.
//
// Only the difference to the old value is charged, so that x = x "a" in a loop counts the
// length of x, and not the sum of all its lengths.
func (in *interp) store(c *cell, v value) {
	if c.array != nil {
		fail(0, "attempt to use an array in a scalar context")
	}
	in.charge(len(v.s) - len(c.v.s))
	if v.kind == isInput {
		v.s = strings.Clone(v.s)
	}
	c.v = v
}

// block runs the statements of b until one of them jumps.
func (in *interp) block(b *block) control {
	for _, s := range b.list {
		if how := in.exec(s); how != goOn {
			return how
		}
	}
	return goOn
}

// exec runs a statement, and returns where to go on after it.
//
// The jumps are not errors: each construct handles the controls that are meant for it, and
// returns all others to the construct around it. next and nextfile are refused here, when
// they run, and not by the parser, as a function may be called by a rule or by BEGIN.
func (in *interp) exec(s stmt) control {
	switch s := s.(type) {
	case simple:
		in.eval(s.of)
	case *printStmt:
		in.printStatement(s)
	case *ifStmt:
		if in.test(s.test) {
			return in.block(s.yes)
		} else if s.no != nil {
			return in.block(s.no)
		}
	case *loop:
		return in.loop(s)
	case *forIn:
		return in.forIn(s)
	case *switchStmt:
		return in.switches(s)
	case inner:
		return in.block(s.body)
	case jump:
		if in.inBeginOrEnd && (s.how == doNext || s.how == doNextFile) {
			fail(0, "next and nextfile are only possible in rules for records")
		}
		return s.how
	case exit:
		if s.status != nil {
			v := in.eval(s.status)
			in.status = int(v.number()) & 0xff
		}
		return doExit
	case ret:
		in.result = value{}
		if s.value != nil {
			in.result = in.eval(s.value)
		}
		return doReturn
	case drop:
		in.drop(s.of)
	}
	return goOn
}

// loop runs while, do and for: do tests after the body, and a test that is left out is
// true.
//
// After continue the step of a for still runs, as in C.
func (in *interp) loop(s *loop) control {
	if s.init != nil {
		in.exec(s.init)
	}
	for first := true; first && s.testLast || s.test == nil || in.test(s.test); first = false {
		in.step()
		switch how := in.block(s.body); how {
		case doBreak:
			return goOn
		case goOn, doContinue:
		default:
			return how
		}
		if s.step != nil {
			in.exec(s.step)
		}
	}
	return goOn
}

// forIn runs a loop over the keys that the array had when it began. Keys that are
// deleted meanwhile are left out, and new ones are not visited.
func (in *interp) forIn(s *forIn) control {
	a := in.arrayOf(s.array)
	for _, key := range in.keys(a, in.sortedIn()) {
		in.step()
		if a.elements[key] == nil {
			continue // deleted by now
		}
		in.assign(s.to, input(key))
		switch how := in.block(s.body); how {
		case doBreak:
			return goOn
		case goOn, doContinue:
		default:
			return how
		}
	}
	return goOn
}

// sortedIn returns the order that PROCINFO has for loops.
func (in *interp) sortedIn() string {
	a := in.globals[varPROCINFO].array
	if a == nil || a.elements["sorted_in"] == nil {
		return ""
	}
	return in.text(a.elements["sorted_in"].v)
}

// switches runs the first case that is equal, or else the default one, and those after
// it up to break. continue goes on to the loop around the switch.
func (in *interp) switches(s *switchStmt) control {
	v := in.eval(s.of)
	at := s.initial
	for i, c := range s.cases {
		if c.value == nil {
			continue
		}
		if m, ok := c.value.(*match); ok && in.regex(m).match(in.ctx, in.text(v)) {
			at = i
			break
		} else if !ok {
			if w := in.eval(c.value); in.equal(v, w) {
				at = i
				break
			}
		}
	}
	if at < 0 {
		return goOn
	}
	for _, c := range s.cases[at:] {
		switch how := in.block(c.body); how {
		case doBreak:
			return goOn
		case goOn:
		default:
			return how
		}
	}
	return goOn
}

// equal is what switch compares with: two strings, or two numbers.
func (in *interp) equal(a, b value) bool {
	return a.numeric() == b.numeric() && in.compare(a, b) == 0
}

// drop deletes an element, or all.
//
// Deleting what does not exist does nothing, and does not create it.
func (in *interp) drop(of expr) {
	if e, ok := of.(*index); ok {
		a := in.arrayOf(e.base)
		key := in.key(e.subs)
		if c := a.elements[key]; c != nil {
			in.release(key, c)
			delete(a.elements, key)
		}
		return
	}
	in.clear(in.arrayOf(of))
}

// clear removes all elements of an array, and what they count in the budget of memory.
func (in *interp) clear(a *array) {
	for key, c := range a.elements {
		in.release(key, c)
	}
	clear(a.elements)
}

// elementSize is about what an element needs besides its key and its value.
// It is the cell, and the entry in the map with its overhead. element and release use the
// same number, or the budget would drift.
const elementSize = 120

// release takes back what an element counts, with the arrays in it.
func (in *interp) release(key string, c *cell) {
	in.held -= int64(elementSize + len(key) + len(c.v.s))
	if c.array != nil {
		in.clear(c.array)
	}
}

// test evaluates a condition.
func (in *interp) test(e expr) bool {
	v := in.eval(e)
	return v.true()
}

// number evaluates an expression as a number.
func (in *interp) number(e expr) float64 {
	v := in.eval(e)
	return v.number()
}

// string evaluates an expression as text.
func (in *interp) string(e expr) string { return in.text(in.eval(e)) }

// text returns v as a string.
//
// An integer is converted in full; another number as CONVFMT says.
func (in *interp) text(v value) string {
	if v.kind == isNum {
		return formatNumber(v.n, in.convfmt)
	}
	return v.s
}

// eval returns the value of an expression. Both sides of an operator are evaluated from
// left to right, but for an assignment: its right side comes first, then the subscripts
// of its left side.
//
// Reading an element creates it (see element). A regular expression that stands alone is
// matched with $0, so that x = /a/ stores 1 or 0; where an expression itself is wanted, as
// at the right of "~", the caller uses regexOf instead.
func (in *interp) eval(e expr) value {
	switch e := e.(type) {
	case *number:
		return e.value
	case *text:
		return e.value
	case *field:
		if n, ok := e.index.(*number); ok {
			return in.field(n.value.n)
		}
		return in.field(in.number(e.index))
	case *global:
		return in.global(e.index)
	case *local:
		c := &in.frame[e.index]
		if c.array != nil {
			fail(0, "attempt to use array %q in a scalar context", e.name)
		}
		return c.v
	case *index:
		a := in.arrayOf(e.base)
		c := in.element(a, in.key(e.subs))
		if c.array != nil {
			fail(e.line, "attempt to use an array in a scalar context")
		}
		return c.v
	case *assign:
		return in.assignment(e)
	case *match:
		return boolean(in.regex(e).match(in.ctx, in.record0()))
	case *group:
		return in.eval(e.of)
	case *conditional:
		if in.test(e.test) {
			return in.eval(e.yes)
		}
		return in.eval(e.no)
	case *logical:
		if in.test(e.left) != e.and {
			return boolean(!e.and)
		}
		return boolean(in.test(e.right))
	case *compare:
		return in.comparison(e)
	case *matches:
		s := in.string(e.left)
		return boolean(in.regexOf(e.right).match(in.ctx, s) != e.not)
	case *arithmetic:
		left := in.number(e.left)
		return num(calculate(e.op, left, in.number(e.right), e.line))
	case *concat:
		return in.concatenate(e)
	case *unary:
		switch e.op {
		case '!':
			return boolean(!in.test(e.of))
		case '-':
			return num(-in.number(e.of))
		}
		return num(in.number(e.of))
	case *increment:
		old := in.number(e.to)
		in.assign(e.to, num(old+e.delta))
		if e.prefix {
			return num(old + e.delta)
		}
		return num(old)
	case *member:
		key := in.key(e.subs)
		return boolean(in.arrayOf(e.array).elements[key] != nil)
	case *call:
		return in.call(e)
	case *builtin:
		return in.builtin(e)
	case *getline:
		return in.getline(e)
	}
	panic("awk: an expression of an unknown kind")
}

// concatenate joins all parts at once: a b c d copies each part once.
func (in *interp) concatenate(e *concat) value {
	var buffer [8]string
	parts := buffer[:0]
	size := 0
	for _, part := range e.parts {
		s := in.string(part)
		size += len(s)
		in.bound(size)
		parts = append(parts, s)
	}
	return str(strings.Join(parts, ""))
}

// comparison compares as the kinds of both values say; see value. NaN is unequal to
// all, so that the operators cannot be made of one order.
func (in *interp) comparison(e *compare) value {
	left := in.eval(e.left)
	right := in.eval(e.right)
	if left.numeric() && right.numeric() {
		a, b := left.number(), right.number()
		switch e.op {
		case "<":
			return boolean(a < b)
		case "<=":
			return boolean(a <= b)
		case "==":
			return boolean(a == b)
		case "!=":
			return boolean(a != b)
		case ">":
			return boolean(a > b)
		}
		return boolean(a >= b)
	}
	c := in.compareText(in.text(left), in.text(right))
	switch e.op {
	case "<":
		return boolean(c < 0)
	case "<=":
		return boolean(c <= 0)
	case "==":
		return boolean(c == 0)
	case "!=":
		return boolean(c != 0)
	case ">":
		return boolean(c > 0)
	}
	return boolean(c >= 0)
}

// compare orders two values, as the operators do.
// Numbers are ordered by cmp.Compare, where NaN comes first and equals itself: a sort needs a
// total order. The operators of a program use comparison.
func (in *interp) compare(a, b value) int {
	if a.numeric() && b.numeric() {
		return cmp.Compare(a.number(), b.number())
	}
	return in.compareText(in.text(a), in.text(b))
}

// compareText compares bytes, as in the C locale, and without case if IGNORECASE is
// set.
func (in *interp) compareText(a, b string) int {
	if in.ignoreCase {
		a, b = strings.ToLower(a), strings.ToLower(b)
	}
	return strings.Compare(a, b)
}

// calculate applies an arithmetic operator; all that is not in the switch is a power.
// "%" has the sign of its left side, as in C.
func calculate(op byte, a, b float64, line int) float64 {
	switch op {
	case '+':
		return a + b
	case '-':
		return a - b
	case '*':
		return a * b
	case '/':
		if b == 0 {
			fail(line, "division by zero")
		}
		return a / b
	case '%':
		if b == 0 {
			fail(line, "division by zero in %%")
		}
		return math.Mod(a, b)
	}
	return math.Pow(a, b)
}

// assignment evaluates the new value before the place: a[i++] = i stores the old i.
func (in *interp) assignment(e *assign) value {
	var v value
	if e.op == "" {
		v = in.eval(e.value)
	} else {
		right := in.number(e.value)
		v = num(calculate(e.op[0], in.number(e.to), right, 0))
	}
	in.assign(e.to, v)
	return v
}

// assign gives a variable, an element or a field a value.
//
// A field keeps a number as text, but the value of the expression $1 = 2 remains the number
// 2: the caller's v does not change.
func (in *interp) assign(to expr, v value) {
	switch e := to.(type) {
	case *global:
		in.setGlobal(e.index, v)
	case *local:
		in.store(&in.frame[e.index], v)
	case *index:
		in.store(in.element(in.arrayOf(e.base), in.key(e.subs)), v)
	case *field:
		in.setField(in.number(e.index), v)
	default:
		fail(0, "attempt to assign to what is no variable")
	}
}

// global returns a variable. NF, NR and FNR are kept elsewhere: NF needs the record to
// be split, and the others change with each record.
func (in *interp) global(i int) value {
	switch i {
	case varNF:
		return num(float64(in.fieldCount()))
	case varNR:
		return num(in.nr)
	case varFNR:
		return num(in.fnr)
	}
	c := &in.globals[i]
	if c.array != nil {
		fail(0, "attempt to use an array in a scalar context")
	}
	return c.v
}

// setGlobal gives a variable a value. The special ones take effect at once, but FS and
// the like only for the next record.
//
// The value is stored first. So a program reads back what it wrote, even where the
// interpreter uses it in another form, and setSeparators finds the new value in globals.
func (in *interp) setGlobal(i int, v value) {
	in.store(&in.globals[i], v)
	if i > varIGNORECASE {
		return
	}
	switch i {
	case varNF:
		in.setFieldCount(v.number())
	case varNR:
		in.nr = v.number()
	case varFNR:
		in.fnr = v.number()
	case varFS, varFPAT, varRS, varIGNORECASE:
		if i == varIGNORECASE {
			in.ignoreCase = v.true()
		}
		in.setSeparators(i == varFPAT, i == varFS)
	case varOFS:
		in.ofs = in.text(v)
	case varORS:
		in.ors = in.text(v)
	case varSUBSEP:
		in.subsep = in.text(v)
	case varCONVFMT:
		in.convfmt = in.text(v)
	case varOFMT:
		in.ofmt = in.text(v)
	}
}

// key returns the key of an element.
// a[1, 2] has the key "1" SUBSEP "2", so that a[1 SUBSEP 2] is the same element. Numbers
// become text by CONVFMT, and integers in full: a[1] and a["1"] are one element, a["01"] is
// another.
func (in *interp) key(subs []expr) string {
	key := in.keyPart(subs[0])
	for _, sub := range subs[1:] {
		key += in.subsep + in.keyPart(sub)
		in.bound(len(key))
	}
	return key
}

// keyPart evaluates one of the subscripts of an element. SUBSEP joins several.
func (in *interp) keyPart(e expr) string { return in.string(e) }

// element returns an element, which is created if it does not exist: also by reading
// it, as awk has it. Only "in" looks without creating.
//
// The key is cloned, as it may be a part of a record that would be kept with it.
func (in *interp) element(a *array, key string) *cell {
	c := a.elements[key]
	if c == nil {
		in.charge(elementSize + len(key))
		a.seq++
		c = &cell{seq: a.seq}
		a.elements[strings.Clone(key)] = c
	}
	return c
}

// arrayOf returns the array that an expression names.
func (in *interp) arrayOf(e expr) *array { return in.cellArray(in.cell(e)) }

// cell returns the variable or the element that an expression names.
// For an element it creates that, and the array around it. An expression that names nothing
// ends the program.
func (in *interp) cell(e expr) *cell {
	switch e := e.(type) {
	case *global:
		return &in.globals[e.index]
	case *local:
		return &in.frame[e.index]
	case *index:
		return in.element(in.arrayOf(e.base), in.key(e.subs))
	}
	fail(0, "this is no array")
	return nil
}

// cellArray returns the array of a variable. One without a value becomes an array, and
// if it is a parameter, so does the variable of the caller that it stands for:
//
//	function fill(a) { a[1] = 2 }
//	BEGIN { fill(x); print x[1] }     prints 2
func (in *interp) cellArray(c *cell) *array {
	if c.array != nil {
		return c.array
	}
	if c.v.kind != unset {
		fail(0, "attempt to use a scalar value as array")
	}
	if c.from != nil {
		c.array = in.cellArray(c.from)
	} else {
		c.array = newArray()
	}
	return c.array
}

// newArray returns an array without elements.
func newArray() *array { return &array{elements: map[string]*cell{}} }

// call calls a function of the program.
func (in *interp) call(e *call) value {
	f := e.function
	if len(e.args) > len(f.params) {
		fail(e.line, "function %q called with more arguments than it has parameters", f.name)
	}
	frame := make([]cell, len(f.params))
	for i, arg := range e.args {
		frame[i] = in.argument(arg)
	}
	return in.enter(f, frame, len(e.args), e.line)
}

// argument returns what a parameter begins with. Arrays are passed by reference, and
// other values copied. A variable without a value may become an array in the function;
// the cell remembers it for that.
func (in *interp) argument(arg expr) cell {
	switch arg.(type) {
	case *global, *local, *index:
		if g, ok := arg.(*global); ok && g.index < varENVIRON {
			break
		}
		c := in.cell(arg)
		if c.array == nil && c.v.kind == unset {
			return cell{from: c}
		}
		return cell{v: c.v, array: c.array}
	}
	v := in.eval(arg)
	if v.kind == isInput {
		v.s = strings.Clone(v.s)
	}
	return cell{v: v}
}

// enter runs the body of a function, with given arguments. Local arrays are released at
// the end; those of the caller are among the given arguments.
//
// The frame holds all parameters, those that the call left out with no value. A caller's
// array that came by reference is among the first given ones, so that it is not cleared;
// the frame and the depth are restored by defer, as next and exit leave through a panic.
func (in *interp) enter(f *function, frame []cell, given, line int) value {
	in.step()
	saved, calls := in.frame, in.calls
	if in.calls += f.weight; in.calls > maxCalls {
		fail(line, "functions call each other too deep, in %q", f.name)
	}
	defer func() {
		in.frame, in.calls = saved, calls
		for i := range frame {
			in.held -= int64(cellSize + len(frame[i].v.s))
			if a := frame[i].array; a != nil && i >= given {
				in.clear(a)
			}
		}
	}()
	for i := range frame {
		in.charge(cellSize + len(frame[i].v.s))
	}
	in.frame, in.result = frame, value{}
	if how := in.block(f.body); how != goOn && how != doReturn {
		panic(unwind{how})
	}
	v := in.result
	in.result = value{}
	return v
}

// cellSize is about what a parameter needs besides its value.
const cellSize = 100

// unwind is a statement such as next in a function, which ends the calls around it.
// Statements return a control, but an expression that calls a function has no place for
// it.
type unwind struct{ how control }

// unwound runs do, and returns how it ended even if that was in a function.
//
// Only main and records use it, where nothing of an expression is left half evaluated.
func (in *interp) unwound(do func() control) (how control) {
	defer func() {
		if r := recover(); r != nil {
			u, ok := r.(unwind)
			if !ok {
				panic(r)
			}
			how = u.how
		}
	}()
	return do()
}

// keys returns the keys of an array in an order: the one of PROCINFO["sorted_in"], and
// for equal keys, or without it, in which they were created.
func (in *interp) keys(a *array, order string) []string {
	keys := make([]string, 0, len(a.elements))
	for key := range a.elements {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(x, y string) int { return cmp.Compare(a.elements[x].seq, a.elements[y].seq) })
	in.sortKeys(a, keys, order)
	return keys
}

// sortKeys puts keys of an array into an order, which has a name, such as
// "@val_num_desc", or is a function that compares (key1, value1, key2, value2).
//
// A function of the program may return any number; its sign counts. It may even delete
// elements of the array, which then have no value (see array.value).
func (in *interp) sortKeys(a *array, keys []string, order string) {
	if order == "@unsorted" || order == "" {
		return
	}
	byName := func(x, y string) int { return strings.Compare(x, y) }
	var compare func(x, y string) int
	switch what := strings.TrimSuffix(strings.TrimSuffix(order, "_asc"), "_desc"); what {
	case "@ind_str":
		compare = byName
	case "@ind_num":
		compare = func(x, y string) int {
			return cmp.Or(cmp.Compare(toNumber(x), toNumber(y)), strings.Compare(x, y))
		}
	case "@val_num", "@val_str", "@val_type":
		compare = func(x, y string) int {
			v, w := a.value(x), a.value(y)
			if byNumber := what == "@val_num" || what == "@val_type" && v.numeric() && w.numeric(); byNumber {
				if c := cmp.Compare(v.number(), w.number()); c != 0 {
					return c
				}
			} else if what == "@val_type" && v.numeric() != w.numeric() {
				if v.numeric() {
					return -1
				}
				return 1
			}
			return cmp.Or(strings.Compare(in.text(v), in.text(w)), strings.Compare(x, y))
		}
	default:
		f := in.program.functions[order]
		if f == nil || len(f.params) < 4 {
			fail(0, "the order %q is neither known nor a function of four parameters", order)
		}
		compare = func(x, y string) int {
			frame := make([]cell, len(f.params))
			frame[0].v, frame[1].v, frame[2].v, frame[3].v = input(x), a.value(x), input(y), a.value(y)
			v := in.enter(f, frame, 4, 0)
			return cmp.Compare(v.number(), 0)
		}
	}
	if strings.HasSuffix(order, "_desc") {
		ascending := compare
		compare = func(x, y string) int { return ascending(y, x) }
	}
	slices.SortStableFunc(keys, func(x, y string) int {
		in.step()
		return compare(x, y)
	})
}
