package tools_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// task is a piece of work that a model does with the tools alone.
type task struct {
	files  func() map[string]string      // what the workspace has at the beginning
	want   func(files map[string]string) // makes of them what it has at the end
	answer string                        // what the last result says; empty if nothing was asked
}

// tasks are those in testdata/tasks, whose calls are what a model makes that knows the
// tools.
var tasks = map[string]task{
	"rename": {files: goFiles, want: func(files map[string]string) {
		for name, content := range files {
			if strings.HasSuffix(name, ".go") {
				files[name] = regexp.MustCompile(`\bLoadConfig\b`).ReplaceAllString(content, "ReadConfig")
			}
		}
	}},
	"message": {files: goFiles, want: func(files map[string]string) {
		for name, content := range files {
			if strings.HasSuffix(name, ".go") {
				files[name] = strings.ReplaceAll(content, "cannot open file", "file does not open")
			}
		}
	}},
	"log": {files: logFiles, want: func(map[string]string) {}, answer: "user=ana"},
	"crlf": {files: crlfFiles, want: func(files map[string]string) {
		text := strings.Replace(files["settings.ini"], "port=8080\r\n", "port=9090\r\ntls=on\r\n", 1)
		files["settings.ini"] = strings.Replace(text, "level=debug", "level=info", 1)
	}},
	"minified": {files: minifiedFiles, want: func(files map[string]string) {
		files["app.min.js"] = strings.Replace(files["app.min.js"], "timeoutMs:3000", "timeoutMs:10000", 1)
	}},
	"table": {files: goFiles, want: func(files map[string]string) {
		files["TODO.md"] = "| file | owner | what |\n|---|---|---|\n" +
			"| app/f02.go | ana | close the file |\n| app/f05.go | ben | test this |\n| app/f11.go | ana | use a map |\n"
	}},
	"move": {files: goFiles, want: func(files map[string]string) {
		for _, name := range []string{"tree.go", "tree_test.go", "walk.go"} {
			files["internal/tree/"+name] = strings.ReplaceAll(files["util/"+name], "package util", "package tree")
			delete(files, "util/"+name)
		}
	}},
}

// goFiles are those of a small program.
func goFiles() map[string]string {
	files := map[string]string{
		"CHANGELOG.md": "# Changes\n\n- LoadConfig says \"cannot open file\".\n",
		"app/load.go": "package app\n\n// LoadConfig reads a file. LoadConfigFrom reads a stream.\nfunc LoadConfig(name string) error {\n" +
			"\treturn fmt.Errorf(\"cannot open file %s\", name)\n}\n\nfunc LoadConfigFrom(r io.Reader) error { return nil }\n",
		"app/load_test.go":  "package app\n\nfunc TestLoadConfig(t *testing.T) {\n\terr := LoadConfig(\"none\")\n\tif err.Error() != \"cannot open file none\" {\n\t\tt.Error(err)\n\t}\n}\n",
		"cmd/main.go":       "package main\n\nfunc main() {\n\tif err := app.LoadConfig(\"a.ini\"); err != nil {\n\t\tlog.Fatal(err)\n\t}\n}\n",
		"cmd/main_test.go":  "package main\n\nconst want = \"cannot open file a.ini\"\n",
		"util/tree.go":      "package util\n\n// Tree is a tree.\ntype Tree struct{}\n",
		"util/tree_test.go": "package util\n\nfunc TestTree(t *testing.T) {}\n",
		"util/walk.go":      "package util\n\nfunc Walk(t *Tree) {}\n",
		"util/text.go":      "package util\n\nfunc Upper(s string) string { return s }\n",
		"util/text_test.go": "package util\n\nfunc TestUpper(t *testing.T) {}\n",
	}
	todos := map[int]string{2: "\t// TODO(ana): close the file\n", 5: "\t// TODO(ben): test this\n", 11: "\t// TODO(ana): use a map\n"}
	for i := range 12 {
		use := ""
		if i%3 == 0 {
			use = "\t_ = LoadConfig(name)\n"
		}
		files[fmt.Sprintf("app/f%02d.go", i)] = fmt.Sprintf("package app\n\nfunc step%d(name string) {\n%s%s}\n", i, todos[i], use)
	}
	return files
}

// logFiles have a log of 9 MB, in which one request fails.
func logFiles() map[string]string {
	var log strings.Builder
	for i := range 100_000 {
		who := [...]string{"ben", "cleo", "dan"}[i%3]
		if i == 70_007 {
			who = "ana"
		}
		fmt.Fprintf(&log, "2026-03-01T%02d:%02d:%02dZ INFO  request=%06d user=%s path=/orders/%d\n", i/3600%24, i/60%60, i%60, i, who, i*7%9973)
		if i == 70_010 {
			log.WriteString("2026-03-01T19:26:51Z ERROR request=070007 payment failed: card expired\n")
		}
		if i%40 == 0 {
			log.WriteString("2026-03-01T00:00:00Z WARN  queue is long, retrying: no ERROR yet, see https://example.com/queue\n")
		}
	}
	return map[string]string{"server.log": log.String(), "notes.txt": "The server logs to server.log.\n"}
}

