package tools_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

func TestNames(t *testing.T) {
	tests := []struct{ name, workspace, naming, want string }{
		{"default", "docs", "", "workspace__docs__read_file"},
		{"without-name", "my docs", "workspace_{op}", "workspace_read_file"},
		{"op-only", "docs", "{op}", "read_file"},
		{"op-first", "a-b_C1", "{op}-{name}", "read_file-a-b_C1"},
		{"longest", strings.Repeat("n", 26), "", "workspace__" + strings.Repeat("n", 26) + "__read_file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := newSetOf(t, workspace.New(tt.workspace, memory.New(nil), nil), &tools.Options{Naming: tt.naming})
			tool, ok := set.Lookup(tt.want)
			if !ok || tool.Op != ops.ReadFile {
				t.Errorf("Lookup(%q) = %v, %v", tt.want, tool, ok)
			}
			for _, tool := range set.Tools() {
				if len(tool.Name) > tools.MaxNameLength {
					t.Errorf("%q has %d characters", tool.Name, len(tool.Name))
				}
			}
		})
	}
}

func TestCallByName(t *testing.T) {
	t.Parallel()
	set, _ := newSet(t, map[string]string{"a.txt": "one\n"}, nil)
	tests := []struct{ name, code, want string }{
		{"workspace__test__read_file", "", "one"},
		{"read_file", "", "one"},
		{"workspace__test__readfile", "INVALID_ARGUMENTS", `there is no tool "workspace__test__readfile"` + "\n" + `Did you mean "workspace__test__read_file"? The tools are workspace__test__read_file, `},
		{"functions.workspace__test__raed_file", "INVALID_ARGUMENTS", `Did you mean "workspace__test__read_file"? `},
		{"functions.read_file", "INVALID_ARGUMENTS", `Did you mean "workspace__test__read_file"? `},
		{"bash", "INVALID_ARGUMENTS", `there is no tool "bash"` + "\nThe tools are workspace__test__read_file, "},
		{strings.Repeat("x", 1<<20), "INVALID_ARGUMENTS", "there is no tool"},
	}
	for _, tt := range tests {
		result, err := set.Call(t.Context(), tt.name, json.RawMessage(`{"path": "a.txt"}`))
		if err != nil {
			t.Fatalf("Call(%.40q) = %v", tt.name, err)
		}
		if code := errorCode(result); code != tt.code || !strings.Contains(result.Text, tt.want) || len(result.Text) > 8<<10 {
			t.Errorf("Call(%.40q) = %q, %.400q, want %q, %q", tt.name, code, result.Text, tt.code, tt.want)
		}
	}
}

func errorCode(r *tools.Result) string {
	if r.Error == nil {
		return ""
	}
	return string(r.Error.Code)
}

func TestTextFor(t *testing.T) {
	t.Parallel()
	set, _ := newSet(t, map[string]string{"a.png": pixel, "a.pdf": "%PDF-1.7\x00%%EOF"}, nil)
	result := call(t, set, ops.ReadFiles, object{"paths": []string{"a.png", "a.pdf"}})
	isImage := func(p tools.Part) bool { return p.MIMEType == "image/png" }
	pdf := "\n[a.pdf (application/pdf) cannot be shown here]"
	if got, want := result.TextFor(isImage), result.Text+pdf; got != want {
		t.Errorf("TextFor(isImage) = %q, want %q", got, want)
	}
	if got, want := result.TextFor(nil), result.Text+"\n[a.png (image/png) cannot be shown here]"+pdf; got != want {
		t.Errorf("TextFor(nil) = %q, want %q", got, want)
	}
}

