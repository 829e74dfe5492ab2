package workspacekit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

func Example() {
	ctx := context.Background()
	files := workspace.New("notes", memory.New(nil), nil)
	if _, err := files.WriteFile(ctx, "todo.md", []byte("- buy milk\n- call home\n"), nil); err != nil {
		log.Fatal(err)
	}
	set, err := tools.New(files, nil) // workspace__notes__read_file, …__grep, and so on
	if err != nil {
		log.Fatal(err)
	}
	grep, _ := set.Lookup("grep")
	result, err := grep.Call(ctx, json.RawMessage(`{"pattern": "milk|bread"}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text)
	// Output:
	// 1 match in 1 file
	// todo.md
	// 1:- buy milk
}
