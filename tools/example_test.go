package tools_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

func Example() {
	ctx := context.Background()
	ws := workspace.New("docs", memory.New(nil), nil)
	if _, err := ws.WriteFile(ctx, "hello.txt", []byte("Hello, World!\n"), nil); err != nil {
		fmt.Println(err)
		return
	}
	set, err := tools.New(ws, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	// A model answers with the name of a tool and its arguments.
	tool, _ := set.Lookup("workspace__docs__grep")
	result, err := tool.Call(ctx, json.RawMessage(`{"pattern": "hello", "ignoreCase": true}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text)
	// Output:
	// 1 match in 1 file
	// hello.txt
	// 1:Hello, World!
}

func ExampleTool_Call_error() {
	ctx := context.Background()
	set, err := tools.New(workspace.New("docs", memory.New(nil), nil), &tools.Options{Naming: "{op}"})
	if err != nil {
		fmt.Println(err)
		return
	}
	tool, _ := set.Lookup("read_file")
	result, err := tool.Call(ctx, json.RawMessage(`{"path": "a.txt", "lines": "1-10"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.IsError, result.Error.Code)
	fmt.Println(result.Error.Message)
	fmt.Println(result.Error.Hint)
	// Output:
	// true INVALID_ARGUMENTS
	// unknown parameter "lines"
	// Did you mean "line"? The parameters are path, line, limit, tail, column, lineNumbers, unlessVersion, encoding.
}

func ExampleTool_Preflight() {
	ctx := context.Background()
	set, err := tools.New(workspace.New("docs", memory.New(nil), nil), &tools.Options{Naming: "{op}"})
	if err != nil {
		fmt.Println(err)
		return
	}
	tool, _ := set.Lookup("write_file")
	requests, err := tool.Preflight(ctx, json.RawMessage(`{"path": "/notes.txt", "content": "remember the milk\n"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range requests {
		fmt.Printf("%s %s\n%s", r.Op, r.Path, r.Diff)
	}
	// Output:
	// write notes.txt
	// --- a/notes.txt
	// +++ b/notes.txt
	// @@ -0,0 +1 @@
	// +remember the milk
}
