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
	LineChars = 2000      // characters of a line
)

// diffContext is how many unchanged lines a diff shows around a change.
const diffContext = udiff.DefaultContextLines

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
func Diff(path string, before, after []byte) (diff, note string) {
	if bytes.Equal(before, after) {
		return "", "the content is the same as before"
	}
	before, after, skipped := trimCommon(before, after)
	if len(before)+len(after) > 2*MaxSource {
		return "", "no diff: the changed part is too large"
	}
	old := string(before)
	edits := udiff.Lines(old, string(after))
	u, err := udiff.ToUnifiedDiff(label("a/", path), label("b/", path), old, edits, diffContext)
	if err != nil {
		return "", "no diff: the changes cannot be compared"
	}
	for _, hunk := range u.Hunks {
		hunk.FromLine += skipped
		hunk.ToLine += skipped
	}
	return boundDiff(u.String())
}

// trimCommon takes the lines that begin and end both texts away, but for the
// context of the change, and says how many it took in front.
func trimCommon(a, b []byte) (_, _ []byte, skipped int) {
	start := commonPrefix(a, b)
	for range diffContext + 1 {
		start = bytes.LastIndexByte(a[:max(start-1, 0)], '\n') + 1
	}
	skipped = bytes.Count(a[:start], []byte("\n"))
	a, b = a[start:], b[start:]
	end := commonSuffix(a, b)
	kept := a[len(a)-end:]
	for range diffContext + 1 {
		at := bytes.IndexByte(kept, '\n')
		if at < 0 {
			return a, b, skipped
		}
		kept = kept[at+1:]
	}
	return a[:len(a)-len(kept)], b[:len(b)-len(kept)], skipped
}

func commonPrefix(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
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

// boundDiff cuts the long lines of a diff around what changed in them, and the
// diff at a line end.
func boundDiff(diff string) (_, note string) {
	lines := slices.Collect(strings.Lines(diff))
	if cutChanges(lines) {
		note = fmt.Sprintf("lines longer than %d characters are cut, with a mark", LineChars)
	}
	size := 0
	for i, line := range lines {
		if size += len(line); size > MaxBytes {
			lines, note = lines[:i], fmt.Sprintf("the diff is cut at %d KiB", MaxBytes>>10)
			break
		}
	}
	return strings.ToValidUTF8(strings.Join(lines, ""), "\uFFFD"), note
}

// cutChanges cuts the long lines of a diff, and reports whether there are any. A
// removed line and the added line in its place are both cut around their first
// difference, or they could look alike.
func cutChanges(lines []string) (cut bool) {
	changed := make([]int, len(lines)) // where a line differs from its pair
	for i := 0; i < len(lines); {
		removed := countSigns(lines[i:], '-')
		added := countSigns(lines[i+removed:], '+')
		for n := range min(removed, added) {
			old, now := &changed[i+n], &changed[i+removed+n]
			*old = 1 + commonPrefix([]byte(lines[i+n][1:]), []byte(lines[i+removed+n][1:]))
			*now = *old
		}
		i += max(removed+added, 1)
	}
	for i, line := range lines {
		body := strings.TrimRight(line, "\r\n")
		if utf8.RuneCountInString(body) <= LineChars {
			continue
		}
		cut = true
		start := max(wording.StepBack(body, min(changed[i], len(body)), LineChars/4), 1)
		lines[i] = body[:1] + wording.ClipAround(body[1:], start-1, LineChars) + line[len(body):]
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
