package pattern

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
)

// translation is one pattern in RE2.
//
// With assertions it has the characters that stand for them, and only a machine
// can use it.
type translation struct {
	expression string
	asserted   bool // it has assertions
	warnings   []string
}

// translate returns the translation of one pattern.
//
// The errors are made by syntaxError and unsupported. Only the parts of the pattern that
// differ from RE2 are looked at: regexp.Compile may still refuse the result, see re2Error.
func translate(text string, language Syntax, opts *Options) (translation, error) {
	switch language {
	case Fixed:
		return translation{expression: quoteBytes(text)}, nil
	case Perl, Rust:
		p := perl{pattern: text, rust: language == Rust}
		err := p.translate()
		return translation{expression: p.out.String(), asserted: p.asserted}, err
	}
	p := posix{pattern: text, extended: language == Extended, sed: opts.Sed, fold: opts.IgnoreCase, lines: opts.Sed && opts.Multiline}
	out, err := p.translate()
	return translation{out, p.asserted, p.warnings}, err
}

// quoteBytes quotes a text, which may have bytes that are no characters.
// Each run of such bytes becomes one U+FFFD, where RE2 sees one for each byte.
func quoteBytes(text string) string {
	return regexp.QuoteMeta(strings.ToValidUTF8(text, "\uFFFD"))
}

// perl translates the part of Perl's expressions, and of those of Rust, that RE2 has.
// Most of it is copied; what differs is spelled in another way:
//
//	perl      RE2
//	\s        [\t-\r ]      which has the vertical tab, too
//	\h        [\t \x{A0}...]
//	a{2}{3}   (?:a{2}){3}
//	(?#note)
type perl struct {
	pattern  string
	at       int  // the place in pattern that has been reached
	rust     bool // the syntax of Rust's crate regex, as ripgrep has it
	out      strings.Builder
	atom     int      // where in out the last atom begins; -1 if there is none
	opened   []int    // where in out the groups begin that are open
	names    []string // of groups
	asserted bool     // it has conditions that package regexp lacks
}

// translate reads the whole pattern, and leaves it in the syntax of package regexp in
// out.
func (p *perl) translate() error {
	p.atom = -1
	for p.at < len(p.pattern) {
		if err := p.next(); err != nil {
			return err
		}
	}
	if len(p.opened) > 0 {
		return syntaxError("missing closing parenthesis")
	}
	return nil
}

// next translates the next piece.
func (p *perl) next() error {
	c := p.pattern[p.at]
	switch c {
	case '\\':
		return p.escape()
	case '[':
		return p.class()
	case '(':
		return p.open()
	case ')':
		if len(p.opened) == 0 {
			return syntaxError("unmatched closing parenthesis")
		}
		p.atom = p.opened[len(p.opened)-1]
		p.opened = p.opened[:len(p.opened)-1]
		p.out.WriteByte(')')
	case '|':
		p.out.WriteByte('|')
		p.atom = -1
	case '*', '+', '?', '{':
		return p.repeat()
	case '^', '$':
		p.assert(string(c))
	case '.':
		p.emit(".")
	default:
		r, n := utf8.DecodeRuneInString(p.pattern[p.at:])
		p.emit(quoteRune(r, p.pattern[p.at:p.at+n]))
		p.at += n
		return nil
	}
	p.at++
	return nil
}

// emit writes an atom. A repetition that follows applies to it.
func (p *perl) emit(expression string) {
	p.atom = p.out.Len()
	p.out.WriteString(expression)
}

// assert writes what has no width, so that it cannot be repeated.
func (p *perl) assert(expression string) {
	p.out.WriteString(expression)
	if p.atom = -1; p.rust {
		p.atom = p.out.Len() - len(expression)
	}
}

// counts is a repetition in braces. Braces of another form are plain text in Perl, and
// an error in the crate regex of Rust.
var counts = lazyregexp.New(`^\{([0-9]+)(,?)([0-9]*)\}`)

