package tools

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/workspacekit/workspacekit/internal/wording"
)

// Format is the shape in which tools are declared to a model's API.
type Format string

// The formats. Each is a JSON array, the value of the request's "tools".
const (
	// FormatJSON is [Tool] as it marshals.
	FormatJSON Format = "json"
	// FormatOpenAI is that of OpenAI's chat completions, which many other
	// vendors and servers accept.
	FormatOpenAI Format = "openai"
	// FormatOpenAIResponses is that of OpenAI's responses.
	FormatOpenAIResponses Format = "openai-responses"
	// FormatAnthropic is that of Anthropic's messages.
	FormatAnthropic Format = "anthropic"
	// FormatMCP is the format of tools/list in the Model Context Protocol.
	FormatMCP Format = "mcp"
)

// Definitions declares the tools in a format.
//
// # Errors
//
// An unknown format.
func (s *Set) Definitions(format Format) (json.RawMessage, error) {
	declare := declarations(format)
	if declare == nil {
		hint := wording.DidYouMean(string(format), formats())
		if hint == "" {
			hint = "the formats are " + strings.Join(formats(), ", ")
		}
		return nil, fmt.Errorf("tools: unknown format %q; %s", format, hint)
	}
	list := make([]any, len(s.tools))
	for i, t := range s.tools {
		list[i] = declare(t)
	}
	return encode(list, "  ")
}

func formats() []string {
	return []string{string(FormatJSON), string(FormatOpenAI), string(FormatOpenAIResponses), string(FormatAnthropic), string(FormatMCP)}
}

func declarations(format Format) func(*Tool) any {
	switch format {
	case FormatJSON:
		return func(t *Tool) any { return t }
	case FormatOpenAI:
		return func(t *Tool) any { return openAITool{Type: "function", Function: t.function()} }
	case FormatOpenAIResponses:
		return func(t *Tool) any { return openAIResponsesTool{Type: "function", openAIFunction: t.function()} }
	case FormatAnthropic:
		return func(t *Tool) any { return anthropicTool{t.Name, t.Description(), t.InputSchema()} }
	case FormatMCP:
		return func(t *Tool) any { return t.mcp() }
	}
	return nil
}

type jsonTool struct {
	Op           string          `json:"op"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  Annotations     `json:"annotations"`
}

type openAITool struct {
	Type     string         `json:"type"`
	Function openAIFunction `json:"function"`
}

type openAIResponsesTool struct {
	Type string `json:"type"`
	openAIFunction
}

// openAIFunction says that it is not strict, because the strict mode knows no
// optional parameters.
type openAIFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

func (t *Tool) function() openAIFunction {
	return openAIFunction{Name: t.Name, Description: t.Description(), Parameters: t.InputSchema()}
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type mcpTool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  mcpAnnotations  `json:"annotations"`
}

type mcpAnnotations struct {
	Title       string `json:"title"`
	ReadOnly    bool   `json:"readOnlyHint"`
	Destructive bool   `json:"destructiveHint"`
	Idempotent  bool   `json:"idempotentHint"`
	OpenWorld   bool   `json:"openWorldHint"`
}

func (t *Tool) mcp() mcpTool {
	return mcpTool{
		Name: t.Name, Title: t.Annotations.Title, Description: t.Description(),
		InputSchema: t.InputSchema(), OutputSchema: t.OutputSchema(),
		Annotations: mcpAnnotations(t.Annotations),
	}
}
