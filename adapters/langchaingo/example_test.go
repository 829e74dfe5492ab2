package langchaingo_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/workspacekit/workspacekit/adapters/langchaingo"
	"github.com/workspacekit/workspacekit/internal/modeltest"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

func ask(ctx context.Context, model llms.Model, set *tools.Set, question string) (string, error) {
	messages := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, question)}
	for {
		response, err := model.GenerateContent(ctx, messages, llms.WithTools(langchaingo.Definitions(set)))
		if err != nil {
			return "", err
		}
		if len(response.Choices) == 0 {
			return "", errors.New("no answer")
		}
		next, err := langchaingo.Run(ctx, set, response.Choices[0])
		if err != nil {
			return "", err
		}
		if len(next) == 0 {
			return response.Choices[0].Content, nil
		}
		messages = append(messages, next...)
	}
}

func Example() {
	// Without the base URL, the client asks the model itself, with the key in OPENAI_API_KEY.
	server := modeltest.New(
		`{"choices": [{"message": {"role": "assistant", "tool_calls": [{"type": "function", "id": "1", "function": {"name": "write_file", "arguments": "{\"path\": \"hello.txt\", \"content\": \"Hello!\\n\"}"}}]}}]}`,
		`{"choices": [{"message": {"role": "assistant", "content": "I wrote hello.txt."}}]}`,
	)
	defer server.Close()
	model, err := openai.New(openai.WithBaseURL(server.URL), openai.WithToken("none"))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	ws := workspace.New("notes", memory.New(nil), nil)
	set, err := tools.New(ws, &tools.Options{Naming: "{op}"})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := ask(ctx, model, set, "Write a greeting to hello.txt.")
	if err != nil {
		fmt.Println(err)
		return
	}
	content, err := ws.ReadFile(ctx, "hello.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n%s", answer, content)
	// Output:
	// I wrote hello.txt.
	// Hello!
}
