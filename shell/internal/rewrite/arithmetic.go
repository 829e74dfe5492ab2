package rewrite

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
)

// NumberPath is the directory of numbers. The interpreter takes a value in an expression for 0 if it is an expression itself, and a
// variable with the value PPID for that parameter of the host. It takes 08 for 0, and goes on
// after a division by zero and the like. So rewrite makes a read of each value, of each divisor that
// may be zero, and of each exponent and index that may be negative, a command substitution that
// prints the number ([Number]). The letter after the path
// is a [NumberUse], here "e":
//
//	$((x + 1))      $((${x:0:0}$(<'/dev/guarded-number/ex') + 1))
//	$((2 * $x))     $((2 * ${x:0:0}$(<'/dev/guarded-number/e=x')))
//	$(($(cmd)))     $(($('wk number' '(' "$(cmd)")$(<'/dev/guarded-number/e')))
//	$((2 * $1))     $((2 * ${1:0:0}$('wk number' '=' "$1")$(<'/dev/guarded-number/e')))
//	$((2 / x))      $((2 / ${x:0:0}$(<'/dev/guarded-number/e/x')))
//	$((2 / (x-y)))  $((2 / $('wk number' '/' "$(((x-y)))")$(<'/dev/guarded-number/e')))
//	$((2 ** x))     $((2 ** ${x:0:0}$(<'/dev/guarded-number/e^x')))
//	$((2 / --x))    $((2 / (BASH_NUMBER = (--x), $(<'/dev/guarded-number/e/(BASH_NUMBER'))))
//	${x:i:-1}       ${x:(BASH_OFFSET = (i)):(BASH_NUMBER = (-1), $(<'/dev/guarded-number/e:x'))}
//	${a[i]}         ${a[$(<'/dev/guarded-number/e[a/i')]}
//	${a[i-1]}       ${a[$('wk number' '[a' "$((i-1))")$(<'/dev/guarded-number/e')]}
//
// After "(" there is any expression. After "=" there is one that stands beside an operator: as
// its text takes part in the expression around it, an expression without parentheses is an
// error there. After "/" there is a divisor, after "^" an exponent, and after "[" an array and what
// may be an index of it, or a key. After ":" there is the variable of a slice. The file without a
// name is empty, and cannot be read if the command has failed. The empty slice is an error where
// set -u asks for one.
const NumberPath = "/dev/guarded-number/"

// NumberUse says where a value stands, and so what follows if it is no number.
type NumberUse string

const (
	InExpansion NumberUse = "e" // $((x)), ${y:x}: the script ends with the status 1, as with set -u
	InCommand   NumberUse = "c" // ((x)), let, a glob: a message, and the command fails
	InTest      NumberUse = "t" // [[ x -eq 1 ]]: a message, and the test is false, see numberTest
)

// numbers makes command substitutions of the values that an expression reads. alone says that
// no operator stands beside it.
//
// The index of an array is left as it is, since it may be a key; see index. So is what is assigned to.
func (r *Rewriter) numbers(expr syntax.ArithmExpr, use NumberUse, alone bool) {
	switch expr := expr.(type) {
	case *syntax.ParenArithm:
		r.numbers(expr.X, use, true)
	case *syntax.UnaryArithm:
		if expr.Op != syntax.Inc && expr.Op != syntax.Dec {
			r.numbers(expr.X, use, false)
		}
	case *syntax.BinaryArithm:
		if !assigns(expr.Op) {
			r.numbers(expr.X, use, expr.Op == syntax.Comma)
		}
		mark := ""
		switch expr.Op {
		case syntax.Quo, syntax.Rem, syntax.QuoAssgn, syntax.RemAssgn:
			mark = "/"
		case syntax.Pow:
			mark = "^"
		}
		if mark != "" {
			if changes(expr.Y) {
				r.numbers(expr.Y, use, true)
				expr.Y = computedOnce(expr.Y, use, mark)
				return
			}
			if word := r.checked(expr.Y, use, mark); word != nil {
				expr.Y = word
				return
			}
		}
		r.numbers(expr.Y, use, expr.Op == syntax.Comma || expr.Op == syntax.Assgn)
	case *syntax.Word:
		r.makeNumber(expr, use, alone)
	}
}

