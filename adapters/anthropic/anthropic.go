// Package anthropic gives the tools of workspaces to Anthropic's models through the
// official SDK (https://github.com/anthropics/anthropic-sdk-go): Tools are the
// definitions for a request, and Run runs what the model calls in its answer.
//
//	message, err := client.Messages.New(ctx, sdk.MessageNewParams{Tools: anthropic.Tools(set), ...})
//	results, err := anthropic.Run(ctx, set, message)
//	messages = append(messages, message.ToParam(), sdk.NewUserMessage(results...))
//
// The example has the whole loop. The package is a module of its own.
package anthropic

import (
	"context"
	"encoding/base64"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/workspacekit/workspacekit/tools"
)

// Tools returns the definitions of the tools of set. The schemas are sent as they
// are: the fields of InputSchema are empty.
func Tools(set *tools.Set) []sdk.ToolUnionParam {
	var definitions []sdk.ToolUnionParam
	for _, t := range set.Tools() {
		definitions = append(definitions, sdk.ToolUnionParam{OfTool: &sdk.ToolParam{
			Name: t.Name, Description: sdk.String(t.Description()),
			InputSchema: param.Override[sdk.ToolInputSchemaParam](t.InputSchema()),
		}})
	}
	return definitions
}

// Run calls the tools of set that message calls, one after the other, and returns
// the results in the same order, for the next message. There are none if it calls
// no tool. A failure is in the result.
//
// # Errors
//
// Those of [tools.Tool.Call].
func Run(ctx context.Context, set *tools.Set, message *sdk.Message) ([]sdk.ContentBlockParamUnion, error) {
	var results []sdk.ContentBlockParamUnion
	for _, block := range message.Content {
		if block.Type != "tool_use" {
			continue
		}
		result, err := Call(ctx, set, block)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

// Call is [Run] for one call, a block of the type tool_use, where the model has other
// tools, too.
func Call(ctx context.Context, set *tools.Set, call sdk.ContentBlockUnion) (sdk.ContentBlockParamUnion, error) {
	result, err := set.Call(ctx, call.Name, call.Input)
	if err != nil {
		return sdk.ContentBlockParamUnion{}, err
	}
	block := sdk.NewToolResultBlock(call.ID, result.TextFor(shown), result.IsError)
	for _, part := range result.Parts {
		if shown(part) {
			block.OfToolResult.Content = append(block.OfToolResult.Content, content(part))
		}
	}
	return block, nil
}

// shown reports whether the API accepts part in a result.
func shown(part tools.Part) bool {
	return slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"}, part.MIMEType)
}

func content(part tools.Part) sdk.ToolResultBlockParamContentUnion {
	data := base64.StdEncoding.EncodeToString(part.Data)
	if part.MIMEType == "application/pdf" {
		return sdk.ToolResultBlockParamContentUnion{OfDocument: &sdk.DocumentBlockParam{
			Title:  sdk.String(part.Path),
			Source: sdk.DocumentBlockParamSourceUnion{OfBase64: &sdk.Base64PDFSourceParam{Data: data}},
		}}
	}
	return sdk.ToolResultBlockParamContentUnion{OfImage: &sdk.ImageBlockParam{
		Source: sdk.ImageBlockParamSourceUnion{OfBase64: &sdk.Base64ImageSourceParam{
			Data: data, MediaType: sdk.Base64ImageSourceMediaType(part.MIMEType),
		}},
	}}
}
