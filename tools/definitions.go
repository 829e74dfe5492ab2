package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

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
	// FormatOpenAIStrict is that of chat completions in strict mode, in which a
	// model can only write arguments that fit the schema. All parameters are
	// required there; null stands for one that is left out.
	FormatOpenAIStrict Format = "openai-strict"
	// FormatOpenAIResponses is that of OpenAI's responses.
	FormatOpenAIResponses Format = "openai-responses"
	// FormatAnthropic is that of Anthropic's messages.
	FormatAnthropic Format = "anthropic"
	// FormatGemini is that of Gemini's function declarations. They are one
	// element of the array.
	FormatGemini Format = "gemini"
	// FormatMCP is the format of tools/list in the Model Context Protocol.
	FormatMCP Format = "mcp"
)

// Definitions declares the tools in a format, in the order of [Set.Tools]. The caller owns the
// bytes.
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
	if format == FormatGemini {
		list = []any{geminiTool{list}}
	}
	return encode(list, "  ")
}

// formats returns the names of all formats.
func formats() []string {
	return []string{string(FormatJSON), string(FormatOpenAI), string(FormatOpenAIStrict), string(FormatOpenAIResponses),
		string(FormatAnthropic), string(FormatGemini), string(FormatMCP)}
}

// declarations returns how a format declares one tool, nil if there is no such format. What
// it returns is marshaled without the escapes for HTML.
func declarations(format Format) func(*Tool) any {
	switch format {
	case FormatJSON:
		return func(t *Tool) any { return t }
	case FormatOpenAI:
		return func(t *Tool) any { return openAITool{Type: "function", Function: t.function()} }
	case FormatOpenAIStrict:
		return func(t *Tool) any { return openAITool{Type: "function", Function: t.strictFunction()} }
	case FormatOpenAIResponses:
		return func(t *Tool) any { return openAIResponsesTool{Type: "function", openAIFunction: t.function()} }
	case FormatAnthropic:
		return func(t *Tool) any { return anthropicTool{t.Name, t.Description(), t.InputSchema()} }
	case FormatGemini:
		return func(t *Tool) any { return t.geminiFunction() }
	case FormatMCP:
		return func(t *Tool) any { return t.mcp() }
	}
	return nil
}

