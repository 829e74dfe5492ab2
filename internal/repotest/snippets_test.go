package repotest_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// checkGo tests the fragments of Go of a document: each is in a test, which the compiler
// sees and go test runs, or it compiles in a function whose parameters are vars, beside the
// declarations decls. There it sees what the fragments before it declare, below one heading.
func checkGo(t *testing.T, name string, all []block, vars, decls string) {
	t.Helper()
	var declarations, statements strings.Builder
	open, part := 0, ""
	for _, b := range all {
		if b.part != part {
			statements.WriteString(strings.Repeat("}\n", open))
			open, part = 0, b.part
		}
		if b.lang != "go" || b.file != "" || strings.Contains(testCode(), unindented(b.text)) {
			continue
		}
		at := fmt.Sprintf("//line %s:%d\n", name, b.line+1)
		if _, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+b.text, 0); err == nil {
			declarations.WriteString(at + b.text)
		} else {
			statements.WriteString("{\n" + at + b.text)
			open++
		}
	}
	if declarations.Len() == 0 && statements.Len() == 0 {
		return
	}
	code := decls + declarations.String() + "func _(ctx context.Context, " + vars + ") error {\n" +
		statements.String() + strings.Repeat("}\n", open) + "panic(0)\n}\n"
	typeCheck(t, "package p\n"+imports(code)+code)
}

// typeCheck compiles code up to its types. What is only untidy, such as a variable that
// nothing uses, is no error in a fragment.
func typeCheck(t *testing.T, code string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "snippet.go", code, 0)
	if err != nil {
		t.Error(err)
		return
	}
	config := types.Config{
		Importer: importer.ForCompiler(fset, "gc", exports(t)),
		Error: func(err error) {
			if e, ok := err.(types.Error); !ok || !e.Soft {
				t.Error(err)
			}
		},
	}
	config.Check("p", fset, []*ast.File{file}, nil) //nolint:errcheck // Error has them
}

// packages are those that fragments use, by the names that they have there.
var packages = func() map[string]string {
	m := map[string]string{"zipfs": "github.com/spf13/afero/zipfs", "sdk": "github.com/coder/acp-go-sdk"}
	for name := range strings.FieldsSeq("archive/zip context database/sql encoding/json errors fmt io io/fs log log/slog net os testing time") {
		m[path.Base(name)] = name
	}
	for name := range strings.FieldsSeq(`. adapters/acp adapters/mcp adapters/otel adapters/webdav conformance
		providers/afero providers/container providers/localbash providers/memory providers/objectstore
		shell shell/bashtool tools tools/lint workspace workspace/audit workspace/backup workspace/config workspace/fallback
		workspace/gitstage workspace/kind workspace/observe workspace/patch workspace/policy workspace/provider
		workspace/jobs workspace/quota workspace/transaction`) {
		m[path.Base(path.Join(modulePath, name))] = path.Join(modulePath, name)
	}
	return m
}()

var qualifier = regexp.MustCompile(`\b([a-z]+)\.[A-Z]`)

// imports returns the declarations that code needs.
func imports(code string) string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, match := range qualifier.FindAllStringSubmatch(code, -1) {
		if name := match[1]; packages[name] != "" && !seen[name] {
			seen[name] = true
			fmt.Fprintf(&b, "import %s %q\n", name, packages[name])
		}
	}
	return b.String()
}

// exported are the files with what packages export, by their paths.
var exported = sync.OnceValues(func() (map[string]string, error) {
	args := []string{"list", "-export", "-deps", "-f", "{{if .Export}}{{.ImportPath}} {{.Export}}{{end}}"}
	for _, p := range packages {
		args = append(args, p)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	m := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		m[name] = file
	}
	return m, err
})

// exports returns a function that opens what a package exports.
func exports(t *testing.T) func(string) (io.ReadCloser, error) {
	t.Helper()
	m, err := exported()
	if err != nil {
		t.Fatal(err)
	}
	return func(name string) (io.ReadCloser, error) { return os.Open(m[name]) }
}

// testCode is the text of every test of the repository, without indentation.
var testCode = sync.OnceValue(func() string {
	var b strings.Builder
	fs.WalkDir(tree, ".", func(name string, _ fs.DirEntry, err error) error { //nolint:errcheck // what is not read is not found
		if data, err := fs.ReadFile(tree, name); err == nil && strings.HasSuffix(name, "_test.go") {
			b.WriteString(unindented(string(data)))
		}
		return err
	})
	return b.String()
})

// unindented returns text whose lines have no spaces around them.
func unindented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}
