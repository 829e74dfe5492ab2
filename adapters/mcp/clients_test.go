package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/adapters/mcp"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/nodetest"
	"github.com/workspacekit/workspacekit/tools"
)

// Clients of several makers go through one script: they list the tools, call each,
// provoke an error, cancel a long search, subscribe to a file, make 100 calls at a time
// and 50 connections (fewer over standard input and output, as each starts a program),
// send a message that is none and an argument of 50 MB, and vanish during a call. testdata/client.mjs has the script for the TypeScript SDK.

// cancelTime is how long a search continues at most once it has been cancelled.
const cancelTime = 200 * time.Millisecond

// scriptCall is a call of each client, and the code of its error.
type scriptCall struct {
	Op    string          `json:"op"`
	Args  json.RawMessage `json:"args"`
	Fails tools.Code      `json:"fails"`
}

// scriptCalls call every tool, in this order.
var scriptCalls = []scriptCall{
	{"ls", json.RawMessage(`{}`), ""},
	{"tree", json.RawMessage(`{}`), ""},
	{"read_file", json.RawMessage(`{"path": "a.txt"}`), ""},
	{"read_files", json.RawMessage(`{"paths": ["a.txt", "many/1.txt"]}`), ""},
	{"write_file", json.RawMessage(`{"path": "b.txt", "content": "one\n"}`), ""},
	{"edit_file", json.RawMessage(`{"path": "b.txt", "oldText": "one", "newText": "two"}`), ""},
	{"apply_patch", json.RawMessage(`{"patch": "*** Begin Patch\n*** Add File: c.txt\n+text\n*** End Patch\n"}`), ""},
	{"glob", json.RawMessage(`{"pattern": "*.txt"}`), ""},
	{"grep", json.RawMessage(`{"pattern": "two"}`), ""},
	{"stat", json.RawMessage(`{"path": "b.txt"}`), ""},
	{"mkdir", json.RawMessage(`{"path": "d"}`), ""},
	{"copy", json.RawMessage(`{"source": "b.txt", "destination": "d/b.txt"}`), ""},
	{"move", json.RawMessage(`{"source": "d/b.txt", "destination": "d/c.txt"}`), ""},
	{"rm", json.RawMessage(`{"path": "d", "recursive": true}`), ""},
	{"read_file", json.RawMessage(`{"path": "d/c.txt"}`), tools.CodeNotExist},
	{"read_file", json.RawMessage(`{"nonsense": 1}`), tools.CodeInvalidArguments},
}

// script is a folder for one client: "served" in it is what the server serves.
type script struct {
	dir, url string // url is empty over standard input and output
}

