package edit_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/tools/internal/edit"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestEdit(t *testing.T) {
	tests := []struct {
		name  string
		data  string
		edits []edit.Edit
		want  string
	}{
		{"one-word", "a b c", []edit.Edit{{Old: "b", New: "x"}}, "a x c"},
		{"delete", "a b c", []edit.Edit{{Old: " b", New: ""}}, "a c"},
		{"everything", "abc", []edit.Edit{{Old: "abc", New: ""}}, ""},
		{"all", "x.x.x", []edit.Edit{{Old: "x", New: "yy", All: true}}, "yy.yy.yy"},
		{"all-overlapping", "aaaaa", []edit.Edit{{Old: "aa", New: "b", All: true}}, "bba"},
		{"all-of-one", "a b", []edit.Edit{{Old: "b", New: "c", All: true}}, "a c"},
		{"several-in-any-order", "1 2 3", []edit.Edit{{Old: "3", New: "c"}, {Old: "1", New: "a"}}, "a 2 c"},
		{"matched-against-original", "a b", []edit.Edit{{Old: "a", New: "b"}, {Old: "b", New: "a"}}, "b a"},
		{"adjacent", "ab", []edit.Edit{{Old: "a", New: "1"}, {Old: "b", New: "2"}}, "12"},
		{"no-final-newline", "a\nb", []edit.Edit{{Old: "b", New: "c"}}, "a\nc"},
		{"final-newline", "a\nb\n", []edit.Edit{{Old: "b", New: "c"}}, "a\nc\n"},
		{"byte-order-mark", "\ufeffa\nb\n", []edit.Edit{{Old: "a", New: "c"}}, "\ufeffc\nb\n"},
		{"other-encoding", "caf\xe9 old\n", []edit.Edit{{Old: "old", New: "new"}}, "caf\xe9 new\n"},

		{"lf-lines", "a\nb\n", []edit.Edit{{Old: "a\nb", New: "c\r\nd"}}, "c\nd\n"},
		{"lf-one-line-to-several", "a\nb\n", []edit.Edit{{Old: "a", New: "x\r\ny\nz"}}, "x\ny\nz\nb\n"},
		{"lf-lone-carriage-return", "a\nb\n", []edit.Edit{{Old: "a", New: "x\ry\r\nz"}}, "x\ry\nz\nb\n"},
		{"lf-to-crlf", "a\nb\n", []edit.Edit{{Old: "\n", New: "\r\n", All: true}}, "a\r\nb\r\n"},
		{"no-ends", "a", []edit.Edit{{Old: "a", New: "x\r\ny\nz"}}, "x\r\ny\nz"},

		{"crlf-lines", "a\r\nb\r\nc\r\n", []edit.Edit{{Old: "a\nb\n", New: "x\ny\nz\n"}}, "x\r\ny\r\nz\r\nc\r\n"},
		{"crlf-verbatim", "a\r\nb\r\n", []edit.Edit{{Old: "a\r\nb", New: "x\ny"}}, "x\r\ny\r\n"},
		{"crlf-one-line-to-mixed", "a\r\nb\r\n", []edit.Edit{{Old: "a", New: "x\r\ny\nz"}}, "x\r\ny\r\nz\r\nb\r\n"},
		{"crlf-to-lf", "a\r\nb\r\n", []edit.Edit{{Old: "\r\n", New: "\n", All: true}}, "a\nb\n"},
		{"crlf-to-lf-of-one-line", "a\r\nb\r\n", []edit.Edit{{Old: "a\r\n", New: "a\n"}}, "a\nb\r\n"},
		{"crlf-from-the-middle-of-an-end", "a\r\nb\r\nc", []edit.Edit{{Old: "\nb\r\n", New: "\nx\r\n"}}, "a\r\nx\r\nc"},
		{"crlf-mixed-new", "a\r\nb\r\n", []edit.Edit{{Old: "a\nb", New: "x\r\ny\nz"}}, "x\r\ny\r\nz\r\n"},
		{"crlf-one-line-to-several", "a\r\nb\r\n", []edit.Edit{{Old: "b", New: "x\ny"}}, "a\r\nx\r\ny\r\n"},
		{"crlf-from-line-feed", "a\r\nb\r\nc", []edit.Edit{{Old: "\nb", New: ""}}, "a\r\nc"},
		{"crlf-all", "a\r\nb\r\na\r\nb\r\n", []edit.Edit{{Old: "a\nb\n", New: "c\n", All: true}}, "c\r\nc\r\n"},
		{"mixed-ends-one-line", "a\r\nb\n", []edit.Edit{{Old: "b", New: "x\ny"}}, "a\r\nx\ny\n"},
		{"mixed-ends-crlf-part", "a\r\nb\r\nc\nd\n", []edit.Edit{{Old: "a\nb", New: "x\ny"}}, "x\r\ny\r\nc\nd\n"},
		{"mixed-ends-all", "a\r\nb\nc", []edit.Edit{{Old: "\n", New: "|", All: true}}, "a|b|c"},
		{"mixed-ends-all-to-crlf", "a\r\nb\nc", []edit.Edit{{Old: "\n", New: "\r\n", All: true}}, "a\r\nb\r\nc"},
		{"mixed-ends-from-line-feed", "a\r\nx\nx\n", []edit.Edit{{Old: "\nx", New: "\ny", All: true}}, "a\r\ny\ny\n"},
		{"mixed-ends-with-crlf", "a\r\n\r\nb\nc\n", []edit.Edit{{Old: "\n\r\nb", New: "X"}}, "aX\nc\n"},
		{"mixed-ends-lf-part", "a\r\nb\r\nc\nd\n", []edit.Edit{{Old: "c\nd", New: "x\ny"}}, "a\r\nb\r\nx\ny\n"},
		{"lone-carriage-return", "a\rb\n", []edit.Edit{{Old: "b", New: "x\ny"}}, "a\rx\ny\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			change, err := edit.New([]byte(tt.data), tt.edits)
			if err != nil {
				t.Fatalf("New(%q, %v) = %v", tt.data, tt.edits, err)
			}
			if diff := cmp.Diff(tt.want, string(change.Bytes())); diff != "" {
				t.Errorf("Bytes() (-want +got):\n%s", diff)
			}
			if change.Size() != int64(len(tt.want)) {
				t.Errorf("Size() = %d, want %d", change.Size(), len(tt.want))
			}
		})
	}
}

