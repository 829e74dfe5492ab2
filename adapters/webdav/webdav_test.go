package webdav_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/adapters/webdav"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/policy"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

// newMemory returns a memory with files.
func newMemory(t *testing.T, files map[string]string) *memory.FS {
	t.Helper()
	m := memory.New(nil)
	for name, content := range files {
		if _, err := m.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// contents returns the files of a file system, and its empty directories with a slash.
func contents(t *testing.T, fsys workspace.FileSystem) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := workspace.Walk(t.Context(), fsys, ".", nil, func(info workspace.FileInfo, err error) error {
		if err != nil || info.Type == workspace.TypeSymlink {
			return err
		}
		if info.IsDir() {
			children, err := fsys.Ls(t.Context(), info.Path, nil)
			if len(children) == 0 {
				found[info.Path+"/"] = ""
			}
			return err
		}
		data, err := fsys.ReadFile(t.Context(), info.Path)
		found[info.Path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// ask sends a request with headers, which are "Name: value", and returns the answer and
// its body.
func ask(t *testing.T, handler http.Handler, method, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://files.example"+url, strings.NewReader(body))
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	answer := w.Result()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

// TestRequests sends one request each to a workspace of the files a, d/b and d/e/c, whose
// limit is 100 bytes, and tests its status and what the workspace has then.
func TestRequests(t *testing.T) {
	t.Parallel()
	before := map[string]string{"a": "A", "d/b": "B", "d/e/c": "C"}
	to := func(name string) string { return "Destination: http://files.example" + name }
	with := func(changes map[string]string) map[string]string {
		after := map[string]string{}
		for name, content := range before {
			after[name] = content
		}
		for name, content := range changes {
			after[name] = content
			if content == "removed" {
				delete(after, name)
			}
		}
		return after
	}
	type files = map[string]string
	for _, test := range []struct {
		name        string
		method, url string
		body        string
		headers     []string
		status      int
		changes     files
	}{
		{"create", "PUT", "/new", "N", nil, 201, files{"new": "N"}},
		{"create empty", "PUT", "/new", "", nil, 201, files{"new": ""}},
		{"replace", "PUT", "/a", "N", nil, 201, files{"a": "N"}},
		{"create without parent", "PUT", "/x/y", "N", nil, 409, nil},
		{"create below a file", "PUT", "/a/y", "N", nil, 409, nil},
		{"replace a directory", "PUT", "/d", "N", nil, 405, nil},
		{"replace the root", "PUT", "/", "N", nil, 405, nil},
		{"as large as the limit", "PUT", "/a", strings.Repeat("x", 1000), nil, 201, files{"a": strings.Repeat("x", 1000)}},
		{"larger than the limit", "PUT", "/a", strings.Repeat("x", 1001), nil, 413, nil},
		{"a part", "PUT", "/a", "N", []string{"Content-Range: bytes 0-0/1"}, 501, nil},
		{"only new", "PUT", "/new", "N", []string{"If-None-Match: *"}, 201, files{"new": "N"}},
		{"only new, and old", "PUT", "/a", "N", []string{"If-None-Match: *"}, 412, nil},
		{"only old", "PUT", "/a", "N", []string{"If-Match: *"}, 201, files{"a": "N"}},
		{"only old, and new", "PUT", "/new", "N", []string{"If-Match: *"}, 412, nil},
		{"only with an ETag", "PUT", "/a", "N", []string{`If-Match: "other"`}, 412, nil},
		{"remove only with an ETag", "DELETE", "/a", "", []string{`If-Match: "other"`}, 412, nil},
		{"reserved", "PUT", "/.workspacekit-tmp-x", "N", nil, 403, nil},
		{"a name that is too long", "PUT", "/" + strings.Repeat("x", 256), "N", nil, 403, nil},

		{"above the root", "PUT", "/../x", "N", nil, 403, nil},
		{"above the root, escaped", "PUT", "/%2e%2e/x", "N", nil, 403, nil},
		{"above the root in the middle", "GET", "/d/../../x", "", nil, 403, nil},
		{"a NUL", "GET", "/a%00", "", nil, 403, nil},

		{"remove", "DELETE", "/a", "", nil, 204, files{"a": "removed"}},
		{"remove a directory", "DELETE", "/d/", "", nil, 204, files{"d/b": "removed", "d/e/c": "removed"}},
		{"remove what is missing", "DELETE", "/x", "", nil, 404, nil},
		{"remove the root", "DELETE", "/", "", nil, 403, nil},

		{"a directory", "MKCOL", "/x", "", nil, 201, files{"x/": ""}},
		{"a directory that exists", "MKCOL", "/d", "", nil, 405, nil},
		{"a directory without parent", "MKCOL", "/x/y", "", nil, 409, nil},
		{"a directory below a file", "MKCOL", "/a/y", "", nil, 409, nil},

		{"move", "MOVE", "/a", "", []string{to("/x")}, 201, files{"a": "removed", "x": "A"}},
		{"move over a file", "MOVE", "/a", "", []string{to("/d/b")}, 204, files{"a": "removed", "d/b": "A"}},
		{"move, and do not replace", "MOVE", "/a", "", []string{to("/d/b"), "Overwrite: F"}, 412, nil},
		{"move a directory", "MOVE", "/d/e", "", []string{to("/x")}, 201, files{"d/e/c": "removed", "x/c": "C"}},
		{"move over a directory", "MOVE", "/a", "", []string{to("/d/e")}, 204, files{"a": "removed", "d/e/c": "removed", "d/e": "A"}},
		{"move what is missing", "MOVE", "/x", "", []string{to("/a")}, 404, nil},
		{"move without parent", "MOVE", "/a", "", []string{to("/x/y")}, 409, nil},
		{"move to itself", "MOVE", "/a", "", []string{to("/a")}, 403, nil},
		{"move a directory to itself, spelled otherwise", "MOVE", "/d", "", []string{to("/d/")}, 403, nil},
		{"move a directory into itself", "MOVE", "/d", "", []string{to("/d/x")}, 403, nil},
		{"move over its parent", "MOVE", "/d/b", "", []string{to("/d")}, 403, nil},
		{"move over the root", "MOVE", "/a", "", []string{to("/")}, 403, nil},
		{"move out of the root", "MOVE", "/a", "", []string{to("/../x")}, 403, nil},
		{"move to another server", "MOVE", "/a", "", []string{"Destination: http://evil.example/x"}, 502, nil},

		{"copy with an ETag of the source", "COPY", "/a", "", []string{to("/d/b"), "If-Match: *"}, 204, files{"d/b": "A"}},
		{"copy", "COPY", "/a", "", []string{to("/x")}, 201, files{"x": "A"}},
		{"copy over a file", "COPY", "/a", "", []string{to("/d/b")}, 204, files{"d/b": "A"}},
		{"copy a directory", "COPY", "/d", "", []string{to("/x")}, 201, files{"x/b": "B", "x/e/c": "C"}},
		{"copy a directory over a file", "COPY", "/d", "", []string{to("/a")}, 204, files{"a": "removed", "a/b": "B", "a/e/c": "C"}},
		{"copy a file over a directory", "COPY", "/a", "", []string{to("/d/e")}, 204, files{"d/e/c": "removed", "d/e": "A"}},
		{"copy over a directory, and do not replace", "COPY", "/a", "", []string{to("/d/e"), "Overwrite: F"}, 412, nil},
		{"copy a directory into itself", "COPY", "/d", "", []string{to("/d/x")}, 403, nil},
		{"copy over its parent", "COPY", "/d/b", "", []string{to("/d")}, 403, nil},
		{"copy what is missing", "COPY", "/x", "", []string{to("/a")}, 404, nil},
		{"copy without parent", "COPY", "/a", "", []string{to("/x/y")}, 409, nil},
		{"copy a directory without parent", "COPY", "/d", "", []string{to("/x/y")}, 409, nil},

		{"read a directory", "GET", "/d", "", nil, 405, nil},
		{"read what is missing", "GET", "/x", "", nil, 404, nil},
		{"read below a file", "GET", "/a/x", "", nil, 404, nil},
		{"describe what is missing", "PROPFIND", "/x", "", []string{"Depth: 0"}, 404, nil},
		{"describe below a file", "PROPFIND", "/a/x", "", []string{"Depth: 0"}, 404, nil},
		{"list a tree", "PROPFIND", "/", "", []string{"Depth: infinity"}, 403, nil},
		{"list a tree by omission", "PROPFIND", "/", "", nil, 403, nil},
		{"long XML", "PROPFIND", "/", strings.Repeat(" ", 1<<20), []string{"Depth: 0"}, 413, nil},
		{"an unknown method", "PATCH", "/a", "N", nil, 400, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := newMemory(t, before)
			handler := webdav.NewHandler(workspace.New("test", m, &workspace.Options{MaxFileSize: 1000}), nil)
			answer, body := ask(t, handler, test.method, test.url, test.body, test.headers...)
			if answer.StatusCode != test.status {
				t.Errorf("%s %s = %s %q, want %d", test.method, test.url, answer.Status, body, test.status)
			}
			if diff := cmp.Diff(with(test.changes), contents(t, m)); diff != "" {
				t.Errorf("after %s %s (-want +got):\n%s", test.method, test.url, diff)
			}
		})
	}
}

// failing is a file system whose writes and lists fail.
type failing struct {
	*memory.FS
	err error
}

func (f failing) WriteFile(_ context.Context, name string, _ []byte, _ *workspace.WriteOptions) (workspace.Version, error) {
	return "", &fs.PathError{Op: "write_file", Path: name, Err: f.err}
}

func (f failing) Ls(_ context.Context, name string, _ *workspace.LsOptions) ([]workspace.FileInfo, error) {
	return nil, &fs.PathError{Op: "ls", Path: name, Err: f.err}
}

// TestStatusOfErrors tests the status of what a store cannot do, for a write, and for a
// list, which must not look like one that is empty.
func TestStatusOfErrors(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]int{
		workspace.ErrPolicy:      403,
		fs.ErrPermission:         403,
		workspace.ErrNoSpace:     507,
		workspace.ErrUnavailable: 503,
		workspace.ErrTooLarge:    413,
		errors.ErrUnsupported:    501,
	} {
		handler := webdav.NewHandler(workspace.New("test", failing{newMemory(t, map[string]string{"a": ""}), err}, nil), nil)
		for method, headers := range map[string]string{"PUT": "", "PROPFIND": "Depth: 1"} {
			answer, body := ask(t, handler, method, map[string]string{"PUT": "/a", "PROPFIND": "/"}[method], "", headers)
			if answer.StatusCode != want || !strings.Contains(body, err.Error()) {
				t.Errorf("%s with the error %q = %s %q, want %d", method, err, answer.Status, body, want)
			}
		}
	}
}

// TestETag follows an ETag from a write to further reads and writes.
func TestETag(t *testing.T) {
	t.Parallel()
	m := newMemory(t, nil)
	handler := webdav.NewHandler(workspace.New("test", m, nil), nil)
	put, _ := ask(t, handler, "PUT", "/a.html", "one")
	tag := put.Header.Get("ETag")
	get, body := ask(t, handler, "GET", "/a.html", "")
	if get.Header.Get("ETag") != tag || tag == "" || body != "one" {
		t.Errorf("GET = %q with the ETag %q, want the one of the PUT, %q", body, get.Header.Get("ETag"), tag)
	}
	want := http.Header{
		"Content-Type": {"text/html; charset=utf-8"}, "Content-Security-Policy": {"sandbox"}, "X-Content-Type-Options": {"nosniff"},
	}
	for _, method := range []string{"GET", "HEAD", "POST"} {
		answer, _ := ask(t, handler, method, "/a.html", "")
		for name := range want {
			if got := answer.Header.Get(name); got != want.Get(name) {
				t.Errorf("%s has %s %q, want %q", method, name, got, want.Get(name))
			}
		}
	}
	for _, name := range []string{"/a.js", "/a.mjs"} {
		ask(t, handler, "PUT", name, "leak=1")
		const plain = "text/plain; charset=utf-8" // which no page of another site can run
		if got, _ := ask(t, handler, "GET", name, ""); got.Header.Get("Content-Type") != plain {
			t.Errorf("GET %s has the type %q, want %q", name, got.Header.Get("Content-Type"), plain)
		}
	}
	head, body := ask(t, handler, "HEAD", "/a.html", "")
	if head.ContentLength != 3 || head.Header.Get("ETag") != tag || body != "" {
		t.Errorf("HEAD = %v %q, want the length and the ETag", head.Header, body)
	}
	part, body := ask(t, handler, "GET", "/a.html", "", "Range: bytes=1-1")
	if part.StatusCode != http.StatusPartialContent || body != "n" {
		t.Errorf("GET of a range = %s %q, want n", part.Status, body)
	}
	if same, _ := ask(t, handler, "GET", "/a.html", "", "If-None-Match: "+tag); same.StatusCode != http.StatusNotModified {
		t.Errorf("GET with the ETag = %s, want 304", same.Status)
	}
	if _, listed := ask(t, handler, "PROPFIND", "/", "", "Depth: 1"); !strings.Contains(listed, "<D:getetag>"+tag+"</D:getetag>") &&
		!strings.Contains(listed, "<D:getetag>"+strings.ReplaceAll(tag, `"`, "&#34;")+"</D:getetag>") {
		t.Errorf("PROPFIND = %s, want the ETag %s", listed, tag)
	}
	changed, _ := ask(t, handler, "PUT", "/a.html", "two", "If-Match: "+tag)
	if changed.StatusCode != http.StatusCreated || changed.Header.Get("ETag") == tag {
		t.Errorf("PUT with the ETag = %s with the ETag %q, want 201 with another one", changed.Status, changed.Header.Get("ETag"))
	}
	if late, _ := ask(t, handler, "PUT", "/a.html", "three", "If-Match: "+tag); late.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("PUT with the old ETag = %s, want 412", late.Status)
	}
}

// interrupted is a body that ends with an error after some bytes.
type interrupted struct{ io.Reader }

func (i interrupted) Read(p []byte) (int, error) {
	n, err := i.Reader.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// TestNothingHalfWritten tests that a body that does not arrive as a whole changes nothing.
func TestNothingHalfWritten(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]func() io.Reader{
		"interrupted": func() io.Reader { return interrupted{strings.NewReader("half")} },
		"too long":    func() io.Reader { return io.MultiReader(bytes.NewReader(make([]byte, 101))) }, // of unknown length
	} {
		m := newMemory(t, map[string]string{"a": "A"})
		handler := webdav.NewHandler(workspace.New("test", m, &workspace.Options{MaxFileSize: 100}), nil)
		for _, url := range []string{"/a", "/new"} {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "PUT", url, body()))
			if w.Code < 400 {
				t.Errorf("%s: PUT %s = %d, want an error", name, url, w.Code)
			}
		}
		if diff := cmp.Diff(map[string]string{"a": "A"}, contents(t, m)); diff != "" {
			t.Errorf("%s: after PUT (-want +got):\n%s", name, diff)
		}
	}
}

// TestSymlinks tests that symlinks are followed, and never out of the folder.
func TestSymlinks(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"out": outside, "file": "real/a", "folder": "real", "nowhere": "missing"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skipf("no symlinks here: %v", err)
		}
	}
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	handler := webdav.NewHandler(workspace.New("test", fsys, nil), nil)
	ask(t, handler, "MKCOL", "/real", "")
	ask(t, handler, "PUT", "/real/a", "A")
	_, listed := ask(t, handler, "PROPFIND", "/", "", "Depth: 1")
	for name, want := range map[string]bool{"/real/<": true, "/file<": true, "/folder/<": true, "/out": false, "/nowhere": false} {
		if strings.Contains(listed, name) != want {
			t.Errorf("PROPFIND = %s, want %s in it: %t", listed, name, want)
		}
	}
	if answer, body := ask(t, handler, "GET", "/folder/a", ""); body != "A" {
		t.Errorf("GET through a symlink = %s %q, want the file", answer.Status, body)
	}
	if answer, body := ask(t, handler, "GET", "/out/secret", ""); answer.StatusCode != http.StatusForbidden || strings.Contains(body, outside) {
		t.Errorf("GET of a symlink that leads out = %s %q, want 403 without a path of the host", answer.Status, body)
	}
	for _, test := range []struct{ method, url, to string }{
		{"MOVE", "/real/a", "/folder/a"}, {"COPY", "/real", "/folder/x"}, {"COPY", "/", "/x"},
	} {
		answer, _ := ask(t, handler, test.method, test.url, "", "Destination: "+test.to)
		if answer.StatusCode != http.StatusForbidden {
			t.Errorf("%s %s to %s = %s, want 403", test.method, test.url, test.to, answer.Status)
		}
	}
	if _, body := ask(t, handler, "GET", "/real/a", ""); body != "A" {
		t.Errorf("GET afterwards = %q, want A", body)
	}
	ask(t, handler, "MKCOL", "/tree", "")
	ask(t, handler, "PUT", "/tree/a", "A")
	ask(t, handler, "MKCOL", "/tree/sub", "")
	if err := os.Symlink("../../real", filepath.Join(dir, "tree/sub/folder")); err != nil {
		t.Fatal(err)
	}
	if answer, body := ask(t, handler, "COPY", "/tree", "", "Destination: /copy"); answer.StatusCode != http.StatusForbidden || !strings.Contains(body, "tree/sub/folder") {
		t.Errorf("COPY of a symlink to a directory = %s %q, want 403 and its name", answer.Status, body)
	}
	if answer, _ := ask(t, handler, "GET", "/copy/a", ""); answer.StatusCode != http.StatusNotFound {
		t.Errorf("GET of a part of the copy = %s, want 404", answer.Status)
	}
	if answer, _ := ask(t, handler, "COPY", "/tree", "", "Destination: /copy", "Depth: 0"); answer.StatusCode != http.StatusCreated {
		t.Errorf("COPY of the directory alone = %s, want 201", answer.Status)
	}
}

