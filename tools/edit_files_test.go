package tools_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// manyFiles are files to edit with one call.
var manyFiles = map[string]string{
	"src/a.go": "old(1)\nold(2)\n", "src/deep/b.go": "\ufeffx\r\nold(3)\r\n", "src/c.go": "none\n",
	"src/old.txt": "old\n", "src/bin.go": "old\x00", ".gitignore": "gen\n", "gen/d.go": "old(4)\n",
	"app/[id].go": "old(5)\n", "app/i.go": "old(6)\n",
}

func TestEditFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		args object
		want map[string]string // the files that change
		text string            // what the text begins with
	}{
		{"glob", object{"path": "src/**/*.go", "oldText": "old", "newText": "new", "replaceAll": true},
			map[string]string{"src/a.go": "new(1)\nnew(2)\n", "src/deep/b.go": "\ufeffx\r\nnew(3)\r\n"},
			"Edited 2 files (3 replacements). Left out: src/bin.go (binary).\nsrc/a.go: 2\nsrc/deep/b.go: 1\n--- a/src/a.go\n"},
		{"rooted", object{"path": "/src/*.go", "oldText": "old", "newText": "new", "replaceAll": true},
			map[string]string{"src/a.go": "new(1)\nnew(2)\n"}, "Edited 1 file (2 replacements)"},
		{"count", object{"path": "{src/**/*.go,gen/*}", "oldText": "old(", "newText": "new(", "expectedCount": 3},
			map[string]string{"src/a.go": "new(1)\nnew(2)\n", "src/deep/b.go": "\ufeffx\r\nnew(3)\r\n"}, "Edited 2 files (3 replacements)"},
		{"regexp", object{"path": "src/**", "oldText": `^old\((\d)\)$`, "newText": "$1\nold", "regexp": true},
			map[string]string{"src/a.go": "1\nold\n2\nold\n", "src/deep/b.go": "\ufeffx\r\n3\r\nold\r\n"}, "Edited 2 files (3 replacements)"},
		{"several", object{"path": "src/**", "edits": []object{{"oldText": "none", "newText": "some", "replaceAll": true}, {"oldText": "x", "newText": "y", "replaceAll": true}}},
			map[string]string{"src/c.go": "some\n", "src/deep/b.go": "\ufeffy\r\nold(3)\r\n"}, "Edited 2 files (2 replacements)"},
		{"name-with-brackets", object{"path": "app/[id].go", "oldText": "old", "newText": "new", "replaceAll": true},
			map[string]string{"app/[id].go": "new(5)\n"}, "Edited app/[id].go (1 replacement"},
		{"name-with-brackets-once", object{"path": "app/[id].go", "oldText": "old", "newText": "new"},
			map[string]string{"app/[id].go": "new(5)\n"}, "Edited app/[id].go (1 replacement"},
		{"tolerant", object{"path": "src/**", "oldText": "old(1)  \nold(2)", "newText": "new", "replaceAll": true, "tolerant": true},
			map[string]string{"src/a.go": "new\n"}, "Edited 1 file (1 replacement). It matched but for line ends or trailing blanks. Left out: src/bin.go (binary).\nsrc/a.go: 1\n---"},
	} {
		t.Run(c.name, func(t *testing.T) {
			set, ws := newSet(t, manyFiles, nil)
			c.args["dryRun"] = true
			dry := call(t, set, "edit_file", c.args)
			contains(t, "text of the dry run", dry.Text, strings.Replace(c.text, "Edited", "Dry run, nothing written: would edit", 1))
			holdAll(t, ws, nil)
			delete(c.args, "dryRun")
			result := call(t, set, "edit_file", c.args)
			if !strings.HasPrefix(result.Text, c.text) {
				t.Errorf("text = %s, want %s", result.Text, c.text)
			}
			holdAll(t, ws, c.want)
			if files, _ := members(t, result.Structured)["files"].([]any); len(files) > 0 && len(files) != len(c.want) {
				t.Errorf("files = %v, want %d", files, len(c.want))
			}
			if diff := cmp.Diff(members(t, result.Structured)["diff"], members(t, dry.Structured)["diff"]); diff != "" {
				t.Errorf("diff of the dry run (-want +got):\n%s", diff)
			}
		})
	}
}

