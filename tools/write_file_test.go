package tools_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

func TestWriteFile(t *testing.T) {
	set, ws := newSet(t, map[string]string{"old": "1\n2\n3\n4\n5\n6\n7\n8\n9\n"}, nil)
	t.Run("create", func(t *testing.T) {
		out := good(t, set, "write_file", object{"path": "/new/dir/a", "content": "x\n"})
		want := object{"ok": true, "path": "new/dir/a", "created": true, "bytes": 2.0, "version": out["version"]}
		if diff := cmp.Diff(want, out); diff != "" || out["version"] == "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
	})
	t.Run("replace", func(t *testing.T) {
		out := good(t, set, "write_file", object{"path": "old", "content": "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"})
		want := "--- a/old\n+++ b/old\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
		if diff := cmp.Diff(want, out["diff"]); diff != "" || out["created"] != false {
			t.Errorf("diff (-want +got), created %v:\n%s", out["created"], diff)
		}
	})
	t.Run("empty", func(t *testing.T) {
		good(t, set, "write_file", object{"path": "old", "content": ""})
		if data, err := ws.ReadFile(t.Context(), "old"); err != nil || len(data) != 0 {
			t.Errorf("ReadFile = %q, %v", data, err)
		}
	})
	t.Run("unchanged", func(t *testing.T) {
		out := good(t, set, "write_file", object{"path": "old", "content": ""})
		if out["diff"] != nil || out["diffNote"] != "the content is the same as before" {
			t.Errorf("result = %v", out)
		}
	})
	t.Run("surrogate-pair", func(t *testing.T) {
		good(t, set, "write_file", `{"path":"emoji","content":"\ud83d\ude00"}`)
		if data, err := ws.ReadFile(t.Context(), "emoji"); err != nil || string(data) != "😀" {
			t.Errorf("ReadFile = %q, %v", data, err)
		}
	})
}

// TestWriteSameText checks that a write of the same text in other bytes does not say that
// nothing has changed.
func TestWriteSameText(t *testing.T) {
	set, _ := newSet(t, map[string]string{"latin": "caf\xe9\n", "crlf": "a\r\n"}, nil)
	for _, c := range []object{
		{"path": "latin", "content": "café\n", "encoding": "utf-8"},
		{"path": "crlf", "content": "a\n"},
	} {
		out := good(t, set, "write_file", c)
		if out["diff"] != nil || out["diffNote"] != "the text is the same as before, in other bytes" {
			t.Errorf("write_file(%v) = %v", c, out)
		}
	}
}

// TestAppendNotes checks that an append to an open line says so beside the other line ends.
func TestAppendNotes(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": "a\r\nb"}, nil)
	out := good(t, set, "write_file", object{"path": "a", "content": "c\n", "append": true})
	want := "the line ends of the file were CRLF and those of content are LF: keepLineEnds keeps them; " +
		"the last line of the file had no line end, and content goes on with it"
	if out["note"] != want {
		t.Errorf("the note is %q, want %q", out["note"], want)
	}
}

func TestWriteConditions(t *testing.T) {
	set, ws := newSet(t, map[string]string{"a": "1"}, nil)
	version := good(t, set, "read_file", object{"path": "a"})["version"]
	t.Run("create-only", func(t *testing.T) {
		err := bad(t, set, "write_file", object{"path": "a", "content": "2", "createOnly": true}, tools.CodeExist)
		contains(t, "hint", err.Hint, "createOnly", "workspace__test__edit_file")
		if out := good(t, set, "write_file", object{"path": "b", "content": "2", "createOnly": true}); out["created"] != true {
			t.Errorf("created = %v", out["created"])
		}
	})
	t.Run("version", func(t *testing.T) {
		out := good(t, set, "write_file", object{"path": "a", "content": "2", "ifVersion": version})
		err := bad(t, set, "write_file", object{"path": "a", "content": "3", "ifVersion": version}, tools.CodeConflict)
		contains(t, "hint", err.Hint, "read it again with workspace__test__read_file")
		good(t, set, "write_file", object{"path": "a", "content": "3", "ifVersion": out["version"]})
	})
	if data, err := ws.ReadFile(t.Context(), "a"); err != nil || string(data) != "3" {
		t.Errorf("ReadFile = %q, %v", data, err)
	}
}

// TestWriteWithoutReading checks that a file that cannot be read or compared
// can be written.
func TestWriteWithoutReading(t *testing.T) {
	tests := []struct{ name, old, note string }{
		{"binary", "\x00", "the content is binary"},
		{"8-bit", "caf\xe9\x81", "the content is binary"},
		{"large", strings.Repeat("a\n", 1<<20), "the old content is too large"},
		{"large-difference", strings.Repeat("a\n", 500<<9), "the changed part is too large"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, _ := newSet(t, map[string]string{"a": tt.old}, nil)
			out := good(t, set, "write_file", object{"path": "a", "content": "new" + strings.Repeat("b\n", 30<<10)})
			if note, _ := out["diffNote"].(string); !strings.Contains(note, tt.note) || out["diff"] != nil || out["created"] != false {
				t.Errorf("diffNote = %q, created = %v, want %q", note, out["created"], tt.note)
			}
		})
	}
	t.Run("unreadable", func(t *testing.T) {
		fsys := memory.New(nil)
		if _, err := fsys.WriteFile(t.Context(), "a", []byte("secret"), nil); err != nil {
			t.Fatal(err)
		}
		ws := workspace.New("test", restricted{faulty{fsys, errors.New("no reading")}, workspace.Capabilities{Write: true}}, nil)
		out := good(t, newSetOf(t, ws, nil), "write_file", object{"path": "a", "content": "x"})
		if _, told := out["created"]; told || out["diffNote"] != "no diff: the old content, if there is any, cannot be read" {
			t.Errorf("created = %v, diffNote = %v", out["created"], out["diffNote"])
		}
	})
	for name, rule := range map[string]policy.Rule{
		"denied": {Deny: []policy.Op{policy.OpRead}, Paths: []string{"drop/**"}},
		"asked":  {Ask: []policy.Op{policy.OpRead}, Paths: []string{"drop/**"}},
	} {
		t.Run(name, func(t *testing.T) {
			set := newRestrictedSet(t, rule, nil)
			note := object{"old": "no diff: the old content cannot be read", "new": nil}
			for _, file := range []string{"old", "new"} {
				out := good(t, set, "write_file", object{"path": "drop/" + file, "content": "x"})
				if out["created"] != (file == "new") || out["diffNote"] != note[file] {
					t.Errorf("write_file of the %s file = %v, want created %t, diffNote %v", file, out, file == "new", note[file])
				}
			}
		})
	}
}

