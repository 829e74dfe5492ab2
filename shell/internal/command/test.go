package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// test evaluates a condition, for xargs and find -exec; in scripts the shell's own mostly
// comes first. It is "[" too, whose last argument must be "]". The status is 0, 1, or 2
// for a wrong expression.
//
// How an expression is read depends on the number of arguments first (POSIX, "test"),
// so that operands which look like operators do no harm:
//
//	test -f            1 argument: true, as it is not empty
//	test ! x           2: the negation of one argument
//	test -n = -n       3: a comparison, as the second one is a binary operator
//	test ! -f x        3: no binary operator, so a negation
//	test ! a = b       4: the negation of three
//	test a = b -a c    5 or more: a grammar, in which -a binds tighter than -o
//
// Operators about what a workspace does not have, such as -t, -S and -u, are false; -r,
// -w and -O are true of all that exists, and -x of directories and files, which are run by their path.
func test(ctx context.Context, p *Process) int {
	args := p.Args[1:]
	if p.name() == "[" {
		if len(args) == 0 || args[len(args)-1] != "]" {
			p.errorf("missing ']'")
			return 2
		}
		args = args[:len(args)-1]
	}
	t := &condition{ctx: ctx, p: p, args: args}
	holds, err := t.all()
	switch {
	case err != nil:
		p.errorf("%v", err)
		return 2
	case holds:
		return 0
	}
	return 1
}

// condition is the expression of test. The methods that evaluate return an error for an
// expression that is wrong, and no error for a file that does not exist: that is false.
type condition struct {
	ctx   context.Context
	p     *Process
	args  []string // that are left to read
	depth int      // of parentheses and "!", which is bounded
}

// all evaluates all arguments. How many there are decides what they mean, as POSIX says.
// What four arguments or more mean beyond that is the grammar of or, and and term.
func (t *condition) all() (bool, error) {
	switch args := t.args; len(args) {
	case 0:
		return false, nil
	case 1:
		return args[0] != "", nil
	case 2:
		if args[0] == "!" {
			return args[1] == "", nil
		}
		if !isUnary(args[0]) {
			return false, fmt.Errorf("%s: unary operator expected", args[0])
		}
		return t.unary(args[0], args[1])
	case 3:
		switch {
		case isBinary(args[1]):
			return t.binary(args[0], args[1], args[2])
		case args[1] == "-a":
			return args[0] != "" && args[2] != "", nil
		case args[1] == "-o":
			return args[0] != "" || args[2] != "", nil
		case args[0] == "!":
			return t.negated(args[1:])
		case args[0] == "(" && args[2] == ")":
			return args[1] != "", nil
		}
		return false, fmt.Errorf("%s: binary operator expected", args[1])
	case 4:
		switch {
		case args[0] == "!":
			return t.negated(args[1:])
		case args[0] == "(" && args[3] == ")":
			return (&condition{ctx: t.ctx, p: t.p, args: args[1:3]}).all()
		}
	}
	holds, err := t.or()
	if err == nil && len(t.args) > 0 {
		err = errors.New("too many arguments")
	}
	return holds, err
}

// negated evaluates fewer arguments as an expression of their own.
func (t *condition) negated(args []string) (bool, error) {
	holds, err := (&condition{ctx: t.ctx, p: t.p, args: args}).all()
	return !holds, err
}

// or evaluates terms with -o between them. All are evaluated, so that an error in any
// of them is found. It consumes t.args up to what does not fit; the caller looks at the rest.
func (t *condition) or() (bool, error) {
	holds, err := t.and()
	for err == nil && len(t.args) > 0 && t.args[0] == "-o" {
		t.args = t.args[1:]
		var other bool
		other, err = t.and()
		holds = holds || other
	}
	return holds, err
}

// and evaluates terms that are joined by -a, which binds tighter than -o. All terms are
// evaluated, as in GNU's test.
func (t *condition) and() (bool, error) {
	holds, err := t.term()
	for err == nil && len(t.args) > 0 && t.args[0] == "-a" {
		t.args = t.args[1:]
		var other bool
		other, err = t.term()
		holds = holds && other
	}
	return holds, err
}

