package policy

import (
	"path"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/workspace"
)

// FuzzPathList compares a list with one that compiles a pattern for each
// directory above a name.
func FuzzPathList(f *testing.F) {
	for _, seed := range [][3]string{
		{".env*", "a/.ENV", "x"}, {"a/b", "a", "b"}, {"**/K", "x/\u212a", "y"}, {"{a,b/c}", "b", "c"}, {"[A-C]x", "bX", "z"}, {"a/**", "A", "b"}, {"straſſe", "STRASSE", "a"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, pattern, name, child string) {
		list, err := compilePathList("paths", []string{pattern})
		below := workspace.Join(name, child)
		if err != nil || !workspace.ValidName(name) || !workspace.ValidName(below) || name == "." || child == "." {
			t.Skip()
		}
		_, matches, deeper := list.match(name)
		if want := slowMatch(t, pattern, name); matches != want {
			t.Errorf("match(%q) of %q = %v, want %v", name, pattern, matches, want)
		}
		_, inside, _ := list.match(below)
		if want := slowMatch(t, pattern, below); inside != want {
			t.Errorf("match(%q) of %q = %v, want %v", below, pattern, inside, want)
		}
		if matches && !inside || inside && !deeper {
			t.Errorf("%q matches %q: %v, below it %v, and %q: %v", pattern, name, matches, deeper, below, inside)
		}
		if upper := strings.ToUpper(name); strings.EqualFold(upper, name) {
			if _, same, _ := list.match(upper); same != matches {
				t.Errorf("match(%q) of %q = %v, and of %q %v", name, pattern, matches, upper, same)
			}
		}
	})
}

// slowMatch reports whether pattern matches name or a directory above it.
func slowMatch(t *testing.T, pattern, name string) bool {
	pattern = strings.TrimSuffix(pattern, "/")
	if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	compiled, err := glob.Compile(foldCase(pattern))
	if err != nil {
		t.Skip()
	}
	for ; name != "."; name = path.Dir(name) {
		if compiled.Match(foldCase(name)) {
			return true
		}
	}
	return false
}