// newScript makes the folder, and starts a server for clients over HTTP.
func newScript(t *testing.T, overHTTP bool) *script {
	t.Helper()
	s := &script{dir: t.TempDir()}
	calls, err := json.Marshal(scriptCalls)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"calls.json": string(calls), "served/a.txt": "text\n"}
	for n := range 100 {
		files[fmt.Sprintf("served/many/%d.txt", n)] = fmt.Sprintf("file %d\n", n)
	}
	for name, content := range files {
		name = filepath.Join(s.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if overHTTP {
		s.serve(t)
	}
	return s
}

// environ returns the variables of a server.
func (s *script) environ(transport string) []string {
	return append(os.Environ(), serveVariable+"="+transport, folderVariable+"="+filepath.Join(s.dir, "served"), leftVariable+"="+filepath.Join(s.dir, "left"))
}

// command returns a server on its standard streams.
func (s *script) command(t *testing.T) *exec.Cmd {
	t.Helper()
	command := newProcess(t)
	command.Env = s.environ("stdio")
	return command
}

// serve starts a server over HTTP, which has to end well with the test.
func (s *script) serve(t *testing.T) {
	t.Helper()
	command := exec.Command(newProcess(t).Path) // which the test ends
	command.Env = s.environ("http")
	command.Stderr = t.Output()
	stop, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop.Close()
		if err := command.Wait(); err != nil {
			t.Errorf("the server ended with %v, want exit code 0", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server says %q, %v, want its URL", line, err)
	}
	s.url = strings.TrimSpace(line)
}

// transport returns the way of a client of the Go SDK to the server.
func (s *script) transport(t *testing.T) sdk.Transport {
	if s.url != "" {
		return &sdk.StreamableClientTransport{Endpoint: s.url}
	}
	return &sdk.CommandTransport{Command: s.command(t)}
}

// ended returns when the nth long search has ended.
func (s *script) ended(t *testing.T, n int) time.Time {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(deadline); time.Now().Before(late); <-tick.C {
		text, err := os.ReadFile(filepath.Join(s.dir, "left"))
		if lines := strings.Fields(string(text)); err == nil && len(lines) >= n {
			millis, err := strconv.ParseInt(lines[n-1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return time.UnixMilli(millis)
		}
	}
	t.Fatalf("search %d has not ended", n)
	panic("unreachable")
}

// overBoth runs a test over standard input and output, and over HTTP.
func overBoth(t *testing.T, test func(*testing.T, *script)) {
	for name, overHTTP := range map[string]bool{"stdio": false, "http": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newScript(t, overHTTP))
		})
	}
}

func TestClientsGo(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("left out with -short: it starts many programs")
	}
	overBoth(t, func(t *testing.T, s *script) {
		progressed, updated := make(chan time.Time, 1), make(chan string, 10)
		client := sdk.NewClient(&sdk.Implementation{Name: "script", Version: "1"}, &sdk.ClientOptions{
			ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) {
				select {
				case progressed <- time.Now():
				default:
				}
			},
			ResourceUpdatedHandler: func(_ context.Context, req *sdk.ResourceUpdatedNotificationRequest) { updated <- req.Params.URI },
		})
		session, err := client.Connect(t.Context(), s.transport(t), &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		s.callEveryTool(t, session)
		s.cancelSearch(t, session, progressed)
		if err := session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "workspace://main/a.txt"}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.dir, "served", "a.txt"), []byte("changed\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if uri := receive(t, updated); uri != "workspace://main/a.txt" {
			t.Errorf("the update is of %s", uri)
		}
		s.meanwhile(t, 100, func(n int) { readNth(t, session, n) })
		connections := 50
		if s.url == "" {
			connections = exhaustive.Some(t, "most of 50 programs", 50, 10)
		}
		s.meanwhile(t, connections, func(n int) {
			other, err := sdk.NewClient(&sdk.Implementation{Name: "other", Version: "1"}, nil).Connect(t.Context(), s.transport(t), nil)
			if err != nil {
				t.Errorf("connection %d: %v", n, err)
				return
			}
			readNth(t, other, n)
			if err := other.Close(); err != nil {
				t.Errorf("Close() of connection %d = %v", n, err)
			}
		})
		s.sendNonsense(t, session)
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "workspace__main__write_file", Arguments: map[string]any{"path": "large", "content": strings.Repeat("x", 50<<20)}})
		if err != nil || !result.IsError {
			t.Errorf("write_file of 50 MB = %v, want an error of the tool", err)
		}
		if err := session.Ping(t.Context(), nil); err != nil {
			t.Errorf("Ping() after 50 MB = %v", err)
		}
	})
}

func (s *script) callEveryTool(t *testing.T, session *sdk.ClientSession) {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	called := map[string]bool{}
	for _, c := range scriptCalls {
		result := call(t, session, c.Op, string(c.Args))
		called["workspace__main__"+c.Op] = true
		var failed tools.Error
		if result.IsError {
			remarshal(t, result.Meta[mcp.ErrorMetaKey], &failed)
		}
		if failed.Code != c.Fails {
			t.Errorf("%s %s = code %q, want %q", c.Op, c.Args, failed.Code, c.Fails)
		}
	}
	if len(called) != len(list.Tools) {
		t.Errorf("%d tools are called of %d", len(called), len(list.Tools))
	}
}

// cancelSearch begins a search that does not end, and cancels it once it continues. On a
// machine that is busy with other things, one of a few has to stop in time.
func (s *script) cancelSearch(t *testing.T, session *sdk.ClientSession, progressed <-chan time.Time) {
	t.Helper()
	const tries = 3
	for try := 1; ; try++ {
		ctx, cancel := context.WithCancel(t.Context())
		params := &sdk.CallToolParams{Name: "workspace__main__grep", Arguments: map[string]any{"pattern": "long"}}
		params.SetProgressToken(fmt.Sprint("search ", try))
		ended := make(chan error, 1)
		go func() {
			_, err := session.CallTool(ctx, params)
			ended <- err
		}()
		receive(t, progressed)
		cancelled := time.Now()
		cancel()
		if err := receive(t, ended); !errors.Is(err, context.Canceled) {
			t.Errorf("the cancelled search = %v", err)
		}
		took := s.ended(t, try).Sub(cancelled)
		if took <= cancelTime {
			return
		}
		if try == tries {
			t.Fatalf("the search went on for %v, want at most %v", took, cancelTime)
		}
		select { // what came late
		case <-progressed:
		default:
		}
	}
}

