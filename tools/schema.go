package tools

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/workspacekit/workspacekit/workspace"
)

// schemas describe a tool's arguments and its result.
type schemas struct {
	input, output *jsonschema.Schema
}

// properties are the parameters of a tool, by name.
type properties map[string]*jsonschema.Schema

// schemasOf infers schemas from the Go types of arguments and result.
func schemasOf[In, Out any]() (schemas, error) {
	in, err := jsonschema.For[In](nil)
	if err != nil {
		return schemas{}, err
	}
	out, err := jsonschema.For[Out](nil)
	if err != nil {
		return schemas{}, err
	}
	notNull(in)
	notNull(out)
	open(out)
	return schemas{input: in, output: out}, nil
}

// notNull takes null, which inference adds for every slice and pointer, out of
// the types of s: members are left out instead.
func notNull(s *jsonschema.Schema) {
	if rest := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" }); len(rest) == 1 {
		s.Type, s.Types = rest[0], nil
	}
	for _, p := range s.Properties {
		notNull(p)
	}
	if s.Items != nil {
		notNull(s.Items)
	}
}

// open lets s have members that it does not describe: a result may grow.
func open(s *jsonschema.Schema) {
	s.AdditionalProperties = nil
	for _, p := range s.Properties {
		open(p)
	}
	if s.Items != nil {
		open(s.Items)
	}
}

// between bounds the integer name.
func (p properties) between(name string, low, high int) {
	p[name].Minimum = jsonschema.Ptr(float64(low))
	p[name].Maximum = jsonschema.Ptr(float64(high))
}

// byDefault says what stands for name where it is left out.
func (p properties) byDefault(name string, value any) {
	// The values are constants of this package, which can be marshaled.
	p[name].Default, _ = json.Marshal(value)
}

// oneOf lists the values of the string name.
func (p properties) oneOf(name string, values ...any) { p[name].Enum = values }

// tool makes the tool that s declares.
func (k *kit) tool(s spec) (*Tool, error) {
	types, err := s.schemas()
	if err != nil {
		return nil, err
	}
	if s.shape != nil {
		s.shape(types.input.Properties, k.caps)
	}
	prune(types.input)
	tool := &Tool{Op: s.op, Name: k.names[s.op], Annotations: s.annotations, kit: k, input: types.input, run: s.run}
	if tool.Description, err = k.description(s.op); err != nil {
		return nil, err
	}
	if tool.InputSchema, err = k.marshalSchema(types.input); err != nil {
		return nil, err
	}
	tool.OutputSchema, err = k.marshalSchema(types.output)
	return tool, err
}

// prune takes the names that a shape removed out of the order of s.
func prune(s *jsonschema.Schema) {
	s.PropertyOrder = slices.DeleteFunc(s.PropertyOrder, func(name string) bool {
		_, kept := s.Properties[name]
		return !kept
	})
}

// marshalSchema fills in the descriptions of s and marshals it.
func (k *kit) marshalSchema(s *jsonschema.Schema) (json.RawMessage, error) {
	if err := k.fillDescriptions(s); err != nil {
		return nil, err
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("marshal schema: %w", err)
	}
	return data, nil
}

func (k *kit) fillDescriptions(s *jsonschema.Schema) (err error) {
	if s.Description, err = k.fill(s.Description); err != nil {
		return err
	}
	for _, p := range s.Properties {
		if err := k.fillDescriptions(p); err != nil {
			return err
		}
	}
	if s.Items != nil {
		return k.fillDescriptions(s.Items)
	}
	return nil
}

// canWrite reports whether the tools that change files belong in a set.
func canWrite(caps workspace.Capabilities) bool { return caps.Write }
