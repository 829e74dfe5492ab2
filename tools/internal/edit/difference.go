package edit

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
)

// Bounds of what is shown of the nearest text.
const (
	excerptLines  = 12
	excerptLength = 300 // bytes of a line
)

// difference says what sets old apart from the lines region, as the rest of
// the sentence "it differs in".
func difference(old string, region []byte) string {
	for _, d := range differences {
		if bytes.Contains(appendFolded(nil, region, d.how), appendFolded(nil, []byte(old), d.how)) {
			return d.text + spaceDifference(old, region)
		}
	}
	return firstDifference(old, region)
}

// spaceDifference shows the first line that differs in white space, with its tabs,
// carriage returns and blanks at its ends. Carriage returns count only if nothing else
// differs.
func spaceDifference(old string, region []byte) string {
	ours, theirs := strings.Split(old, "\n"), strings.Split(string(region), "\n")
	for _, ignored := range []string{"\r", ""} {
		for i, line := range ours[:min(len(ours), len(theirs))] {
			line, their := strings.TrimSuffix(line, ignored), strings.TrimSuffix(theirs[i], ignored)
			switch {
			case stands(line, their, i == 0, i == len(ours)-1):
			case bytes.Contains(appendFolded(nil, []byte(their), foldAll), appendFolded(nil, []byte(line), foldAll)):
				return fmt.Sprintf(": it is %q, and in the file %q", clip(line), clip(their))
			default:
				return "" // the lines are broken elsewhere
			}
		}
	}
	return ""
}

// stands reports whether a line is a line of the file, from the middle of it if it is
// the first line of a text, and up to the middle if it is the last.
func stands(line, their string, first, last bool) bool {
	switch {
	case first && last:
		return strings.Contains(their, line)
	case first:
		return strings.HasSuffix(their, line)
	case last:
		return strings.HasPrefix(their, line)
	}
	return line == their
}

// clip shortens a line to what is enough to see its white space.
func clip(line string) string {
	const head, tail = 60, 20
	if len(line) <= head+tail {
		return line
	}
	return strings.ToValidUTF8(line[:head], "") + "…" + strings.ToValidUTF8(line[len(line)-tail:], "")
}

// differences are the reasons for which a text may not match, smaller ones first.
var differences = []struct {
	how  folding
	text string
}{
	{foldSpace, "white space only"},
	{foldCase, "letter case only"},
	{foldType, "quotes or dashes only (typographic or plain)"},
	{foldSpace | foldCase, "white space and letter case"},
	{foldSpace | foldType, "white space and quotes or dashes"},
	{foldCase | foldType, "letter case and quotes or dashes"},
	{foldAll, "white space, letter case and quotes or dashes"},
}

// firstDifference shows the first line of old that is not in region.
func firstDifference(old string, region []byte) string {
	theirs := strings.Split(string(region), "\n")
	for i, line := range strings.Split(old, "\n") {
		if i >= len(theirs) || !strings.Contains(theirs[i], line) {
			return fmt.Sprintf("line %d of oldText: %q", i+1, cut(line))
		}
	}
	return ""
}

// What models do to text that they copy: they escape it as if it were in a string, and
// they copy the line numbers that a tool has shown.
var (
	unescaper  = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\'`, `'`, `\\`, `\`)
	lineNumber = lazyregexp.New(`(?m)^\s*\d+[:|\t→] ?`)
)

// excerpt returns the first lines of region, each cut to a bounded length.
func excerpt(region []byte) string {
	var out strings.Builder
	shown := 0
	for line := range strings.Lines(string(region)) {
		if shown == excerptLines {
			out.WriteString("…")
			break
		}
		body := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") // other carriage returns are content
		out.WriteString(cut(body))
		out.WriteString(line[len(body):])
		shown++
	}
	return strings.TrimRight(out.String(), "\r\n")
}

// cut shortens a line visibly.
func cut(line string) string {
	if len(line) <= excerptLength {
		return line
	}
	end := excerptLength
	for end > 0 && !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end] + "…"
}
