package tools_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/shell/bashtool"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// newBashSet returns the tools of workspaces in memory with the tool bash.
func newBashSet(t *testing.T, files map[string]string, opts *tools.Options, names ...string) *tools.Set {
	t.Helper()
	var all []*workspace.Workspace
	for _, name := range names {
		ws := workspace.New(name, memory.New(nil), nil)
		for file, content := range files {
			if _, err := ws.WriteFile(t.Context(), file, []byte(content), nil); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, ws)
	}
	opts.Bash = bashtool.New(nil)
	set, err := tools.NewAll(all, opts)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestBashOfDamagedSession tests that a shell that cannot be restored fails one call.
func TestBashOfDamagedSession(t *testing.T) {
	t.Parallel()
	set := newBashSet(t, nil, &tools.Options{}, "main")
	var session tools.Session
	if err := json.Unmarshal([]byte(`{"files": [], "shell": {"dir": 5}}`), &session); err != nil {
		t.Fatal(err)
	}
	tool, _ := set.Lookup("bash")
	for i, want := range []string{"INTERNAL: the shell of the session could not be restored\nThe next call begins a new one, without its directory, variables and functions.", "x"} {
		result, err := tool.Call(tools.WithSession(t.Context(), &session), json.RawMessage(`{"script": "echo x"}`))
		if err != nil || result.Text != want {
			t.Errorf("call %d = %v, %v, want %q", i, result, err, want)
		}
	}
}

// TestBashReadsLargeFiles tests that the hint about a file above the limit names the tool that
// can read it.
func TestBashReadsLargeFiles(t *testing.T) {
	t.Parallel()
	files := memory.New(nil)
	if _, err := files.WriteFile(t.Context(), "a.txt", []byte("0123456789\n"), nil); err != nil {
		t.Fatal(err)
	}
	ws := workspace.New("main", files, &workspace.Options{MaxFileSize: 5})
	set, err := tools.New(ws, &tools.Options{Bash: bashtool.New(nil)})
	if err != nil {
		t.Fatal(err)
	}
	refused := bad(t, set, "read_file", object{"path": "a.txt"}, tools.CodeTooLarge)
	if want := "This tool takes no file above the limit. Scripts of workspace__main__bash can read and search it."; !strings.HasPrefix(refused.Hint, want) {
		t.Errorf("the hint is %q, want %q in it", refused.Hint, want)
	}
	if result := call(t, set, "bash", object{"script": "grep -c 9 a.txt"}); result.IsError || result.Text != "1" {
		t.Errorf("the result is %q", result.Text)
	}
}

func TestBash(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "waits for a script")
	set := newBashSet(t, map[string]string{"d/a.txt": "a\n"}, &tools.Options{}, "main")
	tool, ok := set.Lookup("bash")
	if !ok || tool.Name != "workspace__main__bash" {
		t.Fatalf("the tool is %v", tool)
	}
	for _, names := range [][]string{{"main"}, {"repo", "lake", "scratch"}} { // OpenAI takes no more
		tool, _ := newBashSet(t, nil, &tools.Options{}, names...).Lookup("bash")
		if n := len(tool.Description()); n > 1024 {
			t.Errorf("the description has %d characters:\n%s", n, tool.Description())
		}
		if one := strings.Contains(tool.Description(), "unless the workspace has a tmp"); one != (len(names) == 1) {
			t.Errorf("the description of %v says of /tmp:\n%s", names, tool.Description())
		}
	}
	beside, _ := newBashSet(t, nil, &tools.Options{}, "repo", "tmp").Lookup("bash")
	if text := beside.Description(); strings.Contains(text, "/tmp is scratch space") || !strings.Contains(text, "/dev/shm is scratch space") {
		t.Errorf("the description beside a workspace tmp says:\n%s", text)
	}
	result := call(t, set, "bash", object{"script": "cd d; x=1; cat a.txt > b.txt; echo hi >&2; exit 3"})
	if result.IsError || !strings.HasPrefix(result.Text, "hi\n[exit code 3]\n[wrote d/b.txt (version ") {
		t.Errorf("the result is %q", result.Text)
	}
	if got := call(t, set, "bash", object{"script": "pwd; echo $x"}).Text; got != "/d\n1" {
		t.Errorf("the next call has %q", got)
	}
	if got := call(t, set, "bash", object{"script": ":", "dir": "/"}).Text; got != "(no output)" {
		t.Errorf("nothing is %q", got)
	}
	if result := call(t, set, "bash", object{"script": ":", "dir": "nope"}); !result.IsError || result.Error.Code != tools.CodeNotExist {
		t.Errorf("a missing directory is %+v", result)
	}
	long := call(t, set, "bash", object{"script": "for i in {1..9999}; do echo line $i; done"})
	var out struct{ Spilled string }
	if err := json.Unmarshal(long.Structured, &out); err != nil || out.Spilled == "" || len(long.Text) > 30_000 {
		t.Fatalf("%d characters, spilled to %q, %v", len(long.Text), out.Spilled, err)
	}
	if got := call(t, set, "read_file", object{"path": out.Spilled, "line": 5000, "limit": 1}); !strings.Contains(got.Text, "line 5000") {
		t.Errorf("a page of the spilled output is %q", got.Text)
	}
	stopped := call(t, set, "bash", object{"script": "while :; do :; done", "timeout": 1})
	if !strings.Contains(stopped.Text, "(budget ") || !strings.Contains(stopped.Text, "[exit code 1") {
		t.Errorf("a script that is stopped has %q", stopped.Text)
	}
	for _, opts := range []*tools.Options{nil, {Disable: []string{"bash"}}, {Disable: []string{"bash"}, Bash: bashtool.New(nil)}} {
		if _, ok := newSetOf(t, workspace.New("main", memory.New(nil), nil), opts).Lookup("bash"); ok {
			t.Errorf("there is a tool bash with %+v", opts)
		}
	}
}

