package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// arguments returns args as t takes them. Without [Options].Strict, what args
// have in another form, but with a plain meaning, is brought into the form of the
// schema, and notes say so. The error is an [*argumentError].
//
// Arguments that fit are returned as they are, and cost one check. Others are read by their
// meaning and checked again: whatever that made of them, the second check decides. JSON that
// is not valid is never repaired.
func (t *Tool) arguments(args json.RawMessage) (_ json.RawMessage, notes []string, _ error) {
	err := checkArguments(t.input(), args)
	if err == nil {
		return args, nil, nil
	}
	if t.toolset.strict || checkJSON(args) != nil {
		return args, nil, t.lacking(err)
	}
	var r reader
	args = r.value(t.input(), "", args)
	if r.more > 0 {
		r.notes = append(r.notes, fmt.Sprintf("%d more like these", r.more))
	}
	return args, r.notes, t.lacking(checkArguments(t.input(), args))
}

// lacking returns err, or what the workspace lacks if err is about a parameter of write_file
// that is left out for this workspace.
func (t *Tool) lacking(err error) error {
	var bad *argumentError
	if t.Op != ops.WriteFile || !errors.As(err, &bad) || bad.unknown == "" || t.newInput().Properties[bad.unknown] == nil {
		return err
	}
	lacks := "conditional writes"
	if t.toolset.caps.ConditionalWrite {
		lacks = "versions of files"
	}
	return &argumentError{message: fmt.Sprintf("parameter %q needs %s, which this workspace does not have", bad.unknown, lacks), hint: "Leave it out."}
}

// reader reads arguments by their meaning. It leaves alone what has no plain one, so that
// checkArguments says what is wrong with it. It makes new bytes and never changes those of
// the arguments.
type reader struct {
	notes []string
	more  int // notes that are left out
}

// mostNotes is how many notes the result of a call has.
const mostNotes = 10

// value returns raw, the value of the parameter name, in the form that s
// describes:
//
//	"5" and " 5 " for an integer    5
//	"true", "False" for a boolean   true, false
//	5 for a string                  "5"
//	"[…]", "{…}" for a list or an object  what the text holds as JSON
//	one item for a list             a list of it
//	an integer above its maximum    the maximum
//	0, "" or [] that an optional one cannot be  null, which leaves it out
func (r *reader) value(s *jsonschema.Schema, name string, raw json.RawMessage) json.RawMessage {
	raw = r.kind(s, name, raw)
	switch {
	case s.Type == "object" && kindOf(raw) == "object":
		return r.object(s, name, raw)
	case s.Type == "array" && kindOf(raw) == "array":
		return r.array(s, name, raw)
	case s.Type == "integer" && s.Maximum != nil && kindOf(raw) == "number":
		n, _ := strconv.ParseFloat(string(raw), 64) // infinite if it is out of range
		if n > *s.Maximum && n == math.Trunc(n) {
			r.note(name, "%s is above the maximum; used %.0f", clip(string(raw), 100), *s.Maximum)
			return json.RawMessage(strconv.Itoa(int(*s.Maximum)))
		}
	}
	return raw
}

// kind returns raw as a value of the type that s has.
//
// A number is read as the text that was written: 1.50 is "1.50". A text is read as JSON only
// if it then has the type that is wanted, so that a text in a list of texts stays one.
// Booleans may have capitals, as Python writes them. null is left alone: it stands for a
// parameter that is left out.
func (r *reader) kind(s *jsonschema.Schema, name string, raw json.RawMessage) json.RawMessage {
	want := jsonKind(s.Type)
	var text string
	switch {
	case kindOf(raw) == want:
		return raw
	case kindOf(raw) == "number" && want == "string":
		text := strconv.Quote(string(bytes.TrimSpace(raw)))
		r.note(name, "%s was read as %s", clip(string(raw), 100), clip(text, 100))
		return json.RawMessage(text)
	case kindOf(raw) == "string" && json.Unmarshal(raw, &text) == nil:
		if want == "boolean" {
			text = strings.ToLower(text)
		}
		if inner := json.RawMessage(strings.TrimSpace(text)); json.Valid(inner) && kindOf(inner) == want {
			if want == "array" || want == "object" {
				r.note(name, "the text was read as JSON")
			} else {
				r.note(name, "%s was read as %s", clip(string(raw), 100), clip(string(inner), 100))
			}
			return inner
		}
	}
	if want == "array" && kindOf(raw) == jsonKind(s.Items.Type) {
		r.note(name, "one item was read as a list of it")
		return json.RawMessage("[" + string(raw) + "]")
	}
	return raw
}

// object reads the members of an object, each by its schema. What is unknown stays as it is,
// for the checks to refuse. So do repeated members.
func (r *reader) object(s *jsonschema.Schema, name string, raw json.RawMessage) json.RawMessage {
	members, err := membersOf(raw)
	if err != nil {
		return raw
	}
	if name != "" {
		name += "."
	}
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		if property, known := s.Properties[m.name]; known {
			m.value = r.value(property, name+m.name, m.value)
			if what := meaningless(property, m.value); what != "" && !slices.Contains(s.Required, m.name) {
				r.note(name+m.name, "%s was left out", what)
				m.value = json.RawMessage("null")
			}
		}
		key, _ := json.Marshal(m.name) // a string that was decoded from JSON
		out = append(append(append(out, key...), ':'), m.value...)
	}
	return append(out, '}')
}

// meaningless returns what to call a zero value that s does not allow, and "" for any other value.
// Models give it to parameters that they do not need.
func meaningless(s *jsonschema.Schema, raw json.RawMessage) string {
	switch n, ok := parseInteger(raw); {
	case s.MinItems != nil && string(raw) == "[]":
		return "the empty list"
	case s.Minimum != nil && *s.Minimum > 0 && ok && n == 0:
		return "0"
	case (s.MinLength != nil || len(s.Enum) > 0) && string(raw) == `""`:
		return "the empty text"
	}
	return ""
}

// array reads the items of a list.
func (r *reader) array(s *jsonschema.Schema, name string, raw json.RawMessage) json.RawMessage {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return raw
	}
	out := []byte{'['}
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, r.value(s.Items, fmt.Sprintf("%s[%d]", name, i), item)...)
	}
	return append(out, ']')
}

// note keeps a remark about what was understood otherwise than it was written. There are at
// most mostNotes, and the rest are counted. name is the path of the value, such as
// "edits[2].oldText", empty for the arguments as a whole.
func (r *reader) note(name, format string, args ...any) {
	if len(r.notes) == mostNotes {
		r.more++
		return
	}
	if name == "" {
		name = "the arguments"
	}
	r.notes = append(r.notes, name+": "+fmt.Sprintf(format, args...))
}
