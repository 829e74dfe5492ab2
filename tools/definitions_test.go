package tools_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/shell/bashtool"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestDefinitions(t *testing.T) {
	set, _ := newSet(t, nil, nil)
	for _, format := range []tools.Format{tools.FormatJSON, tools.FormatOpenAI, tools.FormatOpenAIStrict, tools.FormatOpenAIResponses, tools.FormatAnthropic, tools.FormatGemini, tools.FormatMCP} {
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
	for i, gone := range slices.Repeat(full.Tools(), 2) {
		descriptions := tools.DescriptionsFull
		if i >= len(full.Tools()) {
			descriptions = tools.DescriptionsCompact
		}
		set := newSetOf(t, ws, &tools.Options{Disable: []string{gone.Op}, Descriptions: descriptions})
		for _, tool := range set.Tools() {
			text := tool.Description() + string(tool.InputSchema()) + string(tool.OutputSchema())
			if strings.Contains(text, gone.Name) || strings.Contains(text, "use "+gone.Op) {
				t.Errorf("%s without %s still names it:\n%s", tool.Op, gone.Op, text)
			}
		}
	}
}

// TestDescriptionsOfDialects tests that the tools of a dialect name no tool of the default
// set that there is not, and that without conditional writes nothing says that a file is
// appended to.
func TestDescriptionsOfDialects(t *testing.T) {
	fsys := memory.New(nil)
	plain := fsys.Capabilities()
	plain.ConditionalWrite = false
	names := regexp.MustCompile(`\b(read_file|write_file|edit_file|read_files|apply_patch)\b`)
	for _, d := range tools.Dialects() {
		for _, descriptions := range []tools.Descriptions{tools.DescriptionsFull, tools.DescriptionsCompact} {
			set := newSetOf(t, workspace.New("test", restricted{fsys, plain}, nil), &tools.Options{Dialect: d, Naming: "{op}", Descriptions: descriptions})
			for _, tool := range set.Tools() {
				text := tool.Description() + string(tool.InputSchema())
				for _, name := range names.FindAllString(text, -1) {
					if _, ok := set.Lookup(name); !ok {
						t.Errorf("%s of %s names %s:\n%s", tool.Op, d, name, text)
					}
				}
				if strings.Contains(text, "append") {
					t.Errorf("%s of %s cannot append:\n%s", tool.Op, d, text)
				}
			}
		}
	}
}

func TestDescriptionsStateTheLimit(t *testing.T) {
	for size, want := range map[int64]string{5 << 20: "5 MiB", 3 << 10: "3 KiB", 1001: "1,001 bytes"} {
		set, _ := newSet(t, nil, &workspace.Options{MaxFileSize: size})
		for _, op := range []string{"read_file", "write_file", "grep"} {
			tool, _ := set.Lookup(op)
			contains(t, op, tool.Description(), want)
		}
		tool, _ := set.Lookup("read_file")
		if size < 3<<20 {
			contains(t, "read_file", tool.Description(), "PDFs up to "+want)
		}
	}
	set, _ := newSet(t, nil, &workspace.Options{MaxFileSize: -1})
	for op, want := range map[string]string{"read_file": "Files above 256 MiB"} {
		tool, _ := set.Lookup(op)
		contains(t, op+" without a limit", tool.Description(), want)
	}
}

// budgets are how many characters the definition of a tool may have, in Anthropic's
// format and under its short name.
var budgets = map[string]int{
	"read_file": 1050, "read_files": 450, "write_file": 800, "edit_file": 1400, "apply_patch": 700,
	"ls": 450, "tree": 450, "glob": 600, "grep": 1500,
	"stat": 250, "mkdir": 250, "rm": 300, "move": 350, "copy": 400,
}