func TestEditErrors(t *testing.T) {
	tests := []struct {
		name  string
		data  string
		edits []edit.Edit
		want  error
	}{
		{"empty-old", "abc", []edit.Edit{{Old: "", New: "x"}}, &edit.InvalidError{}},
		{"empty-old-all", "abc", []edit.Edit{{Old: "", New: "x", All: true}}, &edit.InvalidError{}},
		{"empty-old-empty-file", "", []edit.Edit{{Old: "", New: "x"}}, &edit.InvalidError{}},
		{"same", "abc", []edit.Edit{{Old: "b", New: "b"}}, &edit.InvalidError{}},
		{"same-but-line-ends", "a\r\nb", []edit.Edit{{Old: "a\nb", New: "a\r\nb"}}, &edit.InvalidError{}},
		{"missing", "abc", []edit.Edit{{Old: "x", New: "y"}}, &edit.NotFoundError{}},
		{"missing-with-two-carriage-returns", "\r\n", []edit.Edit{{Old: "\r\r\n", New: "y"}}, &edit.NotFoundError{}},
		{"missing-in-empty", "", []edit.Edit{{Old: "x", New: "y"}}, &edit.NotFoundError{}},
		{"second-missing", "abc", []edit.Edit{{Old: "a", New: "y"}, {Old: "x", New: "y"}}, &edit.NotFoundError{Edit: 1}},
		{"only-in-new-of-first", "a", []edit.Edit{{Old: "a", New: "b"}, {Old: "b", New: "c"}}, &edit.NotFoundError{Edit: 1}},
		{"twice", "a\nb\na\n", []edit.Edit{{Old: "a", New: "c"}}, &edit.NotUniqueError{Count: 2, Lines: []int{1, 3}}},
		{"overlapping-often", strings.Repeat("a", 21), []edit.Edit{{Old: "aa", New: "c"}},
			&edit.NotUniqueError{Count: 10, Lines: []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}},
		{"overlapping-itself", "ababa", []edit.Edit{{Old: "aba", New: "c"}}, &edit.NotUniqueError{Count: 2, Lines: []int{1, 1}}},
		{"twice-in-crlf", "a\r\nb\r\na\r\nb\r\n", []edit.Edit{{Old: "a\nb", New: "c"}}, &edit.NotUniqueError{Count: 2, Lines: []int{1, 3}}},
		{"overlap", "abcd", []edit.Edit{{Old: "abc", New: "x"}, {Old: "cd", New: "y"}}, &edit.OverlapError{Second: 1, Line: 1}},
		{"overlap-in-other-order", "abcd", []edit.Edit{{Old: "cd", New: "x"}, {Old: "abc", New: "y"}}, &edit.OverlapError{Second: 1, Line: 1}},
		{"inside", "x\nabcd", []edit.Edit{{Old: "abcd", New: "x"}, {Old: "bc", New: "y"}}, &edit.OverlapError{Second: 1, Line: 2}},
		{"same-edit-twice", "ab", []edit.Edit{{Old: "a", New: "x"}, {Old: "a", New: "y"}}, &edit.OverlapError{Second: 1, Line: 1}},
		{"count", "a\nb\na\n", []edit.Edit{{Old: "a", New: "c", Count: 3}}, &edit.NotUniqueError{Want: 3, Count: 2, Lines: []int{1, 3}}},
		{"count-of-none", "a\n", []edit.Edit{{Old: "b", New: "c", Count: 1}}, &edit.NotFoundError{}},
		{"count-of-one", "a\nb\na\n", []edit.Edit{{Old: "a", New: "c", Count: 1}}, &edit.NotUniqueError{Want: 1, Count: 2, Lines: []int{1, 3}}},
		{"same-but-line-ends-of-old", "a\nb", []edit.Edit{{Old: "a\r\nb", New: "a\nb"}}, &edit.InvalidError{}},
		{"insert-too-far", "a\nb\n", []edit.Edit{{Line: 4, New: "c"}}, &edit.LineError{Line: 4, Lines: 2}},
		{"insert-too-far-without-newline", "a\nb", []edit.Edit{{Line: 4, New: "c"}}, &edit.LineError{Line: 4, Lines: 2}},
		{"insert-too-far-in-empty", "", []edit.Edit{{Line: 2, New: "c"}}, &edit.LineError{Line: 2}},
		{"insert-negative", "a", []edit.Edit{{Line: -1, New: "c"}}, &edit.LineError{Line: -1, Lines: 1}},
		{"insert-and-old", "a\n", []edit.Edit{{Line: 1, Old: "a", New: "c"}}, &edit.InvalidError{}},
		{"insert-inside", "a\nb\n", []edit.Edit{{Line: 2, New: "c"}, {Old: "a\nb", New: "x"}}, &edit.OverlapError{Second: 1, Line: 2}},
		{"regexp-malformed", "a", []edit.Edit{{Old: "func (", New: "c", Regexp: true}}, &edit.PatternError{}},
		{"regexp-too-long", "a", []edit.Edit{{Old: strings.Repeat("a", 5000), New: "c", Regexp: true}}, &edit.PatternError{Costly: true}},
		{"regexp-too-slow", strings.Repeat("a", 100<<10), append([]edit.Edit{{Old: "a[^b]*b|a", New: "c", All: true, Regexp: true}},
			slices.Repeat([]edit.Edit{{Old: "none", New: "c", Regexp: true, Optional: true}}, 199)...), &edit.PatternError{Costly: true}},
		{"regexp-too-costly", strings.Repeat("x", 1<<20), []edit.Edit{{Old: "(x{1,30}){1,30}y", New: "c", Regexp: true}}, &edit.PatternError{Costly: true}},
		{"regexps-too-costly-together", strings.Repeat("x", 1<<20), slices.Repeat([]edit.Edit{{Old: "[a-z]{150} [0-9]{150}y", New: "c", Regexp: true}}, 2),
			edit.Errors{&edit.PatternError{Costly: true}, &edit.PatternError{Edit: 1, Costly: true}}},
		{"regexp-missing", "abc", []edit.Edit{{Old: "^b", New: "c", Regexp: true}}, &edit.NotFoundError{Regexp: true}},
		{"regexp-twice", "ab\nab\n", []edit.Edit{{Old: "^a", New: "c", Regexp: true}}, &edit.NotUniqueError{Count: 2, Lines: []int{1, 2}}},
		{"regexp-unknown-group", "ab", []edit.Edit{{Old: "(a)", New: "$2", Regexp: true}}, &edit.InvalidError{}},
		{"regexp-unknown-name", "ab", []edit.Edit{{Old: "(a)", New: "${a}", Regexp: true}}, &edit.InvalidError{}},
		{"regexp-too-many", strings.Repeat("a", edit.MaxReplacements+1), []edit.Edit{{Old: "a", New: "b", Regexp: true, All: true}}, &edit.TooManyError{}},
		{"tolerant-regexp", "ab", []edit.Edit{{Old: "a", New: "c", Regexp: true, Tolerant: true}}, &edit.InvalidError{}},
		{"several", "a\nb\na\n", []edit.Edit{{Old: "x", New: "y"}, {Old: "b", New: "c"}, {Old: "a", New: "z"}, {Line: 9}},
			edit.Errors{&edit.NotFoundError{}, &edit.NotUniqueError{Edit: 2, Count: 2, Lines: []int{1, 3}}, &edit.LineError{Edit: 3, Line: 9, Lines: 3}}},
		{"too-many", strings.Repeat("a", edit.MaxReplacements+1), []edit.Edit{{Old: "a", New: "b", All: true}}, &edit.TooManyError{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			change, err := edit.New([]byte(tt.data), tt.edits)
			if err == nil {
				t.Fatalf("New(%q) = %q, want %T", tt.data, change.Bytes(), tt.want)
			}
			ignore := cmp.FilterPath(func(p cmp.Path) bool {
				return slices.Contains([]string{".Nearest", ".Reason", ".Hint"}, p.Last().String())
			}, cmp.Ignore())
			if diff := cmp.Diff(tt.want, err, ignore); diff != "" {
				t.Errorf("New(%.100q) error (-want +got):\n%s", tt.data, diff)
			}
		})
	}
}

