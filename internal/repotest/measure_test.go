package repotest_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/repotest"
)

func TestMeasure(t *testing.T) {
	m, err := repotest.Measure(fstest.MapFS{
		"p/a.go":            {Data: []byte("// Package p is one.\npackage p\n\nfunc A() { near(); far() }\n\nfunc near() {}\n")},
		"p/b.go":            {Data: []byte("package p\n\ntype B int // a type\n\nfunc (b B) C() { b.twice(); b.twice() }\n\nfunc (b B) twice() {}\n\nfunc far() {}\n")},
		"p/b_test.go":       {Data: []byte("package p\n\nfunc Test() { far() }\n")},
		"p/testdata/bad.go": {Data: []byte("not Go")},
		"q/q.go":            {Data: []byte("package q\n\nconst Q, r = 1, 2\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []repotest.Package{
		{Dir: "p", Files: 2, Lines: 15, Comments: 2, Exported: 3, Helpers: []repotest.Helper{{"far", "b.go", "a.go"}, {"near", "a.go", "a.go"}}},
		{Dir: "q", Files: 1, Lines: 3, Exported: 1},
	}
	if diff := cmp.Diff(want, m.Packages); diff != "" {
		t.Errorf("Measure (-want +got):\n%s", diff)
	}
	if away := m.Packages[0].Away(); away != 1 {
		t.Errorf("Away() = %d, want 1", away)
	}
	if table := m.String(); !strings.Contains(table, "50 %") {
		t.Errorf("the table does not say that half of the helpers are away:\n%s", table)
	}
}

// maxFiles is how many files a package may have. The packages in fileCeilings
// had more when the rule came; they may not grow, but for tools, which has a file
// for each operation and for each dialect, and for the programs of the shell.
const maxFiles = 15

var fileCeilings = map[string]int{
	"conformance": 44, "shell/internal/command": 50, "tools": 46, "workspace": 27,
}

// maxExported is how many exported identifiers package workspace may have.
const maxExported = 109

// maxAway is the percentage of the helpers with one caller that may live in
// another file than it.
const maxAway = 12

// minComments is the percentage of the lines that must be comments.
const minComments = 18

// TestCeilings keeps the packages from growing beyond what a reader can
// survey.
func TestCeilings(t *testing.T) {
	m, err := repotest.Measure(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	helpers, away, comments, lines := 0, 0, 0, 0
	for _, p := range m.Packages {
		helpers, away = helpers+len(p.Helpers), away+p.Away()
		comments, lines = comments+p.Comments, lines+p.Lines
		ceiling := max(maxFiles, fileCeilings[p.Dir])
		if p.Files > ceiling {
			t.Errorf("%s has %d files, want at most %d: merge files, or make packages of its mechanisms", p.Dir, p.Files, ceiling)
		}
		if p.Dir == "workspace" && p.Exported > maxExported {
			t.Errorf("package workspace exports %d identifiers, want at most %d", p.Exported, maxExported)
		}
	}
	if 100*away > maxAway*helpers {
		t.Errorf("%d of %d helpers with one caller live in another file than it, want at most %d %%: move them below their callers", away, helpers, maxAway)
	}
	if 100*comments < minComments*lines {
		t.Errorf("%d of %d lines are comments, want at least %d %%", comments, lines, minComments)
	}
}
