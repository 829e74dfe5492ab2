package mcp_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/adapters/mcp"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
)

func TestServerInitialize(t *testing.T) {
	server := mcp.NewServer(newSet(t, memory.New(nil)), &mcp.Options{Name: "kit", Version: "v1.2.3", Instructions: "Be kind."})
	near, far := sdk.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), near, nil); err != nil {
		t.Fatal(err)
	}
	session := newSession(t, far)
	defer session.Close()
	got := session.InitializeResult()
	if got.ServerInfo.Name != "kit" || got.ServerInfo.Version != "v1.2.3" || got.Instructions != "Be kind." {
		t.Errorf("InitializeResult() = %+v, %+v, want the name, version and instructions of the options", got, got.ServerInfo)
	}
	if got.Capabilities.Tools == nil || got.Capabilities.Tools.ListChanged {
		t.Errorf("capabilities = %+v, want tools that do not change", got.Capabilities)
	}
}

// TestFeatures compares the first column of the table of features in docs/mcp.md with what
// a server declares, and the features that it need not declare.
func TestFeatures(t *testing.T) {
	page, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| feature | here |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var got []string
	for row := range strings.Lines(table) {
		got = append(got, strings.Split(row, "|")[1])
	}
	data, err := json.Marshal(connect(t, memory.New(nil)).InitializeResult().Capabilities)
	if err != nil {
		t.Fatal(err)
	}
	var declared map[string]map[string]bool
	if err := json.Unmarshal(data, &declared); err != nil {
		t.Fatal(err)
	}
	want := []string{" tools/list_changed ", " progress ", " cancellation ", " elicitation ", " instructions "}
	for name, more := range declared {
		want = append(want, " "+strings.Replace(name, "completions", "completion", 1)+" ")
		for option := range more {
			want = append(want, " "+name+"/"+option+" ")
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the features in docs/mcp.md differ (-code +page):\n%s", diff)
	}
}

func TestServerDefaults(t *testing.T) {
	got := connect(t, memory.New(nil)).InitializeResult().ServerInfo
	if got.Name != mcp.DefaultName || got.Version == "" {
		t.Errorf("ServerInfo = %+v, want the name %q and a version", got, mcp.DefaultName)
	}
}

// TestServerListsTools compares what a client sees with what the set declares
// for the protocol.
func TestServerListsTools(t *testing.T) {
	fsys := memory.New(nil)
	want := declared(t, newSet(t, fsys))
	list, err := connect(t, fsys).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(list.Tools)
	if err != nil {
		t.Fatal(err)
	}
	got := byName(t, data)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ListTools() differs from Definitions (-want +got):\n%s", diff)
	}
	if len(got) != 14 {
		t.Errorf("ListTools() has %d tools, want 14", len(got))
	}
}

// TestServerTextOnly tests that texts are as they are, and that nothing is structured.
func TestServerTextOnly(t *testing.T) {
	fsys := newMemory(t, map[string]string{"a.txt": "text\n"})
	all := newClient(t, mcp.NewServer(newSet(t, fsys), nil))
	lean := newClient(t, mcp.NewServer(newSet(t, fsys), &mcp.Options{TextOnly: true}))
	list, err := lean.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if tool.OutputSchema != nil || tool.InputSchema == nil {
			t.Errorf("%s has output schema %v and input schema %v, want only the second", tool.Name, tool.OutputSchema, tool.InputSchema)
		}
	}
	const args = `{"path": "a.txt"}`
	want, got := call(t, all, "read_file", args), call(t, lean, "read_file", args)
	if got.StructuredContent != nil || want.StructuredContent == nil || textOf(t, got) != textOf(t, want) {
		t.Errorf("read_file = %+v, want the text %q alone", got, textOf(t, want))
	}
}

func TestServerSpellsOutEveryHint(t *testing.T) {
	list, err := connect(t, memory.New(nil)).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		data, err := json.Marshal(tool.Annotations)
		if err != nil {
			t.Fatal(err)
		}
		for _, hint := range []string{"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if !bytes.Contains(data, []byte(`"`+hint+`"`)) {
				t.Errorf("annotations of %s = %s, want %s", tool.Name, data, hint)
			}
		}
		if *tool.Annotations.OpenWorldHint {
			t.Errorf("openWorldHint of %s = true, want false", tool.Name)
		}
	}
}

func declared(t *testing.T, set *tools.Set) map[string]any {
	t.Helper()
	definitions, err := set.Definitions(tools.FormatMCP)
	if err != nil {
		t.Fatal(err)
	}
	return byName(t, definitions)
}

// byName decodes a list of definitions, whose order is not the protocol's.
func byName(t *testing.T, list []byte) map[string]any {
	t.Helper()
	var definitions []map[string]any
	if err := json.Unmarshal(list, &definitions); err != nil {
		t.Fatal(err)
	}
	named := map[string]any{}
	for _, d := range definitions {
		name, _ := d["name"].(string)
		named[name] = d
	}
	if len(named) != len(definitions) || slices.Contains(keys(named), "") {
		t.Fatalf("definitions have names %q, want distinct ones", keys(named))
	}
	return named
}

func keys(m map[string]any) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	return names
}
