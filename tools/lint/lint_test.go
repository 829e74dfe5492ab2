package lint_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/tools/lint"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestOwnTools checks that every vendor accepts what Definitions returns for it.
func TestOwnTools(t *testing.T) {
	t.Parallel()
	all := []tools.Options{{Descriptions: tools.DescriptionsCompact}}
	for _, d := range tools.Dialects() {
		all = append(all, tools.Options{Dialect: d})
	}
	for _, opts := range all {
		set, err := tools.New(workspace.New("test", memory.New(nil), nil), &opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, vendor := range lint.Vendors() {
			definitions, err := set.Definitions(vendor)
			if err != nil {
				t.Fatal(err)
			}
			report, err := lint.Check(vendor, definitions)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range report.Problems {
				t.Errorf("%s, with the options %+v: %s: %s", vendor, opts, p.Tool, p.Text)
			}
			var names []string
			sum := 0
			for _, tool := range report.Tools {
				names = append(names, tool.Name)
				sum += tool.Characters
			}
			var want []string
			for _, tool := range set.Tools() {
				want = append(want, tool.Name)
			}
			if diff := cmp.Diff(want, names); diff != "" {
				t.Errorf("%s: tools (-want +got):\n%s", vendor, diff)
			}
			if report.Characters <= sum || report.Characters > sum+len(names)+40 {
				t.Errorf("%s: %d characters, and the tools have %d", vendor, report.Characters, sum)
			}
		}
	}
}

// TestProblems checks each rule with a definition that breaks it, and no other.
func TestProblems(t *testing.T) {
	t.Parallel()
	const fine = `{"type": "object", "properties": {"a": {"type": "string"}}}`
	anthropic := func(name, schema string) string {
		return fmt.Sprintf(`[{"name": %q, "description": "d", "input_schema": %s}]`, name, schema)
	}
	openAI := func(name, description, schema string) string {
		return fmt.Sprintf(`[{"type": "function", "function": {"name": %q, "description": %q, "strict": false, "parameters": %s}}]`, name, description, schema)
	}
	strict := func(schema string) string {
		return fmt.Sprintf(`[{"type": "function", "function": {"name": "a", "strict": true, "parameters": %s}}]`, schema)
	}
	gemini := func(name, schema string) string {
		return fmt.Sprintf(`[{"functionDeclarations": [{"name": %q, "parameters": %s}]}]`, name, schema)
	}
	long := strings.Repeat("a", 65)
	tests := []struct {
		name        string
		vendor      tools.Format
		definitions string
		want        string // empty: no problem
	}{
		{"anthropic", tools.FormatAnthropic, anthropic("a", fine), ""},
		{"long-name", tools.FormatAnthropic, anthropic(long, fine), "the name does not match"},
		{"dot-in-name", tools.FormatAnthropic, anthropic("a.b", fine), "the name does not match"},
		{"reference", tools.FormatAnthropic, anthropic("a", `{"type": "object", "properties": {"a": {"$ref": "#"}}}`), "a: the keyword $ref is refused"},
		{"combined-root", tools.FormatAnthropic, anthropic("a", `{"type": "object", "anyOf": []}`), "has anyOf, which is refused there"},
		{"combined-inside", tools.FormatAnthropic, anthropic("a", `{"type": "object", "properties": {"a": {"anyOf": []}}}`), ""},
		{"property-name", tools.FormatAnthropic, anthropic("a", `{"type": "object", "properties": {"a b": {"type": "string"}}}`), `the parameter "a b" does not match`},
		{"no-schema", tools.FormatAnthropic, `[{"name": "a"}]`, "no schema"},
		{"not-an-object", tools.FormatAnthropic, anthropic("a", `{"type": "array"}`), "not of type object"},
		{"collision", tools.FormatAnthropic, `[{"name": "Read", "input_schema": ` + fine + `}, {"name": "read", "input_schema": ` + fine + `}]`, `another tool is called "Read"`},

		{"openai", tools.FormatOpenAI, openAI("a", "d", fine), ""},
		{"description", tools.FormatOpenAI, openAI("a", strings.Repeat("d", 1025), fine), "1025 characters, and the limit is 1024"},
		{"responses", tools.FormatOpenAIResponses, `[{"type": "function", "name": "a", "parameters": {"type": "object", "oneOf": []}}]`, "has oneOf"},
		{"too-many", tools.FormatOpenAI, many(129), "129 tools, and the limit is 128"},

		{"strict", tools.FormatOpenAIStrict, strict(`{"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"], "additionalProperties": false}`), ""},
		{"not-strict", tools.FormatOpenAIStrict, openAI("a", "d", `{"type": "object", "properties": {}, "additionalProperties": false}`), "strict is not true"},
		{"optional", tools.FormatOpenAIStrict, strict(`{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}`), `"a" is not required`},
		{"open", tools.FormatOpenAIStrict, strict(`{"type": "object", "properties": {}}`), "additionalProperties is not false"},
		{"keyword", tools.FormatOpenAIStrict, strict(`{"type": "object", "properties": {"a": {"type": "integer", "default": 1}}, "required": ["a"], "additionalProperties": false}`), "a: the keyword default is refused"},
		{"nested", tools.FormatOpenAIStrict, strict(`{"type": "object", "properties": {"a": {"type": ["array", "null"], "items": {"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": false}}}, "required": ["a"], "additionalProperties": false}`), `a[]: "b" is not required`},

		{"gemini", tools.FormatGemini, gemini("a", `{"type": "OBJECT", "properties": {"a": {"type": "ARRAY", "items": {"type": "STRING"}}}}`), ""},
		{"no-parameters", tools.FormatGemini, `[{"functionDeclarations": [{"name": "a"}]}]`, ""},
		{"digit-first", tools.FormatGemini, gemini("1a", `{"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}`), "the name does not match"},
		{"additional", tools.FormatGemini, gemini("a", `{"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "additionalProperties": false}`), "additionalProperties is refused"},
		{"lower-case", tools.FormatGemini, gemini("a", `{"type": "OBJECT", "properties": {"a": {"type": "string"}}}`), "a: the type is string"},
		{"two-types", tools.FormatGemini, gemini("a", `{"type": "OBJECT", "properties": {"a": {"type": ["STRING", "NULL"]}}}`), "a: the type is [STRING NULL]"},
		{"no-items", tools.FormatGemini, gemini("a", `{"type": "OBJECT", "properties": {"a": {"type": "ARRAY"}}}`), "a: an array has no items"},
		{"empty-object", tools.FormatGemini, gemini("a", `{"type": "OBJECT", "properties": {}}`), "an object has no properties"},

		{"mcp", tools.FormatMCP, `[{"name": "a.b", "inputSchema": {"type": "object"}}]`, ""},
		{"mcp-name", tools.FormatMCP, `[{"name": "a b", "inputSchema": {"type": "object"}}]`, "the name does not match"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			report, err := lint.Check(tt.vendor, json.RawMessage(tt.definitions))
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tt.want == "" && len(report.Problems) > 0:
				t.Errorf("Check(%s) = %v, want no problem", tt.definitions, report.Problems)
			case tt.want != "" && (len(report.Problems) != 1 || !strings.Contains(report.Problems[0].Text, tt.want)):
				t.Errorf("Check(%s) = %v, want one problem: %s", tt.definitions, report.Problems, tt.want)
			}
		})
	}
}

