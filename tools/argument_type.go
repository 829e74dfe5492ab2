package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// integer is a whole number in arguments, which some clients write as 5.0.
type integer int

// UnmarshalJSON implements [json.Unmarshaler].
func (i *integer) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	n, ok := parseInteger(raw)
	if !ok {
		return fmt.Errorf("%s is not an integer", raw)
	}
	*i = integer(n)
	return nil
}

// parseInteger reads a JSON number that is whole, however it is written, and
// not so large that a number in floating point is inexact.
func parseInteger(raw []byte) (n int, ok bool) {
	if kindOf(raw) != "number" {
		return 0, false
	}
	if n, err := strconv.Atoi(string(raw)); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int(f), true
}

// kindOf returns the JSON type of a valid value: "number" for every number.
func kindOf(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "null"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// wrongType is the error of a value that is not of s's type.
func wrongType(s *jsonschema.Schema, name string, raw json.RawMessage) error {
	what := fmt.Sprintf("parameter %q", name)
	if name == "" {
		what = "the arguments"
	}
	return &argumentError{
		message: fmt.Sprintf("%s must be %s, not the %s %s", what, article(s.Type), kindOf(raw), clip(string(raw), 100)),
		hint:    typeHint(s, raw),
	}
}

func article(kind string) string {
	switch kind {
	case "integer", "object", "array":
		return "an " + kind
	}
	return "a " + kind
}

func typeHint(s *jsonschema.Schema, raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && json.Valid([]byte(text)) && kindOf([]byte(text)) == jsonKind(s.Type) {
		return "Write the value without quotes: " + clip(text, 100)
	}
	switch s.Type {
	case "integer":
		return "Write a whole number without quotes, such as 5."
	case "boolean":
		return "Write true or false without quotes."
	case "string":
		return "Write the value in double quotes."
	case "array":
		return "Write a list in square brackets."
	}
	return "Write one JSON object in braces."
}

// jsonKind returns what kindOf says for a value of a schema type.
func jsonKind(schemaType string) string {
	if schemaType == "integer" {
		return "number"
	}
	return schemaType
}

// hasLoneSurrogate reports whether valid JSON has half of a surrogate pair,
// which decoding would replace.
func hasLoneSurrogate(raw []byte) bool {
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 {
			return false
		}
		raw = raw[at:]
		unit, ok := codeUnit(raw)
		switch {
		case !ok:
			raw = raw[2:]
		case unit >= 0xDC00 && unit < 0xE000:
			return true
		case unit >= 0xD800 && unit < 0xDC00:
			low, ok := codeUnit(raw[6:])
			if !ok || low < 0xDC00 || low > 0xDFFF {
				return true
			}
			raw = raw[12:]
		default:
			raw = raw[6:]
		}
	}
}

// codeUnit reads a \u escape at the start of raw.
func codeUnit(raw []byte) (unit uint64, ok bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return unit, err == nil
}
