package tools

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/workspacekit/workspacekit/internal/wording"
)

// checkArguments returns the [*argumentError] of args that are not what s
// describes. It is stricter than decoding, which ignores what it does not know
// and repairs what is not Unicode, and it says what to do. Null stands for a
// parameter that is left out, as in the strict modes of some vendors.
//
// It tells up to mostNotes mistakes of an object, and the first one of a list. A validator of
// JSON Schema would report the same arguments in words about schemas; these messages are for a
// model that tries again:
//
//	{"path": "a.go", "lines": 5}    unknown parameter "lines" ... Did you mean "line"?
//	{"path": 5}                     parameter "path" must be a string, not the number 5
func checkArguments(s *jsonschema.Schema, args json.RawMessage) error {
	args = orEmptyObject(args)
	if err := checkJSON(args); err != nil {
		return err
	}
	return checkObject(s, "", args)
}

// checkJSON returns the error of args that are not JSON which can be decoded without a
// change. Decoding would put U+FFFD in the place of bytes that are not UTF-8, and of half a
// surrogate pair, and a file would then get other text than the model has written.
func checkJSON(args json.RawMessage) error {
	switch {
	case !utf8.Valid(args):
		return &argumentError{message: "arguments are not valid UTF-8", hint: "Write text as UTF-8; other bytes cannot be written by this tool."}
	case !json.Valid(args):
		return &argumentError{message: "arguments are not valid JSON", hint: "Send one JSON object; check quotes and escapes."}
	case hasLoneSurrogate(args):
		return &argumentError{message: `arguments have half of a surrogate pair (\ud800 to \udfff), which is no character`,
			hint: "Write the character itself, or both halves of the pair."}
	}
	return nil
}

// decode unmarshals args that have been checked. Members are matched by their exact names,
// since the check has refused all others. in points to the zero value, so that what is left
// out, or null, is zero or nil.
func decode(args json.RawMessage, in any) error {
	if err := json.Unmarshal(orEmptyObject(args), in); err != nil {
		return &argumentError{message: "arguments cannot be decoded: " + err.Error()}
	}
	return nil
}

// orEmptyObject returns args, or no parameters for what models send in place of an
// empty object: nothing, or null.
func orEmptyObject(args json.RawMessage) json.RawMessage {
	if trimmed := bytes.TrimSpace(args); len(trimmed) == 0 || string(trimmed) == "null" {
		return json.RawMessage("{}")
	}
	return args
}

// checkObject checks the members of an object. where is the path of the object, with a dot at
// the end, or empty. A required member that is null is missing.
func checkObject(s *jsonschema.Schema, where string, raw json.RawMessage) error {
	if kindOf(raw) != "object" {
		return wrongType(s, strings.TrimSuffix(where, "."), raw)
	}
	members, err := membersOf(raw)
	if err != nil {
		return err
	}
	given := map[string]bool{}
	var mistakes []error
	for _, m := range members {
		if err := checkMember(s, where, m, given); err != nil {
			mistakes = append(mistakes, err)
		}
		if len(mistakes) == mostNotes {
			return allOf(mistakes)
		}
	}
	for _, name := range s.Required {
		if !given[name] {
			mistakes = append(mistakes, missing(where+name, s.Properties[name]))
		}
	}
	if len(mistakes) == 0 {
		return nil
	}
	return allOf(mistakes)
}

// allOf returns one error with the texts of all. A hint that several have
// is there once.
func allOf(mistakes []error) error {
	if len(mistakes) == 1 {
		return mistakes[0]
	}
	var all argumentError
	for _, err := range mistakes {
		bad, ok := errors.AsType[*argumentError](err)
		if !ok {
			return err
		}
		all.message = strings.TrimPrefix(all.message+"; "+bad.message, "; ")
		if !strings.Contains(all.hint, bad.hint) {
			all.hint = strings.TrimSpace(all.hint + "\n" + bad.hint)
		}
		all.unknown = cmp.Or(all.unknown, bad.unknown)
	}
	return &all
}

// member is one name and value of an object.
type member struct {
	name  string
	value json.RawMessage
}

// membersOf returns the members in their order, repeated ones too. Decoding into a map would
// lose both. raw must be a valid JSON object. The values are copies.
func membersOf(raw json.RawMessage) ([]member, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	var members []member
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: fmt.Sprint(name)}
		if err := decoder.Decode(&m.value); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return members, nil
}

// checkMember checks one member of an object. A null stands for a parameter that is
// left out, as strict formats cannot leave one out. given has the names that came
// before.
func checkMember(s *jsonschema.Schema, where string, m member, given map[string]bool) error {
	property, known := s.Properties[m.name]
	switch {
	case !known:
		return unknown(s, where, m.name)
	case kindOf(m.value) == "null":
		return nil
	case given[m.name]:
		return &argumentError{message: fmt.Sprintf("parameter %q is given twice", where+m.name), hint: "Give it once."}
	}
	given[m.name] = true
	return checkValue(property, where+m.name, m.value)
}

