package mcp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/adapters/mcp"
	"github.com/workspacekit/workspacekit/workspace"
)

const (
	firstToken  = "first-token-0123456789"
	secondToken = "second-token-0123456789"
)

// serveHTTP returns the address of a server for fsys that ends with the test.
func serveHTTP(t *testing.T, fsys workspace.FileSystem, opts *mcp.HTTPOptions) string {
	t.Helper()
	listener := listen(t, "127.0.0.1:0")
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	server := mcp.NewServer(newSet(t, fsys), nil)
	go func() { ended <- mcp.ServeHTTP(ctx, server, listener, opts) }()
	t.Cleanup(func() {
		cancel()
		if err := receive(t, ended); err != nil {
			t.Errorf("ServeHTTP() = %v, want nil", err)
		}
	})
	return listener.Addr().String()
}

func listen(t *testing.T, addr string) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// httpClient returns a session with the server at addr.
func httpClient(t *testing.T, addr, token string) *sdk.ClientSession {
	t.Helper()
	session := newSession(t, &sdk.StreamableClientTransport{
		Endpoint:   "http://" + addr + mcp.HTTPPath,
		HTTPClient: &http.Client{Transport: bearer(token)},
	})
	t.Cleanup(func() { session.Close() })
	return session
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b != "" {
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestHTTPAttacks sends what a client should not. ADDR stands for the address of the
// server, and SESSION for the id of a session with the first token.
func TestHTTPAttacks(t *testing.T) {
	t.Parallel()
	const (
		read = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workspace__main__read_file","arguments":{"path":"a.txt"}}}`
		head = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
		host = "Host: ADDR\r\n"
		mine = "Authorization: Bearer " + firstToken + "\r\n"
		same = "Mcp-Session-Id: SESSION\r\n"
	)
	addr := serveHTTP(t, newMemory(t, map[string]string{"a.txt": "secret\n"}), &mcp.HTTPOptions{
		Tokens: []string{firstToken, secondToken}, ReadTimeout: 300 * time.Millisecond, MaxMessage: 10 << 20,
		Hosts: []string{"files.example"},
	})
	session := httpClient(t, addr, firstToken)
	post := func(headers, body string) string {
		return "POST /mcp HTTP/1.1\r\n" + head + headers + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)) + body
	}
	type attack struct {
		name, request string
		want          int // the status; 0 if the server hangs up
	}
	attacks := []attack{
		{"none", post(host+mine+same, read), 200},
		{"a known name", post("Host: files.example\r\n"+mine+same, read), 200},
		{"a page of its own", post(host+mine+same+"Origin: http://ADDR\r\n", read), 200},
		{"no token", post(host+same, read), 401},
		{"an empty token", post(host+same+"Authorization: Bearer \r\n", read), 401},
		{"a wrong token", post(host+same+"Authorization: Bearer "+firstToken+"x\r\n", read), 401},
		{"no token to initialize", post(host, strings.Split(hello, "\n")[0]), 401},
		{"no token for the stream", "GET /mcp HTTP/1.1\r\n" + host + same + "Accept: text/event-stream\r\n\r\n", 401},
		{"no token to end a session", "DELETE /mcp HTTP/1.1\r\n" + host + same + "\r\n", 401},
		{"the session of another client", post(host+same+"Authorization: Bearer "+secondToken+"\r\n", read), 403},
		{"to end the session of another client", "DELETE /mcp HTTP/1.1\r\n" + host + same + "Authorization: Bearer " + secondToken + "\r\n\r\n", 403},
		{"an unknown session", post(host+mine+"Mcp-Session-Id: AAAAAAAAAAAAAAAAAAAAAAAAAA\r\n", read), 404},
		{"error without a session", post(host+mine, read), 200},
		{"a foreign origin", post(host+mine+same+"Origin: http://evil.example\r\n", read), 403},
		{"a foreign origin for the stream", "GET /mcp HTTP/1.1\r\n" + host + mine + same + "Origin: http://evil.example\r\nAccept: text/event-stream\r\n\r\n", 403},
		{"the origin null", post(host+mine+same+"Origin: null\r\n", read), 403},
		{"another port as origin", post(host+mine+same+"Origin: http://127.0.0.1:1\r\n", read), 403},
		{"two origins", post(host+mine+same+"Origin: http://ADDR\r\nOrigin: http://evil.example\r\n", read), 403},
		{"a preflight", "OPTIONS /mcp HTTP/1.1\r\n" + host + "Origin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n\r\n", 403},
		{"DNS rebinding", post("Host: evil.example\r\n"+mine+same, read), 403},
		{"DNS rebinding of a name that begins well", post("Host: 127.0.0.1.evil.example\r\n"+mine+same, read), 403},
		{"DNS rebinding with its own origin", post("Host: evil.example\r\nOrigin: http://evil.example\r\n"+mine+same, read), 403},
		{"no host", "POST /mcp HTTP/1.0\r\n" + head + mine + same + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(read)) + read, 403},
		{"a form", strings.Replace(post(host+mine+same, read), "application/json\r\n", "text/plain\r\n", 1), 415},
		{"another path", strings.Replace(post(host+mine+same, read), "/mcp", "/mcp/../etc/passwd", 1), 307},
		{"another method", "PUT /mcp HTTP/1.1\r\n" + host + mine + "\r\n", 405},
		{"oversized headers", post(host+mine+same+"X-Large: "+strings.Repeat("x", 100<<10)+"\r\n", read), 431},
		{"an oversized body", "POST /mcp HTTP/1.1\r\n" + head + host + mine + same + fmt.Sprintf("Content-Length: %d\r\n\r\n", 50<<20) + strings.Repeat(" ", 50<<20), 413},
		{"an oversized body that does not come", "POST /mcp HTTP/1.1\r\n" + head + host + mine + same + fmt.Sprintf("Content-Length: %d\r\n\r\n{", 50<<20), 413},
		{"an oversized body in chunks", "POST /mcp HTTP/1.1\r\n" + head + host + mine + same + "Transfer-Encoding: chunked\r\n\r\n2000000\r\n" + strings.Repeat(" ", 2<<24), 413},
		{"a body that is no message", post(host+mine+same, "nonsense"), 400},
		{"a slow head", "POST /mcp HTTP/1.1\r\n" + host, 0},
		{"a slow body", "POST /mcp HTTP/1.1\r\n" + head + host + mine + same + "Content-Length: 100\r\n\r\n{", 400},
		{"a slow body that is refused", "POST /mcp HTTP/1.1\r\n" + head + host + "Content-Length: 100\r\n\r\n{", 401},
	}
	for _, uri := range []string{
		"workspace://main/../a.txt", "workspace://main/%2e%2e/a.txt", "workspace://main/d/..%2fa.txt", "workspace://main//a.txt", "workspace://main/%2fa.txt",
		"workspace://main/a.txt%00", "workspace://other/../main/a.txt", "workspace://main@other/a.txt", "file:///etc/passwd", `workspace://main\\a.txt`,
	} {
		refused := `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + uri + `"}}`
		attacks = append(attacks, attack{"error in " + uri, post(host+mine+same, refused), 200})
	}
	for _, test := range attacks {
		t.Run(test.name, func(t *testing.T) {
			request := strings.ReplaceAll(strings.ReplaceAll(test.request, "ADDR", addr), "SESSION", session.ID())
			status, body := exchange(t, addr, request)
			for range 2 {
				if status != 0 || test.want != 413 {
					break
				}
				// What was not read when the server hung up has taken its answer with it.
				status, body = exchange(t, addr, request)
			}
			if status != test.want {
				t.Errorf("status = %d %q, want %d", status, body, test.want)
			}
			refused := strings.HasPrefix(test.name, "error ")
			if served := test.want == 200 && !refused; strings.Contains(body, "secret") != served || strings.Contains(body, `"error"`) != refused && test.want == 200 {
				t.Errorf("the answer is %q, want the file: %t", body, served)
			}
		})
	}
	if text := textOf(t, call(t, session, "read_file", `{"path": "a.txt"}`)); !strings.Contains(text, "secret") {
		t.Errorf("read_file after the attacks = %q, want the file", text)
	}
}

