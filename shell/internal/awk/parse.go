package awk

import "strconv"

// Program is a program that has been read. It is safe for concurrent use.
//
// A run keeps its state in an interp, also that of ranges (interp.started), and changes
// nothing of the tree. Literal regular expressions are compiled when the program is read.
type Program struct {
	begin, end         []*block // the actions of BEGIN and END, in order
	beginFile, endFile []*block // those of BEGINFILE and ENDFILE
	rules              []*rule
	functions          map[string]*function
	globals            map[string]int // the numbers of the variables
}

// rule is a pattern with its action. A nil action prints the record.
type rule struct {
	pattern, to expr // nil for none
	action      *block
	index       int // among the rules, for whether a range has begun
}

// block is the statements between braces.
type block struct{ list []stmt }

// function is a function of the program.
// A call can come before the definition: the parser then makes an entry that is not
// defined.
//
// Calls hold a pointer to the entry, so they see the body that is read later. Parse refuses
// a program in which an entry is still not defined at the end.
type function struct {
	name    string
	params  []string
	locals  map[string]int // the numbers of the parameters, by name
	body    *block
	line    int // of its first use or its definition, for messages
	defined bool
	// weight is how many expressions and statements it has, which bounds how deep one
	// call nests.
	weight int
}

// The expressions.
type (
	expr   any
	number struct{ value value }
	text   struct{ value value }
	match  struct{ re *regex } // a regexp that stands alone
	// global and local are variables, by index.
	global struct {
		index int
		name  string
	}
	local struct {
		index int
		name  string
	}
	field struct{ index expr }
	index struct { // base[subs]
		base expr // global, local or index
		subs []expr
		line int
	}
	assign struct {
		to    expr
		op    kind // "=", or the operator before it
		value expr
	}
	conditional struct{ test, yes, no expr }
	logical     struct {
		and         bool
		left, right expr
	}
	compare struct {
		op          kind
		left, right expr
	}
	matches struct {
		not         bool
		left, right expr
	}
	arithmetic struct {
		op          byte
		left, right expr
		line        int
	}
	concat struct{ parts []expr }
	unary  struct {
		op byte // '!', '-', '+'
		of expr
	}
	increment struct {
		to     expr
		delta  float64
		prefix bool // "++x", whose value is the new one
	}
	member struct {
		subs  []expr
		array expr
	}
	call struct {
		function *function
		args     []expr
		line     int
	}
	builtin struct {
		name string
		args []expr
		line int
	}
	getline struct {
		form   byte // 0: main input, '<': file, '|': command
		source expr
		to     expr // nil for $0
		line   int
	}
	group struct{ of expr } // in parentheses
)

// The statements.
type (
	stmt      any
	simple    struct{ of expr }
	printStmt struct {
		format bool
		args   []expr
		mode   kind // "", ">", ">>" or "|"
		to     expr
		line   int
	}
	ifStmt struct {
		test    expr
		yes, no *block
	}
	loop struct {
		init     stmt
		test     expr
		step     stmt
		body     *block
		testLast bool // do: the test comes after the body
	}
	forIn struct {
		to    expr
		array expr
		body  *block
	}
	switchStmt struct {
		of      expr
		cases   []switchCase
		initial int // the default case, -1 for none
	}
	switchCase struct {
		value expr // nil for default
		body  *block
	}
	jump struct{ how control }
	exit struct{ status expr }
	ret  struct{ value expr }
	drop struct { // delete
		of expr
	}
	inner struct{ body *block }
)

// control is how a statement ends: it goes on with the next one, or leaves the loop,
// the record, the function or the program. exec returns it, and each construct handles
// its own.
type control int

// The values of control.
const (
	goOn control = iota
	doBreak
	doContinue
	doNext
	doNextFile
	doExit
	doReturn
)

// maxSource bounds a program, in bytes, and maxNesting how deep its parts are in each other.
const (
	maxSource  = 1 << 20
	maxNesting = 500
)

