package lint

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/tools"
)

// vendor is what a vendor accepts, as it documents it or as its servers answer.
// Where versions and models differ, it is what all of them accept.
type vendor struct {
	name        func() *regexp.Regexp // of a tool
	property    func() *regexp.Regexp // the name of a parameter; nil for any
	description int                   // characters of a tool's description; 0 for any number
	tools       int                   // tools in a request; 0 for any number
	grouped     bool                  // the array has lists of tools
	function    bool                  // a tool is in a member function
	schema      string                // the member with the schema of the arguments
	strict      bool                  // all parameters are required, and nothing else is allowed
	keywords    []string              // in a schema; nil for any
	refused     []string              // keywords that no schema may have
	refusedRoot []string              // keywords that the schema of all arguments may not have
	types       []string              // of JSON; nil for those of JSON Schema
	nesting     int                   // objects and arrays in each other; 0 for any number
}

var (
	common   = lazyregexp.New(`^[a-zA-Z0-9_-]{1,64}$`)
	combined = []string{"oneOf", "anyOf", "allOf", "not", "enum"}
)

var vendors = map[tools.Format]vendor{
	tools.FormatOpenAI:          {name: common, description: 1024, tools: 128, function: true, schema: "parameters", refusedRoot: combined},
	tools.FormatOpenAIResponses: {name: common, description: 1024, tools: 128, schema: "parameters", refusedRoot: combined},
	tools.FormatOpenAIStrict: {
		name: common, description: 1024, tools: 128, function: true, schema: "parameters", refusedRoot: combined, strict: true, nesting: 5,
		keywords: []string{"type", "description", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs"},
	},
	tools.FormatAnthropic: {
		name: common, property: lazyregexp.New(`^[a-zA-Z0-9_.-]{1,64}$`), schema: "input_schema",
		refused: []string{"$ref", "$dynamicRef"}, refusedRoot: []string{"oneOf", "anyOf", "allOf"},
	},
	tools.FormatGemini: {
		name: lazyregexp.New(`^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$`), tools: 128, grouped: true, schema: "parameters",
		types: []string{"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"},
		keywords: []string{"type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required",
			"minProperties", "maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf", "propertyOrdering", "items", "minimum", "maximum"},
	},
	tools.FormatMCP: {name: lazyregexp.New(`^[a-zA-Z0-9_.-]{1,128}$`), schema: "inputSchema"},
}

// Vendors returns the formats that Check has rules for.
func Vendors() []tools.Format { return slices.Sorted(maps.Keys(vendors)) }

// checkSchema checks a schema and those in it. where is the path of the parameter
// that it describes, empty for all arguments.
func (v vendor) checkSchema(r *Report, tool, where string, s object, depth int) {
	report := func(format string, args ...any) {
		at := ""
		if where != "" {
			at = where + ": "
		}
		r.add(tool, "%s"+format, append([]any{at}, args...)...)
	}
	for _, word := range slices.Sorted(maps.Keys(s)) {
		if slices.Contains(v.refused, word) || v.keywords != nil && !slices.Contains(v.keywords, word) {
			report("the keyword %s is refused", word)
		}
	}
	if kind, ok := s["type"].(string); v.types != nil && (!ok || !slices.Contains(v.types, kind)) {
		report("the type is %v, and must be one of %s", s["type"], strings.Join(v.types, ", "))
	}
	properties, _ := s["properties"].(object)
	items, _ := s["items"].(object)
	if v.nesting > 0 && depth > v.nesting {
		report("objects and arrays are nested in more than %d levels", v.nesting)
	}
	switch {
	case v.isType(s, "array") && items == nil && (v.grouped || v.strict):
		report("an array has no items")
	case v.isType(s, "object") && len(properties) == 0 && v.grouped:
		report("an object has no properties")
	case v.isType(s, "object") && v.strict:
		v.checkStrict(report, s, properties)
	}
	if items != nil {
		v.checkSchema(r, tool, where+"[]", items, depth+1)
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if v.property != nil && !v.property().MatchString(name) {
			report("the parameter %q does not match %s", name, v.property())
		}
		if p, ok := properties[name].(object); ok {
			v.checkSchema(r, tool, strings.TrimPrefix(where+"."+name, "."), p, depth+1)
		}
	}
}

// checkStrict checks an object for a strict mode.
func (v vendor) checkStrict(report func(string, ...any), s, properties object) {
	if s["additionalProperties"] != false {
		report("additionalProperties is not false")
	}
	required, _ := s["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(required, any(name)) {
			report("%q is not required", name)
		}
	}
}

// isType reports whether s describes values of a type, however its name is
// written, and perhaps null.
func (v vendor) isType(s object, kind string) bool {
	switch t := s["type"].(type) {
	case string:
		return strings.EqualFold(t, kind)
	case []any:
		return slices.Contains(t, any(kind))
	}
	return false
}
