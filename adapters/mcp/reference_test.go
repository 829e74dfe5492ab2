package mcp_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/adapters/mcp"
	"github.com/workspacekit/workspacekit/internal/nodetest"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// reference is the server for files of the protocol's own project.
const reference = "@modelcontextprotocol/server-filesystem"

// referenceFiles are in the folders of both servers at the beginning.
var referenceFiles = map[string]string{
	"README.md":         "# Title\n\nText with a word.\n",
	"src/main.go":       "package main\n\nfunc main() {\n    println(\"one\")\n    println(\"two\")\n}\n",
	"src/lib/lib.go":    "package lib\n\n// Word is a word.\nconst Word = \"word\"\n",
	"src/.hidden/x.txt": "hidden\n",
	"notes/crlf.txt":    "one\r\ntwo\r\nthree\r\n",
	"notes/twice.txt":   "a same\nb same\n",
	"notes/no-newline":  "first\nlast line",
	"notes/empty":       "",
	"notes/utf8.txt":    "naïve\n界\n",
	"notes/picture.png": pixel,
	"notes/sound.mp3":   "ID3\x00\x01",
	"notes/1500.txt":    strings.Repeat("x", 1500),

	// The files of the server's own tests of edits.
	"edit/simple":   "line1\nline2\nline3\n",
	"edit/dollar":   "line1\nline2\nline3\n",
	"edit/several":  "line1\nline2\nline3\n",
	"edit/flexible": "  line1\n    line2\n  line3\n",
	"edit/complex":  "function test() {\n  console.log(\"hello\");\n  return true;\n}",
	"edit/pattern":  "    if (condition) {\n        doSomething();\n    }",
	"edit/indent":   "func f() {\n\tif x {\n\t\tg()\n\t}\n}\n",
}