// meanwhile calls do n times at once.
func (s *script) meanwhile(t *testing.T, n int, do func(n int)) {
	t.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

func readNth(t *testing.T, session *sdk.ClientSession, n int) {
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "workspace__main__read_file", Arguments: map[string]any{"path": fmt.Sprintf("many/%d.txt", n)}})
	if err != nil {
		t.Errorf("read of file %d: %v", n, err)
		return
	}
	if text := result.Content[0].(*sdk.TextContent).Text; !strings.Contains(text, fmt.Sprintf("file %d\n", n)) {
		t.Errorf("read of file %d = %q", n, text)
	}
}

// sendNonsense sends a message that is none, and one that vanishes half way.
func (s *script) sendNonsense(t *testing.T, session *sdk.ClientSession) {
	t.Helper()
	if s.url == "" {
		return // TestServeSurvivesBadLines has many
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url, strings.NewReader("nonsense"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {session.ID()}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("status of nonsense = %d, want 400", response.StatusCode)
	}
}

func TestClientsTypeScript(t *testing.T) {
	t.Parallel()
	modules := nodetest.Modules(t)
	overBoth(t, func(t *testing.T, s *script) {
		target := s.url
		if target == "" {
			target = newProcess(t).Path
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		client := exec.CommandContext(ctx, "node", filepath.Join("testdata", "client.mjs"), modules, s.dir, target)
		client.Env = s.environ("stdio")
		if out, err := client.CombinedOutput(); err != nil {
			t.Fatalf("the client ended with %v:\n%s", err, out)
		}
		if s.url == "" {
			text, err := os.ReadFile(filepath.Join(s.dir, "searches"))
			if err != nil {
				t.Fatal(err)
			}
			s.ended(t, len(text)+1) // the call of the client that has vanished
			return
		}
		readNth(t, newSession(t, s.transport(t)), 1)
	})
}

func TestClientsInspector(t *testing.T) {
	t.Parallel()
	modules := nodetest.Modules(t)
	overBoth(t, func(t *testing.T, s *script) {
		target := []string{s.url}
		if s.url == "" {
			target = []string{newProcess(t).Path}
		}
		for _, step := range []struct {
			want string
			args []string
			code int
		}{
			{`"name": "workspace__main__rm"`, []string{"--method", "tools/list", "--strict"}, 0},
			{`"text": "file 7\n"`, []string{"--method", "tools/call", "--tool-name", "workspace__main__read_file", "--tool-arg", "path=many/7.txt"}, 0},
			{`FILE_NOT_FOUND`, []string{"--method", "tools/call", "--tool-name", "workspace__main__read_file", "--tool-arg", "path=nowhere"}, 1},
			{`"text": "text\n"`, []string{"--method", "resources/read", "--uri", "workspace://main/a.txt"}, 0},
		} {
			if s.url != "" && step.code == 0 && step.args[1] != "tools/list" {
				continue // what the server answers is the same over HTTP
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			args := slices.Concat([]string{filepath.Join(modules, "@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli"}, target, step.args)
			for _, variable := range s.environ("stdio")[len(os.Environ()):] {
				args = append(args, "-e", variable)
			}
			inspector := exec.CommandContext(ctx, "node", args...)
			inspector.Env = append(os.Environ(), "HOME="+s.dir) // where it keeps a list of servers
			var stdout, stderr bytes.Buffer
			inspector.Stdout, inspector.Stderr = &stdout, &stderr
			err := inspector.Run()
			if inspector.ProcessState == nil {
				t.Fatal(err)
			}
			if code := inspector.ProcessState.ExitCode(); (code == 0) != (step.code == 0) || !strings.Contains(stdout.String(), step.want) {
				t.Errorf("inspector %v = exit code %d, want %d and %s\nstdout: %.2000s\nstderr: %.2000s", step.args, code, step.code, step.want, &stdout, &stderr)
			}
		}
	})
}
