package awk

import (
	"cmp"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// signature is how many arguments a function takes. array is which of them names an
// array, -1 for none.
type signature struct{ least, most, array int }

// many is the most arguments of a function that takes any number, far above what a
// program of 1 MiB can have.
const many = 1 << 20

// builtins are the functions of the language.
//
// Parse checks the number of the arguments and that an array is one by its form, so the
// functions below index args without a check. A name in this table cannot be a variable.
var builtins = map[string]signature{
	"and": {2, many, -1}, "asort": {1, 3, 0}, "asorti": {1, 3, 0}, "atan2": {2, 2, -1}, "close": {1, 2, -1}, "compl": {1, 1, -1},
	"cos": {1, 1, -1}, "exp": {1, 1, -1}, "fflush": {0, 1, -1}, "gensub": {3, 4, -1}, "gsub": {2, 3, -1}, "index": {2, 2, -1},
	"int": {1, 1, -1}, "isarray": {1, 1, -1}, "length": {0, 1, -1}, "log": {1, 1, -1}, "lshift": {2, 2, -1}, "match": {2, 3, 2}, "mktime": {1, 2, -1},
	"or": {2, many, -1}, "patsplit": {2, 4, 1}, "rand": {0, 0, -1}, "rshift": {2, 2, -1}, "sin": {1, 1, -1}, "split": {2, 4, 1},
	"sprintf": {1, many, -1}, "sqrt": {1, 1, -1}, "srand": {0, 1, -1}, "strftime": {0, 3, -1}, "strtonum": {1, 1, -1}, "sub": {2, 3, -1},
	"substr": {2, 3, -1}, "system": {1, 1, -1}, "systime": {0, 0, -1}, "tolower": {1, 1, -1}, "toupper": {1, 1, -1}, "typeof": {1, 1, -1}, "xor": {2, many, -1},
}

// builtin calls a function of the language. Those of the first switch evaluate their
// arguments themselves, as some of these are arrays, regular expressions or variables
// to assign to; the others get values, from left to right.
func (in *interp) builtin(e *builtin) value {
	switch e.name {
	case "length":
		return in.length(e)
	case "isarray", "typeof":
		return in.typeOf(e)
	case "sub", "gsub":
		return in.substitute(e)
	case "gensub":
		return in.gensub(e)
	case "match":
		return in.matchFunction(e)
	case "split", "patsplit":
		return in.split(e)
	case "asort", "asorti":
		return in.sort(e)
	}
	args := make([]value, len(e.args))
	for i, arg := range e.args {
		args[i] = in.eval(arg)
	}
	switch e.name {
	case "substr":
		return in.substr(args)
	case "index":
		s, t := in.text(args[0]), in.text(args[1])
		if in.ignoreCase {
			s, t = strings.ToLower(s), strings.ToLower(t)
		}
		at := strings.Index(s, t)
		return num(float64(characters(s, at) + 1))
	case "tolower":
		return str(mapCase(in.text(args[0]), unicode.ToLower))
	case "toupper":
		return str(mapCase(in.text(args[0]), unicode.ToUpper))
	case "sprintf":
		text := formatValues(in.text(args[0]), args[1:], in)
		in.bound(len(text))
		return str(text)
	case "close":
		return num(in.close(in.text(args[0])))
	case "fflush":
		in.flushAll()
		return num(0)
	case "system":
		in.flushAll()
		status := in.config.Command(in.text(args[0]), in.config.Stdin, in.outer())
		in.check()
		return num(float64(status))
	case "srand":
		old := in.seed
		if in.seed = float64(in.config.Now().Unix()); len(args) > 0 {
			in.seed = args[0].number()
		}
		in.random = rand.New(rand.NewPCG(math.Float64bits(in.seed), 0))
		return num(old)
	case "rand":
		return num(in.random.Float64())
	case "systime":
		return num(float64(in.config.Now().Unix()))
	case "strftime":
		return in.strftime(args)
	case "mktime":
		return in.mktime(in.text(args[0]), len(args) > 1 && args[1].true())
	case "strtonum":
		if v := args[0]; v.kind != isNum {
			return num(strtonum(strings.TrimLeft(v.s, " \t\n")))
		}
		return args[0]
	}
	return num(calculateFunction(e, args))
}

// close closes all streams of a name: -1 if there are none. For a command it returns
// the exit status.
//
// A stream that was opened for reading and one for writing may have the same name; both are
// closed. The stream of a getline from the standard input is forgotten, and not closed.
func (in *interp) close(name string) float64 {
	status := -1.0
	for _, key := range []string{"<" + name, "|" + name} {
		if r := in.readers[key]; r != nil {
			delete(in.readers, key)
			if r != in.stdin {
				r.Close()
			}
			in.held -= int64(r.held)
			status = float64(r.status)
		}
	}
	for _, key := range []string{">" + name, "|" + name} {
		if w := in.writers[key]; w != nil {
			status = in.closeWriter(key, w)
		}
	}
	return status
}

// calculateFunction is the functions of numbers. Those of bits take integers from 0 up
// to 64 bits, and compl has the 53 bits that a number holds, as in gawk.
//
// An argument of the bit functions that is negative, too large or no number ends the program.
func calculateFunction(e *builtin, args []value) float64 {
	n := args[0].number()
	switch e.name {
	case "int":
		return math.Trunc(n)
	case "sqrt":
		if n < 0 {
			return math.Copysign(math.NaN(), -1)
		}
		return math.Sqrt(n)
	case "exp":
		return math.Exp(n)
	case "log":
		return math.Log(n)
	case "sin":
		return math.Sin(n)
	case "cos":
		return math.Cos(n)
	case "atan2":
		return math.Atan2(n, args[1].number())
	}
	bits := make([]uint64, len(args))
	for i := range args {
		if n := args[i].number(); n < 0 || n >= 1<<64 || n != n {
			fail(e.line, "%s: argument %d is not possible: %g", e.name, i+1, n)
		} else {
			bits[i] = uint64(n)
		}
	}
	result := bits[0]
	for _, b := range bits[1:] {
		switch e.name {
		case "and":
			result &= b
		case "or":
			result |= b
		case "xor":
			result ^= b
		case "lshift":
			result <<= b
		case "rshift":
			result >>= b
		}
	}
	if e.name == "compl" {
		result = ^result & (1<<53 - 1)
	}
	return float64(result)
}

// characters returns how many characters s[:at] has, -1 for a negative at.
func characters(s string, at int) int {
	if at < 0 {
		return -1
	}
	return utf8.RuneCountInString(s[:at])
}

// mapCase changes the case of letters. Bytes that are no characters stay.
func mapCase(s string, change func(rune) rune) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b = append(b, s[i])
		} else {
			b = utf8.AppendRune(b, change(r))
		}
		i += n
	}
	return string(b)
}