// term evaluates one operand of -a and -o. A binary operator in second place comes
// before everything else, as with three arguments.
//
//	! EXPR           the negation of one term
//	( EXPR )         terms with -a and -o
//	-f NAME          an operator with one operand
//	A = B            an operator with two
//	TEXT             true if it is not empty
func (t *condition) term() (bool, error) {
	// The bound is for the stack: "(" and "!" nest.
	if t.depth++; t.depth > 1000 {
		return false, errors.New("too many arguments")
	}
	defer func() { t.depth-- }()
	args := t.args
	switch {
	case len(args) == 0:
		return false, errors.New("argument expected")
	case len(args) >= 3 && isBinary(args[1]):
		t.args = args[3:]
		return t.binary(args[0], args[1], args[2])
	case args[0] == "!":
		t.args = args[1:]
		holds, err := t.term()
		return !holds, err
	case args[0] == "(":
		t.args = args[1:]
		holds, err := t.or()
		if err == nil && (len(t.args) == 0 || t.args[0] != ")") {
			err = errors.New("`)' expected")
		}
		if err == nil {
			t.args = t.args[1:]
		}
		return holds, err
	case len(args) >= 2 && isUnary(args[0]):
		t.args = args[2:]
		return t.unary(args[0], args[1])
	}
	t.args = args[1:]
	return args[0] != "", nil
}

// isUnary reports whether op is an operator with one operand. "-o" is not: it is the
// operator that joins two conditions. Operators that are always false here are among them, so
// that they are no errors.
func isUnary(op string) bool {
	return len(op) == 2 && op[0] == '-' && strings.Contains("bcdefghknoprstuvwxzGLNOS", op[1:]) && op != "-o"
}

// isBinary reports whether op is an operator between two operands. -a and -o are not: they
// join conditions.
func isBinary(op string) bool {
	return slices.Contains([]string{"=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"}, op)
}

// unary evaluates an operator with one operand. What a workspace does not have, such as
// sockets and other owners, is false for every file; each file that exists can be read
// and belongs to the caller.
func (t *condition) unary(op, arg string) (bool, error) {
	switch op {
	case "-n":
		return arg != "", nil
	case "-z":
		return arg == "", nil
	case "-v":
		return slices.ContainsFunc(t.p.Environ(), func(v string) bool { return strings.HasPrefix(v, arg+"=") }), nil
	case "-t":
		if _, err := strconv.Atoi(arg); err != nil {
			return false, fmt.Errorf("%s: integer expression expected", arg)
		}
		return false, nil
	case "-L", "-h":
		info, err := t.p.Lstat(t.ctx, arg)
		return err == nil && info.Type == "symlink", nil
	}
	if t.p.isProgram(arg) {
		return strings.Contains("-e-f-r-s-x-O-G", op), nil
	}
	info, err := t.p.Stat(t.ctx, arg)
	if err != nil {
		return false, nil
	}
	switch op {
	case "-e", "-r", "-w", "-O", "-G":
		return true, nil
	case "-f":
		return info.Type == "file", nil
	case "-d":
		return info.IsDir(), nil
	case "-x":
		return info.IsDir() || info.Type == "file", nil
	case "-s":
		return info.IsDir() || info.Size > 0, nil
	case "-c":
		return info.Type == "other", nil
	}
	return false, nil
}

// binary evaluates an operator between two operands. A file that exists is newer than
// one that does not. -ef compares the workspaces and the paths in them, after symlinks. "<" and
// ">" compare bytes. Numbers may have blanks around them, and more than 64 bits are an error.
func (t *condition) binary(a, op, b string) (bool, error) {
	switch op {
	case "=", "==":
		return a == b, nil
	case "!=":
		return a != b, nil
	case "<":
		return a < b, nil
	case ">":
		return a > b, nil
	case "-nt", "-ot", "-ef":
		x, errX := t.p.Stat(t.ctx, a)
		y, errY := t.p.Stat(t.ctx, b)
		if op == "-ot" {
			x, y, errX, errY = y, x, errY, errX
		}
		if op == "-ef" {
			return errX == nil && errY == nil && t.p.resolve(t.ctx, a, false) == t.p.resolve(t.ctx, b, false), nil
		}
		return errX == nil && (errY != nil || x.ModTime.After(y.ModTime)), nil
	}
	var n [2]int64
	for i, text := range []string{a, b} {
		var err error
		if n[i], err = strconv.ParseInt(strings.Trim(text, " \t\n"), 10, 64); err != nil {
			return false, fmt.Errorf("%s: integer expression expected", text)
		}
	}
	switch op {
	case "-eq":
		return n[0] == n[1], nil
	case "-ne":
		return n[0] != n[1], nil
	case "-lt":
		return n[0] < n[1], nil
	case "-le":
		return n[0] <= n[1], nil
	case "-gt":
		return n[0] > n[1], nil
	}
	return n[0] >= n[1], nil
}