// repeat reads a repetition and puts the item that it repeats in a group of its own, so
// that it cannot run into what package regexp reads before it.
//
// A possessive quantifier has no translation. In Rust a quantifier may follow an assertion.
func (p *perl) repeat() error {
	op := p.pattern[p.at : p.at+1]
	if op == "{" {
		m := counts().FindStringSubmatch(p.pattern[p.at:])
		if m == nil {
			if p.rust {
				return syntaxError("repetition operator missing expression or count")
			}
			p.emit(`\{`)
			p.at++
			return nil
		}
		op = m[0]
		low, _ := strconv.Atoi(m[1])
		high, _ := strconv.Atoi("0" + m[3])
		switch {
		case max(low, high) > maxRepeat:
			return unsupported("a repetition of more than %d times", maxRepeat)
		case m[3] != "" && low > high:
			return syntaxError("numbers out of order in {} quantifier")
		}
	}
	if p.atom < 0 {
		return syntaxError("quantifier does not follow a repeatable item")
	}
	p.at += len(op)
	if p.at < len(p.pattern) {
		switch next := p.pattern[p.at]; {
		case next == '?':
			op += "?"
			p.at++
		case next == '+' && !p.rust:
			return unsupported("the possessive quantifier %s+", op)
		case next == '*' && !p.rust:
			return syntaxError("quantifier does not follow a repeatable item")
		}
	}
	done := p.out.String()
	p.out.Reset()
	p.out.WriteString(done[:p.atom] + "(?:" + done[p.atom:] + ")" + op)
	return nil
}

// The groups with flags, as "(?i)" and "(?i:", and those with a name.
var (
	groupFlags = lazyregexp.New(`^\(\?([imsU]*(?:-[imsU]+)?)([:)])`)
	groupName  = lazyregexp.New(`^\(\?(?:P?<([A-Za-z_][A-Za-z0-9_]*)>|'([A-Za-z_][A-Za-z0-9_]*)')`)
)

// open translates a parenthesis and what belongs to it. A group with flags
// alone, "(?i)", has no parenthesis to close: it holds for the rest of the
// group around it.
func (p *perl) open() error {
	rest := p.pattern[p.at:]
	if strings.HasPrefix(rest, "(?#") && !p.rust {
		end := strings.IndexByte(rest, ')')
		if end < 0 {
			return syntaxError("missing ) after (?# comment")
		}
		p.at += end + 1
		return nil
	}
	text := "("
	switch flags, name := groupFlags().FindStringSubmatch(rest), groupName().FindStringSubmatch(rest); {
	case strings.HasPrefix(rest, "(*"):
		if !p.rust {
			return unsupported("the verb %s", rest[:min(len(rest), 10)])
		}
	case !strings.HasPrefix(rest, "(?"):
	case flags != nil && flags[2] == ")":
		p.out.WriteString(flags[0])
		p.at += len(flags[0])
		p.atom = -1
		return nil
	case flags != nil:
		text = flags[0]
	case name != nil:
		text = name[0]
		if slices.Contains(p.names, name[1]+name[2]) {
			return syntaxError("two named subpatterns have the same name")
		}
		p.names = append(p.names, name[1]+name[2])
		if name[2] != "" {
			text = "(?P<" + name[2] + ">"
		}
	default:
		return p.refuseGroup(rest)
	}
	if len(p.opened) >= maxDepth {
		return unsupported("more than %d parentheses in each other", maxDepth)
	}
	p.opened = append(p.opened, p.out.Len())
	p.out.WriteString(text)
	p.at += len(text)
	if name := groupName().FindString(rest); name != "" {
		p.at += len(name) - len(text)
	}
	p.atom = -1
	return nil
}

// refuseGroup returns the error of a group that RE2 does not have.
func (p *perl) refuseGroup(rest string) error {
	for _, kind := range []struct{ prefix, what string }{
		{"(?=", "to look ahead with (?=...)"}, {"(?!", "to look ahead with (?!...)"},
		{"(?<=", "to look behind with (?<=...)"}, {"(?<!", "to look behind with (?<!...)"},
		{"(?>", "the atomic group (?>...)"}, {"(?|", "the group (?|...)"}, {"(?(", "the condition (?(...)"},
		{"(?P=", "the back reference (?P=...)"}, {"(?R", "recursion"}, {"(?x", "the flag x"},
	} {
		if strings.HasPrefix(rest, kind.prefix) {
			return unsupported("%s", kind.what)
		}
	}
	return unsupported("the group %q", rest[:min(len(rest), 4)])
}