// TestCopyOfTooLarge tests that a directory with a file that cannot be copied is not copied in
// part.
func TestCopyOfTooLarge(t *testing.T) {
	t.Parallel()
	files := map[string]string{"d/a": "A", "d/e/b": strings.Repeat("x", 1001)}
	fsys := newMemory(t, files)
	handler := webdav.NewHandler(workspace.New("test", fsys, &workspace.Options{MaxFileSize: 1000}), nil)
	if answer, body := ask(t, handler, "COPY", "/d", "", "Destination: /copy"); answer.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(body, "d/e/b") {
		t.Errorf("COPY = %s %q, want 413 and the name of the file", answer.Status, body)
	}
	if diff := cmp.Diff(files, contents(t, fsys)); diff != "" {
		t.Errorf("the files afterwards differ (-want +got):\n%s", diff)
	}
}

// TestBounds tests that locks and properties are refused beyond a bound.
func TestBounds(t *testing.T) {
	t.Parallel()
	handler := webdav.NewHandler(workspace.New("test", newMemory(t, map[string]string{"a": ""}), nil), nil)
	const lock = `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>`
	var tokens []string
	for i := range 1001 {
		timeout := []string{"", "Infinite", "Second-9999999", "Second-4100000000", "Infinite, Second-5"}[i%5]
		answer, body := ask(t, handler, "LOCK", fmt.Sprintf("/f%d", i), lock, "Timeout: "+timeout)
		if want := i < 1000; (answer.StatusCode == http.StatusCreated) != want {
			t.Fatalf("LOCK number %d = %s %s, want success: %t", i, answer.Status, body, want)
		}
		if i == 1000 && (answer.StatusCode != http.StatusInsufficientStorage || !strings.Contains(body, "1000 locks")) {
			t.Errorf("LOCK number %d = %s %s, want 507 with the limit", i, answer.Status, body)
		}
		if i < 1000 && !strings.Contains(body, "Second-3600<") {
			t.Fatalf("LOCK with the timeout %q = %s, want an hour", timeout, body)
		}
		tokens = append(tokens, answer.Header.Get("Lock-Token"))
	}
	if answer, _ := ask(t, handler, "PUT", "/f0", "x"); answer.StatusCode != http.StatusLocked {
		t.Errorf("PUT without the lock = %s, want 423", answer.Status)
	}
	if answer, _ := ask(t, handler, "UNLOCK", "/f0", "", "Lock-Token: "+tokens[0]); answer.StatusCode != http.StatusNoContent {
		t.Errorf("UNLOCK = %s, want 204", answer.Status)
	}
	if answer, _ := ask(t, handler, "LOCK", "/f0", lock); answer.StatusCode != http.StatusOK {
		t.Errorf("LOCK after an UNLOCK = %s, want 200", answer.Status)
	}

	patch := func(name string) string {
		return `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x:` + name + ` xmlns:x="x:">` + strings.Repeat("x", 30000) + `</x:` + name + `></D:prop></D:set></D:propertyupdate>`
	}
	full := false
	for i := range 40 {
		answer, body := ask(t, handler, "PROPPATCH", "/a", patch(fmt.Sprintf("p%d", i)))
		if full = strings.Contains(body, "507"); answer.StatusCode != http.StatusMultiStatus || full != (i >= 34) {
			t.Fatalf("PROPPATCH number %d = %s %s", i, answer.Status, body)
		}
	}
	ask(t, handler, "MOVE", "/a", "", "Destination: /b")
	if _, body := ask(t, handler, "PROPFIND", "/b", "", "Depth: 0"); !strings.Contains(body, "xxx") {
		t.Error("after a MOVE, the properties are lost")
	}
	ask(t, handler, "DELETE", "/b", "")
	ask(t, handler, "PUT", "/b", "")
	if _, body := ask(t, handler, "PROPFIND", "/b", "", "Depth: 0"); strings.Contains(body, "xxx") {
		t.Error("after a DELETE, a new file has the properties")
	}
	if _, body := ask(t, handler, "PROPPATCH", "/b", patch("p")); strings.Contains(body, "507") {
		t.Errorf("PROPPATCH after a DELETE = %s, want success", body)
	}
}

