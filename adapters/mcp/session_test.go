package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/adapters/mcp"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/quota"
)

// newClient returns a client of server.
func newClient(t *testing.T, server *sdk.Server) *sdk.ClientSession {
	t.Helper()
	near, far := sdk.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), near, nil); err != nil {
		t.Fatal(err)
	}
	session := newSession(t, far)
	t.Cleanup(func() { session.Close() })
	return session
}

// TestEachClientIsASession tests that what one client has read lets another change
// nothing, and that a foreign change is found.
func TestEachClientIsASession(t *testing.T) {
	ctx := t.Context()
	fsys := memory.New(nil)
	write := func(content string) {
		if _, err := fsys.WriteFile(ctx, "a", []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	write("one\ntwo\n")
	set, err := tools.New(workspace.New("test", fsys, nil), &tools.Options{Naming: "{op}", ReadBeforeWrite: []string{"test"}})
	if err != nil {
		t.Fatal(err)
	}
	server := mcp.NewServer(set, nil)
	first, second := newClient(t, server), newClient(t, server)
	for i, step := range []struct {
		who        *sdk.ClientSession
		tool, args string
		want       tools.Code
	}{
		{first, "write_file", `{"path": "a", "content": "x"}`, tools.CodeReadRequired},
		{first, "read_file", `{"path": "a"}`, ""},
		{second, "edit_file", `{"path": "a", "oldText": "one", "newText": "1"}`, tools.CodeReadRequired},
		{first, "edit_file", `{"path": "a", "oldText": "one", "newText": "1"}`, ""},
		{second, "read_file", `{"path": "a"}`, ""},
		{second, "edit_file", `{"path": "a", "oldText": "two", "newText": "2"}`, ""},
		{first, "edit_file", `{"path": "a", "oldText": "1", "newText": "uno"}`, tools.CodeConflict},
		{first, "read_file", `{"path": "a"}`, ""},
		{first, "write_file", `{"path": "a", "content": "all new"}`, ""},
	} {
		result, err := step.who.CallTool(ctx, &sdk.CallToolParams{Name: step.tool, Arguments: json.RawMessage(step.args)})
		if err != nil {
			t.Fatal(err)
		}
		var failed tools.Error
		if data, err := json.Marshal(result.Meta[mcp.ErrorMetaKey]); err == nil {
			_ = json.Unmarshal(data, &failed) // of a success there is none
		}
		if failed.Code != step.want {
			t.Errorf("step %d, %s %s = code %q, want %q", i+1, step.tool, step.args, failed.Code, step.want)
		}
	}
}

// identified records the ids of the sessions that write.
type identified struct {
	*memory.FS
	ids map[string]string // by the name of the file
}

func (f identified) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	f.ids[name] = session.ID(ctx)
	return f.FS.WriteFile(ctx, name, data, opts)
}

// TestEachClientHasAnID tests that what records changes can tell one client from
// another.
func TestEachClientHasAnID(t *testing.T) {
	ids := map[string]string{}
	set, err := tools.New(workspace.New("test", identified{memory.New(nil), ids}, nil), &tools.Options{Naming: "{op}"})
	if err != nil {
		t.Fatal(err)
	}
	server := mcp.NewServer(set, nil)
	first, second := newClient(t, server), newClient(t, server)
	for _, step := range []struct {
		who  *sdk.ClientSession
		name string
	}{{first, "a"}, {second, "b"}, {first, "c"}} {
		args := map[string]any{"path": step.name, "content": "x"}
		if result, err := step.who.CallTool(t.Context(), &sdk.CallToolParams{Name: "write_file", Arguments: args}); err != nil || result.IsError {
			t.Fatalf("write_file %s = %+v, %v", step.name, result, err)
		}
	}
	if ids["a"] == "" || ids["a"] != ids["c"] || ids["a"] == ids["b"] {
		t.Errorf("the ids of the writes of two clients = %v, want the same for a and c", ids)
	}
}

// TestEachClientHasAQuota tests that the quota of one client is not that of another, and
// that each undoes its own changes.
func TestEachClientHasAQuota(t *testing.T) {
	ctx := t.Context()
	backups, err := backup.New(memory.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	limited, err := quota.New(backups, quota.Limits{Files: 2})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.New(workspace.New("test", limited, nil), &tools.Options{Naming: "{op}"})
	if err != nil {
		t.Fatal(err)
	}
	server := mcp.NewServer(set, nil)
	first, second := newClient(t, server), newClient(t, server)
	for _, step := range []struct {
		who     *sdk.ClientSession
		name    string
		refused bool
	}{{first, "a", false}, {first, "b", false}, {first, "c", true}, {second, "c", false}, {first, "a", false}} {
		args := map[string]any{"path": step.name, "content": "x"}
		result, err := step.who.CallTool(ctx, &sdk.CallToolParams{Name: "write_file", Arguments: args})
		if err != nil || result.IsError != step.refused {
			t.Errorf("write_file %s = %+v, %v, want a refusal: %t", step.name, result, err, step.refused)
		}
	}
	changes, err := backups.Changes(ctx, "")
	if err != nil || len(changes) != 4 {
		t.Fatalf("Changes = %+v, %v, want four", changes, err)
	}
	if _, err := backups.Undo(ctx, &backup.UndoOptions{Session: changes[0].Session, All: true}); err != nil {
		t.Errorf("Undo of the first client = %v", err)
	}
	paths, err := backups.Glob(ctx, "*", nil)
	if err != nil || len(paths) != 1 || paths[0] != "c" {
		t.Errorf("files after Undo of the first client = %q, %v, want the one of the second", paths, err)
	}
}

// machine is memory that says that it can run commands, which last until they are killed.
type machine struct {
	*memory.FS
	began  chan string // the directory of a command; or nil
	killed chan string // as well
}

func (m machine) Capabilities() workspace.Capabilities {
	c := m.FS.Capabilities()
	c.Run = true
	return c
}

func (m machine) Run(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
	if _, err := io.Copy(io.Discard, opts.Stdin); err != nil { // the command has begun
		return nil, err
	}
	if m.began != nil {
		m.began <- opts.Dir
	}
	<-ctx.Done()
	m.killed <- opts.Dir
	return nil, ctx.Err()
}

// TestClientLeaves tests that what a client runs in the background ends with its session,
// however it leaves, and what another one runs does not.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	silent := func(*sdk.ClientSession) {}
	closes := func(session *sdk.ClientSession) { session.Close() }
	overHTTP := func(opts mcp.HTTPOptions) func(t *testing.T, m machine) func() *sdk.ClientSession {
		return func(t *testing.T, m machine) func() *sdk.ClientSession {
			addr := serveHTTP(t, m, &opts)
			return func() *sdk.ClientSession { return httpClient(t, addr, "") }
		}
	}
	for name, c := range map[string]struct {
		serve func(t *testing.T, m machine) func() *sdk.ClientSession
		leave func(*sdk.ClientSession)
	}{
		"HTTP, it ends its session": {overHTTP(mcp.HTTPOptions{}), closes},
		"HTTP, it vanishes":         {overHTTP(mcp.HTTPOptions{SessionTimeout: 500 * time.Millisecond}), silent},
		"in memory": {func(t *testing.T, m machine) func() *sdk.ClientSession {
			server := mcp.NewServer(newSet(t, m), nil)
			return func() *sdk.ClientSession { return newClient(t, server) }
		}, closes},
		"over streams": {func(t *testing.T, m machine) func() *sdk.ClientSession {
			set := newSet(t, m)
			return func() *sdk.ClientSession {
				session := newSession(t, piped(t, func(in io.Reader, out io.Writer) error {
					return mcp.ServeTools(t.Context(), set, nil, in, out, nil)
				}))
				t.Cleanup(func() { session.Close() })
				return session
			}
		}, closes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := machine{memory.New(nil), nil, make(chan string, 10)}
			for _, dir := range []string{"first", "second", "waiting"} {
				if err := m.Mkdir(t.Context(), dir, nil); err != nil {
					t.Fatal(err)
				}
			}
			connect := c.serve(t, m)
			second := connect()
			// A client that waits for an answer has not left, however slow the machine is.
			waiting := make(chan struct{})
			go func() {
				defer close(waiting)
				second.CallTool(t.Context(), &sdk.CallToolParams{
					Name: "workspace__main__run", Arguments: json.RawMessage(`{"command": "sleep", "dir": "waiting"}`),
				})
			}()
			t.Cleanup(func() { <-waiting })
			first := connect()
			call(t, first, "run", `{"command": "sleep", "dir": "first", "background": true}`)
			call(t, second, "run", `{"command": "sleep", "dir": "second", "background": true}`)
			c.leave(first)
			select {
			case <-time.After(deadline):
				t.Fatal("the command of the first client still runs")
			case dir := <-m.killed:
				if dir != "first" {
					t.Errorf("the command with the directory %s was killed", dir)
				}
			}
			if got := textOf(t, call(t, second, "processes", `{}`)); !strings.HasPrefix(got, "1 running") {
				t.Errorf("the second client has %q", got)
			}
		})
	}
}

