package mcp_test

import (
	"context"
	"fmt"
	"log"
	"net"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/adapters/mcp"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// The tools of a workspace in a server of one's own, and a client that calls one.
func ExampleAddTools() {
	ctx := context.Background()
	set, err := tools.New(workspace.New("notes", memory.New(nil), nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "mine", Version: "1"}, nil)
	mcp.AddTools(server, set)

	near, far := sdk.NewInMemoryTransports()
	if _, err := server.Connect(ctx, near, nil); err != nil {
		log.Fatal(err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx, far, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &sdk.CallToolParams{
		Name:      "workspace__notes__write_file",
		Arguments: map[string]any{"path": "todo.txt", "content": "buy milk\n"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.IsError)
	// Output: false
}

// A server of the tools and files of a workspace, for many clients over HTTP.
func ExampleServeHTTP() {
	ctx, cancel := context.WithCancel(context.Background())
	set, err := tools.New(workspace.New("notes", memory.New(nil), nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- mcp.ServeHTTP(ctx, mcp.NewServer(set, nil), listener, nil) }()

	client := sdk.NewClient(&sdk.Implementation{Name: "client", Version: "1"}, nil)
	session, err := client.Connect(ctx, &sdk.StreamableClientTransport{Endpoint: "http://" + listener.Addr().String() + mcp.HTTPPath}, nil)
	if err != nil {
		log.Fatal(err)
	}
	listed, err := session.ListTools(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(listed.Tools), "tools")
	session.Close()
	cancel()
	fmt.Println(<-served)
	// Output:
	// 14 tools
	// <nil>
}
