package localbash_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// Commands run in the folder if its options say so. SandboxRequire would run them in
// bubblewrap, or not at all.
func ExampleRun() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	fsys, err := localbash.Open(dir, &localbash.Options{Run: &localbash.Run{Sandbox: localbash.SandboxOff}})
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()
	result, err := workspace.New("main", fsys, nil).Run(ctx, &workspace.RunOptions{
		Command: []string{"sh", "-c", "echo hello | tee greeting; exit 3"}, Stdout: os.Stdout,
	})
	if err != nil {
		log.Fatal(err)
	}
	data, err := fsys.ReadFile(ctx, "greeting")
	fmt.Println(result.ExitCode, len(data), err)
	// Output:
	// hello
	// 3 6 <nil>
}
