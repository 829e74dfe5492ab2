package shell

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/wording"
)

// TestDocsStateTheBudgets compares the defaults in the table of docs/shell.md with the code.
func TestDocsStateTheBudgets(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/shell.md")
	if err != nil {
		t.Fatal(err)
	}
	d, err := new(Options).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Time":        fmt.Sprint(int(d.Time/time.Minute), " minute"),
		"Commands":    wording.Thousands(d.Commands),
		"Subshells":   wording.Thousands(d.Subshells),
		"Recursion":   wording.Thousands(d.Recursion),
		"Output":      fmt.Sprint(d.Output>>10, " KiB"),
		"TotalOutput": fmt.Sprint(d.TotalOutput>>20, " MiB"),
		"Variables":   fmt.Sprint(d.Variables>>20, " MiB"),
		"Expansions":  wording.Thousands(d.Expansions),
		"Scratch":     fmt.Sprint(d.Scratch>>20, " MiB"),
	} {
		if row := fmt.Sprintf("| `%s` | %s |", name, value); !strings.Contains(string(page), row) {
			t.Errorf("docs/shell.md has no row %q", row)
		}
	}
}
