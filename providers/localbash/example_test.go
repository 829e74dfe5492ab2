package localbash_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// Names and symlinks that lead out of the folder are refused.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()
	if _, err := fsys.WriteFile(ctx, "src/main.go", []byte("package main\n"), nil); err != nil {
		log.Fatal(err)
	}
	result, err := fsys.Grep(ctx, `^package (\w+)`, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range result.Matches {
		fmt.Printf("%s:%d: %s\n", m.Path, m.LineNumber, m.Line)
	}
	_, err = workspace.New("main", fsys, nil).ReadFile(ctx, "src/../../secret")
	fmt.Println(errors.Is(err, workspace.ErrEscape))
	// Output:
	// src/main.go:1: package main
	// true
}
