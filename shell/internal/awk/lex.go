package awk

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is what is wrong with a program, or what went wrong when it ran.
type Error struct {
	Line int // 0 if it is unknown
	Text string
}

// Error implements the error interface.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Text
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Text)
}

// fail ends the parser or the interpreter with an error. Parse and Run recover it.
//
// Line 0 means that the line is unknown: most expressions keep none, to be small.
func fail(line int, format string, args ...any) {
	panic(&Error{Line: line, Text: fmt.Sprintf(format, args...)})
}

// kind is what a token is. An operator or a keyword is its own spelling.
type kind string

// The kinds of tokens that are not spelled in one way only.
const (
	tokenEnd     kind = "end of program"
	tokenNewline kind = "newline"
	tokenNumber  kind = "number"
	tokenString  kind = "string"
	tokenRegexp  kind = "regular expression"
	tokenName    kind = "name"
	tokenCall    kind = "function name" // a name with "(" right after it
	tokenBuiltin kind = "built-in function"
)

// token is a name, a constant, an operator or a line end of a program.
type token struct {
	kind   kind
	text   string  // of a name, string or regexp
	number float64 // of a constant
	line   int     // from 1, for messages
}

// keywords are the words that are their own kind of token.
var keywords = map[string]bool{
	"BEGIN": true, "END": true, "BEGINFILE": true, "ENDFILE": true, "function": true, "func": true,
	"if": true, "else": true, "while": true, "for": true, "do": true, "break": true, "continue": true,
	"next": true, "nextfile": true, "exit": true, "return": true, "delete": true, "in": true, "getline": true,
	"print": true, "printf": true, "switch": true, "case": true, "default": true,
}

// operators are in the order in which they are tried: one that begins with another
// comes before it. "**" and "**=" are other spellings of "^" and "^=".
var operators = []string{
	"**=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**", "==", "<=", ">=", "!=", "!~", ">>", "|&",
	"{", "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!", ">", "<", "|", "?", ":", "~", "$", "=",
}

// lexer splits a program into tokens.
type lexer struct {
	source string
	at     int // the place in source that has been reached
	line   int
	tokens []token
}

// lex returns the tokens of a program. A line end and the end of the text follow the
// last one, so that the parser may always look one further.
//
// It fails, by fail, for a character that begins no token, and for a string or a regular
// expression that does not end in its line.
func lex(source string) []token {
	l := &lexer{source: source, line: 1}
	for l.next() {
	}
	return append(l.tokens, token{kind: tokenNewline, line: l.line}, token{kind: tokenEnd, line: l.line})
}

// add adds a token at the current line.
func (l *lexer) add(t token) {
	t.line = l.line
	l.tokens = append(l.tokens, t)
}

// endsOperand reports whether a "/" now divides. Otherwise it begins a regular
// expression. The grammar cannot tell, as both may follow the same text; the last token
// decides:
//
//	a / b        after a name, it divides
//	f(x) / 2     after ")"
//	a[1] / 2     after "]"
//	NR % /b/     after an operator, it begins an expression
//	/a/ ~ /b/    after a line end, and after "~", too
func (l *lexer) endsOperand() bool {
	if len(l.tokens) == 0 {
		return false
	}
	switch l.tokens[len(l.tokens)-1].kind {
	case tokenNumber, tokenString, tokenRegexp, tokenName, tokenBuiltin, ")", "]", "$", "++", "--":
		return true
	}
	return false
}

// next reads a token. It reports whether there can be more.
func (l *lexer) next() bool {
	rest := l.source[l.at:]
	if rest == "" {
		return false
	}
	c := rest[0]
	switch {
	case c == ' ' || c == '\t' || c == '\r':
		l.at++
	case c == '\n':
		l.add(token{kind: tokenNewline})
		l.at++
		l.line++
	case c == '\\' && (strings.HasPrefix(rest, "\\\n") || strings.HasPrefix(rest, "\\\r\n")):
		l.at += strings.IndexByte(rest, '\n') + 1
		l.line++
	case c == '#':
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			l.at += n
		} else {
			l.at = len(l.source)
		}
	case c == '"':
		l.quoted()
	case c == '/' && !l.endsOperand():
		l.regexp()
	case '0' <= c && c <= '9' || c == '.' && len(rest) > 1 && '0' <= rest[1] && rest[1] <= '9':
		l.number()
	case isLetter(c):
		l.word()
	default:
		for _, op := range operators {
			if strings.HasPrefix(rest, op) {
				l.at += len(op)
				l.add(token{kind: kind(strings.Replace(op, "**", "^", 1))})
				return true
			}
		}
		r, _ := utf8.DecodeRuneInString(rest)
		if r == '@' { // @include, @load, @namespace and indirect calls
			fail(l.line, "@ is not possible here")
		}
		fail(l.line, "syntax error: unexpected %q", r)
	}
	return true
}

// isLetter reports whether a name may have c. c|0x20 is the lower case of a letter.
func isLetter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