// Variables that hold what an expression makes that also assigns to variables, which a command
// substitution cannot, and the offset and the length of a slice. They are none of the session.
const (
	NumberName = "BASH_NUMBER"
	OffsetName = "BASH_OFFSET"
)

// computedOnce returns what replaces a divisor, an exponent or an index that assigns to variables.
func computedOnce(expr syntax.ArithmExpr, use NumberUse, mark string) *syntax.ParenArithm {
	return thenRead(expr, NumberPath+string(use)+mark+"("+NumberName)
}

// thenRead returns (BASH_NUMBER = (expr), $(<'name')).
func thenRead(expr syntax.ArithmExpr, name string) *syntax.ParenArithm {
	number := &syntax.Word{Parts: []syntax.WordPart{readFrom(name)}}
	return &syntax.ParenArithm{X: &syntax.BinaryArithm{Op: syntax.Comma, X: assignTo(NumberName, expr), Y: number}}
}

// assignTo returns name = (expr).
func assignTo(name string, expr syntax.ArithmExpr) *syntax.BinaryArithm {
	return &syntax.BinaryArithm{Op: syntax.Assgn, X: literal(name), Y: &syntax.ParenArithm{X: expr}}
}

// slice rewrites a slice of a variable. A length may be negative, and then leads to an end that must
// not be before the offset. Of elements, lists and positional parameters, nothing is checked.
func (r *Rewriter) slice(p *syntax.ParamExp) {
	r.numbers(p.Slice.Offset, InExpansion, true)
	r.numbers(p.Slice.Length, InExpansion, true)
	if p.Slice.Length == nil || p.Index != nil || !syntax.ValidName(p.Param.Value) {
		return
	}
	if word, ok := p.Slice.Length.(*syntax.Word); ok && looksLikeNumber().MatchString(word.Lit()) {
		return
	}
	if p.Slice.Offset == nil {
		p.Slice.Offset = literal("0")
	}
	p.Slice.Offset = &syntax.ParenArithm{X: assignTo(OffsetName, p.Slice.Offset)}
	p.Slice.Length = thenRead(p.Slice.Length, NumberPath+string(InExpansion)+":"+p.Param.Value)
}

// sliceLength returns the length of a slice of a variable.
func sliceLength(env expand.Environ, name string) (string, error) {
	vr := env.Get(name)
	if _, target := vr.Resolve(env); target.Declared() {
		vr = target
	}
	offset, _ := strconv.Atoi(env.Get(OffsetName).Str)
	length := env.Get(NumberName).Str
	size := utf8.RuneCountInString(vr.String())
	if offset < 0 {
		offset += size
	}
	if n, _ := strconv.Atoi(length); n < 0 && vr.IsSet() && offset >= 0 && offset <= size && size+n < offset {
		return "", fmt.Errorf("bash: %s: substring expression < 0", length)
	}
	return length, nil
}

// checked returns what replaces a divisor or an exponent, which mark says: nil for one that stays,
// as it can be no error.
func (r *Rewriter) checked(expr syntax.ArithmExpr, use NumberUse, mark string) *syntax.Word {
	word, ok := expr.(*syntax.Word)
	if ok && word.Lit() != "" {
		if n, err := integerValue(word.Lit()); err == nil && (n != 0 || mark == "^") {
			return nil
		}
		if syntax.ValidName(word.Lit()) || integer().MatchString(word.Lit()) {
			return &syntax.Word{Parts: append(checkedName(word.Lit()), readFrom(NumberPath+string(use)+mark+word.Lit()))}
		}
	}
	if ok { // $x, which must not be an expression without parentheses
		return &syntax.Word{Parts: r.printedNumber(use, mark, &syntax.ArithmExp{X: &syntax.BinaryArithm{Op: syntax.Mul, X: literal("1"), Y: expr}})}
	}
	return &syntax.Word{Parts: r.printedNumber(use, mark, &syntax.ArithmExp{X: expr})}
}

// changes reports whether an expression assigns to variables of this shell.
func changes(expr syntax.ArithmExpr) bool {
	found := false
	syntax.Walk(expr, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.UnaryArithm:
			found = found || node.Op == syntax.Inc || node.Op == syntax.Dec
		case *syntax.BinaryArithm:
			found = found || assigns(node.Op)
		case *syntax.CmdSubst:
			return false
		}
		return true
	})
	return found
}

