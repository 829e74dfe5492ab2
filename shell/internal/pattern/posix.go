package pattern

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
)

// posix translates one basic or extended regular expression, as GNU's programs read
// them:
//
//	basic        extended   RE2
//	a\{2\}\|b    a{2}|b     (?:a){2}|b
//	\(*a\)       (\*a)      (\*a)        a "*" that repeats nothing is a character
//	[]\d]        []\d]      [\]\\d]      a backslash in a class is a character
//	\w\<         \w\<       [0-9A-Za-z_...](?:\x{10FFF0}){1}
type posix struct {
	pattern  string
	at       int  // the place in pattern that has been reached
	extended bool // an extended regular expression (ERE), and not a basic one
	sed      bool // \n, \t and the like are characters, as in a script of sed
	lines    bool // "." and a class of other characters match no line end
	fold     bool // letters match in either case
	depth    int  // of parentheses
	groups   int  // how many have begun, for references
	asserted bool // it has conditions that package regexp lacks
	warnings []string
}

// The texts of the errors that are GNU's.
const (
	errTrailing    = `Trailing backslash`
	errParen       = `Unmatched ( or \(`
	errCloseParen  = `Unmatched ) or \)`
	errBracket     = `Unmatched [, [^, [:, [., or [=`
	errBrace       = `Unmatched \{`
	errCount       = `Invalid content of \{\}`
	errTooBig      = `Regular expression too big`
	errRange       = `Invalid range end`
	errClassName   = `Invalid character class name`
	errCollation   = `Invalid collation character`
	errPreceding   = `Invalid preceding regular expression`
	errClassSyntax = `character class syntax is [[:space:]], not [:space:]`
)

// translate returns the whole pattern in the syntax of package regexp.
func (p *posix) translate() (string, error) {
	out, err := p.alternatives()
	if err == nil && p.at < len(p.pattern) { // at a ")" that closes nothing
		err = syntaxError(errCloseParen)
	}
	return out, err
}

// operator returns the operator at the current place, without the backslash
// that a basic expression has before some of them, and its length; zero means
// that there is none. For "\{" it is the same '{' in a basic pattern that "{"
// is in an extended one. p.at does not move.
func (p *posix) operator() (op byte, n int) {
	rest := p.pattern[p.at:]
	switch {
	case rest == "":
		return 0, 0
	case rest[0] == '*':
		return '*', 1
	case p.extended && strings.IndexByte("+?|(){", rest[0]) >= 0:
		return rest[0], 1
	case !p.extended && len(rest) > 1 && rest[0] == '\\' && strings.IndexByte("+?|(){", rest[1]) >= 0:
		return rest[1], 2
	}
	return 0, 0
}

// alternatives reads branches with "|" between them, up to the end or to a parenthesis
// that closes the group around them.
//
// An empty branch is allowed, as in GNU's programs: a\|b\| also matches nothing.
func (p *posix) alternatives() (string, error) {
	var b strings.Builder
	for {
		branch, err := p.branch()
		if err != nil {
			return "", err
		}
		b.WriteString(branch)
		op, n := p.operator()
		if op != '|' {
			return b.String(), nil
		}
		p.at += n
		b.WriteByte('|')
	}
}

// branch reads one alternative: atoms, each with what repeats it. At its start
// a repetition has nothing to repeat; what it means there differs between the
// syntaxes and programs. The basic pattern *a* is read so:
//
//	the first *   a character, as it repeats nothing: \*
//	a             an atom
//	the last *    repeats the atom: (?:a)*
func (p *posix) branch() (string, error) {
	var b strings.Builder
	start := true // nothing stands before that can be repeated
	for p.at < len(p.pattern) {
		op, n := p.operator()
		if op == '|' || op == ')' && (p.depth > 0 || !p.extended || p.sed) {
			break
		}
		if start && (op == '*' || op == '+' || op == '?' || op == '{') {
			literal, err := p.repeatsNothing(op, n)
			if err != nil {
				return "", err
			}
			if literal == "" {
				continue
			}
			start = false
			if literal, err = p.repeat(literal); err != nil {
				return "", err
			}
			b.WriteString(literal)
			continue
		}
		atom, anchor, err := p.atom(b.Len() == 0 && start)
		if err != nil {
			return "", err
		}
		if anchor {
			if op, _ := p.operator(); p.sed && op == '{' {
				return "", syntaxError(errPreceding)
			}
			b.WriteString(atom)
			if !p.extended && atom != "^" && atom != `\A` {
				start = false
			}
			start = start || p.extended
			continue
		}
		start = false
		if atom, err = p.repeat(atom); err != nil {
			return "", err
		}
		b.WriteString(atom)
	}
	return b.String(), nil
}

