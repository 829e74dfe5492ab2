// Package lint checks definitions of tools: whether a vendor of models accepts
// them, and what they cost.
//
//	definitions, err := set.Definitions(tools.FormatGemini)
//	report, err := lint.Check(tools.FormatGemini, definitions)
//
// [Check] reads the JSON that goes into a request, so it can check the tools of
// other libraries, too.
package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/tools"
)

// Report is what Check found.
type Report struct {
	// Tools are the tools in the order of the definitions.
	Tools []Tool
	// Characters is the length of all definitions as JSON without spaces.
	Characters int
	// Problems is what the vendor or some client refuses.
	Problems []Problem
}

// Tool is the cost of one tool.
type Tool struct {
	Name       string // of the tool
	Characters int    // of its definition as JSON without spaces
}

// Problem is a part of a definition that a vendor or some client refuses.
type Problem struct {
	Tool string // the name of the tool, empty for all of them together
	Text string // what is wrong, and what the vendor accepts
}

// Tokens estimates how many tokens so many characters of definitions are: one for
// four characters. The tokenizers of vendors differ from each other by a fifth.
func Tokens(characters int) int { return (characters + 3) / 4 }

// Check checks definitions, an array as [tools.Set.Definitions] returns it in a
// format, against the rules of the vendor whose format it is.
//
// # Errors
//
// A format that is no vendor's, and definitions that are not in it.
func Check(format tools.Format, definitions json.RawMessage) (*Report, error) {
	vendor, known := vendors[format]
	if !known {
		return nil, fmt.Errorf("lint: the format %q has no rules", format)
	}
	report, err := vendor.check(definitions)
	if err != nil {
		return nil, fmt.Errorf("lint: definitions for %s: %w", format, err)
	}
	return report, nil
}

// definition is a tool as any of the vendors has it.
type definition struct {
	Name                 string            `json:"name"`
	Description          string            `json:"description"`
	Strict               bool              `json:"strict"`
	Parameters           object            `json:"parameters"`           // OpenAI and Gemini
	AnthropicInput       object            `json:"input_schema"`         // Anthropic
	Input                object            `json:"inputSchema"`          // MCP
	Function             *definition       `json:"function"`             // OpenAI's chat completions
	FunctionDeclarations []json.RawMessage `json:"functionDeclarations"` // Gemini
}

// object is a JSON object, such as a schema.
type object = map[string]any

// read returns a tool and the schema of its arguments, nil if there is none. What has members
// of another format is an error.
func (v vendor) read(raw json.RawMessage) (d definition, schema object, err error) {
	if err := json.Unmarshal(raw, &d); err != nil {
		return d, nil, err
	}
	switch {
	case v.function && d.Function == nil:
		return d, nil, errors.New("an element has no function")
	case v.function:
		d = *d.Function
	case d.Function != nil:
		return d, nil, errors.New("an element has the member function, which is of another format")
	}
	if d.FunctionDeclarations != nil {
		return d, nil, errors.New("an element has the member functionDeclarations, which is of another format")
	}
	schemas := map[string]object{"parameters": d.Parameters, "input_schema": d.AnthropicInput, "inputSchema": d.Input}
	for _, member := range slices.Sorted(maps.Keys(schemas)) {
		if member != v.schema && schemas[member] != nil {
			return d, nil, fmt.Errorf("the tool %q has the member %s, which is of another format; the schema of the arguments is %s", d.Name, member, v.schema)
		}
	}
	return d, schemas[v.schema], nil
}

// check checks the tools one by one, and then together.
func (v vendor) check(definitions json.RawMessage) (*Report, error) {
	var all []json.RawMessage
	if err := json.Unmarshal(definitions, &all); err != nil {
		return nil, err
	}
	r := &Report{Characters: characters(definitions)}
	if v.grouped {
		var err error
		if all, err = functions(all); err != nil {
			return nil, err
		}
	}
	for _, raw := range all {
		d, schema, err := v.read(raw)
		if err != nil {
			return nil, err
		}
		for _, earlier := range r.Tools {
			if strings.EqualFold(earlier.Name, d.Name) {
				r.add(d.Name, "another tool is called %q, and some clients do not tell letters in upper and lower case apart", earlier.Name)
			}
		}
		r.Tools = append(r.Tools, Tool{Name: d.Name, Characters: characters(raw)})
		v.checkTool(r, d, schema)
	}
	if v.tools > 0 && len(all) > v.tools {
		r.add("", "%d tools, and the limit is %d", len(all), v.tools)
	}
	return r, nil
}

func (v vendor) checkTool(r *Report, d definition, schema object) {
	if !v.name().MatchString(d.Name) {
		r.add(d.Name, "the name does not match %s", v.name())
	}
	if n := utf8.RuneCountInString(d.Description); v.description > 0 && n > v.description {
		r.add(d.Name, "the description has %d characters, and the limit is %d", n, v.description)
	}
	if v.strict && !d.Strict {
		r.add(d.Name, "strict is not true")
	}
	if schema == nil {
		if !v.grouped { // Gemini's functions without parameters have none
			r.add(d.Name, "there is no schema of the arguments")
		}
		return
	}
	if !v.isType(schema, "object") {
		r.add(d.Name, "the schema of the arguments is not of type object")
	}
	for _, word := range v.refusedRoot {
		if schema[word] != nil {
			r.add(d.Name, "the schema of the arguments has %s, which is refused there", word)
		}
	}
	v.checkSchema(r, d.Name, "", schema, 0)
}

// functions returns the tools of Gemini's array, whose elements are lists of them.
func functions(groups []json.RawMessage) ([]json.RawMessage, error) {
	var all []json.RawMessage
	for _, raw := range groups {
		var group definition
		if err := json.Unmarshal(raw, &group); err != nil {
			return nil, err
		}
		if group.FunctionDeclarations == nil {
			return nil, errors.New("an element has no functionDeclarations")
		}
		all = append(all, group.FunctionDeclarations...)
	}
	return all, nil
}

// characters returns the length of valid JSON without spaces.
func characters(raw json.RawMessage) int {
	var out bytes.Buffer
	_ = json.Compact(&out, raw) // which fails for invalid JSON only
	return utf8.RuneCount(out.Bytes())
}

func (r *Report) add(tool, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{Tool: tool, Text: fmt.Sprintf(format, args...)})
}