// TestPrefix serves below a path.
// TestRequestsForOneName has a request come while another one changes the same name. No
// client has locked it, so the later one waits, though not for ever.
func TestRequestsForOneName(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		hangs bool
		want  int
	}{"ends": {false, http.StatusCreated}, "hangs": {true, http.StatusLocked}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				handler := webdav.NewHandler(workspace.New("test", newMemory(t, nil), nil), nil)
				body, end := io.Pipe()
				first, second := make(chan int, 1), make(chan int, 1)
				put := func(body io.Reader, status chan<- int) {
					answer := httptest.NewRecorder()
					handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/file", body))
					status <- answer.Code
				}
				go put(body, first)
				synctest.Wait()
				go put(strings.NewReader("second"), second)
				synctest.Wait()
				if len(second) > 0 {
					got := <-second
					t.Errorf("PUT = %d while another one goes on, want it to wait", got)
					second <- got
				}
				if test.hangs {
					time.Sleep(time.Minute) // of the bubble
					synctest.Wait()
				}
				end.Close()
				if got := <-first; got != http.StatusCreated {
					t.Errorf("the first PUT = %d, want 201", got)
				}
				if got := <-second; got != test.want {
					t.Errorf("the second PUT = %d, want %d", got, test.want)
				}
			})
		})
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	m := newMemory(t, map[string]string{"a": "A"})
	handler := webdav.NewHandler(workspace.New("test", m, nil), &webdav.Options{Prefix: "/files/"})
	answer, _ := ask(t, handler, "MOVE", "/files/a", "", "Destination: http://files.example/files/b")
	if diff := cmp.Diff(map[string]string{"b": "A"}, contents(t, m)); answer.StatusCode != http.StatusCreated || diff != "" {
		t.Errorf("MOVE = %s (-want +got):\n%s", answer.Status, diff)
	}
	if _, listed := ask(t, handler, "PROPFIND", "/files/", "", "Depth: 1"); !strings.Contains(listed, ">/files/b<") {
		t.Errorf("PROPFIND = %s, want /files/b", listed)
	}
	if answer, _ := ask(t, handler, "GET", "/b", ""); answer.StatusCode != http.StatusNotFound {
		t.Errorf("GET /b = %s, want 404", answer.Status)
	}
}

