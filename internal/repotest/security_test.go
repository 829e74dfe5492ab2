package repotest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityTable tests that each threat in docs/security.md has a mechanism and a
// test, and that the tests that it names exist where it says.
func TestSecurityTable(t *testing.T) {
	const root = "../.."
	text, err := os.ReadFile(root + "/docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "| threat | mechanism | test |\n|---|---|---|\n")
	table, _, ended := strings.Cut(table, "\n\n")
	if !ok || !ended {
		t.Fatal("docs/security.md has no table of threats")
	}
	named := regexp.MustCompile("((?:`[A-Za-z.]+`(?: \\([^)]*\\))?(?:,| and)? )+)in ([a-z0-9/]+)")
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(row), "| "), " | ")
		if len(cells) != 3 {
			t.Errorf("%d cells, want a threat, a mechanism and a test: %s", len(cells), row)
			continue
		}
		places := named.FindAllStringSubmatch(cells[2], -1)
		if places == nil && !strings.Contains(cells[2], " of the suite") {
			t.Errorf("%q has no test", cells[0])
		}
		for _, place := range places {
			for _, name := range regexp.MustCompile("`([A-Za-z.]+)`").FindAllStringSubmatch(place[1], -1) {
				if !hasTest(t, filepath.Join(root, place[2]), name[1]) {
					t.Errorf("%q: there is no %s in %s", cells[0], name[1], place[2])
				}
			}
		}
	}
}

// hasTest reports whether the package in dir has a test function or a script of that
// name.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	if strings.HasSuffix(name, ".txtar") {
		_, err := os.Stat(filepath.Join(dir, "testdata", "script", name))
		return err == nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(code), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
