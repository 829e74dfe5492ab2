package edit_test

import (
	"bytes"
	"errors"
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
		adapts := strings.Contains(data, "\r") && !strings.Contains(e.Old, "\r")
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
		if got := strings.ReplaceAll(data[s.Start:s.End], "\r\n", "\n"); got != e.Old {
			t.Fatalf("replaced %q, which is not %q", got, e.Old)
		}
		if got := strings.ReplaceAll(s.New, "\r\n", "\n"); got != strings.ReplaceAll(e.New, "\r\n", "\n") {
			t.Fatalf("wrote %q, which is not %q", s.New, e.New)
		}
	}
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

func FuzzEdit(f *testing.F) {
	f.Add([]byte("a\r\nb\r\n"), "a\nb", "c\n", false)
	f.Add([]byte("\ufeffone\ntwo\n"), "two", "", true)
	f.Add([]byte("abab"), "ab", "ba", false)
	f.Add([]byte("x"), "“x”", "y", false)
	f.Fuzz(func(t *testing.T, data []byte, old, text string, all bool) {
		change, err := edit.New(data, []edit.Edit{{Old: old, New: text, All: all}})
		if err != nil {
			return
		}
		checkUndo(t, data, change)
		before, after, whole := change.Head(16)
		if !bytes.HasPrefix(data, before) || whole && !bytes.HasPrefix(change.Bytes(), after) {
			t.Errorf("Head = %q, %q", before, after)
		}
	})
}
