package conformance_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
)

// clauses returns the ids in docs/contract.md, each with how often it is
// defined.
func clauses(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile("../docs/contract.md")
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]int)
	for _, match := range regexp.MustCompile(`(?m)^- \*\*([A-Z]{1,2}[0-9]+)\*\* `).FindAllSubmatch(text, -1) {
		found[string(match[1])]++
	}
	return found
}

// TestContract proves that the document and the cases cover each other.
func TestContract(t *testing.T) {
	defined := clauses(t)
	cited := make(map[string]bool)
	for name, ids := range conformance.CitedClauses() {
		if len(ids) == 0 {
			t.Errorf("case %s cites no clause", name)
		}
		for _, id := range ids {
			cited[id] = true
			if defined[id] == 0 {
				t.Errorf("case %s cites clause %s, which docs/contract.md does not have", name, id)
			}
		}
	}
	for id, times := range defined {
		if times > 1 {
			t.Errorf("docs/contract.md defines clause %s %d times", id, times)
		}
		if !cited[id] {
			t.Errorf("no case cites clause %s of docs/contract.md", id)
		}
	}
}

// TestCaseNames proves that every case can be named in -run and in Skip.
func TestCaseNames(t *testing.T) {
	valid := regexp.MustCompile(`^[A-Za-z]+/[a-z0-9]+(-[a-z0-9]+)*$`)
	for _, name := range conformance.CaseNames() {
		if !valid.MatchString(name) {
			t.Errorf("case %q, want Group/kebab-case", name)
		}
	}
}