// TestBashScratch reads files of the scratch space as those of a workspace are read.
func TestBashScratch(t *testing.T) {
	t.Parallel()
	for _, opts := range []*tools.Options{{}, {ReadBeforeWrite: []string{"main"}}} {
		set := newBashSet(t, nil, opts, "main")
		script := `printf 'abc\n' > /tmp/text; printf '\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89' > /dev/shm/image; printf '\0' > /tmp/nul; printf '%60000s' x > /tmp/big`
		if got := call(t, set, "bash", object{"script": script}); strings.Contains(got.Text, "exit code") {
			t.Fatalf("bash = %s", got.Text)
		}
		if got := call(t, set, "read_file", object{"path": "/dev/shm/image"}); len(got.Parts) != 1 || got.Parts[0].MIMEType != "image/png" {
			t.Errorf("the parts of an image are %+v", got.Parts)
		}
		if got := call(t, set, "read_files", object{"paths": []string{"/tmp/text", "/dev/shm/image"}}); !strings.Contains(got.Text, "abc") || len(got.Parts) != 1 {
			t.Errorf("read_files = %s, with the parts %+v", got.Text, got.Parts)
		}
		for name, want := range map[string]string{"/tmp/text": "YWJjCg==", "/tmp/nul": "AA==", "/dev/shm/image": base64.StdEncoding.EncodeToString([]byte(pixel))} {
			if got := good(t, set, "read_file", object{"path": name, "encoding": "base64"}); got["base64"] != want {
				t.Errorf("%s is %v, want %s in base64", name, got, want)
			}
		}
		contains(t, "hint", fmt.Sprint(good(t, set, "read_file", object{"path": "/tmp/nul"})["hint"]), `encoding "base64"`)
		bad(t, set, "read_file", object{"path": "/tmp/big", "encoding": "base64"}, tools.CodeTooLarge)
		if got, want := bad(t, set, "read_file", object{"path": "/dev/shm/output-9"}, tools.CodeNotExist).Hint, "The scratch space has no such file. New outputs take the room of old ones."; got != want {
			t.Errorf("the hint about an output is %q, want %q", got, want)
		}
		good(t, set, "write_file", object{"path": "text", "content": "another\n"})
	}
}

