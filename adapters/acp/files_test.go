package acp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/adapters/acp"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// atWork are the options of a workspace without a root.
func atWork() *acp.FilesOptions { return &acp.FilesOptions{Roots: []string{"/work"}} }

// TestReadLines reads parts of files.
func TestReadLines(t *testing.T) {
	t.Parallel()
	fsys := newMemory(t, map[string]string{"three": "a\nb\nc\n", "open": "a\nb", "empty": "", "crlf": "a\r\nb\r\n"})
	conn := agentOf(t, newFiles(t, workspace.New("main", fsys, nil), atWork()))
	none := -1
	for _, c := range []struct {
		file        string
		line, limit int
		want        string // or, after "error ", a part of the error
	}{
		{"three", none, none, "a\nb\nc\n"},
		{"three", 1, none, "a\nb\nc\n"},
		{"three", 2, none, "b\nc\n"},
		{"three", 3, 1, "c\n"},
		{"three", none, 2, "a\nb\n"},
		{"three", 2, 1, "b\n"},
		{"three", 2, 100, "b\nc\n"},
		{"three", none, 0, ""},
		{"three", 4, none, "error line is 4, and the file has 3"},
		{"three", 1 << 30, 1 << 30, "error line is 1073741824, and the file has 3"},
		{"three", 0, none, "error line is 0, and lines are counted from 1"},
		{"three", -7, none, "error line is -7, and lines"},
		{"three", none, -2, "error limit is -2"},
		{"open", 2, none, "b"},
		{"open", 2, 5, "b"},
		{"open", 3, none, "error line is 3, and the file has 2"},
		{"empty", none, none, ""},
		{"empty", 1, none, ""},
		{"empty", 2, none, "error line is 2, and the file has 0"},
		{"crlf", 2, 1, "b\r\n"},
	} {
		req := sdk.ReadTextFileRequest{SessionId: "s", Path: "/work/" + c.file}
		if c.line != none {
			req.Line = &c.line
		}
		if c.limit != none {
			req.Limit = &c.limit
		}
		answer, err := conn.ReadTextFile(t.Context(), req)
		call := fmt.Sprintf("fs/read_text_file %s, line %d, limit %d", c.file, c.line, c.limit)
		if text, fails := strings.CutPrefix(c.want, "error "); fails {
			if err == nil || requestError(t, err).Code != -32602 || !strings.Contains(err.Error(), text) {
				t.Errorf("%s = %v, want the code -32602 and %q", call, err, text)
			}
		} else if err != nil || answer.Content != c.want {
			t.Errorf("%s = %q, %v, want %q", call, answer.Content, err, c.want)
		}
	}
}

// hostile is a store whose errors say more than they should.
type hostile struct{ workspace.FileSystem }

func (hostile) ReadFile(_ context.Context, name string) ([]byte, error) {
	if name == "dir/b" {
		return nil, &fs.PathError{Op: "open", Path: "/host/secret/place", Err: errors.New("/host/device burns")}
	}
	return nil, fmt.Errorf("open /host/secret/place: %w", errors.New("device burns"))
}

func (hostile) WriteFile(context.Context, string, []byte, *workspace.WriteOptions) (workspace.Version, error) {
	return "", fmt.Errorf("open /host/secret/place: %w", fs.ErrPermission)
}