// TestAttacks sends what a client should not. ADDR stands for the address of the server.
func TestAttacks(t *testing.T) {
	t.Parallel()
	const token = "0123456789-abcdef"
	addr := serve(t, newMemory(t, map[string]string{"a": "secret"}), &webdav.ServeOptions{
		Tokens: []string{token}, Hosts: []string{"files.example"}, ReadTimeout: 300 * time.Millisecond,
	})
	const (
		get   = "GET /a HTTP/1.1\r\n"
		host  = "Host: ADDR\r\n"
		mine  = "Authorization: Bearer " + token + "\r\n"
		basic = "Authorization: Basic bWU6MDEyMzQ1Njc4OS1hYmNkZWY=\r\n" // me and the token
	)
	for _, test := range []struct {
		name, request string
		want          int // the status; 0 if the server hangs up
	}{
		{"none", get + host + mine + "\r\n", 200},
		{"basic authentication", get + host + basic + "\r\n", 200},
		{"another spelling of the scheme", get + host + "Authorization: bearer  " + token + "\r\n\r\n", 200},
		{"a known name", get + "Host: files.example\r\n" + mine + "\r\n", 200},
		{"a page of its own", get + host + mine + "Origin: http://ADDR\r\n\r\n", 200},
		{"no token", get + host + "\r\n", 401},
		{"an empty password", get + host + "Authorization: Basic bWU6\r\n\r\n", 401},
		{"a wrong token", get + host + "Authorization: Bearer " + token + "x\r\n\r\n", 401},
		{"a token of another scheme", get + host + "Authorization: Digest Bearer " + token + "\r\n\r\n", 401},
		{"no token to write", "PUT /a HTTP/1.1\r\n" + host + "Content-Length: 0\r\n\r\n", 401},
		{"a foreign origin", get + host + mine + "Origin: http://evil.example\r\n\r\n", 403},
		{"an image on a page of another site", get + host + mine + "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n\r\n", 403},
		{"a page on another port", get + host + mine + "Sec-Fetch-Site: same-site\r\n\r\n", 403},
		{"a typed address", get + host + mine + "Sec-Fetch-Site: none\r\n\r\n", 200},
		{"a link on a page of its own", get + host + mine + "Sec-Fetch-Site: same-origin\r\n\r\n", 200},
		{"the origin null", get + host + mine + "Origin: null\r\n\r\n", 403},
		{"a preflight", "OPTIONS /a HTTP/1.1\r\n" + host + "Origin: http://evil.example\r\nAccess-Control-Request-Method: PUT\r\n\r\n", 403},
		{"DNS rebinding", get + "Host: evil.example\r\n" + mine + "\r\n", 403},
		{"DNS rebinding with its own origin", get + "Host: evil.example\r\nOrigin: http://evil.example\r\n" + mine + "\r\n", 403},
		{"a path that climbs", "GET /../a HTTP/1.1\r\n" + host + mine + "\r\n", 403},
		{"oversized headers", get + host + mine + "X-Large: " + strings.Repeat("x", 100<<10) + "\r\n\r\n", 431},
		{"an oversized body", "PUT /b HTTP/1.1\r\n" + host + mine + "Content-Length: 1048577\r\n\r\nx", 413},
		{"an oversized body in chunks", "PUT /c HTTP/1.1\r\n" + host + mine + "Transfer-Encoding: chunked\r\n\r\n200000\r\n" + strings.Repeat("x", 2<<20), 413},
		{"a slow head", get + host, 0},
		{"a slow body", "PUT /d HTTP/1.1\r\n" + host + mine + "Content-Length: 100\r\n\r\nx", 408},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			status, body := exchange(t, addr, strings.ReplaceAll(test.request, "ADDR", addr))
			if status != test.want || strings.Contains(body, "secret") != (test.want == 200) {
				t.Errorf("the answer is %d %q, want %d", status, body, test.want)
			}
		})
	}
}

