package command

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/shell/internal/pattern"
)

// expr prints what an expression is, as POSIX says, with GNU's match, substr, index and
// length. Each operator and operand is an argument; integers have any size. The status is 0,
// 1 if the value is empty or zero, and 2 after an error.
//
//	expr 1 + 2 '*' 3            7
//	expr abc : 'a\(.\)'         b
//	expr abc : 'ab*'            2, how many characters match
//	expr "$x" '|' default       $x, or default if it is empty or 0
func expr(ctx context.Context, p *Process) int {
	args := p.Args[1:]
	if len(args) == 1 && args[0] == "--help" {
		newFlags(p, "EXPRESSION").help()
		return 0
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		p.errorf("missing operand")
		return exitUsage
	}
	e := &expression{ctx: ctx, args: args}
	value, err := e.or(true)
	if err == nil && e.at < len(args) {
		err = fmt.Errorf("syntax error: unexpected argument %s", quoteName(args[e.at]))
	}
	if err != nil {
		p.errorf("%v", err)
		return exitUsage
	}
	if _, err := fmt.Fprintln(p.Stdout, value); err != nil {
		return p.failWrite(err)
	}
	if isNull(value) {
		return 1
	}
	return 0
}

// expression is the expression of expr. Its methods are those of the grammar, the operators that
// bind least first. Where live is false, the value is not used: what is wrong with an operand is no
// error there.
type expression struct {
	ctx   context.Context
	args  []string
	at    int // of the next argument
	depth int
}

// maxNesting bounds the parentheses and functions of expr in each other, which the stack holds.
const maxNesting = 1000

// next takes the next argument if it is one of words.
func (e *expression) next(words ...string) (string, bool) {
	for _, word := range words {
		if e.at < len(e.args) && e.args[e.at] == word {
			e.at++
			return word, true
		}
	}
	return "", false
}

func (e *expression) or(live bool) (string, error) {
	left, err := e.and(live)
	for err == nil {
		if _, ok := e.next("|"); !ok {
			break
		}
		var right string
		if right, err = e.and(live && isNull(left)); isNull(left) {
			if left = right; isNull(left) {
				left = "0"
			}
		}
	}
	return left, err
}

func (e *expression) and(live bool) (string, error) {
	left, err := e.compare(live)
	for err == nil {
		if _, ok := e.next("&"); !ok {
			break
		}
		var right string
		if right, err = e.compare(live && !isNull(left)); isNull(left) || isNull(right) {
			left = "0"
		}
	}
	return left, err
}

func (e *expression) compare(live bool) (string, error) {
	left, err := e.sum(live)
	for err == nil {
		op, ok := e.next("<=", "<", "==", "=", "!=", ">=", ">")
		if !ok {
			break
		}
		var right string
		if right, err = e.sum(live); err != nil {
			break
		}
		sign := strings.Compare(left, right)
		if isInteger(left) && isInteger(right) {
			a, errA := integer(left)
			b, errB := integer(right)
			if err = errors.Join(errA, errB); err != nil {
				break
			}
			sign = a.Cmp(b)
		}
		holds := map[string]bool{"<": sign < 0, "<=": sign <= 0, "=": sign == 0, "==": sign == 0, "!=": sign != 0, ">=": sign >= 0, ">": sign > 0}
		left = "0"
		if holds[op] {
			left = "1"
		}
	}
	return left, err
}

func (e *expression) sum(live bool) (string, error) {
	return e.arithmetic(live, e.product, "+", "-")
}

func (e *expression) product(live bool) (string, error) {
	return e.arithmetic(live, e.match, "*", "/", "%")
}

// arithmetic reads operands and what is between them: ops.
func (e *expression) arithmetic(live bool, operand func(live bool) (string, error), ops ...string) (string, error) {
	left, err := operand(live)
	for err == nil {
		op, ok := e.next(ops...)
		if !ok {
			break
		}
		var right string
		if right, err = operand(live); err == nil && live {
			left, err = calculate(left, op, right)
		}
	}
	return left, err
}

func calculate(left, op, right string) (string, error) {
	a, err := integer(left)
	if err != nil {
		return "", err
	}
	b, err := integer(right)
	if err != nil {
		return "", err
	}
	switch op {
	case "+":
		a.Add(a, b)
	case "-":
		a.Sub(a, b)
	case "*":
		a.Mul(a, b)
	default:
		if b.Sign() == 0 {
			return "", errors.New("division by zero")
		}
		quotient, rest := new(big.Int).QuoRem(a, b, new(big.Int))
		if a = quotient; op == "%" {
			a = rest
		}
	}
	return a.String(), nil
}