// index returns what replaces the index of an expansion of an array: itself if it can be no error.
func (r *Rewriter) index(name string, expr syntax.ArithmExpr) syntax.ArithmExpr {
	if expr == nil || !syntax.ValidName(name) || r.maps[name] || r.refs[name] {
		return expr
	}
	mark := "[" + name
	word, ok := expr.(*syntax.Word)
	switch {
	case changes(expr):
		return computedOnce(expr, InExpansion, mark+"/")
	case !ok && mayFail(expr):
		return &syntax.Word{Parts: r.printedNumber(InExpansion, mark, &syntax.ArithmExp{X: expr})}
	case !ok:
		return expr
	case syntax.ValidName(word.Lit()):
		return &syntax.Word{Parts: []syntax.WordPart{readFrom(NumberPath + string(InExpansion) + mark + "/" + word.Lit())}}
	case !isDynamic(word.Parts) && !slices.ContainsFunc(word.Parts, isArithmetic):
		return expr
	}
	parts := unquoted(word.Parts)
	if p, ok := parts[0].(*syntax.ParamExp); ok && len(parts) == 1 && isSimple(p) && syntax.ValidName(p.Param.Value) {
		return &syntax.Word{Parts: []syntax.WordPart{emptySlice(p.Param.Value), readFrom(NumberPath + string(InExpansion) + mark + "/(" + p.Param.Value)}}
	}
	return &syntax.Word{Parts: r.printedNumber(InExpansion, mark, parts...)}
}

// mayFail reports whether an index has an operator that makes it negative or is an error.
func mayFail(expr syntax.ArithmExpr) bool {
	found := false
	syntax.Walk(expr, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.UnaryArithm:
			found = found || node.Op == syntax.Minus || node.Op == syntax.BitNegation
		case *syntax.BinaryArithm:
			found = found || node.Op == syntax.Sub || node.Op == syntax.Quo || node.Op == syntax.Rem || node.Op == syntax.Pow
		}
		return true
	})
	return found
}

// isArithmetic reports whether part is $((...)).
func isArithmetic(part syntax.WordPart) bool {
	_, ok := part.(*syntax.ArithmExp)
	return ok
}

// makeNumber makes a command substitution of w, unless it is a number already.
func (r *Rewriter) makeNumber(w *syntax.Word, use NumberUse, alone bool) {
	lit := w.Lit()
	if _, err := integerValue(lit); syntax.ValidName(lit) || looksLikeNumber().MatchString(lit) && (err != nil || len(lit) > 18) {
		w.Parts = append(checkedName(lit), readFrom(NumberPath+string(use)+lit))
		return
	}
	if !isDynamic(w.Parts) || changes(w) {
		return
	}
	mark := "="
	if alone {
		mark = "("
	}
	text := unquoted(w.Parts)
	w.Parts = nil
	for _, part := range text {
		if p, ok := part.(*syntax.ParamExp); ok && isSimple(p) && !manyDigits().MatchString(p.Param.Value) {
			w.Parts = append(w.Parts, emptySlice(p.Param.Value))
		}
	}
	if p, ok := text[0].(*syntax.ParamExp); ok && len(text) == 1 && isSimple(p) && syntax.ValidName(p.Param.Value) {
		w.Parts = append(w.Parts, readFrom(NumberPath+string(use)+mark+p.Param.Value))
		return
	}
	w.Parts = append(w.Parts, r.printedNumber(use, mark, text...)...)
}

// checkedName returns ${x:0:0} for a name x, nothing for a number.
func checkedName(text string) []syntax.WordPart {
	if !syntax.ValidName(text) {
		return nil
	}
	return []syntax.WordPart{emptySlice(text)}
}

// emptySlice returns ${name:0:0}, which is an error where set -u asks for one.
func emptySlice(name string) *syntax.ParamExp {
	return &syntax.ParamExp{Param: &syntax.Lit{Value: name}, Slice: &syntax.Slice{Offset: literal("0"), Length: literal("0")}}
}

// printedNumber returns a call of the command number, and the file that fails if it does.
func (r *Rewriter) printedNumber(use NumberUse, mark string, text ...syntax.WordPart) []syntax.WordPart {
	arg := &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: text}}}
	guardWord(arg, false, false)
	call := r.internalCall(NumberCommand, singleQuoted(mark), arg)
	return []syntax.WordPart{&syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: call}}}, readFrom(NumberPath + string(use))}
}

