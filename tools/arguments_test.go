package tools_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

func TestBadArguments(t *testing.T) {
	lenient, ws := newSet(t, map[string]string{"a": "text\n", "empty": ""}, nil)
	set := newSetOf(t, ws, &tools.Options{Strict: true})
	tests := []struct{ name, op, args, message, hint string }{
		{"unknown", "read_file", `{"path":"a","lines":3}`, `unknown parameter "lines"`, `Did you mean "line"?`},
		{"unknown-case", "read_file", `{"Path":"a"}`, `unknown parameter "Path"`, `Did you mean "path"?`},
		{"unknown-far", "ls", `{"wherever":"a"}`, `unknown parameter "wherever"`, "The parameters are path, limit, cursor."},
		{"unknown-nested", "edit_file", `{"path":"a","edits":[{"old":"x","newText":""}]}`, `unknown parameter "edits[0].old"`, "oldText"},
		{"missing", "read_file", `{}`, `missing required parameter "path" (string)`, "path: from the root"},
		{"missing-null", "read_file", `{"path":null}`, `missing required parameter "path"`, "path: from the root"},
		{"missing-all", "stat", ``, `missing required parameter "path"`, "path: "},
		{"missing-content", "write_file", `{"path":"a"}`, `missing required parameter "content"`, "may be empty"},
		{"missing-nested", "edit_file", `{"path":"a","edits":[{"oldText":"x"}]}`, `missing required parameter "edits[0].newText"`, ""},
		{"twice", "stat", `{"path":"a","path":"b"}`, `parameter "path" is given twice`, "once"},
		{"string-for-integer", "read_file", `{"path":"a","line":"5"}`, `parameter "line" must be an integer, not the string "5"`, "without quotes: 5"},
		{"word-for-integer", "read_file", `{"path":"a","line":"five"}`, `must be an integer, not the string "five"`, "such as 5"},
		{"fraction", "read_file", `{"path":"a","line":2.5}`, `parameter "line" must be an integer, not the number 2.5`, "whole number"},
		{"huge", "read_file", `{"path":"a","line":1e300}`, `parameter "line" must be at most 9007199254740992, and is 1e300`, "within its bounds"},
		{"huge-limit", "ls", `{"limit":9223372036854775808}`, `parameter "limit" must be at most 1000, and is 9223372036854775808`, "within its bounds"},
		{"infinite-limit", "ls", `{"limit":1e400}`, `must be at most 1000, and is 1e400`, ""},
		{"negative-huge-limit", "ls", `{"limit":-9223372036854775809}`, `must be at least 1, and is -9223372036854775809`, ""},
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
		{"no-edits", "edit_file", `{"path":"a","edits":[]}`, `parameter "edits" must have at least 1 item, and has 0`, ""},
		{"many-paths", "read_files", `{"paths":["a"` + strings.Repeat(`,"a"`, 50) + `]}`, `parameter "paths" must have at most 50 items, and has 51`, "Make several calls"},
		{"enum", "read_file", `{"path":"a","encoding":"utf8"}`, `must be one of "utf-8", "base64", not "utf8"`, ""},
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
		{"past-the-end", "read_file", `{"path":"a","line":2}`, `parameter "line" is 2, and a has 1 line`, "Give line 1."},
		{"past-the-end-of-empty", "read_file", `{"path":"empty","line":2}`, `parameter "line" is 2, and empty has 0 lines`, "The file is empty: there is nothing to read."},
		{"both-conditions", "write_file", `{"path":"b","content":"","createOnly":true,"ifVersion":"1"}`, `cannot be given together`, "createOnly for"},
		{"edits-and-old", "edit_file", `{"path":"a","oldText":"x","edits":[{"oldText":"x","newText":""}]}`, `"edits" cannot be given together`, "either"},
		{"no-old", "edit_file", `{"path":"a","newText":"x"}`, `missing required parameter "oldText"`, "or a list"},
		{"no-new", "edit_file", `{"path":"a","oldText":"text"}`, `missing required parameter "newText"`, `"" removes`},
		{"empty-old", "edit_file", `{"path":"a","oldText":"","newText":"x"}`, `the text to replace is empty`, `the new text may be empty`},
		{"negative-count", "edit_file", `{"path":"missing","oldText":"text","newText":"x","expectedCount":-1}`, `"expectedCount" must be at least 0`, ""},
		{"same", "edit_file", `{"path":"a","oldText":"text","newText":"text"}`, `are the same`, ""},
		{"empty-version", "write_file", `{"path":"a","content":"x","ifVersion":""}`, `parameter "ifVersion" must not be empty`, "leave it out"},
		{"several", "read_file", `{"path":"a","line":0,"limit":0,"encoding":"x"}`,
			`parameter "line" must be at least 1, and is 0; parameter "limit" must be at least 1, and is 0; parameter "encoding" must be one of "utf-8", "base64", not "x"`, "another limit"},
		{"several-nested", "edit_file", `{"path":5,"edits":[{"old":"x"}],"x":1}`,
			`parameter "path" must be a string, not the number 5; unknown parameter "edits[0].old"; missing required parameter "edits[0].newText" (string); unknown parameter "x"`, "Did you mean \"oldText\"?"},
		{"many", "ls", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"last":1,"more":1}`, `unknown parameter "last"`, ""},
		{"bad-cursor", "ls", `{"cursor":"xyz"}`, `"cursor" is not the nextCursor of a call`, "nextCursor"},
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
	for op, args := range map[string]string{
		"read_file": `{"path":"a","line":"five"}`, "grep": `{"pattern":"a","before":true}`, "mkdir": `{"path":"a","recursive":1}`,
		"ls": `{"limit":"-1"}`, "glob": `{"pattern":"a","limit":"2.5"}`, "edit_file": `{"path":"a","edits":["x"]}`, "stat": `["a"]`,
	} {
		bad(t, lenient, op, args, tools.CodeInvalidArguments) // has no plain meaning
	}
	for op, args := range map[string]string{ // the message says it all
		"edit_file": `{"path":"a","edits":[{"oldText":"x"}]}`, "read_files": `{"paths":[]}`, "read_file": `{"path":"a","encoding":"utf8"}`,
	} {
		if err := bad(t, set, op, args, tools.CodeInvalidArguments); err.Hint != "" {
			t.Errorf("the hint of %s(%s) is %q", op, args, err.Hint)
		}
	}
	bad(t, set, "stat", `{"path":"b"}`, "FILE_NOT_FOUND") // nothing was written
}

func TestEquivalentArguments(t *testing.T) {
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

// TestLenient checks that arguments with a plain meaning do what the arguments
// of the schema would, and that the result says how they were read.
func TestLenient(t *testing.T) {
	tests := []struct{ name, op, args, means, note string }{
		{"integer", "read_file", `{"path":"a","line":"2"}`, `{"path":"a","line":2}`, `line: "2" was read as 2`},
		{"integer-with-spaces", "read_file", `{"path":"a","line":" 2.0 "}`, `{"path":"a","line":2}`, `line: " 2.0 " was read as 2.0`},
		{"boolean", "mkdir", `{"path":"d","recursive":"true"}`, `{"path":"d","recursive":true}`, `recursive: "true" was read as true`},
		{"boolean-of-python", "grep", `{"pattern":"X","ignoreCase":"True"}`, `{"pattern":"X","ignoreCase":true}`, `ignoreCase: "True" was read as true`},
		{"string", "stat", `{"path":5}`, `{"path":"5"}`, `path: 5 was read as "5"`},
		{"limit", "read_file", `{"path":"a","limit":5000}`, `{"path":"a","limit":2000}`, `limit: 5000 is above the maximum; used 2000`},
		{"limit-in-quotes", "ls", `{"limit":"5000"}`, `{"limit":1000}`, `limit: 5000 is above the maximum; used 1000`},
		{"huge-limit", "ls", `{"limit":99999999999999999999}`, `{"limit":1000}`, `limit: 99999999999999999999 is above the maximum; used 1000`},
		{"infinite-limit", "ls", `{"limit":1e999}`, `{"limit":1000}`, `limit: 1e999 is above the maximum; used 1000`},
		{"list", "edit_file", `{"path":"a","edits":"[{\"oldText\":\"x<\",\"newText\":\"é\\n\"}]"}`,
			`{"path":"a","edits":[{"oldText":"x<","newText":"é\n"}]}`, `edits: the text was read as JSON`},
		{"item", "edit_file", `{"path":"a","edits":{"oldText":"x","newText":"y"}}`,
			`{"path":"a","edits":[{"oldText":"x","newText":"y"}]}`, `edits: one item was read as a list of it`},
		{"nested", "edit_file", `{"path":"a","edits":[{"oldText":"x","newText":"y"},{"oldText":"z","newText":7,"replaceAll":"false"}]}`,
			`{"path":"a","edits":[{"oldText":"x","newText":"y"},{"oldText":"z","newText":"7","replaceAll":false}]}`, `edits[1].newText: 7 was read as "7"`},
		{"empty-list", "edit_file", `{"path":"a","oldText":"z","newText":"y","edits":[]}`, `{"path":"a","oldText":"z","newText":"y"}`, `edits: the empty list was left out`},
		{"zero", "read_file", `{"path":"a","line":0,"limit":"0","tail":0.0,"column":0,"encoding":"","unlessVersion":"","lineNumbers":false}`, `{"path":"a"}`, `encoding: the empty text was left out`},
		{"zero-of-no-use", "edit_file", `{"path":"a","newText":"y","insertLine":0}`, `{"path":"a","newText":"y"}`, `insertLine: 0 was left out`},
		{"empty-version", "write_file", `{"path":"a","content":"y","ifVersion":""}`, `{"path":"a","content":"y"}`, `ifVersion: the empty text was left out`},
		{"all", "stat", `"{\"path\":\"a\"}"`, `{"path":"a"}`, `the arguments: the text was read as JSON`},
		{"failure", "stat", `{"path":404}`, `{"path":"404"}`, `path: 404 was read as "404"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"a": "x<\nx\nz\n", "5": ""}
			lenient, _ := newSet(t, files, nil)
			exact, _ := newSet(t, files, nil)
			got, want := call(t, lenient, tt.op, tt.args), call(t, exact, tt.op, tt.means)
			if got.IsError != want.IsError || len(want.Notes) > 0 {
				t.Fatalf("%s(%s) = %s, want as for %s: %s", tt.op, tt.args, got.Text, tt.means, want.Text)
			}
			contains(t, "notes", strings.Join(got.Notes, "\n"), tt.note)
			lines := strings.Split(got.Text, "\n")
			contains(t, "last line", lines[len(lines)-1], tt.note)
			structured, same := members(t, got.Structured), members(t, want.Structured)
			contains(t, "structured notes", fmt.Sprint(structured["notes"]), tt.note)
			delete(structured, "notes")
			for _, o := range []object{structured, same} {
				delete(o, "mtime")
				delete(o, "version")
			}
			if diff := cmp.Diff(same, structured); diff != "" {
				t.Errorf("%s(%s) is not as for %s (-want +got):\n%s", tt.op, tt.args, tt.means, diff)
			}
			strict := newSetOf(t, workspace.New("test", memory.New(nil), nil), &tools.Options{Strict: true})
			bad(t, strict, tt.op, tt.args, tools.CodeInvalidArguments)
		})
	}
}