// unknown returns the error of a parameter that the tool does not have, with the name
// that was meant if one is near.
func unknown(s *jsonschema.Schema, where, name string) error {
	hint := "The parameters are " + strings.Join(s.PropertyOrder, ", ") + "."
	if near := meantParameter(name, s.PropertyOrder); near != "" {
		hint = fmt.Sprintf("Did you mean %q? %s", near, hint)
	}
	return &argumentError{message: fmt.Sprintf("unknown parameter %q", where+clip(name, 100)), hint: hint, unknown: where + name}
}

// meantParameter returns the parameter that an unknown name stands for, and "" if none is
// known. It is for hints only: a parameter by another name is always refused.
func meantParameter(name string, parameters []string) string {
	folded := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
	for _, p := range parameters {
		if slices.Contains(synonyms[p], folded) {
			return p
		}
	}
	return wording.Closest(name, parameters)
}

// synonyms are the names that other tools have for a parameter, in lower case and without "_"
// and "-". A name can stand for several parameters; the first one that the tool has counts.
var synonyms = map[string][]string{
	"path":          {"file", "files", "filepath", "filename", "absolutepath", "targetfile", "dir", "dirpath", "directory", "folder", "uri"},
	"file_path":     {"path", "file", "filename", "absolutepath"},
	"dir_path":      {"path", "directory", "dir", "filepath"},
	"old_string":    {"oldtext", "oldstr", "old", "find", "search"},
	"new_string":    {"newtext", "newstr", "new", "replacement"},
	"glob":          {"include", "includeglob", "type"},
	"offset":        {"line", "start", "startline"},
	"paths":         {"file", "files", "filepath", "filepaths", "path"},
	"line":          {"offset", "start", "startline", "startlineonebased", "from", "viewrange"},
	"limit":         {"count", "maxlines", "maxresults", "headlimit"},
	"tail":          {"last", "lastlines"},
	"content":       {"contents", "text", "filetext", "filecontent", "data", "body"},
	"ifVersion":     {"version", "etag", "expectedversion", "basedon"},
	"oldText":       {"old", "oldstr", "oldstring", "find", "search", "target"},
	"newText":       {"new", "newstr", "newstring", "replace", "replacement", "replacewith"},
	"replaceAll":    {"all", "global", "allowmultiple"},
	"expectedCount": {"expectedreplacements", "count", "occurrences"},
	"insertLine":    {"line", "atline", "insertat", "insertbefore"},
	"regexp":        {"regex", "isregex", "useregex", "pattern"},
	"tolerant":      {"fuzzy", "lenient", "ignorewhitespace"},
	"edits":         {"changes", "replacements", "operations"},
	"pattern":       {"query", "regex", "regexp", "search", "searchterm", "text", "glob", "globpattern", "q"},
	"literal":       {"fixed", "fixedstrings", "plain"},
	"ignoreCase":    {"i", "caseinsensitive"},
	"includeGlob":   {"include", "includes", "includepattern", "glob", "filepattern", "fileglob"},
	"excludeGlob":   {"exclude", "excludes", "excludepattern", "ignore", "excludepatterns"},
	"before":        {"b", "c", "context", "contextlines", "beforecontext"},
	"after":         {"a", "aftercontext"},
	"maxResults":    {"limit", "count", "headlimit", "maxcount", "maxmatches", "m"},
	"output":        {"outputmode", "mode", "format"},
	"source":        {"src", "from", "oldpath", "path", "sourcepath"},
	"destination":   {"dst", "dest", "to", "newpath", "target", "destinationpath"},
	"recursive":     {"r", "parents"},
	"patch":         {"input", "diff", "patchtext"},
	"dryRun":        {"preview", "simulate", "check"},
}

// missing returns the error of a required parameter that was left out, with what the
// schema says about it.
func missing(name string, s *jsonschema.Schema) error {
	hint := ""
	if s.Description != "" {
		hint = fmt.Sprintf("%s: %s", name, s.Description)
	}
	return &argumentError{message: fmt.Sprintf("missing required parameter %q (%s)", name, s.Type), hint: hint}
}

// checkValue checks a value by the type of its schema. The name is where it stands, such as
// "edits[2].oldText". Only the part of JSON Schema is checked that the schemas of this
// package use: types, members, lengths of lists, bounds of integers and enumerations of
// strings.
func checkValue(s *jsonschema.Schema, name string, raw json.RawMessage) error {
	switch s.Type {
	case "object":
		return checkObject(s, name+".", raw)
	case "array":
		return checkArray(s, name, raw)
	case "integer":
		return checkInteger(s, name, raw)
	case "string":
		return checkString(s, name, raw)
	}
	if kindOf(raw) != s.Type {
		return wrongType(s, name, raw)
	}
	return nil
}

