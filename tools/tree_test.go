package tools_test

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

func TestTree(t *testing.T) {
	files := map[string]string{
		".gitignore": "build/\n*.log\n", "README.md": "", "build/out": "", "a.log": "", "cmd/tool/main.go": "", "cmd/tool/flags/a/b.go": "", "cmd/tool/flags/c.go": "",
		"docs/a.md": "", "docs/b.md": "", "docs-old": "",
	}
	set, ws := newSet(t, files, nil)
	if err := ws.Mkdir(t.Context(), "empty", nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args object
		want string
	}{
		{object{}, `[.: 6 files, 5 directories, to depth 3]
.gitignore
README.md
cmd/
  tool/
    flags/ (1 file, 1 directory)
    main.go
docs/
  a.md
  b.md
docs-old
empty/`},
		{object{"depth": 1}, `[.: 3 files, 3 directories, to depth 1]
.gitignore
README.md
cmd/ (1 directory)
docs/ (2 files)
docs-old
empty/`},
		{object{"path": "cmd", "depth": 10}, `[cmd: 3 files, 3 directories, to depth 10]
tool/
  flags/
    a/
      b.go
    c.go
  main.go`},
		{object{"limit": 7}, `[.: 6 files, 5 directories, to depth 3]
.gitignore
README.md
cmd/
  tool/ (1 file, 1 directory)
docs/ (2 files)
docs-old
empty/
[4 entries are left out: give a path further down or a higher limit, or list a directory with workspace__test__ls]`},
		{object{"limit": 2}, `[.: 6 files, 5 directories, to depth 3]
.gitignore
README.md
[9 entries are left out: give a path further down or a higher limit, or list a directory with workspace__test__ls]`},
		{object{"path": "build", "includeIgnored": true}, "[build: 1 file, 0 directories, to depth 3]\nout"},
		{object{"path": "empty"}, "[empty: 0 files, 0 directories, to depth 3]"},
	} {
		if diff := cmp.Diff(c.want, call(t, set, "tree", c.args).Text); diff != "" {
			t.Errorf("tree(%v) (-want +got):\n%s", c.args, diff)
		}
	}
	contains(t, "hint", bad(t, set, "tree", object{"path": "README.md"}, tools.CodeNotDir).Hint, "It is a file")
	bad(t, set, "tree", object{"path": "nope"}, tools.CodeNotExist)
	bad(t, set, "tree", object{"path": ".."}, tools.CodeInvalid)
}

// TestTreeLines tests that a name has one line of a tree, whatever is in it.
func TestTreeLines(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a\nb/c\rd": "", "e": ""}, nil)
	text := call(t, set, "tree", object{}).Text
	if want := "[.: 2 files, 1 directory, to depth 3]\n\"a\\nb\"/\n  \"c\\rd\"\ne"; text != want {
		t.Errorf("tree = %s, want %s", text, want)
	}
}

// TestMessagesLines tests that a name has one line of a message, whatever is in it.
func TestMessagesLines(t *testing.T) {
	set, _ := newSet(t, nil, nil)
	for _, c := range []struct {
		tool string
		args object
		want string
	}{
		{"write_file", object{"path": "a\nb", "content": "x"}, "Created \"a\\nb\" ("},
		{"edit_file", object{"path": "a\nb", "oldText": "x", "newText": "y"}, "Edited \"a\\nb\" ("},
		{"stat", object{"path": "a\nb"}, "\"a\\nb\": file"},
		{"copy", object{"source": "a\nb", "destination": "c\nd"}, "Copied \"a\\nb\" to \"c\\nd\""},
		{"move", object{"source": "a\nb", "destination": "e\nf"}, "Moved \"a\\nb\" to \"e\\nf\"."},
		{"rm", object{"path": "e\nf"}, "Removed \"e\\nf\"."},
		{"mkdir", object{"path": "g\nh"}, "Made the directory \"g\\nh\"."},
		{"tree", object{"path": "g\nh"}, "[\"g\\nh\": 0 files"},
	} {
		if text := call(t, set, c.tool, c.args).Text; !strings.HasPrefix(text, c.want) {
			t.Errorf("%s(%v) = %s, want %s", c.tool, c.args, text, c.want)
		}
	}
}

// TestTreeHides tests that a tree has no name that a policy hides.
func TestTreeHides(t *testing.T) {
	_, ws := newSet(t, map[string]string{"a/b": "", "secret/x": "", "a/secret": ""}, nil)
	fsys, err := policy.Restrict(ws, policy.Rules{DeniedPaths: []string{"secret"}})
	if err != nil {
		t.Fatal(err)
	}
	text := call(t, newSetOf(t, workspace.New("test", fsys, nil), nil), "tree", object{}).Text
	if want := "[.: 1 file, 1 directory, to depth 3]\na/\n  b"; text != want {
		t.Errorf("tree = %s, want %s", text, want)
	}
}