// referenceCalls are made to both servers, in this order. differs says what is
// different here; docs/dialects.md has what matters of that. Without it the texts are the same.
var referenceCalls = []struct{ tool, args, differs string }{
	{"list_allowed_directories", `{}`, ""},
	{"read_text_file", `{"path": "ROOT/README.md"}`, ""},
	{"read_text_file", `{"path": "README.md"}`, ""},
	{"read_file", `{"path": "ROOT/README.md"}`, ""},
	{"read_text_file", `{"path": "ROOT/src/main.go", "head": 3}`, ""},
	{"read_text_file", `{"path": "ROOT/src/main.go", "head": 100}`, ""},
	{"read_text_file", `{"path": "ROOT/notes/no-newline", "head": 100}`, ""},
	{"read_text_file", `{"path": "ROOT/notes/no-newline", "tail": 1}`, ""},
	{"read_text_file", `{"path": "ROOT/notes/no-newline", "tail": 2}`, ""},
	{"read_text_file", `{"path": "ROOT/notes/no-newline", "tail": 100}`, ""},
	{"read_text_file", `{"path": "ROOT/README.md", "tail": 1}`, "no line after the last line feed"},
	{"read_text_file", `{"path": "ROOT/notes/empty"}`, ""},
	{"read_text_file", `{"path": "ROOT/notes/empty", "tail": 5}`, ""},
	{"read_text_file", `{"path": "ROOT/notes/utf8.txt"}`, ""},
	{"read_text_file", `{"path": "ROOT/notes/crlf.txt"}`, ""},
	{"read_text_file", `{"path": "ROOT/notes/crlf.txt", "head": 2}`, ""},
	{"read_text_file", `{"path": "ROOT/nowhere"}`, "text of the error"},
	{"read_text_file", `{"path": "/etc/passwd"}`, "text of the error"},
	{"read_text_file", `{"path": "ROOT/../x"}`, "text of the error"},
	{"read_text_file", `{"path": "ROOT/src"}`, "text of the error"},
	{"read_text_file", `{"path": "ROOT/README.md", "head": 1, "tail": 1}`, "text of the error"},
	{"read_media_file", `{"path": "ROOT/notes/picture.png"}`, ""},
	{"read_media_file", `{"path": "ROOT/notes/sound.mp3"}`, ""},
	{"read_media_file", `{"path": "ROOT/notes/utf8.txt"}`, ""},
	{"read_multiple_files", `{"paths": ["ROOT/README.md", "ROOT/notes/no-newline", "ROOT/notes/empty"]}`, ""},
	{"read_multiple_files", `{"paths": ["ROOT/README.md", "ROOT/nowhere"]}`, "text of the error"},
	{"read_multiple_files", `{"paths": []}`, "text of the error"},
	{"list_directory", `{"path": "ROOT"}`, ""},
	{"list_directory", `{"path": "ROOT/src"}`, ""},
	{"list_directory", `{"path": "ROOT/nowhere"}`, "text of the error"},
	{"list_directory_with_sizes", `{"path": "ROOT/notes", "sortBy": "size"}`, ""},
	{"list_directory_with_sizes", `{"path": "ROOT/src"}`, ""},
	{"directory_tree", `{"path": "ROOT"}`, ""},
	{"directory_tree", `{"path": "ROOT/src"}`, ""},
	{"directory_tree", `{"path": "ROOT", "excludePatterns": ["lib", "**/*.txt", "edit"]}`, ""},
	{"directory_tree", `{"path": "ROOT", "excludePatterns": ["src/lib", "no*"]}`, ""},
	{"search_files", `{"path": "ROOT", "pattern": "**/*.go"}`, ""},
	{"search_files", `{"path": "ROOT", "pattern": "*"}`, ""},
	{"search_files", `{"path": "ROOT/src", "pattern": "**/*"}`, ""},
	{"search_files", `{"path": "ROOT", "pattern": "**/*.{go,txt}", "excludePatterns": ["notes", "**/.hidden"]}`, ""},
	{"search_files", `{"path": "ROOT", "pattern": "*.none"}`, ""},
	{"search_files", `{"path": "ROOT", "pattern": "[a"}`, "a malformed pattern is an error"},
	{"get_file_info", `{"path": "ROOT/README.md"}`, "no created, accessed and permissions"},
	{"write_file", `{"path": "ROOT/new.txt", "content": "one\n"}`, ""},
	{"write_file", `{"path": "ROOT/new.txt", "content": "two\r\n"}`, ""},
	{"write_file", `{"path": "ROOT/missing/new.txt", "content": ""}`, "missing directories are made"},
	{"write_file", `{"path": "ROOT/src", "content": ""}`, "text of the error"},
	{"create_directory", `{"path": "ROOT/a/b/c"}`, ""},
	{"create_directory", `{"path": "ROOT/a/b/c"}`, ""},
	{"move_file", `{"source": "ROOT/new.txt", "destination": "ROOT/a/moved.txt"}`, ""},
	{"move_file", `{"source": "ROOT/README.md", "destination": "ROOT/a/moved.txt"}`, "text of the error"},
	{"move_file", `{"source": "ROOT/a", "destination": "ROOT/z"}`, ""},
	{"edit_file", `{"path": "ROOT/edit/simple", "edits": [{"oldText": "line2", "newText": "modified line2"}], "dryRun": true}`, ""},
	{"edit_file", `{"path": "ROOT/edit/simple", "edits": [{"oldText": "line2", "newText": "modified line2"}]}`, ""},
	{"edit_file", `{"path": "ROOT/edit/dollar", "edits": [{"oldText": "line2", "newText": "price=$$; match=$&; before=$` + "`" + `; after=$'"}]}`, ""},
	{"edit_file", `{"path": "ROOT/edit/several", "edits": [{"oldText": "line1", "newText": "first line"}, {"oldText": "line3", "newText": "third line"}]}`, ""},
	{"edit_file", `{"path": "ROOT/edit/several", "edits": [{"oldText": "first line", "newText": "x"}, {"oldText": "x\nline2", "newText": "y"}]}`, ""},
	{"edit_file", `{"path": "ROOT/edit/flexible", "edits": [{"oldText": "line2", "newText": "modified line2"}]}`, ""},
	{"edit_file", `{"path": "ROOT/edit/complex", "edits": [{"oldText": "  console.log(\"hello\");\n  return true;", "newText": "  console.log(\"world\");\n  console.log(\"test\");\n  return false;"}]}`, ""},
	{"edit_file", `{"path": "ROOT/edit/pattern", "edits": [{"oldText": "doSomething();", "newText": "doSomethingElse();\n        doAnotherThing();"}]}`, ""},
	{"edit_file", `{"path": "ROOT/edit/indent", "edits": [{"oldText": "  if x {\n    g()\n  }", "newText": "  if y {\n    h()\n      i()\n  }"}]}`, ""},
	{"edit_file", `{"path": "ROOT/src/main.go", "edits": [{"oldText": "println(\"one\")\nprintln(\"two\")", "newText": "println(1)\n  println(2)"}]}`, ""},
	{"edit_file", `{"path": "ROOT/notes/twice.txt", "edits": [{"oldText": "same", "newText": "first"}]}`, ""},
	{"edit_file", `{"path": "ROOT/edit/simple", "edits": [{"oldText": "nonexistent line", "newText": "replacement"}]}`, "text of the error"},
	{"edit_file", `{"path": "ROOT/edit/simple", "edits": [{"oldText": "line1", "newText": "1"}, {"oldText": "nonexistent", "newText": "replacement"}]}`, "text of the error"},
	{"edit_file", `{"path": "ROOT/notes/crlf.txt", "edits": [{"oldText": "one\ntwo", "newText": "1\n2"}]}`, "CRLF stays"},
	{"edit_file", `{"path": "ROOT/nowhere", "edits": [{"oldText": "a", "newText": "b"}]}`, "text of the error"},
}

// referenceFilesDiffer are the files that the calls leave different.
var referenceFilesDiffer = []string{"missing/new.txt", "notes/crlf.txt"}