// repeatsNothing reads an operator that has nothing to repeat: in a basic expression it
// is a character, in an extended one grep leaves it out and sed refuses it.
func (p *posix) repeatsNothing(op byte, n int) (literal string, err error) {
	if p.sed && (p.extended || op == '{') {
		return "", syntaxError(errPreceding)
	}
	if p.extended && op == '{' {
		_, _, end, err := p.bounds(p.at + n)
		if err != nil {
			return "", err
		}
		if end == 0 {
			p.at += n
			return `\{`, nil
		}
		p.at = end
		p.warnings = append(p.warnings, "{...} at start of expression")
		return "", nil
	}
	p.at += n
	if p.extended {
		p.warnings = append(p.warnings, string(op)+" at start of expression")
		return "", nil
	}
	return regexp.QuoteMeta(string(op)), nil
}

// repeat reads the operators after an atom.
//
// Each operator wraps what is before it in a group that does not count, as RE2 refuses a** and
// reads a*? in another way: a*? becomes (?:(?:a)*)?.
func (p *posix) repeat(atom string) (string, error) {
	for repeated := false; ; {
		op, n := p.operator()
		if p.sed && !p.extended && repeated && (op == '*' || op == '{') {
			return "", syntaxError(errPreceding)
		}
		repeated = true
		switch op {
		case '*', '+', '?':
			atom = "(?:" + atom + ")" + string(op)
		case '{':
			low, high, end, err := p.bounds(p.at + n)
			if err != nil {
				return "", err
			}
			if end == 0 { // a brace that begins no repetition
				return atom, nil
			}
			p.at = end
			atom = "(?:" + atom + ")" + repetition(low, high)
			continue
		default:
			return atom, nil
		}
		p.at += n
	}
}

// repetition returns the operator that repeats low to high times; high is -1
// for any number. RE2 knows {n}, {n,} and {n,m}, and not {,m}.
func repetition(low, high int) string {
	switch {
	case low == high:
		return fmt.Sprintf("{%d}", low)
	case high < 0:
		return fmt.Sprintf("{%d,}", low)
	}
	return fmt.Sprintf("{%d,%d}", low, high)
}

// What follows the opening brace of a repetition, in basic and in extended regular
// expressions.
var (
	basicBounds    = lazyregexp.New(`^([0-9]*)(,?)([0-9]*)\\\}`)
	extendedBounds = lazyregexp.New(`^([0-9]*)(,?)([0-9]*)\}`)
)

// maxRepeat is what RE2 can count to.
const maxRepeat = 1000

// bounds reads what follows the brace of a repetition. A zero end means that there is
// none, and the brace is a character.
//
//	{2}    2, 2       {2,}   2, -1       {2,3}   2, 3       {,3}   0, 3
//
// GNU counts to 32767 (RE_DUP_MAX) and calls more an error; RE2 counts to maxRepeat, so what
// is between is unsupported.
func (p *posix) bounds(at int) (low, high, end int, err error) {
	form := basicBounds()
	if p.extended {
		form = extendedBounds()
	}
	m := form.FindStringSubmatch(p.pattern[at:])
	if m == nil || m[1] == "" && m[2] == "" {
		switch {
		case p.extended && !p.sed:
			return 0, 0, 0, nil
		case p.extended && !strings.Contains(p.pattern[at:], "}"):
			return 0, 0, 0, syntaxError(errBrace)
		case !strings.Contains(p.pattern[at:], `\}`):
			return 0, 0, 0, syntaxError(errBrace)
		}
		return 0, 0, 0, syntaxError(errCount)
	}
	low, _ = strconv.Atoi("0" + m[1])
	high = low
	if m[2] == "," {
		if high = -1; m[3] != "" {
			high, _ = strconv.Atoi(m[3])
		}
	}
	switch {
	case high >= 0 && low > high:
		return 0, 0, 0, syntaxError(errCount)
	case max(low, high) > 32767:
		return 0, 0, 0, syntaxError(errTooBig)
	case max(low, high) > maxRepeat:
		return 0, 0, 0, unsupported("a repetition of more than %d times", maxRepeat)
	}
	return low, high, at + len(m[0]), nil
}

