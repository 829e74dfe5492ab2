package tools

import (
	"bytes"
	"encoding/json"
)

// encode is [json.Marshal] without the escapes for HTML, which cost a model
// that reads source code.
func encode(v any, indent string) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
