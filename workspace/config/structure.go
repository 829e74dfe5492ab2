package config

import (
	"reflect"
	"strings"

	"github.com/workspacekit/workspacekit/internal/wording"
)

// field is a field of a struct that a file can set.
type field struct {
	key      string
	index    int
	required bool
}

// fieldsOf returns the fields of a struct type, by their JSON tags, as the JSON
// Schema of the type has them: what is not "omitempty" or "omitzero" is
// required.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, flags, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		optional := strings.Contains(flags, "omitempty") || strings.Contains(flags, "omitzero")
		fields = append(fields, field{key: name, index: i, required: !optional})
	}
	return fields
}

func keysOf(fields []field) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}

// structure sets the fields of the struct v to what n says. The key besides, if
// it is not empty, is somebody else's.
func (d decoder) structure(what string, n *node, v reflect.Value, besides string) {
	if n.kind != mapNode {
		d.wrong(what, n, "a mapping such as {a: b}")
		return
	}
	fields := fieldsOf(v.Type())
	byKey := make(map[string]field, len(fields))
	for _, f := range fields {
		byKey[f.key] = f
	}
	meant := map[string]bool{} // by keys that are spelled wrongly
	for _, e := range n.entries {
		f, known := byKey[e.key]
		switch {
		case known:
			d.decode(e.key, e.value, v.Field(f.index))
		case e.key != besides:
			meant[wording.Closest(e.key, keysOf(fields))] = true
			d.add(e.at, "%s has no key %q: %s", what, short(e.key), suggest(e.key, keysOf(fields)))
		}
	}
	for _, f := range fields {
		if f.required && n.lookup(f.key) == nil && !meant[f.key] {
			d.add(n.at, "%s needs the key %q", what, f.key)
		}
	}
}
