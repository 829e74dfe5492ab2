package tools_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// counted counts the bytes that are read of files, and refuses reads if denied
// is set.
type counted struct {
	*memory.FS
	read   atomic.Int64
	denied atomic.Bool
}

func newCounted(t *testing.T, files map[string]string) *counted {
	t.Helper()
	c := &counted{FS: memory.New(nil)}
	for name, content := range files {
		if _, err := c.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func (c *counted) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	if c.denied.Load() {
		return nil, "", ops.Error(ops.ReadFile, name, fs.ErrPermission, nil)
	}
	data, version, err := c.FS.ReadVersioned(ctx, name, limit)
	c.read.Add(int64(len(data)))
	return data, version, err
}

func (c *counted) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	if c.denied.Load() {
		return nil, workspace.FileInfo{}, ops.Error(ops.Open, name, fs.ErrPermission, nil)
	}
	stream, info, err := c.FS.Open(ctx, name, opts)
	if err == nil {
		c.read.Add(opts.Length)
	}
	return stream, info, err
}

// numbered returns n lines that say their number, of 64 bytes each.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%-63d\n", i+1)
	}
	return b.String()
}

// pagesOf reads a file by pages and returns its text, and how many there are.
func pagesOf(t *testing.T, set *tools.Set, path string) (text string, pages int) {
	t.Helper()
	var b strings.Builder
	for line := 1.0; line > 0; pages++ {
		out := good(t, set, "read_file", object{"path": path, "line": line})
		b.WriteString(out["text"].(string))
		line, _ = out["nextLine"].(float64)
	}
	return b.String(), pages
}

// TestPagesCostOneRead reads a file by pages, which takes one read of it, and a
// byte for each further page.
func TestPagesCostOneRead(t *testing.T) {
	t.Parallel()
	content := numbered(10_000)
	fsys := newCounted(t, map[string]string{"a": content})
	got, pages := pagesOf(t, newSetOf(t, workspace.New("test", fsys, nil), nil), "a")
	if got != content || pages < 9 {
		t.Fatalf("%d pages make the file: %v", pages, got == content)
	}
	if read, want := fsys.read.Load(), int64(len(content)+pages-1); read != want {
		t.Errorf("%d pages of %d bytes read %d bytes, want %d", pages, len(content), read, want)
	}
}