func TestBashWorkspaces(t *testing.T) {
	t.Parallel()
	for _, shared := range []tools.Sharing{tools.SharedTrue, tools.SharedFalse} {
		set := newBashSet(t, map[string]string{"a.txt": "a\n"}, &tools.Options{Shared: shared}, "repo", "lake")
		result := call(t, set, "bash", object{"script": "cat /repo/a.txt > /lake/b.txt; cat /lake/b.txt"})
		if !strings.Contains(result.Text, "wrote /lake/b.txt") || !strings.HasPrefix(result.Text, "a\n") {
			t.Errorf("shared %s: the result is %q", shared, result.Text)
		}
		tool, _ := set.Lookup("bash")
		if tool.Name != "workspace__bash" {
			t.Errorf("shared %s: the tool is called %q", shared, tool.Name)
		}
		requests, err := tool.Preflight(t.Context(), json.RawMessage(`{"script":"ls"}`))
		if err != nil || len(requests) != 6 {
			t.Errorf("Preflight = %v, %v", requests, err)
		}
	}
}

// TestBashSession shows that scripts read and change files as the other tools of the session
// do.
func TestBashSession(t *testing.T) {
	t.Parallel()
	set := newBashSet(t, map[string]string{"a": "a\n", "b": "b\n", "c": "c\n", "d": "d\n"}, &tools.Options{ReadBeforeWrite: []string{"main"}}, "main")
	refused := call(t, set, "bash", object{"script": "echo x > a; echo x >> b; cat b | while read l; do echo $l; done"})
	if !strings.Contains(refused.Text, "bash: a: ") || !strings.Contains(refused.Text, "bash: b: ") || strings.Contains(refused.Text, "wrote") {
		t.Errorf("changes without a read: %q", refused.Text)
	}
	if got := call(t, set, "bash", object{"script": "cat a > /dev/null; echo x > a; echo y >> a; echo new > e; cat c"}); !strings.Contains(got.Text, "wrote a") || !strings.Contains(got.Text, "wrote e") {
		t.Errorf("changes after a read: %q", got.Text)
	}
	if got := call(t, set, "edit_file", object{"path": "c", "oldText": "c", "newText": "C"}); got.IsError {
		t.Errorf("an edit of what a script has read: %q", got.Text)
	}
	if got := call(t, set, "edit_file", object{"path": "a", "oldText": "y", "newText": "z"}); got.IsError {
		t.Errorf("an edit of what a script has written: %q", got.Text)
	}
	if got := call(t, set, "edit_file", object{"path": "d", "oldText": "d", "newText": "z"}); !got.IsError || got.Error.Code != tools.CodeReadRequired {
		t.Errorf("an edit of what nothing has read: %q", got.Text)
	}
}

// TestBashBoundsChanges tests that a script that changes much does not make a result of any size.
func TestBashBoundsChanges(t *testing.T) {
	t.Parallel()
	set := newBashSet(t, nil, &tools.Options{}, "main")
	got := good(t, set, "bash", object{"script": "touch f{1..1200}"})
	if changes := got["changes"].([]any); len(changes) != 1000 || got["moreChanges"] != 200.0 {
		t.Errorf("%d changes and %v more, want 1000 and 200", len(changes), got["moreChanges"])
	}
	if text := call(t, set, "bash", object{"script": "rm f*"}).Text; !strings.HasSuffix(text, "and 1190 more]") {
		t.Errorf("text: %.300q", text)
	}
}

// TestBashSessionChanged tests that a script does not replace what changed since a part was read.
func TestBashSessionChanged(t *testing.T) {
	t.Parallel()
	ws := workspace.New("main", memory.New(nil), nil)
	put(t, ws, "a", "1\n2\n")
	set := newSetOf(t, ws, &tools.Options{ReadBeforeWrite: []string{"main"}, Bash: bashtool.New(nil)})
	good(t, set, "read_file", object{"path": "a", "limit": 1})
	if got := call(t, set, "bash", object{"script": "echo x > a"}); !strings.Contains(got.Text, "only line 1 of 2 was read") {
		t.Errorf("a write over a part that was read: %q", got.Text)
	}
	put(t, ws, "a", "1\n2\n3\n")
	if got := call(t, set, "bash", object{"script": "echo x > a"}); !strings.Contains(got.Text, "changed") {
		t.Errorf("a write over a change: %q", got.Text)
	}
}

