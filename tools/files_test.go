package tools_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/tools"
)

func TestStat(t *testing.T) {
	set, ws := newSet(t, map[string]string{"dir/a": "abc"}, nil)
	info, err := ws.Stat(t.Context(), "dir/a")
	if err != nil {
		t.Fatal(err)
	}
	got := good(t, set, "stat", object{"path": "/dir/a"})
	want := object{"path": "dir/a", "type": "file", "size": 3.0, "version": string(info.Version), "mtime": got["mtime"]}
	if diff := cmp.Diff(want, got); diff != "" || got["mtime"] == nil {
		t.Errorf("stat (-want +got):\n%s", diff)
	}
	text := call(t, set, "stat", object{"path": "dir"}).Text
	if !strings.HasPrefix(text, "dir: directory") {
		t.Errorf("text = %q", text)
	}
}

func TestMkdir(t *testing.T) {
	set, ws := newSet(t, map[string]string{"a": ""}, nil)
	if diff := cmp.Diff(object{"ok": true, "path": "dir"}, good(t, set, "mkdir", object{"path": "/dir/"})); diff != "" {
		t.Errorf("mkdir (-want +got):\n%s", diff)
	}
	contains(t, "hint", bad(t, set, "mkdir", object{"path": "dir"}, tools.CodeExist).Hint, "recursive")
	contains(t, "hint", bad(t, set, "mkdir", object{"path": "x/y/z"}, tools.CodeNotExist).Hint, "Set recursive")
	good(t, set, "mkdir", object{"path": "x/y/z", "recursive": true})
	good(t, set, "mkdir", object{"path": "x/y/z", "recursive": true})
	contains(t, "hint", bad(t, set, "mkdir", object{"path": "a", "recursive": true}, tools.CodeNotDir).Hint, "It is a file, not a directory")
	contains(t, "hint", bad(t, set, "mkdir", object{"path": "a/b", "recursive": true}, tools.CodeNotDir).Hint, "An element of the path is a file")
	if info, err := ws.Stat(t.Context(), "x/y/z"); err != nil || !info.IsDir() {
		t.Errorf("Stat = %v, %v", info, err)
	}
}

func TestRm(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": "", "dir/b": ""}, nil)
	good(t, set, "rm", object{"path": "a"})
	bad(t, set, "rm", object{"path": "a", "recursive": true}, tools.CodeNotExist)
	contains(t, "hint", bad(t, set, "rm", object{"path": "dir"}, tools.CodeNotEmpty).Hint, "Only recursive removes")
	good(t, set, "rm", object{"path": "dir", "recursive": true})
	bad(t, set, "rm", object{"path": "", "recursive": true}, tools.CodeInvalid)
	bad(t, set, "rm", object{"path": "../x"}, tools.CodeInvalid)
}

func TestMoveAndCopy(t *testing.T) {
	for _, op := range []string{"move", "copy"} {
		t.Run(op, func(t *testing.T) {
			set, ws := newSet(t, map[string]string{"a": "abc", "b": "", "dir/c": ""}, nil)
			err := bad(t, set, op, object{"source": "a", "destination": "b"}, tools.CodeExist)
			if err.Path != "b" {
				t.Errorf("path at fault = %q, want b", err.Path)
			}
			contains(t, "hint", err.Hint, "Choose another destination")
			out := good(t, set, op, object{"source": "./a", "destination": "/new/a"})
			if out["source"] != "a" || out["destination"] != "new/a" {
				t.Errorf("%s = %v", op, out)
			}
			if data, err := ws.ReadFile(t.Context(), "new/a"); err != nil || string(data) != "abc" {
				t.Errorf("ReadFile = %q, %v", data, err)
			}
			missing := bad(t, set, op, object{"source": "x", "destination": "y"}, tools.CodeNotExist)
			if missing.Path != "x" {
				t.Errorf("path at fault = %q, want x", missing.Path)
			}
			bad(t, set, op, object{"source": "b", "destination": "../y"}, tools.CodeInvalid)
		})
	}
	set, _ := newSet(t, map[string]string{"dir/c": ""}, nil)
	contains(t, "hint", bad(t, set, "copy", object{"source": "dir", "destination": "y"}, tools.CodeIsDir).Hint, "Set recursive")
	good(t, set, "move", object{"source": "dir", "destination": "y"})
}
