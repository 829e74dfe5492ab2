package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/adapters/mcp"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/workspace"
)

const (
	hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	ping     = `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"
	callStat = `{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"workspace__main__stat","arguments":{"path":"a.txt"}}}` + "\n"
)

// answer is one line of the server.
type answer struct {
	ID     any             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// serve gives all of input to a server and returns its answers by id.
func serve(t *testing.T, fsys workspace.FileSystem, input string, opts *mcp.ServeOptions) map[string]answer {
	t.Helper()
	var out strings.Builder
	server := mcp.NewServer(newSet(t, fsys), nil)
	if err := mcp.Serve(t.Context(), server, strings.NewReader(input), &out, opts); err != nil {
		t.Errorf("Serve() = %v, want nil at the end of the input", err)
	}
	answers := map[string]answer{}
	for line := range strings.Lines(out.String()) {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("answer %q: %v", line, err)
		}
		answers[fmt.Sprint(a.ID)] = a
	}
	return answers
}

// TestNegativeOptions tests that numbers below zero are refused, and that the listener is
// closed then.
func TestNegativeOptions(t *testing.T) {
	t.Parallel()
	set := newSet(t, newMemory(t, nil))
	server := mcp.NewServer(set, nil)
	for _, opts := range []*mcp.ServeOptions{{MaxMessage: -1}, {Grace: -1}} {
		if err := mcp.Serve(t.Context(), server, strings.NewReader(""), io.Discard, opts); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Serve(%+v) = %v, want fs.ErrInvalid", opts, err)
		}
		if err := mcp.ServeTools(t.Context(), set, nil, strings.NewReader(""), io.Discard, opts); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("ServeTools(%+v) = %v, want fs.ErrInvalid", opts, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, opts := range []*mcp.HTTPOptions{{MaxMessage: -1}, {ReadTimeout: -1}, {SessionTimeout: -1}, {MaxSessions: -1}, {Grace: -1}} {
		listener := listen(t, "127.0.0.1:0")
		if err := mcp.ServeHTTP(ended, server, listener, opts); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("ServeHTTP(%+v) = %v, want fs.ErrInvalid", opts, err)
		}
		if _, err := listener.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the listener is open after ServeHTTP(%+v): %v", opts, err)
		}
	}
}

func TestServeAnswersWhatWasAskedBeforeTheEnd(t *testing.T) {
	answers := serve(t, newMemory(t, map[string]string{"a.txt": "one\n"}), hello+callStat+strings.TrimSuffix(ping, "\n"), nil)
	for _, id := range []string{"0", "s", "1"} {
		if a, ok := answers[id]; !ok || a.Error != nil {
			t.Errorf("answer to %s = %+v, want a result", id, a)
		}
	}
	if got := string(answers["s"].Result); !strings.Contains(got, `"type":"file"`) {
		t.Errorf("answer to the call = %s, want a file", got)
	}
}

func TestServeEmptyInput(t *testing.T) {
	if answers := serve(t, newMemory(t, nil), "", nil); len(answers) != 0 {
		t.Errorf("answers = %v, want none", answers)
	}
}

func TestServeSurvivesBadLines(t *testing.T) {
	tests := []struct {
		name, line, id string
		code           int
		message        string
	}{
		{"not-json", "hello\n", "<nil>", -32700, "not one valid JSON"},
		{"half-a-message", `{"jsonrpc":"2.0","id":5,` + "\n", "<nil>", -32700, "not one valid JSON"},
		{"two-on-a-line", `{"jsonrpc":"2.0","id":5,"method":"ping"} {}` + "\n", "<nil>", -32700, "one message per line"},
		{"batch", `[{"jsonrpc":"2.0","id":5,"method":"ping"}]` + "\n", "<nil>", -32600, "batches"},
		{"fraction-id", `{"jsonrpc":"2.0","id":2.5,"method":"ping"}` + "\n", "<nil>", -32600, "whole number"},
		{"huge-id", `{"jsonrpc":"2.0","id":1e300,"method":"ping"}` + "\n", "<nil>", -32600, "whole number"},
		{"second-initialize", strings.ReplaceAll(strings.Split(hello, "\n")[0], `"id":0`, `"id":5`) + "\n", "5", -32600, "duplicate"},
		{"number", "5\n", "<nil>", -32600, ""},
		{"no-version", `{"id":5,"method":"ping"}` + "\n", "5", -32600, "version"},
		{"odd-id", `{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n", "<nil>", -32600, ""},
		{"too-long", `{"jsonrpc":"2.0","id":5,"method":"` + strings.Repeat("x", 2000) + `"}` + "\n", "<nil>", -32600, "too long"},
		{"longer-than-the-buffer", strings.Repeat("x", 200_000) + "\n", "<nil>", -32600, "too long"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			answers := serve(t, newMemory(t, nil), hello+"\r\n\n"+test.line+ping, &mcp.ServeOptions{MaxMessage: 1000})
			bad := answers[test.id]
			if bad.Error == nil || bad.Error.Code != test.code || !strings.Contains(bad.Error.Message, test.message) {
				t.Errorf("answer = %+v, %+v, want error %d with %q", bad, bad.Error, test.code, test.message)
			}
			if a, ok := answers["1"]; !ok || a.Error != nil {
				t.Errorf("answer to the next message = %+v, want a result", a)
			}
		})
	}
}

