package bashtool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/shell/bashtool"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

func ExampleNew() {
	ws := workspace.New("notes", memory.New(nil), nil)
	set, err := tools.New(ws, &tools.Options{Bash: bashtool.New(nil)})
	if err != nil {
		log.Fatal(err)
	}
	result, err := set.Call(context.Background(), "bash", json.RawMessage(`{"script": "seq 3 | tac"}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text)
	// Output:
	// 3
	// 2
	// 1
}