func TestBadNames(t *testing.T) {
	tests := []struct{ name, workspace, naming, want string }{
		{"no-op", "docs", "{name}", "needs {op}"},
		{"dot-in-naming", "docs", "ws.{op}", "may have letters"},
		{"unknown-placeholder", "docs", "{workspace}_{op}", "may have letters"},
		{"space-in-name", "my docs", "", `"my docs" cannot be part of a tool name`},
		{"dot-in-name", "a.b", "", "rename the workspace"},
		{"no-name", "", "", "cannot be part of a tool name"},
		{"too-long", strings.Repeat("n", 27), "", "the limit is 50"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tools.New(workspace.New(tt.workspace, memory.New(nil), nil), &tools.Options{Naming: tt.naming})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestNoWorkspace(t *testing.T) {
	if _, err := tools.New(nil, nil); err == nil {
		t.Error("New(nil) succeeds")
	}
}

func opsOf(set *tools.Set) string {
	var names []string
	for _, tool := range set.Tools() {
		names = append(names, tool.Op)
	}
	return strings.Join(names, " ")
}

func TestCapabilitiesChooseTools(t *testing.T) {
	const reading = "read_file read_files ls tree glob grep stat"
	tests := []struct {
		name string
		caps workspace.Capabilities
		want string
	}{
		{"none", workspace.Capabilities{}, reading},
		{"conditions-without-write", workspace.Capabilities{ConditionalWrite: true, Move: true, Copy: true}, reading},
		{"write", workspace.Capabilities{Write: true}, "read_file read_files write_file ls tree glob grep stat mkdir rm"},
		{"conditional", workspace.Capabilities{Write: true, ConditionalWrite: true}, "read_file read_files write_file ls tree glob grep stat mkdir rm copy"},
		{"editing", workspace.Capabilities{Write: true, Versions: true, ConditionalWrite: true}, "read_file read_files write_file edit_file apply_patch ls tree glob grep stat mkdir rm copy"},
		{"move", workspace.Capabilities{Write: true, Move: true}, "read_file read_files write_file ls tree glob grep stat mkdir rm move"},
		{"copy", workspace.Capabilities{Write: true, Copy: true}, "read_file read_files write_file ls tree glob grep stat mkdir rm copy"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := newSetOf(t, workspace.New("test", restricted{memory.New(nil), tt.caps}, nil), nil)
			if diff := cmp.Diff(tt.want, opsOf(set)); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadOnlyPolicyHasNoWritingTools(t *testing.T) {
	set := newSetOf(t, workspace.New("test", policy.ReadOnly(memory.New(nil)), nil), nil)
	if want := "read_file read_files ls tree glob grep stat"; opsOf(set) != want {
		t.Errorf("tools = %s, want %s", opsOf(set), want)
	}
	for _, tool := range set.Tools() {
		if !tool.Annotations.ReadOnly || tool.Annotations.Destructive {
			t.Errorf("%s has annotations %+v", tool.Op, tool.Annotations)
		}
	}
}

func TestConditionsNeedTheirCapability(t *testing.T) {
	set := newSetOf(t, workspace.New("test", restricted{memory.New(nil), workspace.Capabilities{Write: true}}, nil), nil)
	tool, _ := set.Lookup(ops.WriteFile)
	if schema := string(tool.InputSchema()); strings.Contains(schema, "createOnly") || strings.Contains(schema, "ifVersion") {
		t.Errorf("schema has conditions: %s", schema)
	}
	for name, value := range (object{"createOnly": true, "ifVersion": "1", "append": true}) {
		err := bad(t, set, ops.WriteFile, object{"path": "a", "content": "", name: value}, tools.CodeInvalidArguments)
		if want := fmt.Sprintf("parameter %q needs conditional writes, which this workspace does not have", name); err.Message != want {
			t.Errorf("write_file with %s = %q, want %q", name, err.Message, want)
		}
		contains(t, "hint", err.Hint, "Leave it out.")
	}
	set = newSetOf(t, workspace.New("test", restricted{memory.New(nil), workspace.Capabilities{Write: true, ConditionalWrite: true}}, nil), nil)
	err := bad(t, set, ops.WriteFile, object{"path": "a", "content": "", "append": true}, tools.CodeInvalidArguments)
	contains(t, "message", err.Message, `parameter "append" needs versions of files`)
}

func TestDisable(t *testing.T) {
	ws := workspace.New("test", memory.New(nil), nil)
	set := newSetOf(t, ws, &tools.Options{Disable: []string{"rm", "move", "grep"}})
	if want := "read_file read_files write_file edit_file apply_patch ls tree glob stat mkdir copy"; opsOf(set) != want {
		t.Errorf("tools = %s, want %s", opsOf(set), want)
	}
	for op, want := range map[string]string{"reed_file": `did you mean "read_file"?`, "shell": "the operations are read_file, "} {
		if _, err := tools.New(ws, &tools.Options{Disable: []string{op}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("disabling %q: %v, want %q", op, err, want)
		}
	}
}

// TestReadable disables tools, until none reads files.
func TestReadable(t *testing.T) {
	a, b := workspace.New("a", memory.New(nil), nil), workspace.New("b", memory.New(nil), nil)
	for _, opts := range []tools.Options{
		{Disable: []string{"read_file"}},
		{Disable: []string{"read_file"}, Shared: tools.SharedTrue},
		{Disable: []string{"read_files"}},
		{Dialect: tools.DialectMCPFilesystem, Disable: []string{"read_text_file", "read_file", "read_media_file"}},
		{Dialect: tools.DialectMCPFilesystem, Disable: []string{"read_text_file", "read_file", "read_multiple_files"}},
	} {
		set, err := tools.NewAll([]*workspace.Workspace{a, b}, &opts)
		if err != nil {
			t.Fatal(err)
		}
		if got := set.Readable(); !slices.Equal(got, []*workspace.Workspace{a, b}) {
			t.Errorf("Readable with the options %+v = %v, want both workspaces", opts, got)
		}
	}
	for _, opts := range []tools.Options{
		{Disable: []string{"read_file", "read_files"}},
		{Dialect: tools.DialectAnthropic, Disable: []string{"str_replace_based_edit_tool"}}, // memory reads /memories only
	} {
		if got := newSetOf(t, a, &opts).Readable(); len(got) != 0 {
			t.Errorf("Readable with the options %+v = %v, want none", opts, got)
		}
	}
}

func TestToolsAreInOrder(t *testing.T) {
	set, _ := newSet(t, nil, nil)
	if want := "read_file read_files write_file edit_file apply_patch ls tree glob grep stat mkdir rm move copy"; opsOf(set) != want {
		t.Errorf("tools = %s, want %s", opsOf(set), want)
	}
	set.Tools()[0] = nil
	if set.Tools()[0] == nil {
		t.Error("Tools returns the set's own slice")
	}
}

func TestMerge(t *testing.T) {
	a := newSetOf(t, workspace.New("a", memory.New(nil), nil), nil)
	b := newSetOf(t, workspace.New("b", memory.New(nil), nil), nil)
	both, err := tools.Merge(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(both.Tools()); n != 28 {
		t.Errorf("%d tools, want 28", n)
	}
	if tool, ok := both.Lookup("workspace__b__rm"); !ok || tool.Op != ops.Rm {
		t.Errorf("Lookup(workspace__b__rm) = %v, %v", tool, ok)
	}
	if _, ok := both.Lookup("rm"); ok {
		t.Error(`Lookup("rm") finds one of two`)
	}
}

func TestCollision(t *testing.T) {
	a := newSetOf(t, workspace.New("Docs", memory.New(nil), nil), nil)
	b := newSetOf(t, workspace.New("docs", memory.New(nil), nil), nil)
	_, err := tools.Merge(a, b)
	if err == nil || !strings.Contains(err.Error(), `"workspace__docs__read_file" collides`) {
		t.Errorf("Merge = %v, want a collision", err)
	}
}