// holdAll checks what the files of manyFiles hold, some of them changed.
func holdAll(t *testing.T, ws *workspace.Workspace, changed map[string]string) {
	t.Helper()
	for name, want := range manyFiles {
		if now, ok := changed[name]; ok {
			want = now
		}
		if data, err := ws.ReadFile(t.Context(), name); err != nil || string(data) != want {
			t.Errorf("%s holds %q, %v, want %q", name, data, err, want)
		}
	}
}

func TestEditFilesErrors(t *testing.T) {
	set, ws := newSet(t, manyFiles, &workspace.Options{MaxFileSize: 1000})
	for _, c := range []struct {
		name    string
		args    object
		code    tools.Code
		message string
		hint    string
	}{
		{"no-file", object{"path": "lib/*.go", "oldText": "a", "newText": "b", "replaceAll": true}, tools.CodeNotExist, "lib/*.go: file does not exist: the glob matches no file", "Globs know"},
		{"ignored", object{"path": "gen/*.go", "oldText": "old", "newText": "b", "replaceAll": true}, tools.CodeNotExist, "gen/*.go: file does not exist: the glob matches only .git and what .gitignore excludes", "one by one"},
		{"no-text", object{"path": "src/*.go", "oldText": "ZZ", "newText": "b", "replaceAll": true}, tools.CodeTextNotFound, "not in any file that the glob matches", "Left out: src/bin.go (binary). Nothing was written"},
		{"one-of-several", object{"path": "src/*.go", "edits": []object{{"oldText": "old", "newText": "b", "replaceAll": true}, {"oldText": "ZZ", "newText": "b", "replaceAll": true}}}, tools.CodeTextNotFound, "edits[1]: not in any file", "Nothing was written"},
		{"count", object{"path": "src/**/*.go", "oldText": "old", "newText": "b", "expectedCount": 2}, tools.CodeTextNotUnique, "it occurs 3 times, not 2", "src/a.go: 2, src/deep/b.go: 1"},
		{"once", object{"path": "src/*.go", "oldText": "old", "newText": "b"}, tools.CodeNotExist, "src/*.go: file does not exist", "set replaceAll"},
		{"insert", object{"path": "src/*.go", "insertLine": 1, "newText": "b"}, tools.CodeNotExist, "src/*.go", "insertLine is for one file"},
		{"insert-and-regexp", object{"path": "src/*.go", "insertLine": 1, "newText": "b", "regexp": true}, tools.CodeNotExist, "src/*.go", "insertLine is for one file"},
		{"insert-among-others", object{"path": "src/*.go", "regexp": true, "edits": []object{{"oldText": "old", "newText": "b"}, {"insertLine": 1, "newText": "b"}}}, tools.CodeNotExist, "src/*.go", "insertLine is for one file"},
		{"partly-once", object{"path": "src/*.go", "edits": []object{{"oldText": "old", "newText": "b", "replaceAll": true}, {"oldText": "none", "newText": "b"}}}, tools.CodeNotExist, "src/*.go", "set replaceAll"},
		{"edits-and-count", object{"path": "src/*.go", "edits": []object{{"oldText": "old", "newText": "b"}}, "expectedCount": 3}, tools.CodeInvalidArguments, `"edits" cannot be given together`, "Give either edits"},
		{"no-text-given", object{"path": "src/*.go", "newText": "b"}, tools.CodeInvalidArguments, `missing required parameter "oldText"`, ""},
		{"pattern", object{"path": "src/[", "oldText": "old", "newText": "b", "replaceAll": true}, tools.CodePattern, "src/[", "Globs know"},
		{"regexp", object{"path": "src/*", "oldText": "(", "newText": "b", "regexp": true}, tools.CodePattern, "oldText is no regular expression", "RE2"},
		{"invalid", object{"path": "src/*", "oldText": "a", "newText": "a", "replaceAll": true}, tools.CodeInvalidArguments, "are the same", ""},
		{"outside", object{"path": "../*.go", "oldText": "old", "newText": "b", "replaceAll": true}, tools.CodeInvalid, "leads out", ""},
		{"indentation", object{"path": "src/*.go", "oldText": "\told(1)", "newText": "new(1)", "replaceAll": true, "tolerant": true}, tools.CodeTextNotFound, "src/a.go: text not found", "indent it as oldText is"},
		{"too-large", object{"path": "src/*.go", "oldText": "old", "newText": strings.Repeat("b", 999), "replaceAll": true}, tools.CodeTooLarge, "src/a.go", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := bad(t, set, "edit_file", c.args, c.code)
			contains(t, "message", err.Message, c.message)
			contains(t, "hint", err.Hint, c.hint)
			holdAll(t, ws, nil)
		})
	}
	// A file that was left out is no file that lacks the text.
	err := bad(t, set, "edit_file", object{"path": "src/b*.go", "oldText": "old", "newText": "new", "replaceAll": true}, tools.CodeTextNotFound)
	contains(t, "message", err.Message, "not in any file that the glob matches")
	contains(t, "hint", err.Hint, "Left out: src/bin.go (binary). Nothing was written.")
	many := map[string]string{}
	for i := range 1001 {
		many[fmt.Sprintf("%d.txt", i)] = "old"
	}
	set, _ = newSet(t, map[string]string{"a.txt": "old\n", "b.txt": "old caf\xe9\n"}, nil)
	err = bad(t, set, "edit_file", object{"path": "*.txt", "oldText": "old", "newText": "Ж", "replaceAll": true}, tools.CodeInvalidArguments)
	contains(t, "message", err.Message, "b.txt: the file keeps its encoding, and Latin-1 has no character 'Ж' (line 1)")
	set, _ = newSet(t, many, nil)
	err = bad(t, set, "edit_file", object{"path": "*.txt", "oldText": "old", "newText": "new", "replaceAll": true}, tools.CodeInvalidArguments)
	contains(t, "message", err.Message, "more than 1000 files")
	good(t, set, "edit_file", object{"path": "[0-8]*.txt", "oldText": "old", "newText": "new", "replaceAll": true})
	large := map[string]string{}
	for _, name := range []string{"a", "b", "c", "d"} {
		large[name+".txt"] = "old" + strings.Repeat("a", 9<<20)
	}
	set, _ = newSet(t, large, nil)
	err = bad(t, set, "edit_file", object{"path": "*.txt", "oldText": "old", "newText": "new", "replaceAll": true}, tools.CodeInvalidArguments)
	contains(t, "message", err.Message, "the changed files have more than 64 MiB together, before and after")
}

