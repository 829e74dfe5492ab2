package repotest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// codeLink is a link to code: a name in backquotes, and the file that declares
// it.
var codeLink = regexp.MustCompile("\\[`([^`]+)`\\]\\(([^)]+\\.(?:go|sh))\\)")

// TestCodeLinks tests that the names to which documents link are declared in
// the files to which they link.
func TestCodeLinks(t *testing.T) {
	links := 0
	for _, document := range files(t, ".md") {
		for _, match := range codeLink.FindAllStringSubmatch(read(t, document), -1) {
			name, file := match[1], path.Join(path.Dir(document), match[2])
			links++
			if !slices.Contains(declared(t, file), name) {
				t.Errorf("%s says that %s is in %s, which does not declare it", document, name, file)
			}
		}
	}
	if links == 0 {
		t.Error("no document links to code: the test is broken")
	}
}

// declared returns the names by which a document can link to what a file
// declares: T, T.M for a method, F and p.F for a function of package p. Of a
// shell script it returns the functions.
func declared(t *testing.T, name string) (names []string) {
	t.Helper()
	source, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil // TestDocLinks reports it
	}
	if strings.HasSuffix(name, ".sh") {
		for _, match := range shellFunction.FindAllStringSubmatch(string(source), -1) {
			names = append(names, match[1])
		}
		return names
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				names = append(names, receiver(d)+"."+d.Name.Name)
			} else {
				names = append(names, d.Name.Name, file.Name.Name+"."+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok {
					names = append(names, s.Name.Name, file.Name.Name+"."+s.Name.Name)
				}
			}
		}
	}
	return names
}

var shellFunction = regexp.MustCompile(`(?m)^(\w+)\(\)`)

// receiver returns the name of the type that a method belongs to.
func receiver(method *ast.FuncDecl) (name string) {
	ast.Inspect(method.Recv.List[0].Type, func(n ast.Node) bool {
		if ident, ok := n.(*ast.Ident); ok && name == "" {
			name = ident.Name
		}
		return name == ""
	})
	return name
}

// TestArchitecturePackages tests that docs/architecture.md lists every package,
// and nothing else.
func TestArchitecturePackages(t *testing.T) {
	_, block, _ := strings.Cut(read(t, "docs/architecture.md"), "```\n")
	block, _, _ = strings.Cut(block, "```")
	listed := map[string]bool{}
	for line := range strings.Lines(block) {
		if dir, text, ok := strings.Cut(line, " "); ok && strings.TrimSpace(text) != "" {
			listed[dir] = true
		}
	}
	packages := importsByDir(t)
	for dir := range packages {
		if !listed[dir] {
			t.Errorf("docs/architecture.md does not list the package %s", dir)
		}
	}
	for dir := range listed {
		if packages[dir] == nil {
			t.Errorf("docs/architecture.md lists %s, which is no package", dir)
		}
	}
}
