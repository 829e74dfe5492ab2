package genkit_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/firebase/genkit/go/ai"
	gk "github.com/firebase/genkit/go/genkit"

	"github.com/workspacekit/workspacekit/adapters/genkit"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

func ask(ctx context.Context, g *gk.Genkit, files []ai.ToolRef, question string) (string, error) {
	response, err := gk.Generate(ctx, g, ai.WithTools(files...), ai.WithMaxTurns(50), ai.WithPrompt(question))
	if err != nil {
		return "", err
	}
	return response.Text(), nil
}

func Example() {
	ctx := context.Background()
	g, _ := newGenkit(ctx,
		ai.NewModelMessage(toolCall("1", "write_file", map[string]any{"path": "hello.txt", "content": "Hello!\n"})),
		ai.NewModelTextMessage("I wrote hello.txt."),
	)
	ws := workspace.New("notes", memory.New(nil), nil)
	set, err := tools.New(ws, &tools.Options{Naming: "{op}"})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := ask(ctx, g, genkit.Define(g, set), "Write a greeting to hello.txt.")
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

// newGenkit returns a Genkit whose model gives the next answer, whatever it is asked, and
// where the last request can be read.
func newGenkit(ctx context.Context, answers ...*ai.Message) (g *gk.Genkit, asked *ai.ModelRequest) {
	asked = new(ai.ModelRequest)
	g = gk.Init(ctx, gk.WithDefaultModel("test/script"))
	supports := &ai.ModelSupports{Tools: true, Multiturn: true}
	gk.DefineModel(g, "test/script", &ai.ModelOptions{Supports: supports}, func(_ context.Context, request *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		*asked = *request
		if len(answers) == 0 {
			return nil, errors.New("the script has ended")
		}
		answer := answers[0]
		answers = answers[1:]
		return &ai.ModelResponse{Request: request, Message: answer}, nil
	})
	return g, asked
}

func toolCall(ref, name string, input any) *ai.Part {
	return ai.NewToolRequestPart(&ai.ToolRequest{Ref: ref, Name: name, Input: input})
}
