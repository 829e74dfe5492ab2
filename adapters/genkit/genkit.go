// Package genkit gives the tools of workspaces to programs that use Google's Genkit
// (https://github.com/firebase/genkit), which calls them by itself.
//
//	refs := genkit.Define(g, set)
//	response, err := gk.Generate(ctx, g, ai.WithTools(refs...), ai.WithMaxTurns(50), ai.WithPrompt(question))
//
// The package is a module of its own.
package genkit

import (
	"context"
	"encoding/base64"
	"encoding/json"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/core"
	"github.com/firebase/genkit/go/core/api"
	"github.com/firebase/genkit/go/genkit"

	"github.com/workspacekit/workspacekit/tools"
)

// Define registers the tools of set with g, and returns them. What fails is told in the
// output, so it ends no generation; an error is that of a context. Images and documents
// are content of the response. A tool whose name g already has makes Define panic.
func Define(g *genkit.Genkit, set *tools.Set) []ai.ToolRef {
	var refs []ai.ToolRef
	for _, t := range set.Tools() {
		genkit.RegisterAction(g, newAction(t))
		refs = append(refs, ai.ToolName(t.Name))
	}
	return refs
}

// action is a tool that checks its input itself. Genkit would end the generation where
// the input does not fit the schema, so it sees the schema in the description only.
type action struct {
	api.Action
	schema map[string]any
}

func newAction(t *tools.Tool) action {
	a := action{Action: core.NewAction(t.Name, api.ActionTypeToolV2, map[string]any{
		"type": api.ActionTypeToolV2, "name": t.Name, "description": t.Description(), "tool": map[string]any{"multipart": true},
	}, nil, func(ctx context.Context, input any) (*ai.MultipartToolResponse, error) { return call(ctx, t, input) })}
	if err := json.Unmarshal(t.InputSchema(), &a.schema); err != nil {
		panic(err) // every schema is an object
	}
	return a
}

// Desc implements [api.Action].
func (a action) Desc() api.ActionDesc {
	desc := a.Action.Desc()
	desc.InputSchema = a.schema
	return desc
}

// Register implements [api.Registerable].
func (a action) Register(r api.Registry) { r.RegisterAction(a.Desc().Key, a) }

func call(ctx context.Context, t *tools.Tool, input any) (*ai.MultipartToolResponse, error) {
	if input == nil {
		input = map[string]any{}
	}
	args, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	result, err := t.Call(ctx, args)
	if err != nil {
		return nil, err
	}
	response := &ai.MultipartToolResponse{Output: result.Text}
	for _, part := range result.Parts {
		data := "data:" + part.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(part.Data)
		response.Content = append(response.Content, ai.NewMediaPart(part.MIMEType, data))
	}
	return response, nil
}