// length returns the characters of a text, or the elements of an array. A parameter
// without a value has the length 0 either way.
//
// It must look at the variable before it evaluates: reading an array as a value is an error.
func (in *interp) length(e *builtin) value {
	if len(e.args) == 0 {
		return num(float64(utf8.RuneCountInString(in.record0())))
	}
	if c := in.named(e.args[0]); c != nil && c.array != nil {
		return num(float64(len(c.array.elements)))
	}
	return num(float64(utf8.RuneCountInString(in.string(e.args[0]))))
}

// named returns the variable that e names, nil if it is another expression, or a
// variable that the interpreter keeps elsewhere. A parameter stands for what it became.
func (in *interp) named(e expr) *cell {
	switch g := e.(type) {
	case *global:
		if g.index <= varFNR {
			return nil
		}
	case *local:
		c := &in.frame[g.index]
		for up := c; up != nil && c.array == nil; up = up.from {
			if up.array != nil {
				return up
			}
		}
		return c
	case *index:
	default:
		return nil
	}
	return in.cell(e)
}

// typeOf is isarray and typeof. "strnum" is text from outside that looks like a number;
// "untyped" is a variable that was never used, and "unassigned" a field or the like.
func (in *interp) typeOf(e *builtin) value {
	c := in.named(e.args[0])
	isArray := c != nil && c.array != nil
	if e.name == "isarray" {
		return boolean(isArray)
	}
	if isArray {
		return str("array")
	}
	switch v := in.eval(e.args[0]); {
	case v.kind == unset && c != nil:
		return str("untyped")
	case v.kind == unset:
		return str("unassigned")
	case v.kind == isNum:
		return str("number")
	case v.kind == isInput && v.numeric():
		return str("strnum")
	}
	return str("string")
}

