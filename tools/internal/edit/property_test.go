package edit_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/tools/internal/edit"
)

// words is text in which short texts repeat, with line ends of both kinds.
func words() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "ab", " ", "\n", "\r\n", "\r", "é", "\xff", "\ufeff"})).Draw(t, "parts")
		return strings.Join(parts, "")
	})
}

// TestUniqueIsReplace compares one edit with the standard library.
func TestUniqueIsReplace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, e := words().Draw(t, "data"), edit.Edit{Old: words().Draw(t, "old"), New: words().Draw(t, "new")}
		e.All = rapid.Bool().Draw(t, "all")
		change, err := edit.New([]byte(data), []edit.Edit{e})
		occurs := strings.Count(data, e.Old)
		adapts := strings.Contains(data, "\r") && !strings.Contains(e.Old, "\r") || strings.Contains(e.Old, "\r\n") && occurs == 0 ||
			oneKind(data) && strings.Contains(e.Old+e.New, "\n")
		switch {
		case e.Old == "" || e.Old == e.New:
			var invalid *edit.InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("New = %v, want an InvalidError", err)
			}
		case adapts:
			checkAdapted(t, data, e, change, err)
		case occurs == 0:
			if !errors.Is(err, edit.ErrTextNotFound) {
				t.Fatalf("New = %v, want edit.ErrTextNotFound", err)
			}
		case e.All || occurs == 1 && strings.LastIndex(data, e.Old) == strings.Index(data, e.Old):
			if want := strings.ReplaceAll(data, e.Old, e.New); err != nil || string(change.Bytes()) != want {
				t.Fatalf("New = %v, want %q", err, want)
			}
		default:
			if !errors.Is(err, edit.ErrTextNotUnique) {
				t.Fatalf("New = %v, want edit.ErrTextNotUnique", err)
			}
		}
	})
}

// checkAdapted checks what holds whatever the line ends: undoing the spans
// gives the original, and a replaced text is oldText but for its line ends.
func checkAdapted(t *rapid.T, data string, e edit.Edit, change *edit.Change, err error) {
	if err != nil {
		return
	}
	for _, s := range change.Spans() {
		if got := strings.ReplaceAll(data[s.Start:s.End], "\r\n", "\n"); got != strings.ReplaceAll(e.Old, "\r\n", "\n") {
			t.Fatalf("replaced %q, which is not %q", got, e.Old)
		}
		// In "\r\r\n", only the second "\r" is of the line end.
		if want := strings.ReplaceAll(e.New, "\r\n", "\n"); s.New != want && strings.ReplaceAll(s.New, "\r\n", "\n") != want {
			t.Fatalf("wrote %q, which is not %q", s.New, e.New)
		}
	}
}

// oneKind reports whether data has line ends, and all are LF or all CRLF.
func oneKind(data string) bool {
	crlf, all := strings.Count(data, "\r\n"), strings.Count(data, "\n")
	return all > 0 && (crlf == 0 || crlf == all)
}

// TestOnlySpansChange undoes every change.
func TestOnlySpansChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := words().Draw(t, "data")
		var edits []edit.Edit
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			edits = append(edits, edit.Edit{Old: words().Draw(t, "old"), New: words().Draw(t, "new"), All: rapid.Bool().Draw(t, "all")})
		}
		input := []byte(data)
		change, err := edit.New(input, edits)
		if err == nil {
			checkUndo(t, input, change)
		}
		if string(input) != data {
			t.Fatalf("the input was changed to %q", input)
		}
	})
}

type fatal interface{ Fatalf(string, ...any) }

func checkUndo(t fatal, data []byte, change *edit.Change) {
	result := change.Bytes()
	if int64(len(result)) != change.Size() {
		t.Fatalf("Size() = %d, and there are %d bytes", change.Size(), len(result))
	}
	var undone []byte
	at, end := 0, 0
	for _, s := range change.Spans() {
		if s.Start < end {
			t.Fatalf("span %+v overlaps the one before", s)
		}
		kept := s.Start - end
		undone = append(undone, result[at:at+kept]...)
		undone = append(undone, data[s.Start:s.End]...)
		at, end = at+kept+len(s.New), s.End
	}
	if undone = append(undone, result[at:]...); !bytes.Equal(undone, data) {
		t.Fatalf("undone = %q, want %q", undone, data)
	}
}

