package langchaingo_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/workspacekit/workspacekit/adapters/langchaingo"
	"github.com/workspacekit/workspacekit/internal/modeltest"
)

// TestRequests tests what the client for OpenAI sends: the definitions, and the results
// of calls that succeed, that fail, and that return an image.
func TestRequests(t *testing.T) {
	t.Parallel()
	set := modeltest.NewSet(t)
	const calls = `[
		{"type": "function", "id": "1", "function": {"name": "read_file", "arguments": "{\"path\": \"a.png\"}"}},
		{"type": "function", "id": "2", "function": {"name": "read_file", "arguments": "{\"path\": \"b.txt\"}"}},
		{"type": "function", "id": "3", "function": {"name": "mkdir", "arguments": "{\"path\": \"d\"}"}}]`
	server := modeltest.New(`{"choices": [{"message": {"role": "assistant", "content": "Let me see.", "tool_calls": `+calls+`}}]}`,
		`{"choices": [{"message": {"role": "assistant", "content": "I see."}}]}`)
	defer server.Close()
	if answer, err := ask(t.Context(), newModel(t, server), set, "What is there?"); answer != "I see." || err != nil {
		t.Fatalf("ask() = %q, %v", answer, err)
	}
	var request struct {
		Messages json.RawMessage
		Tools    []struct {
			Function struct {
				Name, Description string
				Parameters        json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(server.Requests()[1], &request); err != nil {
		t.Fatal(err)
	}
	for i, want := range set.Tools() {
		got := request.Tools[i].Function
		if diff := modeltest.Diff(want.InputSchema(), got.Parameters); diff != "" || got.Name != want.Name || got.Description != want.Description() {
			t.Errorf("%s is described as %s, %q (-want +got):\n%s", want.Name, got.Name, got.Description, diff)
		}
	}
	for _, definition := range langchaingo.Definitions(set) {
		if _, ok := definition.Function.Parameters.(map[string]any); !ok {
			t.Errorf("the parameters of %s are %T, which the client for Google's models refuses", definition.Function.Name, definition.Function.Parameters)
		}
	}
	want := `[
		{"role": "user", "content": "What is there?"},
		{"role": "assistant", "content": "Let me see.", "tool_calls": ` + calls + `},
		{"role": "tool", "tool_call_id": "1", "content": "[a.png: image/png, 33 bytes, version 2]\n[a.png (image/png) cannot be shown here]"},
		{"role": "tool", "tool_call_id": "2", "content": "FILE_NOT_FOUND: b.txt: file does not exist\nDid you mean \"a.txt\"?"},
		{"role": "tool", "tool_call_id": "3", "content": "Made the directory d."}]`
	if diff := modeltest.Diff([]byte(want), request.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func newModel(t *testing.T, server *modeltest.Server) *openai.LLM {
	t.Helper()
	model, err := openai.New(openai.WithBaseURL(server.URL), openai.WithToken("none"))
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// TestAgent runs an agent of LangChainGo. A model that passes the object itself is
// understood, as well as one that passes it as the string which the agent declares.
func TestAgent(t *testing.T) {
	t.Parallel()
	set := modeltest.NewSet(t)
	server := modeltest.New(
		`{"choices": [{"message": {"role": "assistant", "tool_calls": [
			{"type": "function", "id": "1", "function": {"name": "grep", "arguments": "{\"__arg1\": \"{\\\"pattern\\\": \\\"one\\\"}\"}"}},
			{"type": "function", "id": "2", "function": {"name": "read_file", "arguments": "{\"path\": \"b.txt\"}"}}]}}]}`,
		`{"choices": [{"message": {"role": "assistant", "content": "I see."}}]}`)
	defer server.Close()
	agent := agents.NewOpenAIFunctionsAgent(newModel(t, server), langchaingo.Tools(set))
	if answer, err := chains.Run(t.Context(), agents.NewExecutor(agent), "What is there?"); answer != "I see." || err != nil {
		t.Fatalf("Run() = %q, %v", answer, err)
	}
	for i, want := range []string{`\"pattern\"`, "1 match in 1 file", "FILE_NOT_FOUND: b.txt"} {
		request := server.Requests()[min(i, 1)]
		if !strings.Contains(string(request), want) {
			t.Errorf("request %d does not have %s:\n%s", min(i, 1), want, request)
		}
	}
}

// TestEnded tests that a call whose context has ended is an error, and no result.
func TestEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	choice := &llms.ContentChoice{ToolCalls: []llms.ToolCall{{FunctionCall: &llms.FunctionCall{Name: "ls"}}}}
	if next, err := langchaingo.Run(ctx, modeltest.NewSet(t), choice); !errors.Is(err, context.Canceled) {
		t.Errorf("Run() = %v, %v, want %v", next, err, context.Canceled)
	}
	if text, err := langchaingo.Tools(modeltest.NewSet(t))[0].Call(ctx, "{}"); !errors.Is(err, context.Canceled) {
		t.Errorf("Call() = %q, %v, want %v", text, err, context.Canceled)
	}
	if result, err := langchaingo.Call(t.Context(), modeltest.NewSet(t), llms.ToolCall{ID: "1"}); !strings.Contains(result.Content, "INVALID_ARGUMENTS") || err != nil {
		t.Errorf("Call() without a function = %v, %v, want INVALID_ARGUMENTS", result, err)
	}
}