func TestRegexpOfLargeFile(t *testing.T) {
	data := []byte(strings.Repeat("a", edit.MaxRegexpSource+1))
	if _, err := edit.New(data, []edit.Edit{{Old: "b", New: "c", Regexp: true}}); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("New with a regular expression and a large file = %v, want %v", err, workspace.ErrTooLarge)
	}
}

func TestNotUniqueListIsBounded(t *testing.T) {
	_, err := edit.New([]byte(strings.Repeat("x\n", 1000)), []edit.Edit{{Old: "x", New: "y"}})
	var notUnique *edit.NotUniqueError
	if !errors.As(err, &notUnique) || !errors.Is(err, edit.ErrTextNotUnique) {
		t.Fatalf("New = %v, want a NotUniqueError", err)
	}
	if notUnique.Count != 1000 || len(notUnique.Lines) != 20 {
		t.Errorf("Count = %d, %d lines, want 1000 and 20", notUnique.Count, len(notUnique.Lines))
	}
	if want := "it occurs 1000 times, on lines 1, 2, 3"; !strings.Contains(err.Error(), want) {
		t.Errorf("error = %q, want it to contain %q", err, want)
	}
}

func TestNotUniqueNamesEachLineOnce(t *testing.T) {
	for data, want := range map[string]string{"x x\n": "2 times, on line 1", "x x\nx x\n": "4 times, on lines 1, 2"} {
		_, err := edit.New([]byte(data), []edit.Edit{{Old: "x", New: "y"}})
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("New(%q) = %v, want an error that ends in %q", data, err, want)
		}
	}
}

