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

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
)

// TestMCPServesBash has a client run scripts in a folder without a file, over the
// standard streams of a process: one with a result, and one that lasts, which reports its
// progress, and that the client cancels.
func TestMCPServesBash(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "waits for the progress of a script")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	told := make(chan float64, 1000)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			select {
			case told <- req.Params.Progress:
			default: // nobody waits for more
			}
		},
	})
	cmd := exec.Command("workspace", "-C", dir, "mcp")
	cmd.Stderr = os.Stderr
	session, err := client.Connect(ctx, &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	script := func(ctx context.Context, text string) (*sdk.CallToolResult, error) {
		arguments, err := json.Marshal(map[string]string{"script": text})
		if err != nil {
			return nil, err
		}
		params := &sdk.CallToolParams{Name: "workspace__main__bash", Arguments: json.RawMessage(arguments)}
		params.SetProgressToken("t")
		return session.CallTool(ctx, params)
	}

	result, err := script(ctx, "x=kept; sort -r a.txt > b.txt; cat b.txt; exit 3")
	if err != nil || result.IsError {
		t.Fatalf("the script has %+v, %v", result, err)
	}
	got, _ := json.Marshal(result.StructuredContent)
	var want struct {
		ExitCode int
		Output   string
		Changes  []struct{ Op, Workspace, Path string }
	}
	if err := json.Unmarshal(got, &want); err != nil || want.ExitCode != 3 || want.Output != "two\none\n" || len(want.Changes) != 1 || want.Changes[0].Path != "b.txt" {
		t.Errorf("the structured result is %s, %v", got, err)
	}
	text, ok := result.Content[0].(*sdk.TextContent)
	if !ok || !strings.HasPrefix(text.Text, "two\none\n[exit code 3]\n[wrote b.txt") {
		t.Errorf("the text is %+v", result.Content)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "b.txt")); err != nil || string(data) != "two\none\n" {
		t.Errorf("the file has %q, %v", data, err)
	}

	calling, cancelCall := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		_, err := script(calling, "while :; do sleep 1; done; echo never > c.txt")
		ended <- err
	}()
	select {
	case <-told:
	case err := <-ended:
		t.Fatalf("the endless script ends with %v", err)
	}
	cancelCall()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled call ends with %v", err)
	}
	// A shell runs one script at a time: the answer shows that the first has ended.
	result, err = script(ctx, "echo $x; ls")
	if err != nil {
		t.Fatal(err)
	}
	if text, ok := result.Content[0].(*sdk.TextContent); !ok || cmp.Diff("kept\na.txt\nb.txt", text.Text) != "" {
		t.Errorf("after the cancelled script: %+v", result.Content[0])
	}
	if err := session.Close(); err != nil || cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("Close() = %v, exit code %d", err, cmd.ProcessState.ExitCode())
	}
}
