package jobs_test

import (
	"context"
	"fmt"
	"io"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/jobs"
)

// greeter is a machine on which every command says hello.
type greeter struct{}

func (greeter) Run(_ context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
	_, err := io.WriteString(opts.Stdout, "hello")
	return &workspace.RunResult{}, err
}

func Example() {
	ctx := context.Background()
	all := jobs.New(greeter{}, nil) // a *workspace.Workspace that can run commands
	defer all.Close()
	id, err := all.Start(ctx, &workspace.RunOptions{Command: []string{"make", "serve"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := all.Wait(ctx, id); err != nil {
		fmt.Println(err)
	}
	out, err := all.Output(id, 0)
	fmt.Printf("%s, %d bytes, %v\n", out.Data, out.Next, err)
	// Output: hello, 5 bytes, <nil>
}
