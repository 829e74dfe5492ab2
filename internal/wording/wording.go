// Package wording writes the parts that messages have in common: the word that
// was meant, a number of things, a size, and a word of a shell.
package wording

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DidYouMean returns a question about the candidate closest to word, such as
// did you mean "grep"?, and "" if none is close.
func DidYouMean(word string, candidates []string) string {
	if near := Closest(word, candidates); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// Suggest returns what to say after a word that is none of words: the one that
// is meant, or all that there are.
func Suggest(word string, words []string) string {
	if asked := DidYouMean(word, slices.Sorted(slices.Values(words))); asked != "" {
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

// Closest returns the candidate that is spelled most like word, and "" if none
// is close enough to be what was meant. Of several equally close ones, it
// returns the first. The case of letters, "-" and "_" do not count.
func Closest(word string, candidates []string) string {
	word = fold(word)
	best, least := "", min(len(word)/2, max(len(word)/3, 2))+1
	for _, candidate := range candidates {
		if d := distance(word, fold(candidate), least); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// separators are spelled differently in different places: max-results, maxResults.
var separators = strings.NewReplacer("_", "", "-", "")

func fold(word string) string { return separators.Replace(strings.ToLower(word)) }

// distance returns how many bytes to insert, remove, replace or swap with their
// neighbor to get from a to b (Damerau and Levenshtein), or limit if that is
// less.
//
// It fills a table row by row and keeps three rows of it: the entry in row i
// and column j is the distance of the first i bytes of a from the first j bytes
// of b. Each is the least of its neighbors plus one step. For "rm" and "mr":
//
//	      m  r
//	   0  1  2
//	r  1  1  1    the r is there already: what stands diagonally above
//	m  2  1  1    swapping two bytes: two rows and two columns back, plus one
func distance(a, b string, limit int) int {
	if diff := len(a) - len(b); diff >= limit || -diff >= limit {
		return limit
	}
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, above, row = above, row, before
		row[0] = i + 1
		for j := range len(b) {
			replace := above[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(replace, row[j]+1, above[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return min(row[len(b)], limit)
}

// Count returns a number of things in words, such as "1 file" and "1,234 files".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + many
}

// Thousands writes a number that is not negative as people read it: 1,234.
func Thousands(n int) string {
	digits := fmt.Sprint(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// Bytes writes a size as people read it: "17 bytes", "10 MiB", "1.5 GiB". It
// rounds down, so that a limit is never less than what it writes.
func Bytes(n int64) string {
	if n < 1<<10 {
		return Count(int(n), "byte", "bytes")
	}
	unit, value := 0, float64(n)/(1<<10)
	for value >= 1<<10 {
		value /= 1 << 10
		unit++
	}
	return fmt.Sprintf("%v %ciB", math.Floor(value*10)/10, "KMGTPE"[unit])
}

// ShellWord returns text quoted so that a shell reads it as one word.
func ShellWord(text string) string {
	special := func(r rune) bool {
		return !strings.ContainsRune("/._-+,:@%", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if text != "" && strings.IndexFunc(text, special) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Sentence returns text with an upper-case letter at its beginning and a full
// stop at its end.
func Sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}

// LineBody returns a line without its end, which is "\n", "\r" or both. More carriage returns
// are content: a line of them has the limits of every other.
func LineBody[T string | []byte](line T) T {
	end := len(line)
	if end > 0 && line[end-1] == '\n' {
		end--
	}
	if end > 0 && line[end-1] == '\r' {
		end--
	}
	return line[:end]
}

// ClipAround returns at most limit characters of a line from the byte start on, and
// marks that say how many were left out on either side.
func ClipAround(line string, start, limit int) string {
	end := start + RuneOffset(line[start:], limit)
	text := strings.ToValidUTF8(line[start:end], "\uFFFD")
	if start > 0 {
		text = fmt.Sprintf("[cut: %d characters] …", utf8.RuneCountInString(line[:start])) + text
	}
	if end < len(line) {
		text += fmt.Sprintf("… [cut: %d more characters]", utf8.RuneCountInString(line[end:]))
	}
	return text
}

// StepBack returns the offset of the character that is n characters before the
// byte at, or of the first one.
func StepBack(text string, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return at
}

// RuneOffset returns the offset of rune number n, or the length of text if it
// has no more than n.
func RuneOffset(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// Visible spells out the characters of text that a person cannot see, or that
// change how the text around them looks, except those in keep. A terminal obeys
// control characters, so a file's name could move the cursor; others change the
// direction of text, or have no width, and make one name look like another.
func Visible(text, keep string) string {
	hostile := func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && !strings.ContainsRune(keep, r)
	}
	if utf8.ValidString(text) && strings.IndexFunc(text, hostile) < 0 {
		return text
	}
	var out strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1, hostile(r) && r < utf8.RuneSelf:
			fmt.Fprintf(&out, `\x%02x`, text[0])
		case hostile(r):
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
		text = text[size:]
	}
	return out.String()
}