// readFrom returns the substitution $(<'name').
func readFrom(name string) *syntax.CmdSubst {
	return &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Redirs: []*syntax.Redirect{{Op: syntax.RdrIn, Word: singleQuoted(name)}}}}}
}

// isDynamic reports whether parts have an expansion whose text is not known to be a number.
func isDynamic(parts []syntax.WordPart) bool {
	found := false
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.CmdSubst:
			found = true
		case *syntax.ParamExp:
			found = found || !part.Length && part.Param != nil && !strings.Contains("?#!$", part.Param.Value)
		case *syntax.DblQuoted:
			found = found || isDynamic(part.Parts)
		case *syntax.Lit, *syntax.ArithmExp:
		default:
			return false
		}
	}
	return found
}

// unquoted returns parts as they stand in double quotes, which they may have themselves.
func unquoted(parts []syntax.WordPart) []syntax.WordPart {
	var plain []syntax.WordPart
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.DblQuoted:
			plain = append(plain, unquoted(part.Parts)...)
		case *syntax.SglQuoted:
			plain = append(plain, &syntax.Lit{Value: inQuotes.Replace(unquotedText(part))})
		case *syntax.ParamExp:
			element := *part // a[1] is ${a[1]} there
			element.Short = part.Short && part.Index == nil
			plain = append(plain, &element)
		default:
			plain = append(plain, part)
		}
	}
	for i, part := range plain {
		if element, ok := part.(*syntax.ParamExp); ok && i+1 < len(plain) {
			element.Short = false // "$x"1 is ${x}1 there
		}
	}
	return plain
}

// inQuotes puts a backslash before what is special in double quotes.
var inQuotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")

// isSimple reports whether p is $x or ${x}.
func isSimple(p *syntax.ParamExp) bool {
	return p.Index == nil && p.Exp == nil && p.Repl == nil && p.Slice == nil && !p.Excl && !p.Length
}

// assignElement returns what replaces an expression that assigns to an element of an array or to a
// reference, which the interpreter cannot: nil for another expression. The last command has its status.
//
//	((m[$k]++))     { m[$k]=$((m[$k] + 1)); ((m[$k] - 1)); }
//	((m[$k]+=2))    { m[$k]=$((m[$k] + (2))); ((m[$k])); }
func (r *Rewriter) assignElement(expr syntax.ArithmExpr) *syntax.Block {
	var target, value, status syntax.ArithmExpr
	one := literal("1")
	switch expr := expr.(type) {
	case *syntax.UnaryArithm:
		op, back := syntax.Add, syntax.Sub
		if expr.Op == syntax.Dec {
			op, back = back, op
		} else if expr.Op != syntax.Inc {
			return nil
		}
		target = expr.X
		value, status = &syntax.BinaryArithm{Op: op, X: target, Y: one}, target
		if expr.Post {
			status = &syntax.BinaryArithm{Op: back, X: target, Y: one}
		}
	case *syntax.BinaryArithm:
		if !assigns(expr.Op) {
			return nil
		}
		target, value, status = expr.X, &syntax.ParenArithm{X: expr.Y}, expr.X
		if op := elementOps[expr.Op]; op != 0 {
			value = &syntax.BinaryArithm{Op: op, X: target, Y: value}
		}
	}
	word, ok := target.(*syntax.Word)
	if !ok || len(word.Parts) != 1 {
		return nil
	}
	element, ok := word.Parts[0].(*syntax.ParamExp)
	if name := word.Lit(); r.refs[name] {
		element = &syntax.ParamExp{Param: &syntax.Lit{Value: name}}
	} else if !ok || element.Index == nil || element.Dollar.IsValid() {
		return nil
	}
	assign := &syntax.Assign{Name: element.Param, Index: element.Index, Value: &syntax.Word{Parts: []syntax.WordPart{&syntax.ArithmExp{X: value}}}}
	block := &syntax.Block{Stmts: []*syntax.Stmt{{Cmd: &syntax.CallExpr{Assigns: []*syntax.Assign{assign}}}, {Cmd: &syntax.ArithmCmd{X: status}}}}
	// Each use of the element is rewritten by itself.
	block, _ = parseCommand(printed(block)).(*syntax.Block)
	return block
}