// slow is a plain implementation of lists of edits for texts without carriage
// returns, which are not regular expressions and not tolerant. It looks at every place
// of the text, and returns "" and false for what [edit.New] refuses.
func slow(data string, edits []edit.Edit) (string, bool) {
	owner := make([]int, len(data)) // the edit that replaces a byte, from 1
	at := map[int]map[int]string{}  // what an edit writes at a place
	put := func(place, i int, text string) {
		if at[place] == nil {
			at[place] = map[int]string{}
		}
		at[place][i] = text
	}
	for i, e := range edits {
		if e.Line != 0 {
			lines := strings.SplitAfter(data, "\n")
			if lines[len(lines)-1] == "" {
				lines = lines[:len(lines)-1]
			}
			if e.Line > len(lines)+1 || e.Old != "" || e.All || e.Count != 0 {
				return "", false
			}
			text, place := strings.TrimSuffix(e.New, "\n")+"\n", len(strings.Join(lines[:e.Line-1], ""))
			switch {
			case data == "":
				text = e.New
			case place == len(data) && !strings.HasSuffix(data, "\n"):
				text = "\n" + strings.TrimSuffix(text, "\n")
			}
			put(place, i, text)
			continue
		}
		if e.Old == "" || e.Old == e.New {
			return "", false
		}
		var starts []int
		overlapping := 0
		for p := 0; p+len(e.Old) <= len(data); p++ {
			if data[p:p+len(e.Old)] != e.Old {
				continue
			}
			overlapping++
			if len(starts) == 0 || p >= starts[len(starts)-1]+len(e.Old) {
				starts = append(starts, p)
			}
		}
		if len(starts) == 0 || e.Count != 0 && len(starts) != e.Count || e.Count == 0 && !e.All && overlapping > 1 {
			return "", false
		}
		for _, p := range starts {
			put(p, i, e.New)
			for k := range len(e.Old) {
				if owner[p+k] != 0 {
					return "", false
				}
				owner[p+k] = i + 1
			}
		}
	}
	var out strings.Builder
	for p := 0; p <= len(data); p++ {
		for i, e := range edits {
			text, here := at[p][i]
			switch {
			case !here || e.Line == 0:
			case p > 0 && p < len(data) && owner[p-1] != 0 && owner[p-1] == owner[p] && !writes(at[p], owner[p]-1):
				return "", false // in the middle of a replaced text
			default:
				out.WriteString(text)
			}
		}
		for i, e := range edits {
			if e.Line == 0 {
				out.WriteString(at[p][i])
			}
		}
		if p < len(data) && owner[p] == 0 {
			out.WriteByte(data[p])
		}
	}
	return out.String(), true
}

// writes reports whether edit i is one of those that write at a place.
func writes(here map[int]string, i int) bool {
	_, ok := here[i]
	return ok
}

// TestAgreesWithSlow compares lists of edits with the plain implementation.
func TestAgreesWithSlow(t *testing.T) {
	text := func(parts ...string) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, "parts"), "")
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		data := text("a", "b", "c", "ab", "\n", "é", "\xff").Draw(t, "data")
		var edits []edit.Edit
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			e := edit.Edit{New: text("a", "x", "\n").Draw(t, "new")}
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				e.Line = rapid.IntRange(1, 4).Draw(t, "line")
			case 1:
				e.Old, e.Count = text("a", "b", "\n").Draw(t, "old"), rapid.IntRange(1, 3).Draw(t, "count")
			default:
				e.Old, e.All = text("a", "b", "c", "\n", "é").Draw(t, "old"), rapid.Bool().Draw(t, "all")
			}
			edits = append(edits, e)
		}
		want, ok := slow(data, edits)
		change, err := edit.New([]byte(data), edits)
		switch {
		case ok != (err == nil):
			t.Fatalf("New(%q, %+v) = %v, and the plain implementation says %v, %q", data, edits, err, ok, want)
		case ok && string(change.Bytes()) != want:
			t.Fatalf("New(%q, %+v) makes %q, want %q", data, edits, change.Bytes(), want)
		case ok:
			checkUndo(t, []byte(data), change)
		}
	})
}

// TestRegexpIsReplaceAll compares with the standard library, and CRLF with line feeds.
func TestRegexpIsReplaceAll(t *testing.T) {
	lines := rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "ab", "x y", "", "é"}))
	rapid.Check(t, func(t *rapid.T) {
		data := strings.Join(lines.Draw(t, "lines"), "\n")
		pattern := rapid.SampledFrom([]string{"a", "^a", "b$", "(a)(b)?", "a\\nb", "\\n+", "[^a]+", "(?s)a.*b", "x (?P<n>.)", "."}).Draw(t, "pattern")
		text := rapid.SampledFrom([]string{"", "z", "<$0>", "z\n", "$$", "z\nz"}).Draw(t, "text")
		re := regexp.MustCompile("(?m)" + pattern)
		if !re.MatchString(data) {
			return
		}
		want := re.ReplaceAllString(data, text)
		for _, end := range []string{"\n", "\r\n"} {
			ends := strings.NewReplacer("\n", end)
			if end == "\r\n" && !strings.Contains(data, "\n") {
				continue // such a file has no line ends to keep
			}
			change, err := edit.New([]byte(ends.Replace(data)), []edit.Edit{{Old: pattern, New: text, Regexp: true, All: true}})
			if err != nil || string(change.Bytes()) != ends.Replace(want) {
				t.Fatalf("%q to %q in %q makes %q, %v, want %q", pattern, text, ends.Replace(data), change.Bytes(), err, ends.Replace(want))
			}
		}
	})
}