// TestEditFilesSymlinks edits files beside symlinks to a file, to directories, to nothing and
// to themselves. A glob edits none of them.
func TestEditFilesSymlinks(t *testing.T) {
	dir := t.TempDir()
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	put(t, fsys, "a.go", "old\n")
	put(t, fsys, "src/b.go", "old\n")
	for name, target := range map[string]string{"dir.go": "src", "file.go": "a.go", "loop.go": "loop.go", "missing.go": "no", "out.go": t.TempDir()} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	set := newSetOf(t, workspace.New("test", fsys, nil), nil)
	got := good(t, set, "edit_file", object{"path": "**", "oldText": "old", "newText": "new", "replaceAll": true})
	want := []any{"dir.go (a symlink)", "file.go (a symlink)", "loop.go (a symlink)", "missing.go (a symlink)", "out.go (a symlink)"}
	if diff := cmp.Diff(want, got["skipped"]); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	holds(t, fsys, "a.go", "new\n")
	holds(t, fsys, "src/b.go", "new\n")
	failed := bad(t, set, "edit_file", object{"path": "*.go", "oldText": "none", "newText": "", "replaceAll": true}, tools.CodeTextNotFound)
	if strings.Contains(failed.Message, "2 files") { // file.go is a.go
		t.Errorf("message = %q, which counts a symlink", failed.Message)
	}
}

