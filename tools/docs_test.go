package tools_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/shell/bashtool"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestDocs checks that every tool has a section on one page of docs, whose
// tables list every parameter and every member of the result but ok as the
// schemas have them. With -update it rewrites the tables.
func TestDocs(t *testing.T) {
	set := newSetOf(t, workspace.New("test", machine{memory.New(nil)}, nil), &tools.Options{Bash: bashtool.New(nil), Run: true})
	documented, contents := map[string]int{}, map[string]string{}
	pages, err := filepath.Glob(filepath.Join("..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range pages {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := string(raw)
		for _, tool := range set.Tools() {
			if strings.Contains(want, begin(tool)) {
				documented[tool.Op]++
				contents[tool.Op] = filepath.Base(file)
				want = withTables(t, want, tool)
			}
		}
		diff := cmp.Diff(want, string(raw))
		switch {
		case diff != "" && *update:
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		case diff != "":
			t.Errorf("%s differs from the schemas; -update rewrites it (-want +got):\n%s", file, diff)
		}
	}
	first, err := os.ReadFile(filepath.Join("..", "docs", "tools.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range set.Tools() {
		if !regexp.MustCompile(`(?m)^\|.*\b` + tool.Op + `\b.*\(` + contents[tool.Op] + `.*\|$`).Match(first) {
			t.Errorf("docs/tools.md does not say that %s is in %s", tool.Op, contents[tool.Op])
		}
		if documented[tool.Op] != 1 {
			t.Errorf("%d pages have %q, want one", documented[tool.Op], begin(tool))
		}
	}
}

// begin returns the line before the tables of a tool.
func begin(tool *tools.Tool) string { return "<!-- tables of " + tool.Op + " -->\n" }

// withTables puts the tables of a tool between its markers.
func withTables(t *testing.T, doc string, tool *tools.Tool) string {
	t.Helper()
	const end = "<!-- end -->\n"
	head, rest, _ := strings.Cut(doc, begin(tool))
	_, tail, closed := strings.Cut(rest, end)
	if !closed || !strings.Contains(head, "## "+tool.Op+"\n") {
		t.Fatalf("no section %s with %q and %q", tool.Op, begin(tool), end)
	}
	return head + begin(tool) + "\n" + table(t, "Parameter", tool.InputSchema()) + "\n" + table(t, "Result", tool.OutputSchema()) + "\n" + end + tail
}

func table(t *testing.T, title string, raw json.RawMessage) string {
	t.Helper()
	schema := new(jsonschema.Schema)
	if err := json.Unmarshal(raw, schema); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "| %s | type | |\n|---|---|---|\n", title)
	rows(&out, "", schema, raw)
	// Tools are known by their operation here.
	return strings.ReplaceAll(out.String(), "workspace__test__", "")
}

func rows(out *strings.Builder, prefix string, s *jsonschema.Schema, raw json.RawMessage) {
	for _, name := range order(s, raw) {
		p := s.Properties[name]
		if name == "ok" && p.Description == "always true" {
			continue // as docs/tools.md says
		}
		required := ""
		for _, r := range s.Required {
			if r == name && prefix == "" {
				required = ", always"
			}
		}
		members := undescribed(p.Items, raw)
		fmt.Fprintf(out, "| `%s%s` | %s%s | %s%s |\n", prefix, name, p.Type, required, p.Description, bounds(p)+members)
		if p.Items != nil && members == "" {
			rows(out, prefix+name+"[].", p.Items, raw)
		}
	}
}

// undescribed lists the properties of items if they have no descriptions,
// because the table has a row for each already.
func undescribed(items *jsonschema.Schema, raw json.RawMessage) string {
	if items == nil || len(items.Properties) == 0 {
		return ""
	}
	names := order(items, raw)
	for _, name := range names {
		if items.Properties[name].Description != "" {
			return ""
		}
	}
	return ", each with `" + strings.Join(names, "`, `") + "`"
}

// order returns the names of s as the schema writes them.
func order(s *jsonschema.Schema, raw json.RawMessage) []string {
	var names []string
	for _, m := range regexp.MustCompile(`"(\w+)":\{"type"`).FindAllSubmatch(raw, -1) {
		if _, ok := s.Properties[string(m[1])]; ok && !contained(names, string(m[1])) {
			names = append(names, string(m[1]))
		}
	}
	return names
}

func contained(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func bounds(p *jsonschema.Schema) string {
	var parts []string
	if p.Minimum != nil && p.Maximum != nil {
		parts = append(parts, fmt.Sprintf("%.0f to %.0f", *p.Minimum, *p.Maximum))
	} else if p.Minimum != nil {
		parts = append(parts, fmt.Sprintf("from %.0f", *p.Minimum))
	}
	if p.MaxItems != nil {
		parts = append(parts, fmt.Sprintf("%d to %d items", *p.MinItems, *p.MaxItems))
	}
	if p.Default != nil {
		parts = append(parts, "default `"+string(p.Default)+"`")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
