package backup_test

import (
	"context"
	"fmt"
	"log"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
)

func Example() {
	ctx := context.Background()
	fsys, err := backup.New(memory.New(nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	ws := workspace.New("repo", fsys, nil)
	for _, text := range []string{"first", "second"} {
		if _, err := ws.WriteFile(ctx, "notes.md", []byte(text), nil); err != nil {
			log.Fatal(err)
		}
	}
	changes, err := fsys.Undo(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	data, err := ws.ReadFile(ctx, "notes.md")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s of %s undone: %s\n", changes[0].Op, changes[0].Path, data)
	// Output: write_file of notes.md undone: first
}