// TestZeroParameters checks that a model can give every optional parameter its zero value.
func TestZeroParameters(t *testing.T) {
	t.Parallel()
	base := map[string]object{
		"read_file": {"path": "a"}, "read_files": {"paths": []string{"a"}}, "stat": {"path": "a"}, "glob": {"pattern": "*"}, "grep": {"pattern": "x"},
		"write_file": {"path": "a", "content": "y"}, "apply_patch": {"patch": "*** Begin Patch\n*** Delete File: a\n*** End Patch"}, "mkdir": {"path": "d"},
		"rm": {"path": "a"}, "move": {"source": "a", "destination": "b"}, "copy": {"source": "a", "destination": "b"}, "bash": {"script": "echo x > new"},
		"edit_file": {"path": "a", "edits": []object{{"oldText": "x", "newText": "y"}}},
	}
	zero := map[string]any{"string": "", "integer": 0, "boolean": false, "array": []any{}}
	for _, tool := range newBashSet(t, nil, &tools.Options{}, "test").Tools() {
		args := object{}
		for _, p := range tool.Parameters() {
			args[p.Name] = zero[p.Type]
		}
		maps.Copy(args, base[tool.Op])
		exact := object{}
		maps.Copy(exact, base[tool.Op])
		files := map[string]string{"a": "x\n"}
		got := call(t, newBashSet(t, files, &tools.Options{}, "test"), tool.Op, args)
		want := call(t, newBashSet(t, files, &tools.Options{}, "test"), tool.Op, exact)
		text, _, _ := strings.Cut(got.Text, "[note: ")
		if want.IsError || strings.TrimSpace(text) != strings.TrimSpace(want.Text) {
			t.Errorf("%s(%v) = %s, want %s", tool.Op, args, got.Text, want.Text)
		}
	}
}

