package command

import (
	"bufio"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// seq prints numbers from FIRST to LAST, as GNU's does. Integers may have any size, and
// are printed as they are; other numbers are of 64 bits of mantissa, and have as many
// digits after the point as the most precise of FIRST and INCREMENT:
//
//	seq 3              1 2 3
//	seq 1 .5 2         1.0 1.5 2.0
//	seq -w 8 10        08 09 10
//	seq 5 -2 1         5 3 1
//	seq -f %03g 2      001 002
func seq(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FIRST [INCREMENT]] LAST")
	format := f.StringP("format", "f", "", "use printf style floating-point FORMAT")
	separator := f.StringP("separator", "s", "\n", "use STRING to separate numbers")
	equal := f.BoolP("equal-width", "w", false, "equalize width by padding with leading zeros")
	protectNumbers(p)
	f.first = true
	operands, status, ok := f.parse()
	if !ok {
		return status
	}
	switch {
	case len(operands) == 0:
		return f.wrong("missing operand")
	case len(operands) > 3:
		return f.wrong("extra operand %s", quoteName(operands[3]))
	case *equal && *format != "":
		return f.wrong("format string may not be specified when printing equal width strings")
	}
	s := &sequence{ctx: ctx, out: bufio.NewWriterSize(p.Stdout, 32<<10), separator: *separator}
	numbers := []string{"1", "1", "1"}
	switch len(operands) {
	case 1:
		numbers[2] = operands[0]
	case 2:
		numbers[0], numbers[2] = operands[0], operands[1]
	case 3:
		numbers = operands
	}
	if n := wholeNumbers(numbers); n != nil && *format == "" && !*equal {
		if n[1].Sign() == 0 {
			return f.wrong("invalid Zero increment value: %s", quoteName(numbers[1]))
		}
		return p.finishSequence(s.out, s.integers(n[0], n[1], n[2]))
	}
	operandsOf := make([]sequenceOperand, 3)
	for i, text := range numbers {
		n, rest, ok := parseExtended(text)
		if !ok || rest != "" || n.nan {
			return f.wrong("invalid floating point argument: %s", quoteName(text))
		}
		operandsOf[i] = sequenceOperand{n, precisionOf(text), widthOf(text)}
	}
	s.first, s.step, s.last = operandsOf[0], operandsOf[1], operandsOf[2]
	if s.step.Sign() == 0 {
		return f.wrong("invalid Zero increment value: %s", quoteName(numbers[1]))
	}
	var err error
	if s.prefix, s.directive, s.verb, s.suffix, err = sequenceFormat(*format); err != nil {
		return p.errorf("%v", err)
	}
	if *format == "" {
		s.chooseFormat(*equal)
	}
	return p.finishSequence(s.out, s.run())
}

// protectNumbers ends the options before a negative number, which is none: seq -3 -1 becomes
// seq -- -3 -1. The arguments of p are replaced and not changed, as others may hold them.
func protectNumbers(p *Process) {
	for i := 1; i < len(p.Args); i++ {
		arg := p.Args[i]
		switch {
		case len(arg) < 2 || arg[0] != '-' || arg == "--":
			return
		case isDigit(arg[1]) || arg[1] == '.':
			p.Args = slices.Insert(slices.Clone(p.Args), i, "--")
			return
		case arg == "-s" || arg == "-f" || arg == "--separator" || arg == "--format":
			i++ // its value
		}
	}
}

// finishSequence is Process.finish for an output that a write error ended.
func (p *Process) finishSequence(out *bufio.Writer, err error) int {
	if err != nil {
		return p.failWrite(err)
	}
	return p.finish(out, 0)
}

// wholeNumbers returns the numbers if all are plain integers, and nil otherwise. -0 is none,
// as it is printed as -0, and neither is a number of more than 100 digits.
func wholeNumbers(numbers []string) []*big.Int {
	var whole []*big.Int
	for _, text := range numbers {
		n, ok := new(big.Int).SetString(text, 10)
		if !ok || len(text) > 100 || text == "-0" || strings.Contains(text, "_") {
			return nil
		}
		whole = append(whole, n)
	}
	return whole
}

// sequenceOperand is FIRST, INCREMENT or LAST. How it was written decides how numbers
// are printed:
//
//	1       precision 0, width 1
//	.50     precision 2, width 4, as 0.50
//	1e2     precision 0, width 3, as 100
//	0x10    precision -1: all numbers are printed with %g
type sequenceOperand struct {
	extended
	precision int // digits behind the point; -1: not a plain decimal number
	width     int // of the number as it was written
}

