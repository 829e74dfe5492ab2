package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
)

func ExampleSession_Undo() {
	backups, err := backup.New(memory.New(nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	set, err := tools.New(workspace.New("repo", backups, nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	session := tools.NewSession()
	ctx := tools.WithSession(context.Background(), session)
	write, _ := set.Lookup("write_file")
	for _, content := range []string{"first", "second"} {
		args, _ := json.Marshal(map[string]string{"path": "notes.md", "content": content})
		if _, err := write.Call(ctx, args); err != nil {
			log.Fatal(err)
		}
	}
	changes, err := session.Undo(ctx, backups, nil)
	if err != nil {
		log.Fatal(err)
	}
	data, _ := backups.ReadFile(ctx, "notes.md")
	fmt.Printf("%s %s is undone: %s\n", changes[0].Op, changes[0].Path, data)
	// Output: write_file notes.md is undone: first
}