// TestPreflightIsLenient checks that a preflight reads arguments as the call does.
func TestPreflightIsLenient(t *testing.T) {
	set, _ := newSet(t, nil, nil)
	tool, _ := set.Lookup("rm")
	got, err := tool.Preflight(t.Context(), json.RawMessage(`{"path":7,"recursive":"true"}`))
	want := []policy.Request{{Op: policy.OpDelete, Path: "7", Recursive: true}}
	if diff := cmp.Diff(want, got, ofAny); diff != "" || err != nil {
		t.Errorf("Preflight = %v (-want +got):\n%s", err, diff)
	}
}

// TestMeantParameter checks that the names of other tools lead to ours.
func TestMeantParameter(t *testing.T) {
	set, _ := newSet(t, nil, nil)
	tests := []struct{ op, name, want string }{
		{"read_file", "file_path", "path"}, {"read_file", "filePath", "path"}, {"read_file", "offset", "line"}, {"read_file", "start-line", "line"},
		{"write_file", "file_text", "content"}, {"edit_file", "old_string", "oldText"}, {"edit_file", "new_str", "newText"},
		{"edit_file", "replace_all", "replaceAll"}, {"grep", "query", "pattern"}, {"grep", "include", "includeGlob"},
		{"grep", "head_limit", "maxResults"}, {"grep", "-i", "ignoreCase"}, {"glob", "query", "pattern"}, {"ls", "directory", "path"},
		{"move", "from", "source"}, {"copy", "dst", "destination"},
	}
	for _, tt := range tests {
		err := bad(t, set, tt.op, object{tt.name: "x"}, tools.CodeInvalidArguments)
		contains(t, tt.op, err.Message, fmt.Sprintf("unknown parameter %q", tt.name))
		contains(t, tt.op+" "+tt.name, err.Hint, fmt.Sprintf("Did you mean %q?", tt.want))
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
