package program_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/providers/container/internal/program"
)

// TestTextBeginsWithConstants checks that every status that a function returns by
// a name is one of those that Go writes down.
func TestTextBeginsWithConstants(t *testing.T) {
	text, err := program.Text()
	if err != nil {
		t.Fatal(err)
	}
	constants, functions, ok := strings.Cut(text, "# What a shell in the container is taught")
	if !ok || !strings.HasPrefix(constants, "#") {
		t.Fatalf("Text() begins with %.80q, want the constants", text)
	}
	own := map[string]bool{"result": true, "outcome": true, "ended": true} // what a function has noted
	for _, name := range regexp.MustCompile(`(?:return|exit) \$([a-z]+)`).FindAllStringSubmatch(functions, -1) {
		if !own[name[1]] && !strings.Contains(constants, "\n"+name[1]+"=") {
			t.Errorf("a function returns $%s, which is no constant of package program:\n%s", name[1], constants)
		}
	}
	for _, want := range []string{"missing=10\n", "again=29\n", "vanished=31\n", "other=100\n", "prefix='.workspacekit-tmp-'\n"} {
		if !strings.Contains(constants, want) {
			t.Errorf("the constants lack %q:\n%s", want, constants)
		}
	}
}
