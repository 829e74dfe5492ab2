// Package unified writes what changes in a file as a unified diff of bounded size.
// In go the name of the file and its bytes before and after; out come the diff, and
// a note that says why there is none or why it is not whole. The lines that begin
// and end both contents alike are cut off first, so that a small change of a large
// file costs little. [Diff] is for text, [Change] for any bytes.
package unified

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/workspacekit/workspacekit/internal/wording"
)

// The bounds of a diff.
const (
	MaxBytes  = 8 << 10   // of the diff
	MaxSource = 256 << 10 // of each of the parts that are compared
	MaxRead   = 1 << 20   // of a file that it pays to read for the sake of a diff
	maxLine   = 8 << 20   // of one line that is compared with another
	LineChars = 500       // characters of a line
)

// cutContext is how many characters are shown on each side of what changed in a line
// that is cut.
const cutContext = 80

// diffContext is how many unchanged lines a diff shows around a change.
const diffContext = udiff.DefaultContextLines

// Created is [Change] for a file that does not exist yet.
func Created(path string, data []byte) (diff, note string) {
	if len(data) == 0 {
		return "", "it is empty"
	}
	return Change(path, nil, data)
}

// Change returns what [Diff] does, and for a binary file a note with the sizes.
func Change(path string, before, after []byte) (diff, note string) {
	if bytes.Equal(before, after) || isText(before) && isText(after) {
		return Diff(path, before, after)
	}
	return "", fmt.Sprintf("no diff: the content is binary, %s before and %s after",
		wording.Bytes(int64(len(before))), wording.Bytes(int64(len(after))))
}

// isText reports whether a person can read data: it is UTF-8, and has no NUL byte
// at its beginning, where package workspace looks for one.
func isText(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), 8<<10)], 0) < 0 && utf8.Valid(data)
}

// Diff returns the unified diff of two contents of the file path, or a note
// that says why there is none or why it is not whole.
//
// Only the lines from the first to the last that differ are compared. If line 5 of 9 changes,
// these are:
//
//	1 2 3 4 | 5 | 6 7 8 9     alike, compared, alike
//	  2 3 4 | 5 | 6 7 8       with the context that the diff shows
//
// The line numbers of the result count the lines that were cut off. Texts whose differing
// parts are too large to be compared have no diff, unless each is one line: that one is
// replaced.
func Diff(path string, before, after []byte) (diff, note string) {
	if bytes.Equal(before, after) {
		return "", "the content is the same as before"
	}
	start, tail := commonLines(before, after)
	old, now := before[start:len(before)-tail], after[start:len(after)-tail]
	// What is compared has no context, or a change could move to its edge, and a
	// hunk with too little context means the start or the end of the file.
	from, to := contextBefore(before[:start]), start+len(old)+contextAfter(before[len(before)-tail:])
	var edits []udiff.Edit
	switch size := len(old) + len(now); {
	case size <= 2*MaxSource && to-from <= maxLine:
		edits = udiff.Lines(string(old), string(now))
	case isLine(old) && isLine(now) && to-from+len(now) <= maxLine:
		edits = []udiff.Edit{{End: len(old), New: string(now)}}
	default:
		return "", "no diff: the changed part is too large"
	}
	for i := range edits {
		edits[i].Start += start - from
		edits[i].End += start - from
	}
	u, err := udiff.ToUnifiedDiff(label("a/", path), label("b/", path), string(before[from:to]), edits, diffContext)
	if err != nil {
		return "", "no diff: the changes cannot be compared"
	}
	skipped := bytes.Count(before[:from], []byte("\n"))
	// The library does not count the lines between two changes of one hunk in the
	// ToLine of the hunks after it, so that is counted here.
	grown := 0
	for _, hunk := range u.Hunks {
		hunk.FromLine += skipped
		hunk.ToLine = hunk.FromLine + grown
		for _, line := range hunk.Lines {
			switch line.Kind {
			case udiff.Insert:
				grown++
			case udiff.Delete:
				grown--
			}
		}
	}
	return boundDiff(u.String())
}

// isLine reports whether text is at most one line.
func isLine(text []byte) bool {
	end := bytes.IndexByte(text, '\n')
	return end < 0 || end == len(text)-1
}

// commonLines returns how many bytes at the start and at the end of both texts are lines that
// are alike. A line that is alike only in part is not among them. The two parts do not overlap
// in either text.
func commonLines(a, b []byte) (start, end int) {
	start = bytes.LastIndexByte(a[:commonPrefix(a, b)], '\n') + 1
	end = commonSuffix(a[start:], b[start:])
	kept := a[len(a)-end:]
	return start, len(kept) - (bytes.IndexByte(kept, '\n') + 1)
}