// exchange sends a request byte by byte as it is, and returns the status and the body of
// the answer, or 0 if there is none.
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
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
			t.Fatalf("no answer within %v", deadline)
		}
		return 0, ""
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body) // what came of it
	return answer.StatusCode, string(body)
}

func TestServeRefusesOptions(t *testing.T) {
	t.Parallel()
	ws := workspace.New("test", newMemory(t, nil), nil)
	for _, test := range []struct {
		addr   string
		tokens []string
		want   string
	}{
		{"0.0.0.0:0", nil, "token is required"},
		{"127.0.0.1:0", []string{"short"}, "fewer than 16 characters"},
	} {
		listener, err := net.Listen("tcp", test.addr)
		if err != nil {
			t.Fatal(err)
		}
		err = webdav.Serve(t.Context(), ws, listener, &webdav.ServeOptions{Tokens: test.tokens})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Serve(%s, %q) = %v, want an error with %q", test.addr, test.tokens, err, test.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, opts := range []*webdav.ServeOptions{{ReadTimeout: -1}, {Grace: -1}} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if err := webdav.Serve(ended, ws, listener, opts); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Serve(%+v) = %v, want fs.ErrInvalid", opts, err)
		}
	}
}

// waiting is a file system whose writes wait for release, or for the end of the context.
type waiting struct {
	*memory.FS
	entered, release chan struct{}
}

