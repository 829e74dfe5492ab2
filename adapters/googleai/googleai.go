// Package googleai gives the tools of workspaces to Google's models through the official
// SDK (https://github.com/googleapis/go-genai), for the Gemini API and for Vertex AI:
// Tools are the definitions for a request, and Run runs what the model calls in its
// answer.
//
//	response, err := client.Models.GenerateContent(ctx, model, contents, &genai.GenerateContentConfig{Tools: googleai.Tools(set)})
//	results, err := googleai.Run(ctx, set, response)
//	contents = append(contents, response.Candidates[0].Content, genai.NewContentFromParts(results, genai.RoleUser))
//
// The example has the whole loop. The package is a module of its own.
package googleai

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"

	"google.golang.org/genai"

	"github.com/workspacekit/workspacekit/tools"
)

// Tools returns the definitions of the tools of set.
func Tools(set *tools.Set) (definitions []*genai.Tool) {
	encoded, err := set.Definitions(tools.FormatGemini)
	if err == nil {
		err = json.Unmarshal(encoded, &definitions)
	}
	if err != nil {
		panic(err) // every definition fits
	}
	return definitions
}

// Run calls the tools of set that response calls, one after the other, and returns the
// results in the same order, for the next content. There are none if it calls no tool.
// A failure is in the result. Where the model accepts no images, a note is.
//
// # Errors
//
// Those of [tools.Tool.Call].
func Run(ctx context.Context, set *tools.Set, response *genai.GenerateContentResponse) ([]*genai.Part, error) {
	accepts := shown
	if textOnly.MatchString(response.ModelVersion) {
		accepts = nil
	}
	var results []*genai.Part
	for _, call := range response.FunctionCalls() {
		result, err := run(ctx, set, call, accepts)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

// textOnly matches the models whose API refuses a request with images in a result.
var textOnly = regexp.MustCompile(`(^|/)gemini-[12]\b`)

// Call is [Run] for one call, where the model has other tools, too. It returns images, which
// Gemini accepts from version 3 on.
func Call(ctx context.Context, set *tools.Set, call *genai.FunctionCall) (*genai.Part, error) {
	return run(ctx, set, call, shown)
}

func run(ctx context.Context, set *tools.Set, call *genai.FunctionCall, shown func(tools.Part) bool) (*genai.Part, error) {
	args := call.Args
	if args == nil {
		args = map[string]any{}
	}
	encoded, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	result, err := set.Call(ctx, call.Name, encoded)
	if err != nil {
		return nil, err
	}
	key := "output"
	if result.IsError {
		key = "error"
	}
	response := &genai.FunctionResponse{ID: call.ID, Name: call.Name, Response: map[string]any{key: result.TextFor(shown)}}
	for _, part := range result.Parts {
		if shown != nil && shown(part) {
			response.Parts = append(response.Parts, genai.NewFunctionResponsePartFromBytes(part.Data, part.MIMEType))
		}
	}
	return &genai.Part{FunctionResponse: response}, nil
}

// shown reports whether the API accepts part in a result.
func shown(part tools.Part) bool {
	return slices.Contains([]string{"image/png", "image/jpeg", "image/webp", "application/pdf"}, part.MIMEType)
}
