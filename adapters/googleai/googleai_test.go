package googleai_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/workspacekit/workspacekit/adapters/googleai"
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
		{"functionResponse": {"id": "4", "name": "read_file", "response": {"output": "[a.png: image/png, 33 bytes, version 2]"},
			"parts": [{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"}}]}},
		{"functionResponse": {"id": "5", "name": "read_file", "response": {"output": "[a.pdf: application/pdf, 14 bytes, version 3]"},
			"parts": [{"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0xLjcAJSVFT0Y="}}]}}]`
	if diff := modeltest.Diff([]byte(want), request.Contents[len(request.Contents)-1].Parts); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// TestNotShown tests that a request has no images that the API would refuse: those in
// results before Gemini 3, and GIF.
func TestNotShown(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	ws := workspace.New("test", memory.New(nil), nil)
	for name, content := range map[string]string{"a.png": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89", "a.gif": "GIF89a\x01\x00\x01\x00\x00\x00\x00"} {
		if _, err := ws.WriteFile(ctx, name, []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	set, err := tools.New(ws, &tools.Options{Naming: "{op}"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		model, path string
		want        bool // it is in the result
	}{
		{"gemini-2.5-pro", "a.png", false},
		{"models/gemini-2.0-flash-001", "a.png", false},
		{"gemini-3.5-flash", "a.png", true},
		{"gemini-3.5-flash", "a.gif", false},
		{"", "a.png", true},
	} {
		results, err := googleai.Run(ctx, set, &genai.GenerateContentResponse{
			ModelVersion: test.model,
			Candidates: []*genai.Candidate{{Content: &genai.Content{Parts: []*genai.Part{
				{FunctionCall: &genai.FunctionCall{Name: "read_file", Args: map[string]any{"path": test.path}}},
			}}}},
		})
		if err != nil || len(results) != 1 {
			t.Errorf("Run(%q, %q) = %v, %v, want a result", test.model, test.path, results, err)
			continue
		}
		result := results[0].FunctionResponse
		if text, _ := result.Response["output"].(string); len(result.Parts) > 0 != test.want || strings.Contains(text, "cannot be shown here") == test.want {
			t.Errorf("Run(%q, %q) = %d parts and the text %q, want the image: %v", test.model, test.path, len(result.Parts), text, test.want)
		}
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