// parser reads a program by recursive descent: one method for each level of precedence,
// which calls the next tighter one. The levels of POSIX, the loosest first:
//
//	expr            = += -= *= /= %= ^=   from the right
//	ternary         ?:                    from the right
//	or, and         ||  &&
//	membership      in
//	matching        ~  !~
//	comparison      <  <=  ==  !=  >  >=  and command | getline
//	concatenation   no operator
//	additive        + -
//	multiplicative  * / %
//	unary           ! - +
//	power           ^ **                  from the right
//	postfix         ++ --
//	primary         $ (...) names, numbers, calls
//
// Three things need more than precedence. A "/" divides after an operand, and begins a
// regular expression elsewhere (lexer.endsOperand). ">" after print is a redirection,
// except in parentheses (noGT). And a "-" after an operand subtracts, as additive is
// tried before another operand is concatenated:
//
//	1 " " -1     is 1 and (" " - 1), which prints 1-1, as with other awks
//	a -1         is a - 1
//	a (-1)       is a concatenation
type parser struct {
	tokens  []token
	at      int // the token at hand
	program *Program
	fn      *function // the one that is being read
	loops   int       // that are open, in which break and continue have a meaning
	depth   int       // of nested expressions and statements, which is bounded
	weight  int       // of the function that is read so far
	noGT    bool      // ">" is a redirection
}

// Parse reads a program.
//
// # Errors
//
// An [*Error].
func Parse(source string) (program *Program, err error) {
	defer recoverError(&err)
	if len(source) > maxSource {
		fail(0, "the program has %d bytes; at most %d are possible", len(source), maxSource)
	}
	p := &parser{tokens: lex(source), program: &Program{functions: map[string]*function{}, globals: map[string]int{}}}
	for i, name := range specialNames {
		p.program.globals[name] = i
	}
	for p.skipEnds(); p.kind() != tokenEnd; p.skipEnds() {
		p.item()
	}
	for _, f := range p.program.functions {
		if !f.defined {
			fail(f.line, "function %q not defined", f.name)
		}
		if _, ok := p.program.globals[f.name]; ok {
			fail(f.line, "function name %q is used as a variable", f.name)
		}
	}
	return p.program, nil
}

// recoverError turns the panic of fail into an error. The parser has no other errors,
// so that its methods need not return them.
func recoverError(err *error) {
	switch r := recover().(type) {
	case nil:
	case *Error:
		*err = r
	default:
		panic(r)
	}
}

// kind returns the kind of the token at hand.
func (p *parser) kind() kind { return p.tokens[p.at].kind }

// line returns the line of the token at hand, for messages.
func (p *parser) line() int { return p.tokens[p.at].line }

// peek returns the token after the current one. The last token is the end, and stays.
func (p *parser) peek() token { return p.tokens[min(p.at+1, len(p.tokens)-1)] }

// next returns the token at hand and moves on. The last token, the end of the text,
// stays at hand.
func (p *parser) next() token {
	t := p.tokens[p.at]
	if p.at < len(p.tokens)-1 {
		p.at++
	}
	return t
}

// accept takes a token if it is of the kind.
func (p *parser) accept(k kind) bool {
	if p.kind() == k {
		p.next()
		return true
	}
	return false
}

// expect is next for a token that must be of a kind.
func (p *parser) expect(k kind) token {
	if p.kind() != k {
		p.unexpected("expected " + string(k))
	}
	return p.next()
}

// unexpected ends the parser at the current token.
func (p *parser) unexpected(more string) {
	t := p.tokens[p.at]
	near := string(t.kind)
	if t.text != "" {
		near += " " + strconv.Quote(t.text)
	}
	if more != "" {
		more = ", " + more
	}
	fail(t.line, "syntax error at or near %s%s", near, more)
}

// skipNewlines moves on over line ends, which the grammar allows after "{", "&&", "||",
// "do", "else" and commas.
func (p *parser) skipNewlines() {
	for p.accept(tokenNewline) {
	}
}

// skipEnds moves on over what can end a statement.
func (p *parser) skipEnds() {
	for p.accept(tokenNewline) || p.accept(";") {
	}
}

// deeper counts how deep parts are in each other, which bounds the stack of the parser
// and of the interpreter. Call what it returns at the end.
// Use it as defer p.deeper()().
func (p *parser) deeper() func() {
	if p.depth++; p.depth > maxNesting {
		fail(p.line(), "more than %d expressions and statements in each other", maxNesting)
	}
	return func() { p.depth-- }
}