// precisionOf is the number of digits behind the point: 1.25e1 has one, as 12.5. It is -1
// for hexadecimal digits and infinities.
func precisionOf(text string) int {
	lower := strings.ToLower(text)
	if strings.Contains(lower, "x") || strings.Contains(lower, "inf") {
		return -1
	}
	mantissa, exponent, _ := strings.Cut(lower, "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	e, _ := strconv.Atoi(exponent)
	return max(0, len(fraction)-e)
}

// widthOf returns how wide a number is for -w: without a sign "+", with a 0 before a
// bare point, and with its exponent written out, so that 1e2 has the width of 100.
func widthOf(text string) int {
	text = strings.TrimLeft(text, " \t\n+")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	n := len(mantissa)
	whole, fraction, point := strings.Cut(mantissa, ".")
	fits := len(fraction) // digits that an exponent moves before the point
	if point && fraction == "" {
		n--
	}
	if point && (whole == "" || whole == "-") {
		n++
	}
	e, _ := strconv.Atoi(exponent)
	if e > 0 {
		if fits > 0 && fits <= e {
			n-- // the point
		}
		n += min(e-min(e, fits), maxField)
	} else if e < 0 {
		if !point {
			n++
		}
		n += -e
	}
	return n
}

// sequence is one run of seq. Of integers, only ctx, out and separator are used. Its methods
// end with ctx, which they ask after each number, and return the error of a write, or of ctx.
type sequence struct {
	ctx               context.Context
	out               *bufio.Writer
	separator         string
	first, step, last sequenceOperand
	prefix, suffix    string
	directive         directive // how a number is printed: that of -f, or one that fits the operands
	verb              byte      // of the directive, such as 'f'
}

// integers prints a sequence of integers of any size. step is not zero. There is no line end
// if there is no number, as from seq 3 1.
func (s *sequence) integers(first, step, last *big.Int) error {
	if first.IsInt64() && step.IsInt64() && last.IsInt64() {
		const bound = 1 << 62
		if f, d, l := first.Int64(), step.Int64(), last.Int64(); max(f, d, l) < bound && min(f, d, l) > -bound {
			return s.smallIntegers(f, d, l)
		}
	}
	n := new(big.Int).Set(first)
	printed := false
	for ; step.Sign() > 0 && n.Cmp(last) <= 0 || step.Sign() < 0 && n.Cmp(last) >= 0; n.Add(n, step) {
		if printed {
			s.out.WriteString(s.separator)
		}
		printed = true
		if _, err := s.out.WriteString(n.String()); err != nil {
			return err
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
	}
	if printed {
		return s.out.WriteByte('\n')
	}
	return nil
}

// smallIntegers is integers without arithmetic of any size. The bound keeps n+step from
// overflowing: n and step are below 1<<62 each.
func (s *sequence) smallIntegers(first, step, last int64) error {
	var buf []byte
	for n := first; step > 0 && n <= last || step < 0 && n >= last; n += step {
		if n != first {
			s.out.WriteString(s.separator)
		}
		buf = strconv.AppendInt(buf[:0], n, 10)
		if _, err := s.out.Write(buf); err != nil {
			return err
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
	}
	if step > 0 && first <= last || step < 0 && first >= last {
		return s.out.WriteByte('\n')
	}
	return nil
}

// sequenceFormat splits a format into its only directive and what is around it. "%%" is
// a percent sign.
//
//	%03g        flags 0, width 3, verb g
//	<%.2f%%>    prefix <, precision 2, verb f, suffix %>
//
// A width and a precision are at most maxField. "" is %g. The errors are those of GNU's seq,
// for a format with no directive, several, or one of another kind.
func sequenceFormat(format string) (prefix string, d directive, verb byte, suffix string, err error) {
	d = directive{precision: -1}
	if format == "" {
		return "", d, 'g', "", nil
	}
	rest := format
	plain := func() string {
		var b strings.Builder
		for rest != "" && (rest[0] != '%' || strings.HasPrefix(rest, "%%")) {
			b.WriteByte(rest[0])
			rest = rest[1+strings.Count(rest[:1], "%"):]
		}
		return b.String()
	}
	if prefix = plain(); rest == "" {
		return "", d, 0, "", fmt.Errorf("format %s has no %% directive", quoteName(format))
	}
	rest = rest[1:]
	n := len(rest) - len(strings.TrimLeft(rest, "#'-+ 0"))
	d.flags, rest = rest[:n], rest[n:]
	number := func() int {
		n := digitsEnd(rest, 0, len(rest), 10)
		digits := rest[:n]
		rest = rest[n:]
		return min(atoi(digits), maxField)
	}
	d.width = number()
	if strings.HasPrefix(rest, ".") {
		rest = rest[1:]
		d.precision = number()
	}
	rest = strings.TrimPrefix(rest, "L")
	if rest == "" {
		return "", d, 0, "", fmt.Errorf("format %s ends in %%", quoteName(format))
	}
	if verb = rest[0]; !strings.ContainsRune("efgEFG", rune(verb)) {
		return "", d, 0, "", fmt.Errorf("format %s has unknown %%%c directive", quoteName(format), verb)
	}
	rest = rest[1:]
	if suffix = plain(); rest != "" {
		return "", d, 0, "", fmt.Errorf("format %s has too many %% directives", quoteName(format))
	}
	return prefix, d, verb, suffix, nil
}

// chooseFormat chooses as many digits as the operands have. With equal, numbers are as wide as
// the wider of FIRST and LAST with these digits:
//
//	seq -w 8 .5 10    08.0 08.5 09.0 09.5 10.0
func (s *sequence) chooseFormat(equal bool) {
	precision := max(s.first.precision, s.step.precision)
	if s.first.precision < 0 || s.step.precision < 0 || s.last.precision < 0 {
		return // %g
	}
	s.verb, s.directive.precision = 'f', precision
	if !equal {
		return
	}
	widthWith := func(o sequenceOperand) int {
		w := o.width + precision - o.precision
		switch {
		// The point comes or goes with the digits behind it.
		case o.precision > 0 && precision == 0:
			w--
		case o.precision == 0 && precision > 0:
			w++
		}
		return w
	}
	s.directive.flags, s.directive.width = "0", max(widthWith(s.first), widthWith(s.last))
}

// run prints a sequence of numbers. Each is the first one plus a multiple of the step, so
// that errors do not add up.
//
// A number beyond LAST by a rounding error is printed all the same if its text is that of
// LAST: seq 0 .1 .3 ends with 0.3 whatever three times .1 is.
func (s *sequence) run() error {
	down := s.step.Sign() < 0
	outside := func(x *big.Float) bool {
		if down {
			return x.Cmp(s.last.Float) < 0
		}
		return x.Cmp(s.last.Float) > 0
	}
	if outside(s.first.Float) {
		return nil
	}
	number := func(x *big.Float) string { return s.directive.float(extended{Float: x}, s.verb) }
	x, text := s.first.Float, number(s.first.Float)
	for i := int64(1); ; i++ {
		s.out.WriteString(s.prefix)
		s.out.WriteString(text)
		if _, err := s.out.WriteString(s.suffix); err != nil {
			return err
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		// The next number would be the same, without an end.
		if x.IsInf() || s.step.IsInf() {
			return s.out.WriteByte('\n')
		}
		step := newExtended().Mul(newExtended().SetInt64(i), s.step.Float)
		x = newExtended().Add(s.first.Float, step)
		next := number(x)
		if outside(x) {
			// A number that is printed as the last one is the last one.
			printed, _, _ := parseExtended(strings.TrimLeft(next, " "))
			if printed.Float == nil || printed.Cmp(s.last.Float) != 0 || next == text {
				break
			}
		}
		text = next
		s.out.WriteString(s.separator)
	}
	return s.out.WriteByte('\n')
}

// newExtended returns a number with the mantissa of a long double.
func newExtended() *big.Float { return new(big.Float).SetPrec(64) }

// yes prints a line until nobody reads any more, or a budget of the shell is reached.
// It writes 8 KiB at a time, as each Write passes the counters of the shell.
func yes(ctx context.Context, p *Process) int {
	f := newFlags(p, "[STRING]...")
	words, status, ok := f.parse()
	if !ok {
		return status
	}
	if len(words) == 0 {
		words = []string{"y"}
	}
	line := strings.Join(words, " ") + "\n"
	block := []byte(strings.Repeat(line, 1+8192/len(line)))
	for ctx.Err() == nil {
		if _, err := p.Stdout.Write(block); err != nil {
			return p.failWrite(err)
		}
	}
	return 1
}
