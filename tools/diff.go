package tools

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// diffContext is how many unchanged lines a diff shows around a change.
const diffContext = udiff.DefaultContextLines

// unified returns the unified diff of two contents of the file path, or a note
// that says why there is none or why it is not whole.
func unified(path string, before, after []byte) (diff, note string) {
	if bytes.Equal(before, after) {
		return "", "the content is the same as before"
	}
	before, after, skipped := trimCommon(before, after)
	if len(before)+len(after) > 2*diffSource {
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

// boundDiff cuts a diff at a line end.
func boundDiff(diff string) (_, note string) {
	var out strings.Builder
	for line := range strings.Lines(diff) {
		line, _ = clipLine(line, lineChars)
		if out.Len()+len(line) > diffBytes {
			return out.String(), fmt.Sprintf("the diff is cut at %d KiB", diffBytes>>10)
		}
		out.WriteString(line)
	}
	return strings.ToValidUTF8(out.String(), "\uFFFD"), ""
}
