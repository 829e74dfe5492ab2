package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/adapters/mcp"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// deadline is how long a test waits for what must happen.
const deadline = 20 * time.Second

func newSet(t *testing.T, fsys workspace.FileSystem) *tools.Set {
	t.Helper()
	set, err := tools.New(workspace.New("main", fsys, nil), &tools.Options{Run: true})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func newMemory(t *testing.T, files map[string]string) *memory.FS {
	t.Helper()
	fsys := memory.New(nil)
	for name, content := range files {
		if _, err := fsys.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	return fsys
}

// connect returns a client of a server that [mcp.Serve] runs for fsys.
func connect(t *testing.T, fsys workspace.FileSystem) *sdk.ClientSession {
	t.Helper()
	server := mcp.NewServer(newSet(t, fsys), nil)
	return connectTo(t, func(ctx context.Context, in io.Reader, out io.Writer) error {
		return mcp.Serve(ctx, server, in, out, nil)
	})
}

// connectTo returns a client of the server that serve is.
func connectTo(t *testing.T, serve func(ctx context.Context, in io.Reader, out io.Writer) error) *sdk.ClientSession {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- serve(context.WithoutCancel(t.Context()), fromClient, toClient)
		toClient.Close()
	}()
	session := newSession(t, &sdk.IOTransport{Reader: fromServer, Writer: toServer})
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
		// The answer of a cancelled call may come when the client is closed.
		if err := <-ended; err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Serve() = %v, want nil", err)
		}
	})
	return session
}

func newSession(t *testing.T, transport sdk.Transport) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// call calls the tool for op.
func call(t *testing.T, session *sdk.ClientSession, op, args string) *sdk.CallToolResult {
	t.Helper()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{
		Name: "workspace__main__" + op, Arguments: json.RawMessage(args),
	})
	if err != nil {
		t.Fatalf("CallTool(%s, %s) = %v", op, args, err)
	}
	return result
}

func textOf(t *testing.T, result *sdk.CallToolResult) string {
	t.Helper()
	if len(result.Content) == 0 {
		t.Fatal("result has no content")
	}
	text, ok := result.Content[0].(*sdk.TextContent)
	if !ok {
		t.Fatalf("first content is %T, want text", result.Content[0])
	}
	return text.Text
}

// remarshal decodes what has been decoded to any into a type.
func remarshal(t *testing.T, from, to any) {
	t.Helper()
	data, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
}

// receive returns what c has to say before the deadline.
func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(deadline):
		t.Fatal("nothing happened before the deadline")
		panic("unreachable")
	}
}
