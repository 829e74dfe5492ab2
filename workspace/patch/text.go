package patch

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/charset"
	"github.com/workspacekit/workspacekit/internal/wording"
)

// text is a file while the hunks of a section change it. The hunks of several
// sections for one file are applied to the same text. Line numbers stay those
// of the file as it was, so that spans can tell afterwards what has changed.
type text struct {
	lines  []fileLine
	enc    charset.Encoding // of the file; empty if it is not known
	exact  bool             // the lines are the bytes of the file
	binary bool             // it is no text for hunks that are not exact
	bom    bool             // a byte order mark was before the first line
	open   bool             // the last line had no line end
	end    string           // of lines without a neighbour to take it from
}

// fileLine is a line of a file.
type fileLine struct {
	text    string // with its line end
	number  int    // in the file as it was, from 1; 0 for a line that a hunk has added
	patched bool   // a hunk of the same section has it
}

// newText returns the text of a file with the bytes data: as it is for exact
// hunks, which are bytes, and decoded otherwise. A decoding error is none: the
// bytes then stay as they are, and only a NUL byte among them makes the file
// binary. data is not kept.
func newText(data []byte, exact bool) *text {
	decoded, enc, ok := charset.Decode(data)
	t := &text{enc: enc, exact: exact, binary: !ok && !exact && charset.HasNUL(data), end: "\n", lines: make([]fileLine, 0, lineCount(data))}
	if ok && !exact {
		data = decoded
	}
	for line := range strings.Lines(string(data)) {
		t.lines = append(t.lines, fileLine{text: line, number: len(t.lines) + 1})
	}
	return t
}

// lineSize is how many bytes a fileLine takes beside its text.
const lineSize = 32