// TestTolerantIsExact damages a part of a file in the ways that a tolerant edit looks
// past, and compares with what the edit of the undamaged part makes.
func TestTolerantIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		indents := rapid.SampledFrom([]string{"", "\t", "\t\t", "\t\t\t"})
		var lines []string
		for i := range rapid.IntRange(1, 8).Draw(t, "lines") {
			lines = append(lines, fmt.Sprintf("%sword%d()", indents.Draw(t, "indent"), i))
		}
		first := rapid.IntRange(0, len(lines)-1).Draw(t, "first")
		last := rapid.IntRange(first, len(lines)-1).Draw(t, "last")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		data := strings.Join(lines, end) + end
		old := strings.Join(lines[first:last+1], "\n")
		text := strings.ReplaceAll(old, "word", "other")
		exact, err := edit.New([]byte(data), []edit.Edit{{Old: old, New: text}})
		if err != nil {
			t.Fatal(err)
		}
		more := rapid.SampledFrom([]string{"", "\t", "\t\t"}).Draw(t, "more")
		width := rapid.SampledFrom([]string{"\t", "  ", "    ", "        "}).Draw(t, "width")
		blanks := rapid.SampledFrom([]string{"", " ", " \t"}).Draw(t, "blanks")
		damage := func(text string) string {
			text = more + strings.ReplaceAll(text, "\n", "\n"+more)
			return strings.ReplaceAll(text, "\t", width)
		}
		e := edit.Edit{Old: strings.ReplaceAll(damage(old), "\n", blanks+"\n"), New: damage(text), Tolerant: true}
		change, err := edit.New([]byte(data), []edit.Edit{e})
		if err != nil {
			t.Fatalf("New(%q, %+v) = %v", data, e, err)
		}
		checkUndo(t, []byte(data), change)
		if string(change.Bytes()) != string(exact.Bytes()) {
			t.Fatalf("New(%q, %+v) makes %q, want %q", data, e, change.Bytes(), exact.Bytes())
		}
	})
}

func FuzzEdit(f *testing.F) {
	f.Add([]byte("a\r\nb\r\n"), "a\nb", "c\n", byte(0), 0)
	f.Add([]byte("\ufeffone\ntwo\n"), "two", "", byte(1), 0)
	f.Add([]byte("abab"), "ab", "ba", byte(0), 2)
	f.Add([]byte("x"), "“x”", "y", byte(4), 0)
	f.Add([]byte("\ta \r\n\t\tb\r\n"), "a\n    b", "c\n    d", byte(4), 0)
	f.Add([]byte("a\r\nb\r\n"), `(?P<x>a)\n|$`, "${x}$1\n", byte(3), 0)
	f.Add([]byte("a\r\nb"), "", "c\nd", byte(8), 3)
	f.Fuzz(func(t *testing.T, data []byte, old, text string, flags byte, number int) {
		e := edit.Edit{Old: old, New: text, All: flags&1 != 0, Regexp: flags&2 != 0, Tolerant: flags&4 != 0}
		if flags&8 != 0 {
			e.Line = number
		} else {
			e.Count = number
		}
		input := bytes.Clone(data)
		change, err := edit.New(input, []edit.Edit{e})
		if !bytes.Equal(input, data) {
			t.Fatalf("the input was changed to %q", input)
		}
		if err != nil {
			return
		}
		checkUndo(t, data, change)
		if marked := bytes.HasPrefix(data, []byte("\ufeff")); marked && (e.Line != 0 || e.Regexp) && change.Spans()[0].Start < 3 {
			t.Fatalf("the byte order mark is changed: %+v", change.Spans()[0])
		}
		before, after, whole := change.Head(16)
		if rest, result := data[before:], change.Bytes(); whole && !bytes.Equal(result[after:], rest) {
			t.Errorf("after the head of the change, %q becomes %q", rest, result[after:])
		}
	})
}
