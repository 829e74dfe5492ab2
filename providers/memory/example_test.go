package memory_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

func ExampleNew() {
	ctx := context.Background()
	fsys := memory.New(nil)
	version, err := fsys.WriteFile(ctx, "notes/todo.md", []byte("buy milk\n"), nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := fsys.WriteFile(ctx, "notes/todo.md", []byte("buy bread\n"), nil); err != nil {
		log.Fatal(err)
	}
	// The file has another version by now.
	_, err = fsys.WriteFile(ctx, "notes/todo.md", []byte("buy oats\n"), &workspace.WriteOptions{IfVersion: version})
	fmt.Println(errors.Is(err, workspace.ErrConflict))
	data, err := fsys.ReadFile(ctx, "notes/todo.md")
	fmt.Printf("%s%v\n", data, err)
	// Output:
	// true
	// buy bread
	// <nil>
}
