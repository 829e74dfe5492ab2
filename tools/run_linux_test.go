package tools_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/enginetest"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/shell/bashtool"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/audit"
	"github.com/workspacekit/workspacekit/workspace/observe"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// eachMachine runs test on a folder of this computer through the shells of a container, and
// on one of localbash, in a sandbox if there is one.
func eachMachine(t *testing.T, test func(t *testing.T, files workspace.FileSystem)) {
	t.Parallel()
	for name, open := range map[string]func(dir string) (workspace.FileSystem, error){
		"container": func(dir string) (workspace.FileSystem, error) {
			return container.Open(t.Context(), &container.Options{Executor: container.Command{}, Root: dir})
		},
		"localbash": func(dir string) (workspace.FileSystem, error) {
			return localbash.Open(dir, &localbash.Options{Run: &localbash.Run{Sandbox: localbash.SandboxTry}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exhaustive.Program(t, map[string]string{"container": "setsid", "localbash": "bwrap"}[name])
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
				t.Fatal(err)
			}
			files, err := open(dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { files.(io.Closer).Close() })
			test(t, files)
		})
	}
}

// inDocker runs test on the files of a container of Docker.
func inDocker(t *testing.T, test func(t *testing.T, files workspace.FileSystem)) {
	t.Run("docker", func(t *testing.T) {
		t.Parallel()
		if testing.Short() {
			t.Skip("-short: this computer is enough")
		}
		found := enginetest.Lookup(t, "WORKSPACEKIT_DOCKER_HOST", "WORKSPACEKIT_BUSYBOX_IMAGE")
		files, err := container.Open(t.Context(), &container.Options{
			Engine: []string{"docker", "--host", found[0]}, Image: found[1], Create: container.CreateOptions{Workdir: "/w"},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { files.Close() })
		test(t, files)
	})
}

func TestRun(t *testing.T) { eachMachine(t, testRun) }

func testRun(t *testing.T, files workspace.FileSystem) {
	set := newRunSet(t, files, &tools.Options{})
	if got := call(t, set, "run", object{"command": "echo out; echo err >&2; pwd | sed 's,.*/,,'; exit 3", "dir": "d"}); got.IsError || got.Text != "out\nerr\nd\n[exit code 3]" {
		t.Errorf("run = %+v", got)
	}
	if got := call(t, set, "run", object{"command": ":"}).Text; got != "(no output)" {
		t.Errorf("run of nothing = %q", got)
	}
	if got := call(t, set, "run", object{"command": "kill -9 $$"}).Text; got != "[ended by the signal KILL]" {
		t.Errorf("run of what is killed = %q", got)
	}
	if got := call(t, set, "run", object{"command": "echo begun; sleep 60", "timeout": 1}).Text; got != "begun\n[it was killed after 1s]" {
		t.Errorf("run with a timeout = %q", got)
	}
	if got := call(t, set, "run", object{"command": ":", "dir": "none"}); !got.IsError || got.Error.Code != tools.CodeNotExist {
		t.Errorf("run in no directory = %+v", got)
	}
	if _, ok := newSetOf(t, workspace.New("main", memory.New(nil), nil), &tools.Options{Run: true}).Lookup("run"); ok {
		t.Error("there is a tool run without a machine")
	}
}

// TestRunSpills checks that a long output is shortened and can be read whole.
func TestRunSpills(t *testing.T) {
	exhaustive.Long(t)
	eachMachine(t, testRunSpills)
}

func testRunSpills(t *testing.T, files workspace.FileSystem) {
	for _, shell := range []tools.Bash{nil, bashtool.New(nil)} {
		set := newRunSet(t, files, &tools.Options{Bash: shell})
		for n, c := range []struct{ command, head, tail, note, path, last string }{
			{"seq 1 20000", "1\n2\n", "\n20000", "all of it is in /dev/shm/output-1]", "/dev/shm/output-1", "20000"},
			{"seq 1 20000; exit 3", "1\n2\n", "\n20000\n[exit code 3]", "all of it is in /dev/shm/output-2]", "/dev/shm/output-2", "20000"},
			{"seq 1 20000; sleep 60", "1\n2\n", "\n20000\n[it was killed after 1s]", "all of it is in /dev/shm/output-3]", "/dev/shm/output-3", "20000"},
			{"mkdir -p tmp dev/shm; echo x | tee tmp/output-4 dev/shm/output-4; seq 1 20000", "x\n1\n", "\n20000", "all of it is in /dev/shm/output-4]", "/dev/shm/output-4", "20000"},
			{"yes | head -c 17000000; echo end", "y\ny\n", "y\nend", "the first 16777216 bytes are in /dev/shm/output-5]", "/dev/shm/output-5", "y"},
			{"head -c 30000 /dev/zero", "\x00", "\x00", "all of it is in /dev/shm/output-6]", "", ""},
		} {
			args := object{"command": c.command}
			if strings.Contains(c.command, "sleep") {
				args["timeout"] = 1
			}
			long := call(t, set, "run", args)
			if len(long.Text) > 25<<10 || !strings.HasPrefix(long.Text, c.head) || !strings.HasSuffix(long.Text, c.tail) || !strings.Contains(long.Text, c.note) {
				t.Errorf("run %q has %d bytes: %.100s ... %s", c.command, len(long.Text), long.Text, long.Text[max(0, len(long.Text)-100):])
			}
			if got := call(t, set, "read_file", object{"path": "/dev/shm/output-" + strconv.Itoa(n+1), "tail": 1}); c.path == "" {
				if !strings.Contains(got.Text, "not text") {
					t.Errorf("read_file of bytes = %+v", got)
				}
			} else if got.IsError || !strings.Contains(got.Text, "\n"+c.last) {
				t.Errorf("read_file %s = %.300s", c.path, got.Text)
			}
		}
		if shell == nil {
			continue
		}
		if got := call(t, set, "bash", object{"script": "grep -c 77 /dev/shm/output-1"}).Text; got != "560" {
			t.Errorf("grep of an output = %q", got)
		}
		other, err := set.Call(tools.WithSession(t.Context(), tools.NewSession()), "read_file", json.RawMessage(`{"path": "/dev/shm/output-1"}`))
		if err != nil || !other.IsError {
			t.Errorf("another session reads the output: %+v, %v", other, err)
		}
	}
}

// TestRunPages checks the pages of a long output: characters are whole, and what is no
// longer kept is said.
func TestRunPages(t *testing.T) { eachMachine(t, testRunPages) }

func testRunPages(t *testing.T, files workspace.FileSystem) {
	set := newRunSet(t, files, &tools.Options{})
	page := func(offset int64) (text string, out struct {
		Output       string
		Offset, Next int64
		Processes    []struct{ Running bool }
	}) {
		result := call(t, set, "processes", object{"action": "output", "id": "1", "offset": offset})
		if err := json.Unmarshal(result.Structured, &out); err != nil || result.IsError {
			t.Fatalf("%+v, %v", result, err)
		}
		return result.Text, out
	}
	if got := call(t, set, "run", object{"command": "printf '\\303'; while [ ! -e go ]; do sleep 0.05; done; printf '\\251'; yes éa€ | head -c 1200000", "background": true}); got.IsError {
		t.Fatalf("run = %+v", got)
	}
	for text, out := page(0); out.Output != "" || out.Next != 0 || !out.Processes[0].Running; text, out = page(0) {
		t.Fatalf("the page of half a character is %q", text)
	}
	call(t, set, "run", object{"command": ": > go"})
	text, out := page(0)
	for out.Processes[0].Running {
		text, out = page(0)
	}
	if !strings.HasPrefix(text, "[bytes 0 to 151") || !strings.Contains(text, " are no longer kept]\n") || out.Offset < 1200002-1<<20 {
		t.Errorf("the page of what is not kept is %.200s", text)
	}
	all := ""
	for offset := out.Offset; ; offset = out.Next {
		text, out = page(offset)
		if strings.Contains(text, "no longer kept") || strings.Contains(out.Output, "\uFFFD") && out.Next < 1200002 || out.Offset != offset || len(out.Output) > 24<<10 {
			t.Fatalf("the page at %d begins at %d: %.200s", offset, out.Offset, text)
		}
		if all += out.Output; out.Next == 1200002 {
			break
		}
	}
	if rest := strings.TrimPrefix(strings.ReplaceAll(all, "éa€\n", ""), "a€\n"); len(rest) > 8 {
		t.Errorf("besides whole lines, the pages have %q", rest)
	}
}

func TestRunBackground(t *testing.T) { eachMachine(t, testRunBackground) }

func testRunBackground(t *testing.T, files workspace.FileSystem) {
	set := newRunSet(t, files, &tools.Options{})
	if got := call(t, set, "run", object{"command": "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo done; sleep 60", "background": true}); got.IsError || !strings.Contains(got.Text, "[runs in the background, id 1]") {
		t.Fatalf("run = %+v", got)
	}
	call(t, set, "run", object{"command": ": > go"})
	for !strings.Contains(call(t, set, "processes", object{"action": "output", "id": "1"}).Text, "begun\ndone\n[bytes 0 to 11]\n1 running") {
		if t.Context().Err() != nil {
			t.Fatal("the command does not go on")
		}
	}
	if got := call(t, set, "processes", object{"action": "output", "id": "1", "offset": 6}).Text; !strings.HasPrefix(got, "done\n[bytes 6 to 11]") {
		t.Errorf("the output since 6 = %q", got)
	}
	if got := call(t, set, "processes", object{"action": "kill", "id": "1"}).Text; !strings.HasPrefix(got, "1 killed") {
		t.Errorf("kill = %q", got)
	}
	if got := call(t, set, "processes", object{}).Text; !strings.HasPrefix(got, "1 killed, 11 bytes written: echo begun") || !strings.Contains(got, "\n2 ended with 0") {
		t.Errorf("list = %q", got)
	}
	for _, wrong := range []object{{"action": "kill"}, {"action": "output", "id": "9"}, {"action": "kill", "id": "9"}, {"action": "stop", "id": "1"}} {
		if got := call(t, set, "processes", wrong); !got.IsError || got.Error.Code != tools.CodeInvalidArguments {
			t.Errorf("processes %v = %+v, want an error", wrong, got)
		}
	}
	if got := call(t, set, "run", object{"command": ":", "background": true, "timeout": 1}); !got.IsError {
		t.Errorf("run in the background with a timeout = %+v, want an error", got)
	}
	alone := newRunSet(t, files, &tools.Options{Disable: []string{"processes"}})
	if got := call(t, alone, "run", object{"command": ":", "background": true}); !got.IsError || got.Error.Code != tools.CodeInvalidArguments {
		t.Errorf("run in the background without processes = %+v, want an error", got)
	}
	if _, ok := newRunSet(t, files, &tools.Options{Disable: []string{"run"}}).Lookup("processes"); ok {
		t.Error("there is a tool processes without run")
	}
}

// TestRunSessions checks that a session does not see the commands of another, and that
// sessions that are over take no place.
func TestRunSessions(t *testing.T) {
	exhaustive.NotShort(t, "runs commands")
	eachMachine(t, testRunSessions)
}

func testRunSessions(t *testing.T, files workspace.FileSystem) {
	set := newRunSet(t, files, &tools.Options{})
	for range 8 {
		if got := call(t, set, "run", object{"command": "sleep 1000", "background": true}); got.IsError {
			t.Fatalf("run = %+v", got)
		}
	}
	if got := call(t, set, "run", object{"command": ":"}); !got.IsError || got.Error.Code != tools.CodeUnavailable || !strings.Contains(got.Error.Hint, "kill one") {
		t.Errorf("run of a command too many = %+v, want an error until one ends", got)
	}
	in := func(s *tools.Session, op, args string) *tools.Result {
		got, err := set.Call(tools.WithSession(t.Context(), s), op, json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	ended := tools.NewSession()
	if got := in(ended, "run", `{"command": ":"}`); got.IsError {
		t.Fatalf("run = %+v", got)
	}
	if got := in(tools.NewSession(), "run", `{"command": "sleep 1000", "background": true}`); got.IsError {
		t.Fatalf("run = %+v", got)
	}
	for range 40 {
		if got := in(tools.NewSession(), "processes", `{}`); got.IsError || got.Text != "(no commands)" {
			t.Fatalf("processes in another session = %+v", got)
		}
	}
	if got := in(ended, "processes", `{}`); got.IsError || got.Text != "1 ended with 0, 0 bytes written: :" {
		t.Errorf("processes after those in other sessions = %+v, want the command", got)
	}
	if _, local := workspace.As[*localbash.FS](files); !local {
		return // where so many commands take long
	}
	var got *tools.Result
	for range 31 { // and two have running commands
		got = in(tools.NewSession(), "run", `{"command": "sleep 1000", "background": true}`)
	}
	if !got.IsError || got.Error.Code != tools.CodeUnavailable || !strings.Contains(got.Error.Hint, "when others have ended") {
		t.Errorf("run in a session too many = %+v, want an error until others end", got)
	}
}

// TestRunAndSessions checks that a session knows nothing of what a command has changed or
// printed, that a watch sees it, and that a log says that the command ran.
func TestRunAndSessions(t *testing.T) {
	exhaustive.NotShort(t, "runs commands")
	eachMachine(t, testRunAndSessions)
	inDocker(t, testRunAndSessions)
}

func testRunAndSessions(t *testing.T, files workspace.FileSystem) {
	type step struct {
		op   string
		args object
		want tools.Code
	}
	edit := func(path string, want tools.Code) step {
		return step{"edit_file", object{"path": path, "oldText": "one", "newText": "two"}, want}
	}
	run := func(line string) step { return step{"run", object{"command": line}, ""} }
	read := func(path string) step { return step{"read_file", object{"path": path}, ""} }
	events, err := workspace.New("main", files, nil).Watch(t.Context(), ".", &workspace.WatchOptions{Interval: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	logName := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(logName, nil)
	if err != nil {
		t.Fatal(err)
	}
	ws := workspace.New("main", observe.New(files, "main", log), nil)
	set := newSetOf(t, ws, &tools.Options{Run: true, Bash: bashtool.New(nil), ReadBeforeWrite: []string{"main"}})
	for dir, steps := range map[string][]step{
		"changed":        {run("echo one > a"), read("a"), run("echo one more > a"), edit("a", tools.CodeConflict), read("a"), edit("a", "")},
		"appended":       {run("echo one > a"), read("a"), run("echo one >> a"), edit("a", tools.CodeConflict)},
		"same size":      {run("echo one > a"), read("a"), run("touch -r a b; echo ONE > a; touch -r b a"), edit("a", tools.CodeConflict)},
		"replaced":       {run("echo one > a"), read("a"), run("echo one, too > b; mv b a"), edit("a", tools.CodeConflict), edit("b", tools.CodeNotExist)},
		"removed":        {run("echo one > a"), read("a"), run("rm a"), edit("a", tools.CodeNotExist)},
		"written whole":  {run("echo one > a"), read("a"), run("echo two > a"), {"write_file", object{"path": "a", "content": "x"}, tools.CodeConflict}},
		"rm":             {run("echo one > a"), read("a"), run("echo two > a"), {"rm", object{"path": "a"}, tools.CodeConflict}},
		"a script":       {run("echo one > a"), read("a"), run("echo two > a"), {"bash", object{"script": "echo x > a"}, ""}, run("grep -q two a")},
		"printed":        {run("echo one > a; cat a"), edit("a", tools.CodeReadRequired)},
		"printed by cat": {run("echo one > a"), run("cat a"), {"write_file", object{"path": "a", "content": "x"}, tools.CodeReadRequired}},
		"background":     {run("echo one > a"), read("a"), {"run", object{"command": "echo two > a", "background": true}, ""}, run("until grep -q two a; do :; done"), edit("a", tools.CodeConflict)},
		"not changed":    {run("echo one > a"), read("a"), run("cat a > /dev/null"), edit("a", "")},
	} {
		dir = strings.ReplaceAll(dir, " ", "-")
		if err := files.Mkdir(t.Context(), dir, nil); err != nil {
			t.Fatal(err)
		}
		session := tools.NewSession()
		for i, s := range steps {
			if _, ok := s.args["path"]; ok {
				s.args["path"] = dir + "/" + s.args["path"].(string)
			} else {
				s.args["dir"] = dir
			}
			args, err := json.Marshal(s.args)
			if err != nil {
				t.Fatal(err)
			}
			got, err := set.Call(tools.WithSession(t.Context(), session), s.op, args)
			code := tools.Code("")
			if err == nil && got.IsError {
				code = got.Error.Code
			}
			if err != nil || code != s.want || s.op == "run" && strings.Contains(got.Text, "[exit code") {
				t.Errorf("%s: step %d, %s %s = %+v, %v, want code %q", dir, i+1, s.op, args, got, err, s.want)
			}
		}
		session.Close()
	}
	for seen := map[string]bool{}; !seen["changed/a"] || !seen["same-size/b"]; {
		event, ok := <-events
		if !ok {
			t.Fatalf("the watch has ended, and has seen %v", seen)
		}
		if event.Op == workspace.EventOverflow {
			break
		}
		seen[event.Path] = true
	}
	entries, err := os.ReadFile(logName)
	if err != nil {
		t.Fatal(err)
	}
	if commands := regexp.MustCompile(`"session":"[^"]+","workspace":"main","op":"run","path":"(changed|background)"`).FindAll(entries, -1); len(commands) != 5 {
		t.Errorf("the log has %d commands, want 5: %.1000s", len(commands), entries)
	}
}

// TestRunAsks checks that a rule that asks refuses a command where nobody can be asked.
func TestRunAsks(t *testing.T) { eachMachine(t, testRunAsks) }

func testRunAsks(t *testing.T, files workspace.FileSystem) {
	restricted, err := policy.Restrict(files, policy.Rules{FirstMatch: []policy.Rule{{Ask: []policy.Op{policy.OpRun}, Paths: []string{"**"}}}})
	if err != nil {
		t.Fatal(err)
	}
	set := newRunSet(t, restricted, &tools.Options{})
	for _, background := range []bool{false, true} {
		if got := call(t, set, "run", object{"command": "echo x", "background": background}); !got.IsError || got.Error.Code != tools.CodePolicy {
			t.Errorf("run = %+v, want that it is refused", got)
		}
	}
}
