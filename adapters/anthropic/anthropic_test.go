package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/workspacekit/workspacekit/adapters/anthropic"
	"github.com/workspacekit/workspacekit/internal/modeltest"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestRequests tests what the client sends: the definitions, and the results of
// calls that succeed, that fail, and that return images and documents.
func TestRequests(t *testing.T) {
	t.Parallel()
	set := modeltest.NewSet(t)
	server := modeltest.New(`{"role": "assistant", "stop_reason": "tool_use", "content": [
		{"type": "text", "text": "Let me see."},
		{"type": "tool_use", "id": "1", "name": "grep", "input": {"pattern": "one"}},
		{"type": "tool_use", "id": "2", "name": "read_file", "input": {"path": "b.txt"}},
		{"type": "tool_use", "id": "3", "name": "bash", "input": {}},
		{"type": "tool_use", "id": "4", "name": "read_file", "input": {"path": "a.png"}},
		{"type": "tool_use", "id": "5", "name": "read_file", "input": {"path": "a.pdf"}}]}`,
		`{"role": "assistant", "content": [{"type": "text", "text": "I see."}]}`)
	defer server.Close()
	client := sdk.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("none"))
	if answer, err := ask(t.Context(), client, set, "What is there?"); answer != "I see." || err != nil {
		t.Fatalf("ask() = %q, %v", answer, err)
	}

	var request struct{ Tools, Messages json.RawMessage }
	if err := json.Unmarshal(server.Requests()[1], &request); err != nil {
		t.Fatal(err)
	}
	definitions, err := set.Definitions(tools.FormatAnthropic)
	if err != nil {
		t.Fatal(err)
	}
	if diff := modeltest.Diff(definitions, request.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	var messages []struct{ Content json.RawMessage }
	if err := json.Unmarshal(request.Messages, &messages); err != nil {
		t.Fatal(err)
	}
	want := `[
		{"type": "tool_result", "tool_use_id": "1", "is_error": false, "content": [
			{"type": "text", "text": "1 match in 1 file\na.txt\n1:one\n[not searched: 2 binary (a.pdf, a.png)]"}]},
		{"type": "tool_result", "tool_use_id": "2", "is_error": true, "content": [
			{"type": "text", "text": "FILE_NOT_FOUND: b.txt: file does not exist\nDid you mean \"a.txt\"?"}]},
		{"type": "tool_result", "tool_use_id": "3", "is_error": true, "content": [
			{"type": "text", "text": "INVALID_ARGUMENTS: there is no tool \"bash\"\nThe tools are read_file, read_files, write_file, edit_file, apply_patch, ls, tree, glob, grep, stat, mkdir, rm, move, copy."}]},
		{"type": "tool_result", "tool_use_id": "4", "is_error": false, "content": [
			{"type": "text", "text": "[a.png: image/png, 33 bytes, version 2]"},
			{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"}}]},
		{"type": "tool_result", "tool_use_id": "5", "is_error": false, "content": [
			{"type": "text", "text": "[a.pdf: application/pdf, 14 bytes, version 3]"},
			{"type": "document", "title": "a.pdf", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjcAJSVFT0Y="}}]}]`
	if diff := modeltest.Diff([]byte(want), messages[len(messages)-1].Content); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// TestNotShown tests that a result has no image of a type that the API would refuse.
func TestNotShown(t *testing.T) {
	t.Parallel()
	ws := workspace.New("test", memory.New(nil), nil)
	if _, err := ws.WriteFile(t.Context(), "a.svg", []byte("<svg/>"), nil); err != nil {
		t.Fatal(err)
	}
	set, err := tools.New(ws, &tools.Options{Dialect: tools.DialectMCPFilesystem})
	if err != nil {
		t.Fatal(err)
	}
	call := sdk.ContentBlockUnion{Type: "tool_use", Name: "read_media_file", Input: json.RawMessage(`{"path": "a.svg"}`)}
	result, err := anthropic.Call(t.Context(), set, call)
	encoded, _ := json.Marshal(result)
	if err != nil || !strings.Contains(string(encoded), "cannot be shown here") || strings.Contains(string(encoded), "image/svg+xml\",") {
		t.Errorf("Call() = %s, %v, want a note in place of the image", encoded, err)
	}
}

// TestEnded tests that a call whose context has ended is an error, and no result.
func TestEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	message := &sdk.Message{Content: []sdk.ContentBlockUnion{{Type: "tool_use", Name: "ls", Input: json.RawMessage("{}")}}}
	if results, err := anthropic.Run(ctx, modeltest.NewSet(t), message); !errors.Is(err, context.Canceled) {
		t.Errorf("Run() = %v, %v, want %v", results, err, context.Canceled)
	}
}
