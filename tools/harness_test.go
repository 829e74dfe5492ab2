package tools_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

var update = flag.Bool("update", false, "rewrite golden files and the tables of the tools in docs")

// object is a JSON object.
type object = map[string]any

// newSet returns the tools of a memory workspace that holds files.
func newSet(t *testing.T, files map[string]string, opts *workspace.Options) (*tools.Set, *workspace.Workspace) {
	t.Helper()
	fsys := memory.New(nil)
	for name, content := range files {
		if _, err := fsys.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	ws := workspace.New("test", fsys, opts)
	return newSetOf(t, ws, nil), ws
}

// newSetOfFolder returns the tools of a folder.
func newSetOfFolder(t *testing.T, dir string) *tools.Set {
	t.Helper()
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return newSetOf(t, workspace.New("test", fsys, nil), nil)
}

func newSetOf(t *testing.T, ws *workspace.Workspace, opts *tools.Options) *tools.Set {
	t.Helper()
	set, err := tools.New(ws, opts)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// call calls a tool and checks what holds for every result.
func call(t *testing.T, set *tools.Set, op string, args any) *tools.Result {
	t.Helper()
	raw, ok := args.(string)
	if !ok {
		data, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		raw = string(data)
	}
	tool, ok := set.Lookup(op)
	if !ok {
		t.Fatalf("no tool for %s", op)
	}
	result, err := tool.Call(t.Context(), json.RawMessage(raw))
	if err != nil {
		t.Fatalf("%s(%s): %v", op, raw, err)
	}
	checkResult(t, tool, result)
	return result
}

func checkResult(t *testing.T, tool *tools.Tool, result *tools.Result) {
	t.Helper()
	if result.IsError != (result.Error != nil) {
		t.Errorf("%s: IsError is %v and Error is %v", tool.Op, result.IsError, result.Error)
	}
	if result.Text == "" {
		t.Errorf("%s: no text", tool.Op)
	}
	var text string
	if encoded := result.AppendTextJSON(nil); json.Unmarshal(encoded, &text) != nil || text != result.Text {
		t.Errorf("%s: AppendTextJSON() = %s, want the JSON of %q", tool.Op, encoded, result.Text)
	}
	if result.IsError {
		checkError(t, tool, result)
		return
	}
	if err := resolve(t, tool.OutputSchema()).Validate(members(t, result.Structured)); err != nil {
		t.Errorf("%s: result does not match its schema: %v\n%s", tool.Op, err, result.Structured)
	}
}

func checkError(t *testing.T, tool *tools.Tool, result *tools.Result) {
	t.Helper()
	var decoded tools.Error
	if err := json.Unmarshal(result.Structured, &decoded); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*result.Error, decoded, cmpopts.IgnoreUnexported(tools.Error{})); diff != "" {
		t.Errorf("%s: Structured is not Error (-want +got):\n%s", tool.Op, diff)
	}
	if result.Error.Code == "" || result.Error.Message == "" {
		t.Errorf("%s: error without code or message: %+v", tool.Op, result.Error)
	}
}

// good calls a tool that must succeed, and returns the structured result.
func good(t *testing.T, set *tools.Set, op string, args any) object {
	t.Helper()
	result := call(t, set, op, args)
	if result.IsError {
		t.Fatalf("%s(%v) = %s", op, args, result.Text)
	}
	return members(t, result.Structured)
}

// bad calls a tool that must fail with code.
func bad(t *testing.T, set *tools.Set, op string, args any, code tools.Code) *tools.Error {
	t.Helper()
	result := call(t, set, op, args)
	if !result.IsError || result.Error.Code != code {
		t.Fatalf("%s(%v) = %s, want %s", op, args, result.Text, code)
	}
	return result.Error
}

func members(t *testing.T, raw json.RawMessage) object {
	t.Helper()
	var o object
	if err := json.Unmarshal(raw, &o); err != nil || o == nil {
		t.Fatalf("%s is not a JSON object: %v", raw, err)
	}
	return o
}

// resolvedSchemas are the schemas that resolve has resolved, by their text: most
// results of all tests have one of some dozen.
var resolvedSchemas sync.Map

func resolve(t *testing.T, raw json.RawMessage) *jsonschema.Resolved {
	t.Helper()
	if known, ok := resolvedSchemas.Load(string(raw)); ok {
		return known.(*jsonschema.Resolved)
	}
	schema := new(jsonschema.Schema)
	if err := json.Unmarshal(raw, schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	resolvedSchemas.Store(string(raw), resolved)
	return resolved
}

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; -update rewrites it (-want +got):\n%s", file, diff)
	}
}

// contains checks that text has all the parts.
func contains(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s does not contain %q:\n%s", what, part, text)
		}
	}
}

// restricted has the nine methods of a file system, the capabilities it is
// given, and nothing else.
type restricted struct {
	workspace.FileSystem
	caps workspace.Capabilities
}

func (r restricted) Capabilities() workspace.Capabilities { return r.caps }

// faulty fails every read and listing.
type faulty struct {
	workspace.FileSystem
	err error
}

func (f faulty) ReadFile(_ context.Context, name string) ([]byte, error) {
	return nil, ops.Error(ops.ReadFile, name, f.err, nil)
}

func (f faulty) Stat(_ context.Context, name string) (workspace.FileInfo, error) {
	return workspace.FileInfo{}, ops.Error(ops.Stat, name, f.err, nil)
}