func (w waiting) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	close(w.entered)
	select {
	case <-ctx.Done():
		return "", &fs.PathError{Op: "write_file", Path: name, Err: ctx.Err()}
	case <-w.release:
		return w.FS.WriteFile(ctx, name, data, opts)
	}
}

// TestShutDown tests that a request that runs when the context ends is answered, and is
// cancelled after the time of grace.
func TestShutDown(t *testing.T) {
	t.Parallel()
	for name, grace := range map[string]time.Duration{"answered": time.Hour, "cancelled": time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := waiting{memory.New(nil), make(chan struct{}), make(chan struct{})}
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			ws := workspace.New("test", fsys, nil)
			go func() { ended <- webdav.Serve(ctx, ws, listener, &webdav.ServeOptions{Grace: grace}) }()
			answered := make(chan int, 1)
			addr := listener.Addr().String()
			go func() {
				status, _ := exchange(t, addr, "PUT /a HTTP/1.1\r\nHost: "+addr+"\r\nContent-Length: 1\r\n\r\nx")
				answered <- status
			}()
			<-fsys.entered
			cancel()
			if name == "answered" {
				close(fsys.release)
			}
			if status := <-answered; (status == http.StatusCreated) != (name == "answered") {
				t.Errorf("the status = %d", status)
			}
			if err := <-ended; err != nil {
				t.Errorf("Serve() = %v, want nil", err)
			}
		})
	}
}

// meddling is a file system in which somebody else writes after each look at a file.
type meddling struct{ *memory.FS }

