package repotest_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestErrorCodes tests that the table of error codes in docs/tools.md has every
// code, in the order of the code, and says the right Go error and whether a
// retry may help.
func TestErrorCodes(t *testing.T) {
	kinds := map[string]error{
		"fs.ErrNotExist": fs.ErrNotExist, "fs.ErrExist": fs.ErrExist, "fs.ErrPermission": fs.ErrPermission,
		"fs.ErrInvalid": fs.ErrInvalid, "errors.ErrUnsupported": errors.ErrUnsupported,
		"context.DeadlineExceeded": context.DeadlineExceeded, "context.Canceled": context.Canceled,
		"workspace.ErrNotEmpty": workspace.ErrNotEmpty, "workspace.ErrIsDir": workspace.ErrIsDir,
		"workspace.ErrNotDir": workspace.ErrNotDir, "workspace.ErrPattern": workspace.ErrPattern,
		"workspace.ErrTooLarge": workspace.ErrTooLarge, "workspace.ErrBinary": workspace.ErrBinary,
		"workspace.ErrConflict": workspace.ErrConflict, "workspace.ErrPolicy": workspace.ErrPolicy,
		"workspace.ErrNoSpace": workspace.ErrNoSpace, "workspace.ErrUnavailable": workspace.ErrUnavailable,
	}
	_, section, _ := strings.Cut(read(t, "docs/tools.md"), "\n## Error codes\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var listed []string
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|") // the first and the last are empty
		if len(cells) != 7 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		code := tools.Code(strings.Trim(cells[1], "` "))
		listed = append(listed, string(code))
		if want := map[bool]string{true: "yes", false: "no"}[code.Retryable()]; strings.TrimSpace(cells[4]) != want {
			t.Errorf("%s: the table says retryable %s, want %s", code, cells[4], want)
		}
		name := strings.Trim(cells[2], "` ")
		if kind, ok := kinds[name]; name != "" && (!ok || tools.CodeOf(kind) != code) {
			t.Errorf("%s: the table says that it is %q, which has the code %q", code, name, tools.CodeOf(kind))
		}
	}
	if diff := cmp.Diff(codes(t), listed); diff != "" {
		t.Errorf("the codes in docs/tools.md differ from the constants (-constants +table):\n%s", diff)
	}
}

// codes returns the values of the constants of type Code that package tools
// declares, in the order of their files.
func codes(t *testing.T) (values []string) {
	t.Helper()
	for _, name := range files(t, ".go") {
		if path.Dir(name) != "tools" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "Code" && len(spec.Values) == 1 {
				value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, value)
			}
			return true
		})
	}
	if len(values) == 0 {
		t.Fatal("package tools has no codes: the test is broken")
	}
	return values
}