// newRestrictedSet returns the tools of a workspace with the file drop/old and one rule.
func newRestrictedSet(t *testing.T, rule policy.Rule, opts *tools.Options) *tools.Set {
	t.Helper()
	m := memory.New(nil)
	put(t, m, "drop/old", "secret")
	fsys, err := policy.Restrict(m, policy.Rules{FirstMatch: []policy.Rule{rule}})
	if err != nil {
		t.Fatal(err)
	}
	return newSetOf(t, workspace.New("test", fsys, nil), opts)
}

// TestWriteHidden checks that the result and the preflight of a write do not say whether a
// file exists that rules hide, unless the write could only create one.
func TestWriteHidden(t *testing.T) {
	rule := policy.Rule{Deny: []policy.Op{policy.OpRead, policy.OpList}, Paths: []string{"drop/**"}}
	const note = "no diff: the old content, if there is any, cannot be read"
	set := newRestrictedSet(t, rule, nil)
	for _, path := range []string{"drop/old", "drop/new"} {
		args := object{"path": path, "content": "x"}
		if plan := preflightOf(t, set, "write_file", args); plan[0].Note != note {
			t.Errorf("Preflight of %s = %v, want the note %q", path, plan, note)
		}
		out := good(t, set, "write_file", args)
		if _, told := out["created"]; told || out["diffNote"] != note {
			t.Errorf("write_file of %s = %v, want no created and the note %q", path, out, note)
		}
	}
	if out := good(t, set, "write_file", object{"path": "drop/b", "content": "x", "createOnly": true}); out["created"] != true {
		t.Errorf("write_file with createOnly = %v, want created", out)
	}
	kit := newRestrictedSet(t, rule, &tools.Options{Dialect: tools.DialectAgentkit})
	if out := good(t, kit, "fs_write_file", object{"path": "drop/new", "contents": "x"}); out["created"] != nil {
		t.Errorf("fs_write_file = %v, want no created", out)
	}
	session := newRestrictedSet(t, rule, &tools.Options{ReadBeforeWrite: []string{"test"}})
	if out := good(t, session, "write_file", object{"path": "drop/new", "content": "x"}); out["created"] != true {
		t.Errorf("write_file that may only create = %v, want created", out)
	}
}

func TestDiffIsBounded(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": strings.Repeat("old\n", 10_000)}, nil)
	out := good(t, set, "write_file", object{"path": "a", "content": strings.Repeat("new\n", 10_000)})
	if diff := out["diff"].(string); len(diff) > 8<<10 || len(diff) < 7<<10 || out["diffNote"] != "the diff is cut at 8 KiB" {
		t.Errorf("diff has %d bytes, note %v", len(diff), out["diffNote"])
	}
}

// TestDiffLabel checks that a path cannot forge the lines of a diff.
func TestDiffLabel(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a\n+++ b": "x\n"}, nil)
	out := good(t, set, "write_file", object{"path": "a\n+++ b", "content": "y\n"})
	contains(t, "diff", out["diff"].(string), `--- a/"a\n+++ b"`+"\n")
}

func TestWriteErrors(t *testing.T) {
	set, _ := newSet(t, map[string]string{"dir/a": "x"}, &workspace.Options{MaxFileSize: 10})
	tests := []struct {
		name, path, content string
		code                tools.Code
		hint                string
	}{
		{"directory", "dir", "x", tools.CodeIsDir, "list it with workspace__test__ls"},
		{"below-a-file", "dir/a/b", "x", tools.CodeNotDir, "workspace__test__ls"},
		{"too-large", "b", "12345678901", tools.CodeTooLarge, "several smaller files"},
		{"escape", "../b", "x", tools.CodeInvalid, "does not leave it"},
		{"nul", "a\x00b", "x", tools.CodeInvalid, ""},
		{"root", "/", "x", tools.CodeIsDir, "list it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := bad(t, set, "write_file", object{"path": tt.path, "content": tt.content}, tt.code)
			contains(t, "hint", err.Hint, tt.hint)
		})
	}
}

func TestErrorsAreBounded(t *testing.T) {
	set, _ := newSet(t, nil, nil)
	long := strings.Repeat("x", 1<<20)
	for op, args := range map[string]object{
		"read_file": {"path": long}, "edit_file": {"path": "a", long: 1}, "grep": {"pattern": "(" + long}, "stat": {"path": []string{long}},
	} {
		result := call(t, set, op, args)
		if !result.IsError || len(result.Text) > 8000 || len(result.Structured) > 12_000 {
			t.Errorf("%s: error has %d bytes of text, %d of JSON", op, len(result.Text), len(result.Structured))
		}
	}
}
