package mcp

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/internal/progress"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools"
)

// ErrorMetaKey is the key of a failed result's metadata under which its
// [tools.Error] is found.
const ErrorMetaKey = "io.github.workspacekit/error"

// handler calls tool with the arguments as they came: the tool checks them. Each
// client has a session of its own, and is asked where a rule asks.
func handler(tool *tools.Tool, clients *clients) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if calls, ok := ctx.Value(callsKey{}).(*httpCalls); ok {
			var ended func()
			ctx, ended = calls.begin(ctx, ownerOf(req.Session.ID(), req.Extra.TokenInfo))
			defer ended()
		}
		client := clients.of(req.Session)
		call, err := client.callFor(ctx, tool, req)
		if err != nil {
			return nil, err
		}
		stop := clients.report(ctx, req, call.searched)
		asked := client.wait(ctx, call)
		stop()
		switch {
		case asked != nil:
			return asked, nil
		case call.err != nil:
			return nil, protocolError(call.err)
		}
		log(ctx, req, call.result, time.Since(call.began))
		return shorten(ctx, call.result, clients.onWire(call.result)), nil
	}
}

// shorten replaces the large parts of onWire, which is what the SDK gets of
// result, by marks, if the connection of the call has a detour for them.
func shorten(ctx context.Context, result *tools.Result, onWire *sdk.CallToolResult) *sdk.CallToolResult {
	d, ok := ctx.Value(detourKey{}).(*detour)
	if !ok {
		return onWire
	}
	if len(result.Text) >= detourMin {
		onWire.Content[0] = &sdk.TextContent{Text: d.leave(result.AppendTextJSON)}
	}
	if onWire.StructuredContent != nil && len(result.Structured) >= detourMin {
		onWire.StructuredContent = d.leave(func(dst []byte) []byte { return append(dst, result.Structured...) })
	}
	return onWire
}

// report tells the client of req, if it wants to know, how the call continues, until stop
// is called.
func (c *clients) report(ctx context.Context, req *sdk.CallToolRequest, searched *progress.Counter) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticks := time.NewTicker(c.progressInterval)
		defer ticks.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
			p := &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(n) * c.progressInterval.Seconds()}
			if files := searched.Files(); files > 0 {
				p.Message = wording.Count(int(files), "file", "files") + " searched"
			}
			// A client that has gone needs none; the call shows it.
			_ = req.Session.NotifyProgress(ctx, p)
		}
	}()
	return func() {
		cancel()
		<-ended // as nothing may be said about a call after its result
	}
}

// log tells a client that wants logs what has become of a call, without what is in files, which
// the message of an error may quote.
func log(ctx context.Context, req *sdk.CallToolRequest, result *tools.Result, took time.Duration) {
	//lint:ignore SA1019 the versions of the protocol before 2026-07-28 have logs
	entry := &sdk.LoggingMessageParams{Logger: req.Params.Name, Level: "debug", Data: map[string]any{"seconds": took.Seconds()}}
	if result.IsError {
		entry.Level, entry.Data = "warning", map[string]any{"seconds": took.Seconds(), "code": result.Error.Code, "path": result.Error.Path}
	}
	// A client that has gone needs no log; the result shows it.
	//lint:ignore SA1019 as above
	_ = req.Session.Log(ctx, entry)
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
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uriOf(part.Workspace, part.Path), MIMEType: part.MIMEType, Blob: part.Data}}
}

// onWire returns a result as the protocol has it. An error of a tool is a result, too:
// its structured form goes into the metadata, since it does not fit the schema of the
// result.
func (c *clients) onWire(result *tools.Result) *sdk.CallToolResult {
	out := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: result.Text}}}
	if result.IsError {
		out.IsError = true
		out.Meta = sdk.Meta{ErrorMetaKey: result.Structured}
		return out
	}
	for _, part := range result.Parts {
		out.Content = append(out.Content, content(part))
	}
	if !c.textOnly {
		out.StructuredContent = result.Structured
	}
	return out
}
