package mcp_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/workspacekit/workspacekit/adapters/mcp"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// serveVariable makes of the test binary a server on its standard streams.
const serveVariable = "WORKSPACEKIT_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) == "" {
		os.Exit(m.Run())
	}
	if err := serveStdio(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serveStdio() error {
	ctx := context.Background()
	fsys := memory.New(nil)
	if _, err := fsys.WriteFile(ctx, "a.txt", []byte("one\ntwo\n"), nil); err != nil {
		return err
	}
	set, err := tools.New(workspace.New("main", fsys, nil), nil)
	if err != nil {
		return err
	}
	return mcp.Serve(ctx, mcp.NewServer(set, nil), os.Stdin, os.Stdout, nil)
}
