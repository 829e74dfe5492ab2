package workspacekit_test

import (
	"os"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// TestDialects tests that a file can choose each dialect of package tools, and that
// docs/dialects.md names its tools, in its row or in its section.
func TestDialects(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("docs/dialects.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range tools.Dialects() {
		file := "workspaces: {main: {provider: {kind: memory}}}\ntools: {dialect: " + string(d) + "}\n"
		if _, err := config.Parse([]byte(file), &config.Options{Registry: workspacekit.NewRegistry()}); err != nil {
			t.Errorf("dialect %s in a file: %v", d, err)
		}
		set, err := tools.New(workspace.New("main", memory.New(nil), nil), &tools.Options{Dialect: d})
		if err != nil {
			t.Fatal(err)
		}
		_, row, found := strings.Cut(string(doc), "\n| `"+string(d)+"` |")
		row, _, _ = strings.Cut(row, "\n")
		if !found {
			t.Errorf("docs/dialects.md has no row for %s", d)
		}
		_, section, _ := strings.Cut(string(doc), "\n## "+string(d)+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		for _, tool := range set.Tools() {
			if !strings.Contains(row, tool.Op) && !strings.Contains(section, tool.Op) {
				t.Errorf("docs/dialects.md does not name %s of %s", tool.Op, d)
			}
		}
	}
}

// TestDisableEach tests that a file can leave out each tool of the default dialect.
func TestDisableEach(t *testing.T) {
	t.Parallel()
	set, err := tools.New(workspace.New("main", memory.New(nil), nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range set.Tools() {
		file := "workspaces: {main: {provider: {kind: memory}}}\ntools: {disable: [" + tool.Op + "]}\n"
		if _, err := config.Parse([]byte(file), &config.Options{Registry: workspacekit.NewRegistry()}); err != nil {
			t.Errorf("disable %s in a file: %v", tool.Op, err)
		}
	}
}