// checkArray checks a list and its items. The number of items is tested before the first
// item.
func checkArray(s *jsonschema.Schema, name string, raw json.RawMessage) error {
	var items []json.RawMessage
	if kindOf(raw) != "array" || json.Unmarshal(raw, &items) != nil {
		return wrongType(s, name, raw)
	}
	switch {
	case s.MinItems != nil && len(items) < *s.MinItems:
		return wrongCount(name, "at least", *s.MinItems, len(items), "")
	case s.MaxItems != nil && len(items) > *s.MaxItems:
		return wrongCount(name, "at most", *s.MaxItems, len(items), "Make several calls with fewer items.")
	}
	for i, item := range items {
		if err := checkValue(s.Items, fmt.Sprintf("%s[%d]", name, i), item); err != nil {
			return err
		}
	}
	return nil
}

// checkInteger checks a whole number. 5.0 and 5e0 are whole numbers, too, as JSON has
// only one kind.
func checkInteger(s *jsonschema.Schema, name string, raw json.RawMessage) error {
	n, ok := parseInteger(raw)
	value, shown := float64(n), strconv.Itoa(n)
	if !ok {
		if kindOf(raw) != "number" {
			return wrongType(s, name, raw)
		}
		value, _ = strconv.ParseFloat(string(raw), 64) // infinite if it is out of range
		shown = clip(string(raw), 100)
	}
	switch {
	case value != math.Trunc(value), !ok && value < 0 && s.Minimum == nil:
		return wrongType(s, name, raw)
	case s.Minimum != nil && value < *s.Minimum:
		return outOfRange(name, fmt.Sprintf("at least %.0f", *s.Minimum), shown)
	case s.Maximum != nil && value > *s.Maximum:
		return outOfRange(name, fmt.Sprintf("at most %.0f", *s.Maximum), shown)
	case !ok:
		return outOfRange(name, fmt.Sprintf("at most %d", maxFloatInteger), shown)
	}
	return nil
}

// checkString checks a text: that it is not empty if it may not be, and that it is one of the
// values of an enumeration.
func checkString(s *jsonschema.Schema, name string, raw json.RawMessage) error {
	var text string
	if kindOf(raw) != "string" || json.Unmarshal(raw, &text) != nil {
		return wrongType(s, name, raw)
	}
	if s.MinLength != nil && text == "" {
		return &argumentError{message: fmt.Sprintf("parameter %q must not be empty", name), hint: "Give a value, or leave it out."}
	}
	if len(s.Enum) == 0 || slices.Contains(s.Enum, any(text)) {
		return nil
	}
	values := make([]string, len(s.Enum))
	for i, v := range s.Enum {
		values[i] = fmt.Sprintf("%q", v)
	}
	return &argumentError{message: fmt.Sprintf("parameter %q must be one of %s, not %q", name, strings.Join(values, ", "), clip(text, 100))}
}

// wrongCount returns the error of a list with got items, whose number the schema bounds.
func wrongCount(name, bound string, want, got int, hint string) error {
	return &argumentError{
		message: fmt.Sprintf("parameter %q must have %s %s, and has %d", name, bound, wording.Count(want, "item", "items"), got),
		hint:    hint,
	}
}

// outOfRange returns the error of a number that the schema bounds.
func outOfRange(name, bound, got string) error {
	return &argumentError{
		message: fmt.Sprintf("parameter %q must be %s, and is %s", name, bound, got),
		hint:    fmt.Sprintf("Choose another %s within its bounds, or leave it out.", name),
	}
}

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

// maxFloatInteger is the largest whole number of those that floating point has all.
const maxFloatInteger = 1 << 53

// parseInteger reads a JSON number that is whole, however it is written, and
// not so large that a number in floating point is inexact.
//
//	5, -3         whole
//	5.0, 5e2      whole, in floating point
//	5.5, "5"      not whole, not a number
//	1e300         above 1<<53, where floating point skips whole numbers
func parseInteger(raw []byte) (n int, ok bool) {
	if kindOf(raw) != "number" {
		return 0, false
	}
	if n, err := strconv.Atoi(string(raw)); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > maxFloatInteger {
		return 0, false
	}
	return int(f), true
}

// kindOf returns the JSON type of a valid value: "number" for every number. The first byte
// decides. Nothing at all is "null", as for a member that is left out. It is no test of
// validity: what begins like nothing else is a number.
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

// wrongType is the error of a value that is not of s's type. It shows the beginning of the
// value. An empty name stands for the arguments as a whole.
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

// article returns the name of a JSON type with its article.
func article(kind string) string {
	switch kind {
	case "integer", "object", "array":
		return "an " + kind
	}
	return "a " + kind
}

// typeHint says how to write a value of the right type. A value that is right but for
// the quotes around it is shown without them.
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
//
// JSON writes a character beyond U+FFFF as two escapes: the first is from d800 to dbff, and
// the second from dc00 to dfff:
//
//	"\ud83d\ude00"    a character
//	"\ud83d"          half of one: true
//	"\ude00\ud83d"    two halves in the wrong order: true
//	"\\ud83d"         a backslash, and text: false
//
// It looks at backslashes only, which valid JSON has in strings only, so each begins an
// escape.
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
