package workspacekit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// TestOpenExample opens the file that the documentation begins with, as it is
// printed, with a real container, and uses every tool there is.
func TestOpenExample(t *testing.T) {
	useStore(t)
	useEngine(t)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "docs", "a.md"), "one needle\n")
	writeFile(t, filepath.Join(dir, "fixtures", "a.md"), "one needle\n")
	workspaces := open(t, writeConfig(t, dir, firstExample(t)))
	seedLake(t)
	set, err := workspacekit.Tools(workspaces)
	if err != nil {
		t.Fatal(err)
	}
	useTools(t, set, "repo", "docs", true)
	useTools(t, set, "scratch", ".", true)
	useTools(t, set, "box", ".", true)
	useTools(t, set, "lake", ".", false)
	for _, tool := range set.Tools() {
		if tool.Op == ops.Rm {
			t.Errorf("there is a tool %s, which the file disables", tool.Name)
		}
	}
}

// seedLake writes the file that is looked for into the bucket, which the file
// lets nobody write to.
func seedLake(t *testing.T) {
	t.Helper()
	path := writeConfig(t, t.TempDir(),
		`workspaces: {lake: {provider: {kind: objectstore, bucket: "${BUCKET}", prefix: team-a/, endpoint: "${S3_ENDPOINT}"}}}`)
	lake := lookup(t, open(t, path), "lake")
	if _, err := lake.WriteFile(t.Context(), "a.md", []byte("one needle\n"), nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // without the context of the test, which has ended by then
		if err := lake.Rm(context.Background(), "a.md", nil); err != nil {
			t.Error(err)
		}
	})
}

// useTools calls every tool of the workspace name, in dir.
func useTools(t *testing.T, set *tools.Set, name, dir string, writes bool) {
	t.Helper()
	changing := [][2]string{
		{ops.WriteFile, `{"path": "%s/a.md", "content": "one needle\n"}`},
		{ops.EditFile, `{"path": "%s/a.md", "oldText": "one", "newText": "two"}`},
		{ops.Mkdir, `{"path": "%[1]s/new"}`},
		{ops.Copy, `{"source": "%[1]s/a.md", "destination": "%[1]s/new/b.md"}`},
		{ops.Move, `{"source": "%[1]s/new/b.md", "destination": "%[1]s/new/c.md"}`},
	}
	calls := [][2]string{
		{ops.ReadFile, `{"path": "%s/a.md"}`},
		{ops.Ls, `{"path": "%s"}`},
		{ops.Glob, `{"path": "%s", "pattern": "**/*.md"}`},
		{ops.Grep, `{"path": "%s", "pattern": "needle"}`},
		{ops.Stat, `{"path": "%s/a.md"}`},
	}
	if writes {
		calls = append(changing, calls...)
	}
	var ops []string
	for _, call := range calls {
		ops = append(ops, call[0])
		use(t, set, fmt.Sprintf("workspace__%s__%s", name, call[0]), fmt.Sprintf(call[1], dir))
	}
	for _, tool := range set.Tools() {
		if strings.HasPrefix(tool.Name, "workspace__"+name+"__") && !slices.Contains(ops, tool.Op) {
			t.Errorf("the tool %s is not tried", tool.Name)
		}
	}
}

// use calls a tool.
func use(t *testing.T, set *tools.Set, name, args string) {
	t.Helper()
	tool, ok := set.Lookup(name)
	if !ok {
		t.Errorf("there is no tool %s", name)
		return
	}
	result, err := tool.Call(t.Context(), json.RawMessage(args))
	switch {
	case err != nil:
		t.Errorf("%s(%s) = %v", name, args, err)
	case result.IsError:
		t.Errorf("%s(%s) = %s", name, args, result.Text)
	case tool.Op == ops.Grep && !strings.Contains(result.Text, "needle"):
		t.Errorf("%s(%s) = %q, want the needle", name, args, result.Text)
	}
}

// TestOpenWithoutFile tests that the current folder is the workspace if no file
// says anything else.
func TestOpenWithoutFile(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "a.txt"), "text")
	t.Chdir(dir)
	t.Setenv(config.EnvFile, "")
	ws := lookup(t, open(t, ""), "main")
	if data, err := ws.ReadFile(t.Context(), "a.txt"); string(data) != "text" {
		t.Errorf("ReadFile(a.txt) = %q, %v, want %q", data, err, "text")
	}
	writeConfig(t, dir, "workspaces: {found: {provider: mem://}}")
	lookup(t, open(t, ""), "found")
	t.Setenv(config.EnvFile, writeConfig(t, t.TempDir(), "workspaces: {named: {provider: mem://}}"))
	lookup(t, open(t, ""), "named")
}

func TestOpenRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"broken", "workspaces: {main: {provider: {kind: memroy}}}", `did you mean "memory"?`},
		{"folder", "workspaces: {main: {provider: {kind: localbash, root: none}}}", `the workspace "main" cannot be opened: root: `},
		{"seed", "workspaces: {main: {provider: {kind: memory, seed: none}}}", `the workspace "main" cannot be opened: seed: `},
		{"requires", "workspaces: {main: {provider: mem://, fs: {readOnly: true}, requires: [write, watch]}}", "do not give: write"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := workspacekit.Open(t.Context(), writeConfig(t, t.TempDir(), tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Open = %v, want an error with %q", err, tt.want)
			}
		})
	}
	if _, err := workspacekit.Open(t.Context(), filepath.Join(t.TempDir(), "none.yaml")); err == nil {
		t.Error("Open of a file that is not there = nil, want an error")
	}
}

// TestToolsOfFile tests that the settings of the tools hold.
func TestToolsOfFile(t *testing.T) {
	workspaces := open(t, writeConfig(t, t.TempDir(), `
workspaces: {a: mem://, b: {provider: mem://, fs: {readOnly: true}}}
tools: {naming: "{name}_{op}", disable: [ls, move, copy, mkdir, rm, stat, glob], timeout: 1ns}
`))
	set, err := workspacekit.Tools(workspaces)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range set.Tools() {
		names = append(names, tool.Name)
	}
	want := "a_read_file a_write_file a_edit_file a_grep b_read_file b_grep"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("the tools are %s, want %s", got, want)
	}
	result, err := set.Tools()[0].Call(t.Context(), json.RawMessage(`{"path": "none"}`))
	if err != nil || !result.IsError || result.Error.Code != tools.CodeTimeout {
		t.Errorf("%s within a nanosecond = %+v, %v, want %s", set.Tools()[0].Name, result, err, tools.CodeTimeout)
	}
}
