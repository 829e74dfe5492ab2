package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestFollowNoticesThatTheFileChanges writes between two pages of a read.
func TestFollowNoticesThatTheFileChanges(t *testing.T) {
	fsys := memory.New(nil)
	write := func(line string) {
		if _, err := fsys.WriteFile(t.Context(), "a", []byte(strings.Repeat(line+"\n", 3000)), nil); err != nil {
			t.Fatal(err)
		}
	}
	write("old")
	set, err := tools.New(workspace.New("main", fsys, nil), &tools.Options{Naming: "{op}"})
	if err != nil {
		t.Fatal(err)
	}
	i := &invocation{op: ops.ReadFile, all: true}
	shown := 0
	err = i.follow(t.Context(), set, json.RawMessage(`{"path": "a"}`), func(json.RawMessage) error {
		shown++
		write("new")
		return nil
	})
	var refused *toolError
	if !errors.As(err, &refused) || refused.tool.Code != tools.CodeConflict || refused.tool.Path != "a" {
		t.Errorf("follow() = %v, want %s for a", err, tools.CodeConflict)
	}
	if shown != 1 {
		t.Errorf("follow() showed %d pages, want the first only", shown)
	}
}