// crlfFiles have a file as some editors write it.
func crlfFiles() map[string]string {
	return map[string]string{"settings.ini": "\ufeff[server]\r\nhost=localhost\r\nport=8080\r\n\r\n[log]\r\nlevel=debug\r\nfile=out.log\r\n"}
}

// minifiedFiles have one line of 400 KB.
func minifiedFiles() map[string]string {
	var js strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&js, "a%d={n:%d,f:x=>x};", i, i)
		if i == 12_345 {
			js.WriteString("net={retries:3,timeoutMs:3000,url:\"/api\"};")
		}
	}
	return map[string]string{"app.min.js": js.String()}
}

// The most calls and characters that all tasks may take together.
const (
	taskCalls      = 20
	taskCharacters = 8000
)

// TestTasks plays the calls of each task in testdata/tasks on each store. A line
// "$ TOOL ARGUMENTS" is a call, the text of its result follows, and the last line has
// the number of calls and the characters of arguments and results. With -update, the
// results and figures are rewritten, from memory.
func TestTasks(t *testing.T) {
	exhaustive.Long(t)
	calls, characters := 0, 0
	for _, name := range slices.Sorted(maps.Keys(tasks)) {
		file := filepath.Join("testdata", "tasks", name+".golden")
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			raw = []byte(tasks[name].play(t, stores["memory"](t), string(raw)))
			if err := os.WriteFile(file, raw, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var n, c int
		script := strings.TrimSpace(string(raw))
		if _, err := fmt.Sscanf(script[strings.LastIndex(script, "\n")+1:], "= %d calls, %d characters", &n, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		calls, characters = calls+n, characters+c
		for store, open := range stores {
			t.Run(name+"/"+store, func(t *testing.T) {
				t.Parallel()
				if diff := cmp.Diff(string(raw), tasks[name].play(t, open(t), string(raw))); diff != "" {
					t.Errorf("%s differs; -update rewrites it (-want +got):\n%s", file, diff)
				}
			})
		}
	}
	t.Logf("all tasks: %d calls, %d characters", calls, characters)
	if calls > taskCalls || characters > taskCharacters {
		t.Errorf("all tasks take %d calls and %d characters, want at most %d and %d", calls, characters, taskCalls, taskCharacters)
	}
}

// play makes the calls in script and returns them with their results. It checks the
// files that they leave.
func (k task) play(t *testing.T, fsys workspace.FileSystem, script string) string {
	t.Helper()
	files := k.files()
	for name, content := range files {
		put(t, fsys, name, content)
	}
	set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Naming: "{op}"})
	var out strings.Builder
	calls, characters, last := 0, 0, ""
	for line := range strings.Lines(script) {
		if strings.HasPrefix(line, "# ") && calls == 0 {
			out.WriteString(line + "\n")
		}
		command, isCall := strings.CutPrefix(line, "$ ")
		if !isCall {
			continue
		}
		op, args, _ := strings.Cut(strings.TrimSpace(command), " ")
		tool, ok := set.Lookup(op)
		if !ok {
			t.Fatalf("no tool %s", op)
		}
		result, err := tool.Call(t.Context(), json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		if last = result.Text; result.IsError {
			t.Errorf("%s(%s) = %s", op, args, last)
		}
		text := versions.ReplaceAllString(last, "${1}****************") // as long as most are
		calls++
		characters += utf8.RuneCountInString(args) + utf8.RuneCountInString(text)
		fmt.Fprintf(&out, "%s%s\n\n", line, strings.TrimSuffix(text, "\n"))
	}
	k.check(t, fsys, files, last)
	fmt.Fprintf(&out, "= %d calls, %d characters\n", calls, characters)
	return out.String()
}

// check wants the answer in the last result, and the files as the task changes them.
func (k task) check(t *testing.T, fsys workspace.FileSystem, files map[string]string, last string) {
	t.Helper()
	if !strings.Contains(last, k.answer) {
		t.Errorf("the last result does not say %q:\n%s", k.answer, last)
	}
	k.want(files)
	var want strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&want, "%s %q\n", name, files[name])
	}
	if got := contents(t, fsys); got != want.String() {
		t.Errorf("the files at the end (-want +got):\n%s\nlast result:\n%s", cmp.Diff(want.String(), got), last)
	}
}
