package workspace_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// A program holds a Workspace, whichever file system is below it.
func Example() {
	ctx := context.Background()
	ws := workspace.New("notes", memory.New(nil), nil)
	if _, err := ws.WriteFile(ctx, "2026/todo.md", []byte("buy milk\ncall home\n"), nil); err != nil {
		log.Fatal(err)
	}
	infos, err := ws.Ls(ctx, "2026", nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, info := range infos {
		fmt.Println(info.Path, info.Size)
	}
	result, err := ws.Grep(ctx, "milk|bread", &workspace.GrepOptions{Path: "2026"})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range result.Matches {
		fmt.Printf("%s:%d: %s\n", m.Path, m.LineNumber, m.Line)
	}
	// Output:
	// 2026/todo.md 19
	// 2026/todo.md:1: buy milk
}

// Edit reads, changes and writes again until nobody has changed the file in between, so
// that no change is lost.
func ExampleWorkspace_Edit() {
	ctx := context.Background()
	ws := workspace.New("notes", memory.New(nil), nil)
	if _, err := ws.WriteFile(ctx, "todo.md", []byte("buy milk\n"), nil); err != nil {
		log.Fatal(err)
	}
	data, _, err := ws.Edit(ctx, "todo.md", func(old []byte) ([]byte, error) {
		return bytes.ReplaceAll(old, []byte("milk"), []byte("bread")), nil
	})
	fmt.Printf("%s%v\n", data, err)
	// Output:
	// buy bread
	// <nil>
}

// An optional operation is a method of Workspace and a function of the package, which
// does without the store's help where it has none.
func ExampleWalk() {
	ctx := context.Background()
	fsys := memory.New(nil)
	for _, name := range []string{"a/b.txt", "a/c/d.txt"} {
		if _, err := fsys.WriteFile(ctx, name, nil, nil); err != nil {
			log.Fatal(err)
		}
	}
	err := workspace.Walk(ctx, fsys, ".", nil, func(info workspace.FileInfo, err error) error {
		fmt.Println(info.Path)
		return err
	})
	fmt.Println(err)
	// Output:
	// a
	// a/b.txt
	// a/c
	// a/c/d.txt
	// <nil>
}
