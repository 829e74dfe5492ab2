package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/internal/enginetest"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// TestMCPServesTheDocumentedFile serves the first file of docs/config.md to a
// client, which uses every tool, but for the workspace in a container.
func TestMCPServesTheDocumentedFile(t *testing.T) {
	d := newDocumented(t, storeInProcess(t))
	d.use(t, map[string]int{"repo": 10, "scratch": 10, "lake": 5})
}

// TestMCPServesTheDocumentedFileWithDocker does so with all workspaces, and with a real
// S3 server if there is one. The file names a prefix of the bucket: whoever uses that one
// there has Docker meanwhile, which this test has alone.
func TestMCPServesTheDocumentedFileWithDocker(t *testing.T) {
	host := enginetest.DockerAlone(t, documentedImage)
	store, ok := s3test.External(t)
	if !ok {
		store = storeInProcess(t)
	}
	d := newDocumented(t, store)
	d.env = append(d.env, "DOCKER_HOST="+host)
	before := d.containers(t)
	d.use(t, map[string]int{"repo": 10, "scratch": 10, "lake": 5, "box": 10})
	for _, container := range d.containers(t) {
		if !slices.Contains(before, container) {
			t.Errorf("the container %s is left", container)
		}
	}
}

// documented is a folder with the file of the documentation, and what that
// file needs.
type documented struct {
	dir string
	env []string
}

func newDocumented(t *testing.T, store s3test.Settings) *documented {
	t.Helper()
	text, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	file, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/config.md has no file")
	}
	d := &documented{dir: t.TempDir()}
	d.env = append(os.Environ(), "WORK="+d.dir, "XDG_STATE_HOME="+t.TempDir(), config.EnvFile+"=", "BUCKET="+store.Bucket, "S3_ENDPOINT="+store.Endpoint,
		"AWS_ACCESS_KEY_ID="+store.AccessKeyID, "AWS_SECRET_ACCESS_KEY="+store.SecretAccessKey, "AWS_REGION="+store.Region)
	for name, content := range map[string]string{
		config.FileName: file, "src/a.txt": "a needle\n", "key.pem": "", "fixtures/src/a.txt": "a needle\n",
	} {
		name = filepath.Join(d.dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	url := "s3://" + store.Bucket + "/team-a?endpoint=" + store.Endpoint
	d.run(t, "workspace", "trust")
	d.run(t, "workspace", "-w", url, "call", "write_file", "--path", "src/a.txt", "--content", "a needle")
	t.Cleanup(func() { d.run(t, "workspace", "-w", url, "call", "rm", "--path", "src", "--recursive") })
	return d
}

// storeInProcess returns an S3 server in this process.
func storeInProcess(t *testing.T) s3test.Settings {
	t.Helper()
	s := s3test.New(t, nil)
	return s3test.Settings{
		Endpoint: s.URL, Region: s.Region, AccessKeyID: s.AccessKeyID, SecretAccessKey: s.SecretAccessKey, Bucket: "workspace",
	}
}

// command returns a command in the folder. It outlives the test, for what
// cleans up.
func (d *documented) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = d.dir, d.env, os.Stderr
	return cmd
}

func (d *documented) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := d.command(name, args...).Output()
	if err != nil {
		t.Errorf("%s %q: %v", name, args, err)
	}
	return string(out)
}

// documentedImage is what the file makes a container of.
const documentedImage = "debian:12"

// containers returns those that were made of the image by its name, as no other
// test does.
func (d *documented) containers(t *testing.T) []string {
	t.Helper()
	var ids []string
	for line := range strings.Lines(d.run(t, "docker", "ps", "--all", "--no-trunc", "--format", "{{.Image}} {{.ID}}")) {
		if image, id, _ := strings.Cut(strings.TrimSpace(line), " "); image == documentedImage {
			ids = append(ids, id)
		}
	}
	return ids
}

// use has a client call every tool of some workspaces, which are to have so
// many.
func (d *documented) use(t *testing.T, tools map[string]int) {
	t.Helper()
	cmd := d.command("workspace", "mcp")
	for name := range tools {
		cmd.Args = append(cmd.Args, "-w", name)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, call := range toolCalls() {
		for _, tool := range list.Tools {
			if workspace, op := splitToolName(t, tool.Name); op == call.op {
				got[workspace]++
				callTool(t, session, tool.Name, call)
			}
		}
	}
	if diff := cmp.Diff(tools, got); diff != "" {
		t.Errorf("tools that were used (-want +got):\n%s", diff)
	}
	if err := session.Close(); err != nil || cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("Close() = %v, exit code %d, want %d", err, cmd.ProcessState.ExitCode(), 0)
	}
}

// splitToolName returns what a name in the documented naming is made of.
func splitToolName(t *testing.T, name string) (workspace, op string) {
	t.Helper()
	parts := strings.SplitN(name, "__", 3)
	if len(parts) != 3 || parts[0] != "workspace" {
		t.Fatalf("a tool is called %q", name)
	}
	return parts[1], parts[2]
}

// toolCall is a call of a tool, and a part of the answer.
type toolCall struct{ op, arguments, want string }

// toolCalls are in an order in which each works on what the ones before made.
func toolCalls() []toolCall {
	return []toolCall{
		{"write_file", `{"path": "src/a.txt", "content": "a needle\n"}`, "src/a.txt"},
		{"read_file", `{"path": "src/a.txt"}`, "a needle"},
		{"edit_file", `{"path": "src/a.txt", "oldText": "a", "newText": "the"}`, "the needle"},
		{"ls", `{"path": "src"}`, "a.txt"},
		{"glob", `{"pattern": "**/*.txt"}`, "src/a.txt"},
		{"grep", `{"pattern": "needle$"}`, "src/a.txt"},
		{"stat", `{"path": "src/a.txt"}`, "file"},
		{"mkdir", `{"path": "src/new"}`, "src/new"},
		{"copy", `{"source": "src/a.txt", "destination": "src/new/b.txt"}`, "src/new/b.txt"},
		{"move", `{"source": "src/new/b.txt", "destination": "src/c.txt"}`, "src/c.txt"},
	}
}

func callTool(t *testing.T, session *sdk.ClientSession, name string, call toolCall) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(call.arguments)})
	if err != nil {
		t.Fatalf("%s(%s): %v", name, call.arguments, err)
	}
	if result.IsError || !slices.ContainsFunc(result.Content, func(c sdk.Content) bool {
		text, ok := c.(*sdk.TextContent)
		return ok && strings.Contains(text.Text, call.want)
	}) {
		content, _ := json.Marshal(result.Content)
		t.Errorf("%s(%s) = %s, want %q in it", name, call.arguments, content, call.want)
	}
}