// TestBashSessionMoves shows that a session knows at once what a script has moved, copied and
// removed. Each case has two scripts. The second one fails if refused is set.
func TestBashSessionMoves(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		first, second string
		refused       bool
	}{
		{"cat b > /dev/null; mv b c; rm c", ":", false},
		{"cat b > /dev/null; mv b c; echo new > b; echo more >> b", "echo x > b; rm c", false},
		{"cat b > /dev/null; rm b; echo new > b", "echo x > b", false},
		{"cat d/f > /dev/null; mv d e; echo x > e/f", "rm e/f", false},
		{"cat b > /dev/null; cp b c; echo x > c", "echo y >> c", false},
		{"cat d/f > /dev/null; cp -r d e", "sed -i s/f/x/ e/f; rm d/f", false},
		{"head -n 1 b; head -c 2 d/f", "echo x > b; echo x > d/f", false},
		{"head -c 1 b", "echo x > b", true},
		{"read l < b; head -n 1 < d/f", "echo x > b; echo x > d/f", false},
		{"cp b c", "echo x > c", true},
		{"cp b /tmp/x", "echo x > b", true},
		{"cat d/f > /dev/null; cp b d/f", "echo x > b", true},
		{"echo x > c; cp b c", "echo x > c", true},
		{"echo x > c; cp b c", "echo x > b", true},
		{"cat b > /dev/null; echo x > c; cp b c", "echo x > c", false},
		{"cp b /dev/null", "echo x > b", true},
		{"cat b > /dev/null; cp b c; mv c e", "echo x > c; echo x > d/f", true},
		{"echo x > c", "mv c b", true},
		{"cat d/f > /dev/null", "mv b d/f", true},
		{"cat b > /dev/null; echo x > c", "mv c b; mv b c", false},
		{"echo x > /tmp/c", "mv /tmp/c b", true},
		{":", "touch b && echo x > b", true},
		{"cat b > /dev/null; touch b new", "echo x > b; echo x > new", false},
	} {
		set := newBashSet(t, map[string]string{"b": "b\n", "d/f": "f\n"}, &tools.Options{ReadBeforeWrite: []string{"main"}}, "main")
		if got := call(t, set, "bash", object{"script": c.first}).Text; strings.Contains(got, "read first") {
			t.Errorf("%s: %s", c.first, got)
		}
		if got := call(t, set, "bash", object{"script": c.second}).Text; (strings.Contains(got, "read first") || strings.Contains(got, "has changed")) != c.refused {
			t.Errorf("%s, and then %s: %s", c.first, c.second, got)
		}
	}
}

// copying is a file system that cannot move.
type copying struct{ *memory.FS }

func (copying) Move(_ context.Context, name, _ string) error {
	return &fs.PathError{Op: "move", Path: name, Err: errors.ErrUnsupported}
}

// TestBashSessionMovesByCopy moves a directory, which needs no read, where mv must copy and remove
// each file.
func TestBashSessionMovesByCopy(t *testing.T) {
	t.Parallel()
	ws := workspace.New("main", copying{memory.New(nil)}, nil)
	put(t, ws, "d/f", "f\n")
	set := newSetOf(t, ws, &tools.Options{ReadBeforeWrite: []string{"main"}, Bash: bashtool.New(nil)})
	if got := good(t, set, "bash", object{"script": "mv d e && ls e"}); got["output"] != "f\n" {
		t.Errorf("mv d e && ls e = %v, want f", got)
	}
}

// unremovable is a file system from which nothing can be removed.
type unremovable struct{ *memory.FS }

func (unremovable) Rm(_ context.Context, name string, _ *workspace.RmOptions) error {
	return &fs.PathError{Op: "rm", Path: name, Err: fs.ErrPermission}
}

