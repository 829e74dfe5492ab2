package openai_test

import (
	"context"
	"errors"
	"fmt"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/workspacekit/workspacekit/adapters/openai"
	"github.com/workspacekit/workspacekit/internal/modeltest"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

func ask(ctx context.Context, client sdk.Client, set *tools.Set, question string) (string, error) {
	params := responses.ResponseNewParams{
		Model: "gpt-5.1", Tools: openai.Tools(set),
		Input: responses.ResponseNewParamsInputUnion{OfString: sdk.String(question)},
	}
	for {
		response, err := client.Responses.New(ctx, params)
		if err != nil {
			return "", err
		}
		results, err := openai.Run(ctx, set, response)
		if err != nil {
			return "", err
		}
		if len(results) == 0 {
			return response.OutputText(), nil
		}
		params.PreviousResponseID = sdk.String(response.ID)
		params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: results}
	}
}

func Example() {
	// Without the base URL, the client asks the model itself, with the key in OPENAI_API_KEY.
	server := modeltest.New(
		`{"id": "r1", "output": [{"type": "function_call", "call_id": "1", "name": "write_file", "arguments": "{\"path\": \"hello.txt\", \"content\": \"Hello!\\n\"}"}]}`,
		`{"id": "r2", "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I wrote hello.txt."}]}]}`,
	)
	defer server.Close()
	run(server, ask)
	// Output:
	// I wrote hello.txt.
	// Hello!
}

// run asks for a file, and prints the answer and the file.
func run(server *modeltest.Server, ask func(context.Context, sdk.Client, *tools.Set, string) (string, error)) {
	ctx := context.Background()
	ws := workspace.New("notes", memory.New(nil), nil)
	set, err := tools.New(ws, &tools.Options{Naming: "{op}"})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := sdk.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("none"))
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
}

func askChat(ctx context.Context, client sdk.Client, set *tools.Set, question string) (string, error) {
	messages := []sdk.ChatCompletionMessageParamUnion{sdk.UserMessage(question)}
	for {
		completion, err := client.Chat.Completions.New(ctx, sdk.ChatCompletionNewParams{
			Model: "gpt-5.1", Messages: messages, Tools: openai.ChatTools(set),
		})
		if err != nil {
			return "", err
		}
		if len(completion.Choices) == 0 {
			return "", errors.New("no answer")
		}
		message := completion.Choices[0].Message
		results, err := openai.ChatRun(ctx, set, message)
		if err != nil {
			return "", err
		}
		if len(results) == 0 {
			return message.Content, nil
		}
		messages = append(append(messages, message.ToParam()), results...)
	}
}

func Example_chat() {
	server := modeltest.New(
		`{"choices": [{"message": {"role": "assistant", "tool_calls": [{"type": "function", "id": "1", "function": {"name": "write_file", "arguments": "{\"path\": \"hello.txt\", \"content\": \"Hello!\\n\"}"}}]}}]}`,
		`{"choices": [{"message": {"role": "assistant", "content": "I wrote hello.txt."}}]}`,
	)
	defer server.Close()
	run(server, askChat)
	// Output:
	// I wrote hello.txt.
	// Hello!
}
