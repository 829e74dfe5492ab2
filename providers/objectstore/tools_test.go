package objectstore_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// TestTools calls every tool once, in an order in which each has what it needs.
func TestTools(t *testing.T) {
	for _, p := range profiles() {
		t.Run(p.name, func(t *testing.T) {
			fsys := inProcess(s3test.New(t, p.options), p.compat).empty(t)
			set, err := tools.New(workspace.New("bucket", fsys, nil), &tools.Options{Naming: "{op}"})
			if err != nil {
				t.Fatal(err)
			}
			called := map[string]bool{}
			for _, call := range []struct{ op, arguments, want string }{
				{"write_file", `{"path": "src/main.go", "content": "package main\n"}`, "src/main.go"},
				{"edit_file", `{"path": "src/main.go", "oldText": "main", "newText": "other"}`, "+package other"},
				{"read_file", `{"path": "src/main.go"}`, "package other"},
				{"read_files", `{"paths": ["src/main.go"]}`, "package other"},
				{"apply_patch", `{"patch": "*** Begin Patch\n*** Update File: src/main.go\n@@\n-package other\n+package others\n*** End Patch"}`, "M src/main.go +1 -1"},
				{"ls", `{"path": "src"}`, "main.go"},
				{"tree", `{}`, "main.go"},
				{"glob", `{"pattern": "**/*.go"}`, "src/main.go"},
				{"grep", `{"pattern": "^package o"}`, "package other"},
				{"stat", `{"path": "src/main.go"}`, "file"},
				{"mkdir", `{"path": "new"}`, "new"},
				{"copy", `{"source": "src/main.go", "destination": "new/copy.go"}`, "new/copy.go"},
				{"move", `{"source": "new/copy.go", "destination": "new/moved.go"}`, "new/moved.go"},
				{"rm", `{"path": "new", "recursive": true}`, "new"},
			} {
				called[call.op] = true
				tool, ok := set.Lookup(call.op)
				if !ok {
					t.Errorf("there is no tool %s", call.op)
					continue
				}
				result, err := tool.Call(t.Context(), json.RawMessage(call.arguments))
				if err != nil || result.IsError || !strings.Contains(result.Text, call.want) {
					t.Errorf("%s(%s) = %+v, %v, want a text with %q", call.op, call.arguments, result, err, call.want)
				}
			}
			for _, tool := range set.Tools() {
				if !called[tool.Op] {
					t.Errorf("the tool %s is not called", tool.Op)
				}
			}
			if paths, err := walked(t.Context(), fsys, ".", nil); err != nil || strings.Join(paths, " ") != "src src/main.go" {
				t.Errorf("what is left = %q, %v, want src/main.go", paths, err)
			}
		})
	}
}

// TestToolRemovesNames removes a directory with a key that is no name, where a
// rule could deny a name in it.
func TestToolRemovesNames(t *testing.T) {
	server := s3test.New(t, nil)
	for _, key := range []string{"p/d/f", "p/d//x"} {
		server.Put(bucket, key, nil)
	}
	fsys, err := policy.Restrict(inProcess(server, awsCompat()).open(t, "p", objectstore.Options{}), policy.Rules{DeniedPaths: []string{"*.env"}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.New(workspace.New("bucket", fsys, nil), &tools.Options{Naming: "{op}"})
	if err != nil {
		t.Fatal(err)
	}
	tool, _ := set.Lookup("rm")
	result, err := tool.Call(t.Context(), json.RawMessage(`{"path": "d", "recursive": true}`))
	if err != nil || result.Error == nil {
		t.Fatalf("rm = %+v, %v, want an error", result, err)
	}
	if e := result.Error; e.Code != tools.CodeNotEmpty || !strings.Contains(e.Hint, "no listing shows are left") {
		t.Errorf("rm = %s: %q, want %s with a hint that names are left", e.Code, e.Hint, tools.CodeNotEmpty)
	}
}

// TestRmLeavesOnlyUnlisted removes a directory where a rule could deny a name: of what listings
// show, only the directories of a key that is no name stay.
func TestRmLeavesOnlyUnlisted(t *testing.T) {
	server := s3test.New(t, nil)
	for _, key := range []string{"a.txt", "b/c.txt", "m/bad\tkey", "m/n.txt", "z.txt"} {
		server.Put(bucket, "p/h/"+key, nil)
	}
	fsys, err := policy.Restrict(inProcess(server, awsCompat()).open(t, "p", objectstore.Options{}), policy.Rules{DeniedPaths: []string{"**/secret"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := fsys.Rm(t.Context(), "h", &workspace.RmOptions{Recursive: true}); !errors.Is(err, workspace.ErrNotEmpty) {
		t.Errorf("recursive Rm(h) = %v, want %v", err, workspace.ErrNotEmpty)
	}
	if paths, err := walked(t.Context(), fsys, ".", nil); err != nil || !slices.Equal(paths, []string{"h", "h/m"}) {
		t.Errorf("Walk after Rm(h) = %q, %v, want h and h/m", paths, err)
	}
	if _, ok := server.Get(bucket, "p/h/m/bad\tkey"); !ok {
		t.Error("Rm(h) has removed a key that it cannot have tested")
	}
}