// TestReference makes the same calls to the reference server and to the dialect
// mcp-filesystem, each over a folder with the same files.
func TestReference(t *testing.T) {
	modules := nodetest.Modules(t)
	ourRoot, theirRoot := seedFolder(t), seedFolder(t)
	server := exec.CommandContext(t.Context(), "node", filepath.Join(modules, filepath.FromSlash(reference), "dist", "index.js"), theirRoot)
	theirs := newSession(t, &sdk.CommandTransport{Command: server})
	defer theirs.Close()
	ours := dialectSession(t, ourRoot)
	if diff := cmp.Diff(parametersOf(t, theirs), parametersOf(t, ours)); diff != "" {
		t.Errorf("the tools and their parameters differ (-reference +here):\n%s", diff)
	}
	for _, c := range referenceCalls {
		want := asOurs(referenceText(t, theirs, c.tool, strings.ReplaceAll(c.args, "ROOT", theirRoot)), theirRoot)
		got := asOurs(referenceText(t, ours, c.tool, strings.ReplaceAll(strings.ReplaceAll(c.args, "ROOT/", "/"), "ROOT", "/")), ourRoot)
		switch {
		case c.differs == "" && got != want:
			t.Errorf("%s %s differs (-reference +here):\n%s", c.tool, c.args, cmp.Diff(want, got))
		case c.differs != "" && got == want:
			t.Errorf("%s %s is the same, and was not: %s", c.tool, c.args, c.differs)
		}
	}
	want, got := folder(t, theirRoot), folder(t, ourRoot)
	for _, name := range referenceFilesDiffer {
		if want[name] == got[name] && (want[name] != "" || name != "missing/new.txt") {
			t.Errorf("%s is the same, and was not", name)
		}
		delete(want, name)
		delete(got, name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the files differ (-reference +here):\n%s", diff)
	}
}

// parametersOf returns the names and types of the parameters of each tool, with a star
// where they are required.
func parametersOf(t *testing.T, session *sdk.ClientSession) map[string][]string {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, tool := range list.Tools {
		var schema struct {
			Properties map[string]struct{ Type string }
			Required   []string
		}
		remarshal(t, tool.InputSchema, &schema)
		parameters := []string{}
		for name, p := range schema.Properties {
			entry := name + " " + strings.Replace(p.Type, "number", "integer", 1) // of lines
			if slices.Contains(schema.Required, name) {
				entry += "*"
			}
			parameters = append(parameters, entry)
		}
		slices.Sort(parameters)
		all[tool.Name] = parameters
	}
	return all
}

// dialectSession returns a client of the dialect over a folder.
func dialectSession(t *testing.T, dir string) *sdk.ClientSession {
	t.Helper()
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	set, err := tools.New(workspace.New("main", fsys, nil), &tools.Options{Dialect: tools.DialectMCPFilesystem})
	if err != nil {
		t.Fatal(err)
	}
	return newSession(t, inMemory(t, mcp.NewServer(set, nil)))
}

func seedFolder(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range referenceFiles {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// folder returns the files below root.
func folder(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(root, path))
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// referenceText returns the contents of a result.
func referenceText(t *testing.T, session *sdk.ClientSession, tool, args string) string {
	t.Helper()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		return "error " + err.Error()
	}
	text := ""
	if result.IsError {
		text = "error "
	}
	for _, content := range result.Content {
		switch c := content.(type) {
		case *sdk.TextContent:
			text += c.Text
		case *sdk.ImageContent:
			text = c.MIMEType + " " + string(c.Data) // the text beside an image is for models that see none
		case *sdk.AudioContent:
			text = c.MIMEType + " " + string(c.Data)
		case *sdk.EmbeddedResource:
			text = c.Resource.MIMEType + " " + string(c.Resource.Blob)
		}
	}
	return text
}

// asOurs returns a text without what differs throughout: the names of the root, the
// head of diffs, and the order of names and of trees.
func asOurs(text, root string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, root+"/", "/"), root, "/")
	if strings.HasPrefix(text, "```") {
		_, hunks, _ := strings.Cut(text, "\n@@")
		return strings.TrimRight(hunks, "\n")
	}
	var tree []any
	if json.Unmarshal([]byte(text), &tree) == nil {
		sorted, _ := json.MarshalIndent(sortTree(tree), "", " ") // of what was decoded from JSON
		return string(sorted)
	}
	if lines := strings.Split(text, "\n"); strings.HasPrefix(text, "[") || strings.HasPrefix(text, "/") {
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	return text
}

func sortTree(tree []any) []any {
	slices.SortFunc(tree, func(a, b any) int {
		return strings.Compare(a.(map[string]any)["name"].(string), b.(map[string]any)["name"].(string))
	})
	for _, node := range tree {
		if children, ok := node.(map[string]any)["children"].([]any); ok {
			sortTree(children)
		}
	}
	return tree
}
