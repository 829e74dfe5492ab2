package googleai_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"google.golang.org/genai"

	"github.com/workspacekit/workspacekit/adapters/googleai"
	"github.com/workspacekit/workspacekit/internal/modeltest"
	"github.com/workspacekit/workspacekit/tools"
)

// TestRequests tests what the client sends: the definitions, and the results of
// calls that succeed, that fail, and that return images and documents.
func TestRequests(t *testing.T) {
	t.Parallel()
	set := modeltest.NewSet(t)
	server := modeltest.New(`{"candidates": [{"content": {"role": "model", "parts": [
		{"text": "Let me see."},
		{"functionCall": {"id": "1", "name": "grep", "args": {"pattern": "one"}}},
		{"functionCall": {"name": "read_file", "args": {"path": "b.txt"}}},
		{"functionCall": {"id": "3", "name": "bash"}},
		{"functionCall": {"id": "4", "name": "read_file", "args": {"path": "a.png"}}},
		{"functionCall": {"id": "5", "name": "read_file", "args": {"path": "a.pdf"}}}]}}]}`,
		`{"candidates": [{"content": {"role": "model", "parts": [{"text": "I see."}]}}]}`)
	defer server.Close()
	client, err := newClient(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := ask(t.Context(), client, set, "What is there?"); answer != "I see." || err != nil {
		t.Fatalf("ask() = %q, %v", answer, err)
	}

	var request struct {
		Tools    json.RawMessage
		Contents []struct{ Parts json.RawMessage }
	}
	if err := json.Unmarshal(server.Requests()[1], &request); err != nil {
		t.Fatal(err)
	}
	definitions, err := set.Definitions(tools.FormatGemini)
	if err != nil {
		t.Fatal(err)
	}
	if diff := modeltest.Diff(definitions, request.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	want := `[
		{"functionResponse": {"id": "1", "name": "grep", "response": {"output": "1 match in 1 file\na.txt\n1:one\n[not searched: 2 binary (a.pdf, a.png)]"}}},
		{"functionResponse": {"name": "read_file", "response": {"error": "FILE_NOT_FOUND: b.txt: file does not exist\nDid you mean \"a.txt\"?"}}},
		{"functionResponse": {"id": "3", "name": "bash", "response": {"error": "INVALID_ARGUMENTS: there is no tool \"bash\"\nThe tools are read_file, read_files, write_file, edit_file, apply_patch, ls, tree, glob, grep, stat, mkdir, rm, move, copy."}}},
		{"functionResponse": {"id": "4", "name": "read_file", "response": {"output": "[a.png: image/png, 9 bytes, version 2]"},
			"parts": [{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgoA"}}]}},
		{"functionResponse": {"id": "5", "name": "read_file", "response": {"output": "[a.pdf: application/pdf, 9 bytes, version 3]"},
			"parts": [{"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0xLjcA"}}]}}]`
	if diff := modeltest.Diff([]byte(want), request.Contents[len(request.Contents)-1].Parts); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// TestEnded tests that a call whose context has ended is an error, and no result.
func TestEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if result, err := googleai.Call(ctx, modeltest.NewSet(t), &genai.FunctionCall{Name: "ls"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Call() = %v, %v, want %v", result, err, context.Canceled)
	}
}