// item reads a rule or a function.
//
// The "}" of an action also ends a rule: BEGIN { } { print } is two rules in one line.
func (p *parser) item() {
	switch p.kind() {
	case "BEGIN", "END", "BEGINFILE", "ENDFILE":
		list := map[kind]*[]*block{"BEGIN": &p.program.begin, "END": &p.program.end, "BEGINFILE": &p.program.beginFile, "ENDFILE": &p.program.endFile}[p.next().kind]
		if p.kind() != "{" {
			p.unexpected("BEGIN and END need an action")
		}
		*list = append(*list, p.block())
	case "function":
		p.function()
	default:
		r := &rule{index: len(p.program.rules)}
		if p.kind() != "{" {
			r.pattern = p.expr()
			if p.accept(",") {
				p.skipNewlines()
				r.to = p.expr()
			}
		}
		if p.kind() == "{" {
			r.action = p.block()
		}
		p.program.rules = append(p.program.rules, r)
	}
	if k := p.kind(); k != ";" && k != tokenNewline && k != tokenEnd && p.tokens[p.at-1].kind != "}" {
		p.unexpected("")
	}
}

// functionNamed returns the function of a name, which may not be defined yet; line is
// that of its first use.
func (p *parser) functionNamed(name string, line int) *function {
	f := p.program.functions[name]
	if f == nil {
		f = &function{name: name, line: line}
		p.program.functions[name] = f
	}
	return f
}

// function reads "function name(params) { ... }". Parameters that a call leaves out are
// local variables, as awk has no other.
func (p *parser) function() {
	p.next()
	t := p.next()
	if t.kind != tokenName && t.kind != tokenCall {
		p.at--
		p.unexpected("expected the name of a function")
	}
	f := p.functionNamed(t.text, t.line)
	if f.defined {
		fail(t.line, "function name %q previously defined", t.text)
	}
	f.defined, f.locals = true, map[string]int{}
	p.expect("(")
	for p.kind() != ")" {
		name := p.expect(tokenName)
		if _, ok := f.locals[name.text]; ok || name.text == f.name {
			fail(name.line, "parameter %q of function %q is there twice", name.text, f.name)
		}
		f.locals[name.text] = len(f.params)
		f.params = append(f.params, name.text)
		if p.kind() != ")" {
			p.expect(",")
			p.skipNewlines()
		}
	}
	p.next()
	p.skipNewlines()
	p.fn, p.weight = f, 0
	f.body = p.block()
	f.weight = p.weight + 1
	p.fn = nil
}

// block reads statements between braces.
// An empty statement, as in {;}, leaves nothing.
func (p *parser) block() *block {
	p.expect("{")
	b := &block{}
	for p.skipEnds(); p.kind() != "}"; p.skipEnds() {
		b.list = append(b.list, p.statement())
	}
	p.next()
	return b
}

// body reads what a loop or a condition is about.
// A single statement takes its own end with it, and ";" alone is an empty body: while (f());
func (p *parser) body() *block {
	p.skipNewlines()
	if p.kind() == "{" {
		defer p.deeper()()
		return p.block()
	}
	if p.accept(";") {
		return &block{}
	}
	return &block{[]stmt{p.statement()}}
}

// loopBody is body where break and continue are possible.
func (p *parser) loopBody() *block {
	p.loops++
	defer func() { p.loops-- }()
	return p.body()
}

// end reads the end of a simple statement.
func (p *parser) end() {
	switch p.kind() {
	case ";", tokenNewline:
		p.next()
	case "}", tokenEnd:
	default:
		p.unexpected("")
	}
}

// statement reads a statement with its end. An else may come after a ";" or after empty
// lines: the parser looks for it, and goes back if there is none.
func (p *parser) statement() stmt {
	defer p.deeper()()
	p.weight++
	line := p.line()
	switch p.kind() {
	case "{":
		return inner{p.block()}
	case "if":
		p.next()
		s := &ifStmt{test: p.condition()}
		s.yes = p.body()
		at := p.at
		if p.skipEnds(); p.accept("else") {
			s.no = p.body()
		} else {
			p.at = at
		}
		return s
	case "while":
		p.next()
		s := &loop{test: p.condition()}
		s.body = p.loopBody()
		return s
	case "do":
		p.next()
		s := &loop{testLast: true, body: p.loopBody()}
		p.skipEnds()
		p.expect("while")
		s.test = p.condition()
		p.end()
		return s
	case "for":
		return p.forStatement()
	case "switch":
		return p.switchStatement()
	}
	s := p.simpleStatement(line)
	p.end()
	return s
}