// atom reads a character, a class, a group or an anchor. first says that it is the
// first of a branch.
func (p *posix) atom(first bool) (atom string, anchor bool, err error) {
	if op, n := p.operator(); op == '(' {
		p.at += n
		atom, err = p.group()
		return atom, false, err
	} else if op != 0 && p.extended { // a brace or a parenthesis that is a character
		p.at += n
		return regexp.QuoteMeta(string(op)), false, nil
	}
	switch c := p.pattern[p.at]; {
	case c == '\\':
		return p.escape()
	case c == '[':
		atom, err = p.bracket()
		return atom, false, err
	case c == '.':
		p.at++
		return ".", false, nil
	case c == '^' && (p.extended || first):
		p.at++
		return "^", true, nil
	case c == '$' && (p.extended || p.endsBranch(p.at+1)):
		p.at++
		return "$", true, nil
	}
	r, n := utf8.DecodeRuneInString(p.pattern[p.at:])
	p.at += n
	return quoteRune(r, p.pattern[p.at-n:p.at]), false, nil
}

// quoteRune returns the expression for one character, or for a byte that is none.
func quoteRune(r rune, spelled string) string {
	if r == utf8.RuneError && len(spelled) == 1 {
		return `\x{FFFD}` // which is what RE2 sees instead
	}
	return regexp.QuoteMeta(spelled)
}

// endsBranch reports whether a branch of a basic expression ends at the place
// at. Elsewhere a "$" of a basic expression is a character.
func (p *posix) endsBranch(at int) bool {
	rest := p.pattern[at:]
	return rest == "" || strings.HasPrefix(rest, `\|`) || strings.HasPrefix(rest, `\)`)
}

// group reads a group after its opening parenthesis.
// The number of the group is the place of its parenthesis, as RE2 counts them, too.
func (p *posix) group() (string, error) {
	p.groups++
	p.depth++
	if p.depth > maxDepth {
		return "", unsupported("more than %d parentheses in each other", maxDepth)
	}
	inner, err := p.alternatives()
	if err != nil {
		return "", err
	}
	op, n := p.operator()
	if op != ')' {
		return "", syntaxError(errParen)
	}
	p.depth--
	p.at += n
	return "(" + inner + ")", nil
}

// escape reads a backslash and what it stands before. An assertion counts as an
// anchor: it has no width.
func (p *posix) escape() (atom string, anchor bool, err error) {
	p.at++
	if p.at == len(p.pattern) {
		return "", false, syntaxError(errTrailing)
	}
	c, n := utf8.DecodeRuneInString(p.pattern[p.at:])
	if p.sed {
		if r, length := SedEscape(p.pattern[p.at:]); length > 0 {
			p.at += length
			return regexp.QuoteMeta(string(r)), false, nil
		}
	}
	p.at += n
	switch c {
	case 'w':
		return "[" + classes()["word"] + "]", false, nil
	case 'W':
		return "[^" + classes()["word"] + "]", false, nil
	case 's':
		return "[" + classes()["space"] + "]", false, nil
	case 'S':
		return "[^" + classes()["space"] + "]", false, nil
	case 'b', 'B', '<', '>':
		p.asserted = true
		return assertions[c], true, nil
	case '`':
		return `\A`, true, nil
	case '\'':
		return `\z`, true, nil
	}
	if '1' <= c && c <= '9' {
		if int(c-'0') > p.groups {
			return "", false, syntaxError("Invalid back reference")
		}
		return "", false, unsupported("the back reference \\%c", c)
	}
	return quoteRune(c, p.pattern[p.at-n:p.at]), false, nil
}

// SedEscape returns the character that sed reads for the letters after a
// backslash, and how many letters those are; zero if they have no such meaning.
// s begins after the backslash and must not be empty. GNU has the letters n t f
// r v a, a control character as cX, and codes in hexadecimal (x), octal (o) and
// decimal (d) digits:
//
//	n     10, 1      x41   65, 3      o101  65, 4      d065  65, 4      q  0, 0
func SedEscape(s string) (r rune, n int) {
	if at := strings.IndexByte("ntfrva", s[0]); at >= 0 {
		return rune("\n\t\f\r\v\a"[at]), 1
	}
	base, digits := 0, 0
	switch s[0] {
	case 'c':
		if len(s) > 1 && s[1] < 0x80 {
			return rune(strings.ToUpper(s[1:2])[0] ^ 0x40), 2
		}
		return 0, 0
	case 'x':
		base, digits = 16, 2
	case 'o':
		base, digits = 8, 3
	case 'd':
		base, digits = 10, 3
	default:
		return 0, 0
	}
	for end := min(len(s), 1+digits); end > 1; end-- {
		if value, err := strconv.ParseUint(s[1:end], base, 16); err == nil && value < 256 {
			return rune(value), end
		}
	}
	return 0, 0
}

