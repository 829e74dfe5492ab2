package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/adapters/mcp"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// pixel is the beginning of a PNG image of one pixel.
const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"

func TestCallEachTool(t *testing.T) {
	calls := []struct {
		op, args string
		want     string // in the structured result
	}{
		{"write_file", `{"path": "dir/b.txt", "content": ""}`, `"created":true`},
		{"read_file", `{"path": "a.txt"}`, `"text":"one\ntwo\n"`},
		{"edit_file", `{"path": "a.txt", "oldText": "two", "newText": "<2> & é"}`, `"replacements":1`},
		{"ls", `{}`, `"name":"a.txt"`},
		{"glob", `{"pattern": "**/*.txt"}`, `"matches":["a.txt","dir/b.txt"]`},
		{"grep", `{"pattern": "<2>"}`, `"line":"<2> & é"`},
		{"stat", `{"path": "/a.txt"}`, `"type":"file"`},
		{"mkdir", `{"path": "x/y", "recursive": true}`, `"ok":true`},
		{"move", `{"source": "a.txt", "destination": "x/a.txt"}`, `"ok":true`},
		{"copy", `{"source": "x/a.txt", "destination": "c.txt"}`, `"ok":true`},
		{"rm", `{"path": "x", "recursive": true}`, `"ok":true`},
	}
	session := connect(t, newMemory(t, map[string]string{"a.txt": "one\ntwo\n"}))
	schemas := outputSchemas(t, session)
	for _, c := range calls {
		result := call(t, session, c.op, c.args)
		if result.IsError {
			t.Fatalf("%s(%s) is an error: %s", c.op, c.args, textOf(t, result))
		}
		if textOf(t, result) == "" {
			t.Errorf("%s(%s) has no text", c.op, c.args)
		}
		checkStructured(t, c.op, result, schemas["workspace__main__"+c.op], c.want)
	}
}

func outputSchemas(t *testing.T, session *sdk.ClientSession) map[string]*jsonschema.Resolved {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	resolved := map[string]*jsonschema.Resolved{}
	for _, tool := range list.Tools {
		var schema jsonschema.Schema
		remarshal(t, tool.OutputSchema, &schema)
		if resolved[tool.Name], err = schema.Resolve(nil); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
	}
	return resolved
}

func checkStructured(t *testing.T, op string, result *sdk.CallToolResult, schema *jsonschema.Resolved, want string) {
	t.Helper()
	if err := schema.Validate(result.StructuredContent); err != nil {
		t.Errorf("structured content of %s does not match its schema: %v", op, err)
	}
	var got strings.Builder
	encoder := json.NewEncoder(&got)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(result.StructuredContent); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.String(), want) {
		t.Errorf("structured content of %s = %s, want %s in it", op, &got, want)
	}
}

// TestServeToolsSendsTheSame reads files at the same time through both kinds of
// server, and compares each result.
func TestServeToolsSendsTheSame(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("\"<tab>\t\\ é \u2028 \x01\"\r\n", 2000)
	files := map[string]string{"small": "one\n", "large": large, "other": strings.Repeat("other\n", 3000), "image.png": pixel, "quote": `"` + strings.Repeat(`"`, 30000)}
	fsys := newMemory(t, files)
	whole, set := connect(t, fsys), newSet(t, fsys)
	direct := connectTo(t, func(ctx context.Context, in io.Reader, out io.Writer) error {
		return mcp.ServeTools(ctx, set, nil, in, out, nil)
	})
	t.Run("calls", func(t *testing.T) {
		for range 3 {
			for path := range files {
				t.Run(path, func(t *testing.T) {
					t.Parallel()
					args := fmt.Sprintf(`{"path": %q}`, path)
					got, want := call(t, direct, "read_file", args), call(t, whole, "read_file", args)
					if diff := cmp.Diff(want.Content, got.Content); diff != "" {
						t.Errorf("content (-want +got):\n%s", diff)
					}
					if diff := cmp.Diff(want.StructuredContent, got.StructuredContent); diff != "" {
						t.Errorf("structured content (-want +got):\n%s", diff)
					}
				})
			}
		}
	})
	if result := call(t, direct, "read_file", `{"path": "nope"}`); !result.IsError {
		t.Errorf("read_file of a missing file = %s", textOf(t, result))
	}
}

func TestCallReturnsImages(t *testing.T) {
	result := call(t, connect(t, newMemory(t, map[string]string{"p.png": pixel})), "read_file", `{"path": "p.png"}`)
	if len(result.Content) != 2 {
		t.Fatalf("result has %d contents, want text and image", len(result.Content))
	}
	image, ok := result.Content[1].(*sdk.ImageContent)
	if !ok || image.MIMEType != "image/png" || string(image.Data) != pixel {
		t.Errorf("second content = %+v, want the PNG", result.Content[1])
	}
}

func TestCallReturnsDocuments(t *testing.T) {
	const pdf = "%PDF-1.7\x00%%EOF"
	result := call(t, connect(t, newMemory(t, map[string]string{"a b.pdf": pdf})), "read_file", `{"path": "a b.pdf"}`)
	if len(result.Content) != 2 {
		t.Fatalf("result has %d contents, want text and document", len(result.Content))
	}
	document, ok := result.Content[1].(*sdk.EmbeddedResource)
	if !ok || document.Resource.MIMEType != "application/pdf" || string(document.Resource.Blob) != pdf || document.Resource.URI != "workspace://main/a%20b.pdf" {
		t.Errorf("second content = %+v, want the PDF", result.Content[1])
	}
}