// exchange sends a request byte by byte as it is, and returns the status and the body
// of the answer, or 0 if there is none.
func exchange(t *testing.T, addr, request string) (int, string) {
	t.Helper()
	connection, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(deadline)) // an error shows below
	// The server may answer and hang up before it has all.
	go io.WriteString(connection, request)
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
			t.Fatalf("no answer within %v", deadline)
		}
		return 0, ""
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body) // what came of it
	return response.StatusCode, string(body)
}

func TestHTTPRefusesOptions(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(newSet(t, newMemory(t, nil)), nil)
	for _, test := range []struct{ addr, token, want string }{
		{"0.0.0.0:0", "", "token is required"},
		{"127.0.0.1:0", "short", "fewer than 16 characters"},
		{"127.0.0.1:0", "ääääääää", "fewer than 16 characters"}, // of 16 bytes
	} {
		opts := &mcp.HTTPOptions{}
		if test.token != "" {
			opts.Tokens = []string{test.token}
		}
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		defer cancel()
		if err := mcp.ServeHTTP(ctx, server, listen(t, test.addr), opts); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("ServeHTTP(%s, %q) = %v, want an error with %q", test.addr, test.token, err, test.want)
		}
	}
}

// TestHTTPMaxSessions tests that the request that would begin a session too many is refused.
func TestHTTPMaxSessions(t *testing.T) {
	t.Parallel()
	addr := serveHTTP(t, newMemory(t, nil), &mcp.HTTPOptions{MaxSessions: 2})
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	begin := fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%s",
		addr, len(initialize), initialize)
	for i, want := range []int{200, 200, 503, 503} {
		status, text := exchange(t, addr, begin)
		if status != want || want == 503 && !strings.Contains(text, "2 sessions") {
			t.Errorf("the answer to client %d is %d %q, want %d, and the limit of an error", i+1, status, text, want)
		}
	}
}

// TestHTTPShutDown tests that a call that runs when the context ends is answered, and
// is cancelled after the time of grace.
func TestHTTPShutDown(t *testing.T) {
	t.Parallel()
	for name, grace := range map[string]time.Duration{"answered": time.Hour, "cancelled": time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := newBlocked(t)
			listener := listen(t, "127.0.0.1:0")
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			server := mcp.NewServer(newSet(t, fsys), nil)
			go func() { ended <- mcp.ServeHTTP(ctx, server, listener, &mcp.HTTPOptions{Grace: grace}) }()
			session := httpClient(t, listener.Addr().String(), "")
			answered := make(chan error, 1)
			go func() {
				_, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "workspace__main__stat", Arguments: map[string]any{"path": "a.txt"}})
				answered <- err
			}()
			receive(t, fsys.entered)
			cancel()
			if name == "answered" {
				close(fsys.release)
			}
			if err := receive(t, answered); (err == nil) != (name == "answered") {
				t.Errorf("the call = %v", err)
			}
			if err := receive(t, ended); err != nil {
				t.Errorf("ServeHTTP() = %v, want nil", err)
			}
			if _, err := net.Dial("tcp", listener.Addr().String()); err == nil {
				t.Error("the address still answers")
			}
		})
	}
}
