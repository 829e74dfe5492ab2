package tools_test

import (
	"encoding/json"
	"testing"

	"github.com/workspacekit/workspacekit/tools"
)

func TestBadArguments(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": "text\n"}, nil)
	tests := []struct{ name, op, args, message, hint string }{
		{"unknown", "read_file", `{"path":"a","lines":3}`, `unknown parameter "lines"`, `Did you mean "line"?`},
		{"unknown-case", "read_file", `{"Path":"a"}`, `unknown parameter "Path"`, `Did you mean "path"?`},
		{"unknown-far", "ls", `{"wherever":"a"}`, `unknown parameter "wherever"`, "The parameters are path, limit, cursor."},
		{"unknown-nested", "edit_file", `{"path":"a","edits":[{"old":"x","newText":""}]}`, `unknown parameter "edits[0].old"`, "oldText"},
		{"missing", "read_file", `{}`, `missing required parameter "path" (string)`, "path: the file"},
		{"missing-null", "read_file", `{"path":null}`, `missing required parameter "path"`, "path: the file"},
		{"missing-all", "stat", ``, `missing required parameter "path"`, "path: "},
		{"missing-content", "write_file", `{"path":"a"}`, `missing required parameter "content"`, "empty makes an empty file"},
		{"missing-nested", "edit_file", `{"path":"a","edits":[{"oldText":"x"}]}`, `missing required parameter "edits[0].newText"`, ""},
		{"twice", "stat", `{"path":"a","path":"b"}`, `parameter "path" is given twice`, "once"},
		{"string-for-integer", "read_file", `{"path":"a","line":"5"}`, `parameter "line" must be an integer, not the string "5"`, "without quotes: 5"},
		{"word-for-integer", "read_file", `{"path":"a","line":"five"}`, `must be an integer, not the string "five"`, "such as 5"},
		{"fraction", "read_file", `{"path":"a","line":2.5}`, `parameter "line" must be an integer, not the number 2.5`, "whole number"},
		{"huge", "read_file", `{"path":"a","line":1e300}`, `must be an integer, not the number 1e300`, "whole number"},
		{"boolean-for-integer", "grep", `{"pattern":"a","before":true}`, `must be an integer, not the boolean true`, ""},
		{"zero-line", "read_file", `{"path":"a","line":0}`, `parameter "line" must be at least 1, and is 0`, ""},
		{"negative-line", "read_file", `{"path":"a","line":-1}`, `must be at least 1, and is -1`, ""},
		{"negative-tail", "read_file", `{"path":"a","tail":-1}`, `must be at least 1, and is -1`, ""},
		{"large-limit", "read_file", `{"path":"a","limit":2001}`, `parameter "limit" must be at most 2000, and is 2001`, ""},
		{"zero-limit", "ls", `{"limit":0}`, `must be at least 1, and is 0`, ""},
		{"large-results", "grep", `{"pattern":"a","maxResults":1001}`, `must be at most 1000`, ""},
		{"negative-context", "grep", `{"pattern":"a","before":-1}`, `must be at least 0`, ""},
		{"number-for-string", "stat", `{"path":5}`, `parameter "path" must be a string, not the number 5`, "double quotes"},
		{"string-for-boolean", "mkdir", `{"path":"a","recursive":"true"}`, `must be a boolean, not the string "true"`, "without quotes: true"},
		{"number-for-boolean", "mkdir", `{"path":"a","recursive":1}`, `must be a boolean, not the number 1`, "true or false"},
		{"object-for-array", "edit_file", `{"path":"a","edits":{}}`, `must be an array, not the object {}`, "square brackets"},
		{"string-for-array", "edit_file", `{"path":"a","edits":"[]"}`, `must be an array, not the string`, "without quotes: []"},
		{"string-in-array", "edit_file", `{"path":"a","edits":["x"]}`, `parameter "edits[0]" must be an object`, "braces"},
		{"null-in-array", "edit_file", `{"path":"a","edits":[null]}`, `parameter "edits[0]" must be an object`, "braces"},
		{"no-edits", "edit_file", `{"path":"a","edits":[]}`, `parameter "edits" must have at least 1 items, and is 0`, ""},
		{"enum", "read_file", `{"path":"a","encoding":"utf8"}`, `must be one of "utf-8", "base64", not "utf8"`, "listed"},
		{"array", "stat", `["a"]`, `the arguments must be an object, not the array ["a"]`, "one JSON object"},
		{"string", "stat", `"a"`, `the arguments must be an object, not the string "a"`, "one JSON object"},
		{"broken", "stat", `{"path":`, `not valid JSON`, "check quotes"},
		{"two-values", "stat", `{"path":"a"} {}`, `not valid JSON`, ""},
		{"not-utf8", "write_file", "{\"path\":\"b\",\"content\":\"\xff\"}", `not valid UTF-8`, "UTF-8"},
		{"high-surrogate", "write_file", `{"path":"b","content":"\ud83d x"}`, `half of a surrogate pair`, "both halves"},
		{"low-surrogate", "write_file", `{"path":"b","content":"\ude00"}`, `half of a surrogate pair`, ""},
		{"tail-and-line", "read_file", `{"path":"a","tail":1,"line":1}`, `"tail" cannot be given together with "line"`, "tail alone"},
		{"tail-and-limit", "read_file", `{"path":"a","tail":1,"limit":1}`, `"tail" cannot be given together`, ""},
		{"base64-and-line", "read_file", `{"path":"a","encoding":"base64","line":1}`, `"encoding" is "base64"`, "whole file"},
		{"past-the-end", "read_file", `{"path":"a","line":2}`, `parameter "line" is 2, and a has 1 line`, "from 1 to 1"},
		{"both-conditions", "write_file", `{"path":"b","content":"","createOnly":true,"ifVersion":"1"}`, `cannot be given together`, "createOnly for"},
		{"edits-and-old", "edit_file", `{"path":"a","oldText":"x","edits":[{"oldText":"x","newText":""}]}`, `"edits" cannot be given together`, "either"},
		{"no-old", "edit_file", `{"path":"a","newText":"x"}`, `missing required parameter "oldText"`, "or a list"},
		{"no-new", "edit_file", `{"path":"a","oldText":"text"}`, `missing required parameter "newText"`, `"" removes`},
		{"empty-old", "edit_file", `{"path":"a","oldText":"","newText":"x"}`, `oldText is empty`, `newText may be ""`},
		{"same", "edit_file", `{"path":"a","oldText":"text","newText":"text"}`, `are the same`, ""},
		{"bad-cursor", "ls", `{"cursor":"xyz"}`, `"cursor" is not one that a tool returned`, "nextCursor"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := bad(t, set, tt.op, tt.args, tools.CodeInvalidArguments)
			contains(t, "message", err.Message, tt.message)
			contains(t, "hint", err.Hint, tt.hint)
			if err.Retryable {
				t.Error("the error is retryable")
			}
		})
	}
	if _, err := set.Definitions(tools.FormatJSON); err != nil {
		t.Error(err)
	}
	bad(t, set, "stat", `{"path":"b"}`, "FILE_NOT_FOUND") // nothing was written
}