// perlClasses are the classes that are one letter, without ASCII's brackets.
var perlClasses = map[byte]string{
	'd': `0-9`, 'w': `0-9A-Za-z_`, 's': `\t-\r `,
	'h': `\t \x{A0}\x{1680}\x{180E}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}`,
	'v': `\n-\r\x{85}\x{2028}\x{2029}`,
}

// shorthand returns the members of a class that is one letter, and whether the class is
// all other characters.
// ok is false for a letter that is no class.
func (p *perl) shorthand(c byte) (members string, negated, ok bool) {
	lower := c | 0x20
	members, ok = perlClasses[lower]
	if p.rust {
		switch lower {
		case 'd':
			members = `\p{Nd}`
		case 'w':
			members = `\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24B6}-\x{24E9}\x{200C}\x{200D}`
		case 's':
			members = `\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}`
		default:
			return "", false, false
		}
	}
	return members, c != lower, ok
}

// escape translates a backslash and what it stands before.
func (p *perl) escape() error {
	if p.at+1 == len(p.pattern) {
		return syntaxError(`\ at end of pattern`)
	}
	c := p.pattern[p.at+1]
	if members, negated, ok := p.shorthand(c); ok {
		mark := ""
		if negated {
			mark = "^"
		}
		p.emit("[" + mark + members + "]")
		p.at += 2
		return nil
	}
	switch c {
	case 'b', 'B':
		if p.rust {
			p.asserted = true
			p.assert(assertions[rune(c)])
		} else {
			p.assert(`\` + string(c))
		}
	case 'A', 'z':
		p.assert(`\` + string(c))
	case 'Z':
		p.assert(`\z`) // a line has no line end
	case 'N':
		p.emit(`[^\n]`)
	case 'Q':
		return p.quoted()
	case 'E':
	case 'p', 'P':
		return p.property()
	case 'K', 'G', 'R', 'X', 'C', 'g', 'k':
		return unsupported(`\%c`, c)
	default:
		if '1' <= c && c <= '9' {
			return unsupported(`the back reference \%c`, c)
		}
		r, n, err := p.character(p.pattern[p.at:])
		if err != nil {
			return err
		}
		p.emit(quoteCode(r))
		p.at += n
		return nil
	}
	p.at += 2
	return nil
}

// quoted translates \Q...\E. Without \E it goes to the end of the pattern, as
// in Perl.
func (p *perl) quoted() error {
	text := p.pattern[p.at+2:]
	inner, _, closed := strings.Cut(text, `\E`)
	p.at += 2 + len(inner)
	if closed {
		p.at += 2
	}
	for _, r := range inner {
		p.emit(quoteCode(r))
	}
	return nil
}

// property is a class of Unicode, such as \pL or \p{Greek}.
var property = lazyregexp.New(`^\\[pP](?:[A-Z]|\{\^?[A-Za-z_]+\})`)

// property reads a class of Unicode, if package regexp knows it.
func (p *perl) property() error {
	text := property().FindString(p.pattern[p.at:])
	if _, err := regexp.Compile(text); text == "" || err != nil {
		return syntaxError(`unknown property after \p or \P`)
	}
	p.emit(text)
	p.at += len(text)
	return nil
}

// quoteCode returns the expression for the character r.
func quoteCode(r rune) string {
	if r < ' ' || r == utf8.RuneError {
		return fmt.Sprintf(`\x{%X}`, r)
	}
	return regexp.QuoteMeta(string(r))
}

// The escapes of a character by its number.
var (
	hexCode   = lazyregexp.New(`^\\x(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{0,2}))`)
	octalCode = lazyregexp.New(`^\\(?:o\{([0-7]{1,7})\}|(0[0-7]{0,2}))`)
)

// character reads the escape of one character at the beginning of s, and returns its
// length.
func (p *perl) character(s string) (r rune, n int, err error) {
	if m := hexCode().FindStringSubmatch(s); m != nil {
		code, _ := strconv.ParseUint("0"+m[1]+m[2], 16, 32)
		return rune(code), len(m[0]), nil
	}
	if m := octalCode().FindStringSubmatch(s); m != nil {
		code, _ := strconv.ParseUint("0"+m[1]+m[2], 8, 32)
		return rune(code), len(m[0]), nil
	}
	c, width := utf8.DecodeRuneInString(s[1:])
	if at := strings.IndexRune("ntrfae", c); at >= 0 {
		return rune("\n\t\r\f\a\x1b"[at]), 2, nil
	}
	if c == 'v' && p.rust {
		return '\v', 2, nil
	}
	if c < utf8.RuneSelf && (c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9') {
		if c == 'c' && len(s) > 2 && !p.rust {
			return rune(strings.ToUpper(s[2:3])[0] ^ 0x40), 3, nil
		}
		return 0, 0, syntaxError(`unrecognized character follows \`)
	}
	return c, 1 + width, nil
}

// class translates a class of characters.
//
// p.at is moved only when the class has ended.
func (p *perl) class() error {
	var b strings.Builder
	b.WriteByte('[')
	rest := p.pattern[p.at+1:]
	at := 0
	if strings.HasPrefix(rest, "^") {
		b.WriteByte('^')
		at++
	}
	ranged := false // the last member can begin a range
	for first := true; ; first = false {
		if at >= len(rest) {
			return syntaxError("missing terminating ] for character class")
		}
		c := rest[at]
		switch {
		case c == ']' && !first:
			p.emit(b.String() + "]")
			p.at += at + 2
			return nil
		case c == '[' && p.rust && !strings.HasPrefix(rest[at:], "[:") || p.rust && (strings.HasPrefix(rest[at:], "&&") || strings.HasPrefix(rest[at:], "--") || strings.HasPrefix(rest[at:], "~~")):
			return unsupported("a class made of classes")
		case strings.HasPrefix(rest[at:], "[:"):
			end := strings.Index(rest[at:], ":]")
			if end < 0 {
				b.WriteString(`\[`)
				at++
				continue
			}
			name := rest[at : at+end+2]
			if _, err := regexp.Compile("[" + name + "]"); err != nil {
				return syntaxError("unknown POSIX class name")
			}
			b.WriteString(name)
			at += len(name)
			ranged = false
			continue
		case c == '-' && ranged && at+1 < len(rest) && rest[at+1] != ']':
			b.WriteByte('-')
			at++
			ranged = false
			r, n, members, err := p.member(rest[at:])
			if err != nil {
				return err
			}
			if members != "" { // "[a-\d]" has no range
				return syntaxError("invalid range in character class")
			}
			b.WriteString(quoteInClass(r))
			at += n
			continue
		}
		r, n, members, err := p.member(rest[at:])
		if err != nil {
			return err
		}
		if at += n; members != "" {
			b.WriteString(members)
		} else {
			b.WriteString(quoteInClass(r))
		}
		ranged = members == ""
	}
}

// member reads a character of a class, or a letter that stands for several.
// members is "" for a single character.
func (p *perl) member(s string) (r rune, n int, members string, err error) {
	if s[0] != '\\' {
		r, n = utf8.DecodeRuneInString(s)
		return r, n, "", nil
	}
	if len(s) == 1 {
		return 0, 0, "", syntaxError(`\ at end of pattern`)
	}
	if members, negated, ok := p.shorthand(s[1]); ok {
		if negated {
			return 0, 2, negatedMembers(members), nil
		}
		return 0, 2, members, nil
	}
	if text := property().FindString(s); text != "" {
		if _, err := regexp.Compile(text); err != nil {
			return 0, 0, "", syntaxError(`unknown property after \p or \P`)
		}
		return 0, len(text), text, nil
	}
	if s[1] == 'b' {
		return '\b', 2, "", nil
	}
	r, n, err = p.character(s)
	return r, n, "", err
}

// negatedMembers returns the members of the class that has all characters but those of
// another.
func negatedMembers(members string) string {
	tree, err := syntax.Parse("[^"+members+"]", syntax.Perl)
	if err != nil || tree.Op != syntax.OpCharClass {
		return members // which does not happen: all members are our own
	}
	var b strings.Builder
	for i := 0; i < len(tree.Rune); i += 2 {
		fmt.Fprintf(&b, `\x{%X}-\x{%X}`, tree.Rune[i], tree.Rune[i+1])
	}
	return b.String()
}