// lockedDir is a file system with a directory "locked" that cannot be listed. As in any
// provider, searches pass it by.
type lockedDir struct {
	workspace.FileSystem
	listed []string // what Ls was called for
}

func (l *lockedDir) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	if l.listed = append(l.listed, dir); path.Base(dir) == "locked" {
		return nil, &fs.PathError{Op: "ls", Path: dir, Err: fs.ErrPermission}
	}
	return l.FileSystem.Ls(ctx, dir, opts)
}

// TestTreeUnreadable tests that a directory that cannot be read does not look like an empty
// one, and that no more is listed than looks empty.
func TestTreeUnreadable(t *testing.T) {
	_, ws := newSet(t, map[string]string{"a/b": "", "deep/er/est/x": ""}, nil)
	for _, dir := range []string{"locked", "deep/locked", "deep/empty"} {
		if err := ws.Mkdir(t.Context(), dir, nil); err != nil {
			t.Fatal(err)
		}
	}
	fsys := &lockedDir{FileSystem: ws}
	text := call(t, newSetOf(t, workspace.New("test", fsys, nil), nil), "tree", object{"depth": 2}).Text
	want := "[.: 1 file, 6 directories, to depth 2]\na/\n  b\ndeep/\n  empty/\n  er/ (1 directory)\n  locked/ (cannot be read)\nlocked/ (cannot be read)"
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"deep/empty", "deep/locked", "locked"}, fsys.listed); diff != "" {
		t.Errorf("tree listed (-want +got):\n%s", diff)
	}
}

// TestListUnreadable tests that the listings of dialects say which directories below cannot be
// read.
func TestListUnreadable(t *testing.T) {
	_, ws := newSet(t, map[string]string{"a/b": ""}, nil)
	if err := ws.Mkdir(t.Context(), "locked", nil); err != nil {
		t.Fatal(err)
	}
	fsys := workspace.New("test", &lockedDir{FileSystem: ws}, nil)
	for _, c := range []struct {
		dialect tools.Dialect
		tool    string
		args    object
	}{
		{tools.DialectAnthropic, "str_replace_based_edit_tool", object{"command": "view", "path": "/"}},
		{tools.DialectOpenAI, "list_dir", object{"dir_path": "/"}},
	} {
		text := call(t, newSetOf(t, fsys, &tools.Options{Dialect: c.dialect}), c.tool, c.args).Text
		if !strings.HasSuffix(text, "\n[cannot be read: /locked]") {
			t.Errorf("%s of the dialect %s = %s, want a note about /locked", c.tool, c.dialect, text)
		}
	}
}

// TestTreeIsBounded has more files than one tree looks at, and names that fill a
// result.
func TestTreeIsBounded(t *testing.T) {
	files := map[string]string{"z": ""}
	for n := range 20_010 {
		files[fmt.Sprintf("a/%05d", n)] = ""
	}
	for n := range 200 {
		files[fmt.Sprintf("long/%03d%s", n, strings.Repeat("x", 240))] = ""
	}
	set, _ := newSet(t, files, nil)
	result := call(t, set, "tree", object{"limit": 1000})
	contains(t, "text", result.Text, "[.: 20,000 files, 1 directory, to depth 3]\na/ (20,000 files)\n", "[20,000 entries are left out: give a path further down, or list a directory with workspace__test__ls; there is more after a/19999, which was not looked at")
	if result = call(t, set, "tree", object{"path": "long", "limit": 1000}); len(result.Text) > 40<<10 || !strings.Contains(result.Text, "entries are left out") {
		t.Errorf("the text has %d bytes", len(result.Text))
	}
}

// TestTreeShowsItsLimit shows as many entries as the limit says if their lines fit in the text,
// whose directories have counts only while they are closed.
func TestTreeShowsItsLimit(t *testing.T) {
	files := map[string]string{}
	for i := range 1_000 {
		files[fmt.Sprintf("a/%03d.txt", i)] = ""
	}
	for i := range 500 {
		files[fmt.Sprintf("b/%03d/%030d", i, i)] = ""
	}
	set, ws := newSet(t, files, nil)
	for i := range 1_000 {
		if err := ws.Mkdir(t.Context(), fmt.Sprintf("c/%04d", i), &workspace.MkdirOptions{Recursive: true}); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"a", "b", "c"} {
		r := good(t, set, "tree", object{"path": path, "limit": 1_000})
		if got := strings.Count(r["tree"].(string), "\n"); got != 1_000 || r["truncated"] != false {
			t.Errorf("tree of 1,000 entries of %s shows %d, truncated: %v", path, got, r["truncated"])
		}
	}
}