// assigns reports whether an operator assigns to its left side.
func assigns(op syntax.BinAritOperator) bool {
	return op == syntax.Assgn || elementOps[op] != 0
}

// elementOps are the operators of assignments that compute.
var elementOps = map[syntax.BinAritOperator]syntax.BinAritOperator{
	syntax.AddAssgn: syntax.Add, syntax.SubAssgn: syntax.Sub, syntax.MulAssgn: syntax.Mul, syntax.QuoAssgn: syntax.Quo, syntax.RemAssgn: syntax.Rem,
	syntax.AndAssgn: syntax.And, syntax.OrAssgn: syntax.Or, syntax.XorAssgn: syntax.Xor, syntax.ShlAssgn: syntax.Shl, syntax.ShrAssgn: syntax.Shr,
}

// printedExpression returns the source of an expression.
func printedExpression(expr syntax.ArithmExpr) string {
	text := printed(&syntax.ArithmExp{X: expr})
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(text, "$(("), "))"), "\\\n", "")
}

// integer matches what the interpreter reads as a number.
var integer = lazyregexp.New(`^[-+]?([0-9]+|0[xX][0-9a-fA-F]*|[0-9]+#[0-9a-zA-Z@_]*)$`)

// looksLikeNumber matches what a script may mean as a number, such as 1e3.
var looksLikeNumber = lazyregexp.New(`^[0-9][0-9a-zA-Z_#@]*$`)

// Bounds of what a value in an expression may lead to.
const (
	maxReferences  = 100       // variables and expressions that lead to each other
	maxEvaluations = 100_000   // of variables and expressions for one value
	maxExpression  = 256 << 10 // bytes of an expression
)

// Number returns what the command [NumberCommand] prints for its arguments: the number that text
// stands for. The marks are those of [NumberPath]. The error says what text is.
func Number(env expand.Environ, mark, text string) (string, error) {
	return evaluate(env, text, text, mark)
}

// NamedNumber is Number for the name of a file below [NumberPath], without its use.
func NamedNumber(env expand.Environ, name string) (string, error) {
	if name, ok := strings.CutPrefix(name, ":"); ok {
		return sliceLength(env, name)
	}
	mark, name, isVariable := splitNumber(name)
	text := name
	if isVariable {
		text = env.Get(Renamed(name)).String()
	}
	if name == NumberName {
		name = text
	}
	return evaluate(env, name, text, mark)
}

// splitNumber returns the mark in the name of a file, what it is for, and whether that is a variable
// whose value is an expression.
func splitNumber(name string) (mark, text string, isVariable bool) {
	mark, text = "(", name
	if array, index, found := strings.Cut(name, "/"); found && strings.HasPrefix(name, "[") {
		mark, text = array, index
	} else if strings.ContainsAny(name[:1], "/^=") {
		mark, text = name[:1], name[1:]
	}
	text, isVariable = strings.CutPrefix(text, "(")
	return mark, text, isVariable || mark == "="
}

// evaluate returns the number that text stands for in an expression: a number, the name of a
// variable, or an expression of such. mark says what it is for. name is what the error says.
func evaluate(env expand.Environ, name, text, mark string) (string, error) {
	array, isIndex := strings.CutPrefix(mark, "[")
	vr := expand.Variable{}
	if isIndex {
		if vr = env.Get(array); vr.Kind == expand.Associative {
			return text, nil
		}
	}
	n, err := (&evaluation{Environ: env}).number(text, mark != "=")
	switch negative := strings.HasPrefix(n, "-"); {
	case err != nil:
	case mark == "/" && n == "0":
		err = errors.New("division by 0")
	case mark == "^" && negative:
		err = errors.New("exponent less than 0")
	case negative && vr.Kind == expand.Indexed:
		elements := len(vr.List)
		if len(vr.Indexes) > 0 {
			elements = vr.Indexes[len(vr.Indexes)-1] + 1
		}
		if i, _ := strconv.Atoi(n); i < -elements {
			err = fmt.Errorf("bad array subscript of %s", array)
		}
	}
	if err != nil {
		return "", fmt.Errorf("bash: %.100s: %w", name, err)
	}
	return n, nil
}

// evaluation finds the number that a value in an expression stands for. It is the environment of
// the expressions in values, in which each variable is a number. It is for one value.
type evaluation struct {
	expand.Environ       // the variables as they are
	depth, done    int   // see maxReferences and maxEvaluations
	err            error // the first one of Get
}