// condition reads an expression in parentheses.
func (p *parser) condition() expr {
	p.expect("(")
	e := p.open(p.expr)
	p.expect(")")
	return e
}

// open reads what is in parentheses, where ">" is an operator again.
func (p *parser) open(read func() expr) expr {
	noGT := p.noGT
	p.noGT = false
	defer func() { p.noGT = noGT }()
	return read()
}

// forStatement reads both forms of for. "for (x in a)" is tried first, and taken back
// where no ")" follows: "for (x in a; ...)" begins with the expression x in a.
func (p *parser) forStatement() stmt {
	p.next()
	p.expect("(")
	if p.kind() == tokenName && p.peek().kind == "in" {
		at := p.at
		name := p.next()
		if p.next(); p.kind() == tokenName {
			array := p.arrayRef()
			if p.accept(")") {
				return &forIn{p.variable(name), array, p.loopBody()}
			}
		}
		p.at = at
	}
	s := &loop{}
	if p.kind() != ";" {
		s.init = p.simpleStatement(p.line())
	}
	p.expect(";")
	p.skipNewlines()
	if p.kind() != ";" {
		s.test = p.expr()
	}
	p.expect(";")
	p.skipNewlines()
	if p.kind() != ")" {
		s.step = p.simpleStatement(p.line())
	}
	p.expect(")")
	s.body = p.loopBody()
	return s
}

// switchStatement reads gawk's switch. Its cases are constants, and fall through to the
// next one without break.
func (p *parser) switchStatement() stmt {
	p.next()
	s := &switchStmt{of: p.condition(), initial: -1}
	p.loops++
	defer func() { p.loops-- }()
	p.skipNewlines()
	p.expect("{")
	for p.skipNewlines(); !p.accept("}"); p.skipNewlines() {
		c := switchCase{body: &block{}}
		if p.accept("default") {
			s.initial = len(s.cases)
		} else {
			p.expect("case")
			c.value = p.unary()
		}
		p.expect(":")
		for p.skipEnds(); p.kind() != "case" && p.kind() != "default" && p.kind() != "}"; p.skipEnds() {
			c.body.list = append(c.body.list, p.statement())
		}
		s.cases = append(s.cases, c)
	}
	return s
}

// simpleStatement reads a statement that can also stand in the head of a for.
func (p *parser) simpleStatement(line int) stmt {
	switch p.kind() {
	case "print", "printf":
		return p.print(line)
	case "break", "continue":
		if p.loops == 0 {
			fail(line, "%q is not in a loop", p.kind())
		}
		return jump{map[kind]control{"break": doBreak, "continue": doContinue}[p.next().kind]}
	case "next", "nextfile":
		return jump{map[kind]control{"next": doNext, "nextfile": doNextFile}[p.next().kind]}
	case "exit":
		p.next()
		return exit{p.optional()}
	case "return":
		if p.fn == nil {
			fail(line, "\"return\" is not in a function")
		}
		p.next()
		return ret{p.optional()}
	case "delete":
		p.next()
		if p.accept("(") {
			of := p.arrayRef()
			p.expect(")")
			return drop{of}
		}
		return drop{p.arrayRef()}
	}
	return simple{p.expr()}
}

// optional reads an expression if there is one.
func (p *parser) optional() expr {
	switch p.kind() {
	case ";", tokenNewline, "}", tokenEnd:
		return nil
	}
	return p.expr()
}

// print reads print and printf. The parentheses around the arguments are optional, so
// that a "(" may begin all of them or the first one:
//
//	print (1, 2) > "f"     two arguments, a redirection
//	print (1)(2)           one argument, a concatenation
//	print a > "b" ".txt"   the file b.txt: a redirection takes a concatenation
//	print (a > b)          a comparison
func (p *parser) print(line int) stmt {
	s := &printStmt{format: p.next().kind == "printf", line: line}
	noGT := p.noGT
	p.noGT = true
	if p.kind() == "(" && p.groupIsAll() {
		p.next()
		p.open(func() expr { s.args = p.list(")"); return nil })
		p.expect(")")
	} else {
		switch p.kind() {
		case ";", tokenNewline, "}", tokenEnd, ">", ">>", "|":
		default:
			s.args = p.list("")
		}
	}
	p.noGT = noGT
	if s.format && len(s.args) == 0 {
		fail(line, "printf: no format")
	}
	switch k := p.kind(); k {
	case ">", ">>", "|":
		s.mode = k
		p.next()
		s.to = p.concatenation()
	case "|&":
		fail(line, "coprocesses (|&) are not possible here")
	}
	return s
}

