// Package langchaingo gives the tools of workspaces to programs that use LangChainGo
// (https://github.com/tmc/langchaingo), in one of two ways.
//
// [Definitions] and [Run] are for a program that asks a model itself:
//
//	response, err := model.GenerateContent(ctx, messages, llms.WithTools(langchaingo.Definitions(set)))
//	next, err := langchaingo.Run(ctx, set, response.Choices[0])
//	messages = append(messages, next...)
//
// [Tools] are for the agents of LangChainGo, which give a model no schemas: each
// description has the schema, and the input is an object of JSON.
//
//	agent := agents.NewOpenAIFunctionsAgent(model, langchaingo.Tools(set))
//
// Results are text: a note says what of them cannot be shown. The package is a module of
// its own.
package langchaingo

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/tmc/langchaingo/llms"
	lctools "github.com/tmc/langchaingo/tools"

	"github.com/workspacekit/workspacekit/tools"
)

// Definitions returns the definitions of the tools of set.
func Definitions(set *tools.Set) []llms.Tool {
	var definitions []llms.Tool
	for _, t := range set.Tools() {
		definitions = append(definitions, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
			Name: t.Name, Description: t.Description(), Parameters: parameters(t),
		}})
	}
	return definitions
}

// parameters returns the schema as the client for Google's models needs it.
func parameters(t *tools.Tool) (schema map[string]any) {
	if err := json.Unmarshal(t.InputSchema(), &schema); err != nil {
		panic(err) // every schema is an object
	}
	return schema
}

// Run calls the tools of set that choice calls, one after the other, and returns the
// messages with which the conversation continues: choice, and a result for each call, in
// the same order. There are none if it calls no tool. A failure is in the result.
//
// # Errors
//
// Those of [tools.Tool.Call].
func Run(ctx context.Context, set *tools.Set, choice *llms.ContentChoice) ([]llms.MessageContent, error) {
	if len(choice.ToolCalls) == 0 {
		return nil, nil
	}
	asked := llms.MessageContent{Role: llms.ChatMessageTypeAI}
	if choice.Content != "" {
		asked.Parts = append(asked.Parts, llms.TextContent{Text: choice.Content})
	}
	var results []llms.MessageContent
	for _, call := range choice.ToolCalls {
		asked.Parts = append(asked.Parts, call)
		result, err := Call(ctx, set, call)
		if err != nil {
			return nil, err
		}
		results = append(results, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{result}})
	}
	return append([]llms.MessageContent{asked}, results...), nil
}

// Call runs one call, where the model has other tools, too.
func Call(ctx context.Context, set *tools.Set, call llms.ToolCall) (llms.ToolCallResponse, error) {
	var function llms.FunctionCall
	if call.FunctionCall != nil {
		function = *call.FunctionCall
	}
	result, err := set.Call(ctx, function.Name, json.RawMessage(function.Arguments))
	if err != nil {
		return llms.ToolCallResponse{}, err
	}
	return llms.ToolCallResponse{ToolCallID: call.ID, Name: function.Name, Content: result.TextFor(nil)}, nil
}

// Tools returns the tools of set for an agent. A failure is in the result; an
// error is that of a context.
func Tools(set *tools.Set) []lctools.Tool {
	var all []lctools.Tool
	for _, t := range set.Tools() {
		all = append(all, agentTool{t})
	}
	return all
}

type agentTool struct{ tool *tools.Tool }

// Name implements [lctools.Tool].
func (a agentTool) Name() string { return a.tool.Name }

// Description has the schema of the input.
func (a agentTool) Description() string {
	return a.tool.Description() + "\nThe input is one JSON object with this schema: " + string(a.tool.InputSchema())
}

// Call runs the tool with one object of JSON.
func (a agentTool) Call(ctx context.Context, input string) (string, error) {
	result, err := a.tool.Call(ctx, json.RawMessage(strings.TrimSpace(input)))
	if err != nil {
		return "", err
	}
	return result.TextFor(nil), nil
}