// TestEndedSessionEndsCalls tests that a client that ends its session over HTTP ends the
// calls that run in it, and nobody else's.
func TestEndedSessionEndsCalls(t *testing.T) {
	t.Parallel()
	m := machine{memory.New(nil), make(chan string, 10), make(chan string, 10)}
	addr := serveHTTP(t, m, &mcp.HTTPOptions{Tokens: []string{firstToken, secondToken}})
	sessions := map[string]*sdk.ClientSession{firstToken: httpClient(t, addr, firstToken), secondToken: httpClient(t, addr, secondToken)}
	for token, session := range sessions {
		if err := m.Mkdir(t.Context(), token, nil); err != nil {
			t.Fatal(err)
		}
		go session.CallTool(t.Context(), &sdk.CallToolParams{
			Name: "workspace__main__run", Arguments: json.RawMessage(`{"command": "sleep", "dir": "` + token + `"}`),
		})
		receive(t, m.began)
	}
	for _, step := range []struct {
		session, token string
		want           int
	}{{secondToken, firstToken, http.StatusForbidden}, {firstToken, firstToken, http.StatusNoContent}} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, "http://"+addr+mcp.HTTPPath, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Mcp-Session-Id", sessions[step.session].ID())
		response, err := (&http.Client{Transport: bearer(step.token), Timeout: deadline}).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != step.want {
			t.Errorf("DELETE of the session of %s by %s = %d, want %d", step.session, step.token, response.StatusCode, step.want)
		}
	}
	if got := receive(t, m.killed); got != firstToken || len(m.killed) > 0 {
		t.Errorf("the command of %s and %d more were killed, want only that of %s", got, len(m.killed), firstToken)
	}
}