func TestCallErrors(t *testing.T) {
	tests := []struct {
		name, op, args string
		want           tools.Error
	}{
		{"missing-file", "read_file", `{"path": "nope.txt"}`, tools.Error{Code: tools.CodeNotExist, Path: "nope.txt"}},
		{"escape", "read_file", `{"path": "../x"}`, tools.Error{Code: tools.CodeInvalid, Path: "../x"}},
		{"unknown-parameter", "read_file", `{"path": "a.txt", "lines": 3}`, tools.Error{Code: tools.CodeInvalidArguments}},
		{"wrong-type", "read_file", `{"path": true}`, tools.Error{Code: tools.CodeInvalidArguments}},
		{"missing-parameter", "grep", `{}`, tools.Error{Code: tools.CodeInvalidArguments}},
		{"not-an-object", "grep", `[1]`, tools.Error{Code: tools.CodeInvalidArguments}},
	}
	session := connect(t, newMemory(t, map[string]string{"a.txt": "one\n"}))
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			result := call(t, session, test.op, test.args)
			var got tools.Error
			remarshal(t, result.Meta[mcp.ErrorMetaKey], &got)
			if !result.IsError || got.Code != test.want.Code || got.Path != test.want.Path {
				t.Errorf("isError = %t, error = %+v, want code %s and path %q", result.IsError, got, test.want.Code, test.want.Path)
			}
			if text := textOf(t, result); !strings.Contains(text, string(got.Code)) || !strings.Contains(text, got.Hint) {
				t.Errorf("text = %q, want the code and the hint %q in it", text, got.Hint)
			}
			if result.StructuredContent != nil {
				t.Errorf("structured content = %v, want none, as it would not match the schema", result.StructuredContent)
			}
		})
	}
}

func TestCallUnknownTool(t *testing.T) {
	session := connect(t, newMemory(t, nil))
	_, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "nope"})
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams || !strings.Contains(wire.Message, "nope") {
		t.Errorf("CallTool(nope) = %v, want invalid params and the name", err)
	}
}

// blocked is a FileSystem whose Stat waits for its context to end, or for release.
type blocked struct {
	workspace.FileSystem
	entered chan struct{}
	left    chan error
	release chan struct{}
}

func newBlocked(t *testing.T) *blocked {
	return &blocked{newMemory(t, nil), make(chan struct{}, 1), make(chan error, 1), make(chan struct{})}
}

func (b *blocked) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	b.entered <- struct{}{}
	select {
	case <-ctx.Done():
	case <-b.release:
		return b.FileSystem.Stat(ctx, ".")
	}
	b.left <- ctx.Err()
	return workspace.FileInfo{}, ops.Error(ops.Stat, name, ctx.Err(), nil)
}

func TestCallCancelled(t *testing.T) {
	fsys := newBlocked(t)
	session := connect(t, fsys)
	ctx, cancel := context.WithCancel(t.Context())
	returned := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "workspace__main__stat", Arguments: map[string]any{"path": "a"}})
		returned <- err
	}()
	receive(t, fsys.entered)
	cancel()
	if err := receive(t, fsys.left); !errors.Is(err, context.Canceled) {
		t.Errorf("context of the call ended with %v, want %v", err, context.Canceled)
	}
	if err := receive(t, returned); !errors.Is(err, context.Canceled) {
		t.Errorf("CallTool() = %v, want %v", err, context.Canceled)
	}
	if err := session.Ping(t.Context(), nil); err != nil {
		t.Errorf("Ping() after a cancelled call = %v", err)
	}
}

// stubborn is a FileSystem that reads a file although its context has ended.
type stubborn struct {
	*blocked
	content []byte
}

func (s stubborn) ReadVersioned(ctx context.Context, _ string, _ int64) ([]byte, workspace.Version, error) {
	s.entered <- struct{}{}
	<-ctx.Done()
	return s.content, "", nil
}

// TestServeToolsAnswersCancelledCalls holds the SDK to what frees the large parts
// of results: it writes the answer of a call that was cancelled, too.
func TestServeToolsAnswersCancelledCalls(t *testing.T) {
	fsys := stubborn{newBlocked(t), bytes.Repeat([]byte("line\n"), 2000)}
	set := newSet(t, fsys)
	fromClient, feed := io.Pipe()
	fromServer, toClient := io.Pipe()
	go mcp.ServeTools(t.Context(), set, nil, fromClient, toClient, nil)
	defer feed.Close()
	answers := json.NewDecoder(fromServer)
	var initialized, read answer
	send(t, feed, hello)
	if err := answers.Decode(&initialized); err != nil {
		t.Fatal(err)
	}
	for id := range 3 {
		send(t, feed, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"workspace__main__read_file","arguments":{"path":"a"}}}`+"\n", id))
		receive(t, fsys.entered)
		send(t, feed, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", id))
		if err := answers.Decode(&read); err != nil || bytes.Count(read.Result, []byte(`line\n`)) != 2*2000 {
			t.Errorf("answer to a cancelled call = %.200s, %v, want the file, twice", read.Result, err)
		}
	}
}
