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

// A run that reaches a budget ends, and the shell goes on with the next.
func ExampleOptions() {
	ctx := context.Background()
	repo := workspace.New("repo", memory.New(nil), nil)
	s := shell.New([]*workspace.Workspace{repo}, &shell.Options{Commands: 100})
	for _, script := range []string{"cd /tmp; while true; do :; done", "pwd"} {
		result, err := s.Run(ctx, script, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(result.ExitCode, " ", result.Output)
	}
	// Output:
	// 137 bash: stopped: more than 100 commands (budget Commands)
	// 0 /tmp
}
