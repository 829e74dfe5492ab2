package kind_test

import (
	"context"
	"fmt"
	"log"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
	"github.com/workspacekit/workspacekit/workspace/kind"
)

// options are the keys beside "kind" in a file.
type options struct {
	Greeting string `json:"greeting" jsonschema:"the content of hello.txt"`
}

// open opens a workspace with one file.
func open(ctx context.Context, in kind.Input) (workspace.FileSystem, error) {
	var o options
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	fsys := memory.New(nil)
	_, err := fsys.WriteFile(ctx, "hello.txt", []byte(o.Greeting), nil)
	return fsys, err
}

// A program adds a kind of its own, which files can name then.
func Example() {
	ctx := context.Background()
	registry := new(config.Registry)
	err := registry.Register("greeting", kind.Kind{Summary: "a file with a greeting", Options: options{}, Open: open})
	if err != nil {
		log.Fatal(err)
	}
	file := "workspaces:\n  main: { provider: { kind: greeting, greeting: Hello } }\n"
	c, err := config.Parse([]byte(file), &config.Options{Registry: registry})
	if err != nil {
		log.Fatal(err)
	}
	workspaces, err := c.Open(ctx, registry)
	if err != nil {
		log.Fatal(err)
	}
	defer workspaces.Close()
	main, _ := workspaces.Lookup("main")
	data, err := main.ReadFile(ctx, "hello.txt")
	fmt.Println(string(data), err)
	// Output: Hello <nil>
}