// TestBashSessionMoveUndone moves a file that was read in part over another one, and cannot remove
// it then. The other file has its content again, and the session knows that.
func TestBashSessionMoveUndone(t *testing.T) {
	t.Parallel()
	ws := workspace.New("main", unremovable{memory.New(nil)}, nil)
	put(t, ws, "a", "1\n2\n")
	put(t, ws, "b", "precious\n")
	set := newSetOf(t, ws, &tools.Options{ReadBeforeWrite: []string{"main"}, Bash: bashtool.New(nil)})
	good(t, set, "read_file", object{"path": "a", "limit": 1})
	good(t, set, "read_file", object{"path": "b"})
	contains(t, "mv", call(t, set, "bash", object{"script": "mv a b"}).Text, "cannot move 'a' to 'b': Permission denied\n")
	if got := good(t, set, "bash", object{"script": "cat b; echo more >> b; cat b"}); got["output"] != "precious\nprecious\nmore\n" {
		t.Errorf("after mv a b, b has %v", got)
	}
}

// TestBashSessionBeginnings shows that a file counts as read only when a script has used it to its
// end, whatever the programs have read ahead.
func TestBashSessionBeginnings(t *testing.T) {
	t.Parallel()
	var large strings.Builder
	for i := range 9000 {
		fmt.Fprintln(&large, i)
	}
	files := map[string]string{"small": "1\n2\n3\n", "large": large.String(), "empty": ""}
	all := slices.Sorted(maps.Keys(files))
	for _, c := range []struct {
		script string // on F
		reads  []string
	}{
		{"read l < F", []string{"empty"}},
		{"{ read l; read l; } < F", []string{"empty"}},
		{"{ read l; read l; read l; } < F", []string{"empty", "small"}},
		{"head -n 1 < F", []string{"empty"}},
		{"head -n 1 F", []string{"empty"}},
		{"head -n 3 F", []string{"empty", "small"}},
		{"sed 1q F", []string{"empty"}},
		{"sed 1q < F", []string{"empty"}},
		{"awk 'NR==2{exit}' F", []string{"empty"}},
		{"cmp F other", []string{"empty"}},
		{"bash -c 'read l' < F", []string{"empty"}},
		{"grep -m 1 1 F", []string{"empty", "small"}},
		{"grep -m 1 1 < F", []string{"empty", "small"}},
		{"while read l; do :; done < F", all},
		{"{ head -n 1; cat; } < F", all},
		{"x=$(<F)", all},
		{"mapfile x < F", all},
		{"wc -l < F", all},
		{"sort F", all},
		{"sed -n '$p' F", all},
	} {
		set := newBashSet(t, files, &tools.Options{ReadBeforeWrite: []string{"main"}}, "main")
		call(t, set, "bash", object{"script": "echo zz > other"})
		var got []string
		for _, name := range all {
			script := strings.ReplaceAll(c.script, "F", name)
			if !strings.Contains(call(t, set, "bash", object{"script": script + "; rm " + name}).Text, "read first") {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, c.reads) {
			t.Errorf("%s: %q count as read, want %q", c.script, got, c.reads)
		}
	}
}

// TestBashSessions shows that sessions have shells of their own, and that the state of one is
// in its JSON form.
func TestBashSessions(t *testing.T) {
	t.Parallel()
	set := newBashSet(t, nil, &tools.Options{}, "main")
	tool, _ := set.Lookup("bash")
	run := func(s *tools.Session, script string) string {
		t.Helper()
		args, _ := json.Marshal(object{"script": script})
		result, err := tool.Call(tools.WithSession(t.Context(), s), args)
		if err != nil {
			t.Fatal(err)
		}
		return result.Text
	}
	a, b := tools.NewSession(), tools.NewSession()
	run(a, "x=a")
	if got := run(b, "echo [$x]"); got != "[]" {
		t.Errorf("the other session has %q", got)
	}
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	restored := tools.NewSession()
	if err := json.Unmarshal(data, restored); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(restored); err != nil || string(again) != string(data) {
		t.Errorf("a session that has not been used marshals as %s (%v), want %s", again, err, data)
	}
	if got := run(restored, "echo [$x]"); got != "[a]" {
		t.Errorf("the restored session has %q", got)
	}
}

// marshaledShell is a shell that is marshaled while a script runs, which then reads a file.
type marshaledShell struct {
	tools.Bash
	tools.Shell
	running, marshaled chan struct{}
	mu                 sync.Mutex // held while a script runs
	ws                 *workspace.Workspace
}

func (s *marshaledShell) NewShell(all []*workspace.Workspace) tools.Shell {
	s.ws = all[0]
	return s
}

func (s *marshaledShell) Run(ctx context.Context, call *tools.ShellCall) (*tools.ShellResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.running)
	<-s.marshaled
	call.Observer.Read(ctx, s.ws, "a", "", [32]byte{}, 1)
	return &tools.ShellResult{}, nil
}