// TestBudget holds what the definitions cost a model: 9,000 characters with full
// descriptions, and 6,000 and three fifths of the full ones with compact ones.
func TestBudget(t *testing.T) {
	ws := workspace.New("test", memory.New(nil), nil)
	total := map[tools.Descriptions]int{}
	for _, descriptions := range []tools.Descriptions{tools.DescriptionsFull, tools.DescriptionsCompact} {
		set := newSetOf(t, ws, &tools.Options{Naming: "{op}", Descriptions: descriptions})
		definitions, err := set.Definitions(tools.FormatAnthropic)
		if err != nil {
			t.Fatal(err)
		}
		var all []json.RawMessage
		if err := json.Unmarshal(definitions, &all); err != nil {
			t.Fatal(err)
		}
		total[descriptions] = compactLength(t, definitions)
		for i, tool := range set.Tools() {
			budget := budgets[tool.Op]
			if n := compactLength(t, all[i]); n > budget {
				t.Errorf("the definition of %s has %d characters with %s descriptions, and its budget is %d:\n%s", tool.Op, n, descriptions, budget, all[i])
			}
		}
	}
	t.Logf("characters: %v", total)
	full, short := total[tools.DescriptionsFull], total[tools.DescriptionsCompact]
	if full > 9000 {
		t.Errorf("full definitions have %d characters, want at most 9000", full)
	}
	if short > 6000 || short*100 > full*60 {
		t.Errorf("compact definitions have %d characters, want at most 6000 and 60 %% of %d", short, full)
	}
}

func compactLength(t *testing.T, raw json.RawMessage) int {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		t.Fatal(err)
	}
	return utf8.RuneCount(out.Bytes())
}

// machine is memory that says that it can run commands.
type machine struct{ *memory.FS }

func (m machine) Capabilities() workspace.Capabilities {
	c := m.FS.Capabilities()
	c.Run = true
	return c
}

// TestCompactTexts checks that compact.md describes every tool of the default
// dialect and no other, in words that differ, and names parameters that exist.
func TestCompactTexts(t *testing.T) {
	raw, err := os.ReadFile("compact.md")
	if err != nil {
		t.Fatal(err)
	}
	set := newSetOf(t, workspace.New("test", machine{memory.New(nil)}, nil), &tools.Options{Descriptions: tools.DescriptionsCompact, Bash: bashtool.New(nil), Run: true})
	described := map[string]bool{}
	for section := range strings.SplitSeq("\n"+strings.TrimSpace(string(raw)), "\n# ") {
		op, text, _ := strings.Cut(section, "\n")
		if op == "" {
			continue
		}
		described[op] = true
		tool, ok := set.Lookup(op)
		if !ok {
			t.Errorf("there is no tool %s", op)
			continue
		}
		if tool.Description() == "" {
			t.Errorf("%s has no description", op)
		}
		input := string(tool.InputSchema())
		_, parameters, _ := strings.Cut(text, "\n\n")
		for line := range strings.Lines(strings.TrimSpace(parameters)) {
			name, _, ok := strings.Cut(line, ": ")
			if !ok || !strings.Contains(input, fmt.Sprintf("%q:{\"type\"", name)) {
				t.Errorf("%s: %q is no line about a parameter", op, line)
			}
		}
	}
	for _, tool := range set.Tools() {
		if !described[tool.Op] {
			t.Errorf("compact.md has no section for %s", tool.Op)
		}
	}
}

// TestCompactShared checks that the tools that workspaces share say in compact
// descriptions, too, which workspaces there are.
func TestCompactShared(t *testing.T) {
	a, b := workspace.New("a", memory.New(nil), nil), workspace.New("b", memory.New(nil), nil)
	set, err := tools.NewAll([]*workspace.Workspace{a, b}, &tools.Options{
		Shared: tools.SharedTrue, Descriptions: tools.DescriptionsCompact, About: map[string]string{"b": "the documents"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range set.Tools() {
		contains(t, tool.Op, string(tool.InputSchema()), `"enum":["a","b"]`, "b (the documents")
	}
}

func TestUnknownDescriptions(t *testing.T) {
	ws := workspace.New("test", memory.New(nil), nil)
	opts := &tools.Options{Descriptions: "short"}
	const want = `unknown descriptions "short": they are full or compact`
	if _, err := tools.New(ws, opts); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("New = %v, want %q", err, want)
	}
	if _, err := tools.NewAll([]*workspace.Workspace{ws}, opts); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("NewAll = %v, want %q", err, want)
	}
}

// TestStrictSchemas checks what OpenAI's strict mode makes of optional parameters,
// bounds and defaults, and that null does what leaving out does.
func TestStrictSchemas(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": "1\n2\n"}, nil)
	definitions, err := set.Definitions(tools.FormatOpenAIStrict)
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Function struct {
			Name       string
			Parameters struct{ Properties map[string]object }
		}
	}
	if err := json.Unmarshal(definitions, &all); err != nil {
		t.Fatal(err)
	}
	limit := all[0].Function.Parameters.Properties["limit"]
	if diff := cmp.Diff([]any{"integer", "null"}, limit["type"]); diff != "" {
		t.Errorf("type of limit (-want +got):\n%s", diff)
	}
	contains(t, "limit", fmt.Sprint(limit["description"]), "(1 to 2000)")
	encoding := all[0].Function.Parameters.Properties["encoding"]
	if diff := cmp.Diff([]any{"utf-8", "base64", nil}, encoding["enum"]); diff != "" {
		t.Errorf("values of encoding (-want +got):\n%s", diff)
	}
	for i, f := range all {
		args := object{}
		for name := range f.Function.Parameters.Properties {
			args[name] = nil
		}
		for _, name := range []string{"path", "pattern", "content", "oldText", "newText", "source", "destination"} {
			if _, ok := args[name]; ok {
				args[name] = name
			}
		}
		if _, ok := args["patch"]; ok {
			args["patch"] = "*** Begin Patch\n*** Delete File: path\n*** End Patch"
		}
		if _, ok := args["paths"]; ok {
			args["paths"] = []string{"path"}
		}
		result := call(t, set, set.Tools()[i].Op, args)
		if result.IsError && result.Error.Code == tools.CodeInvalidArguments {
			t.Errorf("%s with null for what is optional: %s", f.Function.Name, result.Text)
		}
	}
}

