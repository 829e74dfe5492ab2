package googleai_test

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/genai"

	"github.com/workspacekit/workspacekit/adapters/googleai"
	"github.com/workspacekit/workspacekit/internal/modeltest"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

func ask(ctx context.Context, client *genai.Client, set *tools.Set, question string) (string, error) {
	contents := []*genai.Content{genai.NewContentFromText(question, genai.RoleUser)}
	config := &genai.GenerateContentConfig{Tools: googleai.Tools(set)}
	for {
		response, err := client.Models.GenerateContent(ctx, "gemini-3.5-flash", contents, config)
		if err != nil {
			return "", err
		}
		if len(response.Candidates) == 0 || response.Candidates[0].Content == nil {
			return "", errors.New("no answer")
		}
		results, err := googleai.Run(ctx, set, response)
		if err != nil {
			return "", err
		}
		if len(results) == 0 {
			return response.Text(), nil
		}
		contents = append(contents, response.Candidates[0].Content, genai.NewContentFromParts(results, genai.RoleUser))
	}
}

func Example() {
	// Without the base URL, the client asks the model itself, with the key in GOOGLE_API_KEY.
	server := modeltest.New(
		`{"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"id": "1", "name": "write_file", "args": {"path": "hello.txt", "content": "Hello!\n"}}}]}}]}`,
		`{"candidates": [{"content": {"role": "model", "parts": [{"text": "I wrote hello.txt."}]}}]}`,
	)
	defer server.Close()
	ctx := context.Background()
	client, err := newClient(ctx, server)
	if err != nil {
		fmt.Println(err)
		return
	}
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

func newClient(ctx context.Context, server *modeltest.Server) (*genai.Client, error) {
	return genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: "none", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: server.URL},
	})
}
