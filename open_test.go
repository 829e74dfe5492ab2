package workspacekit_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// TestOpenWithoutFile tests that the current directory is the workspace main
// where no file is named or found.
func TestOpenWithoutFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.txt", "text")
	t.Chdir(dir)
	t.Setenv(config.EnvFile, "")
	ws, ok := open(t, "").Lookup("main")
	if !ok {
		t.Fatal(`there is no workspace "main"`)
	}
	if data, err := ws.ReadFile(t.Context(), "a.txt"); string(data) != "text" {
		t.Errorf("ReadFile(a.txt) = %q, %v, want %q", data, err, "text")
	}
	write(t, dir, config.FileName, "workspaces: {found: {provider: mem://}}")
	if _, ok := open(t, "").Lookup("found"); !ok {
		t.Errorf("Open does not open the %s of the current directory", config.FileName)
	}
	t.Setenv(config.EnvFile, write(t, t.TempDir(), config.FileName, "workspaces: {named: {provider: mem://}}"))
	if _, ok := open(t, "").Lookup("named"); !ok {
		t.Errorf("Open does not open the file that %s names", config.EnvFile)
	}
}

// write writes a file and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// open opens the workspaces of a file and closes them after the test.
func open(t *testing.T, path string) *config.Workspaces {
	t.Helper()
	workspaces, err := workspacekit.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := workspaces.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
	})
	return workspaces
}

func TestOpenRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"broken", "workspaces: {main: {provider: {kind: memroy}}}", `did you mean "memory"?`},
		{"folder", "workspaces: {main: {provider: {kind: localbash, root: none}}}", `the workspace "main" cannot be opened: root: `},
		{"seed", "workspaces: {main: {provider: {kind: memory, seed: none}}}", `the workspace "main" cannot be opened: seed: `},
		{"requires", "workspaces: {main: {provider: mem://, requires: [run, watch]}}", "its provider (memory) runs no commands"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := workspacekit.Open(t.Context(), write(t, t.TempDir(), config.FileName, tt.text))
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
	workspaces := open(t, write(t, t.TempDir(), config.FileName, `
workspaces: {a: mem://, b: {provider: mem://, fs: {readOnly: true}}}
tools: {naming: "{name}_{op}", disable: [ls, move, copy, mkdir, rm, stat, glob], timeout: 1ns, strict: true}
`))
	set, err := workspacekit.Tools(workspaces)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range set.Tools() {
		names = append(names, tool.Name)
	}
	want := "a_read_file a_read_files a_write_file a_edit_file a_apply_patch a_tree a_grep b_read_file b_read_files b_tree b_grep"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("the tools are %s, want %s", got, want)
	}
	result, err := set.Tools()[0].Call(t.Context(), json.RawMessage(`{"path": "none", "line": "1"}`))
	if err != nil || !result.IsError || result.Error.Code != tools.CodeInvalidArguments {
		t.Errorf("%s with \"1\" for 1 = %+v, %v, want %s", set.Tools()[0].Name, result, err, tools.CodeInvalidArguments)
	}
	result, err = set.Tools()[0].Call(t.Context(), json.RawMessage(`{"path": "none"}`))
	if err != nil || !result.IsError || result.Error.Code != tools.CodeTimeout {
		t.Errorf("%s within a nanosecond = %+v, %v, want %s", set.Tools()[0].Name, result, err, tools.CodeTimeout)
	}
}

// TestToolsErrors tests that what package tools refuses has its place in the file, and no
// value of the environment.
func TestToolsErrors(t *testing.T) {
	t.Setenv("WORD", "hunter2")
	tests := []struct{ name, text, want string }{
		{"disable", "workspaces: {a: mem://}\ntools: {dialect: anthropic, disable: [\"${WORD}\"]}", `:2:39: tools: cannot disable "${WORD}": `},
		{"length", "workspaces: {a: mem://}\ntools: {naming: \"${WORD}" + strings.Repeat("n", 60) + "-{op}\"}", `:2:17: tools: tool name "${WORD}nnn`},
		{"collision", "workspaces: {a: mem://, b: mem://}\ntools: {dialect: anthropic, shared: false}", `:2:8: tools: tool name "str_replace_based_edit_tool" collides: `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := workspacekit.Tools(open(t, write(t, t.TempDir(), config.FileName, tt.text)))
			var placed *config.Error
			if !errors.As(err, &placed) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("Tools = %v, want an error with %s", err, tt.want)
			}
		})
	}
}
