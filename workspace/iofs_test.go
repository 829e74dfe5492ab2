package workspace_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// TestFSServesHTTP serves the view with net/http, as a file server and as an
// [http.FileSystem].
func TestFSServesHTTP(t *testing.T) {
	t.Parallel()
	m := memory.New(nil)
	for name, content := range map[string]string{
		"index.html": "<p>home", "d/a.txt": "0123456789", "d/ü%#?.txt": "odd", "secret/key": "secret", "large": strings.Repeat("x", 101),
	} {
		if _, err := m.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	restricted, err := policy.Restrict(m, policy.Rules{DeniedPaths: []string{"secret/**"}})
	if err != nil {
		t.Fatal(err)
	}
	view := workspace.New("test", restricted, &workspace.Options{MaxFileSize: 100}).FS(t.Context())
	for kind, handler := range map[string]http.Handler{
		"http.FileServerFS": http.FileServerFS(view), "http.FS": http.FileServer(http.FS(view)),
	} {
		for _, test := range []struct {
			url, bytes string // bytes is the header Range
			status     int
			want       string
		}{
			{"/", "", 200, "<p>home"},
			{"/d/a.txt", "", 200, "0123456789"},
			{"/d/a.txt", "bytes=2-4", 206, "234"},
			{"/d/a.txt", "bytes=20-", 416, "invalid range"},
			{"/d/", "", 200, `<a href="a.txt">a.txt</a>`},
			{"/d/%C3%BC%25%23%3F.txt", "", 200, "odd"},
			{"/d", "", 301, ""},
			{"/missing", "", 404, "not found"},
			{"/d/a.txt/b", "", 404, "not found"},
			{"/../secret/key", "", 403, "Forbidden"},
			{"/secret/key", "", 403, "Forbidden"},
			{"/large", "", 404, "not found"}, // as net/http reports a file that cannot be opened
		} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://files.example"+test.url, nil)
			if test.bytes != "" {
				r.Header.Set("Range", test.bytes)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
				t.Errorf("%s: GET %s of %q = %d %q, want %d with %q", kind, test.url, test.bytes, w.Code, w.Body, test.status, test.want)
			}
		}
	}
}

// The files of a workspace, served over HTTP to be read.
func ExampleWorkspace_FS() {
	ctx := context.Background()
	ws := workspace.New("site", memory.New(nil), nil)
	if _, err := ws.WriteFile(ctx, "hello.txt", []byte("Hello, browser!"), nil); err != nil {
		fmt.Println(err)
		return
	}
	files := ws.FS(ctx) // an fs.FS
	matches, err := fs.Glob(files, "*.txt")
	fmt.Println(matches, err)

	server := httptest.NewServer(http.FileServerFS(files))
	defer server.Close()
	answer, err := http.Get(server.URL + "/hello.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	fmt.Println(string(text), err)
	// Output:
	// [hello.txt] <nil>
	// Hello, browser! <nil>
}
