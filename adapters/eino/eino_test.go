package eino_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	fsbackend "github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/adk/middlewares/filesystem"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/adapters/eino"
	"github.com/workspacekit/workspacekit/internal/enginetest"
	"github.com/workspacekit/workspacekit/internal/modeltest"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

var update = flag.Bool("update", false, "rewrite the transcript in testdata")

// seed is what is in a workspace before an agent works in it.
var seed = []struct{ name, content string }{
	{".gitignore", "/out/\n"},
	{"out/a.txt", "TODO: out\n"},
	{"a.txt", "one\ntwo\nthree\n"},
	{"crlf.txt", "one\r\ntwo TODO\r\n"},
	{"utf16.txt", "\xff\xfeo\x00n\x00e\x00\n\x00"},
	{"empty.txt", ""},
	{"image", "\x89PNG\r\n\x1a\n\x00"},
	{"long.txt", strings.Repeat("a line of text that is not short\n", 300)},
}

// calls are what the agent does. They have all methods of a backend succeed and fail.
var calls = []struct{ name, arguments string }{
	{"write_file", `{"file_path": "/src/main.go", "content": "package main\n\nfunc main() {}\n"}`},
	{"write_file", `{"file_path": "/src/main.go", "content": ""}`},
	{"write_file", `{"file_path": "/a.txt/b", "content": ""}`},
	{"write_file", `{"file_path": "/../b", "content": ""}`},
	{"ls", `{"path": "/"}`},
	{"ls", `{"path": ""}`},
	{"ls", `{"path": "/src/"}`},
	{"ls", `{"path": "/missing"}`},
	{"read_file", `{"file_path": "/a.txt"}`},
	{"read_file", `{"file_path": "/a.txt", "offset": 1, "limit": 1}`},
	{"read_file", `{"file_path": "/a.txt", "offset": 3}`},
	{"read_file", `{"file_path": "/crlf.txt"}`},
	{"read_file", `{"file_path": "/utf16.txt"}`},
	{"read_file", `{"file_path": "/empty.txt"}`},
	{"read_file", `{"file_path": "/image"}`},
	{"read_file", `{"file_path": "/src"}`},
	{"read_file", `{"file_path": "/b.txt"}`},
	{"read_file", `{"file_path": "/../../etc/passwd"}`},
	{"edit_file", `{"file_path": "/src/main.go", "old_string": "{}", "new_string": "{ run() }"}`},
	{"edit_file", `{"file_path": "/crlf.txt", "old_string": "one\ntwo", "new_string": "1\n2"}`},
	{"edit_file", `{"file_path": "/utf16.txt", "old_string": "one", "new_string": "zwölf"}`},
	{"edit_file", `{"file_path": "/a.txt", "old_string": "t", "new_string": "T"}`},
	{"edit_file", `{"file_path": "/a.txt", "old_string": "t", "new_string": "T", "replace_all": true}`},
	{"edit_file", `{"file_path": "/a.txt", "old_string": "four", "new_string": "4"}`},
	{"edit_file", `{"file_path": "/a.txt", "old_string": "", "new_string": "4"}`},
	{"edit_file", `{"file_path": "/*.txt", "old_string": "one", "new_string": "1", "replace_all": true}`},
	{"edit_file", `{"file_path": "/b.txt", "old_string": "one", "new_string": "1"}`},
	{"glob", `{"pattern": "**/*.go", "path": "/"}`},
	{"glob", `{"pattern": "*.txt", "path": ""}`},
	{"glob", `{"pattern": "/src/*", "path": "/src"}`},
	{"glob", `{"pattern": "*", "path": "/src"}`},
	{"glob", `{"pattern": "[", "path": "/"}`},
	{"grep", `{"pattern": "TODO"}`},
	{"grep", `{"pattern": "TODO", "output_mode": "content"}`},
	{"grep", `{"pattern": "main(", "path": "/src", "glob": "*.go", "output_mode": "content"}`},
	{"grep", `{"pattern": "e", "output_mode": "count"}`},
	{"grep", `{"pattern": "TODO", "path": "/missing"}`},
	{"read_file", `{"file_path": "/long.txt", "offset": 100, "limit": 2500}`},
	{"ls", `{"path": "/large_tool_result"}`},
	{"read_file", `{"file_path": "/large_tool_result/call-37", "limit": 2}`},
	{"read_file", `{"file_path": "/a.txt"}`},
	{"read_file", `{"file_path": "/crlf.txt"}`},
	{"read_file", `{"file_path": "/utf16.txt"}`},
	{"read_file", `{"file_path": "/src/main.go"}`},
}

