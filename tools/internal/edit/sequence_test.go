package edit_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/tools/internal/edit"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestSequence tests that the change of random edits, one after another, makes of the
// original what the edits make, and that its replacements neither overlap nor touch
// what no edit has touched.
func TestSequence(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	for round := range 5000 {
		original := strings.Repeat("abcdefghij", 1+random.IntN(4))
		s := edit.NewSequence([]byte(original))
		want := original
		for range 1 + random.IntN(8) {
			start := random.IntN(len(want) + 1)
			end := start + random.IntN(min(len(want)-start, 5)+1)
			text := strings.Repeat("X", random.IntN(5))
			s.Replace(start, end, text)
			want = want[:start] + text + want[end:]
		}
		change := s.Change()
		if got := string(change.Bytes()); got != want || string(s.Text()) != want || change.Size() != int64(len(want)) {
			t.Fatalf("seed %d, round %d: the change makes %q of %q and the text is %q, want %q", seed, round, got, original, s.Text(), want)
		}
		at := 0
		for _, span := range change.Spans() {
			if span.Start < at || span.End < span.Start || strings.Trim(span.New, "Xabcdefghij") != "" {
				t.Fatalf("seed %d, round %d: replacements %+v", seed, round, change.Spans())
			}
			at = span.End
		}
	}
}

func TestSequenceFirst(t *testing.T) {
	t.Parallel()
	s := edit.NewSequence([]byte("one\r\ntwo\r\none\r\n"))
	for _, e := range [][2]string{{"one", "1"}, {"1\ntwo", "1\n2"}, {"one", "3"}, {"2", "two"}} {
		if err := s.First(e[0], e[1]); err != nil {
			t.Errorf("First(%q, %q) = %v", e[0], e[1], err)
		}
	}
	if want := "1\r\ntwo\r\n3\r\n"; string(s.Change().Bytes()) != want {
		t.Errorf("the change makes %q, want %q", s.Change().Bytes(), want)
	}
	var invalid *edit.InvalidError
	var notFound *edit.NotFoundError
	if err := s.First("", "x"); !errors.As(err, &invalid) {
		t.Errorf(`First("") = %v, want an InvalidError`, err)
	}
	if err := s.First("on e", "x"); !errors.As(err, &notFound) || !errors.Is(err, edit.ErrTextNotFound) {
		t.Errorf("First of a text that does not occur = %v, want a NotFoundError", err)
	}
}

// TestSequenceFirstOfMixedLineEnds tests that a text that begins with a line feed leaves no
// half of a line end.
func TestSequenceFirstOfMixedLineEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ data, old, new, want string }{
		{"a\r\nb\nc\n", "\nb", " b", "a b\nc\n"},
		{"a\r\nb\nc\n", "\nb", "\nx", "a\r\nx\nc\n"},
		{"a\r\nb\nc\n", "\nc", "\nx", "a\r\nb\nx\n"},
		{"a\r\nb\nc\n", "\n", "|", "a|b\nc\n"},
	} {
		s := edit.NewSequence([]byte(c.data))
		if err := s.First(c.old, c.new); err != nil || string(s.Text()) != c.want {
			t.Errorf("First(%q, %q) of %q = %v and makes %q, want %q", c.old, c.new, c.data, err, s.Text(), c.want)
		}
	}
}

// TestSequenceApply tests edits of all occurrences, each of what those before it made.
func TestSequenceApply(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	word := func(most int) string {
		text := make([]byte, 1+random.IntN(most))
		for i := range text {
			text[i] = "ab\n"[random.IntN(3)]
		}
		return string(text)
	}
	for round := range 2000 {
		original := word(40)
		s, want := edit.NewSequence([]byte(original)), original
		for range 1 + random.IntN(5) {
			old, new := word(2), "X"+word(3)
			err := s.Apply(edit.Edit{Old: old, New: new, All: true}, 1<<20)
			switch {
			case !strings.Contains(want, old):
				if !errors.Is(err, edit.ErrTextNotFound) {
					t.Fatalf("seed %d, round %d: Apply of %q to %q = %v, want %v", seed, round, old, want, err, edit.ErrTextNotFound)
				}
				continue
			case err != nil:
				t.Fatalf("seed %d, round %d: Apply of %q to %q = %v", seed, round, old, want, err)
			}
			want = strings.ReplaceAll(want, old, new)
		}
		if got := string(s.Change().Bytes()); got != want || string(s.Text()) != want {
			t.Fatalf("seed %d, round %d: the change makes %q of %q and the text is %q, want %q", seed, round, got, original, s.Text(), want)
		}
	}
	s := edit.NewSequence([]byte("a a"))
	if err := s.Apply(edit.Edit{Old: "a", New: "b"}, 1<<20); !errors.Is(err, edit.ErrTextNotUnique) || string(s.Text()) != "a a" {
		t.Errorf("Apply of a text that occurs twice = %v, and the text is %q", err, s.Text())
	}
	grow := edit.Edit{Old: "a", New: "bb", All: true} // to 5 bytes
	if err := s.Apply(grow, 4); !errors.Is(err, workspace.ErrTooLarge) || string(s.Text()) != "a a" {
		t.Errorf("Apply above the limit = %v, and the text is %q", err, s.Text())
	}
	if err := s.Apply(grow, 5); err != nil || string(s.Text()) != "bb bb" {
		t.Errorf("Apply at the limit = %v, and the text is %q", err, s.Text())
	}
}

// TestSequenceManyReplacements makes as many replacements as one edit may, twice. It
// took 20 s when each was made a part of the change by itself.
func TestSequenceManyReplacements(t *testing.T) {
	t.Parallel()
	const most = 10 * time.Second
	start := time.Now()
	s := edit.NewSequence([]byte(strings.Repeat("a\n", edit.MaxReplacements)))
	for _, e := range []edit.Edit{{Old: "a", New: "bc", All: true}, {Old: "b", New: "", All: true}} {
		if err := s.Apply(e, 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := string(s.Change().Bytes()), strings.Repeat("c\n", edit.MaxReplacements); got != want {
		t.Errorf("the change makes %d bytes, want %d", len(got), len(want))
	}
	if n := len(s.Change().Spans()); n != edit.MaxReplacements {
		t.Errorf("the change has %d replacements, want %d", n, edit.MaxReplacements)
	}
	if took := time.Since(start); took > most {
		t.Errorf("it took %v, want at most %v", took, most)
	}
}