// TestPagesOfABucket counts the requests for the pages of an object.
func TestPagesOfABucket(t *testing.T) {
	t.Parallel()
	server := s3test.New(t, &s3test.Options{Public: true})
	fsys, err := objectstore.Open(t.Context(), &objectstore.Options{Bucket: "workspace", Endpoint: server.URL, Region: server.Region, Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	content := numbered(10_000)
	if _, err := fsys.WriteFile(t.Context(), "a", []byte(content), nil); err != nil {
		t.Fatal(err)
	}
	server.ResetRequests()
	got, pages := pagesOf(t, newSetOf(t, workspace.New("test", fsys, nil), nil), "a")
	if got != content {
		t.Fatal("the pages do not make the file")
	}
	downloads := 0
	for _, r := range server.Requests() {
		if r.Op == "GetObject" && r.Header.Get("Range") == "" {
			downloads++
		}
	}
	if n := len(server.Requests()); downloads != 1 || n != pages {
		t.Errorf("%d pages took %d requests, %d of them downloads, want one for each page, and one download", pages, n, downloads)
	}
}

// TestPagesSeeChanges changes a file between two pages.
func TestPagesSeeChanges(t *testing.T) {
	t.Parallel()
	before, after := numbered(3000), strings.ReplaceAll(numbered(3000), "1", "x")
	change := func(name, content string) func(*testing.T, *tools.Set, *workspace.Workspace) {
		return func(t *testing.T, set *tools.Set, ws *workspace.Workspace) {
			if _, err := ws.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, test := range map[string]struct {
		change func(*testing.T, *tools.Set, *workspace.Workspace)
		want   string
	}{
		"replaced": {change("a", after), after},
		"smaller":  {change("a", "short\n"), "short\n"},
		"edited": {func(t *testing.T, set *tools.Set, _ *workspace.Workspace) {
			good(t, set, "edit_file", object{"path": "a", "oldText": "1", "newText": "x", "replaceAll": true})
		}, after},
		"moved": {func(t *testing.T, set *tools.Set, ws *workspace.Workspace) {
			change("b", after)(t, set, ws)
			good(t, set, "rm", object{"path": "a"})
			good(t, set, "move", object{"source": "b", "destination": "a"})
		}, after},
		"removed": {func(t *testing.T, set *tools.Set, _ *workspace.Workspace) {
			good(t, set, "rm", object{"path": "a"})
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, ws := newSet(t, map[string]string{"a": before}, nil)
			first := good(t, set, "read_file", object{"path": "a"})
			test.change(t, set, ws)
			if test.want == "" {
				bad(t, set, "read_file", object{"path": "a", "line": 2}, tools.CodeNotExist)
				return
			}
			now := good(t, set, "read_file", object{"path": "a", "limit": 1000})
			info, err := ws.Stat(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			if text := now["text"].(string); !strings.HasPrefix(test.want, text) || text == "" {
				t.Errorf("the page after the change begins %.20q", text)
			}
			if now["version"] != string(info.Version) || now["version"] == first["version"] {
				t.Errorf("version %v, want %q, and another than the first page's, %v", now["version"], info.Version, first["version"])
			}
		})
	}
}

// TestPagesAreDenied takes the access away between two pages.
func TestPagesAreDenied(t *testing.T) {
	t.Parallel()
	t.Run("store", func(t *testing.T) {
		t.Parallel()
		fsys := newCounted(t, map[string]string{"a": numbered(3000)})
		set := newSetOf(t, workspace.New("test", fsys, nil), nil)
		good(t, set, "read_file", object{"path": "a"})
		fsys.denied.Store(true)
		bad(t, set, "read_file", object{"path": "a", "line": 1001}, tools.CodePermission)
	})
	t.Run("policy", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		fsys, err := localbash.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer fsys.Close()
		for _, name := range []string{"public/a", "secret/a"} {
			if _, err := fsys.WriteFile(t.Context(), name, []byte(numbered(3000)), nil); err != nil {
				t.Fatal(err)
			}
		}
		link := filepath.Join(dir, "public", "link")
		if err := os.Symlink("a", link); err != nil {
			t.Fatal(err)
		}
		view, err := policy.Restrict(fsys, policy.Rules{AllowedPaths: []string{"public/**"}})
		if err != nil {
			t.Fatal(err)
		}
		all, some := workspace.New("all", fsys, nil), workspace.New("some", view, nil)
		set, err := tools.Merge(newSetOf(t, all, nil), newSetOf(t, some, nil))
		if err != nil {
			t.Fatal(err)
		}
		page := func(name, path string) *tools.Result {
			return call(t, set, "workspace__"+name+"__read_file", object{"path": path, "line": 2})
		}
		if first := page("all", "secret/a"); first.IsError {
			t.Fatal(first.Text)
		}
		if first := page("some", "public/link"); first.IsError {
			t.Fatal(first.Text)
		}
		if err := errors.Join(os.Remove(link), os.Symlink("../secret/a", link)); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"secret/a", "public/link"} {
			if got := page("some", path); !got.IsError || got.Error.Code != tools.CodePolicy {
				t.Errorf("page of %s, which the policy denies = %.100q", path, got.Text)
			}
		}
	})
}

// TestReadCacheIsBounded reads more files than may be kept, and reads those
// again that were read last and first.
func TestReadCacheIsBounded(t *testing.T) {
	t.Parallel()
	content := numbered(2000) // 125 KiB
	files := map[string]string{}
	for i := range 8 {
		files[fmt.Sprint(i)] = content
	}
	for _, test := range []struct {
		name  string
		limit int64
		kept  int
	}{
		{"three", 400 << 10, 3}, {"one", 130 << 10, 1}, {"too-small", 100 << 10, 0}, {"none", -1, 0}, {"default", 0, 8},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			fsys := newCounted(t, files)
			set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{ReadCache: test.limit})
			for i := range len(files) {
				good(t, set, "read_file", object{"path": fmt.Sprint(i)})
			}
			kept := 0
			for i := len(files) - 1; i >= 0; i-- { // the last first, as a file that is read again takes the place of another
				before := fsys.read.Load()
				good(t, set, "read_file", object{"path": fmt.Sprint(i), "line": 1001})
				if fsys.read.Load()-before == 1 {
					kept++
				}
			}
			if kept != test.kept {
				t.Errorf("%d files were kept, want %d", kept, test.kept)
			}
		})
	}
}

// TestPagesWithoutVersions reads from a store that cannot tell whether a file is
// what it was.
func TestPagesWithoutVersions(t *testing.T) {
	t.Parallel()
	fsys := memory.New(nil)
	ws := workspace.New("test", restricted{fsys, workspace.Capabilities{Write: true}}, nil)
	set := newSetOf(t, ws, nil)
	for i, content := range []string{numbered(3000), strings.ReplaceAll(numbered(3000), "1", "x")} {
		if _, err := fsys.WriteFile(t.Context(), "a", []byte(content), nil); err != nil {
			t.Fatal(err)
		}
		if got, _ := pagesOf(t, set, "a"); got != content {
			t.Errorf("the pages of version %d are not the file", i)
		}
	}
}

// TestPagesBesideWriters reads pages while the file is replaced: each is of one
// version, and its version is that of its text.
func TestPagesBesideWriters(t *testing.T) {
	t.Parallel()
	set, ws := newSet(t, nil, nil)
	var texts sync.Map // by version
	write := func(i int) {
		content := strings.Repeat(fmt.Sprintf("%63d\n", i), 2000+i)
		version, err := ws.WriteFile(t.Context(), "a", []byte(content), nil)
		if err != nil {
			t.Error(err)
		}
		texts.Store(string(version), content)
	}
	write(0)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			tool, _ := set.Lookup("read_file")
			for line := 1; line < 2000; line += 100 {
				result, err := tool.Call(t.Context(), []byte(fmt.Sprintf(`{"path": "a", "line": %d, "limit": 10}`, line)))
				if err != nil || result.IsError {
					t.Errorf("read_file: %v, %s", err, result.Text)
					return
				}
				page := members(t, result.Structured)
				for { // the writer says what a version holds a moment after a reader can see it
					content, ok := texts.Load(page["version"])
					if !ok {
						continue
					}
					if !strings.HasPrefix(content.(string), page["text"].(string)) || page["size"] != float64(len(content.(string))) {
						t.Errorf("page %.70q of version %v is not what that holds", page["text"], page["version"])
					}
					break
				}
			}
		})
	}
	for i := range 50 {
		write(i + 1)
	}
	group.Wait()
}
