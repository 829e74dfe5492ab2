package compare

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// TestErrorKinds proves that every kind of error that package workspace declares is compared.
func TestErrorKinds(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../workspace/errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	compared := map[string]bool{}
	for _, k := range errorKinds {
		compared[k.name] = true
	}
	declared := 0
	for name, object := range file.Scope.Objects {
		if object.Kind == ast.Var && ast.IsExported(name) {
			if declared++; !compared[name] {
				t.Errorf("errorKinds has no %s", name)
			}
		}
	}
	if declared < 12 {
		t.Errorf("found %d kinds in workspace/errors.go, want at least 12", declared)
	}
}
