package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/workspacekit/workspacekit/adapters/openai"
	"github.com/workspacekit/workspacekit/internal/modeltest"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestRequests tests what the client sends to responses: the definitions, and the
// results of calls that succeed, that fail, and that return images and documents.
func TestRequests(t *testing.T) {
	t.Parallel()
	set := modeltest.NewSet(t)
	server := modeltest.New(`{"id": "r1", "output": [
		{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me see."}]},
		{"type": "function_call", "call_id": "1", "name": "grep", "arguments": "{\"pattern\": \"one\"}"},
		{"type": "function_call", "call_id": "2", "name": "read_file", "arguments": "{\"path\": "},
		{"type": "function_call", "call_id": "3", "name": "bash", "arguments": ""},
		{"type": "function_call", "call_id": "4", "name": "read_file", "arguments": "{\"path\": \"a.png\"}"},
		{"type": "function_call", "call_id": "5", "name": "read_file", "arguments": "{\"path\": \"a.pdf\"}"}]}`,
		`{"id": "r2", "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I see."}]}]}`)
	defer server.Close()
	client := sdk.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("none"))
	if answer, err := ask(t.Context(), client, set, "What is there?"); answer != "I see." || err != nil {
		t.Fatalf("ask() = %q, %v", answer, err)
	}
	request := decode(t, server.Requests()[1])
	checkTools(t, set, tools.FormatOpenAIResponses, request.Tools)
	if request.PreviousResponseID != "r1" {
		t.Errorf("previous_response_id = %q, want r1", request.PreviousResponseID)
	}
	want := `[
		{"type": "function_call_output", "call_id": "1", "output": [
			{"type": "input_text", "text": "1 match in 1 file\na.txt\n1:one\n[not searched: 2 binary (a.pdf, a.png)]"}]},
		{"type": "function_call_output", "call_id": "2", "output": [
			{"type": "input_text", "text": "INVALID_ARGUMENTS: arguments are not valid JSON\nSend one JSON object; check quotes and escapes."}]},
		{"type": "function_call_output", "call_id": "3", "output": [
			{"type": "input_text", "text": "INVALID_ARGUMENTS: there is no tool \"bash\"\nThe tools are read_file, read_files, write_file, edit_file, apply_patch, ls, tree, glob, grep, stat, mkdir, rm, move, copy."}]},
		{"type": "function_call_output", "call_id": "4", "output": [
			{"type": "input_text", "text": "[a.png: image/png, 33 bytes, version 2]"},
			{"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"}]},
		{"type": "function_call_output", "call_id": "5", "output": [
			{"type": "input_text", "text": "[a.pdf: application/pdf, 14 bytes, version 3]"},
			{"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjcAJSVFT0Y="}]}]`
	if diff := modeltest.Diff([]byte(want), request.Input); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// TestChatRequests is TestRequests for chat completions.
func TestChatRequests(t *testing.T) {
	t.Parallel()
	set := modeltest.NewSet(t)
	const calls = `[
		{"type": "function", "id": "1", "function": {"name": "read_file", "arguments": "{\"path\": \"a.png\"}"}},
		{"type": "function", "id": "2", "function": {"name": "read_file", "arguments": "{\"path\": \"b.txt\"}"}},
		{"type": "function", "id": "3", "function": {"name": "mkdir", "arguments": "{\"path\": \"d\"}"}}]`
	server := modeltest.New(`{"choices": [{"message": {"role": "assistant", "tool_calls": `+calls+`}}]}`,
		`{"choices": [{"message": {"role": "assistant", "content": "I see."}}]}`)
	defer server.Close()
	client := sdk.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("none"))
	if answer, err := askChat(t.Context(), client, set, "What is there?"); answer != "I see." || err != nil {
		t.Fatalf("askChat() = %q, %v", answer, err)
	}
	request := decode(t, server.Requests()[1])
	checkTools(t, set, tools.FormatOpenAI, request.Tools)
	want := `[
		{"role": "user", "content": "What is there?"},
		{"role": "assistant", "tool_calls": ` + calls + `},
		{"role": "tool", "tool_call_id": "1", "content": "[a.png: image/png, 33 bytes, version 2]\n[a.png (image/png) cannot be shown here]"},
		{"role": "tool", "tool_call_id": "2", "content": "FILE_NOT_FOUND: b.txt: file does not exist\nDid you mean \"a.txt\"?"},
		{"role": "tool", "tool_call_id": "3", "content": "Made the directory d."}]`
	if diff := modeltest.Diff([]byte(want), request.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

type request struct {
	Tools, Messages, Input json.RawMessage
	PreviousResponseID     string `json:"previous_response_id"`
}

func decode(t *testing.T, body []byte) (r request) {
	t.Helper()
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func checkTools(t *testing.T, set *tools.Set, format tools.Format, got []byte) {
	t.Helper()
	want, err := set.Definitions(format)
	if err != nil {
		t.Fatal(err)
	}
	if diff := modeltest.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
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
	result, err := openai.Call(t.Context(), set, responses.ResponseFunctionToolCall{Name: "read_media_file", Arguments: `{"path": "a.svg"}`})
	encoded, _ := json.Marshal(result)
	if err != nil || !strings.Contains(string(encoded), "cannot be shown here") || strings.Contains(string(encoded), "input_image") {
		t.Errorf("Call() = %s, %v, want a note in place of the image", encoded, err)
	}
}

// TestEnded tests that a call whose context has ended is an error, and no result.
func TestEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	message := sdk.ChatCompletionMessage{ToolCalls: []sdk.ChatCompletionMessageToolCallUnion{{Type: "function", Function: sdk.ChatCompletionMessageFunctionToolCallFunction{Name: "ls"}}}}
	if results, err := openai.ChatRun(ctx, modeltest.NewSet(t), message); !errors.Is(err, context.Canceled) {
		t.Errorf("ChatRun() = %v, %v, want %v", results, err, context.Canceled)
	}
}
