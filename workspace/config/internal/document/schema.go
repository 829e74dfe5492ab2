package document

import (
	"reflect"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// SchemaOf returns the schema of a type that a [Decoder] with the same words decodes into. A
// [Node] can be anything there, as its type is known only to who decodes it.
func SchemaOf(t reflect.Type, words Words) (*jsonschema.Schema, error) {
	known := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[Node](): {},
		reflect.TypeFor[time.Duration](): {
			Type: "string", Pattern: Pattern(`^[+-]?(([0-9]+[.]?[0-9]*|[.][0-9]+)(ns|[uµμ]s|ms|s|m|h))+$`), Examples: []any{"10s", "1m30s"},
		},
	}
	for t, values := range words {
		known[t] = wordSchema(values)
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		return nil, err
	}
	suit(s)
	return s, nil
}

// WithVariable is the pattern of a value with a variable of the environment.
const WithVariable = `\$\{`

// Pattern returns the pattern of a value that matches pattern, or has a variable of the
// environment: what is around that need not match.
func Pattern(pattern string) string { return pattern + "|" + WithVariable }

// suit makes the schema of a Go type one of what a file may say: nothing is null, and a scalar
// may be taken from the environment. The schema is changed in place, with all that is in it.
func suit(s *jsonschema.Schema) {
	if len(s.Types) > 0 {
		s.Types = slices.DeleteFunc(s.Types, func(name string) bool { return name == "null" })
		if len(s.Types) == 1 {
			s.Type, s.Types = s.Types[0], nil
		}
	}
	switch s.Type {
	case "boolean", "integer", "number":
		s.AnyOf = []*jsonschema.Schema{
			{Type: s.Type, Minimum: s.Minimum, Maximum: s.Maximum},
			{Type: "string", Pattern: WithVariable},
		}
		s.Type, s.Minimum, s.Maximum = "", nil, nil
	}
	for _, property := range s.Properties {
		suit(property)
	}
	for _, inner := range []*jsonschema.Schema{s.Items, s.AdditionalProperties} {
		if inner != nil {
			suit(inner)
		}
	}
}

// wordSchema is the schema of a word: a switch, one of the other values, or a
// variable of the environment.
func wordSchema(values []string) *jsonschema.Schema {
	var others []any
	s := &jsonschema.Schema{}
	for _, value := range values {
		if value != "true" && value != "false" {
			others = append(others, value)
		}
	}
	if len(others) < len(values) {
		s.AnyOf = append(s.AnyOf, &jsonschema.Schema{Type: "boolean"})
	}
	s.AnyOf = append(s.AnyOf, &jsonschema.Schema{Type: "string", Enum: others}, &jsonschema.Schema{Type: "string", Pattern: WithVariable})
	return s
}
