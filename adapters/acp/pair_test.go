package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/workspacekit/workspacekit/adapters/acp"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// editor is a client that serves a workspace and says what it is told to permissions.
type editor struct {
	*acp.Files
	acp.NoTerminals
	permit  func(context.Context, sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error)
	updates chan sdk.SessionNotification // nil: they are ignored
}

var _ sdk.Client = editor{}

func (e editor) RequestPermission(ctx context.Context, req sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	return e.permit(ctx, req)
}

func (e editor) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	if e.updates != nil {
		e.updates <- n
	}
	return nil
}

// agentFunc is an agent that does one thing when it is prompted.
type agentFunc struct {
	acp.PlainAgent
	prompt func(context.Context, sdk.PromptRequest) (sdk.PromptResponse, error)
}

var _ sdk.Agent = agentFunc{}

func (agentFunc) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	return sdk.InitializeResponse{ProtocolVersion: sdk.ProtocolVersionNumber, AuthMethods: []sdk.AuthMethod{}}, nil
}

func (agentFunc) NewSession(context.Context, sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	return sdk.NewSessionResponse{SessionId: "s"}, nil
}

func (a agentFunc) Prompt(ctx context.Context, req sdk.PromptRequest) (sdk.PromptResponse, error) {
	return a.prompt(ctx, req)
}

// ends are the two ends of a connection.
type ends struct {
	agent  *sdk.AgentSideConnection  // what the agent holds
	client *sdk.ClientSideConnection // what the editor holds
}

// connect connects an agent with a client. Both use the Go SDK.
func connect(t *testing.T, client sdk.Client, agent sdk.Agent) ends {
	t.Helper()
	fromAgent, toClient := io.Pipe()
	fromClient, toAgent := io.Pipe()
	t.Cleanup(func() {
		toClient.Close()
		toAgent.Close()
	})
	return ends{
		agent:  acp.ConnectAgent(agent, toClient, fromClient, testLog(t)),
		client: acp.ConnectClient(client, toAgent, fromAgent, testLog(t)),
	}
}

// testLog returns a logger for what no test should cause.
func testLog(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// agentOf returns the agent's end of a connection with an editor that serves files.
func agentOf(t *testing.T, files *acp.Files) *sdk.AgentSideConnection {
	t.Helper()
	return connect(t, editor{Files: files}, agentFunc{}).agent
}

func newFiles(t *testing.T, ws *workspace.Workspace, opts *acp.FilesOptions) *acp.Files {
	t.Helper()
	files, err := acp.NewFiles(ws, opts)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func newMemory(t testing.TB, files map[string]string) *memory.FS {
	t.Helper()
	fsys := memory.New(nil)
	for _, name := range slices.Sorted(maps.Keys(files)) { // in order, as versions count the writes
		if _, err := fsys.WriteFile(t.Context(), name, []byte(files[name]), nil); err != nil {
			t.Fatal(err)
		}
	}
	return fsys
}

// newFolder returns a folder with files. Its path has no symlinks.
func newFolder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(content), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func openFolder(t testing.TB, dir string) *localbash.FS {
	t.Helper()
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

func readText(t *testing.T, conn *sdk.AgentSideConnection, path string) (string, error) {
	t.Helper()
	answer, err := conn.ReadTextFile(t.Context(), sdk.ReadTextFileRequest{SessionId: "s", Path: path})
	return answer.Content, err
}

func writeText(t *testing.T, conn *sdk.AgentSideConnection, path, text string) error {
	t.Helper()
	_, err := conn.WriteTextFile(t.Context(), sdk.WriteTextFileRequest{SessionId: "s", Path: path, Content: text})
	return err
}

func saved(t *testing.T, fsys workspace.FileSystem, name string) string {
	t.Helper()
	data, err := fsys.ReadFile(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// requestError returns err as the JSON-RPC error that it is.
func requestError(t *testing.T, err error) *sdk.RequestError {
	t.Helper()
	failed, ok := errors.AsType[*sdk.RequestError](err)
	if !ok {
		t.Fatalf("the error is %v, want a *RequestError", err)
	}
	return failed
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
