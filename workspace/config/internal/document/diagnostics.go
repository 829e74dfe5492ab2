package document

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/internal/wording"
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
	slices.SortStableFunc(d.found, func(a, b placed) int { return a.at.compare(b.at) })
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

// compare orders places as they are in the file.
func (p Position) compare(other Position) int {
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
// A star stands for one character, so that the columns stay as they are.
func maskSecrets(line string) string {
	for _, pattern := range secretPatterns {
		line = maskGroup(line, pattern())
	}
	return line
}

// secretPatterns match what looks like a secret, which is their group.
var secretPatterns = []func() *regexp.Regexp{
	lazyregexp.New(`://([^/@\s"']+)@`),
	lazyregexp.New(`(?i)(?:secret|token|passw|credential|access[_-]?key|api[_-]?key)[\w-]*["']?\s*[:=]\s*("[^"]*"?|'[^']*'?|[^\s,{}]+)`),
}

// maskGroup returns line with a star for each character of the group of each match, but for
// references to the environment. A default in such a reference may be a secret itself.
func maskGroup(line string, pattern *regexp.Regexp) string {
	var b strings.Builder
	end := 0
	for _, match := range pattern.FindAllStringSubmatchIndex(line, -1) {
		b.WriteString(line[end:match[2]])
		end = match[3]
		secret := line[match[2]:end]
		if strings.HasPrefix(strings.Trim(secret, `"'`), "${") && !strings.Contains(secret, ":-") {
			b.WriteString(secret)
			continue
		}
		b.WriteString(strings.Repeat("*", utf8.RuneCountInString(secret)))
	}
	return b.String() + line[end:]
}

// Printable returns text with a space for each character that would not be
// shown, or would do something to a terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}

// Suggest returns what to say after a word that is none of words: the one that
// is meant, or all that there are.
func Suggest(word string, words []string) string {
	if asked := wording.DidYouMean(word, slices.Sorted(slices.Values(words))); asked != "" {
		return asked
	}
	switch len(words) {
	case 0:
		return "there are none"
	case 1:
		return "there is only " + words[0]
	}
	return "there are " + enumerate(words)
}

// maxEnumerated is how many words an error lists.
const maxEnumerated = 20

func enumerate(words []string) string {
	words = slices.Sorted(slices.Values(words))
	if more := len(words) - maxEnumerated; more > 0 {
		words = append(words[:maxEnumerated:maxEnumerated], fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}
