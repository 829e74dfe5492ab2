package repotest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
	"unicode"
)

// TestExportedIsDocumented tests that everything that go doc shows of the public
// packages has a comment: functions, methods, types, their fields and the methods of
// interfaces, constants and variables. A comment before a group, or at the end of a
// line, counts. So does one on another field that names the field, and one on an
// interface with a single method.
func TestExportedIsDocumented(t *testing.T) {
	t.Parallel()
	found := 0
	for _, name := range files(t, ".go") {
		if strings.HasSuffix(name, "_test.go") || strings.Contains("/"+name, "/internal/") || strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "bench/") {
			continue
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, name, read(t, name), parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		check := func(what *ast.Ident, comments ...*ast.CommentGroup) {
			if !what.IsExported() {
				return
			}
			found++
			for _, comment := range comments {
				if comment != nil {
					return
				}
			}
			t.Errorf("%s:%d: %s has no comment", path.Clean(name), positions.Position(what.Pos()).Line, what.Name)
		}
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || ast.IsExported(receiver(d)) {
					check(d.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						check(s.Name, d.Doc, s.Doc, s.Comment)
						if s.Name.IsExported() {
							checkMembers(s.Type, check)
						}
					case *ast.ValueSpec:
						for _, name := range s.Names {
							check(name, d.Doc, s.Doc, s.Comment)
						}
					}
				}
			}
		}
	}
	if found == 0 {
		t.Error("the public packages export nothing: the test is broken")
	}
}

// checkMembers checks the fields of structs and the methods of interfaces in a type.
func checkMembers(of ast.Expr, check func(*ast.Ident, ...*ast.CommentGroup)) {
	ast.Inspect(of, func(n ast.Node) bool {
		var list *ast.FieldList
		switch n := n.(type) {
		case *ast.StructType:
			list = n.Fields
		case *ast.InterfaceType:
			if len(n.Methods.List) == 1 {
				return false
			}
			list = n.Methods
		default:
			return true
		}
		said := map[string]*ast.CommentGroup{} // the comment that has a word
		for _, field := range list.List {
			for word := range strings.FieldsFuncSeq(field.Doc.Text(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
				said[word] = field.Doc
			}
			for _, name := range field.Names {
				check(name, field.Doc, field.Comment, said[name.Name])
			}
		}
		return true
	})
}
