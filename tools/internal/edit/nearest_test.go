package edit_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
)

const program = `package main

import "fmt"

func main() {
	name := "world"
	if name != "" {
		fmt.Println("Hello, " + name + "!")
	}
}
`

func nearestTo(t *testing.T, data, old string) *edit.Nearest {
	t.Helper()
	_, err := edit.New([]byte(data), []edit.Edit{{Old: old, New: "\x00"}})
	var notFound *edit.NotFoundError
	if !errors.As(err, &notFound) {
		t.Fatalf("New(%q) = %v, want a NotFoundError", old, err)
	}
	return notFound.Nearest
}

func TestNearest(t *testing.T) {
	tests := []struct {
		name, old string
		line      int
		differs   string
	}{
		{"indentation", "    name := \"world\"\n    if name != \"\" {", 6, "white space only"},
		{"trailing-space", "import \"fmt\" \n", 3, "white space only"},
		{"case", "Func Main() {", 5, "letter case only"},
		{"curly-quotes", "name := “world”", 6, "quotes or dashes only"},
		{"case-and-space", "  FUNC MAIN() {", 5, "white space and letter case"},
		{"escapes", `func main() {\n\tname`, 5, "escapes"},
		{"line-numbers", "     5\tfunc main() {\n     6\t\tname := \"world\"", 5, "line numbers"},
		{"typo", "\t\tfmt.Printn(\"Hello, \" + name + \"!\")", 8, "line 1 of oldText"},
		{"begins-before-the-file", "// Copyright\npackage main\n", 1, "line 1 of oldText"},
		{"one-wrong-line", "func main() {\n\tname := \"moon\"\n\tif name != \"\" {", 5, "line 2 of oldText"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := nearestTo(t, program, tt.old)
			if got == nil || got.Line != tt.line || !strings.HasPrefix(got.Differs, tt.differs) {
				t.Errorf("nearest to %q = %+v, want line %d and %q", tt.old, got, tt.line, tt.differs)
			}
		})
	}
}

// TestNearestAmongAlike tests that of lines that are as alike the one with the same
// beginning and end is shown.
func TestNearestAmongAlike(t *testing.T) {
	var data strings.Builder
	for i := range 100 {
		fmt.Fprintf(&data, "line %d\n", i+1)
	}
	for _, n := range []int{15, 17, 42, 71, 99} {
		old := fmt.Sprintf("lime %d\n", n)
		if got := nearestTo(t, data.String(), old); got == nil || got.Line != n {
			t.Errorf("nearest to %q = %+v, want line %d", old, got, n)
		}
	}
}

// TestNearestShowsSpace tests that white space that differs is visible.
func TestNearestShowsSpace(t *testing.T) {
	for _, c := range []struct{ data, old, want string }{
		{"\tx := 1\n", "    x := 1", `white space only: it is "    x := 1", and in the file "\tx := 1"`},
		{"a := 1 \nb\n", "a := 1\nb", `white space only: it is "a := 1", and in the file "a := 1 "`},
		{"aaaa\nbbbb\r\ncccc\n", "aaaa\nbbbb\ncccc", `white space only: it is "bbbb", and in the file "bbbb\r"`},
		{"aaaa\r\n\tbbbb\r\n", "aaaa\n  bbbb\n", `white space only: it is "  bbbb", and in the file "\tbbbb"`},
		{"aa\u00a0bb\n", "aa bb", `white space only: it is "aa bb", and in the file "aa\u00a0bb"`},
		{"\tIF x\n", "if  x", `white space and letter case: it is "if  x", and in the file "\tIF x"`},
		{"aaaa bbbb\n", "aaaa\nbbbb", `white space only: it is "aaaa", and in the file "aaaa bbbb"`},
	} {
		if got := nearestTo(t, c.data, c.old); got == nil || got.Differs != c.want {
			t.Errorf("nearest to %q in %q = %+v, want %s", c.old, c.data, got, c.want)
		}
	}
}

// TestNearestHoldsTheText checks that a line that holds the text but for its
// spaces is nearer than one that is only spelled alike.
func TestNearestHoldsTheText(t *testing.T) {
	data := "return total+cost\n" + strings.Repeat("x", 300) + "; return total + costs;" + strings.Repeat("y", 300) + "\n"
	got := nearestTo(t, data, "return  total + costs")
	if got == nil || got.Line != 2 || !strings.HasPrefix(got.Differs, "white space only") {
		t.Errorf("nearest = %+v, want line 2 and white space", got)
	}
}

func TestNearestOfNothing(t *testing.T) {
	for _, old := range []string{"zzzzqqqq", "   \n\n\t"} {
		if got := nearestTo(t, program, old); got != nil {
			t.Errorf("nearest to %q = %+v, want none", old, got)
		}
	}
}

func TestNearestIsBounded(t *testing.T) {
	long := strings.Repeat("word ", 10_000)
	data := strings.Repeat(long+"\n", 30)
	for _, data := range []string{data, "some words" + strings.Repeat("\r", 10_000) + "\nand more\n"} {
		got := nearestTo(t, data, strings.ToUpper(data))
		if got == nil || len(got.Text) > 5000 {
			t.Errorf("nearest text has %d bytes, want some and at most 5000", len(got.Text))
		}
	}
}

// TestNearestIsFast has a deadline that only a search which is not linear
// misses.
func TestNearestIsFast(t *testing.T) {
	exhaustive.Long(t)
	var data bytes.Buffer
	for i := 0; data.Len() < 10<<20; i++ {
		fmt.Fprintf(&data, "\tline %d of a file that is long\n}\n", i)
	}
	start := time.Now()
	got := nearestTo(t, data.String(), "  line 70000 of a file that is long\n  }\n")
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("search took %v", took)
	}
	if got == nil || got.Line != 140_001 {
		t.Errorf("nearest = %+v, want line 140001", got)
	}
}
