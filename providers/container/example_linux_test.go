package container_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/workspacekit/workspacekit/providers/container"
)

// Any program that starts a shell elsewhere will do. No words at all mean this computer,
// which is for tests; []string{"ssh", "host"} would be another one.
func ExampleCommand() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	fsys, err := container.Open(ctx, &container.Options{Executor: container.Command{}, Root: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()
	if _, err := fsys.WriteFile(ctx, "notes/todo.md", []byte("buy milk\n"), nil); err != nil {
		log.Fatal(err)
	}
	names, err := fsys.Glob(ctx, "**/*.md", nil)
	fmt.Println(names, err)
	// Output: [notes/todo.md] <nil>
}