func TestFirstLine(t *testing.T) {
	tests := []struct {
		name, data, old, new string
		want                 int
	}{
		{"first", "a\nb\n", "a", "x", 1},
		{"third", "a\nb\nc\n", "c", "x", 3},
		{"unchanged-start", "a\nb\nc\n", "a\nb\nc", "a\nb\nx", 3},
		{"appended", "a\nb\n", "b\n", "b\nc\n", 3},
		{"removed-end", "a\nb\n", "\nb\n", "\n", 2},
		{"removed-line", "a\nb\nc\n", "\nb", "", 2},
		{"removed-repeated-line", "a\na\na\nb\n", "a\nb\n", "b\n", 3},
		{"removed-last-line-end", "a\n", "a\n", "a", 1},
		{"inserted-line", "a\nb\n", "a", "a\nc", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			change, err := edit.New([]byte(tt.data), []edit.Edit{{Old: tt.old, New: tt.new}})
			if err != nil {
				t.Fatal(err)
			}
			if got := change.FirstLine(); got != tt.want {
				t.Errorf("FirstLine() = %d, want %d", got, tt.want)
			}
		})
	}
}

// TestFirstLineOfNone checks edits that match and change nothing.
func TestFirstLineOfNone(t *testing.T) {
	for _, e := range []edit.Edit{{Old: "^", Regexp: true, All: true}, {Old: "b(\n)", New: "b$1", Regexp: true}} {
		change, err := edit.New([]byte("a\nb\n"), []edit.Edit{e})
		if err != nil {
			t.Fatal(err)
		}
		if got := change.FirstLine(); got != 0 || len(change.Spans()) == 0 {
			t.Errorf("FirstLine() of %+v with %d replacements = %d, want 0", e, len(change.Spans()), got)
		}
	}
}

