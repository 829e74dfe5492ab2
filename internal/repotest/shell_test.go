package repotest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// shellOS is what package shell and those below it may use of package os: names of flags
// and errors, and pipes in memory.
var shellOS = []string{"O_APPEND", "O_EXCL", "O_RDWR", "O_WRONLY", "FileMode", "PathError",
	"ErrInvalid", "ErrDeadlineExceeded", "File", "Pipe"}

// TestShellHost checks that the shell uses nothing of the host.
func TestShellHost(t *testing.T) {
	seen := 0
	for _, name := range files(t, ".go") {
		if !strings.HasPrefix(name, "shell/") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		seen++
		file, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			if strings.HasPrefix(path, "os/") || path == "net" || strings.HasPrefix(path, "net/") || path == "path/filepath" || path == "plugin" || path == "unsafe" {
				t.Errorf("%s imports %s", name, path)
			}
		}
		ast.Inspect(file, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := selector.X.(*ast.Ident)
			if !ok || pkg.Obj != nil {
				return true
			}
			used := selector.Sel.Name
			if pkg.Name == "os" && !slices.Contains(shellOS, used) || pkg.Name == "syscall" && !strings.HasPrefix(used, "E") {
				t.Errorf("%s uses %s.%s", name, pkg.Name, used)
			}
			return true
		})
	}
	if seen == 0 {
		t.Error("there are no files")
	}
}
