package shell_test

import (
	"context"
	"fmt"
	"log"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// The files can be in a bucket as well. No process is started.
func ExampleShell_Run() {
	ctx := context.Background()
	repo := workspace.New("repo", memory.New(nil), nil)
	if _, err := repo.WriteFile(ctx, "src/main.go", []byte("package main // TODO\n"), nil); err != nil {
		log.Fatal(err)
	}
	s := shell.New([]*workspace.Workspace{repo}, nil)
	result, err := s.Run(ctx, `grep -rl TODO src | xargs sed -i s/TODO/DONE/; cat src/main.go`, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d %s", result.ExitCode, result.Output)
	for _, change := range result.Changes {
		fmt.Println(change.Path)
	}
	// Output:
	// 0 package main // DONE
	// src/main.go
}