// racing lets somebody else change one file before each write, and refuses another.
type racing struct {
	*memory.FS
}

func (r racing) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	switch name {
	case "src/a.go":
		if _, err := r.FS.WriteFile(ctx, name, []byte("theirs\n"), nil); err != nil {
			return "", err
		}
	case "src/c.go":
		return "", ops.Error(ops.WriteFile, name, workspace.ErrPolicy, nil)
	}
	return r.FS.WriteFile(ctx, name, data, opts)
}

// TestEditFilesPartly tests that of several writes the error says which failed.
func TestEditFilesPartly(t *testing.T) {
	inner := memory.New(nil)
	for name, content := range map[string]string{"src/a.go": "old\n", "src/b.go": "old\n", "src/c.go": "old\n", "src/d.go": "old old\n"} {
		put(t, inner, name, content)
	}
	ws := workspace.New("test", racing{inner}, nil)
	err := bad(t, newSetOf(t, ws, nil), "edit_file", object{"path": "src/*", "oldText": "old", "newText": "new", "replaceAll": true}, tools.CodeConflict)
	want := "Failed: src/a.go: file has changed; src/c.go: forbidden by policy. Edited were: src/b.go, src/d.go."
	contains(t, "message", err.Message, "src/a.go: file has changed; edited: 2 of 4 files")
	if err.Path != "src/a.go" || err.Hint != want {
		t.Errorf("path = %s, hint = %q, want src/a.go and %q", err.Path, err.Hint, want)
	}
	for name, want := range map[string]string{"src/a.go": "theirs\n", "src/b.go": "new\n", "src/c.go": "old\n", "src/d.go": "new new\n"} {
		holds(t, ws, name, want)
	}
}

// unreachable is a store that is not reached for a write of "b" any more.
type unreachable struct{ *memory.FS }

func (u unreachable) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	if name == "b" {
		return "", ops.Error(ops.WriteFile, name, workspace.ErrUnavailable, nil)
	}
	return u.FS.WriteFile(ctx, name, data, opts)
}

// TestEditFilesRetryable tests that only a call that has changed nothing is said to be worth
// another attempt: it would edit again what it has edited.
func TestEditFilesRetryable(t *testing.T) {
	t.Parallel()
	fsys := memory.New(nil)
	put(t, fsys, "a", "old\n")
	put(t, fsys, "b", "old\n")
	set := newSetOf(t, workspace.New("test", unreachable{fsys}, nil), nil)
	for path, want := range map[string]bool{"[ab]": false, "[b]": true} {
		err := bad(t, set, "edit_file", object{"path": path, "oldText": "old", "newText": "old old", "replaceAll": true}, tools.CodeUnavailable)
		if err.Retryable != want {
			t.Errorf("edit_file of %s is retryable: %t, want %t", path, err.Retryable, want)
		}
	}
}

