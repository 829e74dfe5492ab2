package anthropic_test

import (
	"context"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/workspacekit/workspacekit/adapters/anthropic"
	"github.com/workspacekit/workspacekit/internal/modeltest"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

func ask(ctx context.Context, client sdk.Client, set *tools.Set, question string) (string, error) {
	messages := []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock(question))}
	for {
		message, err := client.Messages.New(ctx, sdk.MessageNewParams{
			Model: "claude-opus-4-5", MaxTokens: 4096, Messages: messages, Tools: anthropic.Tools(set),
		})
		if err != nil {
			return "", err
		}
		results, err := anthropic.Run(ctx, set, message)
		if err != nil {
			return "", err
		}
		if len(results) == 0 {
			var answer string
			for _, block := range message.Content {
				answer += block.Text
			}
			return answer, nil
		}
		messages = append(messages, message.ToParam(), sdk.NewUserMessage(results...))
	}
}

func Example() {
	// Without the base URL, the client asks the model itself, with the key in ANTHROPIC_API_KEY.
	server := modeltest.New(
		`{"role": "assistant", "stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "1", "name": "write_file", "input": {"path": "hello.txt", "content": "Hello!\n"}}]}`,
		`{"role": "assistant", "stop_reason": "end_turn", "content": [{"type": "text", "text": "I wrote hello.txt."}]}`,
	)
	defer server.Close()
	client := sdk.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("none"))

	ctx := context.Background()
	ws := workspace.New("notes", memory.New(nil), nil)
	set, err := tools.New(ws, &tools.Options{Naming: "{op}"})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := ask(ctx, client, set, "Write a greeting to hello.txt.")
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
