package acp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/workspacekit/workspacekit/adapters/acp"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// exampleEditor is an editor that records what its agent calls, and approves nothing. The
// connection handles notifications in order and before the response to the prompt, but
// beside the agent's requests.
type exampleEditor struct {
	*acp.Files
	acp.NoTerminals
	calls []string
}

func (*exampleEditor) RequestPermission(context.Context, sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
}

func (e *exampleEditor) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	if call := n.Update.ToolCall; call != nil {
		e.calls = append(e.calls, fmt.Sprintf("%s: %s", call.Kind, call.Title))
	}
	return nil
}

// exampleAgent is an agent whose model always wants the same.
type exampleAgent struct {
	acp.PlainAgent
	conn  *sdk.AgentSideConnection
	below workspace.FileSystem
	can   sdk.FileSystemCapabilities
	root  string
}

func (a *exampleAgent) SetAgentConnection(c *sdk.AgentSideConnection) { a.conn = c }

func (a *exampleAgent) Initialize(_ context.Context, req sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	a.can = req.ClientCapabilities.Fs
	return sdk.InitializeResponse{ProtocolVersion: sdk.ProtocolVersionNumber, AuthMethods: []sdk.AuthMethod{}}, nil
}

func (a *exampleAgent) NewSession(_ context.Context, req sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	a.root = req.Cwd
	return sdk.NewSessionResponse{SessionId: "1"}, nil
}

func (a *exampleAgent) Prompt(ctx context.Context, req sdk.PromptRequest) (sdk.PromptResponse, error) {
	fsys, err := acp.NewFS(a.below, a.conn, req.SessionId, a.can, &acp.FSOptions{Root: a.root})
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	set, err := tools.New(workspace.New("main", fsys, nil), &tools.Options{Naming: "{op}"})
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	caller := acp.NewCaller(a.conn, req.SessionId, a.root, set, nil)
	edit := `{"path": "greeting.txt", "oldText": "Good morning", "newText": "Good evening"}`
	_, err = caller.Call(ctx, "", "edit_file", json.RawMessage(edit))
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, err
}

// An editor and an agent over the same files. The user has typed "Good morning" and not
// saved it. The agent changes that, and not what is saved.
func Example() {
	ctx := context.Background()
	fsys := memory.New(nil)
	if _, err := fsys.WriteFile(ctx, "greeting.txt", []byte("Hello, world\n"), nil); err != nil {
		log.Fatal(err)
	}
	ws := workspace.New("main", fsys, nil)
	typed := "Good morning, world\n"
	files, err := acp.NewFiles(ws, &acp.FilesOptions{
		Roots: []string{"/work"},
		Unsaved: func(_ context.Context, name string) (string, bool) {
			return typed, name == "greeting.txt" && typed != ""
		},
		BeforeWrite: func(_ context.Context, name, text string) error {
			fmt.Printf("the agent writes %s: %s\n", name, strings.TrimSpace(text))
			typed = ""
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	fromEditor, toAgent := io.Pipe() // the standard streams of a child process
	fromAgent, toEditor := io.Pipe()
	agent := &exampleAgent{below: fsys}
	acp.ConnectAgent(agent, toEditor, fromEditor, nil)

	editor := &exampleEditor{Files: files}
	conn := acp.ConnectClient(editor, toAgent, fromAgent, nil)
	if _, err := conn.Initialize(ctx, sdk.InitializeRequest{
		ProtocolVersion:    sdk.ProtocolVersionNumber,
		ClientCapabilities: sdk.ClientCapabilities{Fs: files.Capabilities()},
	}); err != nil {
		log.Fatal(err)
	}
	session, err := conn.NewSession(ctx, sdk.NewSessionRequest{Cwd: "/work", McpServers: []sdk.McpServer{}})
	if err != nil {
		log.Fatal(err)
	}
	prompt := []sdk.ContentBlock{sdk.TextBlock("Greet in the evening.")}
	if _, err := conn.Prompt(ctx, sdk.PromptRequest{SessionId: session.SessionId, Prompt: prompt}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Join(editor.calls, "\n"))
	data, err := ws.ReadFile(ctx, "greeting.txt")
	fmt.Print(string(data))
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// the agent writes greeting.txt: Good evening, world
	// edit: Edit file greeting.txt
	// Good evening, world
}
