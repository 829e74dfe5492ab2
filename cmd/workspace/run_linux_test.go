package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCPRunsCommands has a client run commands in a folder, over the standard streams of a
// process: one that a person allows, one that is refused, and one that lasts, which reports
// its progress, and that the client cancels. A client that cannot be asked is refused.
func TestMCPRunsCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "run.yaml")
	if err := os.WriteFile(file, []byte("workspaces:\n  main: { provider: { kind: localbash, root: ., run: { enabled: true } } }\ntools: { run: true }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	told := make(chan float64, 1000)
	asked := make(chan string, 10)
	decisions := make(chan string, 10)
	serve := func(opts *sdk.ClientOptions) *sdk.ClientSession {
		cmd := exec.Command("workspace", "--config", file, "mcp")
		cmd.Stderr = os.Stderr
		cmd.Env = append(os.Environ(), "HOST_SECRET=of-the-host")
		session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, opts).Connect(ctx, &sdk.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := session.Close(); err != nil || cmd.ProcessState.ExitCode() != 0 {
				t.Errorf("Close() = %v, exit code %d", err, cmd.ProcessState.ExitCode())
			}
		})
		return session
	}
	run := func(ctx context.Context, session *sdk.ClientSession, line string) (*sdk.CallToolResult, string, error) {
		arguments, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			return nil, "", err
		}
		params := &sdk.CallToolParams{Name: "workspace__main__run", Arguments: json.RawMessage(arguments)}
		params.SetProgressToken("t")
		result, err := session.CallTool(ctx, params)
		if err != nil {
			return nil, "", err
		}
		return result, result.Content[0].(*sdk.TextContent).Text, nil
	}

	session := serve(&sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			select {
			case told <- req.Params.Progress:
			default: // nobody waits for more
			}
		},
		ElicitationHandler: func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			asked <- req.Params.Message
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": <-decisions}}, nil
		},
	})
	decisions <- "allow"
	result, text, err := run(ctx, session, "echo out; echo err >&2; echo x > made; env; exit 3")
	if err != nil || result.IsError || !strings.HasPrefix(text, "out\nerr\n") || !strings.HasSuffix(text, "\n[exit code 3]") || strings.Contains(text, "of-the-host") {
		t.Fatalf("the command has %+v, %q, %v", result, text, err)
	}
	if question := <-asked; !strings.Contains(question, "echo x > made") {
		t.Errorf("the question is %q, want the command", question)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err != nil {
		t.Error(err)
	}
	decisions <- "deny"
	if result, text, err := run(ctx, session, "echo x > denied"); err != nil || !result.IsError {
		t.Errorf("the refused command has %+v, %q, %v", result, text, err)
	}

	decisions <- "allow"
	calling, cancelCall := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		_, _, err := run(calling, session, "sleep 1000; echo x > late")
		ended <- err
	}()
	select {
	case <-told:
	case err := <-ended:
		t.Errorf("the command that lasts ends with %v", err)
	}
	cancelCall()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled call ends with %v", err)
	}

	silent := serve(nil)
	if result, text, err := run(ctx, silent, "echo x > unasked"); err != nil || !result.IsError || !strings.Contains(text, "elicitation") {
		t.Errorf("a client that cannot be asked has %+v, %q, %v", result, text, err)
	}
	for _, name := range []string{"denied", "late", "unasked"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("there is a file %s", name)
		}
	}
}
