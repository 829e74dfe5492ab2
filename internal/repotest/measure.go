// Package repotest has the tests of the repository itself, and what they
// measure.
package repotest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Measures are figures of the Go packages below a directory, test files aside.
// [Measures.String] prints them as a table.
type Measures struct {
	Packages []Package // sorted by directory
}

// Package is what was measured of one package.
type Package struct {
	Dir      string
	Files    int
	Lines    int // with blank ones
	Comments int // lines that are a comment, or have one at their end
	Exported int // types, functions, methods, constants and variables
	Helpers  []Helper
}

// Helper is an unexported function or method that is used once.
type Helper struct {
	Name         string
	File, Caller string // the names of the files
}

// Measure reads the packages below the root of fsys. Directories named testdata
// and vendor, and those that begin with a dot, are left out. A file that cannot
// be parsed is an error. Each directory counts as one package, also if files of
// it are for different systems.
func Measure(fsys fs.FS) (*Measures, error) {
	byDir := map[string]map[string]*ast.File{}
	positions := token.NewFileSet()
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (entry.Name()[0] == '.' || entry.Name() == "testdata" || entry.Name() == "vendor"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(positions, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		if byDir[dir] == nil {
			byDir[dir] = map[string]*ast.File{}
		}
		byDir[dir][path.Base(name)] = file
		return nil
	})
	if err != nil {
		return nil, err
	}
	m := &Measures{}
	for dir, files := range byDir {
		m.Packages = append(m.Packages, measurePackage(positions, dir, files))
	}
	slices.SortFunc(m.Packages, func(a, b Package) int { return strings.Compare(a.Dir, b.Dir) })
	return m, nil
}

// measurePackage adds up the files of one directory, whose names are the keys
// of files.
func measurePackage(positions *token.FileSet, dir string, files map[string]*ast.File) Package {
	p := Package{Dir: dir, Files: len(files)}
	for _, file := range files {
		p.Lines += positions.File(file.FileStart).LineCount()
		for _, group := range file.Comments {
			p.Comments += positions.Position(group.End()).Line - positions.Position(group.Pos()).Line + 1
		}
		p.Exported += exported(file)
	}
	p.Helpers = helpers(files)
	return p
}

// exported counts the exported identifiers that file declares, fields aside.
func exported(file *ast.File) (n int) {
	count := func(name *ast.Ident) {
		if name.IsExported() {
			n++
		}
	}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiver(d)) {
				count(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					count(s.Name)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						count(name)
					}
				}
			}
		}
	}
	return n
}

// receiver returns the name of the type that a method belongs to. It is "T" for
// T, *T and T[K].
func receiver(method *ast.FuncDecl) string {
	name := ""
	ast.Inspect(method.Recv.List[0].Type, func(n ast.Node) bool {
		if ident, ok := n.(*ast.Ident); ok && name == "" {
			name = ident.Name
		}
		return name == ""
	})
	return name
}

// helpers returns the unexported functions and methods that are named once,
// their declaration aside. It goes by name alone: methods of the same name
// count as one, and are then left out.
func helpers(files map[string]*ast.File) (found []Helper) {
	declared := map[string][]string{} // function to the files that declare it
	used := map[string][]string{}
	for base, file := range files {
		names := map[*ast.Ident]bool{}
		for _, declaration := range file.Decls {
			if d, ok := declaration.(*ast.FuncDecl); ok {
				names[d.Name] = true
				declared[d.Name.Name] = append(declared[d.Name.Name], base)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if ident, ok := n.(*ast.Ident); ok && !names[ident] {
				used[ident.Name] = append(used[ident.Name], base)
			}
			return true
		})
	}
	for name, where := range declared {
		if !ast.IsExported(name) && len(where) == 1 && len(used[name]) == 1 {
			found = append(found, Helper{name, where[0], used[name][0]})
		}
	}
	slices.SortFunc(found, func(a, b Helper) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// Away counts the helpers that live in another file than their caller. A reader
// has to open a second file for each of them.
func (p Package) Away() (n int) {
	for _, helper := range p.Helpers {
		if helper.File != helper.Caller {
			n++
		}
	}
	return n
}

// String returns a table with a line for each package and one for all.
func (m *Measures) String() string {
	var b strings.Builder
	const row = "%-36s %5d %7d %9s %9s %8d\n"
	fmt.Fprintf(&b, "%-36s %5s %7s %9s %9s %8s\n", "package", "files", "lines", "comments", "away", "exported")
	total := Package{Dir: "all"}
	var perPackage []int
	for _, p := range m.Packages {
		fmt.Fprintf(&b, row, p.Dir, p.Files, p.Lines, percent(p.Comments, p.Lines), percent(p.Away(), len(p.Helpers)), p.Exported)
		total.Files += p.Files
		total.Lines += p.Lines
		total.Comments += p.Comments
		total.Exported += p.Exported
		total.Helpers = append(total.Helpers, p.Helpers...)
		perPackage = append(perPackage, p.Files)
	}
	fmt.Fprintf(&b, row, total.Dir, total.Files, total.Lines, percent(total.Comments, total.Lines),
		percent(total.Away(), len(total.Helpers)), total.Exported)
	slices.Sort(perPackage)
	if n := len(perPackage); n > 0 {
		fmt.Fprintf(&b, "%d packages, files per package: mean %.1f, 90th percentile %d, most %d\n",
			n, float64(total.Files)/float64(n), perPackage[n*9/10], perPackage[n-1])
	}
	return b.String()
}

// percent returns a share without decimals, and "-" where there is nothing to
// share.
func percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}