// TestEditFilesOfSession tests that all the files that a session has not read are
// listed, and that rules hold for each file.
func TestEditFilesOfSession(t *testing.T) {
	set, ws := newSet(t, manyFiles, nil)
	careful := newSetOf(t, ws, &tools.Options{ReadBeforeWrite: []string{"test"}})
	args := object{"path": "src/**/*.go", "oldText": "old", "newText": "new", "replaceAll": true}
	good(t, careful, "edit_file", object{"path": "src/**/*.go", "oldText": "old", "newText": "new", "replaceAll": true, "dryRun": true})
	contains(t, "hint", bad(t, careful, "edit_file", args, tools.CodeReadRequired).Hint, "Read these 2 files first: src/a.go, src/deep/b.go.")
	good(t, careful, "read_file", object{"path": "src/a.go"})
	if err := bad(t, careful, "edit_file", args, tools.CodeReadRequired); err.Path != "src/deep/b.go" {
		t.Errorf("error = %+v, want src/deep/b.go", err)
	}
	good(t, careful, "read_file", object{"path": "src/deep/b.go"})
	good(t, set, "edit_file", object{"path": "src/a.go", "oldText": "(1)", "newText": "(one)"})
	bad(t, careful, "edit_file", args, tools.CodeConflict)
	good(t, careful, "read_file", object{"path": "src/a.go"})
	good(t, careful, "edit_file", args)
	good(t, careful, "edit_file", object{"path": "src/**/*.go", "oldText": "new", "newText": "old", "replaceAll": true})

	rules := policy.Rules{ReadOnlyPaths: []string{"src/deep"}, DeniedPaths: []string{"src/c.go"}}
	fsys, err := policy.Restrict(ws, rules)
	if err != nil {
		t.Fatal(err)
	}
	strict := newSetOf(t, workspace.New("test", fsys, nil), nil)
	failed := bad(t, strict, "edit_file", args, tools.CodePolicy)
	contains(t, "hint", failed.Hint, "Failed: src/deep/b.go", "Edited were: src/a.go.")
	bad(t, strict, "edit_file", object{"path": "src/*.go", "oldText": "none", "newText": "new", "replaceAll": true}, tools.CodeTextNotFound)
	holds(t, ws, "src/c.go", "none\n")
}

func TestEditFilesPreflight(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a.go": "old\n", "b.go": "x\n"}, nil)
	args := object{"path": "*.go", "oldText": "old", "newText": "new", "replaceAll": true}
	want := []policy.Request{
		{Op: policy.OpList, Path: "*.go"}, {Op: policy.OpList, Path: "."}, {Op: policy.OpRead, Path: "a.go"}, {Op: policy.OpRead, Path: "b.go"},
		{Op: policy.OpEdit, Path: "a.go", Diff: "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-old\n+new\n"},
	}
	got, err := preflight(t, set, "edit_file", args)
	if diff := cmp.Diff(want, got, ofAny); diff != "" || err != nil {
		t.Errorf("Preflight = %v (-want +got):\n%s", err, diff)
	}
	args["dryRun"] = true
	got, err = preflight(t, set, "edit_file", args)
	if diff := cmp.Diff(want[:4], got, ofAny); diff != "" || err != nil {
		t.Errorf("Preflight of a dry run = %v (-want +got):\n%s", err, diff)
	}
}

// TestInsertOfSession tests which lines a session must have been shown.
func TestInsertOfSession(t *testing.T) {
	_, ws := newSet(t, map[string]string{"a": "1\n2\n3\n4\n5\n"}, nil)
	set := newSetOf(t, ws, &tools.Options{ReadBeforeWrite: []string{"test"}})
	good(t, set, "read_file", object{"path": "a", "line": 4})
	bad(t, set, "edit_file", object{"path": "a", "insertLine": 3, "newText": "x"}, tools.CodeReadRequired)
	good(t, set, "edit_file", object{"path": "a", "insertLine": 6, "newText": "6"})
	good(t, set, "edit_file", object{"path": "a", "insertLine": 4, "newText": "3.5"})
	good(t, set, "edit_file", object{"path": "a", "oldText": "3.5", "newText": "x"})
	good(t, set, "edit_file", object{"path": "a", "oldText": "6", "newText": "y"})
	bad(t, set, "edit_file", object{"path": "a", "oldText": "3", "newText": "z"}, tools.CodeReadRequired)
	holds(t, ws, "a", "1\n2\n3\nx\n4\n5\ny\n")
}
