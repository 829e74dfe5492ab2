package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/workspacekit/workspacekit/workspace/kind"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/workspacekit/workspacekit/workspace/config/internal/document"
)

// schemaDialect is the draft that editors understand best.
const schemaDialect = "http://json-schema.org/draft-07/schema#"

// Schema returns the JSON Schema of the file, with the kinds of provider that
// are registered. It is made of the types that files are decoded into.
func (r *Registry) Schema() ([]byte, error) {
	root, err := r.fileSchema()
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	compact, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func (r *Registry) fileSchema() (*jsonschema.Schema, error) {
	root, err := schemaOf(reflect.TypeFor[file]())
	if err != nil {
		return nil, err
	}
	tools, err := toolsSchema()
	if err != nil {
		return nil, err
	}
	ws, err := workspaceSchema()
	if err != nil {
		return nil, err
	}
	root.Schema, root.Title = schemaDialect, "Workspaces"
	root.Properties["workspaces"], root.Properties["tools"] = workspacesSchema(), tools
	root.Definitions = map[string]*jsonschema.Schema{"workspace": ws, "url": r.urlSchema()}
	root.Definitions["provider"], err = r.providerSchema(root.Definitions)
	return root, err
}

// schemaOf returns the schema of a type that files are decoded into.
func schemaOf(t reflect.Type) (*jsonschema.Schema, error) { return document.SchemaOf(t, words) }

func ref(name string) *jsonschema.Schema {
	return &jsonschema.Schema{Ref: "#/definitions/" + name}
}

func enum(names []string) []any {
	values := make([]any, len(names))
	for i, name := range names {
		values[i] = name
	}
	return values
}

// choice is the schema of one of names, or of a text with a variable of the environment.
func choice(names []string) []*jsonschema.Schema {
	return []*jsonschema.Schema{{Type: "string", Enum: enum(names)}, {Type: "string", Pattern: document.WithVariable}}
}

func toolsSchema() (*jsonschema.Schema, error) {
	s, err := schemaOf(reflect.TypeFor[Tools]())
	if err != nil {
		return nil, err
	}
	s.Description = "Settings of the tools that a model is given."
	s.Properties["naming"].Pattern = document.Pattern(`\{op\}`)
	s.Properties["naming"].Examples = []any{"workspace__{name}__{op}"}
	s.Properties["disable"].Items.AnyOf = append(choice(toolOps), &jsonschema.Schema{Pattern: document.Pattern("^[a-zA-Z_]+$")}) // which a dialect has
	timeout := s.Properties["timeout"]
	timeout.Pattern = strings.Replace(timeout.Pattern, "[+-]", "[+]", 1)
	least := 1.0
	s.Properties["maxTools"].AnyOf[0].Minimum = &least
	return s, nil
}

func workspacesSchema() *jsonschema.Schema {
	one := 1
	return &jsonschema.Schema{
		Type: "object", Description: "The workspaces, by name.", MinProperties: &one,
		PropertyNames:        &jsonschema.Schema{Pattern: fmt.Sprintf("^[a-zA-Z0-9_-]{1,%d}$", maxName)},
		AdditionalProperties: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{ref("workspace"), ref("url")}},
	}
}

func workspaceSchema() (*jsonschema.Schema, error) {
	s, err := schemaOf(reflect.TypeFor[description]())
	if err != nil {
		return nil, err
	}
	one := 1
	least := 1.0
	s.Properties["provider"] = ref("provider")
	s.Properties["requires"].Items.AnyOf = choice(requirementNames())
	s.Properties["audit"].Properties["file"].MinLength = &one
	s.Properties["policyTests"].Items.Properties["op"].AnyOf = choice(opNames())
	for _, limit := range []string{"keep", "maxMb"} {
		s.Properties["backup"].Properties[limit].AnyOf[0].Minimum = &least
	}
	for _, limit := range []string{"maxSizeMb", "keep"} {
		s.Properties["audit"].Properties[limit].AnyOf[0].Minimum = &least
	}
	settings := s.Properties["fs"]
	settings.Properties["maxFileSizeMb"].AnyOf[0].Minimum = &least
	limits := settings.Properties["quota"]
	limits.Properties["files"].AnyOf[0].Minimum, limits.Properties["mb"].AnyOf[0].Minimum = &least, &least
	limits.MinProperties = &one
	for _, paths := range []string{"allowedPaths", "deniedPaths", "readOnlyPaths", "allowedExtensions", "deniedExtensions"} {
		settings.Properties[paths].MinItems = &one
	}
	rules := settings.Properties["rules"]
	rules.MinItems, rules.Items.Properties["paths"].MinItems = &one, &one
	for _, effect := range effects {
		ops := rules.Items.Properties[effect]
		ops.MinItems, ops.Items.AnyOf = &one, choice(opNames())
		rules.Items.OneOf = append(rules.Items.OneOf, &jsonschema.Schema{Required: []string{effect}})
	}
	for _, extensions := range []string{"allowedExtensions", "deniedExtensions"} {
		settings.Properties[extensions].Items.Pattern = document.Pattern(`^\..`)
	}
	settings.Properties["allowedPaths"].Examples = []any{[]string{"src/**", "*.md"}}
	settings.Properties["deniedPaths"].Examples = []any{[]string{".env*", "*.pem", "secrets/**"}}
	settings.Properties["readOnlyPaths"].Examples = []any{[]string{".git", "docs/**"}}
	return s, nil
}

// urlSchema is that of a URL that stands for a provider.
func (r *Registry) urlSchema() *jsonschema.Schema {
	var examples []any
	for _, scheme := range r.Schemes() {
		examples = append(examples, scheme+"://")
	}
	return &jsonschema.Schema{
		Type: "string", Pattern: document.Pattern("^(" + strings.Join(r.Schemes(), "|") + ")://"), Examples: examples,
		Description: "A URL that stands for a provider and its options.",
	}
}

// providerSchema is that of a provider of any kind. It adds the options of each
// kind to the definitions.
func (r *Registry) providerSchema(definitions map[string]*jsonschema.Schema) (*jsonschema.Schema, error) {
	object := &jsonschema.Schema{
		Type: "object", Required: []string{kindKey},
		Properties: map[string]*jsonschema.Schema{
			kindKey: {Type: "string", Description: "The kind of provider.", AnyOf: choice(r.Kinds())},
		},
	}
	for _, name := range r.Kinds() {
		options, err := optionsSchema(name, r.kinds[name])
		if err != nil {
			return nil, err
		}
		definitions["provider-"+name] = options
		object.AllOf = append(object.AllOf, &jsonschema.Schema{
			If:   &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{kindKey: constant(name)}, Required: []string{kindKey}},
			Then: ref("provider-" + name),
		})
	}
	return &jsonschema.Schema{
		Description: "Where the files are.",
		AnyOf:       []*jsonschema.Schema{object, ref("url")},
	}, nil
}

func constant(value any) *jsonschema.Schema { return &jsonschema.Schema{Const: &value} }

// optionsSchema returns the schema of a provider of the kind k.
func optionsSchema(name string, k *kind.Kind) (*jsonschema.Schema, error) {
	s, err := schemaOf(reflect.TypeOf(k.Options))
	if err != nil {
		return nil, err
	}
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	s.Description = k.Summary
	s.Properties[kindKey] = constant(name)
	s.PropertyOrder = append([]string{kindKey}, s.PropertyOrder...)
	s.Required = append([]string{kindKey}, s.Required...)
	for _, key := range k.AnyOf {
		s.AnyOf = append(s.AnyOf, &jsonschema.Schema{Required: []string{key}})
	}
	return s, nil
}