// TestErrors is what an agent sees of each kind of error.
func TestErrors(t *testing.T) {
	t.Parallel()
	fsys := newMemory(t, map[string]string{
		"a": "text", "dir/b": "text", "binary": "a\x00b", "latin1": "caf\xe9", "secret/key": "k", "big": strings.Repeat("x", 200),
	})
	restricted, err := policy.Restrict(fsys, policy.Rules{DeniedPaths: []string{"secret/**"}})
	if err != nil {
		t.Fatal(err)
	}
	small := agentOf(t, newFiles(t, workspace.New("main", restricted, &workspace.Options{MaxFileSize: 100}), atWork()))
	odd := agentOf(t, newFiles(t, workspace.New("main", hostile{fsys}, nil), atWork()))
	for _, c := range []struct {
		conn  *sdk.AgentSideConnection
		path  string
		write bool
		want  string
	}{
		{small, "/work/none", false, `{"code":-32002,"message":"Resource not found: /work/none","data":{"uri":"/work/none"}}`},
		{small, "/work/a/none", false, `{"code":-32603,"message":"Internal error","data":{"details":"not a directory","path":"/work/a/none"}}`},
		{small, "/work/dir", false, `{"code":-32603,"message":"Internal error","data":{"details":"is a directory","path":"/work/dir"}}`},
		{small, "/work", false, `{"code":-32603,"message":"Internal error","data":{"details":"is a directory","path":"/work"}}`},
		{small, "/work/binary", false, `{"code":-32603,"message":"Internal error","data":{"details":"binary file","path":"/work/binary"}}`},
		{small, "/work/latin1", false, `{"code":-32603,"message":"Internal error","data":{"details":"binary file","path":"/work/latin1"}}`},
		{small, "/work/big", false, `{"code":-32603,"message":"Internal error","data":{"details":"file too large: 200 bytes, and the limit is 100","path":"/work/big"}}`},
		{small, "/work/secret/key", false, `{"code":-32000,"message":"Permission denied","data":{"details":"forbidden by policy: it matches deniedPaths[0], \"secret/**\"","path":"/work/secret/key"}}`},
		{small, "/work/secret/none", true, `{"code":-32000,"message":"Permission denied","data":{"details":"forbidden by policy: it matches deniedPaths[0], \"secret/**\"","path":"/work/secret/none"}}`},
		{small, "/work/dir", true, `{"code":-32603,"message":"Internal error","data":{"details":"is a directory","path":"/work/dir"}}`},
		{small, "/work/a/b", true, `{"code":-32603,"message":"Internal error","data":{"details":"not a directory","path":"/work/a/b"}}`},
		{small, "/work/.workspacekit-tmp-1", true, `{"code":-32603,"message":"Internal error","data":{"details":"names that begin with \".workspacekit-tmp-\" are reserved for temporary files","path":"/work/.workspacekit-tmp-1"}}`},
		{small, "/etc/passwd", false, `{"code":-32000,"message":"Permission denied","data":{"details":"the path is outside the workspace","path":"/etc/passwd"}}`},
		{small, "/work-evil/a", false, `{"code":-32000,"message":"Permission denied","data":{"details":"the path is outside the workspace","path":"/work-evil/a"}}`},
		{small, "/work/../etc/passwd", true, `{"code":-32000,"message":"Permission denied","data":{"details":"the path is outside the workspace","path":"/work/../etc/passwd"}}`},
		{small, "/", false, `{"code":-32000,"message":"Permission denied","data":{"details":"the path is outside the workspace","path":"/"}}`},
		{small, "a", false, `{"code":-32602,"message":"Invalid params","data":{"details":"the path is not absolute","path":"a"}}`},
		{odd, "/work/a", false, `{"code":-32603,"message":"Internal error","data":{"path":"/work/a"}}`},
		{odd, "/work/dir/b", false, `{"code":-32603,"message":"Internal error","data":{"path":"/work/dir/b"}}`},
		{odd, "/work/a", true, `{"code":-32000,"message":"Permission denied","data":{"path":"/work/a"}}`},
	} {
		var err error
		if c.write {
			err = writeText(t, c.conn, c.path, "new")
		} else {
			_, err = readText(t, c.conn, c.path)
		}
		if err == nil {
			t.Errorf("%s, write %v = nil, want %s", c.path, c.write, c.want)
		} else if got := asJSON(t, requestError(t, err)); got != c.want {
			t.Errorf("%s, write %v =\n%s, want\n%s", c.path, c.write, got, c.want)
		}
	}
	if err := writeText(t, small, "/work/large", strings.Repeat("x", 101)); err == nil || requestError(t, err).Code != -32603 {
		t.Errorf("a write of more than the limit = %v, want the code -32603", err)
	}
	if got, err := readText(t, small, "/work/x/.././dir//b"); err != nil || got != "text" {
		t.Errorf("a path with dots and slashes = %q, %v, want %q", got, err, "text")
	}
}

