package tools_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// workspaces returns n workspaces, each with a file that says which it is. The
// last one is read-only, the one before takes small files, and the one before
// that has no conditional writes, no moves and no copies.
func workspaces(t *testing.T, n int) []*workspace.Workspace {
	t.Helper()
	var all []*workspace.Workspace
	for i := range n {
		name := fmt.Sprintf("team-%02d", i)
		fsys := memory.New(nil)
		if _, err := fsys.WriteFile(t.Context(), "who.txt", []byte(name+"\n"), nil); err != nil {
			t.Fatal(err)
		}
		switch n - i {
		case 1:
			all = append(all, workspace.New(name, policy.ReadOnly(fsys), nil))
		case 2:
			all = append(all, workspace.New(name, fsys, &workspace.Options{MaxFileSize: 1 << 10}))
		case 3:
			all = append(all, workspace.New(name, restricted{fsys, workspace.Capabilities{Write: true}}, nil))
		default:
			all = append(all, workspace.New(name, fsys, nil))
		}
	}
	return all
}

func newAll(t *testing.T, all []*workspace.Workspace, opts *tools.Options) *tools.Set {
	t.Helper()
	set, err := tools.NewAll(all, opts)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestSharedDefinitions counts the tools of twelve workspaces, and the bytes of
// their definitions.
func TestSharedDefinitions(t *testing.T) {
	t.Parallel()
	all := workspaces(t, 12)
	own := newAll(t, all, &tools.Options{Shared: tools.SharedFalse})
	shared := newAll(t, all, nil)
	if n := len(own.Tools()); own.Shared() || n <= tools.DefaultMaxTools {
		t.Errorf("Shared() = %v, and %d tools, want more than %d", own.Shared(), n, tools.DefaultMaxTools)
	}
	if n := len(shared.Tools()); !shared.Shared() || n != 14 {
		t.Errorf("Shared() = %v, and %d tools, want 14", shared.Shared(), n)
	}
	for format, most := range map[tools.Format]int{tools.FormatOpenAI: 30 << 10, tools.FormatMCP: 49 << 10} {
		ours, theirs := definitionsOf(t, shared, format), definitionsOf(t, own, format)
		t.Logf("%s: %d bytes shared, %d bytes each their own", format, len(ours), len(theirs))
		if len(ours) > most || len(ours)*5 > len(theirs) {
			t.Errorf("%s: %d bytes of definitions, want at most %d, and a fifth of %d", format, len(ours), most, len(theirs))
		}
	}
	for _, tool := range shared.Tools() {
		if want := "workspace__" + tool.Op; tool.Name != want {
			t.Errorf("name %q, want %q", tool.Name, want)
		}
		resolve(t, tool.InputSchema())
	}
}

func definitionsOf(t *testing.T, set *tools.Set, format tools.Format) []byte {
	t.Helper()
	definitions, err := set.Definitions(format)
	if err != nil {
		t.Fatal(err)
	}
	return definitions
}

// TestSharedSaysWhatWorkspacesCanDo reads the schemas.
func TestSharedSaysWhatWorkspacesCanDo(t *testing.T) {
	t.Parallel()
	set := newAll(t, workspaces(t, 4), &tools.Options{Shared: tools.SharedTrue, About: map[string]string{"team-00": "the {{.Site}}"}})
	for op, want := range map[string]struct {
		names []string
		about string
	}{
		"read_file": {[]string{"team-00", "team-01", "team-02", "team-03"},
			"the workspace to work in: team-00 (the {{.Site}}, files of at most 10 MiB); team-01 (files of at most 10 MiB); " +
				"team-02 (files of at most 1 KiB); team-03 (read-only, files of at most 10 MiB)"},
		"write_file": {[]string{"team-00", "team-01", "team-02"}, "team-01 (without createOnly, ifVersion and append, files of at most 10 MiB); team-02"},
		"move":       {[]string{"team-00", "team-02"}, "team-00"},
		"edit_file":  {[]string{"team-00", "team-02"}, "team-02"},
	} {
		tool, ok := set.Lookup(op)
		if !ok {
			t.Fatalf("no %s", op)
		}
		var schema struct {
			Properties map[string]struct {
				Description string
				Enum        []string
			}
			Required []string
		}
		if err := json.Unmarshal(tool.InputSchema(), &schema); err != nil {
			t.Fatal(err)
		}
		property := schema.Properties["workspace"]
		if !slices.Equal(property.Enum, want.names) || schema.Required[0] != "workspace" {
			t.Errorf("%s: workspaces %q, required %q, want %q", op, property.Enum, schema.Required, want.names)
		}
		contains(t, op, property.Description, want.about)
		if strings.Contains(tool.Description(), "1 KiB") {
			t.Errorf("%s: the description has the limit of one workspace: %s", op, tool.Description())
		}
	}
}

// TestSharedReachesEachWorkspace reads and writes in each of twelve.
func TestSharedReachesEachWorkspace(t *testing.T) {
	t.Parallel()
	all := workspaces(t, 12)
	set := newAll(t, all, nil)
	for i, ws := range all {
		out := good(t, set, "read_file", object{"workspace": ws.Name(), "path": "who.txt"})
		if out["text"] != ws.Name()+"\n" {
			t.Errorf("read_file in %s = %v", ws.Name(), out["text"])
		}
		if i == len(all)-1 {
			break // read-only
		}
		good(t, set, "write_file", object{"path": "new.txt", "content": "by " + ws.Name(), "workspace": ws.Name()})
		if data, err := ws.ReadFile(t.Context(), "new.txt"); err != nil || string(data) != "by "+ws.Name() {
			t.Errorf("new.txt in %s = %q, %v", ws.Name(), data, err)
		}
	}
}

// TestSharedReadsText gives all arguments as one text.
func TestSharedReadsText(t *testing.T) {
	t.Parallel()
	const args = `"{\"workspace\":\"team-01\",\"path\":\"who.txt\",\"limit\":\"5\"}"`
	set := newAll(t, workspaces(t, 4), &tools.Options{Shared: tools.SharedTrue})
	if out := good(t, set, "read_file", args); out["text"] != "team-01\n" {
		t.Errorf("read_file(%s) = %v", args, out["text"])
	}
	contains(t, "text", call(t, set, "read_file", args).Text, "the arguments: the text was read as JSON")
	strict := newAll(t, workspaces(t, 4), &tools.Options{Shared: tools.SharedTrue, Strict: true})
	contains(t, "message", bad(t, strict, "read_file", args, tools.CodeInvalidArguments).Message, "must be an object")
}

// TestSharedRefuses gives calls that a workspace cannot answer, or no workspace.
func TestSharedRefuses(t *testing.T) {
	t.Parallel()
	all := workspaces(t, 4)
	set := newAll(t, all, &tools.Options{Shared: tools.SharedTrue})
	const readers = `The workspaces that workspace__read_file works in are "team-00", "team-01", "team-02", "team-03".`
	const writers = `The workspaces that workspace__write_file works in are "team-00", "team-01", "team-02".`
	for _, test := range []struct {
		name, op, args string
		code           tools.Code
		message, hint  string
	}{
		{"missing", "read_file", `{"path": "who.txt"}`, tools.CodeInvalidArguments, `missing required parameter "workspace"`, readers},
		{"null", "read_file", `{"path": "who.txt", "workspace": null}`, tools.CodeInvalidArguments, `missing required parameter "workspace"`, readers},
		{"no-arguments", "ls", ``, tools.CodeInvalidArguments, `missing required parameter "workspace"`, `"team-03"`},
		{"unknown", "read_file", `{"path": "who.txt", "workspace": "home"}`, tools.CodeInvalidArguments, `there is no workspace "home"`, readers},
		{"near", "read_file", `{"path": "who.txt", "workspace": "team-0"}`, tools.CodeInvalidArguments, `there is no workspace "team-0"`, `Did you mean "team-00"? ` + readers},
		{"letter-case", "read_file", `{"path": "who.txt", "workspace": "TEAM-01"}`, tools.CodeInvalidArguments, `there is no workspace "TEAM-01"`, `Did you mean "team-01"?`},
		{"twice", "read_file", `{"workspace": "team-00", "path": "who.txt", "workspace": "team-01"}`, tools.CodeInvalidArguments, "given twice", ""},
		{"number", "read_file", `{"path": "who.txt", "workspace": 1}`, tools.CodeInvalidArguments, `parameter "workspace" must be a string`, ""},
		{"not-an-object", "read_file", `["team-00"]`, tools.CodeInvalidArguments, "must be an object", ""},
		{"not-json", "read_file", `{"workspace": "team-00"`, tools.CodeInvalidArguments, "not valid JSON", ""},
		{"read-only", "write_file", `{"workspace": "team-03", "path": "a", "content": ""}`, tools.CodeInvalidArguments, `workspace "team-03" has no write_file: it is read-only`, writers},
		{"no-moves", "move", `{"workspace": "team-01", "source": "who.txt", "destination": "b"}`, tools.CodeInvalidArguments, `workspace "team-01" has no move: its store cannot do this`, `"team-00", "team-02"`},
		{"no-conditions", "write_file", `{"workspace": "team-01", "path": "a", "content": "", "createOnly": true}`, tools.CodeInvalidArguments, `parameter "createOnly" needs conditional writes`, "Leave it out."},
		{"too-large", "write_file", `{"workspace": "team-02", "path": "a", "content": "` + strings.Repeat("a", 2<<10) + `"}`, tools.CodeTooLarge, "the limit is 1024", ""},
		{"other-parameters", "read_file", `{"workspace": "team-00", "path": "who.txt", "line": "one"}`, tools.CodeInvalidArguments, `parameter "line"`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := bad(t, set, test.op, test.args, test.code)
			contains(t, "message", err.Message, test.message)
			contains(t, "hint", err.Hint, test.hint)
		})
	}
	t.Run("nothing-written", func(t *testing.T) {
		for _, ws := range all {
			if children, err := ws.Ls(t.Context(), ".", nil); err != nil || len(children) != 1 {
				t.Errorf("Ls in %s = %d entries, %v, want 1", ws.Name(), len(children), err)
			}
		}
	})
}

