package rewrite_test

import (
	"os"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/workspacekit/workspacekit/shell/internal/rewrite"
)

// printedScripts are scripts whose trees could once not be printed, or not be parsed again.
var printedScripts = []string{
	`declare -A m; m=()`,
	`f() { declare -A m; m=(); }`,
	`echo "${x////}"`,
	`echo ${x////} ${x:-} "${x/a/}"`,
	`a=(4 5); [[ a[0]+1 -eq 5 && $((a[0] + 1)) -eq 5 ]]`,
	`[[ "x + 1" -eq 3 && " $x < 1" -eq 0 && '(x)' -eq "" ]]`,
	`x= y=''; [[ $x == "" ]]; case "" in "") ;; esac`,
}

// scripts returns printedScripts and those of the language's test.
func scripts(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("../../testdata/language.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := printedScripts
	for part := range strings.SplitSeq(string(data), "## ") {
		_, rest, _ := strings.Cut(part, "\n")
		all = append(all, strings.Split(rest, "\n---\n")...)
	}
	return all
}

// newRewriter returns a rewriter of a new session.
func newRewriter() *rewrite.Rewriter {
	session := rewrite.NewSession()
	return rewrite.New(session, rewrite.Options{
		Expansions: 1000,
		KeepPiece: func(text string) (int, error) {
			n, _ := session.KeepPiece(text)
			return n, nil
		},
		IsProgram: func(string) bool { return false },
		Refuses:   func(string) bool { return false },
	})
}

// TestPrinted prints what every rewriting makes, of a script and of a part of a pipeline, and
// parses it again.
func TestPrinted(t *testing.T) {
	t.Parallel()
	for _, script := range scripts(t) {
		for _, script := range []string{script, "{\n" + script + "\n} | cat", "(\n" + script + "\n) & wait"} {
			r := newRewriter()
			if _, err := r.Parse(script, ""); err != nil {
				continue // it is refused
			}
			text, err := r.Text(script)
			if err != nil {
				t.Errorf("Text(%q) = %v", script, err)
			}
			if _, err := syntax.NewParser().Parse(strings.NewReader(text), ""); err != nil {
				t.Errorf("Text(%q) = %q, which does not parse: %v", script, text, err)
			}
		}
	}
}

// TestUnprintable gives a session a function for which the printer panics.
func TestUnprintable(t *testing.T) {
	t.Parallel()
	body := &syntax.Stmt{Cmd: &syntax.CallExpr{Args: []*syntax.Word{{}}}}
	session := rewrite.NewSession()
	if text := session.Function("f", body); text != "" {
		t.Errorf("Function = %q, want nothing", text)
	}
	n, _ := session.KeepPiece("a")
	session.DropPieces(map[string]*syntax.Stmt{"f": body})
	if text := session.Piece(n); text != "a" {
		t.Errorf("Piece(%d) = %q, want a: the function may use it", n, text)
	}
}

// TestFunction prints each script as a function that is stored, and parses that.
func TestFunction(t *testing.T) {
	t.Parallel()
	for _, script := range scripts(t) {
		r := newRewriter()
		file, err := r.Parse("f() {\n"+script+"\n}", "")
		if err != nil || len(file.Stmts) != 1 {
			continue // it is refused
		}
		text := r.Function("f", file.Stmts[0].Cmd.(*syntax.FuncDecl).Body)
		if again, err := newRewriter().Parse(text, ""); err != nil || len(again.Stmts) != 1 {
			t.Errorf("Function, for %q, = %q: %v", script, text, err)
		}
	}
}