// jsonTool is a tool as FormatJSON has it.
type jsonTool struct {
	Op           string          `json:"op"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  Annotations     `json:"annotations"`
}

// openAITool is a tool of chat completions: a function, in an object that says so.
type openAITool struct {
	Type     string         `json:"type"`
	Function openAIFunction `json:"function"`
}

// openAIResponsesTool is a tool of responses, which has the members of the function
// beside the type.
type openAIResponsesTool struct {
	Type string `json:"type"`
	openAIFunction
}

// openAIFunction says whether it is strict, because what stands for a missing
// strict differs.
type openAIFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// function returns the tool as OpenAI's functions that are not strict.
func (t *Tool) function() openAIFunction {
	return openAIFunction{Name: t.Name, Description: t.Description(), Parameters: t.InputSchema()}
}

// strictFunction returns the tool for the strict mode of OpenAI. Its schema begins with the
// one that models see, so a compact set is compact here, too.
func (t *Tool) strictFunction() openAIFunction {
	schema := must(json.Marshal(strictSchema(t.declared(), true)))
	return openAIFunction{Name: t.Name, Description: t.Description(), Parameters: schema, Strict: true}
}

// strictSchema returns s in the subset of JSON Schema that the strict mode of
// OpenAI knows: what is not required is required, and may be null. Bounds and
// defaults, which are not in the subset, are told in words.
//
// The optional parameter
//
//	"limit": {"type": "integer", "minimum": 1, "maximum": 2000, "description": "how many lines"}
//
// becomes, and is required,
//
//	"limit": {"type": ["integer", "null"], "description": "how many lines (1 to 2000)"}
//
// An enumeration that may be null lists null, too. Objects refuse other members at all
// levels. s is not changed, but the result shares parts of it.
func strictSchema(s *jsonschema.Schema, required bool) *jsonschema.Schema {
	strict := &jsonschema.Schema{
		Type: s.Type, Description: inWords(s, true), Enum: s.Enum,
		PropertyOrder: s.PropertyOrder,
	}
	if !required {
		strict.Type, strict.Types = "", []string{s.Type, "null"}
		if s.Enum != nil {
			strict.Enum = append(slices.Clone(s.Enum), nil)
		}
	}
	if s.Items != nil {
		strict.Items = strictSchema(s.Items, true)
	}
	if s.Type == "object" {
		strict.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}} // false
		strict.Properties, strict.Required = map[string]*jsonschema.Schema{}, s.PropertyOrder
		for name, p := range s.Properties {
			strict.Properties[name] = strictSchema(p, slices.Contains(s.Required, name))
		}
	}
	return strict
}

// inWords returns the description of s and what else a vendor's schemas cannot say about it:
// its default, and its bounds. Without bounds, the vendor's schema has them itself. A default
// of false is not told, as it is what everybody assumes.
func inWords(s *jsonschema.Schema, bounds bool) string {
	var facts []string
	if bounds {
		switch {
		case s.Minimum != nil && s.Maximum != nil:
			facts = append(facts, fmt.Sprintf("%.0f to %.0f", *s.Minimum, *s.Maximum))
		case s.Minimum != nil:
			facts = append(facts, fmt.Sprintf("from %.0f", *s.Minimum))
		case s.MaxItems != nil:
			facts = append(facts, fmt.Sprintf("at most %d", *s.MaxItems))
		}
	}
	if len(s.Default) > 0 && string(s.Default) != "false" {
		facts = append(facts, "default "+string(s.Default))
	}
	if len(facts) == 0 {
		return s.Description
	}
	return strings.TrimSpace(s.Description + " (" + strings.Join(facts, ", ") + ")")
}

// geminiTool holds all functions, as Gemini wants them in one tool.
type geminiTool struct {
	FunctionDeclarations []any `json:"functionDeclarations"`
}

// geminiFunction is a function of Gemini. One without parameters has no schema: an
// object without properties is refused.
type geminiFunction struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Parameters  *geminiSchema `json:"parameters,omitempty"` // none without properties
}

// geminiFunction returns the tool for Gemini. The result of a tool is not declared.
func (t *Tool) geminiFunction() geminiFunction {
	f := geminiFunction{Name: t.Name, Description: t.Description()}
	if s := t.declared(); len(s.Properties) > 0 {
		f.Parameters = newGeminiSchema(s)
	}
	return f
}

// geminiSchema is what Gemini knows of an OpenAPI schema. It is a type of its own, and not a
// [jsonschema.Schema], so that no other member is ever sent.
type geminiSchema struct {
	Type        string                   `json:"type"`
	Description string                   `json:"description,omitempty"`
	Enum        []any                    `json:"enum,omitempty"`
	Minimum     *float64                 `json:"minimum,omitempty"`
	Maximum     *float64                 `json:"maximum,omitempty"`
	Items       *geminiSchema            `json:"items,omitempty"`
	MinItems    *int                     `json:"minItems,omitempty"`
	MaxItems    *int                     `json:"maxItems,omitempty"`
	Properties  map[string]*geminiSchema `json:"properties,omitempty"`
	Required    []string                 `json:"required,omitempty"`
}

// newGeminiSchema returns s in the subset of OpenAPI's schemas that Gemini knows, whose types
// are in upper case. Defaults are told in words. Properties come in the order of their names,
// as JSON has those of a map.
func newGeminiSchema(s *jsonschema.Schema) *geminiSchema {
	g := &geminiSchema{
		Type: strings.ToUpper(s.Type), Description: inWords(s, false), Enum: s.Enum,
		Minimum: s.Minimum, Maximum: s.Maximum, MinItems: s.MinItems, MaxItems: s.MaxItems, Required: s.Required,
	}
	if s.Items != nil {
		g.Items = newGeminiSchema(s.Items)
	}
	for name, p := range s.Properties {
		if g.Properties == nil {
			g.Properties = map[string]*geminiSchema{}
		}
		g.Properties[name] = newGeminiSchema(p)
	}
	return g
}

// anthropicTool is a tool of Anthropic's messages. It has no room for annotations and
// results.
type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// mcpTool is a tool of tools/list.
type mcpTool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  mcpAnnotations  `json:"annotations"`
}

// mcpAnnotations are the hints of the Model Context Protocol. All four are always sent,
// since the protocol's defaults for missing ones are the dangerous ones.
type mcpAnnotations struct {
	Title       string `json:"title"`
	ReadOnly    bool   `json:"readOnlyHint"`
	Destructive bool   `json:"destructiveHint"`
	Idempotent  bool   `json:"idempotentHint"`
	OpenWorld   bool   `json:"openWorldHint"`
}

// mcp returns the tool for the Model Context Protocol.
func (t *Tool) mcp() mcpTool {
	return mcpTool{
		Name: t.Name, Title: t.Annotations.Title, Description: t.Description(),
		InputSchema: t.InputSchema(), OutputSchema: t.OutputSchema(),
		Annotations: mcpAnnotations(t.Annotations),
	}
}
