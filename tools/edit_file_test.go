package tools_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestEditFile(t *testing.T) {
	const content = "\ufeffone\r\ntwo\r\nthree\r\ntwo"
	tests := []struct {
		name         string
		args         object
		want         string
		replacements float64
		line         float64
	}{
		{"one", object{"oldText": "three", "newText": "3"}, "\ufeffone\r\ntwo\r\n3\r\ntwo", 1, 3},
		{"lines", object{"oldText": "two\nthree\n", "newText": "2\n2.5\n3\n"}, "\ufeffone\r\n2\r\n2.5\r\n3\r\ntwo", 1, 2},
		{"all", object{"oldText": "two", "newText": "", "replaceAll": true}, "\ufeffone\r\n\r\nthree\r\n", 2, 2},
		{"several", object{"edits": []object{{"oldText": "three", "newText": "one"}, {"oldText": "one", "newText": "three"}}}, "\ufeffthree\r\ntwo\r\none\r\ntwo", 2, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, ws := newSet(t, map[string]string{"a": content}, nil)
			tt.args["path"] = "a"
			tt.args["dryRun"] = true
			dry := good(t, set, "edit_file", tt.args)
			if data, _ := ws.ReadFile(t.Context(), "a"); string(data) != content || dry["version"] != nil {
				t.Errorf("a dry run wrote %q, version %v", data, dry["version"])
			}
			delete(tt.args, "dryRun")
			out := good(t, set, "edit_file", tt.args)
			data, version, err := ws.ReadVersioned(t.Context(), "a", 0)
			if err != nil || string(data) != tt.want || out["version"] != string(version) {
				t.Errorf("ReadVersioned = %q, %q, %v, want %q, %v", data, version, err, tt.want, out["version"])
			}
			if out["replacements"] != tt.replacements || out["firstChangedLine"] != tt.line {
				t.Errorf("replacements %v, firstChangedLine %v", out["replacements"], out["firstChangedLine"])
			}
			if diff := cmp.Diff(out["diff"], dry["diff"]); diff != "" || out["diff"] == nil {
				t.Errorf("diff of the dry run (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEditOtherWays tests the parameters other than a text to replace once.
func TestEditOtherWays(t *testing.T) {
	for _, c := range []struct {
		name, content string
		args          object
		want, text    string
	}{
		{"insert", "one\r\ntwo\r\n", object{"insertLine": 2, "newText": "x\ny"}, "one\r\nx\r\ny\r\ntwo\r\n", "Edited a (1 replacement, "},
		{"append", "one\ntwo", object{"insertLine": 3, "newText": "x\n"}, "one\ntwo\nx", "+x\n\\ No newline"},
		{"count", "a b a", object{"oldText": "a", "newText": "c", "expectedCount": 2}, "c b c", "(2 replacements, "},
		{"regexp", "f(a, b)\r\nf(c, d)\r\n", object{"oldText": `f\((\w), (\w)\)$`, "newText": "$2\n$1", "regexp": true, "replaceAll": true}, "b\r\na\r\nd\r\nc\r\n", "(2 replacements, "},
		{"tolerant", "\tif a {\n\t\tb\n\t}\n", object{"oldText": "if a {\n    b\n}", "newText": "if a {\n    c\n}", "tolerant": true}, "\tif a {\n\t\tc\n\t}\n", "It matched but for indentation.\n"},
		{"list", "a\n b\nc\n", object{"edits": []object{{"oldText": "a\nb", "newText": "x\ny"}, {"insertLine": 4, "newText": "z"}, {"oldText": "c", "newText": "C"}}, "tolerant": true},
			"", "PATTERN_NOT_FOUND: a: text not found\nedits[0]: "},
		{"tolerant-list", "a\n b\nc\n", object{"edits": []object{{"insertLine": 4, "newText": "z"}, {"oldText": "  b", "newText": "  B"}}, "tolerant": true}, "a\n B\nc\nz\n", "It matched but for edits[1]: indentation."},
	} {
		t.Run(c.name, func(t *testing.T) {
			set, ws := newSet(t, map[string]string{"a": c.content}, nil)
			c.args["path"] = "a"
			result := call(t, set, "edit_file", c.args)
			contains(t, "text", result.Text, c.text)
			if result.IsError == (c.want != "") {
				t.Fatalf("edit_file = %s", result.Text)
			}
			if data, _ := ws.ReadFile(t.Context(), "a"); c.want != "" && string(data) != c.want {
				t.Errorf("the file is %q, want %q", data, c.want)
			}
		})
	}
}

func TestEditDiff(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": "1\n2\n3\n4\n5\n6\n7\n8\n9\n"}, nil)
	result := call(t, set, "edit_file", object{"path": "a", "oldText": "4\n5\n6", "newText": "4\nfive\n6"})
	contains(t, "text", result.Text, "Edited a (1 replacement, version ",
		"--- a/a\n+++ b/a\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n")
}

// The sides of a diff of a long line show what is different in them.
func TestEditDiffOfLongLine(t *testing.T) {
	long := strings.Repeat("é,", 5000) + "needle" + strings.Repeat(",z", 5000) + "\n"
	set, _ := newSet(t, map[string]string{"a": "x\n" + long + "y\n"}, nil)
	out := good(t, set, "edit_file", object{"path": "a", "oldText": "needle", "newText": "haystack"})
	diff := out["diff"].(string)
	contains(t, "diff", diff, "\n-[cut: 9920 characters] …é,é,", "é,needle,z", "\n+[cut: 9920 characters] …é,é,", "é,haystack,z", "more characters]\n y\n")
	if out["diffNote"] != "lines longer than 500 characters are cut, with a mark" || len(diff) > 1000 {
		t.Errorf("diffNote = %v, the diff has %d bytes", out["diffNote"], len(diff))
	}
	out = good(t, set, "edit_file", object{"path": "a", "oldText": "x\n", "newText": "w\n"})
	contains(t, "diff", out["diff"].(string), "-x\n+w\n é,é", "… [cut: ")
}

func TestEditErrors(t *testing.T) {
	set, ws := newSet(t, map[string]string{
		"a": "func main() {\n\tx := 1\n\ty := 1\n}\n", "binary": "a\x00b", "latin1": "caf\xe9 1\n", "dir/x": "", "large": strings.Repeat("x", 8<<20+1),
	}, nil)
	before, _ := ws.ReadFile(t.Context(), "a")
	tests := []struct {
		name    string
		args    object
		code    tools.Code
		message string
		hint    []string
	}{
		{"missing-file", object{"path": "b/a", "oldText": "x", "newText": "y"}, tools.CodeNotExist, "b/a: file does not exist", nil},
		{"directory", object{"path": "dir", "oldText": "x", "newText": "y"}, tools.CodeIsDir, "dir: is a directory", []string{"workspace__test__ls"}},
		{"binary", object{"path": "binary", "oldText": "a", "newText": "c"}, tools.CodeBinary, "binary: binary file", []string{"workspace__test__write_file"}},
		{"not-found", object{"path": "a", "oldText": "    x := 1", "newText": "y"}, tools.CodeTextNotFound, "a: text not found",
			[]string{"nearest text is on line 2", "white space only", "\n\tx := 1\n", "Nothing was written"}},
		{"nothing-near", object{"path": "a", "oldText": "ZZZZ", "newText": "y"}, tools.CodeTextNotFound, "text not found", []string{"Nothing in the file is like the text"}},
		{"not-unique", object{"path": "a", "oldText": " := 1", "newText": "y"}, tools.CodeTextNotUnique, "2 times, on lines 2, 3", []string{"replaceAll"}},
		{"all-of-list", object{"path": "a", "edits": []object{{"oldText": "ZZZZ", "newText": "z"}, {"oldText": "x := 1", "newText": "y"}, {"oldText": "1", "newText": "y"}, {"oldText": "func  main", "newText": "y"}}},
			tools.CodeTextNotFound, "a: edits[0]: text not found; edits[2]: text not unique: it occurs 2 times, on lines 2, 3; edits[3]: text not found",
			[]string{"edits[0]: Nothing in the file", "edits[2]: Add lines", `edits[3]: The nearest text is on line 1, which differs in white space only: it is "func  main", and in the file "func main() {"`}},
		{"arguments-of-list", object{"path": "a", "edits": []object{{"oldText": "x", "newText": "x"}, {"oldText": "ZZZZ", "newText": "y"}, {"newText": "a", "insertLine": 9}}},
			tools.CodeInvalidArguments, "edits[0]: the text to replace and the new text are the same; edits[1]: text not found; edits[2]: line 9 does not exist: the last line is 4, and 5 appends", []string{"edits[2]: insertLine counts"}},
		{"count", object{"path": "a", "oldText": ":= 1", "newText": "y", "expectedCount": 3}, tools.CodeTextNotUnique, "a: another count than expected: it occurs 2 times, not 3, on lines 2, 3", []string{"expectedCount"}},
		{"regexp", object{"path": "a", "oldText": "func (", "newText": "y", "regexp": true}, tools.CodePattern, "oldText is no regular expression: missing closing ): `func (`", []string{`such as \(`}},
		{"regexp-group", object{"path": "a", "oldText": "func", "newText": "$1", "regexp": true}, tools.CodeInvalidArguments, "newText refers to the group $1", []string{"groups that oldText has"}},
		{"regexp-not-found", object{"path": "a", "oldText": "^x", "newText": "y", "regexp": true}, tools.CodeTextNotFound, "text not found", []string{"The regular expression matches nothing"}},
		{"regexp-too-costly", object{"path": "a", "oldText": strings.Repeat("(x)", 101), "newText": "y", "regexp": true}, tools.CodePattern, "more than 100 groups", []string{"simpler regular expression"}},
		{"regexp-of-large-file", object{"path": "large", "oldText": "x", "newText": "y", "regexp": true}, tools.CodeTooLarge, "at most 8 MiB", []string{"Leave regexp out, and give the text"}},
		{"insert-and-old", object{"path": "a", "oldText": "x", "newText": "y", "insertLine": 1}, tools.CodeInvalidArguments, "replaces nothing", []string{"Leave insertLine out"}},
		{"tolerant-regexp", object{"path": "a", "oldText": "x", "newText": "y", "regexp": true, "tolerant": true}, tools.CodeInvalidArguments, "in a tolerant way", []string{"Leave regexp or tolerant out."}},
		{"insert-too-far", object{"path": "a", "newText": "y", "insertLine": 6}, tools.CodeInvalidArguments, "line 6 does not exist: the last line is 4, and 5 appends", nil},
		{"insert-zero", object{"path": "a", "newText": "y", "insertLine": 0}, tools.CodeInvalidArguments, `missing required parameter "oldText"`, nil},
		{"tolerant-still-not-found", object{"path": "a", "oldText": "x := 12", "newText": "y", "tolerant": true}, tools.CodeTextNotFound, "text not found", []string{"nearest text is on line 2"}},
		{"tolerant-new-text-with-less", object{"path": "a", "oldText": "\t\tx := 1", "newText": "y := 1", "tolerant": true}, tools.CodeTextNotFound, "text not found",
			[]string{"nearest text is on line 2", "newText cannot be indented as the file is: indent it as oldText is"}},
		{"directory-glob", object{"path": "*", "oldText": "x", "newText": "y"}, tools.CodeNotExist, "*: file does not exist", []string{"set replaceAll"}},
		{"second-of-list", object{"path": "a", "edits": []object{{"oldText": "x", "newText": "z"}, {"oldText": "ZZZZ", "newText": "y"}}},
			tools.CodeTextNotFound, "text not found", []string{"edits[1]: "}},
		{"overlap", object{"path": "a", "edits": []object{{"oldText": "x := 1", "newText": "z"}, {"oldText": "x :", "newText": "y"}}},
			tools.CodeInvalidArguments, "edits[0] and edits[1] overlap on line 2", []string{"Nothing was written"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := bad(t, set, "edit_file", tt.args, tt.code)
			contains(t, "message", err.Message, tt.message)
			contains(t, "hint", err.Hint, tt.hint...)
			tt.args["dryRun"] = true
			if dry := bad(t, set, "edit_file", tt.args, tt.code); dry.Message != err.Message {
				t.Errorf("message of the dry run = %q, want %q", dry.Message, err.Message)
			}
		})
	}
	if after, _ := ws.ReadFile(t.Context(), "a"); string(after) != string(before) {
		t.Errorf("the file became %q", after)
	}
	good(t, set, "edit_file", object{"path": "latin1", "oldText": "1", "newText": "2"})
	if data, _ := ws.ReadFile(t.Context(), "latin1"); string(data) != "caf\xe9 2\n" {
		t.Errorf("latin1 became %q", data)
	}
}

func TestEditSizeIsBounded(t *testing.T) {
	for _, limit := range []int64{2000, -1} {
		set, ws := newSet(t, map[string]string{"a": strings.Repeat("x", 1000)}, &workspace.Options{MaxFileSize: limit})
		err := bad(t, set, "edit_file", object{"path": "a", "oldText": "x", "newText": strings.Repeat("y", 1<<20), "replaceAll": true}, tools.CodeTooLarge)
		contains(t, "message", err.Message, "1048576000 bytes")
		if data, _ := ws.ReadFile(t.Context(), "a"); len(data) != 1000 {
			t.Errorf("the file has %d bytes", len(data))
		}
	}
}

func TestEditDiffOfLargeFile(t *testing.T) {
	content := strings.Repeat("a line of text\n", 100_000)
	set, _ := newSet(t, map[string]string{"a": "first\n" + content + "last\n"}, nil)
	out := good(t, set, "edit_file", object{"path": "a", "dryRun": true, "edits": []object{{"oldText": "first", "newText": "1"}, {"oldText": "last", "newText": "2"}}})
	if out["diffNote"] != "the diff shows the first replacements only" {
		t.Errorf("diffNote = %v", out["diffNote"])
	}
	contains(t, "diff", out["diff"].(string), "-first\n+1\n")
	out = good(t, set, "edit_file", object{"path": "a", "oldText": "last", "newText": "2"})
	contains(t, "diff", out["diff"].(string), "@@ -99999,4 +99999,4 @@", "-last\n+2\n")
}

// TestConcurrentEdits checks that no edit is lost.
func TestConcurrentEdits(t *testing.T) {
	const editors = 8
	var content strings.Builder
	for i := range editors {
		fmt.Fprintf(&content, "line %d: old\n", i)
	}
	set, ws := newSet(t, map[string]string{"a": content.String()}, nil)
	tool, _ := set.Lookup("edit_file")
	var group sync.WaitGroup
	for i := range editors {
		group.Go(func() {
			args := fmt.Sprintf(`{"path":"a","oldText":"line %d: old","newText":"line %d: new"}`, i, i)
			if result, err := tool.Call(t.Context(), json.RawMessage(args)); err != nil || result.IsError {
				t.Errorf("edit %d = %+v, %v", i, result, err)
			}
		})
	}
	group.Wait()
	data, err := ws.ReadFile(t.Context(), "a")
	if err != nil || strings.Count(string(data), "new") != editors {
		t.Errorf("ReadFile = %q, %v", data, err)
	}
}
