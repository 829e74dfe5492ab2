package webdav_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/workspacekit/workspacekit/adapters/webdav"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ws := workspace.New("notes", memory.New(nil), nil)
	_, _ = ws.WriteFile(ctx, "hello.txt", []byte("Hello, file manager!"), nil)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error)
	go func() { ended <- webdav.Serve(ctx, ws, listener, nil) }()

	answer, err := http.Get("http://" + listener.Addr().String() + "/hello.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	fmt.Println(answer.Status, string(text))

	cancel()
	fmt.Println(<-ended)
	// Output:
	// 200 OK Hello, file manager!
	// <nil>
}