// contextBefore returns where the context begins of a change after text. It is at most
// diffContext lines before the end of text.
func contextBefore(text []byte) int {
	start := len(text)
	for range diffContext {
		start = bytes.LastIndexByte(text[:max(start-1, 0)], '\n') + 1
	}
	return start
}

// contextAfter returns where the context ends of a change before text.
func contextAfter(text []byte) int {
	end := 0
	for range diffContext {
		at := bytes.IndexByte(text[end:], '\n')
		if at < 0 {
			return len(text)
		}
		end += at + 1
	}
	return end
}

// block is how many bytes are compared at once. Strings are compared faster than single bytes
// are.
const block = 4 << 10

// commonPrefix returns how many bytes at the start of both are alike. It may end inside of a
// character.
func commonPrefix[T []byte | string](a, b T) int {
	n, limit := 0, min(len(a), len(b))
	for n+block <= limit && string(a[n:n+block]) == string(b[n:n+block]) {
		n += block
	}
	for n < limit && a[n] == b[n] {
		n++
	}
	return n
}

// commonSuffix returns the same for their ends.
func commonSuffix[T []byte | string](a, b T) int {
	n, limit := 0, min(len(a), len(b))
	for n+block <= limit && string(a[len(a)-n-block:len(a)-n]) == string(b[len(b)-n-block:len(b)-n]) {
		n += block
	}
	for n < limit && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// label is a path as the head of a diff shows it: on one line.
func label(prefix, path string) string {
	if quoted := strconv.Quote(path); quoted != `"`+path+`"` {
		return prefix + quoted
	}
	return prefix + path
}

// boundDiff cuts the long lines of a diff around what changed in them, and the diff at a line
// end. What is not UTF-8 is replaced, as models and terminals need text.
func boundDiff(diff string) (_, note string) {
	lines := slices.Collect(strings.Lines(diff))
	if cutChanges(lines) {
		note = fmt.Sprintf("lines longer than %d characters are cut, with a mark", LineChars)
	}
	size := 0
	for i, line := range lines {
		lines[i] = strings.ToValidUTF8(line, "\uFFFD")
		if size += len(lines[i]); size > MaxBytes {
			lines, note = lines[:i], fmt.Sprintf("the diff is cut at %d KiB", MaxBytes>>10)
			break
		}
	}
	return strings.Join(lines, ""), note
}

// cutChanges cuts the long lines of a diff, and reports whether there are any. Of a
// removed line and the added line in its place it shows what differs, and of a line
// that did not change the start.
//
// The library writes all removed lines of a change before all added ones, so the first removed
// line is paired with the first added line, and so on. The lines are changed in place.
func cutChanges(lines []string) (cut bool) {
	changed := make([][2]int, len(lines)) // where a line differs from its pair
	for i := 0; i < len(lines); {
		removed := countSigns(lines[i:], '-')
		plus := i + removed                              // where the added lines begin
		if plus < len(lines) && lines[plus][0] == '\\' { // No newline at end of file
			plus++
		}
		added := countSigns(lines[plus:], '+')
		for n := i; n < plus+added; n++ {
			changed[n] = [2]int{1, len(lines[n])}
		}
		for n := range min(removed, added) {
			old, now := lines[i+n], lines[plus+n]
			start := 1 + commonPrefix(old[1:], now[1:])
			end := commonSuffix(old[start:], now[start:])
			changed[i+n], changed[plus+n] = [2]int{start, len(old) - end}, [2]int{start, len(now) - end}
		}
		i = max(plus+added, i+1)
	}
	for i, line := range lines {
		body := wording.LineBody(line)
		if utf8.RuneCountInString(body) <= 1+LineChars {
			continue
		}
		cut = true
		from, to := min(changed[i][0], len(body)), min(changed[i][1], len(body))
		from = max(wording.StepBack(body, from, cutContext), 1)
		chars := utf8.RuneCountInString(body[from:max(from, to)]) + cutContext
		lines[i] = body[:1] + wording.ClipAround(body[1:], from-1, min(chars, LineChars)) + line[len(body):]
	}
	return cut
}

// countSigns returns how many lines in a row begin with sign.
func countSigns(lines []string, sign byte) int {
	n := 0
	for n < len(lines) && lines[n][0] == sign {
		n++
	}
	return n
}
