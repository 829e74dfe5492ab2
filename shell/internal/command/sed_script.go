package command

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/shell/internal/pattern"
)

// sedScript is a script of sed: its commands in order. A "{" knows where its "}" is, and
// a branch where its label is. Comments, labels and "}" are no commands.
type sedScript struct {
	commands []sedCommand
	quiet    bool // the first line is "#n"
}

// sedAddress says which lines a command is for. n is the line, or the first one of a
// step whose distance is m.
type sedAddress struct {
	kind sedAddressKind
	n, m int
	re   *pattern.Regexp // nil with sedRegexp: the last one that was used
}

// sedAddressKind says what an address of a command is. All but the first three are
// extensions of GNU's sed.
type sedAddressKind int

const (
	sedNone   sedAddressKind = iota
	sedLine                  // n
	sedLast                  // $
	sedRegexp                // /re/
	sedStep                  // n~m
	sedPlus                  // ,+n
	sedTimes                 // ,~n
	sedZero                  // 0,/re/
)

// sedCommand is one command. Blocks are no tree: "{" has the index of the command after
// its "}", and branches have that of their label, so that a script runs as a list with
// jumps:
//
//	$!{N;ba}    0: $!{  to 3    1: N    2: b  to the label a
type sedCommand struct {
	from, to sedAddress
	not      bool   // "!": the lines that the addresses do not select
	name     byte   // the letter of the command
	text     string // of a, i and c, the label of b, t and T
	number   int    // of q, Q and l: -1 if there is none; the target of {, b, t and T
	from2    []rune // of y
	to2      []rune // what y makes of them
	subst    *sedSubstitute

	active bool // a range has begun
	end    int  // the line at which it ends
}

// sedSubstitute is what s does. print is 1 or 0: p twice is an error.
type sedSubstitute struct {
	re     *pattern.Regexp // nil: the last one that was used
	parts  []sedPart       // of the replacement
	global bool            // g: every match
	print  int             // how often p was given
	nth    int             // the first match that is replaced; 0 as 1
}

// sedPart is a piece of a replacement: text, a group, or a change of case.
type sedPart struct {
	text  string
	group int  // -1 for text
	fold  byte // one of ULulE, or 0
}

// sedParser reads a script. Its methods begin at the place at, and leave it after what they have
// read; after an error it is the place that the message names.
type sedParser struct {
	text     string // of the script
	at       int    // the place in text that has been reached
	extended bool   // -E
	commands []sedCommand
	blocks   []int          // the places of the open braces in commands
	labels   map[string]int // the places of labels in commands
	source   string         // for messages
}

// errorf returns an error of the script in GNU's form, with the place where it was
// noticed.
func (p *sedParser) errorf(format string, args ...any) error {
	return fmt.Errorf("%s, char %d: %s", p.source, p.at, fmt.Sprintf(format, args...))
}

// errSedLabel is the error of a branch to nowhere.
var errSedLabel = errors.New("can't find label for jump to")

// parseSed reads a script. Labels are resolved when all is read, as a branch may go
// forward. A branch without a label goes to the end of the script.
//
// extended says that regular expressions are extended ones. Nothing is run, and no file is
// opened. The error is in GNU's words: errSedLabel for a branch to nowhere, whose status is
// another one, and else a text with a place. Several scripts of -e and -f are one text, so
// that the place counts from the beginning of the first.
func parseSed(text string, extended bool) (*sedScript, error) {
	p := &sedParser{text: text, extended: extended, labels: map[string]int{}, source: "-e expression #1"}
	quiet := strings.HasPrefix(text, "#n\n") || text == "#n"
	for {
		p.skip(" \t\n;")
		if p.at == len(p.text) {
			break
		}
		if err := p.command(); err != nil {
			return nil, err
		}
	}
	if len(p.blocks) > 0 {
		// GNU's sed names char 0 for it.
		p.at = 0
		return nil, p.errorf("unmatched `{'")
	}
	for i := range p.commands {
		c := &p.commands[i]
		if strings.IndexByte("btT", c.name) < 0 {
			continue
		}
		// The end of the script, unless there is a label.
		c.number = len(p.commands)
		if c.text != "" {
			to, ok := p.labels[c.text]
			if !ok {
				return nil, fmt.Errorf("%w `%s'", errSedLabel, c.text)
			}
			c.number = to
		}
	}
	return &sedScript{commands: p.commands, quiet: quiet}, nil
}