// substr returns characters. The first one has the number 1. A position before it is
// raised to 1, and the length counts from there: substr("hello", 0, 2) is "he", as with
// gawk and mawk. POSIX, which counts from the position 0, has "h".
func (in *interp) substr(args []value) value {
	s := in.text(args[0])
	start, length := max(math.Trunc(args[1].number()), 1), math.Inf(1)
	if len(args) > 2 {
		length = math.Trunc(args[2].number())
	}
	if !(length > 0) || start != start {
		return str("")
	}
	from := skipCharacters(s, start-1)
	s = s[from:]
	return str(strings.Clone(s[:skipCharacters(s, length)]))
}

// skipCharacters returns where in s the character with the number n begins.
//
// A number beyond the end gives the length of s; n may be infinite, and bytes that are no
// UTF-8 count as one character each.
func skipCharacters(s string, n float64) int {
	if n >= float64(len(s)) {
		return len(s)
	}
	at := 0
	for ; n > 0 && at < len(s); n-- {
		if s[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// maxRegexes bounds the expressions that are kept; with more, all are dropped, as a
// program that computes so many will hardly use one again.
const maxRegexes = 500

// compile returns an expression that a program computes.
//
// The key has the case rule before the source, as IGNORECASE may change between two uses.
func (in *interp) compile(source string) *regex {
	key := source
	if in.ignoreCase {
		key = "i" + source
	} else {
		key = "c" + source
	}
	re := in.regexes[key]
	if re == nil {
		var err error
		if re, err = newRegex(source, in.ignoreCase); err != nil {
			fail(0, "regular expression /%.100s/: %v", source, err)
		}
		if len(in.regexes) >= maxRegexes {
			clear(in.regexes)
		}
		in.regexes[strings.Clone(key)] = re
	}
	return re
}

// regex returns a literal expression, as IGNORECASE has it.
func (in *interp) regex(e *match) *regex {
	if in.ignoreCase {
		return in.compile(e.re.source)
	}
	return e.re
}

// regexOf returns the expression that e is, or whose source it computes.
func (in *interp) regexOf(e expr) *regex {
	switch e := e.(type) {
	case *match:
		return in.regex(e)
	case *group:
		return in.regexOf(e.of)
	}
	return in.compile(in.string(e))
}

// substitute is sub and gsub: the number of replacements. The target is a variable, a
// field or an element, and $0 if it is left out; another expression is only counted.
//
// The target is evaluated once to be read and once to be assigned: in sub(/a/, "b", x[i++]),
// i grows by two.
func (in *interp) substitute(e *builtin) value {
	re := in.regexOf(e.args[0])
	replacement := in.string(e.args[1])
	var target expr = &field{&number{num(0)}}
	if len(e.args) == 3 {
		target = e.args[2]
	}
	s := in.string(target)
	n := 1
	if e.name == "gsub" {
		n = maxMatches
	}
	matches := limited(re.all(in.ctx, s, n))
	if len(matches) == 0 {
		return num(0)
	}
	result := in.replaced(s, matches, replacement, false)
	switch target.(type) {
	case *global, *local, *field, *index:
		in.assign(target, str(result))
	}
	return num(float64(len(matches)))
}

// replaced returns s with a replacement for each match. In it, "&" is the match, and
// with groups, "\1" is a group. What a backslash does is decided after the string of
// the program has been read, which removes one level:
//
//	program   replacement   result for the match "a"
//	"<&>"     <&>           <a>
//	"<\\&>"   <\&>          <&>
//	"<\\\\&>" <\\&>         <\a>
//	"\\1"     \1            the first group in gensub, \1 in sub
func (in *interp) replaced(s string, matches [][]int, replacement string, groups bool) string {
	var b strings.Builder
	at := 0
	for _, m := range matches {
		b.WriteString(s[at:m[0]])
		at = m[1]
		if strings.IndexByte(replacement, '&') < 0 && strings.IndexByte(replacement, '\\') < 0 {
			b.WriteString(replacement)
		} else {
			replace(&b, s, m, replacement, groups)
		}
		in.bound(b.Len())
	}
	b.WriteString(s[at:])
	return b.String()
}

// replace appends the replacement of the match m in s. "&" is the match, and with
// groups "\1" is a group; a backslash before either takes that meaning away. Of
// backslashes before "&", two stand for one, as POSIX has it; elsewhere in sub and gsub
// a backslash is itself.
func replace(b *strings.Builder, s string, m []int, replacement string, groups bool) {
	for i := 0; i < len(replacement); i++ {
		c := replacement[i]
		switch {
		case c == '&':
			b.WriteString(s[m[0]:m[1]])
			continue
		case c != '\\' || i+1 == len(replacement):
			b.WriteByte(c)
			continue
		}
		switch next := replacement[i+1]; {
		case next == '&':
			b.WriteByte('&')
			i++
		case groups && isDigit(next):
			if g := int(next - '0'); 2*g+1 < len(m) && m[2*g] >= 0 {
				b.WriteString(s[m[2*g]:m[2*g+1]])
			}
			i++
		case next == '\\' && (groups || strings.HasPrefix(strings.TrimLeft(replacement[i+1:], `\`), "&")):
			b.WriteByte('\\')
			i++
		default:
			b.WriteByte(c)
		}
	}
}

// gensub returns a changed copy. The third argument is "g" for all matches, or the
// number of the one to replace; anything else counts as 1.
func (in *interp) gensub(e *builtin) value {
	re := in.regexOf(e.args[0])
	replacement := in.string(e.args[1])
	how := in.string(e.args[2])
	s := ""
	if len(e.args) == 4 {
		s = in.string(e.args[3])
	} else {
		s = in.record0()
	}
	if strings.HasPrefix(how, "g") || strings.HasPrefix(how, "G") {
		return str(in.replaced(s, limited(re.all(in.ctx, s, maxMatches)), replacement, true))
	}
	n := 1
	if number := toNumber(how); number > 1 { // false for what is no number
		n = int(min(number, maxMatches-1))
	}
	matches := re.all(in.ctx, s, n)
	if len(matches) < n {
		return str(strings.Clone(s))
	}
	return str(in.replaced(s, matches[n-1:], replacement, true))
}

// matchFunction is match: the position of the longest first match, with RSTART and
// RLENGTH, and gawk's array of groups, which has the start and the length of each.
//
// Without a match RSTART is 0 and RLENGTH -1, and the array is empty. A group that has no part
// in the match has no elements.
func (in *interp) matchFunction(e *builtin) value {
	s := in.string(e.args[0])
	m := in.regexOf(e.args[1]).find(in.ctx, s)
	var groups *array
	if len(e.args) == 3 {
		groups = in.arrayOf(e.args[2])
		in.clear(groups)
	}
	start, length := 0, -1
	if m != nil {
		start, length = characters(s, m[0])+1, utf8.RuneCountInString(s[m[0]:m[1]])
	}
	in.setGlobal(varRSTART, num(float64(start)))
	in.setGlobal(varRLENGTH, num(float64(length)))
	for g := 0; groups != nil && 2*g < len(m); g++ {
		if m[2*g] < 0 {
			continue
		}
		text, name := s[m[2*g]:m[2*g+1]], strconv.Itoa(g)
		in.store(in.element(groups, name), input(text))
		in.store(in.element(groups, name+in.subsep+"start"), num(float64(characters(s, m[2*g])+1)))
		in.store(in.element(groups, name+in.subsep+"length"), num(float64(utf8.RuneCountInString(text))))
	}
	return num(float64(start))
}

// split is split and patsplit. It returns the number of fields.
func (in *interp) split(e *builtin) value {
	s := strings.Clone(in.string(e.args[0]))
	by := in.splitter
	switch {
	case len(e.args) < 3 && e.name == "patsplit":
		by = &splitter{content: in.compile(cmp.Or(in.text(in.globals[varFPAT].v), `[^[:space:]]+`))}
	case e.name == "patsplit":
		by = &splitter{content: in.regexOf(e.args[2])}
	case len(e.args) < 3:
		if by.content == nil { // in paragraphs, a line end is a separator of fields only
			by = in.newSplitter(in.text(in.globals[varFS].v), false)
		}
	default:
		if m, ok := e.args[2].(*match); ok {
			by = regexSplitter(in.regex(m))
		} else {
			by = in.newSplitter(in.string(e.args[2]), false)
		}
	}
	a := in.arrayOf(e.args[1])
	in.clear(a)
	var separators *array
	if len(e.args) == 4 {
		separators = in.arrayOf(e.args[3])
		in.clear(separators)
	}
	follows := by.re != nil || by.literal != "" // whether a separator is found after its field
	separator := func(n int, text string) {
		if separators != nil && text != "" {
			in.store(in.element(separators, strconv.Itoa(n)), str(strings.Clone(text)))
		}
	}
	f := newFields(in.ctx, s, by)
	for n := 0; ; {
		in.step()
		text, ok := f.next()
		if !follows {
			separator(n, f.before)
		}
		if !ok {
			return num(float64(n))
		}
		n++
		in.store(in.element(a, strconv.Itoa(n)), input(text))
		if follows && f.at >= 0 {
			separator(n, f.before)
		}
	}
}

// sort is asort and asorti: values, or keys, become the elements 1 to n.
// Without a second array, the keys of the first one are lost.
func (in *interp) sort(e *builtin) value {
	from := in.arrayOf(e.args[0])
	to := from
	if len(e.args) > 1 {
		to = in.arrayOf(e.args[1])
	}
	order := map[string]string{"asort": "@val_type_asc", "asorti": "@ind_str_asc"}[e.name]
	if len(e.args) > 2 {
		order = in.string(e.args[2])
	}
	keys := in.keys(from, order)
	list := make([]value, len(keys))
	for i, key := range keys {
		if list[i] = input(key); e.name == "asort" {
			list[i] = from.value(key)
		} else {
			list[i].kind = isStr
		}
	}
	in.clear(to)
	for i, v := range list {
		in.store(in.element(to, strconv.Itoa(i+1)), v)
	}
	return num(float64(len(list)))
}

// strftime is strftime(format, seconds, utc); all three can be left out. Seconds beyond
// some 35,000 years are cut to that, as the calendar goes no further.
func (in *interp) strftime(args []value) value {
	format, t, zone := "%a %b %e %H:%M:%S %Z %Y", in.config.Now(), in.config.Location
	if len(args) > 0 {
		format = in.text(args[0])
	}
	if len(args) > 1 {
		t = time.Unix(int64(max(-1<<40, min(1<<40, args[1].number()))), 0)
	}
	if len(args) > 2 && args[2].true() {
		zone = time.UTC
	}
	text := in.config.FormatTime(t.In(zone), format)
	in.bound(len(text))
	return str(text)
}

// mktime returns the time of "YYYY MM DD HH MM SS", -1 if it is none.
// Values out of their range are carried, as in C: the month 13 is January of the next year.
func (in *interp) mktime(s string, utc bool) value {
	parts := strings.Fields(s)
	if len(parts) < 6 {
		return num(-1)
	}
	var n [6]int
	for i := range n {
		number, err := strconv.ParseInt(parts[i], 10, 32)
		if err != nil {
			return num(-1)
		}
		n[i] = int(number)
	}
	zone := in.config.Location
	if utc {
		zone = time.UTC
	}
	return num(float64(time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, zone).Unix()))
}

// strtonum reads a number that may be hexadecimal or octal: "0x11" is 17, "011" is 9.
func strtonum(s string) float64 {
	negative := strings.HasPrefix(s, "-")
	digits := strings.TrimLeft(s, "+-")
	base, alphabet := 0.0, ""
	switch {
	case len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x':
		base, digits, alphabet = 16, digits[2:], "0123456789abcdefABCDEF"
	case len(digits) > 1 && digits[0] == '0' && strings.Trim(digits, "01234567") == "":
		base, alphabet = 8, "01234567"
	default:
		return toNumber(s)
	}
	end := 0
	for end < len(digits) && strings.IndexByte(alphabet, digits[end]) >= 0 {
		end++
	}
	n := parseInteger(digits[:end], base)
	if negative {
		n = -n
	}
	return n
}
