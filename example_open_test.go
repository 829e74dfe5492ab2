package workspacekit_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// A file chooses where the workspaces are, and what may be done with them.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, "workspace.yaml")
	err = os.WriteFile(path, []byte(`
workspaces:
  repo:
    provider: { kind: localbash, root: . }
    fs: { readOnly: true, allowedPaths: ["*.yaml"] }
  scratch: mem://
tools:
  disable: [move, copy]
`), 0o600)
	if err != nil {
		log.Fatal(err)
	}

	workspaces, err := workspacekit.Open(context.Background(), path)
	if err != nil {
		log.Fatal(err)
	}
	set, err := workspacekit.Tools(workspaces)
	if err != nil {
		log.Fatal(err)
	}
	for _, tool := range set.Tools() {
		fmt.Println(tool.Name)
	}
	if err := errors.Join(workspaces.Close(), os.RemoveAll(dir)); err != nil {
		log.Fatal(err)
	}
	// Output:
	// workspace__repo__read_file
	// workspace__repo__read_files
	// workspace__repo__ls
	// workspace__repo__tree
	// workspace__repo__glob
	// workspace__repo__grep
	// workspace__repo__stat
	// workspace__scratch__read_file
	// workspace__scratch__read_files
	// workspace__scratch__write_file
	// workspace__scratch__edit_file
	// workspace__scratch__apply_patch
	// workspace__scratch__ls
	// workspace__scratch__tree
	// workspace__scratch__glob
	// workspace__scratch__grep
	// workspace__scratch__stat
	// workspace__scratch__mkdir
	// workspace__scratch__rm
}

// A registry opens workspaces by their URLs, and opens them again from a reference, which
// another process can have stored.
func ExampleNewRegistry() {
	ctx := context.Background()
	registry := workspacekit.NewRegistry()
	notes, err := registry.OpenURL(ctx, "notes", "mem://", config.FS{})
	if err != nil {
		log.Fatal(err)
	}
	defer notes.Close()
	if _, err := notes.WriteFile(ctx, "todo.md", []byte("buy milk\n"), nil); err != nil {
		log.Fatal(err)
	}
	ref, err := notes.Ref(ctx)
	if err != nil {
		log.Fatal(err)
	}
	again, err := registry.Resolve(ctx, ref)
	if err != nil {
		log.Fatal(err)
	}
	defer again.Close()
	data, err := again.ReadFile(ctx, "todo.md")
	fmt.Printf("%s: %s%v\n", again.Name(), data, err)
	// Output:
	// notes: buy milk
	// <nil>
}