// bracket reads a class. GNU grep refuses [:space:] outside of brackets, since
// [[:space:]] was meant.
func (p *posix) bracket() (string, error) {
	b := bracket{text: p.pattern[p.at+1:], escapes: p.sed, fold: p.fold, lines: p.lines}
	whole := p.pattern[p.at:]
	out, n, err := b.read()
	if err != nil {
		return "", err
	}
	if class := whole[:n+1]; !p.sed && len(class) > 3 && class[1] == ':' && class[len(class)-2] == ':' {
		return "", syntaxError(errClassSyntax)
	}
	p.at += n + 1
	return out, nil
}

// bracket is a class of characters whose "[" has been read.
type bracket struct {
	text    string
	at      int
	escapes bool // "\n" is a character, as in a script of sed
	fold    bool
	lines   bool // a class of other characters has no line end
}

// read returns a bracket expression as a class of package regexp, and how many
// bytes of the pattern it has. A "]" that comes first, perhaps after "^", is a
// member. What a backslash is depends on escapes; in POSIX it is a member like
// any other. A "-" at the beginning or the end is one, too.
func (b *bracket) read() (class string, n int, err error) {
	var out strings.Builder
	out.WriteByte('[')
	if strings.HasPrefix(b.text, "^") {
		out.WriteByte('^')
		if b.at++; b.lines {
			out.WriteString(`\n`)
		}
	}
	for first := true; ; first = false {
		if b.at >= len(b.text) {
			return "", 0, syntaxError(errBracket)
		}
		if b.text[b.at] == ']' && !first {
			return out.String() + "]", b.at + 1, nil
		}
		if strings.HasPrefix(b.text[b.at:], "[:") {
			name, err := b.named(":]")
			if err != nil {
				return "", 0, err
			}
			if b.fold && (name == "upper" || name == "lower") {
				name = "alpha"
			}
			members, ok := classes()[name]
			if !ok || name == "word" {
				return "", 0, syntaxError(errClassName)
			}
			out.WriteString(members)
			continue
		}
		low, err := b.element()
		if err != nil {
			return "", 0, err
		}
		out.WriteString(quoteInClass(low))
		rest := b.text[b.at:]
		if len(rest) < 2 || rest[0] != '-' || rest[1] == ']' {
			continue
		}
		b.at++
		high, err := b.element()
		if err != nil {
			return "", 0, err
		}
		if high < low {
			return "", 0, syntaxError(errRange)
		}
		out.WriteString("-" + quoteInClass(high))
	}
}

// named reads "[:name:]" and its like, which ends with end.
func (b *bracket) named(end string) (string, error) {
	from := b.at + 2
	n := strings.Index(b.text[from:], end)
	if n < 0 {
		return "", syntaxError(errBracket)
	}
	b.at = from + n + 2
	return b.text[from : from+n], nil
}

// element reads one character, which may be spelled "[.a.]" or "[=a=]".
// A multi-character collating element does not exist in UTF-8 locales, and is an error.
func (b *bracket) element() (rune, error) {
	for _, mark := range []string{".", "="} {
		if !strings.HasPrefix(b.text[b.at:], "["+mark) {
			continue
		}
		name, err := b.named(mark + "]")
		if err != nil {
			return 0, err
		}
		r, n := utf8.DecodeRuneInString(name)
		if n != len(name) || n == 0 {
			return 0, syntaxError(errCollation)
		}
		return r, nil
	}
	if b.escapes && b.text[b.at] == '\\' && b.at+1 < len(b.text) {
		if r, n := SedEscape(b.text[b.at+1:]); n > 0 {
			b.at += 1 + n
			return r, nil
		}
	}
	r, n := utf8.DecodeRuneInString(b.text[b.at:])
	b.at += n
	return r, nil
}

// quoteInClass returns a character as it is spelled in a class of RE2.
func quoteInClass(r rune) string {
	if r < utf8.RuneSelf && strings.ContainsRune(`\]^-[&~`, r) {
		return `\` + string(r)
	}
	if r < ' ' || r == utf8.RuneError {
		return fmt.Sprintf(`\x{%X}`, r)
	}
	return string(r)
}