// lineCount returns how many lines data has.
func lineCount(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// bytes returns what the text is now, as the file stores it. The error is that
// of a character which the encoding of the file does not have.
func (t *text) bytes() ([]byte, error) {
	var out bytes.Buffer
	for _, line := range t.lines {
		out.WriteString(line.text)
	}
	if t.exact || t.enc == "" {
		return out.Bytes(), nil
	}
	return t.enc.Encode(out.Bytes())
}

// mismatch says why a hunk does not apply.
type mismatch struct {
	label, reason string
	missing       error // what cannot be added, in place of reason
	foreign       bool  // the file has another encoding than the lines that it should have
}

// maxMismatches is how many hunks of a file may be missing before the rest is
// left out.
const maxMismatches = 20

// apply applies the hunks of s, and returns which do not apply, and what has to be said
// of those that do.
//
// After an error, or a hunk that does not apply, the text is half changed, and
// of no use. The search goes on after such a hunk so that all that is wrong can
// be said at once.
func (t *text) apply(ctx context.Context, s *section) (wrong []mismatch, notes []string, err error) {
	for i := range t.lines {
		t.lines[i].patched = false
	}
	find := t.exactHunk
	if !s.exact {
		t.begin()
		defer t.finish()
		at := 0
		find = func(ctx context.Context, h *hunk) (string, string) { return t.looseHunk(ctx, h, &at) }
	}
	for i := range s.hunks {
		h := &s.hunks[i]
		note, reason := find(ctx, h)
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		missing := t.missing(h)
		if reason != "" || missing != nil {
			label := fmt.Sprintf("hunk %d (%s)", i+1, wording.ClipAround(h.label, 0, 80))
			wrong = append(wrong, mismatch{label, reason, missing, slices.ContainsFunc(h.old(), t.foreign)})
		}
		if note != "" {
			notes = append(notes, fmt.Sprintf("hunk %d: %s", i+1, note))
		}
		if len(wrong) == maxMismatches {
			break
		}
	}
	return wrong, notes, nil
}

// splice puts a hunk at the line at, whose old lines have been found there.
// Lines of context stay as they are. end returns what ends an added line, by
// its place; a line of a diff has its line end already, so it is "" there. A
// line of context that a later pass has found keeps its own white space.
func (t *text) splice(h *hunk, at int, end func(at int) string) {
	var now []fileLine
	from := at
	for _, l := range h.lines {
		switch l.op {
		case ' ':
			kept := t.lines[from]
			kept.patched = true
			now = append(now, kept)
			from++
		case '-':
			from++
		case '+':
			now = append(now, fileLine{text: l.text + end(from), patched: true})
		}
	}
	t.lines = slices.Replace(t.lines, at, from, now...)
}

// searchStep is how many places are tried between two looks at the context.
const searchStep = 64

// exactHunk applies a hunk of a unified diff where git would. From the line where it is
// expected it goes down and up by turns, as "git apply" does; what another hunk has
// written is no match.
//
// With 10 as the expected place, the places are tried in this order:
//
//	10 11 9 12 8 13 7 ...
//
// until both ends of the file are reached. Of many equal places, such as
// closing braces, the nearest one counts.
func (t *text) exactHunk(ctx context.Context, h *hunk) (note, reason string) {
	old := h.old()
	begin := h.at
	switch {
	case h.atStart:
		begin = 0
	case h.atEnd:
		begin = len(t.lines) - len(old)
	}
	if begin < 0 || begin > len(t.lines) {
		begin = len(t.lines)
	}
	for distance := range len(t.lines) + 1 {
		if distance%searchStep == 0 && ctx.Err() != nil {
			return "", ""
		}
		for _, at := range [...]int{begin + distance, begin - distance} {
			if at < 0 || at+len(old) > len(t.lines) || h.atStart && at > 0 || h.atEnd && at+len(old) != len(t.lines) {
				continue
			}
			if t.matches(at, old) {
				t.splice(h, at, func(int) string { return "" })
				return "", ""
			}
		}
		if h.atStart || h.atEnd {
			break // there is one place only
		}
	}
	return "", t.difference(h, begin, old, func(line string) string { return line })
}

// matches reports whether the lines old are at the line at.
func (t *text) matches(at int, old []string) bool {
	for i, want := range old {
		if line := t.lines[at+i]; line.patched || line.text != want {
			return false
		}
	}
	return true
}

// begin prepares the text for hunks whose lines have no line ends: it takes a byte order
// mark away, and gives the last line the line end that it may lack.
//
// finish must follow, also after a hunk that does not apply. The line end that
// is added is the one of the first line.
func (t *text) begin() {
	if len(t.lines) == 0 {
		return
	}
	first, last := &t.lines[0], &t.lines[len(t.lines)-1]
	first.text, t.bom = strings.CutPrefix(first.text, charset.Mark)
	if strings.HasSuffix(first.text, "\r\n") {
		t.end = "\r\n"
	}
	if t.open = !strings.HasSuffix(last.text, "\n"); t.open {
		last.text += t.end
	}
}

// finish reverts what begin did.
func (t *text) finish() {
	if len(t.lines) == 0 {
		return
	}
	first, last := &t.lines[0], &t.lines[len(t.lines)-1]
	if t.bom {
		first.text = charset.Mark + first.text
	}
	if t.open && wording.LineBody(last.text) != "" { // an empty line without a line end is none
		last.text = wording.LineBody(last.text)
	}
}

// endAt returns the line end of a line that is put before the line at: that of
// its neighbour. A file with both kinds of line ends keeps both.
func (t *text) endAt(at int) string {
	for _, i := range [...]int{at - 1, at} {
		if i >= 0 && i < len(t.lines) {
			return t.lines[i].text[len(wording.LineBody(t.lines[i].text)):]
		}
	}
	return t.end
}

// passes are the ways in which the apply_patch format compares lines, the strictest
// first.
var passes = []struct {
	fold func(line string) string
	note string
}{
	{func(line string) string { return line }, ""},
	{trimRight, "matched without the white space at the ends of lines"},
	{strings.TrimSpace, "matched without the white space around lines"},
	{func(line string) string { return plainPunctuation(strings.TrimSpace(line)) }, "matched with plain quotes, dashes and spaces"},
}

func trimRight(line string) string { return strings.TrimRightFunc(line, unicode.IsSpace) }

// plainPunctuation replaces what word processors write. Bytes that are not UTF-8 stay.
func plainPunctuation(line string) string {
	var out strings.Builder
	done := 0
	for i, r := range line {
		if plain := charset.PlainRune(r); plain != r {
			out.WriteString(line[done:i])
			out.WriteRune(plain)
			done = i + utf8.RuneLen(r)
		}
	}
	if done == 0 {
		return line
	}
	return out.String() + line[done:]
}

// looseHunk applies a hunk of the apply_patch format after the line *from, which it moves
// on.
//
// A hunk without old lines is inserted after the last anchor, or at the end of
// the file if it has none. *from is an index into the lines as they are now,
// which grows with what the hunks add.
func (t *text) looseHunk(ctx context.Context, h *hunk, from *int) (note, reason string) {
	tell := func(how string) {
		if !strings.Contains(note, how) {
			note = strings.TrimPrefix(note+"; "+how, "; ")
		}
	}
	for _, anchor := range h.anchors {
		at, how, found := t.find(ctx, []string{anchor}, *from, false)
		if !found {
			if *from == 0 {
				return "", "no line is " + shown(anchor)
			}
			return "", fmt.Sprintf("no line after line %d is %s", *from, shown(anchor))
		}
		tell(how)
		*from = at + 1
	}
	old := h.old()
	if len(old) == 0 {
		at := len(t.lines)
		if len(h.anchors) > 0 {
			at = *from
		}
		t.splice(h, at, t.endAt)
		*from = at + len(h.lines)
		return note, ""
	}
	at, how, found := t.find(ctx, old, *from, h.atEnd)
	if shorter, ok := h.withoutBlankEnd(); !found && ok {
		if at, how, found = t.find(ctx, shorter.old(), *from, h.atEnd); found {
			tell("matched without the blank line at its end")
			h = &shorter
		}
	}
	if !found {
		return "", t.difference(h, *from, old, passes[len(passes)-1].fold)
	}
	tell(how)
	before := len(t.lines)
	t.splice(h, at, t.endAt)
	*from = at + len(h.old()) + len(t.lines) - before
	return note, ""
}

// withoutBlankEnd returns h without a blank line of context at its end, which separates
// it from what follows more often than it is in the file.
func (h hunk) withoutBlankEnd() (hunk, bool) {
	last := len(h.lines) - 1
	if last < 1 || h.lines[last] != (patchLine{' ', ""}) {
		return h, false
	}
	h.lines = slices.Clone(h.lines[:last])
	return h, true
}

// missing returns the error of what h adds and the encoding of the file cannot have: in one
// that is not known, a character outside ASCII means something else.
func (t *text) missing(h *hunk) error {
	switch {
	case t.exact && t.mixes(h):
		return ErrEncoding
	case t.exact || t.enc != "":
		return nil
	}
	for _, l := range h.lines {
		if at := strings.IndexFunc(l.text, outsideASCII); l.op == '+' && at >= 0 {
			r, _ := utf8.DecodeRuneInString(l.text[at:])
			return &charset.CharacterError{Character: r}
		}
	}
	return nil
}

func outsideASCII(r rune) bool { return r > unicode.MaxASCII }

// mixes reports whether h adds text in another encoding than the file has. A hunk whose old
// lines are not UTF-8 was made for the bytes of the file, such as one that converts it.
func (t *text) mixes(h *hunk) bool {
	if slices.ContainsFunc(h.old(), func(line string) bool { return !utf8.ValidString(line) }) {
		return false
	}
	return slices.ContainsFunc(h.lines, func(l patchLine) bool { return l.op == '+' && t.foreign(l.text) })
}

// foreign reports whether a line of a unified diff is text in UTF-8 that means something else
// in the encoding of the file.
func (t *text) foreign(line string) bool {
	if !t.exact || t.enc == charset.UTF8 || !utf8.ValidString(line) {
		return false
	}
	wide := t.enc == charset.UTF16LE || t.enc == charset.UTF16BE
	return strings.ContainsFunc(line, outsideASCII) || wide && !strings.Contains(line, "\x00")
}

// find returns where the lines old are, at the line from or after it, in the
// first pass that finds them. atEnd says that they must be the last lines. A
// place that a stricter pass finds far away comes before a nearer one of a
// later pass: a wrong guess changes the wrong code.
func (t *text) find(ctx context.Context, old []string, from int, atEnd bool) (at int, note string, found bool) {
	last := len(t.lines) - len(old)
	if atEnd {
		from = max(from, last)
	}
	for _, pass := range passes {
		folded := make([]string, len(old))
		for i, line := range old {
			folded[i] = pass.fold(line)
		}
		for at := from; at <= last; at++ {
			if at%searchStep == 0 && ctx.Err() != nil {
				return 0, "", false
			}
			if t.matchesFolded(at, folded, pass.fold) {
				return at, pass.note, true
			}
		}
	}
	return 0, "", false
}

func (t *text) matchesFolded(at int, old []string, fold func(string) string) bool {
	for i, want := range old {
		if fold(wording.LineBody(t.lines[at+i].text)) != want {
			return false
		}
	}
	return true
}

// maxCompared bounds the lines that are compared to say what differs.
const maxCompared = 1 << 20

// difference says why the lines old are not in the file: what it has at the place where
// most of them are, the one nearest to the line at if there are several.
//
// A model reads it and corrects its patch, so it names the first line that
// differs there, as the file has it. Above maxCompared the place is the
// expected one, as a large file and a long hunk would take too long.
func (t *text) difference(h *hunk, at int, old []string, fold func(string) string) string {
	if len(t.lines) == 0 {
		return "the file is empty"
	}
	best, most := min(at, len(t.lines)-1), 0
	if len(t.lines)*len(old) <= maxCompared {
		for i := range t.lines {
			n := t.common(i, old, fold)
			if n > most || n == most && n > 0 && distance(i, at) < distance(best, at) {
				best, most = i, n
			}
		}
	}
	for i, want := range old {
		if best+i >= len(t.lines) {
			return fmt.Sprintf("the file ends after line %d, and the patch goes on with %s", len(t.lines), shown(want))
		}
		line := t.lines[best+i]
		if fold(line.text) == fold(want) {
			continue
		}
		reason := fmt.Sprintf("line %d of the file is %s, and the patch has %s", best+i+1, shown(line.text), shown(want))
		switch {
		case wording.LineBody(line.text) == wording.LineBody(want):
			reason += ": " + endsDiffer(line.text, want)
		case strings.Join(strings.Fields(line.text), "") == strings.Join(strings.Fields(want), ""):
			reason += ": white space differs"
		}
		return reason
	}
	why := "the hunks before it change them, or what comes after them"
	switch {
	case h.atEnd && best+len(old) < len(t.lines):
		why = "a hunk that ends without context must end the file"
	case h.atStart && best > 0:
		why = "a hunk of line 1 must begin the file"
	case len(h.anchors) > 0 && best < at: // the last anchor is line at, from 1
		why = fmt.Sprintf(`"@@" names line %d, which must be above them`, at)
	}
	return fmt.Sprintf("its lines are at line %d, and %s", best+1, why)
}

// endsDiffer says how the line ends of two lines differ that are the same otherwise.
func endsDiffer(file, patch string) string {
	switch {
	case !strings.HasSuffix(file, "\n"):
		return `the file has no newline at its end, which the line "\ No newline at end of file" says`
	case !strings.HasSuffix(patch, "\n"):
		return "the file has a newline there"
	case strings.HasSuffix(file, "\r\n"):
		return "one ends in CRLF, the other in LF"
	}
	return "one ends in LF, the other in CRLF"
}

// common returns how many of the lines old are where they would be if the first is at.
func (t *text) common(at int, old []string, fold func(string) string) (n int) {
	for i, want := range old[:min(len(old), len(t.lines)-at)] {
		line := t.lines[at+i].text
		if strings.TrimSpace(want) != "" && fold(line) == fold(want) {
			n++
		}
	}
	return n
}

func distance(a, b int) int { return max(a-b, b-a) }

// shownChars is how many characters of a line an error shows.
const shownChars = 120

// shown returns a line for an error, with white space that can be seen.
func shown(line string) string {
	return fmt.Sprintf("%q", wording.ClipAround(wording.LineBody(line), 0, shownChars))
}
