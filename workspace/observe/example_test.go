package observe_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/observe"
)

// A notification is an observer: a function that is called after each operation.
func ExampleFunc() {
	notify := observe.Func(func(_ context.Context, e observe.Event) {
		if e.Changes() && e.Err == nil {
			fmt.Printf("%s %s in %s\n", e.Op, e.Path, e.Workspace)
		}
	})
	ws := workspace.New("notes", observe.New(memory.New(nil), "notes", notify), nil)
	ctx := context.Background()
	_, _ = ws.WriteFile(ctx, "todo.md", []byte("- buy milk\n"), nil)
	_, _ = ws.ReadFile(ctx, "todo.md")
	_ = ws.Rm(ctx, "todo.md", nil)
	// Output:
	// write_file todo.md in notes
	// rm todo.md in notes
}

// office is an observer that refuses changes while the office is closed.
type office struct {
	observe.Func
	closed bool
}

func (o *office) Before(ctx context.Context, e observe.Event) (context.Context, error) {
	if o.closed && e.Changes() {
		return ctx, errors.New("the office is closed")
	}
	return ctx, nil
}

// An observer can refuse an operation before it is carried out.
func ExampleObserver() {
	fsys := observe.New(memory.New(nil), "notes", &office{
		Func:   func(_ context.Context, e observe.Event) { fmt.Println(e.Op, e.Decision, e.Code) },
		closed: true,
	})
	err := fsys.Mkdir(context.Background(), "plans", nil)
	fmt.Println(err)
	// Output:
	// mkdir denied POLICY_DENIED
	// mkdir plans: forbidden by policy: the office is closed
}
