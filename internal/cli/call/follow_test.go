package call

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/cli/view"
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
	tool, ok := set.Lookup(ops.ReadFile)
	if !ok {
		t.Fatal("there is no tool to read a file")
	}
	i := &invocation{Operation: Operation{Op: ops.ReadFile}, all: true}
	args := arguments{values: map[string]any{"path": "a"}}
	v := &changer{change: func() { write("new") }}
	err = i.follow(t.Context(), tool, args, json.RawMessage(`{"path": "a"}`), v)
	var refused *term.ToolError
	if !errors.As(err, &refused) || refused.Tool.Code != tools.CodeConflict || refused.Tool.Path != "a" {
		t.Errorf("follow() = %v, want %s for a", err, tools.CodeConflict)
	}
	if refused != nil && refused.Tool.Retryable != refused.Tool.Code.Retryable() {
		t.Errorf("follow() = %v with retryable %v", err, refused.Tool.Retryable)
	}
	if v.shown != 1 {
		t.Errorf("follow() showed %d pages, want the first only", v.shown)
	}
}

// TestFollowStopsWithoutProgress continues a page by itself.
func TestFollowStopsWithoutProgress(t *testing.T) {
	fsys := memory.New(nil)
	if _, err := fsys.WriteFile(t.Context(), "a", []byte("one\n"), nil); err != nil {
		t.Fatal(err)
	}
	set, err := tools.New(workspace.New("main", fsys, nil), &tools.Options{Naming: "{op}"})
	if err != nil {
		t.Fatal(err)
	}
	tool, _ := set.Lookup(ops.ReadFile)
	i := &invocation{Operation: Operation{Op: ops.ReadFile}, all: true}
	v := &stuck{}
	err = i.follow(t.Context(), tool, arguments{values: map[string]any{"path": "a"}}, json.RawMessage(`{"path": "a"}`), v)
	if err == nil || !strings.Contains(err.Error(), "leads to itself") || v.taken != 2 {
		t.Errorf("follow() = %v after %d pages, want an error after 2", err, v.taken)
	}
}

// stuck is a view of pages that lead to themselves.
type stuck struct {
	view.JSON
	taken int
}

func (s *stuck) Take(*tools.Result) (view.Page, error) {
	if s.taken++; s.taken > 9 {
		return view.Page{}, nil
	}
	return view.Page{NextLine: 1}, nil
}

func (s *stuck) Show() {}

// changer is a view that changes the file when it shows a page.
type changer struct {
	view.JSON
	change func()
	shown  int
}

func (c *changer) Show() {
	c.shown++
	c.change()
}
