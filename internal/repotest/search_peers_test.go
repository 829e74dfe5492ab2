package repotest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
)

// goSource returns the source tree of the Go toolchain, about 10,000 files.
func goSource(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("there is no go command to ask for its source tree: %v", err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "src")
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Skipf("the Go toolchain has no source tree at %s", dir)
	}
	return dir
}

// peer runs a program that does the same job.
func peer(t *testing.T, dir, name string, arguments ...string) []string {
	t.Helper()
	exhaustive.Program(t, name)
	command := exec.Command(name, arguments...)
	command.Dir = dir
	command.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s %q: %v", name, arguments, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// TestGrepFindsWhatGNUGrepFinds compares files and lines on a real tree. -I
// makes GNU grep leave out binary files.
func TestGrepFindsWhatGNUGrepFinds(t *testing.T) {
	exhaustive.Long(t)
	dir := goSource(t)
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	for _, test := range []struct{ pattern, flags, grepPattern string }{
		{"readGCStats", "-rnIE", "readGCStats"},
		{`func \w+Context\(`, "-rnIE", `func \w+Context\(`},
		{"(?i)readdeadline", "-rnIiE", "readdeadline"},
		{"[A-Z]{3,}_[0-9]+", "-rnIE", "[A-Z]{3,}_[0-9]+"},
	} {
		t.Run(test.pattern, func(t *testing.T) {
			var want []string
			for _, line := range peer(t, dir, "grep", test.flags, "-e", test.grepPattern, ".") {
				file, rest, _ := strings.Cut(strings.TrimPrefix(line, "./"), ":")
				number, _, _ := strings.Cut(rest, ":")
				want = append(want, file+":"+number)
			}
			result, err := fsys.Grep(t.Context(), test.pattern, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, match := range result.Matches {
				got = append(got, fmt.Sprintf("%s:%d", match.Path, match.LineNumber))
			}
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Grep(%q) and grep %s differ (-grep +Grep):\n%s", test.pattern, test.flags, diff)
			}
		})
	}
}

func TestGlobFindsWhatFindFinds(t *testing.T) {
	dir := goSource(t)
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	want := peer(t, dir, "find", ".", "-name", "*_test.go", "(", "-type", "f", "-o", "-type", "l", ")", "-printf", `%P\n`)
	slices.Sort(want)
	got, err := fsys.Glob(t.Context(), "**/*_test.go", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Glob and find differ (-find +Glob):\n%s", diff)
	}
}
