package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/adapters/mcp"
	"github.com/workspacekit/workspacekit/shell/bashtool"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/observe"
	"github.com/workspacekit/workspacekit/workspace/policy"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

// versions are protocol versions: one in which the server asks while a call runs, and
// one in which a call ends with the question.
var versions = []string{"2025-11-25", "2026-07-28"}

// user is who answers the questions of a client.
type user struct {
	mu       sync.Mutex
	messages []string // guarded by mu
	answer   func(ctx context.Context, n int) (*sdk.ElicitResult, error)
}

func (u *user) elicit(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	u.mu.Lock()
	u.messages = append(u.messages, req.Params.Message)
	n := len(u.messages)
	u.mu.Unlock()
	return u.answer(ctx, n)
}

// asked returns how many questions there were, and forgets them.
func (u *user) asked() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := len(u.messages)
	u.messages = nil
	return n
}

func decides(decision string) func(context.Context, int) (*sdk.ElicitResult, error) {
	return func(context.Context, int) (*sdk.ElicitResult, error) {
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": decision}}, nil
	}
}

// askingSet returns tools of a file system in which every change needs an approval.
func askingSet(t *testing.T, fsys workspace.FileSystem, observers ...observe.Observer) *tools.Set {
	t.Helper()
	whole, err := transaction.New(fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted, err := policy.Restrict(whole, policy.Rules{FirstMatch: []policy.Rule{
		{Ask: []policy.Op{policy.OpWrite, policy.OpEdit}, Paths: []string{"**"}},
		{Ask: []policy.Op{policy.OpDelete}, Paths: []string{"**"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	observed := observe.New(restricted, "test", observers...)
	set, err := tools.New(workspace.New("test", observed, nil), &tools.Options{Naming: "{op}"})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// join returns a client of the version, whose questions u answers unless it is nil.
func (u *user) join(t *testing.T, version string, transport sdk.Transport, opts *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	var o sdk.ClientOptions
	if opts != nil {
		o = *opts
	}
	if u != nil {
		o.ElicitationHandler = u.elicit
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &o)
	session, err := client.Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// inMemory returns a transport to server.
func inMemory(t *testing.T, server *sdk.Server) sdk.Transport {
	t.Helper()
	near, far := sdk.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), near, nil); err != nil {
		t.Fatal(err)
	}
	return far
}

// code calls a tool and returns the code of its error, "" for none, with its text.
func code(t *testing.T, session *sdk.ClientSession, tool, args string) (tools.Code, string) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatalf("CallTool(%s, %s) = %v", tool, args, err)
	}
	if !result.IsError {
		return "", textOf(t, result)
	}
	var failed tools.Error
	remarshal(t, result.Meta[mcp.ErrorMetaKey], &failed)
	return failed.Code, textOf(t, result)
}

// holds tests what a file holds, "" for no file.
func holds(t *testing.T, fsys workspace.FileSystem, name, want string) {
	t.Helper()
	if data, _ := fsys.ReadFile(t.Context(), name); string(data) != want { // a missing file has no data
		t.Errorf("%s holds %q, want %q", name, data, want)
	}
}

// TestClientApproves tests what a client can answer, in each version and over each
// way to serve.
func TestClientApproves(t *testing.T) {
	const write = `{"path": "a", "content": "new\n"}`
	for _, version := range versions {
		for _, way := range []string{"NewServer", "Serve", "ServeTools"} {
			t.Run(version+"/"+way, func(t *testing.T) {
				t.Parallel()
				fsys := newMemory(t, map[string]string{"a": "old\n"})
				set := askingSet(t, fsys)
				u := &user{}
				session := u.join(t, version, serving(t, way, set), nil)

				for name, answer := range map[string]func(context.Context, int) (*sdk.ElicitResult, error){
					"deny":  decides("deny"),
					"other": decides("maybe"),
					"decline": func(context.Context, int) (*sdk.ElicitResult, error) {
						return &sdk.ElicitResult{Action: "decline"}, nil
					},
					"cancel": func(context.Context, int) (*sdk.ElicitResult, error) { return &sdk.ElicitResult{Action: "cancel"}, nil },
					"empty":  func(context.Context, int) (*sdk.ElicitResult, error) { return &sdk.ElicitResult{Action: "accept"}, nil },
				} {
					u.answer = answer
					result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "write_file", Arguments: json.RawMessage(write)})
					if err == nil && !result.IsError {
						t.Errorf("%s: write_file = %+v, want an error", name, result)
					}
					if n := u.asked(); n != 1 {
						t.Errorf("%s: %d questions, want 1", name, n)
					}
					holds(t, fsys, "a", "old\n")
				}
				u.answer = decides("allow")
				if code, text := code(t, session, "write_file", write); code != "" {
					t.Errorf("write_file that is allowed = %s", text)
				}
				holds(t, fsys, "a", "new\n")
				want := "Allow this?\n\nwrite a, in the workspace test\nasked by: rules[0]\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+new"
				if len(u.messages) != 1 || u.messages[0] != want {
					t.Errorf("the questions are %q, want %q", u.messages, want)
				}
				u.asked()
				patch := `{"patch": "*** Begin Patch\n*** Add File: c\n+1\n*** Add File: d\n+2\n*** End Patch"}`
				u.answer = func(ctx context.Context, n int) (*sdk.ElicitResult, error) {
					return decides([]string{"allow", "deny"}[(n-1)%2])(ctx, n)
				}
				if code, text := code(t, session, "apply_patch", patch); code != tools.CodePolicy || u.asked() != 2 {
					t.Errorf("apply_patch with one of two files allowed = %s", text)
				}
				holds(t, fsys, "c", "")
				u.answer = decides("allow")
				if code, text := code(t, session, "apply_patch", patch); code != "" || u.asked() != 2 {
					t.Errorf("apply_patch after two questions = %s", text)
				}
				holds(t, fsys, "c", "1\n")
				holds(t, fsys, "d", "2\n")
				u.answer = decides("allow for this session")
				for i := range 3 {
					if code, text := code(t, session, "write_file", fmt.Sprintf(`{"path": "b", "content": "%d"}`, i)); code != "" {
						t.Errorf("write_file in a session that allows it = %s", text)
					}
				}
				if n := u.asked(); n != 1 {
					t.Errorf("%d questions in a session that allows it, want 1", n)
				}
				u.answer = decides("deny")
				if code, text := code(t, session, "rm", `{"path": "b"}`); code != tools.CodePolicy || !strings.Contains(text, "rules[1]") {
					t.Errorf("rm, which another rule asks about = %s", text)
				}
				holds(t, fsys, "b", "2")
			})
		}
	}
}

// serving returns a transport to a server of set.
func serving(t *testing.T, way string, set *tools.Set) sdk.Transport {
	t.Helper()
	if way == "NewServer" {
		return inMemory(t, mcp.NewServer(set, nil))
	}
	return piped(t, func(in io.Reader, out io.Writer) error {
		ctx := context.WithoutCancel(t.Context())
		if way == "ServeTools" {
			return mcp.ServeTools(ctx, set, nil, in, out, nil)
		}
		return mcp.Serve(ctx, mcp.NewServer(set, nil), in, out, nil)
	})
}

// piped returns a transport to what serve serves.
func piped(t *testing.T, serve func(in io.Reader, out io.Writer) error) sdk.Transport {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = serve(fromClient, toClient) // the client may close the pipes first
		toClient.Close()
	}()
	t.Cleanup(func() { receive(t, ended) })
	return &sdk.IOTransport{Reader: fromServer, Writer: toServer}
}

// TestClientWithoutElicitation tests that a client that cannot ask is told so.
func TestClientWithoutElicitation(t *testing.T) {
	for _, version := range versions {
		fsys := newMemory(t, map[string]string{"a": "old"})
		session := (*user)(nil).join(t, version, inMemory(t, mcp.NewServer(askingSet(t, fsys), nil)), nil)
		got, text := code(t, session, "write_file", `{"path": "a", "content": "new"}`)
		if got != tools.CodePolicy || !strings.Contains(text, "the client cannot ask its user") {
			t.Errorf("%s: write_file = %s", version, text)
		}
		if got, text := code(t, session, "read_file", `{"path": "a"}`); got != "" {
			t.Errorf("%s: read_file = %s", version, text)
		}
		holds(t, fsys, "a", "old")
	}
}

// TestClientOfAgreedVersion tests that a client is asked as in the version that initialize
// answers with, whichever it sent.
func TestClientOfAgreedVersion(t *testing.T) {
	for _, sent := range []string{"1999-01-01", "2025-11-25", "2026-07-28", "2027-01-01"} {
		for _, way := range []string{"NewServer", "Serve", "ServeTools", "ServeHTTP"} {
			t.Run(sent+"/"+way, func(t *testing.T) {
				t.Parallel()
				restricted, err := policy.Restrict(newMemory(t, map[string]string{"a": "text"}), policy.Rules{FirstMatch: []policy.Rule{
					{Ask: []policy.Op{policy.OpRead}, Paths: []string{"**"}},
				}})
				if err != nil {
					t.Fatal(err)
				}
				var transport sdk.Transport
				if way == "ServeHTTP" {
					transport = &sdk.StreamableClientTransport{Endpoint: "http://" + serveHTTP(t, restricted, nil) + mcp.HTTPPath}
				} else {
					transport = serving(t, way, newSet(t, restricted))
				}
				c, err := transport.Connect(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				tell(t, c, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+sent+`","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`)
				if got := hear(t, c); !strings.Contains(got, `"protocolVersion":"2025-11-25"`) {
					t.Fatalf("the answer to initialize is %s, want 2025-11-25", got)
				}
				tell(t, c, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				for _, request := range []string{
					`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"workspace://main/a"}}`,
					`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"workspace__main__read_file","arguments":{"path":"a"}}}`,
				} {
					tell(t, c, request)
					got := hear(t, c)
					var question struct {
						ID     json.RawMessage
						Method string
					}
					if err := json.Unmarshal([]byte(got), &question); err != nil || question.Method != "elicitation/create" {
						t.Fatalf("the answer to %s is %s, want a question by elicitation", request, got)
					}
					tell(t, c, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"decision":"allow"}}}`, question.ID))
					if got := hear(t, c); !strings.Contains(got, `"text":"`) || strings.Contains(got, "resultType") {
						t.Errorf("the answer to %s is %s, want the text, and no resultType", request, got)
					}
				}
			})
		}
	}
}

