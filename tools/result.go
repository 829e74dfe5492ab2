package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Result is what a tool gives back.
type Result struct {
	// Structured is one JSON object: what the tool's OutputSchema describes,
	// or Error where IsError is set.
	Structured json.RawMessage
	// Text is the same for a model to read.
	Text string
	// Notes say how arguments were understood that do not fit the tool's
	// InputSchema. They are the member "notes" of Structured, and of a Text that is a
	// JSON object, as some dialects have it; the last line of any other Text that is
	// not a JSON array.
	Notes []string
	// Parts are the images and documents that were read.
	Parts []Part
	// IsError says that the tool failed, and Error how.
	IsError bool
	// Error is nil unless IsError is set.
	Error *Error

	excerpt excerpt
	object  bool // Text is a JSON object
	array   bool // Text is a JSON array, which clients parse; see arrayText
}

// excerpt is a part of a result's text that is in its structured result, too,
// so that it is encoded once. The zero excerpt is empty.
type excerpt struct {
	start, end int    // of the part of the text
	encoded    []byte // the part in JSON, without quotes
}

// Part is a file for a model to look at itself.
type Part struct {
	// Workspace is the name of the workspace that the file is in.
	Workspace string
	// Path is the file's name from the root.
	Path string
	// MIMEType is image/png, image/jpeg, image/gif, image/webp or application/pdf. A
	// tool of a dialect can have others.
	MIMEType string
	// Data is the content of the file.
	Data []byte
}

// newResult encodes the answer of a tool. An error is one of encoding, which is a bug.
func newResult(out answer) (*Result, error) {
	structured, err := encode(out, "")
	if err != nil {
		return nil, fmt.Errorf("marshal result: %w", err)
	}
	result := &Result{Structured: structured, Text: out.text()}
	result.object = result.Text == string(structured)
	_, result.array = out.(arrayText)
	if q, ok := out.(quoting); ok {
		result.excerpt = q.excerpt(structured)
	}
	if p, ok := out.(parted); ok {
		result.Parts = p.parts()
	}
	return result, nil
}

// failed returns the result of a call that failed, with a text as the dialect has it.
// Structured has the members of e in every dialect.
func (ts *toolset) failed(e *Error) (*Result, error) {
	return failed(e, ts.dialect.fail)
}

// failed returns the result of a call that failed, with the text that text makes of
// e, or the usual one if it is nil.
func failed(e *Error, text func(*Error) string) (*Result, error) {
	structured, err := encode(e, "")
	if err != nil {
		return nil, fmt.Errorf("marshal error: %w", err)
	}
	if text == nil {
		text = (*Error).text
	}
	result := &Result{Structured: structured, Text: text(e), IsError: true, Error: e}
	result.object = strings.HasPrefix(result.Text, "{") && json.Valid([]byte(result.Text))
	return result, nil
}

// TextFor returns Text for a client that shows the model only some of the Parts, or none if
// shown is nil: with a line for each part that it does not show. shown is called once for
// each part, in order.
func (r *Result) TextFor(shown func(Part) bool) string {
	text := r.Text
	for _, p := range r.Parts {
		if shown == nil || !shown(p) {
			text += fmt.Sprintf("\n[%s (%s) cannot be shown here]", onOneLine(p.Path), p.MIMEType)
		}
	}
	return text
}

// arrayText is an output whose text is a JSON array. It has no room for notes: a client
// could not parse the text with a note after it.
type arrayText interface{ isArray() }

// withNotes adds notes to r, which may be nil. It returns r. The text of a file comes before
// the note, so the bounds of the excerpt stay right.
func (r *Result) withNotes(notes []string) *Result {
	if r == nil || len(notes) == 0 {
		return r
	}
	r.Notes = notes
	encoded, _ := encode(notes, "") // every string can be encoded
	r.Structured = withMember(r.Structured, "notes", encoded)
	if r.object {
		r.Text = string(withMember([]byte(r.Text), "notes", encoded))
		return r
	}
	if r.array {
		return r
	}
	if !strings.HasSuffix(r.Text, "\n") {
		r.Text += "\n"
	}
	r.Text += "[note: " + strings.Join(notes, "; ") + "]"
	return r
}

// onOneLine returns a name for a text. A name with control characters or others that cannot be
// seen is quoted: what follows a line break would look like another line of the text, and others
// hide or reorder a part of it.
func onOneLine(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// eachOnOneLine returns the names for a text that lists them, each after prefix.
func eachOnOneLine(prefix string, names []string) []string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = onOneLine(prefix + name)
	}
	return list
}

// withMember returns a JSON object with one more member.
//
//	{}           {"notes":["a"]}
//	{"ok":true}  {"ok":true,"notes":["a"]}
//
// The object is one that [encode] made, so it ends in its brace. Its bytes are not changed.
// name needs no escapes.
func withMember(object []byte, name string, value []byte) []byte {
	body := bytes.TrimSuffix(object, []byte("}"))
	if len(body) > len("{") {
		body = append(body[:len(body):len(body)], ',')
	}
	return slices.Concat(body, []byte(`"`+name+`":`), value, []byte("}"))
}

// AppendTextJSON appends Text to dst as a string of JSON, without the escapes for
// HTML. For the text of a file it takes half the time of encoding it, because it
// copies what is encoded in Structured.
func (r *Result) AppendTextJSON(dst []byte) []byte {
	e := r.excerpt
	dst = append(dst, '"')
	dst = appendEscaped(dst, r.Text[:e.start])
	dst = append(dst, e.encoded...)
	dst = appendEscaped(dst, r.Text[e.end:])
	return append(dst, '"')
}

// appendEscaped appends text as it is in a string of JSON, between the quotes.
func appendEscaped(dst []byte, text string) []byte {
	quoted, _ := encode(text, "") // every string can be encoded
	return append(dst, quoted[1:len(quoted)-1]...)
}

// encode is [json.Marshal] without the escapes for HTML, which cost a model that reads source
// code. An empty indent makes one line. "<", ">" and "&" stay one character in place of six,
// such as \u003c. The caller owns the bytes.
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