// TestFirstLineOfSeveral compares with the result, line by line.
func TestFirstLineOfSeveral(t *testing.T) {
	data := "a\nb\na\nb\na\nb\n"
	for _, edits := range [][]edit.Edit{
		{{Old: "b\na\nb\na\n", New: "b\na\n"}},
		{{Old: "a\nb\na\nb\na", New: "a"}},
		{{Old: "b", New: "b\na", All: true}},
		{{Old: "\n", New: "\n\n", All: true}},
		{{Old: "a\n", New: "", All: true}},
	} {
		change, err := edit.New([]byte(data), edits)
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		before, after := strings.SplitAfter(data, "\n"), strings.SplitAfter(string(change.Bytes()), "\n")
		for want <= min(len(before), len(after)) && before[want-1] == after[want-1] {
			want++
		}
		if got := change.FirstLine(); got != want {
			t.Errorf("FirstLine() of %+v = %d, want %d", edits, got, want)
		}
	}
}

func TestHead(t *testing.T) {
	data := "one\ntwo\nthree\nfour\nfive\n"
	edits := []edit.Edit{{Old: "two", New: "2"}, {Old: "three\nfour", New: "3\n4"}}
	tests := []struct {
		name          string
		limit         int
		before, after string
		whole         bool
	}{
		{"all", 1000, data, "one\n2\n3\n4\nfive\n", true},
		{"first-only", 11, "one\ntwo\n", "one\n2\n", false},
		{"lines-of-the-first", 1, "one\ntwo\n", "one\n2\n", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			change, err := edit.New([]byte(data), edits)
			if err != nil {
				t.Fatal(err)
			}
			beforeEnd, afterEnd, whole := change.Head(tt.limit)
			before, after := data[:beforeEnd], change.Bytes()[:afterEnd]
			if string(before) != tt.before || string(after) != tt.after || whole != tt.whole {
				t.Errorf("Head(%d) = %q, %q, %v, want %q, %q, %v", tt.limit, before, after, whole, tt.before, tt.after, tt.whole)
			}
		})
	}
}