// number is evaluate for a part of what is evaluated.
func (e *evaluation) number(text string, alone bool) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "0", nil
	}
	if len(text) < 100 && integer().MatchString(text) {
		n, err := integerValue(text)
		return strconv.FormatInt(n, 10), err
	}
	e.depth++
	e.done++
	defer func() { e.depth-- }()
	switch {
	case e.depth > maxReferences, e.done > maxEvaluations:
		return "", errors.New("expression recursion level exceeded")
	case len(text) > maxExpression:
		return "", errors.New("expression too long")
	case syntax.ValidName(text):
		vr := e.Environ.Get(Renamed(text))
		if vr.Kind == expand.NameRef {
			_, vr = vr.Resolve(e.Environ)
		}
		return e.number(vr.String(), true)
	}
	expr, err := parseExpression(text)
	if err != nil {
		return "", err
	}
	if _, ok := expr.(*syntax.ParenArithm); !ok && !alone {
		return "", errors.New("an expression in a value needs parentheses beside an operator")
	}
	n, err := expand.Arithm(&expand.Config{Env: e}, expr)
	return strconv.Itoa(n), cmp.Or(e.err, err)
}

// Get implements [expand.Environ]. Package expand asks for IFS by itself.
func (e *evaluation) Get(name string) expand.Variable {
	if name == "IFS" {
		return e.Environ.Get(name)
	}
	if e.err != nil {
		return expand.Variable{}
	}
	n, err := e.number(name, true)
	e.err = err
	return expand.Variable{Set: true, Kind: expand.String, Str: n}
}

// errExpression says that a text is no expression that a value may have.
var errExpression = errors.New("syntax error in expression")

// parseExpression returns the expression in a value. It is an error if it is none or has anything
// else in it than numbers, names and operators that assign nothing: values are data, and run no
// commands.
func parseExpression(text string) (syntax.ArithmExpr, error) {
	cmd, ok := parseCommand("((" + text + "\n))").(*syntax.ArithmCmd)
	if !ok || cmd.X == nil {
		return nil, errExpression
	}
	var err error
	syntax.Walk(cmd.X, func(node syntax.Node) bool {
		ok := true
		switch node := node.(type) {
		case nil, *syntax.ParenArithm, *syntax.Lit:
		case *syntax.UnaryArithm:
			ok = node.Op != syntax.Inc && node.Op != syntax.Dec
		case *syntax.BinaryArithm:
			ok = !assigns(node.Op)
		case *syntax.Word:
			if ok = syntax.ValidName(node.Lit()) || integer().MatchString(node.Lit()); ok && !syntax.ValidName(node.Lit()) {
				_, numberErr := integerValue(node.Lit())
				err = cmp.Or(err, numberErr)
			}
		default:
			ok = false
		}
		if !ok {
			err = errExpression
		}
		return true
	})
	return cmd.X, err
}

// integerValue returns the number that text spells, as bash reads it: it wraps around.
//
//	12, -12     decimal
//	012, 0x12   octal, hexadecimal
//	7#12        in base 7
func integerValue(text string) (int64, error) {
	if !integer().MatchString(text) {
		return 0, errExpression
	}
	digits := strings.TrimLeft(text, "-+")
	base := int64(10)
	if before, after, found := strings.Cut(digits, "#"); found {
		n, err := strconv.ParseInt(before, 10, 8)
		if err != nil || n < 2 || n > 64 || after == "" {
			return 0, fmt.Errorf("%s: invalid arithmetic base", text)
		}
		base, digits = n, after
	} else if len(digits) > 1 && digits[0] == '0' {
		base, digits = 8, digits[1:]
		if digits[0] == 'x' || digits[0] == 'X' {
			base, digits = 16, digits[1:]
		}
	}
	n := int64(0)
	for _, c := range digits {
		digit := int64(strings.IndexRune(allDigits, c))
		if base <= 36 && digit >= 36 {
			digit -= 26
		}
		if digit >= base {
			return 0, fmt.Errorf("%s: value too great for base", text)
		}
		n = n*base + digit
	}
	if text[0] == '-' {
		n = -n
	}
	return n, nil
}

// allDigits are those of base 64. Up to base 36, upper and lower case are the same.
const allDigits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@_"