func (e *expression) match(live bool) (string, error) {
	left, err := e.function(live)
	for err == nil {
		if _, ok := e.next(":"); !ok {
			break
		}
		var right string
		if right, err = e.function(live); err == nil && live {
			left, err = matchStart(e.ctx, left, right)
		}
	}
	return left, err
}

// matchStart returns what the first group of the basic expression matches where text begins, or how
// many characters the expression matches if it has no group.
func matchStart(ctx context.Context, text, expression string) (string, error) {
	re, err := pattern.Compile([]string{expression}, pattern.Basic, nil)
	if err != nil {
		return "", err
	}
	found := re.AllString(ctx, text, 1)
	matched := len(found) > 0 && found[0][0] == 0
	switch {
	case re.Groups() == 0 && matched:
		return strconv.Itoa(utf8.RuneCountInString(text[:found[0][1]])), nil
	case re.Groups() == 0:
		return "0", nil
	case matched && found[0][2] >= 0:
		return text[found[0][2]:found[0][3]], nil
	default:
		return "", nil
	}
}

func (e *expression) function(live bool) (string, error) {
	if e.depth++; e.depth > maxNesting {
		return "", fmt.Errorf("more than %d levels are not supported", maxNesting)
	}
	defer func() { e.depth-- }()
	if _, ok := e.next("+"); ok {
		return e.word()
	}
	name, ok := e.next("length", "match", "index", "substr")
	if !ok {
		return e.operand(live)
	}
	var operands [3]string
	for i := range map[string]int{"length": 1, "match": 2, "index": 2, "substr": 3}[name] {
		var err error
		if operands[i], err = e.function(live); err != nil {
			return "", err
		}
	}
	text := operands[0]
	switch {
	case name == "length":
		return strconv.Itoa(utf8.RuneCountInString(text)), nil
	case name == "match" && live:
		return matchStart(e.ctx, text, operands[1])
	case name == "index":
		if at := strings.IndexAny(text, operands[1]); at >= 0 {
			return strconv.Itoa(utf8.RuneCountInString(text[:at]) + 1), nil
		}
		return "0", nil
	case name == "substr":
		return substring(text, operands[1], operands[2]), nil
	}
	return "", nil
}

// substring returns length characters of text from position on, the first being 1. It is empty
// unless both are positive integers.
func substring(text, position, length string) string {
	from, errFrom := integer(position)
	n, errN := integer(length)
	if errFrom != nil || errN != nil || from.Sign() <= 0 || n.Sign() <= 0 {
		return ""
	}
	size := big.NewInt(int64(utf8.RuneCountInString(text)))
	if from.Cmp(size) > 0 {
		return ""
	}
	start := int(from.Int64()) - 1
	end := int(size.Int64())
	if n.Cmp(size) < 0 {
		end = min(end, start+int(n.Int64()))
	}
	from8 := 0 // in bytes
	for range start {
		_, width := utf8.DecodeRuneInString(text[from8:])
		from8 += width
	}
	end8 := from8
	for range end - start {
		_, width := utf8.DecodeRuneInString(text[end8:])
		end8 += width
	}
	return text[from8:end8]
}

func (e *expression) operand(live bool) (string, error) {
	if _, ok := e.next("("); ok {
		value, err := e.or(live)
		if err != nil {
			return "", err
		}
		if _, ok := e.next(")"); !ok {
			if e.at < len(e.args) {
				return "", fmt.Errorf("syntax error: expecting ')' instead of %s", quoteName(e.args[e.at]))
			}
			return "", fmt.Errorf("syntax error: expecting ')' after %s", quoteName(e.args[e.at-1]))
		}
		return value, nil
	}
	if _, ok := e.next(")"); ok {
		return "", errors.New("syntax error: unexpected ')'")
	}
	return e.word()
}

// word takes the next argument, whatever it is.
func (e *expression) word() (string, error) {
	if e.at == len(e.args) {
		return "", fmt.Errorf("syntax error: missing argument after %s", quoteName(e.args[e.at-1]))
	}
	e.at++
	return e.args[e.at-1], nil
}

// isNull reports whether a value counts as false: it is empty or zero.
func isNull(value string) bool {
	digits := strings.TrimPrefix(value, "-")
	return value == "" || digits != "" && strings.Trim(digits, "0") == ""
}

// isInteger reports whether a value is digits, with "-" or nothing before them.
func isInteger(value string) bool {
	digits := strings.TrimPrefix(value, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// maxDigits bounds an integer of expr: nothing ends a calculation, whose time grows with the square
// of its operands.
const maxDigits = 10_000

func integer(value string) (*big.Int, error) {
	if !isInteger(value) {
		return nil, errors.New("non-integer argument")
	}
	if len(value) > maxDigits {
		return nil, fmt.Errorf("an integer of more than %d digits is not supported", maxDigits)
	}
	n, _ := new(big.Int).SetString(value, 10)
	return n, nil
}
