// Package openai gives the tools of workspaces to OpenAI's models through the official
// SDK (https://github.com/openai/openai-go), for both of its APIs. Tools and Run are for
// responses, ChatTools and ChatRun for chat completions, which many other vendors and
// servers have, too.
//
//	response, err := client.Responses.New(ctx, responses.ResponseNewParams{Tools: openai.Tools(set), ...})
//	results, err := openai.Run(ctx, set, response)
//
// The results are the next input. The examples have the whole loops. The package is a
// module of its own.
package openai

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/workspacekit/workspacekit/tools"
)

// Tools returns the definitions of the tools of set for responses.
func Tools(set *tools.Set) []responses.ToolUnionParam {
	var definitions []responses.ToolUnionParam
	for _, t := range set.Tools() {
		definitions = append(definitions, responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{
			Name: t.Name, Description: sdk.String(t.Description()), Parameters: parameters(t), Strict: sdk.Bool(false),
		}})
	}
	return definitions
}

// ChatTools is [Tools] for chat completions.
func ChatTools(set *tools.Set) []sdk.ChatCompletionToolUnionParam {
	var definitions []sdk.ChatCompletionToolUnionParam
	for _, t := range set.Tools() {
		definitions = append(definitions, sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: sdk.String(t.Description()), Parameters: parameters(t), Strict: sdk.Bool(false),
		}))
	}
	return definitions
}

func parameters(t *tools.Tool) (schema map[string]any) {
	if err := json.Unmarshal(t.InputSchema(), &schema); err != nil {
		panic(err) // every schema is an object
	}
	return schema
}

// Run calls the tools of set that response calls, one after the other, and returns the
// results in the same order, for the next input. There are none if it calls no tool.
// A failure is in the result.
//
// # Errors
//
// Those of [tools.Tool.Call].
func Run(ctx context.Context, set *tools.Set, response *responses.Response) (responses.ResponseInputParam, error) {
	var results responses.ResponseInputParam
	for _, item := range response.Output {
		if item.Type != "function_call" {
			continue
		}
		result, err := Call(ctx, set, item.AsFunctionCall())
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

// Call is [Run] for one call, where the model has other tools, too.
func Call(ctx context.Context, set *tools.Set, call responses.ResponseFunctionToolCall) (responses.ResponseInputItemUnionParam, error) {
	result, err := set.Call(ctx, call.Name, json.RawMessage(call.Arguments))
	if err != nil {
		return responses.ResponseInputItemUnionParam{}, err
	}
	output := responses.ResponseFunctionCallOutputItemListParam{{OfInputText: &responses.ResponseInputTextContentParam{Text: result.TextFor(shown)}}}
	for _, part := range result.Parts {
		if shown(part) {
			output = append(output, content(part))
		}
	}
	item := responses.ResponseInputItemParamOfFunctionCallOutput(output)
	item.OfFunctionCallOutput.CallID = sdk.String(call.CallID)
	return item, nil
}

// shown reports whether responses accept part in a result.
func shown(part tools.Part) bool {
	return slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"}, part.MIMEType)
}

func content(part tools.Part) responses.ResponseFunctionCallOutputItemUnionParam {
	url := sdk.String("data:" + part.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(part.Data))
	if part.MIMEType == "application/pdf" {
		return responses.ResponseFunctionCallOutputItemUnionParam{OfInputFile: &responses.ResponseInputFileContentParam{
			Filename: sdk.String(part.Path), FileData: url,
		}}
	}
	return responses.ResponseFunctionCallOutputItemUnionParam{OfInputImage: &responses.ResponseInputImageContentParam{ImageURL: url}}
}

// ChatRun is [Run] for chat completions, whose tools return text only: a note says
// what of a result cannot be shown.
func ChatRun(ctx context.Context, set *tools.Set, message sdk.ChatCompletionMessage) ([]sdk.ChatCompletionMessageParamUnion, error) {
	var results []sdk.ChatCompletionMessageParamUnion
	for _, call := range message.ToolCalls {
		result, err := ChatCall(ctx, set, call)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

// ChatCall is [ChatRun] for one call, where the model has other tools, too.
func ChatCall(ctx context.Context, set *tools.Set, call sdk.ChatCompletionMessageToolCallUnion) (sdk.ChatCompletionMessageParamUnion, error) {
	result, err := set.Call(ctx, call.Function.Name, json.RawMessage(call.Function.Arguments))
	if err != nil {
		return sdk.ChatCompletionMessageParamUnion{}, err
	}
	return sdk.ToolMessage(result.TextFor(nil), call.ID), nil
}