// TestSchemas checks what every vendor asks of schemas, and what models do.
func TestSchemas(t *testing.T) {
	set, _ := newSet(t, nil, nil)
	for _, tool := range set.Tools() {
		t.Run(tool.Op, func(t *testing.T) {
			input := members(t, tool.InputSchema())
			if input["type"] != "object" {
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

// TestDescriptionsNameValues tests that a word that a description explains as a value is one.
func TestDescriptionsNameValues(t *testing.T) {
	ws := workspace.New("test", machine{memory.New(nil)}, nil)
	for _, dialect := range tools.Dialects() {
		for _, tool := range newSetOf(t, ws, &tools.Options{Dialect: dialect, Run: true}).Tools() {
			for _, p := range tool.Parameters() {
				for _, word := range regexp.MustCompile(`(\S+)(?: \(the default\)|:)`).FindAllStringSubmatch(p.Description, -1) {
					if p.Values != nil && !slices.Contains(p.Values, word[1]) {
						t.Errorf("%s: %s %s: %q has %q, which is none of %q", dialect, tool.Op, p.Name, p.Description, word[1], p.Values)
					}
				}
			}
		}
	}
}

// describeAll checks that every property has a description. Those of the items of a
// list need none if the tool has a parameter of the same name.
func describeAll(t *testing.T, where string, schema object, outer ...object) {
	t.Helper()
	properties, _ := schema["properties"].(object)
	for name, p := range properties {
		property := p.(object)
		described := property["description"] != nil
		for _, o := range outer {
			described = described || o[name] != nil
		}
		if !described {
			t.Errorf("%s.%s has no description", where, name)
		}
		describeAll(t, where+"."+name, property)
		if items, ok := property["items"].(object); ok {
			describeAll(t, where+"."+name, items, properties)
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
		"read_file":   {Title: "Read file", ReadOnly: true, Idempotent: true},
		"write_file":  {Title: "Write file", Destructive: true},
		"edit_file":   {Title: "Edit file", Destructive: true},
		"read_files":  {Title: "Read files", ReadOnly: true, Idempotent: true},
		"tree":        {Title: "Show tree", ReadOnly: true, Idempotent: true},
		"apply_patch": {Title: "Apply patch", Destructive: true},
		"ls":          {Title: "List directory", ReadOnly: true, Idempotent: true},
		"glob":        {Title: "Find files", ReadOnly: true, Idempotent: true},
		"grep":        {Title: "Search text", ReadOnly: true, Idempotent: true},
		"stat":        {Title: "Describe file", ReadOnly: true, Idempotent: true},
		"mkdir":       {Title: "Make directory", Idempotent: true},
		"rm":          {Title: "Remove", Destructive: true, Idempotent: true},
		"move":        {Title: "Move or rename", Destructive: true},
		"copy":        {Title: "Copy"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	fs := newSetOf(t, workspace.New("test", memory.New(nil), nil), &tools.Options{Dialect: tools.DialectFS})
	if write, ok := fs.Lookup("file_write"); !ok || !write.Annotations.Idempotent { // it cannot append
		t.Errorf("Lookup(file_write) = %+v, %v, want an idempotent tool", write, ok)
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