func (m meddling) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	info, err := m.FS.Stat(ctx, name)
	if info.IsDir() {
		return info, err
	}
	if _, err := m.FS.WriteFile(ctx, name, []byte("theirs"), nil); err != nil {
		return workspace.FileInfo{}, err
	}
	return info, err
}

// TestConditionIsOneStep has somebody else write between the test of a condition and the
// write.
func TestConditionIsOneStep(t *testing.T) {
	t.Parallel()
	m := newMemory(t, map[string]string{"old": "A"})
	old, _ := ask(t, webdav.NewHandler(workspace.New("test", m, nil), nil), "HEAD", "/old", "")
	handler := webdav.NewHandler(workspace.New("test", meddling{m}, nil), nil)
	for url, condition := range map[string]string{"/old": "If-Match: " + old.Header.Get("ETag"), "/new": "If-None-Match: *"} {
		answer, _ := ask(t, handler, "PUT", url, "mine", condition)
		data, err := m.ReadFile(t.Context(), url[1:])
		if answer.StatusCode != http.StatusPreconditionFailed || err != nil || string(data) != "theirs" {
			t.Errorf("PUT %s = %s, and the file has %q, %v, want 412 and what others wrote", url, answer.Status, data, err)
		}
	}
}

// hooked calls hook before each look at a file and each change, with their number from 1.
type hooked struct {
	*memory.FS
	hook  func(n int) error
	calls int
}

// call returns the error of the hook.
func (h *hooked) call(op, name string) error {
	h.calls++
	if err := h.hook(h.calls); err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

func (h *hooked) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	if err := h.call("stat", name); err != nil {
		return workspace.FileInfo{}, err
	}
	return h.FS.Stat(ctx, name)
}

func (h *hooked) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	if err := h.call("write_file", name); err != nil {
		return "", err
	}
	return h.FS.WriteFile(ctx, name, data, opts)
}

func (h *hooked) Move(ctx context.Context, from, to string) error {
	if err := h.call("move", from); err != nil {
		return err
	}
	return h.FS.Move(ctx, from, to)
}

// TestLockKeepsContent locks a file that the handler does not find, as a look at it fails, or
// somebody else creates it in a later moment.
func TestLockKeepsContent(t *testing.T) {
	t.Parallel()
	const lock = `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>`
	for at := 1; at <= 4; at++ {
		created := false
		fsys := &hooked{FS: newMemory(t, map[string]string{"a": "A"})}
		handler := webdav.NewHandler(workspace.New("test", fsys, nil), nil)
		fsys.hook = func(n int) error {
			if n == at {
				created = true
				_, err := fsys.FS.WriteFile(t.Context(), "new", []byte("theirs"), nil)
				return err
			}
			return nil
		}
		answer, body := ask(t, handler, "LOCK", "/new", lock)
		if answer.StatusCode/100 != 2 {
			t.Errorf("LOCK of a file that is created before call %d = %s %s, want a lock", at, answer.Status, body)
		}
		if content := contents(t, fsys.FS)["new"]; created && content != "theirs" {
			t.Errorf("after the LOCK and call %d, the file has %q, want what others wrote", at, content)
		}
	}
	fsys := &hooked{FS: newMemory(t, map[string]string{"a": "A"}), hook: func(n int) error {
		if n == 1 {
			return workspace.ErrUnavailable
		}
		return nil
	}}
	handler := webdav.NewHandler(workspace.New("test", fsys, nil), nil)
	for _, want := range []int{http.StatusServiceUnavailable, http.StatusOK} { // the first leaves no lock
		if answer, _ := ask(t, handler, "LOCK", "/a", lock); answer.StatusCode != want {
			t.Errorf("LOCK /a = %s, want %d", answer.Status, want)
		}
	}
	if content := contents(t, fsys.FS)["a"]; content != "A" {
		t.Errorf("after a LOCK whose look fails, the file has %q, want A", content)
	}
}

// TestRefusedLock fails each call of the store in turn: a LOCK that is refused for it leaves
// no lock.
func TestRefusedLock(t *testing.T) {
	t.Parallel()
	const lock = `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>`
	for err, want := range map[error]int{workspace.ErrNoSpace: 507, workspace.ErrPolicy: 403} {
		for at := 1; ; at++ {
			fsys := &hooked{FS: newMemory(t, nil)}
			fsys.hook = func(n int) error {
				if n == at {
					return err
				}
				return nil
			}
			handler := webdav.NewHandler(workspace.New("test", fsys, nil), nil)
			answer, body := ask(t, handler, "LOCK", "/new", lock)
			if fsys.calls < at {
				break
			}
			if token := answer.Header.Get("Lock-Token"); answer.StatusCode != want || token != "" {
				t.Errorf("LOCK whose call %d fails = %s %s with the token %q, want %d and none", at, answer.Status, body, token, want)
			}
			if answer, _ := ask(t, handler, "PUT", "/new", "x"); answer.StatusCode != http.StatusCreated {
				t.Errorf("PUT after a LOCK whose call %d fails = %s, want 201", at, answer.Status)
			}
		}
	}
}

