package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
)

// Diagnostics collects what is wrong with one file. It is for one goroutine.
type Diagnostics struct {
	Lines []string // of the file
	found []placed // in any order
}

// placed is a text and its place.
type placed struct {
	at   Position
	text string
}

// Diagnostic is one thing that is wrong with a file: an error of it, for people.
type Diagnostic struct {
	Line, Column int
	Text         string
	Source       string // the line; only the first MaxShown have it
	Mark         int    // the character of Source that the text is about, from 1
}

// MaxShown is how many diagnostics have their lines.
const MaxShown = 100

// Lines returns the lines of a file. What is beyond MaxBytes is left out, as such a file is
// not read.
func Lines(data []byte) []string {
	return strings.Split(string(data[:min(len(data), MaxBytes)]), "\n")
}

// Add adds what is wrong at a place. Texts have the form of errors. They may repeat what the
// file says, as Sorted makes them printable.
func (d *Diagnostics) Add(at Position, format string, args ...any) {
	d.found = append(d.found, placed{at, fmt.Sprintf(format, args...)})
}

// Len returns how many have been added.
func (d *Diagnostics) Len() int { return len(d.found) }

// Sorted returns what has been added, in the order of the places. The texts have
// only characters that can be shown, and the lines no secrets.
func (d *Diagnostics) Sorted() []Diagnostic {
	slices.SortStableFunc(d.found, func(a, b placed) int { return a.at.Compare(b.at) })
	sorted := make([]Diagnostic, len(d.found))
	for i, found := range d.found {
		line := found.at.Line
		sorted[i] = Diagnostic{Line: line, Column: found.at.Column, Text: Printable(found.text)}
		if i < MaxShown && line > 0 && line <= len(d.Lines) {
			sorted[i].Source, sorted[i].Mark = excerpt(maskSecrets(d.Lines[line-1]), found.at.Column)
		}
	}
	return sorted
}

// Compare orders places as they are in the file.
func (p Position) Compare(other Position) int {
	return cmp.Or(cmp.Compare(p.Line, other.Line), cmp.Compare(p.Column, other.Column))
}

// The most characters of a line that are shown, and of those the ones before
// the place.
const (
	maxExcerpt = 120
	maxBefore  = 60
)

// excerpt returns what is shown of a line, and where in that the column is. Of a long line it
// shows at most maxBefore characters before the column. mark counts from 1, and can be after
// the last character.
func excerpt(line string, column int) (text string, mark int) {
	runes := []rune(strings.TrimRight(line, "\r"))
	column = min(max(column, 1), len(runes)+1)
	if start := column - 1 - maxBefore; len(runes) > maxExcerpt && start > 0 {
		runes, column = runes[start:], column-start
	}
	runes = runes[:min(len(runes), maxExcerpt)]
	return Printable(string(runes)), column
}

// maskSecrets returns a line of a file with stars for what looks like a secret
// that somebody wrote into it: credentials in a URL, and the values of keys
// that sound like one.
//
//	endpoint: https://me:pa55@example.org     endpoint: https://*******@example.org
//	secretKey: "abc"                          secretKey: *****
//	secretKey: "${KEY}"                       as it is
//
// A star stands for one character, so that the columns stay as they are. A value without
// quotes is masked to the end of the line, or in braces and brackets to what ends it there.
func maskSecrets(line string) string {
	var b strings.Builder
	for from := 0; ; {
		begin, end := firstSecret(line, from)
		if begin < 0 {
			return b.String() + line[from:]
		}
		b.WriteString(line[from:begin])
		if secret := line[begin:end]; reference().MatchString(secret) {
			b.WriteString(secret)
		} else {
			b.WriteString(strings.Repeat("*", utf8.RuneCountInString(secret)))
		}
		from = end
	}
}

// firstSecret returns the place of the first secret in line that is not before from, or a
// negative one.
func firstSecret(line string, from int) (begin, end int) {
	begin = -1
	if match := credentials().FindStringSubmatchIndex(line[from:]); match != nil {
		begin, end = from+match[2], from+match[3]
	}
	if key := secretKey().FindStringIndex(line[from:]); key != nil && (begin < 0 || from+key[1] <= begin) {
		begin = from + key[1]
		value := blockValue
		if strings.ContainsAny(line[:begin], "{[") {
			value = flowValue
		}
		end = begin + len(strings.TrimRight(value().FindString(line[begin:]), " \t"))
	}
	return begin, end
}

var (
	credentials = lazyregexp.New(`://([^/@\s"']+)@`)
	secretKey   = lazyregexp.New(`(?i)(?:secret|token|passw|credential|access[_-]?key|api[_-]?key)[\w-]*["']?\s*[:=]\s*`)
	blockValue  = lazyregexp.New(`^("[^"]*"?|'[^']*'?|[^\r]*)`)
	flowValue   = lazyregexp.New(`^("[^"]*"?|'[^']*'?|(\$\{[^}]*\}|[^,}\]\r])*)`)
	// reference matches a reference to the environment, if it has no default, which may be a
	// secret itself.
	reference = lazyregexp.New(`^["']?\$\{\w+\}["']?\s*(#.*)?$`)
)

// Printable returns text with a space for each character that would not be
// shown, or would do something to a terminal. It spells out a byte that is not UTF-8.
func Printable(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
		text = text[size:]
	}
	return b.String()
}
