package eino_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/filesystem"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/workspacekit/workspacekit/adapters/eino"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

func newAgent(ctx context.Context, chat model.ToolCallingChatModel, ws *workspace.Workspace) (adk.Agent, error) {
	backend, err := eino.NewBackend(ws)
	if err != nil {
		return nil, err
	}
	files, err := filesystem.NewMiddleware(ctx, &filesystem.Config{Backend: backend})
	if err != nil {
		return nil, err
	}
	return adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "writer", Description: "writes files", Model: chat,
		Middlewares: []adk.AgentMiddleware{files, eino.ToolErrors()},
	})
}

func Example() {
	ctx := context.Background()
	ws := workspace.New("notes", memory.New(nil), nil)
	agent, err := newAgent(ctx, newScript(
		schema.AssistantMessage("", []schema.ToolCall{toolCall("1", "write_file", `{"file_path": "/hello.txt", "content": "Hello!\n"}`)}),
		schema.AssistantMessage("I wrote hello.txt.", nil),
	), ws)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := ask(ctx, agent, "Write a greeting to hello.txt.")
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

func ExampleTools() {
	ctx := context.Background()
	ws := workspace.New("notes", memory.New(nil), nil)
	set, err := tools.New(ws, &tools.Options{Naming: "{op}"})
	if err != nil {
		fmt.Println(err)
		return
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "reader", Description: "reads files", Model: newScript(
			schema.AssistantMessage("", []schema.ToolCall{toolCall("1", "read_file", `{"path": "/hello.txt"}`)}),
			schema.AssistantMessage("There is none.", nil),
		),
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: eino.Tools(set)}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ask(ctx, agent, "What is in hello.txt?"))
	// Output: There is none. <nil>
}

// ask returns the last answer of an agent.
func ask(ctx context.Context, agent adk.Agent, question string) (answer string, err error) {
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, question)
	for {
		event, ok := events.Next()
		switch {
		case !ok:
			return answer, nil
		case event.Err != nil:
			return "", event.Err
		case event.Output == nil || event.Output.MessageOutput == nil:
			continue
		}
		message, err := event.Output.MessageOutput.GetMessage()
		if err != nil {
			return "", err
		}
		answer = message.Content
	}
}

// script is a model that gives the next answer, whatever it is asked.
type script struct {
	answers []*schema.Message
	asked   []*schema.Message // the last request
}

func newScript(answers ...*schema.Message) *script { return &script{answers: answers} }

func toolCall(id, name, arguments string) schema.ToolCall {
	return schema.ToolCall{ID: id, Function: schema.FunctionCall{Name: name, Arguments: arguments}}
}

func (s *script) Generate(_ context.Context, asked []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	s.asked = asked
	if len(s.answers) == 0 {
		return nil, errors.New("the script has ended")
	}
	answer := s.answers[0]
	s.answers = s.answers[1:]
	return answer, nil
}

func (s *script) Stream(ctx context.Context, asked []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	answer, err := s.Generate(ctx, asked, opts...)
	return schema.StreamReaderFromArray([]*schema.Message{answer}), err
}

func (s *script) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return s, nil }