// TestOverwriteForbidden has somebody else create the destination of a COPY or MOVE that must not
// replace it: all is as it was then.
func TestOverwriteForbidden(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"COPY", "MOVE"} {
		for at := 1; at <= 8; at++ {
			created := false
			fsys := &hooked{FS: newMemory(t, map[string]string{"a": "A"})}
			fsys.hook = func(n int) error {
				if n == at {
					created = true
					_, err := fsys.FS.WriteFile(t.Context(), "b", []byte("theirs"), &workspace.WriteOptions{IfNotExist: true})
					return err
				}
				return nil
			}
			handler := webdav.NewHandler(workspace.New("test", fsys, nil), nil)
			answer, body := ask(t, handler, method, "/a", "", "Destination: /b", "Overwrite: F")
			if !created {
				if answer.StatusCode != http.StatusCreated {
					t.Errorf("%s = %s %s, want 201", method, answer.Status, body)
				}
				break
			}
			if answer.StatusCode != http.StatusPreconditionFailed {
				t.Errorf("%s to a file that is created before call %d = %s %s, want 412", method, at, answer.Status, body)
			}
			if diff := cmp.Diff(map[string]string{"a": "A", "b": "theirs"}, contents(t, fsys.FS)); diff != "" {
				t.Errorf("after the %s and call %d (-want +got):\n%s", method, at, diff)
			}
		}
	}
}

// TestReplaceRefused replaces what rules then refuse to replace: all is as it was, properties
// that clients have invented, too.
func TestReplaceRefused(t *testing.T) {
	t.Parallel()
	const property = `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x:p xmlns:x="x:">value</x:p></D:prop></D:set></D:propertyupdate>`
	denied := policy.Rules{FirstMatch: []policy.Rule{{Deny: []policy.Op{policy.OpRead, policy.OpMove}, Paths: []string{"from/b"}}}}
	for _, transactions := range []bool{false, true} {
		for _, method := range []string{"COPY", "MOVE"} {
			files := map[string]string{"from/a": "new", "from/b": "new", "to/a": "old", "to/c/d": "old"}
			var fsys workspace.FileSystem = newMemory(t, files)
			all := fsys
			if transactions {
				var err error
				if fsys, err = transaction.New(fsys, nil); err != nil {
					t.Fatal(err)
				}
			}
			rules, err := policy.Restrict(fsys, denied)
			if err != nil {
				t.Fatal(err)
			}
			handler := webdav.NewHandler(workspace.New("test", rules, nil), nil)
			ask(t, handler, "PROPPATCH", "/to/c", property)
			answer, body := ask(t, handler, method, "/from", "", "Destination: /to")
			if answer.StatusCode != http.StatusForbidden || strings.TrimSpace(body) == "" {
				t.Errorf("%s with transactions %t = %s %q, want 403 and why", method, transactions, answer.Status, body)
			}
			if diff := cmp.Diff(files, contents(t, all)); diff != "" {
				t.Errorf("after a %s with transactions %t (-want +got):\n%s", method, transactions, diff)
			}
			if _, body := ask(t, handler, "PROPFIND", "/to/c", "", "Depth: 0"); !strings.Contains(body, "value") {
				t.Errorf("after a %s with transactions %t, to/c has lost its property: %s", method, transactions, body)
			}
		}
	}
}

// TestReplaceTooLarge replaces a directory with more than a transaction can keep.
func TestReplaceTooLarge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, size := range map[string]int64{"from/a": 1, "to/large": backup.DefaultMaxChange + 1} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, nil, 0o666), os.Truncate(file, size)); err != nil {
			t.Fatal(err)
		}
	}
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	handler := webdav.NewHandler(workspace.New("test", fsys, nil), nil)
	answer, body := ask(t, handler, "MOVE", "/from", "", "Destination: /to")
	if answer.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(body, "more than the 64 MiB") {
		t.Errorf("MOVE over a large directory = %s %q, want 413 and the limit", answer.Status, body)
	}
	for _, name := range []string{"from/a", "to/large"} {
		if _, err := fsys.Stat(t.Context(), name); err != nil {
			t.Errorf("after the MOVE: %v", err)
		}
	}
}

// stepping counts the removals and looks at files.
type stepping struct {
	*memory.FS
	removed []string
	stats   int
}

func (s *stepping) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	s.removed = append(s.removed, name)
	return s.FS.Rm(ctx, name, opts)
}

func (s *stepping) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	s.stats++
	return s.FS.Stat(ctx, name)
}

// TestSteps tests that a file that is replaced is not removed first, and that a listing
// does not ask for each of its files.
func TestSteps(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]string{"MOVE": "a", "COPY": ""} {
		fsys := &stepping{FS: newMemory(t, map[string]string{"a": "A", "b": "B"})}
		handler := webdav.NewHandler(workspace.New("test", fsys, nil), nil)
		ask(t, handler, method, "/a", "", "Destination: /b", "Overwrite: T")
		if got := strings.Join(fsys.removed, " "); got != want {
			t.Errorf("%s removes %q, want %q", method, got, want)
		}
	}
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("f%d", i)] = ""
	}
	fsys := &stepping{FS: newMemory(t, files)}
	handler := webdav.NewHandler(workspace.New("test", fsys, nil), nil)
	if _, body := ask(t, handler, "PROPFIND", "/", "", "Depth: 1"); strings.Count(body, "<D:response>") != 101 || fsys.stats > 1 {
		t.Errorf("PROPFIND lists %d, and asks for %d files, want 101 and 1", strings.Count(body, "<D:response>"), fsys.stats)
	}
}