// skip moves on over any of chars.
func (p *sedParser) skip(chars string) {
	for p.at < len(p.text) && strings.IndexByte(chars, p.text[p.at]) >= 0 {
		p.at++
	}
}

// peek returns the next byte, 0 at the end. It moves nothing.
func (p *sedParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// command reads one command with its addresses: [address[,address]][!]name. The line 0
// is an address only in 0,/re/.
func (p *sedParser) command() error {
	var c sedCommand
	var err error
	if c.from, err = p.address(); err != nil {
		return err
	}
	p.skip(" \t")
	if c.from.kind != sedNone && p.peek() == ',' {
		p.at++
		p.skip(" \t")
		if c.to, err = p.endAddress(); err != nil {
			return err
		}
	}
	if c.from.kind == sedLine && c.from.n == 0 {
		if c.to.kind != sedRegexp {
			return p.errorf("invalid usage of line address 0")
		}
		c.from.kind = sedZero
		c.active = true
	}
	p.skip(" \t")
	if p.peek() == '!' {
		c.not = true
		p.at++
		if p.skip(" \t"); p.peek() == '!' {
			return p.errorf("multiple `!'s")
		}
	}
	if p.at == len(p.text) {
		return p.errorf("missing command")
	}
	c.name = p.text[p.at]
	p.at++
	c.number = -1
	return p.finish(c)
}

// finish reads what follows the name of a command. Text of a, i and c, and names of
// files, go on to the end of the line, semicolons included.
//
// It adds c to the commands. Those that would write files or run programs are refused here,
// before any line is read.
func (p *sedParser) finish(c sedCommand) error {
	switch c.name {
	case '#':
		if c.from.kind != sedNone {
			return p.errorf("comments don't accept any addresses")
		}
		if n := strings.IndexByte(p.text[p.at:], '\n'); n >= 0 {
			p.at += n
		} else {
			p.at = len(p.text)
		}
		return nil
	case '{':
		p.blocks = append(p.blocks, len(p.commands))
		p.commands = append(p.commands, c)
		return nil
	case '}':
		if c.from.kind != sedNone {
			return p.errorf("} doesn't want any addresses")
		}
		if len(p.blocks) == 0 {
			return p.errorf("unexpected `}'")
		}
		// Where the script goes on if the address of the "{" does not match.
		p.commands[p.blocks[len(p.blocks)-1]].number = len(p.commands)
		p.blocks = p.blocks[:len(p.blocks)-1]
		return p.ends()
	case ':':
		if c.from.kind != sedNone {
			return p.errorf(": doesn't want any addresses")
		}
		label := p.word(true)
		if label == "" {
			return p.errorf("\":\" lacks a label")
		}
		p.labels[label] = len(p.commands)
		return nil
	case 'a', 'i', 'c':
		if err := p.readText(&c); err != nil {
			return err
		}
		p.commands = append(p.commands, c)
		return nil
	case 'b', 't', 'T':
		p.skip(" \t")
		c.text = p.word(false)
		p.commands = append(p.commands, c)
		return p.ends()
	case 's':
		if err := p.substitute(&c); err != nil {
			return err
		}
	case 'y':
		if err := p.transliterate(&c); err != nil {
			return err
		}
	case 'q', 'Q', 'l', 'L':
		if (c.name == 'q' || c.name == 'Q') && c.to.kind != sedNone {
			return p.errorf("command only uses one address")
		}
		p.skip(" \t")
		if digits := p.digits(); digits != "" {
			c.number, _ = strconv.Atoi(digits)
		}
	case '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F':
	case 'r', 'R':
		p.skip(" \t")
		c.text = p.line()
		if c.text == "" {
			return p.errorf("missing filename in r/R/w/W commands")
		}
		p.commands = append(p.commands, c)
		return nil
	case 'w', 'W':
		return p.errorf("the command %c is not possible here: redirect the output to a file instead", c.name)
	case 'e':
		return p.errorf("the command e is not possible here: no program can be run from a script of sed")
	default:
		return p.errorf("unknown command: `%c'", c.name)
	}
	p.commands = append(p.commands, c)
	return p.ends()
}

// ends reads the end of a command. What ends it is left for the next one: "}" is a command of
// its own, and needs no semicolon before it, as with GNU's sed.
func (p *sedParser) ends() error {
	p.skip(" \t")
	switch p.peek() {
	case 0, '\n', ';', '#', '}':
		return nil
	}
	p.at++
	return p.errorf("extra characters after command")
}

// word reads a label, which ends at white space and semicolons. Where a branch names
// it, a "}" ends it, too, so that {s/a/b/;ba} can be written.
func (p *sedParser) word(label bool) string {
	if label {
		p.skip(" \t")
	}
	n := strings.IndexAny(p.text[p.at:], "\n; \t")
	if n < 0 {
		n = len(p.text) - p.at
	}
	word := p.text[p.at : p.at+n]
	if !label {
		if before, _, found := strings.Cut(word, "}"); found {
			word = before
		}
	}
	p.at += len(word)
	return word
}

// line reads the rest of the line, without its end.
func (p *sedParser) line() string {
	rest, _, _ := strings.Cut(p.text[p.at:], "\n")
	p.at += len(rest)
	return rest
}

// digits returns the digits at hand, which may be none, and moves on over them.
func (p *sedParser) digits() string {
	start := p.at
	for p.peek() >= '0' && p.peek() <= '9' {
		p.at++
	}
	return p.text[start:p.at]
}

// address reads the first address of a command, if there is one. \cREc is /RE/ with
// another delimiter, and n~0 is line n.
func (p *sedParser) address() (sedAddress, error) {
	switch c := p.peek(); {
	case c >= '0' && c <= '9':
		a := sedAddress{kind: sedLine}
		a.n, _ = strconv.Atoi(p.digits())
		if p.peek() == '~' {
			p.at++
			a.kind = sedStep
			a.m, _ = strconv.Atoi("0" + p.digits())
			if a.m == 0 {
				a.kind = sedLine
			}
		}
		return a, nil
	case c == '$':
		p.at++
		return sedAddress{kind: sedLast}, nil
	case c == '/' || c == '\\':
		if p.at++; c == '\\' {
			if p.at == len(p.text) {
				return sedAddress{}, p.errorf("unexpected `,'")
			}
			c = p.peek()
			p.at++
		}
		text, err := p.delimited(c, true)
		if err != nil {
			return sedAddress{}, p.errorf("unterminated address regex")
		}
		flags := ""
		for p.peek() == 'I' || p.peek() == 'M' {
			flags += string(p.peek())
			p.at++
		}
		re, err := p.compile(text, flags)
		return sedAddress{kind: sedRegexp, re: re}, err
	}
	return sedAddress{}, nil
}

// endAddress reads the second address. A step has no meaning there: 2,4~2 is 2,4.
func (p *sedParser) endAddress() (sedAddress, error) {
	kind := map[byte]sedAddressKind{'+': sedPlus, '~': sedTimes}[p.peek()]
	if kind != sedNone {
		p.at++
		n := p.digits()
		if n == "" {
			return sedAddress{}, p.errorf("expected number")
		}
		a := sedAddress{kind: kind}
		a.n, _ = strconv.Atoi(n)
		return a, nil
	}
	a, err := p.address()
	if err == nil && a.kind == sedNone {
		err = p.errorf("unexpected `,'")
	}
	if a.kind == sedStep {
		a.kind = sedLine
	}
	return a, err
}

// delimited reads up to the delimiter. In a class of a regular expression, the delimiter and
// a backslash stand for themselves. Elsewhere, a delimiter after a backslash does, and
// loses the backslash unless it would then mean something else:
//
//	s,[,],x,      the expression is [,]
//	s,a\,b,x,     it is a,b
//	s|a\|b|x|     it is a|b: a literal bar in a basic expression
//	s&x&\&&       the replacement is \&, the character
func (p *sedParser) delimited(delimiter byte, re bool) (string, error) {
	var b strings.Builder
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch {
		case c == delimiter:
			return b.String(), nil
		case c == '\n' && re:
			return "", fmt.Errorf("a line ends")
		case c == '[' && re:
			class, _, _ := strings.Cut(p.text[p.at:p.at+classLength(p.text[p.at:])], "\n")
			b.WriteString("[" + class)
			p.at += len(class)
		case c != '\\' || p.at == len(p.text):
			b.WriteByte(c)
		case p.text[p.at] == delimiter:
			if delimiter == 'n' && re || strings.IndexByte(`&\`, delimiter) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(delimiter)
			p.at++
		case p.text[p.at] == 'n' && re:
			b.WriteString(`\n`)
			p.at++
		default:
			b.WriteByte(c)
			b.WriteByte(p.text[p.at])
			p.at++
		}
	}
	return "", fmt.Errorf("the text ends")
}

// classLength returns how many bytes of text, which follows a "[", are its class, all if it
// does not end.
//
//	^]/[:alpha:]]x    has 12: up to the "]" before x
func classLength(text string) int {
	at := len(text) - len(strings.TrimPrefix(text, "^"))
	for first := true; at < len(text); first = false {
		switch {
		case text[at] == ']' && !first:
			return at + 1
		case text[at] == '[' && at+1 < len(text) && strings.IndexByte(":.=", text[at+1]) >= 0:
			_, after, ok := strings.Cut(text[at+2:], text[at+1:at+2]+"]")
			if !ok {
				return len(text)
			}
			at = len(text) - len(after)
		default:
			at++
		}
	}
	return len(text)
}

// compile compiles a regular expression. An empty one is nil: the last one that was
// used.
//
// The flag I is for either case, and M lets "^" and "$" match at line ends within the pattern
// space, which N and G make.
func (p *sedParser) compile(text, flags string) (*pattern.Regexp, error) {
	if text == "" {
		if flags != "" {
			return nil, p.errorf("cannot specify modifiers on empty regexp")
		}
		return nil, nil
	}
	language := pattern.Basic
	if p.extended {
		language = pattern.Extended
	}
	re, err := pattern.Compile([]string{text}, language, &pattern.Options{Sed: true, IgnoreCase: strings.Contains(flags, "I"), Multiline: strings.Contains(flags, "M")})
	if err != nil {
		return nil, p.errorf("%v", err)
	}
	return re, nil
}

// readText reads the text of a, i and c, in both forms: a\ with the text in the next
// line, and GNU's one-line form. There, blanks before the text are skipped, and a
// backslash keeps them: "a\  x" adds "  x". A backslash at the end of a line lets the
// text go on.
//
//	1a\             1a text
//	text\           $!{a text }    the text is "text }", and the block does not end
//	more
func (p *sedParser) readText(c *sedCommand) error {
	p.skip(" \t")
	if p.at == len(p.text) {
		return p.errorf("expected \\ after `a', `c' or `i'")
	}
	if p.peek() == '\\' {
		p.at++
		spaces := p.at
		p.skip(" \t")
		if p.peek() == '\n' {
			p.at++
		} else if p.at == len(p.text) { // a script that ends there has no text
			return nil
		} else {
			p.at = spaces
		}
	}
	var b strings.Builder
	for p.at < len(p.text) && p.text[p.at] != '\n' {
		if p.text[p.at] != '\\' {
			b.WriteByte(p.text[p.at])
			p.at++
			continue
		}
		if p.at++; p.at == len(p.text) {
			break
		}
		if r, n := pattern.SedEscape(p.text[p.at:]); n > 0 {
			b.WriteByte(byte(r))
			p.at += n
			continue
		}
		b.WriteByte(p.text[p.at])
		p.at++
	}
	c.text = b.String() + "\n"
	return nil
}

// substitute reads s/re/replacement/flags. A reference such as \2 to a group that does
// not exist is found here, unless the expression is the empty one.
//
// The flags are g, p and a number, each at most once, and i, I, m and M. The delimiter may be
// any byte but a line end and a backslash.
func (p *sedParser) substitute(c *sedCommand) error {
	if p.at == len(p.text) || p.peek() == '\n' || p.peek() == '\\' {
		return p.errorf("unterminated `s' command")
	}
	delimiter := p.peek()
	p.at++
	text, err := p.delimited(delimiter, true)
	if err != nil {
		return p.errorf("unterminated `s' command")
	}
	replacement, err := p.delimited(delimiter, false)
	if err != nil {
		return p.errorf("unterminated `s' command")
	}
	s := &sedSubstitute{}
	flags := ""
	for done := false; !done; {
		switch f := p.peek(); {
		case f == 'g' && s.global, f == 'p' && s.print > 0:
			p.at++
			return p.errorf("multiple `%c' options to `s' command", f)
		case f == 'g':
			s.global = true
		case f == 'p':
			s.print++
		case f == 'i' || f == 'I' || f == 'm' || f == 'M':
			flags += strings.ToUpper(string(f))
		case f == 'e' || f == 'w':
			p.at++
			return p.errorf("the flag %c of s is not possible here", f)
		case f >= '0' && f <= '9':
			if s.nth > 0 {
				return p.errorf("multiple number options to `s' command")
			}
			if s.nth, _ = strconv.Atoi(p.digits()); s.nth == 0 {
				return p.errorf("number option to `s' command may not be zero")
			}
			continue
		case f == 0 || strings.IndexByte("\n;#} \t", f) >= 0:
			done = true
			continue
		default:
			p.at++
			return p.errorf("unknown option to `s'")
		}
		p.at++
	}
	if s.re, err = p.compile(text, flags); err != nil {
		return err
	}
	s.parts = sedReplacement(replacement)
	for _, part := range s.parts {
		if s.re != nil && part.group > s.re.Groups() {
			return p.errorf("invalid reference \\%d on `s' command's RHS", part.group)
		}
	}
	c.subst = s
	return nil
}

// sedReplacement splits a replacement into its parts: "<\U&\E>" is the text "<", the
// change U, the group 0, the change E and the text ">". \n and the like are characters.
func sedReplacement(text string) []sedPart {
	var parts []sedPart
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			parts = append(parts, sedPart{text: b.String(), group: -1})
			b.Reset()
		}
	}
	for at := 0; at < len(text); at++ {
		c := text[at]
		switch {
		case c == '&':
			flush()
			parts = append(parts, sedPart{group: 0})
		case c != '\\' || at+1 == len(text):
			b.WriteByte(c)
		default:
			at++
			switch e := text[at]; {
			case e >= '0' && e <= '9':
				flush()
				parts = append(parts, sedPart{group: int(e - '0')})
			case strings.IndexByte("ULulE", e) >= 0:
				flush()
				parts = append(parts, sedPart{group: -1, fold: e})
			default:
				if r, n := pattern.SedEscape(text[at:]); n > 0 {
					b.WriteByte(byte(r))
					at += n - 1
					continue
				}
				b.WriteByte(e)
			}
		}
	}
	flush()
	return parts
}