func (s *marshaledShell) MarshalJSON() ([]byte, error) {
	close(s.marshaled)
	s.mu.Lock()
	defer s.mu.Unlock()
	return []byte("{}"), nil
}

func (s *marshaledShell) UnmarshalJSON([]byte) error { return nil }

// TestBashSessionMarshals tests that a session can be marshaled while a script reads files.
func TestBashSessionMarshals(t *testing.T) {
	t.Parallel()
	shell := &marshaledShell{Bash: bashtool.New(nil), running: make(chan struct{}), marshaled: make(chan struct{})}
	set := newSetOf(t, workspace.New("main", memory.New(nil), nil), &tools.Options{Bash: shell, ReadBeforeWrite: []string{"main"}, Timeout: 10 * time.Second})
	tool, _ := set.Lookup("bash")
	session, stored := tools.NewSession(), make(chan error)
	go func() {
		<-shell.running
		_, err := json.Marshal(session)
		stored <- err
	}()
	result, err := tool.Call(tools.WithSession(t.Context(), session), json.RawMessage(`{"script": "cat a"}`))
	if err != nil || result.IsError {
		t.Fatalf("a script beside Marshal = %+v, %v", result, err)
	}
	if err := <-stored; err != nil {
		t.Error(err)
	}
}

// TestBashMissingDir tests what is said of a directory that does not exist in one of several
// workspaces.
func TestBashMissingDir(t *testing.T) {
	t.Parallel()
	set := newBashSet(t, map[string]string{"src/a": "a\n"}, &tools.Options{}, "a", "c")
	for _, c := range []struct{ dir, path, hint string }{
		{"c/scr", "/c/scr", `Did you mean "/c/src"?`},
		{"/c/src/x/y", "/c/src/x/y", `See what is there with workspace__c__ls of "src", or find it with workspace__c__glob.`},
		{"nope", "/nope", "The directories of the workspaces are /a, /c."},
	} {
		err := bad(t, set, "bash", object{"script": ":", "dir": c.dir}, tools.CodeNotExist)
		if err.Path != c.path || err.Hint != c.hint {
			t.Errorf("bash in %s: path %q and hint %q, want %q and %q", c.dir, err.Path, err.Hint, c.path, c.hint)
		}
	}
}

// TestBashOfReadOnly tests that the description speaks of changes only where a workspace can
// be changed.
func TestBashOfReadOnly(t *testing.T) {
	t.Parallel()
	writable := workspace.New("a", memory.New(nil), nil)
	readOnly := workspace.New("b", restricted{memory.New(nil), workspace.Capabilities{}}, nil)
	for _, c := range []struct {
		all  []*workspace.Workspace
		want bool
	}{{[]*workspace.Workspace{readOnly}, false}, {[]*workspace.Workspace{readOnly, writable}, true}} {
		set, err := tools.NewAll(c.all, &tools.Options{Bash: bashtool.New(nil)})
		if err != nil {
			t.Fatal(err)
		}
		tool, _ := set.Lookup("bash")
		for _, word := range []string{"change", "sed -i", "move", "Writing"} {
			if got := strings.Contains(tool.Description(), word); got != c.want {
				t.Errorf("%d workspaces: the description has %q: %t, want %t:\n%s", len(c.all), word, got, c.want, tool.Description())
			}
		}
	}
}