func TestLenientArguments(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": "1\n2\n3\n"}, nil)
	tests := []struct{ name, op, args string }{
		{"whole-float", "read_file", `{"path":"a","line":2.0}`},
		{"exponent", "read_file", `{"path":"a","line":2e0}`},
		{"null-is-left-out", "read_file", `{"path":"a","line":null,"limit":null,"encoding":null}`},
		{"spaces", "read_file", " {\n\"path\" : \"a\" } "},
		{"no-arguments", "ls", ``},
		{"null-arguments", "ls", `null`},
		{"surrogate-pair", "write_file", `{"path":"b","content":"\ud83d\ude00 \\ud83d"}`},
		{"rooted-path", "stat", `{"path":"/a"}`},
		{"dotted-path", "stat", `{"path":"./x/../a"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { good(t, set, tt.op, tt.args) })
	}
}

// FuzzArguments checks that no arguments break a tool.
func FuzzArguments(f *testing.F) {
	f.Add(uint8(0), `{"path":"a"}`)
	f.Add(uint8(2), `{"path":"a","edits":[{"oldText":"x","newText":"\ud800"}]}`)
	f.Add(uint8(5), `{"pattern":"(","cursor":"e30"}`)
	f.Fuzz(func(t *testing.T, index uint8, args string) {
		set, _ := newSet(t, map[string]string{"a": "x\n"}, nil)
		all := set.Tools()
		tool := all[int(index)%len(all)]
		result, err := tool.Call(t.Context(), json.RawMessage(args))
		if err != nil {
			t.Fatalf("%s(%q): %v", tool.Op, args, err)
		}
		checkResult(t, tool, result)
	})
}
