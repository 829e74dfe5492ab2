package ignore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/ignore"
)

func root(content string) *ignore.Rules {
	return (*ignore.Rules)(nil).Enter("", ignore.Parse([]byte(content)))
}

func TestGitDirIsAlwaysIgnored(t *testing.T) {
	for name, rules := range map[string]*ignore.Rules{
		"nil":     nil,
		"no-file": (*ignore.Rules)(nil).Enter("", nil),
		"file":    root("!.git\n!*"),
		"below":   root("!.git").Enter("a", nil).Enter("b", ignore.Parse([]byte("!.git"))),
	} {
		t.Run(name, func(t *testing.T) {
			if !rules.Ignored(".git", true) || !rules.Ignored(".git", false) {
				t.Error(`Ignored(".git") = false, want true`)
			}
			if rules.Ignored(".gitignore", false) || rules.Ignored("git", true) {
				t.Error("Ignored is true for a name that is not .git")
			}
		})
	}
}

// TestRootIsNotNil holds that a walk can take nil for "not asked for".
func TestRootIsNotNil(t *testing.T) {
	rules := (*ignore.Rules)(nil).Enter("", nil)
	if rules == nil || rules.Enter("a", nil) == nil {
		t.Error("Enter returns nil")
	}
}

// TestLongLine holds the bound on lines, and that others are not affected.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("a", 4096)
	rules := root(long + "\n" + "b" + long + "\nc")
	for name, want := range map[string]bool{long: true, "b" + long: false, "c": true} {
		if got := rules.Ignored(name, false); got != want {
			t.Errorf("Ignored(%.5q…) of %d bytes = %v, want %v", name, len(name), got, want)
		}
	}
}

// TestEnterShares holds what keeps a walk cheap: where nothing changes the
// rules are the same value.
func TestEnterShares(t *testing.T) {
	empty := ignore.Parse([]byte("# nothing\n"))
	tests := []struct {
		name  string
		rules *ignore.Rules
		file  *ignore.File
	}{
		{"no-rules", (*ignore.Rules)(nil).Enter("", nil), nil},
		{"names-only", root("*.o\nbuild/\n"), nil},
		{"file-without-rules", root("*.o\n"), empty},
		{"paths-left-behind", root("/build\nsrc/gen/*.go\n").Enter("lib", nil), nil},
		{"too-deep", root("src/*.go\n").Enter("src", nil).Enter("a", nil), nil},
		{"any-depth-name", root("**/*.o\n/**/x\n"), nil},
		{"several-files", root("/build\n").Enter("a", ignore.Parse([]byte("*.o\n"))), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.rules.Enter("dir", test.file) != test.rules {
				t.Error("Enter returns other rules")
			}
			if n := testing.AllocsPerRun(100, func() { test.rules.Enter("dir", test.file) }); n != 0 {
				t.Errorf("Enter allocates %v times", n)
			}
		})
	}
}

func TestIgnoredDoesNotAllocate(t *testing.T) {
	rules := root(typical).Enter("src", ignore.Parse([]byte("gen/**/*.go\n*.py[cod]\n"))).Enter("gen", nil)
	for _, name := range []string{"main.go", "main.o", "x.pyc", "node_modules", "plain"} {
		if n := testing.AllocsPerRun(100, func() { rules.Ignored(name, false) }); n != 0 {
			t.Errorf("Ignored(%q) allocates %v times", name, n)
		}
	}
}

// typical has the mix of rules that real files have.
const typical = `# build
/build/
/dist
*.o
*.so
*.tar.gz
*~
.env
.env.*
!.env.example
node_modules/
**/target/
docs/_build/
src/gen/*.go
*.py[cod]
__pycache__/
.DS_Store
coverage*.out
`

func BenchmarkIgnored(b *testing.B) {
	rules := root(typical)
	dirs := make([]string, 1000)
	for i := range dirs {
		dirs[i] = fmt.Sprintf("dir%d", i)
	}
	files := make([]string, 100)
	for i := range files {
		files[i] = fmt.Sprintf("some_file_%d%s", i, []string{".go", ".o", ".md", ""}[i%4])
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, dir := range dirs {
			inside := rules.Enter("src", nil).Enter(dir, nil)
			for _, file := range files {
				inside.Ignored(file, false)
			}
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		ignore.Parse([]byte(typical))
	}
}