// isDigit reports whether c is an ASCII digit.
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// word reads a name or a keyword. A name with a "(" right after it is a call.
func (l *lexer) word() {
	end := l.at
	for end < len(l.source) && (isLetter(l.source[end]) || isDigit(l.source[end])) {
		end++
	}
	word := l.source[l.at:end]
	l.at = end
	_, builtin := builtins[word]
	switch {
	case word == "func":
		l.add(token{kind: "function"})
	case keywords[word]:
		l.add(token{kind: kind(word)})
	case builtin:
		l.add(token{kind: tokenBuiltin, text: word})
	case end < len(l.source) && l.source[end] == '(':
		l.add(token{kind: tokenCall, text: word})
	default:
		l.add(token{kind: tokenName, text: word})
	}
}

// number reads a number of the program, where 0x11 is 17 and 011 is 9, as in gawk. In
// data, both are decimal (see toNumber).
func (l *lexer) number() {
	rest := l.source[l.at:]
	if len(rest) > 2 && rest[0] == '0' && rest[1]|0x20 == 'x' {
		end := 2
		for end < len(rest) && strings.IndexByte("0123456789abcdefABCDEF", rest[end]) >= 0 {
			end++
		}
		if end > 2 {
			l.at += end
			l.add(token{kind: tokenNumber, number: parseInteger(rest[2:end], 16)})
			return
		}
	}
	n := numberPrefix(rest)
	number, _ := strconv.ParseFloat(rest[:n], 64)
	if n > 1 && rest[0] == '0' && strings.Trim(rest[:n], "01234567") == "" {
		number = parseInteger(rest[:n], 8)
	}
	l.at += n
	l.add(token{kind: tokenNumber, number: number})
}

// parseInteger returns the value of digits. One that is too large for an integer is
// rounded.
func parseInteger(digits string, base float64) float64 {
	n := 0.0
	for i := range len(digits) {
		digit := float64(digits[i] - '0')
		if digits[i] > '9' {
			digit = float64(digits[i]|0x20-'a') + 10
		}
		n = n*base + digit
	}
	return n
}

// quoted reads a string. It may go on in the next line after a backslash.
func (l *lexer) quoted() {
	for end := l.at + 1; end < len(l.source) && l.source[end] != '\n'; end++ {
		switch l.source[end] {
		case '\\':
			end++
		case '"':
			text := l.source[l.at+1 : end]
			l.add(token{kind: tokenString, text: unescape(text)})
			l.line += strings.Count(text, "\n")
			l.at = end + 1
			return
		}
	}
	fail(l.line, "unterminated string")
}

// regexp reads a regular expression up to its "/", which does not end it in a class:
// /[/]/.
func (l *lexer) regexp() {
	inClass, classStart := false, 0
	for end := l.at + 1; end < len(l.source) && l.source[end] != '\n'; end++ {
		switch c := l.source[end]; {
		case c == '\\':
			end++
		case inClass && c == '[' && end+1 < len(l.source) && l.source[end+1] == ':':
			if n := strings.Index(l.source[end:], ":]"); n > 0 {
				end += n + 1
			}
		case inClass:
			inClass = c != ']' || end == classStart
		case c == '[':
			if inClass, classStart = true, end+1; strings.HasPrefix(l.source[end+1:], "^") {
				classStart++
				end++
			}
		case c == '/':
			l.add(token{kind: tokenRegexp, text: l.source[l.at+1 : end]})
			l.at = end + 1
			return
		}
	}
	fail(l.line, "unterminated regexp")
}

// unescape returns what the escapes of a string mean. A backslash before another
// character is left out, and one before a line end goes with it.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			b.WriteByte('\\')
			break
		}
		if s[i] == '\n' {
			continue
		}
		if text, n := escape(s[i:]); n > 0 {
			b.WriteString(text)
			i += n - 1
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// escape returns the text that an escape stands for, whose backslash has been read, and
// the length of the rest of the escape; zero if it is none.
//
//	n\t...     a line end, 1
//	101        "A", 3: at most three octal digits
//	x41g       "A", 3: at most two hexadecimal digits
//	q          none: the caller decides, as strings and expressions differ
//
// s is not empty.
func escape(s string) (text string, n int) {
	if at := strings.IndexByte(`abfnrtv"/\`, s[0]); at >= 0 {
		return "\a\b\f\n\r\t\v\"/\\"[at : at+1], 1
	}
	if s[0] == 'x' {
		for n = 1; n < len(s) && n < 3 && strings.IndexByte("0123456789abcdefABCDEF", s[n]) >= 0; n++ {
		}
		if n > 1 {
			return string([]byte{byte(parseInteger(s[1:n], 16))}), n
		}
		return "", 0
	}
	for n = 0; n < len(s) && n < 3 && '0' <= s[n] && s[n] <= '7'; n++ {
	}
	if n > 0 {
		return string([]byte{byte(int(parseInteger(s[:n], 8)))}), n
	}
	return "", 0
}