// TestTranscript runs an agent with the filesystem middleware in workspaces of several
// stores. The model is shown the same in all of them.
func TestTranscript(t *testing.T) {
	const golden = "testdata/transcript.txt"
	got := map[string]string{}
	for _, store := range []struct {
		name string
		open func(*testing.T) workspace.FileSystem
	}{
		{"memory", func(*testing.T) workspace.FileSystem { return memory.New(nil) }},
		{"objectstore", openStore},
		{"container", openContainer},
	} {
		t.Run(store.name, func(t *testing.T) {
			got[store.name] = transcript(t, workspace.New("test", store.open(t), nil))
		})
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got["memory"]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range got {
		if diff := cmp.Diff(string(want), text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// transcript returns all calls with their results, as the model saw them.
func transcript(t *testing.T, ws *workspace.Workspace) string {
	t.Helper()
	for _, file := range seed {
		if _, err := ws.WriteFile(t.Context(), file.name, []byte(file.content), nil); err != nil {
			t.Fatal(err)
		}
	}
	chat := newScript()
	for i, c := range calls {
		chat.answers = append(chat.answers, schema.AssistantMessage("", []schema.ToolCall{toolCall(fmt.Sprintf("call-%d", i), c.name, c.arguments)}))
	}
	chat.answers = append(chat.answers, schema.AssistantMessage("Done.", nil))

	backend, err := eino.NewBackend(ws)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filesystem.NewMiddleware(t.Context(), &filesystem.Config{Backend: backend, LargeToolResultOffloadingTokenLimit: 500})
	if err != nil {
		t.Fatal(err)
	}
	agent, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{
		Name: "test", Description: "test", Model: chat, MaxIterations: len(calls) + 1, Middlewares: []adk.AgentMiddleware{files, eino.ToolErrors()},
	})
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := ask(t.Context(), agent, "Work."); answer != "Done." || err != nil {
		t.Fatalf("ask() = %q, %v, want Done.", answer, err)
	}
	var out strings.Builder
	for _, message := range chat.asked {
		switch message.Role {
		case schema.Assistant:
			fmt.Fprintf(&out, "> %s %s\n", message.ToolCalls[0].Function.Name, message.ToolCalls[0].Function.Arguments)
		case schema.Tool:
			fmt.Fprintf(&out, "%s\n\n", message.Content)
		}
	}
	return out.String()
}

// openStore opens a part of a bucket, in a real store if there is one.
func openStore(t *testing.T) workspace.FileSystem {
	s, ok := s3test.External(t)
	if !ok {
		server := s3test.New(t, nil)
		s = s3test.Settings{Endpoint: server.URL, Region: server.Region, Bucket: "workspace", AccessKeyID: server.AccessKeyID, SecretAccessKey: server.SecretAccessKey}
	}
	t.Setenv("AWS_ACCESS_KEY_ID", s.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s.SecretAccessKey)
	fsys, err := objectstore.Open(t.Context(), &objectstore.Options{Bucket: s.Bucket, Prefix: "eino-" + rand.Text(), Endpoint: s.Endpoint, Region: s.Region})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		children, err := fsys.Ls(ctx, ".", nil)
		for _, c := range children {
			err = errors.Join(err, fsys.Rm(ctx, c.Path, &workspace.RmOptions{Recursive: true}))
		}
		if err := errors.Join(err, fsys.Close()); err != nil {
			t.Errorf("the bucket is not as it was: %v", err)
		}
	})
	return fsys
}

// openContainer opens a directory in a new container.
func openContainer(t *testing.T) workspace.FileSystem {
	image := enginetest.Lookup(t, "WORKSPACEKIT_BUSYBOX_IMAGE")[0]
	fsys, err := container.Open(t.Context(), &container.Options{
		Engine: []string{"docker", "--host", enginetest.Docker(t, image)}, Image: image, Root: "/workspace", Create: container.CreateOptions{Workdir: "/workspace"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fsys.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
	})
	return fsys
}

// TestReadOnly tests that a backend over a workspace that nobody may change says so.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	fsys := memory.New(nil)
	if _, err := fsys.WriteFile(t.Context(), "a.txt", []byte("one\n"), nil); err != nil {
		t.Fatal(err)
	}
	backend, err := eino.NewBackend(workspace.New("test", policy.ReadOnly(fsys), nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := backend.Write(t.Context(), &fsbackend.WriteRequest{FilePath: "/b.txt"}); !errors.Is(err, os.ErrPermission) {
		t.Errorf("Write() = %v, want %v", err, os.ErrPermission)
	}
	if err := backend.Edit(t.Context(), &fsbackend.EditRequest{FilePath: "/a.txt", OldString: "one"}); !errors.Is(err, errors.ErrUnsupported) || err.Error() != "edit_file a.txt: unsupported operation" {
		t.Errorf("Edit() = %v, want %v of a.txt", err, errors.ErrUnsupported)
	}
	if text, err := backend.Read(t.Context(), &fsbackend.ReadRequest{FilePath: "/a.txt"}); text != "     1\tone" || err != nil {
		t.Errorf("Read() = %q, %v", text, err)
	}
}

// TestTooMany tests that a result without an end is refused.
func TestTooMany(t *testing.T) {
	t.Parallel()
	fsys := memory.New(nil)
	for i := range 10_001 {
		if _, err := fsys.WriteFile(t.Context(), fmt.Sprintf("d/%d", i), []byte("x\n"), nil); err != nil {
			t.Fatal(err)
		}
	}
	backend, err := eino.NewBackend(workspace.New("test", fsys, nil))
	if err != nil {
		t.Fatal(err)
	}
	children, lsErr := backend.LsInfo(t.Context(), &fsbackend.LsInfoRequest{Path: "/d"})
	files, globErr := backend.GlobInfo(t.Context(), &fsbackend.GlobInfoRequest{Pattern: "d/*", Path: "/"})
	matches, grepErr := backend.GrepRaw(t.Context(), &fsbackend.GrepRequest{Pattern: "x", Path: "/d"})
	if children != nil || files != nil || matches != nil {
		t.Errorf("%d, %d and %d results with an error, want none", len(children), len(files), len(matches))
	}
	const why = "file too large: it has more than 10000 entries; ask for less"
	for want, err := range map[string]error{"ls d: " + why: lsErr, "glob .: " + why: globErr, "grep d: " + why: grepErr} {
		if !errors.Is(err, workspace.ErrTooLarge) || err.Error() != want {
			t.Errorf("a result of 10,001 entries: %v, want %s", err, want)
		}
	}
}

// TestErrors tests which errors are shown to a model: those of files, and no other.
func TestErrors(t *testing.T) {
	t.Parallel()
	backend, err := eino.NewBackend(workspace.New("test", memory.New(nil), nil))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filesystem.NewMiddleware(t.Context(), &filesystem.Config{Backend: backend})
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{`{"path": "/missing"}`: "", `{"path": `: "unmarshal"} {
		chat := newScript(schema.AssistantMessage("", []schema.ToolCall{toolCall("1", "ls", arguments)}), schema.AssistantMessage("Done.", nil))
		agent, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{
			Name: "test", Description: "test", Model: chat, Middlewares: []adk.AgentMiddleware{files, eino.ToolErrors()},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ask(t.Context(), agent, "Work."); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("ls(%s) ended the run with %v, want %q", arguments, err, want)
		}
	}
}

// TestTools tests that the tools of a set keep their schemas, and what they return.
func TestTools(t *testing.T) {
	t.Parallel()
	set := modeltest.NewSet(t)
	byName := map[string]tool.InvokableTool{}
	for i, bare := range eino.Tools(set) {
		info, err := bare.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		schema, err := info.ToJSONSchema()
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		want := set.Tools()[i]
		if diff := modeltest.Diff(want.InputSchema(), encoded); diff != "" || info.Name != want.Name || info.Desc != want.Description() {
			t.Errorf("%s is described as %s, %q (-want +got):\n%s", want.Name, info.Name, info.Desc, diff)
		}
		byName[info.Name] = bare.(tool.InvokableTool)
	}
	for arguments, want := range map[string]string{
		`{"path": "b.txt"}`: "FILE_NOT_FOUND: b.txt: file does not exist\nDid you mean \"a.txt\"?",
		`{"path": "a.png"}`: "[a.png: image/png, 33 bytes, version 2]\n[a.png (image/png) cannot be shown here]",
	} {
		if got, err := byName["read_file"].InvokableRun(t.Context(), arguments); got != want || err != nil {
			t.Errorf("read_file(%s) = %q, %v, want %q", arguments, got, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := byName["ls"].InvokableRun(ctx, "{}"); !errors.Is(err, context.Canceled) {
		t.Errorf("ls after the end = %q, %v, want %v", got, err, context.Canceled)
	}
}