// tell sends a message.
func tell(t *testing.T, c sdk.Connection, message string) {
	t.Helper()
	decoded, err := jsonrpc.DecodeMessage([]byte(message))
	if err == nil {
		err = c.Write(t.Context(), decoded)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// hear returns the next message.
func hear(t *testing.T, c sdk.Connection) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	message, err := c.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	data, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestClientNeverAnswers tests that no answer in time is a refusal, also where one
// comes later.
func TestClientNeverAnswers(t *testing.T) {
	const timeout = 200 * time.Millisecond
	for _, version := range versions {
		fsys := newMemory(t, map[string]string{"a": "old"})
		u := &user{answer: func(ctx context.Context, _ int) (*sdk.ElicitResult, error) {
			late, cancel := context.WithTimeout(ctx, 2*timeout)
			defer cancel()
			<-late.Done()
			return decides("allow")(ctx, 0)
		}}
		server := mcp.NewServer(askingSet(t, fsys), &mcp.Options{ApprovalTimeout: timeout})
		session := u.join(t, version, inMemory(t, server), nil)
		got, text := code(t, session, "write_file", `{"path": "a", "content": "new"}`)
		if got != tools.CodePolicy || !strings.Contains(text, "nobody answered in time") {
			t.Errorf("%s: write_file = %s", version, text)
		}
		holds(t, fsys, "a", "old")
	}
}

// TestClientDisconnects tests that a client that leaves while it is asked allows
// nothing, and that its server ends soon.
func TestClientDisconnects(t *testing.T) {
	fsys := newMemory(t, map[string]string{"a": "old"})
	set := askingSet(t, fsys)
	asked := make(chan struct{})
	u := &user{answer: func(ctx context.Context, _ int) (*sdk.ElicitResult, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	ended := make(chan error, 1)
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	go func() {
		ended <- mcp.ServeTools(context.WithoutCancel(t.Context()), set, nil, fromClient, toClient, &mcp.ServeOptions{Grace: time.Hour})
		toClient.Close()
	}()
	session := u.join(t, versions[0], &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	called := make(chan struct{})
	go func() {
		defer close(called)
		_, _ = session.CallTool(context.WithoutCancel(t.Context()), &sdk.CallToolParams{Name: "write_file", Arguments: json.RawMessage(`{"path": "a", "content": "new"}`)})
	}()
	receive(t, asked)
	toServer.Close()
	if err := receive(t, ended); err != nil {
		t.Errorf("ServeTools = %v, want nil", err)
	}
	receive(t, called)
	holds(t, fsys, "a", "old")
}

// TestFileChangesWhileClientIsAsked tests that an approval is not for what a file
// holds later.
func TestFileChangesWhileClientIsAsked(t *testing.T) {
	for _, version := range versions {
		fsys := newMemory(t, map[string]string{"a": "old\n"})
		u := &user{answer: func(ctx context.Context, n int) (*sdk.ElicitResult, error) {
			if n == 1 {
				if _, err := fsys.WriteFile(ctx, "a", []byte("foreign\n"), nil); err != nil {
					t.Error(err)
				}
			}
			return decides("allow")(ctx, n)
		}}
		session := u.join(t, version, inMemory(t, mcp.NewServer(askingSet(t, fsys), nil)), nil)
		if got, text := code(t, session, "write_file", `{"path": "a", "content": "new\n"}`); got != "" {
			t.Errorf("%s: write_file = %s", version, text)
		}
		if len(u.messages) != 2 || !strings.Contains(u.messages[0], "-old\n+new") || !strings.Contains(u.messages[1], "-foreign\n+new") {
			t.Errorf("%s: the questions are %q, want one for each content", version, u.messages)
		}
		holds(t, fsys, "a", "new\n")
	}
}

// TestClientsAreApart tests that the answer of one client allows another nothing.
func TestClientsAreApart(t *testing.T) {
	for _, version := range versions {
		fsys := newMemory(t, nil)
		server := mcp.NewServer(askingSet(t, fsys), nil)
		first, second := &user{answer: decides("allow for this session")}, &user{answer: decides("deny")}
		a, b := first.join(t, version, inMemory(t, server), nil), second.join(t, version, inMemory(t, server), nil)
		if got, text := code(t, a, "write_file", `{"path": "a", "content": "1"}`); got != "" {
			t.Errorf("%s: write_file of the first client = %s", version, text)
		}
		if got, text := code(t, b, "write_file", `{"path": "a", "content": "2"}`); got != tools.CodePolicy || second.asked() != 1 {
			t.Errorf("%s: write_file of the second client = %s", version, text)
		}
		holds(t, fsys, "a", "1")
	}
}

// TestCallGoesOnAfterAnswer tests that a call waits for its answers, and does nothing twice.
func TestCallGoesOnAfterAnswer(t *testing.T) {
	for _, version := range versions {
		fsys := newMemory(t, map[string]string{"prod/x": "foo", "prod/y": "foo", "a": "foo", "work/notes": "precious"})
		restricted, err := policy.Restrict(fsys, policy.Rules{FirstMatch: []policy.Rule{
			{Ask: []policy.Op{policy.OpWrite, policy.OpEdit, policy.OpDelete}, Paths: []string{"prod/**"}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		set, err := tools.New(workspace.New("test", restricted, nil), &tools.Options{Naming: "{op}", Bash: bashtool.New(nil)})
		if err != nil {
			t.Fatal(err)
		}
		u := &user{answer: decides("allow")}
		session := u.join(t, version, inMemory(t, mcp.NewServer(set, nil)), nil)
		if got, text := code(t, session, "edit_file", `{"path": "**", "oldText": "foo", "newText": "foobar", "replaceAll": true}`); got != "" || u.asked() != 2 {
			t.Errorf("%s: edit_file = %s", version, text)
		}
		for _, name := range []string{"a", "prod/x", "prod/y"} {
			holds(t, fsys, name, "foobar")
		}
		script := `{"script": "rm prod/x || rm -r work; rm prod/y || rm -r work; echo step >>log"}`
		if got, text := code(t, session, "bash", script); got != "" || u.asked() != 2 {
			t.Errorf("%s: bash = %s", version, text)
		}
		holds(t, fsys, "prod/x", "")
		holds(t, fsys, "prod/y", "")
		holds(t, fsys, "work/notes", "precious")
		holds(t, fsys, "log", "step\n")
	}
}

// retrying returns a client that answers no question itself, and what it calls rm with.
func retrying(t *testing.T, transport sdk.Transport) (rm func(name, token string) (*sdk.CallToolResult, error)) {
	t.Helper()
	session := (&user{}).join(t, versions[1], transport, &sdk.ClientOptions{MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true}})
	return func(name, token string) (*sdk.CallToolResult, error) {
		params := &sdk.CallToolParams{Name: "rm", Arguments: map[string]any{"path": name}, RequestState: token}
		if token != "" {
			params.InputResponses = sdk.InputResponseMap{"approval": &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "allow"}}}
		}
		return session.CallTool(t.Context(), params)
	}
}

// TestAnswersAreForOneQuestion tests that a token is good once, for one question of one
// client.
func TestAnswersAreForOneQuestion(t *testing.T) {
	m := newMemory(t, map[string]string{"a": "1", "b": "2"})
	server := mcp.NewServer(askingSet(t, m), nil)
	rm, other := retrying(t, inMemory(t, server)), retrying(t, inMemory(t, server))
	ask := func() string {
		t.Helper()
		result, err := rm("a", "")
		if err != nil || result.InputRequests == nil {
			t.Fatalf("rm = %+v, %v, want a question", result, err)
		}
		return result.RequestState
	}
	token := ask()
	if result, err := rm("b", token); err == nil {
		t.Errorf("rm of another file with the answer for a = %+v, want an error", result)
	}
	if result, err := other("a", token); err == nil {
		t.Errorf("rm of another client = %+v, want an error", result)
	}
	if result, err := rm("a", "made up"); err == nil {
		t.Errorf("rm with a token that nobody gave = %+v, want an error", result)
	}
	holds(t, m, "a", "1")
	if _, err := m.WriteFile(t.Context(), "a", []byte("changed"), nil); err != nil {
		t.Fatal(err)
	}
	result, err := rm("a", token)
	if err != nil || result.InputRequests == nil {
		t.Fatalf("rm of a file that has changed = %+v, %v, want a question", result, err)
	}
	holds(t, m, "a", "changed")
	token = result.RequestState
	if result, err = rm("a", token); err != nil || result.IsError || result.InputRequests != nil {
		t.Errorf("rm with an answer = %+v, %v", result, err)
	}
	if result, err = rm("a", token); err == nil {
		t.Errorf("rm with a token that was used = %+v, want an error", result)
	}
	holds(t, m, "a", "")
	holds(t, m, "b", "2")
}

// TestParkedCallEndsWithSession tests that a call whose question nobody answers ends with
// the session, before the server does.
func TestParkedCallEndsWithSession(t *testing.T) {
	m := newMemory(t, map[string]string{"a": "1"})
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- mcp.ServeTools(context.WithoutCancel(t.Context()), askingSet(t, m), nil, fromClient, toClient, &mcp.ServeOptions{Grace: time.Hour})
		toClient.Close()
	}()
	rm := retrying(t, &sdk.IOTransport{Reader: fromServer, Writer: toServer})
	if result, err := rm("a", ""); err != nil || result.InputRequests == nil {
		t.Fatalf("rm = %+v, %v, want a question", result, err)
	}
	toServer.Close()
	if err := receive(t, ended); err != nil {
		t.Errorf("ServeTools = %v, want nil", err)
	}
	holds(t, m, "a", "1")
}

// refusals counts the removals that have ended.
type refusals struct{ ended atomic.Int64 }

func (r *refusals) Before(ctx context.Context, _ observe.Event) (context.Context, error) {
	return ctx, nil
}

func (r *refusals) After(_ context.Context, e observe.Event) {
	if e.Op == "rm" {
		r.ended.Add(1)
	}
}

// TestParkedCallEndsWithTransport tests that a parked call ends at once with the session of its
// client, also where the connection is not that of Serve.
func TestParkedCallEndsWithTransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, r := newMemory(t, map[string]string{"a": "1"}), &refusals{}
		near, far := sdk.NewInMemoryTransports()
		session, err := mcp.NewServer(askingSet(t, m, r), nil).Connect(t.Context(), near, nil)
		if err != nil {
			t.Fatal(err)
		}
		if result, err := retrying(t, far)("a", ""); err != nil || result.InputRequests == nil {
			t.Fatalf("rm = %+v, %v, want a question", result, err)
		}
		session.Close()
		synctest.Wait() // no time passes
		if r.ended.Load() != 1 {
			t.Error("the call goes on after its session")
		}
		holds(t, m, "a", "1")
	})
}

// TestParkedCallIsNotAnswered tests that a call whose question is not answered goes on
// with a refusal, which who comes late is told, and that it ends if nobody comes.
func TestParkedCallIsNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t, map[string]string{"a": "1", "b": "2", "c": "3"})
		rm := retrying(t, inMemory(t, mcp.NewServer(askingSet(t, m), nil)))
		tokens := map[string]string{}
		for _, name := range []string{"a", "b", "c"} {
			result, err := rm(name, "")
			if err != nil || result.InputRequests == nil {
				t.Fatalf("rm = %+v, %v, want a question, whichever are open", result, err)
			}
			tokens[name] = result.RequestState
		}
		if result, err := rm("b", tokens["b"]); err != nil || result.IsError {
			t.Errorf("rm with an answer while others are open = %+v, %v", result, err)
		}
		time.Sleep(policy.DefaultApprovalTimeout + time.Second)
		if result, err := rm("a", tokens["a"]); err != nil || !strings.Contains(textOf(t, result), "nobody answered in time") {
			t.Errorf("rm with a late answer = %+v, %v, want that it is late", result, err)
		}
		time.Sleep(time.Minute)
		if result, err := rm("c", tokens["c"]); err == nil {
			t.Errorf("rm with an answer long after that = %+v, want an error", result)
		}
		holds(t, m, "a", "1")
		holds(t, m, "b", "")
		holds(t, m, "c", "3")
	})
}

// TestManyParkedCalls tests that a call whose question is one too many is refused.
func TestManyParkedCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t, map[string]string{"a": "1"})
		rm := retrying(t, inMemory(t, mcp.NewServer(askingSet(t, m), nil)))
		for range 100 {
			if result, err := rm("a", ""); err != nil || result.InputRequests == nil {
				t.Fatalf("rm = %+v, %v, want a question", result, err)
			}
		}
		time.Sleep(time.Second) // so that the wait for a turn ends after the questions
		const want = "100 calls wait for their answers"
		if result, err := rm("a", ""); err != nil || result.InputRequests != nil || !strings.Contains(textOf(t, result), want) {
			t.Errorf("rm with 100 open questions = %+v, %v, want %q", result, err, want)
		}
		holds(t, m, "a", "1")
	})
}