// many returns the definitions of n tools.
func many(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"type": "function", "function": {"name": "a%d", "parameters": {"type": "object"}}}`, i))
	}
	return "[" + strings.Join(all, ",") + "]"
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for definitions, vendor := range map[string]tools.Format{
		`[]`: tools.FormatJSON, `[ ]`: "none", `{}`: tools.FormatMCP, `[1]`: tools.FormatOpenAI, `[{"name": "a"}]`: tools.FormatGemini,
	} {
		if _, err := lint.Check(vendor, json.RawMessage(definitions)); err == nil {
			t.Errorf("Check(%q, %s) = nil, want an error", vendor, definitions)
		}
	}
}

// TestOtherFormats checks that definitions are refused as those of a format that they are not
// in. Those of FormatJSON have the members of MCP, and more.
func TestOtherFormats(t *testing.T) {
	t.Parallel()
	alike := map[tools.Format]tools.Format{tools.FormatJSON: tools.FormatMCP, tools.FormatOpenAIStrict: tools.FormatOpenAI}
	set, err := tools.New(workspace.New("test", memory.New(nil), nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range append(lint.Vendors(), tools.FormatJSON) {
		definitions, err := set.Definitions(format)
		if err != nil {
			t.Fatal(err)
		}
		for _, vendor := range lint.Vendors() {
			if vendor == format || alike[format] == vendor || alike[vendor] == format {
				continue
			}
			if report, err := lint.Check(vendor, definitions); err == nil {
				t.Errorf("Check of the definitions for %s as those for %s = %d problems, want an error", format, vendor, len(report.Problems))
			}
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for characters, want := range map[int]int{0: 0, 1: 1, 4: 1, 5: 2, 9000: 2250} {
		if got := lint.Tokens(characters); got != want {
			t.Errorf("Tokens(%d) = %d, want %d", characters, got, want)
		}
	}
}
