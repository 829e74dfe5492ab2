package repotest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// goErrors are the kinds of errors by the names that Go programs know.
var goErrors = []struct {
	name string
	err  error
}{
	{"fs.ErrNotExist", fs.ErrNotExist}, {"fs.ErrExist", fs.ErrExist}, {"fs.ErrPermission", fs.ErrPermission},
	{"fs.ErrInvalid", fs.ErrInvalid}, {"fs.ErrClosed", fs.ErrClosed}, {"errors.ErrUnsupported", errors.ErrUnsupported},
	{"context.DeadlineExceeded", context.DeadlineExceeded}, {"context.Canceled", context.Canceled},
	{"workspace.ErrEscape", workspace.ErrEscape}, {"workspace.ErrNotEmpty", workspace.ErrNotEmpty},
	{"workspace.ErrIsDir", workspace.ErrIsDir}, {"workspace.ErrNotDir", workspace.ErrNotDir},
	{"workspace.ErrPattern", workspace.ErrPattern}, {"workspace.ErrTooLarge", workspace.ErrTooLarge},
	{"workspace.ErrBinary", workspace.ErrBinary}, {"workspace.ErrConflict", workspace.ErrConflict},
	{"workspace.ErrPolicy", workspace.ErrPolicy}, {"workspace.ErrNoSpace", workspace.ErrNoSpace},
	{"workspace.ErrUnavailable", workspace.ErrUnavailable},
}

const errorsHead = `# Error codes

A tool that fails returns ` + "`IsError`" + ` and an object for the model:

| member | meaning |
|---|---|
| ` + "`code`" + ` | one of the codes below, which are never renamed; the dialect ` + "`fs`" + ` [merges some](dialects.md#fs) |
| ` + "`message`" + ` | what went wrong |
| ` + "`path`" + ` | a name or pattern that the error is about, if it gives one |
| ` + "`hint`" + ` | what to do instead, if that is known |
| ` + "`retryable`" + ` | whether the same call may succeed later: true for %s, and where nobody answered a question about an approval in time, unless the workspace is closed or some changes were made |

The object is ` + "`Result.Error`" + ` in Go (if the context of the caller ended, ` + "`Call`" + ` returns an error instead), what ` + "`workspace call --json`" + ` prints, and ` + "[`_meta`](mcp.md)" + ` in MCP.

In Go, ` + "`errors.As`" + ` finds the ` + "`*policy.DeniedError`" + ` of a rule in ` + "`Result.Error`" + `, and ` + "`errors.Is`" + ` tells ` + "`policy.ErrRefused`, `policy.ErrNoAnswer` and `policy.ErrNoApprover`" + ` apart.

`

// TestErrorsPage keeps docs/errors.md, which is made of the constants of type
// tools.Code and their comments.
func TestErrorsPage(t *testing.T) {
	all := codes(t)
	var retryable []string
	for _, c := range all {
		if c.code.Retryable() {
			retryable = append(retryable, "`"+string(c.code)+"`")
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, errorsHead, strings.Join(retryable, " and "))
	fmt.Fprintf(&b, "## An example\n\n`read_file` of `src/mian.go`:\n\n```json\n%s\n```\n\n", exampleError(t))
	b.WriteString("## All codes\n\n| code | meaning | what the caller does | error in Go |\n|---|---|---|---|\n")
	for _, c := range all {
		var kinds []string
		for _, e := range goErrors {
			if tools.CodeOf(e.err) == c.code {
				kinds = append(kinds, "`"+e.name+"`")
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.code, c.meaning, c.advice, strings.Join(kinds, ", "))
	}
	golden(t, "docs/errors.md", b.String())
}

// exampleError returns what a model learns from a misspelled name.
func exampleError(t *testing.T) string {
	t.Helper()
	ws := workspace.New("main", memory.New(nil), nil)
	if _, err := ws.WriteFile(t.Context(), "src/main.go", []byte("package main\n"), nil); err != nil {
		t.Fatal(err)
	}
	set, err := tools.New(ws, nil)
	if err != nil {
		t.Fatal(err)
	}
	tool, ok := set.Lookup("workspace__main__read_file")
	if !ok {
		t.Fatal("there is no tool read_file")
	}
	result, err := tool.Call(t.Context(), json.RawMessage(`{"path": "src/mian.go"}`))
	if err != nil || !result.IsError {
		t.Fatalf("read_file = %v, %v, want an error for the model", result, err)
	}
	text, err := json.MarshalIndent(result.Error, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documentedCode is a code with what its comment says.
type documentedCode struct {
	code            tools.Code
	meaning, advice string
}

// codes returns the constants of type Code that package tools declares, in their
// order.
func codes(t *testing.T) (all []documentedCode) {
	t.Helper()
	const name = "tools/error.go"
	file, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := spec.Type.(*ast.Ident); !ok || of.Name != "Code" {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		text := plain(spec.Doc.Text())
		said, ok := strings.CutPrefix(text, spec.Names[0].Name+" says that ")
		meaning, advice, _ := strings.Cut(said, ". ")
		if !ok || advice == "" {
			t.Errorf("the comment on %s is %q, want %q, and a sentence of advice", spec.Names[0].Name, text, spec.Names[0].Name+" says that ...")
		}
		all = append(all, documentedCode{tools.Code(value), strings.TrimSuffix(meaning, "."), advice})
		return true
	})
	if len(all) == 0 {
		t.Fatal("package tools has no codes: the test is broken")
	}
	return all
}

// plain returns the text of a doc comment in one line, without the marks of links.
func plain(text string) string {
	return strings.NewReplacer("[", "", "]", "", "\n", " ").Replace(strings.TrimSpace(text))
}