// transliterate reads y/abc/xyz/. Both sides have as many characters. If one comes
// twice in the first, its first place counts.
func (p *sedParser) transliterate(c *sedCommand) error {
	if p.at == len(p.text) {
		return p.errorf("unterminated `y' command")
	}
	delimiter := p.peek()
	p.at++
	var sides [2][]rune
	for i := range sides {
		text, err := p.delimited(delimiter, false)
		if err != nil {
			return p.errorf("unterminated `y' command")
		}
		if sides[i], err = p.transliterated(text); err != nil {
			return err
		}
	}
	if len(sides[0]) != len(sides[1]) {
		return p.errorf("strings for `y' command are different lengths")
	}
	c.from2, c.to2 = sides[0], sides[1]
	return nil
}

// transliterated returns the characters of one side of y, where only \\, \n, other
// escapes of SedEscape and the delimiter may follow a backslash.
func (p *sedParser) transliterated(text string) ([]rune, error) {
	var out []rune
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRuneInString(text[at:])
		at += n
		if r != '\\' || at == len(text) {
			out = append(out, r)
			continue
		}
		if text[at] == '\\' {
			out = append(out, '\\')
			at++
			continue
		}
		r, n = pattern.SedEscape(text[at:])
		if n == 0 {
			return nil, p.errorf("`y' command strings have unknown escapes") // GNU keeps the backslash in some versions
		}
		out = append(out, r)
		at += n
	}
	return out, nil
}