// TestRootBySymlink reads and writes by each path that leads to the root, and by none
// that leads out of it.
func TestRootBySymlink(t *testing.T) {
	t.Parallel()
	dir := newFolder(t, map[string]string{"real/a": "text", "outside/key": "key"})
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	for target, name := range map[string]string{link: "real", filepath.Join(real, "out"): "../outside"} {
		if err := os.Symlink(name, target); err != nil {
			t.Fatal(err)
		}
	}
	for _, opened := range []string{real, link} {
		ws := workspace.New("main", openFolder(t, opened), nil)
		conn := agentOf(t, newFiles(t, ws, nil))
		if opened == real {
			conn = agentOf(t, newFiles(t, ws, &acp.FilesOptions{Roots: []string{link}}))
		}
		for _, root := range []string{real, link} {
			if err := writeText(t, conn, root+"/new/file", root); err != nil {
				t.Errorf("opened as %s: writing below %s = %v, want nil", opened, root, err)
			}
			if got, err := readText(t, conn, root+"/new/file"); err != nil || got != root {
				t.Errorf("opened as %s: reading below %s = %q, %v, want %q", opened, root, got, err, root)
			}
			_, err := readText(t, conn, root+"/out/key")
			if err == nil || requestError(t, err).Code != -32000 || strings.Contains(err.Error(), "outside") {
				t.Errorf("opened as %s: reading %s/out/key = %v, want the code -32000, and not where it leads", opened, root, err)
			}
			if err := writeText(t, conn, root+"/out/new", "x"); err == nil || requestError(t, err).Code != -32000 {
				t.Errorf("opened as %s: writing %s/out/new = %v, want the code -32000", opened, root, err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "outside", "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was written outside the root: %v", err)
	}
}

// TestNewFiles refuses roots that no path could begin with.
func TestNewFiles(t *testing.T) {
	t.Parallel()
	ws := workspace.New("main", struct{ workspace.FileSystem }{newMemory(t, nil)}, nil)
	for _, opts := range []*acp.FilesOptions{nil, {}, {Roots: []string{"work"}}, {Roots: []string{"/work", ""}}} {
		if files, err := acp.NewFiles(ws, opts); err == nil {
			t.Errorf("NewFiles(%+v) = %v, nil, want an error", opts, files)
		}
	}
}

// TestCapabilities advertises what the workspace can do, and nothing is written that
// is not advertised.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	fsys := newMemory(t, map[string]string{"a": "text"})
	files := newFiles(t, workspace.New("main", policy.ReadOnly(fsys), nil), atWork())
	if got := files.Capabilities(); !got.ReadTextFile || got.WriteTextFile {
		t.Errorf("Capabilities of a read-only workspace = %+v, want reading only", got)
	}
	if err := writeText(t, agentOf(t, files), "/work/a", "new"); err == nil || requestError(t, err).Code != -32000 {
		t.Errorf("writing to a read-only workspace = %v, want the code -32000", err)
	}
	if got := newFiles(t, workspace.New("main", fsys, nil), atWork()).Capabilities(); !got.ReadTextFile || !got.WriteTextFile {
		t.Errorf("Capabilities = %+v, want both", got)
	}
}

// TestEmptyContent writes empty files, which SDK 0.13 alone refuses.
func TestEmptyContent(t *testing.T) {
	t.Parallel()
	fsys := newMemory(t, map[string]string{"a": "text"})
	conn := agentOf(t, newFiles(t, workspace.New("main", fsys, nil), atWork()))
	for _, name := range []string{"a", "new/b"} {
		if err := writeText(t, conn, "/work/"+name, ""); err != nil {
			t.Errorf("writing nothing to %s = %v, want nil", name, err)
		}
		if got := saved(t, fsys, name); got != "" {
			t.Errorf("%s holds %q, want nothing", name, got)
		}
		if got, err := readText(t, conn, "/work/"+name); err != nil || got != "" {
			t.Errorf("reading %s = %q, %v, want nothing", name, got, err)
		}
	}
	_, err := conn.WriteTextFile(t.Context(), sdk.WriteTextFileRequest{SessionId: "s", Path: "/work/c", Meta: map[string]any{"trace": "1"}})
	if err != nil || saved(t, fsys, "c") != "" {
		t.Errorf("writing nothing with metadata = %v and %q, want nil and nothing", err, saved(t, fsys, "c"))
	}
	_, err = conn.WriteTextFile(t.Context(), sdk.WriteTextFileRequest{SessionId: "s", Path: "/work/d", Content: "text", Meta: map[string]any{"io.github.workspacekit/empty": true}})
	if err != nil || saved(t, fsys, "d") != "text" {
		t.Errorf("writing text with the mark of an empty content = %v and %q, want nil and the text", err, saved(t, fsys, "d"))
	}
}

// TestUnsaved shows text that is not saved, and only that of files that may be read.
func TestUnsaved(t *testing.T) {
	t.Parallel()
	dir := newFolder(t, map[string]string{"a": "saved", "b": "saved b", "image": "\x00", "secret/key": "k", "listed": "k"})
	for link, target := range map[string]string{"link": "a", "sly": "secret/key"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	restricted, err := policy.Restrict(openFolder(t, dir), policy.Rules{
		DeniedPaths: []string{"secret/**"},
		FirstMatch:  []policy.Rule{{Paths: []string{"listed"}, Deny: []policy.Op{policy.OpRead}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	buffers := map[string]string{
		"a": "typed\nin the editor", "new/file": "never saved", "image": "now text", "secret/key": "typed secret", "listed": "typed secret",
		"secret/new": "typed secret", "large": strings.Repeat("x", 101), "empty": "",
	}
	conn := agentOf(t, newFiles(t, workspace.New("main", restricted, &workspace.Options{MaxFileSize: 100}), &acp.FilesOptions{
		Unsaved: func(_ context.Context, name string) (string, bool) {
			text, ok := buffers[name]
			return text, ok
		},
	}))
	for name, want := range map[string]string{
		"a": "typed\nin the editor", "link": "typed\nin the editor", "b": "saved b", "new/file": "never saved", "image": "now text", "empty": "",
	} {
		if got, err := readText(t, conn, dir+"/"+name); err != nil || got != want {
			t.Errorf("reading %s = %q, %v, want %q", name, got, err, want)
		}
	}
	for name, code := range map[string]int{"secret/key": -32000, "secret/new": -32000, "sly": -32000, "listed": -32000, "large": -32603} {
		if got, err := readText(t, conn, dir+"/"+name); err == nil || requestError(t, err).Code != code {
			t.Errorf("reading %s = %q, %v, want the code %d", name, got, err, code)
		}
	}
	line := 2
	answer, err := conn.ReadTextFile(t.Context(), sdk.ReadTextFileRequest{SessionId: "s", Path: dir + "/a", Line: &line})
	if err != nil || answer.Content != "in the editor" {
		t.Errorf("line 2 of text that is not saved = %q, %v, want %q", answer.Content, err, "in the editor")
	}
}

// TestHooks calls the functions of the editor around each write.
func TestHooks(t *testing.T) {
	t.Parallel()
	fsys := newMemory(t, map[string]string{"dir/a": "old"})
	var calls []string // one write after the other: no lock
	conn := agentOf(t, newFiles(t, workspace.New("main", fsys, nil), &acp.FilesOptions{
		Roots: []string{"/work"},
		BeforeWrite: func(ctx context.Context, name, text string) error {
			calls = append(calls, "before "+name+" "+text)
			if name == "no" {
				return errors.New("the user is reviewing it")
			}
			return nil
		},
		AfterWrite: func(_ context.Context, name, text string, err error) {
			calls = append(calls, fmt.Sprintf("after %s %s %v", name, text, err))
		},
	}))
	for _, name := range []string{"dir/a", "no", "dir"} {
		err := writeText(t, conn, "/work/"+name, "new")
		switch {
		case name == "dir/a" && err != nil:
			t.Errorf("writing %s = %v, want nil", name, err)
		case name == "no" && (err == nil || requestError(t, err).Code != -32000 || !strings.Contains(err.Error(), "the user is reviewing it")):
			t.Errorf("writing %s = %v, want the code -32000 with the reason", name, err)
		}
	}
	want := []string{"before dir/a new", "after dir/a new <nil>", "before no new", "before dir new", "after dir new write_file dir: is a directory"}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("the calls differ (-want +got):\n%s", diff)
	}
	if got := saved(t, fsys, "dir/a"); got != "new" {
		t.Errorf("dir/a holds %q, want %q", got, "new")
	}
}

// TestRefusalOfAnyKind refuses writes with errors of other kinds, which are refusals all the same.
func TestRefusalOfAnyKind(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{fs.ErrNotExist, fs.ErrExist, context.DeadlineExceeded, workspace.ErrTooLarge} {
		conn := agentOf(t, newFiles(t, workspace.New("main", newMemory(t, nil), nil), &acp.FilesOptions{
			Roots:       []string{"/work"},
			BeforeWrite: func(context.Context, string, string) error { return fmt.Errorf("the review: %w", cause) },
		}))
		err := writeText(t, conn, "/work/a", "new")
		if err == nil || requestError(t, err).Code != -32000 || !strings.Contains(err.Error(), "the review") {
			t.Errorf("a write that is refused with %v = %v, want the code -32000 with the reason", cause, err)
		}
	}
}

// TestOneWriteAtATime makes many writes at once.
func TestOneWriteAtATime(t *testing.T) {
	t.Parallel()
	var inside, most atomic.Int32
	conn := agentOf(t, newFiles(t, workspace.New("main", newMemory(t, nil), nil), &acp.FilesOptions{
		Roots: []string{"/work"},
		BeforeWrite: func(context.Context, string, string) error {
			if n := inside.Add(1); n > most.Load() {
				most.Store(n)
			}
			return nil
		},
		AfterWrite: func(context.Context, string, string, error) { inside.Add(-1) },
	}))
	done := make(chan error)
	for i := range 50 {
		go func() { done <- writeText(t, conn, fmt.Sprintf("/work/%d", i%5), "x") }()
	}
	for range 50 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d writes at a time, want 1", most.Load())
	}
}

// TestBackupsAndApprovals uses a workspace whose wrappers keep what is replaced and
// ask: both are told whose write it is.
func TestBackupsAndApprovals(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	backups, err := backup.New(newMemory(t, map[string]string{"a": "old", "b": "old"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	rules := policy.Rules{FirstMatch: []policy.Rule{{Paths: []string{"b"}, Ask: []policy.Op{policy.OpWrite}}}}
	restricted, err := policy.Restrict(backups, rules)
	if err != nil {
		t.Fatal(err)
	}
	ws := workspace.New("main", restricted, nil)
	session := tools.NewSession()
	var asked []policy.Request
	approver := policy.NewApprover(func(_ context.Context, r policy.Request) (policy.Answer, error) {
		asked = append(asked, r)
		return policy.Answer{Allow: true}, nil
	}, nil)
	conn := agentOf(t, newFiles(t, ws, &acp.FilesOptions{Roots: []string{"/work"}, Session: session, Approver: approver}))
	for _, name := range []string{"a", "b"} {
		if err := writeText(t, conn, "/work/"+name, "new"); err != nil {
			t.Fatal(err)
		}
	}
	if len(asked) != 1 || asked[0].Path != "b" || asked[0].Workspace != "main" || !strings.Contains(asked[0].Diff, "+new") {
		t.Errorf("the approver was asked %+v, want the write of b with its diff", asked)
	}
	if _, err := session.Undo(ctx, backups, &backup.UndoOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if got := saved(t, backups, name); got != "old" {
			t.Errorf("after the undo of the session, %s holds %q, want %q", name, got, "old")
		}
	}
	silent := agentOf(t, newFiles(t, ws, atWork()))
	if err := writeText(t, silent, "/work/b", "new"); err == nil || requestError(t, err).Code != -32000 {
		t.Errorf("a write that needs an approval, without an approver = %v, want the code -32000", err)
	}
}

// TestMessages sends lines as no SDK sends them.
func TestMessages(t *testing.T) {
	t.Parallel()
	fsys := newMemory(t, map[string]string{"a": "text", "long": strings.Repeat("<", 2<<20)})
	fromClient, toAgent := io.Pipe()
	fromAgent, toClient := io.Pipe()
	conn := acp.ConnectClient(editor{Files: newFiles(t, workspace.New("main", fsys, nil), atWork())}, toAgent, fromAgent, nil)
	long := strings.Repeat("x", 10<<20)
	lines := []string{
		`nonsense`,
		``,
		`{"jsonrpc":"2.0","id":1,"method":"fs/write_text_file","params":{"sessionId":"s","path":"/work/b","content":"` + long + `"}}`,
		`{"jsonrpc":"2.0","method":"fs/write_text_file","params":{"sessionId":"s","path":"/work/b","content":"` + long + `","id":1},"id":2,"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","method":"fs/write_text_file","params":{"sessionId":"s","content":"` + long + `","id":9}}`,
		`{"params":{"sessionId":"s","path":"/work/escaped","content":""},"id":"3","method":"fs\/write_text_file","jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":4,"method":"fs/write_text_file","params":{"sessionId":"s","path":"/work/missing"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/work/long"}}`,
		`{"jsonrpc":"2.0","id":6,"method":"terminal/create","params":{"sessionId":"s","command":"rm"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/work/a","line":-1e99}}`,
		`{"jsonrpc":"2.0","id":8,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/work/a"}}`,
	}
	go func() {
		for _, line := range lines {
			_, _ = io.WriteString(toClient, line+"\n")
		}
	}()
	var got []string
	for range 8 { // the third one that is too long has no id, and gets no answer
		got = append(got, string(readLine(t, fromClient)))
	}
	slices.Sort(got)
	want := []string{
		`{"jsonrpc":"2.0","id":"3","result":{}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found","data":{"method":"a message of more than 10485758 bytes"}}}`,
		`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found","data":{"method":"a message of more than 10485758 bytes"}}}`,
		`{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"Invalid params","data":{"error":"content is required"}}}`,
		`{"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"Internal error","data":{"details":"the text is too long for one message: read it in parts, with line and limit","path":"/work/long"}}}`,
		`{"jsonrpc":"2.0","id":6,"error":{"code":-32601,"message":"Method not found","data":{"method":"terminal/create"}}}`,
		`{"jsonrpc":"2.0","id":7,"error":{"code":-32602,`,
		`{"jsonrpc":"2.0","id":8,"result":{"content":"text"}}`,
	}
	for i, line := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], line) {
			t.Fatalf("the answers are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	toClient.Close()
	<-conn.Done()
}

func readLine(t *testing.T, in io.Reader) []byte {
	t.Helper()
	var line []byte
	for buf := make([]byte, 1); ; {
		if _, err := in.Read(buf); err != nil {
			t.Fatal(err)
		}
		if buf[0] == '\n' {
			return bytes.TrimSpace(line)
		}
		line = append(line, buf[0])
	}
}