// TestSharedCursors gives a cursor of one workspace to another.
func TestSharedCursors(t *testing.T) {
	t.Parallel()
	all := workspaces(t, 5)
	for _, ws := range all[:2] {
		if _, err := ws.WriteFile(t.Context(), "b", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	set := newAll(t, all, &tools.Options{Shared: tools.SharedTrue})
	first := good(t, set, "ls", object{"workspace": "team-00", "limit": 1})
	cursor, _ := first["nextCursor"].(string)
	good(t, set, "ls", object{"workspace": "team-00", "limit": 1, "cursor": cursor})
	err := bad(t, set, "ls", object{"workspace": "team-01", "limit": 1, "cursor": cursor}, tools.CodeInvalidArguments)
	contains(t, "message", err.Message, "with these parameters")
}

// TestSharing tests when workspaces share their tools, and how these are called.
func TestSharing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		n      int
		opts   tools.Options
		shared bool
		first  string // the name of the first tool
		err    string
	}{
		{"one", 1, tools.Options{}, false, "workspace__team-00__read_file", ""},
		{"one-shared", 1, tools.Options{Shared: tools.SharedTrue}, true, "workspace__read_file", ""},
		{"one-above-the-limit", 1, tools.Options{MaxTools: 1}, false, "workspace__team-00__read_file", ""},
		{"few", 4, tools.Options{}, false, "workspace__team-00__read_file", ""},
		{"at-the-limit", 2, tools.Options{MaxTools: 21}, false, "workspace__team-00__read_file", ""}, // 14 and 7
		{"above-the-limit", 2, tools.Options{MaxTools: 20}, true, "workspace__read_file", ""},
		{"disabled-do-not-count", 2, tools.Options{MaxTools: 20, Disable: []string{"rm"}}, false, "workspace__team-00__read_file", ""},
		{"many-of-their-own", 12, tools.Options{Shared: tools.SharedFalse}, false, "workspace__team-00__read_file", ""},
		{"naming", 2, tools.Options{Shared: tools.SharedTrue, Naming: "{op}-{name}"}, true, "read_file", ""},
		{"naming-between", 2, tools.Options{Shared: tools.SharedTrue, Naming: "a_{name}_{op}"}, true, "a_read_file", ""},
		{"naming-without", 2, tools.Options{Shared: tools.SharedTrue, Naming: "{op}"}, true, "read_file", ""},
		{"naming-collides", 2, tools.Options{Naming: "{op}"}, false, "", "collides"},
		{"unknown-sharing", 2, tools.Options{Shared: "yes"}, false, "", `unknown sharing "yes"`},
		{"negative", 2, tools.Options{MaxTools: -1}, false, "", "MaxTools is -1"},
		{"negative-unused", 2, tools.Options{Shared: tools.SharedTrue, MaxTools: -1}, false, "", "MaxTools is -1"},
		{"negative-output", 2, tools.Options{RunOutput: -1}, false, "", "RunOutput is -1"},
		{"unknown-disabled", 2, tools.Options{Shared: tools.SharedTrue, Disable: []string{"cat"}}, false, "", "no such operation"},
		{"none", 0, tools.Options{}, false, "", "no workspace"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			set, err := tools.NewAll(workspaces(t, test.n), &test.opts)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("NewAll = %v, want %q", err, test.err)
				}
				if numbers := test.opts.MaxTools < 0 || test.opts.RunOutput < 0; errors.Is(err, fs.ErrInvalid) != numbers {
					t.Errorf("NewAll = %v, is %v %v, want %v", err, fs.ErrInvalid, !numbers, numbers)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := set.Tools()[0].Name; set.Shared() != test.shared || got != test.first {
				t.Errorf("Shared() = %v, first tool %q, want %v and %q", set.Shared(), got, test.shared, test.first)
			}
		})
	}
	t.Run("same-names", func(t *testing.T) {
		same := []*workspace.Workspace{workspace.New("a", memory.New(nil), nil), workspace.New("A", memory.New(nil), nil)}
		if _, err := tools.NewAll(same, &tools.Options{Shared: tools.SharedTrue}); err == nil || !strings.Contains(err.Error(), "rename one") {
			t.Errorf("NewAll of two workspaces with one name = %v", err)
		}
	})
}
