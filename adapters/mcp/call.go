package mcp

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// ErrorMetaKey is the key of a failed result's metadata under which its
// [tools.Error] is found.
const ErrorMetaKey = "io.github.workspacekit/error"

// handler calls tool with the arguments as they came: the tool checks them. Each
// client has a session of its own, and is asked where a rule asks.
func handler(tool *tools.Tool, clients *clients) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if calls, ok := ctx.Value(callsKey{}).(context.Context); ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(calls, cancel)()
		}
		client := clients.of(req.Session)
		call := &asking{client: req.Session, answers: clients.questions.answers(req.Params)}
		inCall := policy.WithApprover(context.WithValue(tools.WithSession(ctx, client.session), askingKey{}, call), client.approver)
		result, err := tool.Call(inCall, req.Params.Arguments)
		if err != nil {
			return nil, protocolError(err)
		}
		if r := call.question(); r != nil {
			return clients.questions.ask(*r, call.answers)
		}
		return shorten(ctx, result, onWire(result)), nil
	}
}

// protocolError gives err a code of JSON-RPC, which the SDK leaves at zero.
func protocolError(err error) error {
	message := err.Error()
	if errors.Is(err, context.Canceled) {
		message = "the call was cancelled"
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: message}
}

// content is an image as such, and another part as a resource that comes with the
// result.
func content(part tools.Part) sdk.Content {
	if strings.HasPrefix(part.MIMEType, "image/") {
		return &sdk.ImageContent{MIMEType: part.MIMEType, Data: part.Data}
	}
	if strings.HasPrefix(part.MIMEType, "audio/") {
		return &sdk.AudioContent{MIMEType: part.MIMEType, Data: part.Data}
	}
	uri := url.URL{Scheme: "workspace", Path: "/" + part.Path}
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri.String(), MIMEType: part.MIMEType, Blob: part.Data}}
}

func onWire(result *tools.Result) *sdk.CallToolResult {
	out := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: result.Text}}}
	if result.IsError {
		out.IsError = true
		out.Meta = sdk.Meta{ErrorMetaKey: result.Structured}
		return out
	}
	for _, part := range result.Parts {
		out.Content = append(out.Content, content(part))
	}
	out.StructuredContent = result.Structured
	return out
}