func TestServeTakesLongMessages(t *testing.T) {
	exhaustive.Long(t)
	content := strings.Repeat("é\\n\\u0001", 1<<20)
	write := `{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"workspace__main__write_file","arguments":{"path":"big","content":"` + content + `"}}}`
	fsys := newMemory(t, nil)
	if a := serve(t, fsys, hello+write, nil)["w"]; a.Error != nil || !strings.Contains(string(a.Result), `"ok":true`) {
		t.Fatalf("answer = %.200s, %+v, want ok", a.Result, a.Error)
	}
	info, err := fsys.Stat(t.Context(), "big")
	if want := int64(4 << 20); err != nil || info.Size != want {
		t.Errorf("Stat(big) = %d bytes, %v, want %d", info.Size, err, want)
	}
}

// serveBlocked has a server begin a call that only its context can end.
func serveBlocked(ctx context.Context, t *testing.T, opts *mcp.ServeOptions) (*blocked, io.Closer, <-chan error) {
	t.Helper()
	fsys := newBlocked(t)
	in, feed := io.Pipe()
	ended := make(chan error, 1)
	server := mcp.NewServer(newSet(t, fsys), nil)
	go func() { ended <- mcp.Serve(ctx, server, in, io.Discard, opts) }()
	if _, err := io.WriteString(feed, hello+callStat); err != nil {
		t.Fatal(err)
	}
	receive(t, fsys.entered)
	return fsys, feed, ended
}

func TestServeCancelsCallsThatOutlastTheInput(t *testing.T) {
	fsys, feed, ended := serveBlocked(t.Context(), t, &mcp.ServeOptions{Grace: time.Millisecond})
	feed.Close()
	if err := receive(t, fsys.left); !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v, want %v", err, context.Canceled)
	}
	if err := receive(t, ended); err != nil {
		t.Errorf("Serve() = %v, want nil at the end of the input", err)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	fsys, feed, ended := serveBlocked(ctx, t, nil)
	defer feed.Close()
	cancel()
	if err := receive(t, fsys.left); !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v, want %v", err, context.Canceled)
	}
	if err := receive(t, ended); !errors.Is(err, context.Canceled) {
		t.Errorf("Serve() = %v, want %v", err, context.Canceled)
	}
}

// TestServeEndsWithoutAReader tests that a client that reads nothing, and keeps its end open,
// keeps no server from ending.
func TestServeEndsWithoutAReader(t *testing.T) {
	t.Parallel()
	for how, end := range map[string]func(cancel func(), feed io.Closer){
		"context": func(cancel func(), _ io.Closer) { cancel() },
		"input":   func(_ func(), feed io.Closer) { feed.Close() },
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			in, feed := io.Pipe()
			fromServer, out := io.Pipe()
			ended := make(chan error, 1)
			server := mcp.NewServer(newSet(t, newMemory(t, map[string]string{"a.txt": "one\n"})), nil)
			go func() { ended <- mcp.Serve(ctx, server, in, out, &mcp.ServeOptions{Grace: time.Millisecond}) }()
			if _, err := io.WriteString(feed, hello+callStat+ping); err != nil {
				t.Fatal(err)
			}
			// The first byte shows that a write has begun.
			if _, err := fromServer.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			end(cancel, feed)
			if err := receive(t, ended); err == nil {
				t.Error("Serve() = nil, want an error, as answers were not read")
			}
			fromServer.Close()
		})
	}
}

func TestServeReportsBrokenInput(t *testing.T) {
	broken := errors.New("broken")
	server := mcp.NewServer(newSet(t, newMemory(t, nil)), nil)
	in := io.MultiReader(strings.NewReader(hello), errorReader{broken})
	if err := mcp.Serve(t.Context(), server, in, io.Discard, nil); !errors.Is(err, broken) {
		t.Errorf("Serve() = %v, want %v", err, broken)
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

// TestServeAnswersOneByOne has a client that waits for each answer.
func TestServeAnswersOneByOne(t *testing.T) {
	fromClient, feed := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	server := mcp.NewServer(newSet(t, newMemory(t, nil)), nil)
	go func() { ended <- mcp.Serve(t.Context(), server, fromClient, toClient, nil) }()
	answers := bufio.NewScanner(fromServer)
	for i, message := range []string{hello, ping, ping} {
		go io.WriteString(feed, message)
		if !answers.Scan() || !strings.Contains(answers.Text(), `"result"`) {
			t.Fatalf("answer %d = %q, %v, want a result", i, answers.Text(), answers.Err())
		}
	}
	feed.Close()
	if err := receive(t, ended); err != nil {
		t.Errorf("Serve() = %v, want nil", err)
	}
}
