// Package eino lets agents of Eino (https://github.com/cloudwego/eino) work in a
// workspace, in one of two ways.
//
// [Backend] is where the filesystem middleware of Eino's ADK keeps its files. The model
// has the middleware's tools: ls, read_file, write_file, edit_file, glob, grep. "/" is
// the root of the workspace.
//
//	backend, err := eino.NewBackend(ws)
//	files, err := filesystem.NewMiddleware(ctx, &filesystem.Config{Backend: backend})
//	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
//		Middlewares: []adk.AgentMiddleware{files, eino.ToolErrors()}, ...})
//
// The middleware writes large results to the backend, below /large_tool_result, by call ID.
// A run ends if it cannot create the file: set WithoutLargeToolResultOffloading if the
// workspace is read-only, has no conditional writes or denies the name, or if call IDs can
// repeat.
//
// [Tools] are our own tools, which do more: versions, patches, pages, hints.
//
//	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
//		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: eino.Tools(set)}}, ...})
//
// The package is a module of its own.
package eino

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/workspacekit/workspacekit/tools"
)

// Tools returns the tools of set. They return text: a note says what of a result
// cannot be shown. A failure is in the result; an error is that of a context.
func Tools(set *tools.Set) []tool.BaseTool {
	var all []tool.BaseTool
	for _, t := range set.Tools() {
		all = append(all, invokable{t})
	}
	return all
}

// invokable is a [tool.InvokableTool].
type invokable struct{ tool *tools.Tool }

// Info describes the tool to a model.
func (i invokable) Info(context.Context) (*schema.ToolInfo, error) {
	parameters := new(jsonschema.Schema)
	if err := json.Unmarshal(i.tool.InputSchema(), parameters); err != nil {
		return nil, err
	}
	return &schema.ToolInfo{Name: i.tool.Name, Desc: i.tool.Description(), ParamsOneOf: schema.NewParamsOneOfByJSONSchema(parameters)}, nil
}

// InvokableRun calls the tool.
func (i invokable) InvokableRun(ctx context.Context, arguments string, _ ...tool.Option) (string, error) {
	result, err := i.tool.Call(ctx, json.RawMessage(arguments))
	if err != nil {
		return "", err
	}
	return result.TextFor(nil), nil
}

// ToolErrors tells the model what is wrong when a [Backend] returns an error, such as
// that a file does not exist. Without it, Eino ends the run of the agent.
func ToolErrors() adk.AgentMiddleware {
	return adk.AgentMiddleware{WrapToolCall: compose.ToolMiddleware{
		Invokable: func(next compose.InvokableToolEndpoint) compose.InvokableToolEndpoint {
			return func(ctx context.Context, input *compose.ToolInput) (*compose.ToolOutput, error) {
				output, err := next(ctx, input)
				if text := explain(err); text != "" && ctx.Err() == nil {
					return &compose.ToolOutput{Result: text}, nil
				}
				return output, err
			}
		},
	}}
}

// explain returns what a model is told about an error of a Backend, and "" about
// others.
func explain(err error) string {
	var failed *tools.Error
	var bad *fs.PathError
	switch {
	case errors.As(err, &failed):
		return strings.TrimSpace(failed.Error() + "\n" + failed.Hint)
	case errors.As(err, &bad):
		return string(tools.CodeOf(bad)) + ": " + bad.Error()
	}
	return ""
}
