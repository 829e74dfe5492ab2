package container_test

import (
	"context"
	"fmt"
	"os"

	"github.com/workspacekit/workspacekit/providers/container"
)

// The empty Command is a shell on this computer. Others are as short:
// container.Docker("name"), container.Kubectl("pod", "container"), or
// container.Command{"ssh", "host"}.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	fsys, err := container.Open(ctx, &container.Options{Executor: container.Command{}, Root: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer fsys.Close()
	if _, err := fsys.WriteFile(ctx, "notes/today.txt", []byte("ship it\n"), nil); err != nil {
		fmt.Println(err)
		return
	}
	result, err := fsys.Grep(ctx, "ship", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, match := range result.Matches {
		fmt.Printf("%s:%d: %s\n", match.Path, match.LineNumber, match.Line)
	}
	// Output: notes/today.txt:1: ship it
}
