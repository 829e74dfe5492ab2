package tools_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestDefinitions(t *testing.T) {
	set, _ := newSet(t, nil, nil)
	for _, format := range []tools.Format{tools.FormatJSON, tools.FormatOpenAI, tools.FormatOpenAIResponses, tools.FormatAnthropic, tools.FormatMCP} {
		t.Run(string(format), func(t *testing.T) {
			definitions, err := set.Definitions(format)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "definitions."+string(format)+".json", string(definitions)+"\n")
		})
	}
}

func TestUnknownFormat(t *testing.T) {
	set, _ := newSet(t, nil, nil)
	for format, want := range map[tools.Format]string{"antropic": `did you mean "anthropic"?`, "": "the formats are json, openai"} {
		if _, err := set.Definitions(format); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Definitions(%q) = %v, want %q", format, err, want)
		}
	}
}

func TestDescriptions(t *testing.T) {
	set, _ := newSet(t, nil, nil)
	var all strings.Builder
	for _, tool := range set.Tools() {
		all.WriteString("# " + tool.Name + "\n\n" + tool.Description() + "\n\n")
	}
	golden(t, "descriptions.md", all.String())
}

// TestDescriptionsNameToolsOfTheSet takes tools away one by one.
func TestDescriptionsNameToolsOfTheSet(t *testing.T) {
	full, ws := newSet(t, nil, nil)
	for _, gone := range full.Tools() {
		set := newSetOf(t, ws, &tools.Options{Disable: []string{gone.Op}})
		for _, tool := range set.Tools() {
			text := tool.Description() + string(tool.InputSchema()) + string(tool.OutputSchema())
			if strings.Contains(text, gone.Name) || strings.Contains(text, "use "+gone.Op) {
				t.Errorf("%s without %s still names it:\n%s", tool.Op, gone.Op, text)
			}
		}
	}
}

func TestDescriptionsStateTheLimit(t *testing.T) {
	for size, want := range map[int64]string{5 << 20: "5 MiB", 3 << 10: "3 KiB", 1001: "1,001 bytes"} {
		set, _ := newSet(t, nil, &workspace.Options{MaxFileSize: size})
		for _, op := range []string{"read_file", "write_file", "edit_file", "grep"} {
			tool, _ := set.Lookup(op)
			contains(t, op, tool.Description(), want)
		}
	}
	set, _ := newSet(t, nil, &workspace.Options{MaxFileSize: -1})
	for op, want := range map[string]string{"read_file": "Files above 256 MiB", "edit_file": "Files above 256 MiB", "grep": "or too large"} {
		tool, _ := set.Lookup(op)
		contains(t, op+" without a limit", tool.Description(), want)
	}
}

// TestSchemas checks what every vendor asks of schemas, and what models do.
func TestSchemas(t *testing.T) {
	set, _ := newSet(t, nil, nil)
	for _, tool := range set.Tools() {
		t.Run(tool.Op, func(t *testing.T) {
			input := members(t, tool.InputSchema())
			if input["type"] != "object" || input["additionalProperties"] != false {
				t.Errorf("input schema is %v", input)
			}
			for _, word := range []string{"oneOf", "anyOf", "allOf", "$ref", "null", "{{"} {
				if strings.Contains(string(tool.InputSchema()), `"`+word) {
					t.Errorf("input schema has %q: %s", word, tool.InputSchema())
				}
			}
			describeAll(t, tool.Op, input)
			describeAll(t, tool.Op, members(t, tool.OutputSchema()))
			resolve(t, tool.InputSchema())
			resolve(t, tool.OutputSchema())
			if !regexp.MustCompile(`^[a-zA-Z0-9_-]{1,50}$`).MatchString(tool.Name) {
				t.Errorf("name %q", tool.Name)
			}
		})
	}
}

// describeAll checks that every property has a description.
func describeAll(t *testing.T, where string, schema object) {
	t.Helper()
	properties, _ := schema["properties"].(object)
	for name, p := range properties {
		property := p.(object)
		if property["description"] == nil {
			t.Errorf("%s.%s has no description", where, name)
		}
		describeAll(t, where+"."+name, property)
		if items, ok := property["items"].(object); ok {
			describeAll(t, where+"."+name, items)
		}
	}
}

func TestAnnotations(t *testing.T) {
	got := map[string]tools.Annotations{}
	set, _ := newSet(t, nil, nil)
	for _, tool := range set.Tools() {
		got[tool.Op] = tool.Annotations
	}
	want := map[string]tools.Annotations{
		"read_file":  {Title: "Read file", ReadOnly: true, Idempotent: true},
		"write_file": {Title: "Write file", Destructive: true, Idempotent: true},
		"edit_file":  {Title: "Edit file", Destructive: true},
		"ls":         {Title: "List directory", ReadOnly: true, Idempotent: true},
		"glob":       {Title: "Find files", ReadOnly: true, Idempotent: true},
		"grep":       {Title: "Search text", ReadOnly: true, Idempotent: true},
		"stat":       {Title: "Describe file", ReadOnly: true, Idempotent: true},
		"mkdir":      {Title: "Make directory", Idempotent: true},
		"rm":         {Title: "Remove", Destructive: true, Idempotent: true},
		"move":       {Title: "Move or rename", Destructive: true},
		"copy":       {Title: "Copy file"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

// TestToolSurvivesJSON checks that a definition can be stored.
func TestToolSurvivesJSON(t *testing.T) {
	set := newSetOf(t, workspace.New("test", memory.New(nil), nil), nil)
	data, err := json.Marshal(set.Tools()[0])
	if err != nil {
		t.Fatal(err)
	}
	var tool tools.Tool
	if err := json.Unmarshal(data, &tool); err != nil || tool.Name != "workspace__test__read_file" {
		t.Errorf("Unmarshal = %v, %+v", err, tool)
	}
}