// groupIsAll reports whether the parenthesis that opens now closes at the end of the
// arguments of print.
// It looks ahead to the ")" that closes, and at the token after it.
func (p *parser) groupIsAll() bool {
	depth := 0
	for at := p.at; at < len(p.tokens); at++ {
		switch p.tokens[at].kind {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth == 0 {
			switch p.tokens[at+1].kind {
			case ";", tokenNewline, "}", tokenEnd, ">", ">>", "|":
				return true
			}
			return false
		}
	}
	return false
}

// list reads expressions with commas between them, none if end comes at once.
func (p *parser) list(end kind) []expr {
	var list []expr
	p.skipNewlines()
	if end != "" && p.kind() == end {
		return nil
	}
	for {
		list = append(list, p.expr())
		if end != "" {
			p.skipNewlines()
		}
		if !p.accept(",") {
			return list
		}
		p.skipNewlines()
	}
}

// expr reads an assignment or a conditional expression.
func (p *parser) expr() expr {
	defer p.deeper()()
	left := p.ternary()
	switch op := p.kind(); op {
	case "=", "+=", "-=", "*=", "/=", "%=", "^=":
		to := left
		wrap := func(e expr) expr { return e }
		switch e := left.(type) { // "a && b = c" and the like assign to the last part
		case *logical:
			to, wrap = e.right, func(v expr) expr { return &logical{e.and, e.left, v} }
		case *compare:
			to, wrap = e.right, func(v expr) expr { return &compare{e.op, e.left, v} }
		case *matches:
			to, wrap = e.right, func(v expr) expr { return &matches{e.not, e.left, v} }
		case *unary:
			to, wrap = e.of, func(v expr) expr { return &unary{e.op, v} }
		}
		p.wantLvalue(to)
		p.next()
		p.skipNewlines()
		return wrap(&assign{to, op[:len(op)-1] + "", p.expr()})
	}
	return left
}

// wantLvalue fails unless e is something that a value can be assigned to.
// $1 in parentheses is none: ($1) = 2 is an error.
func (p *parser) wantLvalue(e expr) {
	switch e.(type) {
	case *global, *local, *field, *index:
		return
	}
	p.unexpected("only variables, fields and elements of arrays have values that change")
}

// ternary reads a conditional expression. Lines may end after "?" and around ":", as in
// gawk.
func (p *parser) ternary() expr {
	test := p.or()
	if !p.accept("?") {
		return test
	}
	p.skipNewlines()
	yes := p.expr()
	p.skipNewlines()
	p.expect(":")
	p.skipNewlines()
	return &conditional{test, yes, p.expr()}
}

// or reads expressions that are joined by "||". The functions from here on are the
// levels of the grammar of POSIX, from the loosest operator to the tightest; each reads
// operands of the next level.
func (p *parser) or() expr {
	left := p.and()
	for p.accept("||") {
		p.skipNewlines()
		p.weight++
		left = &logical{false, left, p.and()}
	}
	return left
}

// and reads expressions that are joined by "&&".
func (p *parser) and() expr {
	left := p.membership()
	for p.accept("&&") {
		p.skipNewlines()
		p.weight++
		left = &logical{true, left, p.membership()}
	}
	return left
}

// membership reads "key in array". The key of several subscripts is in parentheses, and
// read by grouping.
func (p *parser) membership() expr {
	left := p.matching()
	for p.accept("in") {
		p.weight++
		left = &member{[]expr{left}, p.arrayRef()}
	}
	return left
}

// matching reads "~" and "!~", which group from the left.
func (p *parser) matching() expr {
	left := p.comparison()
	for p.kind() == "~" || p.kind() == "!~" {
		not := p.next().kind == "!~"
		p.weight++
		left = &matches{not, left, p.comparison()}
	}
	return left
}

// comparison reads comparisons, and "command | getline", whose command may be a
// concatenation: "echo " x | getline reads from ("echo " x), as in gawk.
func (p *parser) comparison() expr {
	left := p.concatenation()
	for {
		switch op := p.kind(); {
		case op == "|" && p.peek().kind == "getline":
			line := p.next().line
			p.next()
			p.weight++
			left = &getline{'|', left, p.optionalLvalue(), line}
		case op == "|&":
			fail(p.line(), "coprocesses (|&) are not possible here")
		case op == ">" && p.noGT:
			return left
		case op == "<" || op == "<=" || op == "==" || op == "!=" || op == ">" || op == ">=":
			p.next()
			p.weight++
			left = &compare{op, left, p.concatenation()}
		default:
			return left
		}
	}
}

// concatenation reads operands without an operator between them, which make a string.
func (p *parser) concatenation() expr {
	left := p.additive()
	if !p.startsOperand() {
		return left
	}
	parts := []expr{left}
	for p.startsOperand() {
		parts = append(parts, p.additive())
	}
	p.weight++
	return &concat{parts}
}

// startsOperand reports whether an operand follows that is concatenated. After an
// operand, additive has already read "-" and "+" as operators, so that these come here
// only after what cannot be their left side. "in" is an operator, never a name.
func (p *parser) startsOperand() bool {
	switch p.kind() {
	case tokenNumber, tokenString, tokenRegexp, tokenName, tokenCall, tokenBuiltin, "$", "!", "(", "-", "+", "++", "--":
		return true
	case "in":
		return false
	}
	return false
}

// additive reads sums and differences.
func (p *parser) additive() expr {
	left := p.multiplicative()
	for p.kind() == "+" || p.kind() == "-" {
		t := p.next()
		p.weight++
		left = &arithmetic{t.kind[0], left, p.multiplicative(), t.line}
	}
	return left
}

// multiplicative reads products, quotients and remainders.
func (p *parser) multiplicative() expr {
	left := p.unary()
	for p.kind() == "*" || p.kind() == "/" || p.kind() == "%" {
		t := p.next()
		p.weight++
		left = &arithmetic{t.kind[0], left, p.unary(), t.line}
	}
	return left
}

// unary reads prefix operators. "!" binds tighter than a comparison: ! x ~ y is (! x) ~
// y.
func (p *parser) unary() expr {
	switch p.kind() {
	case "!", "-", "+":
		defer p.deeper()()
		op := p.next().kind[0]
		p.weight++
		return &unary{op, p.unary()}
	}
	return p.power()
}

// power reads "^", which associates from the right, and binds tighter than a minus
// before it: 2^3^2 is 512, -2^2 is -4, and 2^-1 is 0.5.
func (p *parser) power() expr {
	left := p.postfix()
	if p.kind() != "^" {
		return left
	}
	defer p.deeper()()
	line := p.next().line
	p.weight++
	var right expr
	if k := p.kind(); k == "-" || k == "+" || k == "!" {
		p.next()
		right = &unary{k[0], p.power()}
	} else {
		right = p.power()
	}
	return &arithmetic{'^', left, right, line}
}

// postfix reads an operand with "++" or "--" after it, which only a variable, a field
// or an element can have.
func (p *parser) postfix() expr {
	e := p.primary()
	switch e.(type) {
	case *global, *local, *field, *index:
		switch p.kind() {
		case "++":
			p.next()
			return &increment{e, 1, false}
		case "--":
			p.next()
			return &increment{e, -1, false}
		}
	}
	return e
}

// primary reads an operand. "$" takes the next operand and no more: $i++ is ($i)++, and
// $NF-1 is ($NF)-1. getline takes an optional variable, and a file without operators:
//
//	getline            $0, NF, NR, FNR    from the main input
//	getline x          x, NR, FNR
//	getline < f        $0, NF             from a file
//	getline x < f      x
//	cmd | getline      $0, NF, NR         from a command
//	cmd | getline x    x, NR
//
// "getline < a b" is (getline < a) b.
func (p *parser) primary() expr {
	defer p.deeper()()
	p.weight++
	t := p.tokens[p.at]
	switch t.kind {
	case tokenNumber:
		p.next()
		return &number{num(t.number)}
	case tokenString:
		p.next()
		return &text{str(t.text)}
	case tokenRegexp:
		p.next()
		return &match{mustRegex(t.text, t.line)}
	case "$":
		p.next()
		switch p.kind() {
		case "-", "+", "!":
			return &field{p.unary()}
		}
		return &field{p.primary()}
	case "++", "--":
		p.next()
		to := p.primary()
		p.wantLvalue(to)
		return &increment{to, map[kind]float64{"++": 1, "--": -1}[t.kind], true}
	case "(":
		return p.grouping()
	case "getline":
		p.next()
		g := &getline{line: t.line, to: p.optionalLvalue()}
		if p.accept("<") {
			g.form, g.source = '<', p.primary()
		}
		return g
	case tokenName:
		return p.lvalue()
	case tokenCall:
		return p.call()
	case tokenBuiltin:
		return p.builtin()
	case "-", "+", "!":
		return p.unary()
	}
	p.unexpected("")
	return nil
}

// mustRegex compiles an expression.
// The error names at most 100 bytes of it.
func mustRegex(source string, line int) *regex {
	re, err := newRegex(source, false)
	if err != nil {
		fail(line, "regular expression /%.100s/: %v", source, err)
	}
	return re
}

// grouping reads parentheses: an expression, or the subscripts of "(i, j) in a".
func (p *parser) grouping() expr {
	p.next()
	var list []expr
	p.open(func() expr { list = p.list(")"); return nil })
	p.expect(")")
	switch {
	case len(list) == 1:
		return &group{list[0]}
	case len(list) > 1 && p.accept("in"):
		return &member{list, p.arrayRef()}
	}
	p.unexpected("a list in parentheses needs \"in\"")
	return nil
}

// optionalLvalue reads what getline assigns to.
func (p *parser) optionalLvalue() expr {
	switch p.kind() {
	case tokenName:
		return p.lvalue()
	case "$":
		return p.primary()
	}
	return nil
}

// lvalue reads a variable or an element of an array.
func (p *parser) lvalue() expr {
	e := p.variable(p.expect(tokenName))
	for p.kind() == "[" {
		line := p.next().line
		var subs []expr
		p.open(func() expr { subs = p.list("]"); return nil })
		if len(subs) == 0 {
			p.unexpected("")
		}
		p.expect("]")
		e = &index{e, subs, line}
	}
	return e
}

// arrayRef reads the name of an array, or an element that is an array itself.
// That it is an array is checked when it is used: a parameter may be either.
func (p *parser) arrayRef() expr { return p.lvalue() }

// variable returns what a name stands for: a parameter of the function that is being
// read, or else a global variable, which needs no declaration.
func (p *parser) variable(t token) expr {
	if p.fn != nil {
		if i, ok := p.fn.locals[t.text]; ok {
			return &local{i, t.text}
		}
	}
	possible(t.text, t.line)
	i, ok := p.program.globals[t.text]
	if !ok {
		i = len(p.program.globals)
		p.program.globals[t.text] = i
	}
	return &global{i, t.text}
}

// possible fails for a variable of gawk that would have no effect.
func possible(name string, line int) {
	if name == "FIELDWIDTHS" || name == "ERRNO" {
		fail(line, "%s is not possible here", name)
	}
}

// call reads a call of a function of the program, whose "(" follows its name at once:
// with a blank between them, it would be a concatenation of a variable.
func (p *parser) call() expr {
	t := p.next()
	p.next()
	c := &call{function: p.functionNamed(t.text, t.line), line: t.line}
	p.open(func() expr { c.args = p.list(")"); return nil })
	p.expect(")")
	return c
}

// builtin reads a call of a function of the language. length needs no parentheses, and
// a third argument of sub may be in its own ones.
func (p *parser) builtin() expr {
	t := p.next()
	b := &builtin{name: t.text, line: t.line}
	if p.accept("(") {
		p.open(func() expr { b.args = p.list(")"); return nil })
		p.expect(")")
	} else if t.text != "length" {
		p.unexpected("expected (")
	}
	limits := builtins[t.text]
	if len(b.args) < limits.least || len(b.args) > limits.most {
		fail(t.line, "%d is a wrong number of arguments of %s", len(b.args), t.text)
	}
	if at := limits.array; at >= 0 && at < len(b.args) {
		switch b.args[at].(type) {
		case *global, *local, *index:
		default:
			fail(t.line, "argument %d of %s is not an array", at+1, t.text)
		}
	}
	if (t.text == "sub" || t.text == "gsub") && len(b.args) == 3 {
		switch e := b.args[2].(type) {
		case *group:
			b.args[2] = e.of
		}
	}
	return b
}
