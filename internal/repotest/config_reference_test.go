package repotest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const referenceHead = `
A key in bold is required. A dot leads into a mapping, ` + "`[]`" + ` into the items of a list. A duration
is a text such as ` + "`1m30s`" + `. ` + "`workspace config schema`" + ` prints a [JSON Schema](workspace.schema.json).

`

// TestConfigReference keeps docs/config-reference.md and
// docs/config-reference-providers.md, which list what the schema describes.
func TestConfigReference(t *testing.T) {
	root := schemaOf(t)
	var file, providers strings.Builder
	section := func(b *strings.Builder, title, about string, s *schemaNode) {
		fmt.Fprintf(b, "\n## %s\n\n%s\n\n| key | type | meaning |\n|---|---|---|\n", title, about)
		keyRows(b, "", s)
	}
	file.WriteString("# All keys of workspace.yaml\n" + referenceHead +
		"See also the [settings](config-settings.md) and the [options of providers](config-reference-providers.md).\n")
	section(&file, "The file", "In [one file](config.md):", root)
	section(&file, "A workspace", "In place of this mapping, a workspace can be a [URL](urls.md).", root.Definitions["workspace"])

	providers.WriteString("# All options of providers\n\nSee also [providers](config-providers.md) and [how options are listed](config-reference.md).\n")
	for _, s := range schemes {
		section(&providers, s.name, s.kind.Summary+" A [URL](urls.md) begins with `"+s.kind.Scheme+"://`.", root.Definitions["provider-"+s.name])
	}
	if want := 3 + len(schemes); len(root.Definitions) != want {
		t.Errorf("the schema has %d definitions, want %d: list the new ones", len(root.Definitions), want)
	}
	golden(t, "docs/config-reference.md", file.String())
	golden(t, "docs/config-reference-providers.md", providers.String())
}

// schemaNode is a part of the schema, whose properties are in the order of the code.
type schemaNode struct {
	name        string
	Ref         string `json:"$ref"`
	Type        string
	Description string
	Const       any
	Examples    []any
	Pattern     string
	Required    []string
	Properties  orderedNodes
	Items       *schemaNode
	AnyOf       []*schemaNode
	Definitions map[string]*schemaNode
}

type orderedNodes []*schemaNode

// UnmarshalJSON implements [json.Unmarshaler].
func (nodes *orderedNodes) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		node := &schemaNode{name: name.(string)}
		if err := d.Decode(node); err != nil {
			return err
		}
		*nodes = append(*nodes, node)
	}
	return nil
}

// keyRows writes a row for each key of a mapping.
func keyRows(b *strings.Builder, prefix string, s *schemaNode) {
	for _, p := range s.Properties {
		name := p.name
		if p.Const != nil {
			continue // the kind
		}
		key := "`" + prefix + name + "`"
		if slices.Contains(s.Required, name) {
			key = "**" + key + "**"
		}
		meaning := p.Description
		if p.Ref != "" {
			meaning = "Where the files are: a mapping with a kind and its options, or a URL."
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", key, typeOf(p), strings.ReplaceAll(meaning, "*", `\*`))
		if p.Items != nil {
			keyRows(b, prefix+name+"[].", p.Items)
		}
		keyRows(b, prefix+name+".", p)
	}
}

// typeOf names the type of a key.
func typeOf(s *schemaNode) string {
	var types []string
	for _, one := range s.AnyOf {
		if one.Type != "string" || one.Pattern == "" { // not a variable in place of the value
			types = append(types, typeOf(one))
		}
	}
	switch {
	case len(types) > 0:
		return strings.Join(types, ", or ")
	case len(s.Examples) > 0 && strings.Contains(s.Pattern, "ms|"):
		return "duration"
	case s.Ref != "":
		return "mapping or URL"
	case s.Type == "object":
		return "mapping"
	case s.Type == "array" && s.Items != nil && s.Items.Type == "string":
		return "list of strings"
	case s.Type == "array":
		return "list"
	}
	return map[string]string{"string": "string", "integer": "integer", "number": "number", "boolean": "boolean"}[s.Type]
}
