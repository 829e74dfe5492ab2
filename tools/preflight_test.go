package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/observe"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// ofAny compares requests that may be about any workspace.
var ofAny = cmpopts.IgnoreFields(policy.Request{}, "Workspace")

// TestPreflightNamesTheWorkspace calls a tool of one workspace, and one that two share.
func TestPreflightNamesTheWorkspace(t *testing.T) {
	a, b := workspace.New("a", memory.New(nil), nil), workspace.New("b", memory.New(nil), nil)
	shared, err := tools.NewAll([]*workspace.Workspace{a, b}, &tools.Options{Shared: tools.SharedTrue})
	if err != nil {
		t.Fatal(err)
	}
	for want, requests := range map[string]func() ([]policy.Request, error){
		"a": func() ([]policy.Request, error) {
			return preflight(t, newSetOf(t, a, nil), "rm", object{"path": "f"})
		},
		"b": func() ([]policy.Request, error) {
			return preflight(t, shared, "rm", object{"workspace": "b", "path": "f"})
		},
	} {
		if got, err := requests(); err != nil || len(got) != 1 || got[0].Workspace != want {
			t.Errorf("Preflight of rm in %s = %+v, %v, want one request of that workspace", want, got, err)
		}
	}
}

func TestPreflight(t *testing.T) {
	set, ws := newSet(t, map[string]string{"a": "one\ntwo\n", "bin": "\x00", "latin": "caf\xe9\n", "big": strings.Repeat("x\n", 1<<20), "d/f": ""}, nil)
	const twoDiff = "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
	for _, c := range []struct {
		op   string
		args object
		want []policy.Request
	}{
		{"read_file", object{"path": "/x/../a"}, []policy.Request{{Op: policy.OpRead, Path: "a"}}},
		{"write_file", object{"path": "./a", "content": "one\n2\n"}, []policy.Request{{Op: policy.OpWrite, Path: "a", Diff: twoDiff}}},
		{"write_file", object{"path": "a", "content": "one\n2\n", "ifVersion": "v"}, []policy.Request{{Op: policy.OpEdit, Path: "a", Diff: twoDiff}}},
		{"write_file", object{"path": "n", "content": "x"}, []policy.Request{{Op: policy.OpWrite, Path: "n",
			Diff: "--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"}}},
		{"write_file", object{"path": "bin", "content": "xy"}, []policy.Request{{Op: policy.OpWrite, Path: "bin",
			Note: "no diff: the content is binary, 1 byte before and 2 bytes after"}}},
		{"write_file", object{"path": "latin", "content": "café\n", "encoding": "utf-8"}, []policy.Request{{Op: policy.OpWrite, Path: "latin",
			Note: "the text is the same as before, in other bytes"}}},
		{"write_file", object{"path": "big", "content": "xy"}, []policy.Request{{Op: policy.OpWrite, Path: "big",
			Note: "no diff: the old content is 2 MiB, and the new one 2 bytes"}}},
		{"write_file", object{"path": "latin", "content": "日本\n", "createOnly": true}, []policy.Request{{Op: policy.OpWrite, Path: "latin",
			Diff: "--- a/latin\n+++ b/latin\n@@ -1 +1 @@\n-café\n+日本\n"}}},
		{"edit_file", object{"path": "a", "oldText": "two", "newText": "2"}, []policy.Request{{Op: policy.OpRead, Path: "a"}, {Op: policy.OpEdit, Path: "a", Diff: twoDiff}}},
		{"edit_file", object{"path": "a", "oldText": "two", "newText": "2", "dryRun": true}, []policy.Request{{Op: policy.OpRead, Path: "a"}}},
		{"ls", object{}, []policy.Request{{Op: policy.OpList, Path: "."}}},
		{"glob", object{"pattern": "*", "path": "d"}, []policy.Request{{Op: policy.OpList, Path: "d"}}},
		{"grep", object{"pattern": "x", "path": "d"}, []policy.Request{{Op: policy.OpRead, Path: "d"}}},
		{"stat", object{"path": "a"}, []policy.Request{{Op: policy.OpList, Path: "a"}}},
		{"mkdir", object{"path": "d/e/"}, []policy.Request{{Op: policy.OpMkdir, Path: "d/e"}}},
		{"rm", object{"path": "a"}, []policy.Request{{Op: policy.OpDelete, Path: "a"}}},
		{"rm", object{"path": "d", "recursive": true}, []policy.Request{{Op: policy.OpDelete, Path: "d", Recursive: true}}},
		{"move", object{"source": "a", "destination": "b"}, []policy.Request{{Op: policy.OpMove, Path: "a", To: "b"}, {Op: policy.OpWrite, Path: "b"}}},
		{"move", object{"source": "d", "destination": "e"}, []policy.Request{{Op: policy.OpMove, Path: "d", To: "e"}, {Op: policy.OpWrite, Path: "e"}, {Op: policy.OpMkdir, Path: "e"}}},
		{"move", object{"source": "no", "destination": "e"}, []policy.Request{{Op: policy.OpMove, Path: "no", To: "e"}, {Op: policy.OpWrite, Path: "e"}}},
		{"copy", object{"source": "a", "destination": "b"}, []policy.Request{{Op: policy.OpCopy, Path: "a", To: "b"}, {Op: policy.OpWrite, Path: "b"}}},
		{"copy", object{"source": "a", "destination": "b", "recursive": true}, []policy.Request{{Op: policy.OpCopy, Path: "a", To: "b", Recursive: true}, {Op: policy.OpWrite, Path: "b"}}},
		{"copy", object{"source": "d", "destination": "e"}, []policy.Request{{Op: policy.OpCopy, Path: "d", To: "e"}, {Op: policy.OpWrite, Path: "e"}}},
		{"copy", object{"source": "d", "destination": "e", "recursive": true}, []policy.Request{{Op: policy.OpCopy, Path: "d", To: "e", Recursive: true},
			{Op: policy.OpWrite, Path: "e"}, {Op: policy.OpMkdir, Path: "e"}}},
	} {
		got, err := preflight(t, set, c.op, c.args)
		if diff := cmp.Diff(c.want, got, ofAny); diff != "" || err != nil {
			t.Errorf("Preflight of %s(%v) = %v (-want +got):\n%s", c.op, c.args, err, diff)
		}
	}
	holds(t, ws, "a", "one\ntwo\n")
}

// preflight calls Preflight of the tool for op.
func preflight(t interface {
	Context() context.Context
	Fatalf(string, ...any)
}, set *tools.Set, op string, args any) ([]policy.Request, error) {
	tool, ok := set.Lookup(op)
	raw, err := json.Marshal(args)
	if !ok || err != nil {
		t.Fatalf("no tool for %s, or no arguments: %v", op, err)
	}
	return tool.Preflight(t.Context(), raw)
}

// sessions is an observer that keeps the ids of the sessions.
type sessions []string

func (s *sessions) Before(ctx context.Context, e observe.Event) (context.Context, error) {
	*s = append(*s, e.Session)
	return ctx, nil
}

func (*sessions) After(context.Context, observe.Event) {}

// TestPreflightSession tests that what a preflight reads has the session of the call.
func TestPreflightSession(t *testing.T) {
	t.Parallel()
	m := memory.New(nil)
	if _, err := m.WriteFile(t.Context(), "a", []byte("one"), nil); err != nil {
		t.Fatal(err)
	}
	var seen sessions
	set := newSetOf(t, workspace.New("main", observe.New(m, "main", &seen), nil), nil)
	args := object{"path": "a", "oldText": "one", "newText": "two"}
	if _, err := preflight(t, set, "edit_file", args); err != nil {
		t.Fatal(err)
	}
	ahead := len(seen)
	call(t, set, "edit_file", args)
	if ids := slices.Compact(slices.Clone(seen)); ahead == 0 || len(ids) != 1 || ids[0] == "" {
		t.Errorf("the sessions are %q, the first %d those of the preflight, want one", seen, ahead)
	}
}

// TestPreflightErrors tests that what is wrong with a call is what Call says.
func TestPreflightErrors(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": "one\none\n", "bin": "\x00"}, &workspace.Options{MaxFileSize: 100})
	for op, list := range map[string][]object{
		"read_file":  {{}, {"path": "../a"}, {"path": "a", "tail": 1, "line": 1}, {"path": "a", "unknown": 1}},
		"write_file": {{"path": "a"}, {"path": "..", "content": ""}, {"path": "a", "content": "", "createOnly": true, "ifVersion": "v"}, {"path": "a", "content": strings.Repeat("x", 101)}},
		"edit_file": {{"path": "a"}, {"path": "a", "oldText": "one", "newText": "1"}, {"path": "a", "oldText": "x", "newText": "1"},
			{"path": "no", "oldText": "x", "newText": "1"}, {"path": "bin", "oldText": "x", "newText": "1"}},
		"ls":    {{"limit": -1}, {"cursor": "x"}, {"path": "../.."}},
		"glob":  {{}, {"pattern": "*", "cursor": "x"}, {"pattern": "*", "path": ".."}},
		"grep":  {{}, {"pattern": "x", "cursor": "x"}, {"pattern": "x", "path": "a\x00"}},
		"stat":  {{}, {"path": ".."}},
		"mkdir": {{"path": ".."}, {"path": true}},
		"rm":    {{"path": ".."}, {"path": "a", "recursive": "x"}},
		"move":  {{"source": "a"}, {"source": "..", "destination": "b"}, {"source": "a", "destination": ".."}},
		"copy":  {{"source": "a"}, {"source": "..", "destination": "b"}, {"source": "a", "destination": ".."}},
	} {
		for _, args := range list {
			want := call(t, set, op, args)
			_, err := preflight(t, set, op, args)
			var got *tools.Error
			if !want.IsError || !errors.As(err, &got) {
				t.Errorf("Preflight of %s(%v) = %v, and Call = %s, want two errors", op, args, err, want.Text)
				continue
			}
			if diff := cmp.Diff(want.Error, got, cmpopts.IgnoreUnexported(tools.Error{})); diff != "" {
				t.Errorf("Preflight of %s(%v) is not the error of Call (-want +got):\n%s", op, args, diff)
			}
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tool, _ := set.Lookup("ls")
	if _, err := tool.Preflight(ended, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Preflight with a context that has ended = %v", err)
	}
}

// rootless does not find its root.
type rootless struct{ *memory.FS }

func (rootless) Root() string { return "" }

func (rootless) FindRoot(context.Context) error {
	return ops.Error(ops.Open, ".", workspace.ErrUnavailable, nil)
}

// TestPreflightOfReadsWithoutRoot tests that a preflight of several reads fails if nobody knows
// what an absolute name means.
func TestPreflightOfReadsWithoutRoot(t *testing.T) {
	t.Parallel()
	for dialect, op := range map[tools.Dialect]string{"": "read_files", tools.DialectMCPFilesystem: "read_multiple_files"} {
		set := newSetOf(t, workspace.New("test", rootless{memory.New(nil)}, nil), &tools.Options{Dialect: dialect})
		var failed *tools.Error
		if got, err := preflight(t, set, op, object{"paths": []string{"a", "/a"}}); !errors.As(err, &failed) || failed.Code != tools.CodeUnavailable {
			t.Errorf("Preflight of %s = %v, %v, want an error with code %s", op, got, err, tools.CodeUnavailable)
		}
		got, err := preflight(t, set, op, object{"paths": []string{"../a", "a", "b\x00"}})
		if diff := cmp.Diff([]policy.Request{{Op: policy.OpRead, Path: "a"}}, got, ofAny); diff != "" || err != nil {
			t.Errorf("Preflight of %s with names that are not valid = %v (-want +got):\n%s", op, err, diff)
		}
	}
}

// touch is one operation of a FileSystem in the terms of a policy.
type touch struct {
	op       policy.Op
	path, to string
}

// recorder records what is done with a FileSystem.
type recorder struct {
	*memory.FS
	mu      sync.Mutex
	touches []touch // guarded by mu
}

func (r *recorder) record(op policy.Op, path, to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.touches = append(r.touches, touch{op, path, to})
}

// take returns what was recorded, and forgets it.
func (r *recorder) take() []touch {
	r.mu.Lock()
	defer r.mu.Unlock()
	touches := r.touches
	r.touches = nil
	return touches
}

func (r *recorder) ReadFile(ctx context.Context, name string) ([]byte, error) {
	r.record(policy.OpRead, name, "")
	return r.FS.ReadFile(ctx, name)
}

func (r *recorder) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	r.record(policy.OpRead, name, "")
	return r.FS.ReadVersioned(ctx, name, limit)
}

func (r *recorder) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	r.record(policy.OpRead, name, "")
	return r.FS.Open(ctx, name, opts)
}

func (r *recorder) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	op := policy.OpWrite
	if opts != nil && opts.IfVersion != "" {
		op = policy.OpEdit
	}
	r.record(op, name, "")
	return r.FS.WriteFile(ctx, name, data, opts)
}

func (r *recorder) Create(context.Context, string, *workspace.WriteOptions) (workspace.Writer, error) {
	return nil, errors.ErrUnsupported
}

func (r *recorder) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	r.record(policy.OpList, dir, "")
	return r.FS.Ls(ctx, dir, opts)
}

func (r *recorder) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	r.record(policy.OpList, opts.Dir, "")
	return r.FS.Glob(ctx, pattern, opts)
}

func (r *recorder) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	r.record(policy.OpRead, opts.Path, "")
	return r.FS.Grep(ctx, pattern, opts)
}

func (r *recorder) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	r.record(policy.OpList, name, "")
	return r.FS.Stat(ctx, name)
}

func (r *recorder) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	to := ""
	if opts != nil && opts.Recursive {
		to = "recursive"
	}
	r.record(policy.OpDelete, name, to)
	return r.FS.Rm(ctx, name, opts)
}

func (r *recorder) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	r.record(policy.OpMkdir, name, "")
	return r.FS.Mkdir(ctx, name, opts)
}

func (r *recorder) Move(ctx context.Context, source, destination string) error {
	r.record(policy.OpMove, source, destination)
	r.record(policy.OpWrite, destination, "")
	return r.FS.Move(ctx, source, destination)
}

func (r *recorder) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	r.record(policy.OpCopy, source, destination)
	r.record(policy.OpWrite, destination, "")
	return r.FS.Copy(ctx, source, destination)
}

// covers reports whether one of the requests is for t.
func (t touch) covers(requests []policy.Request) bool {
	return slices.ContainsFunc(requests, func(r policy.Request) bool {
		switch {
		case t.path != r.Path && t.path != r.To:
			return false
		case t.op == policy.OpList:
			return true
		case t.op == policy.OpRead:
			return r.Op != policy.OpList && r.Op != policy.OpMkdir
		case t.op == policy.OpDelete:
			return r.Op == t.op && r.Recursive == (t.to != "")
		}
		return r.Op == t.op && r.Path == t.path && r.To == t.to
	})
}

// changes reports whether t can change something.
func (t touch) changes() bool { return t.op != policy.OpList && t.op != policy.OpRead }

// TestPreflightCoversCall makes random calls, and compares what Preflight says with
// what the FileSystem sees.
func TestPreflightCoversCall(t *testing.T) {
	for _, careful := range []bool{false, true} {
		t.Run(fmt.Sprintf("readBeforeWrite=%v", careful), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { checkPreflight(t, careful) })
		})
	}
}

func checkPreflight(t *rapid.T, careful bool) {
	fsys := &recorder{FS: memory.New(nil)}
	opts := &tools.Options{Naming: "{op}"}
	if careful {
		opts.ReadBeforeWrite = []string{"test"}
	}
	set, err := tools.New(workspace.New("test", fsys, nil), opts)
	if err != nil {
		t.Fatal(err)
	}
	for range rapid.IntRange(1, 12).Draw(t, "calls") {
		tool := rapid.SampledFrom(set.Tools()).Draw(t, "tool")
		args := randomArguments(t, tool.Op)
		fsys.take()
		requests, planErr := tool.Preflight(t.Context(), args)
		for _, touch := range fsys.take() {
			if touch.changes() {
				t.Fatalf("Preflight of %s(%s) does %v", tool.Op, args, touch)
			}
		}
		result, err := tool.Call(t.Context(), args)
		if err != nil {
			t.Fatal(err)
		}
		for _, touch := range fsys.take() {
			hint := result.IsError && touch.op == policy.OpList // what it looks up to say what to do
			if tool.Op == "tree" && touch.op == policy.OpList && len(requests) > 0 {
				touch.path = requests[0].Path // which includes what is below
			}
			if !hint && !touch.covers(requests) && (planErr == nil || touch.changes()) {
				t.Fatalf("%s(%s) does %v, and Preflight said %v, %v", tool.Op, args, touch, requests, planErr)
			}
		}
		if planErr != nil && !result.IsError {
			t.Fatalf("%s(%s) = %s, and Preflight = %v", tool.Op, args, result.Text, planErr)
		}
	}
}

// TestPreflightOfMovedFile tests that a write over a file that was read under another name is
// the edit that it will be.
func TestPreflightOfMovedFile(t *testing.T) {
	fsys := &recorder{FS: memory.New(nil)}
	put(t, fsys, "a", "one\n")
	set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Naming: "{op}", ReadBeforeWrite: []string{"test"}})
	good(t, set, "read_file", object{"path": "a"})
	good(t, set, "move", object{"source": "a", "destination": "b"})
	tool, _ := set.Lookup("write_file")
	requests, err := tool.Preflight(t.Context(), json.RawMessage(`{"path": "b", "content": "two\n"}`))
	if err != nil {
		t.Fatal(err)
	}
	fsys.take()
	good(t, set, "write_file", object{"path": "b", "content": "two\n"})
	for _, touch := range fsys.take() {
		if !touch.covers(requests) {
			t.Errorf("write_file does %v, and Preflight said %v", touch, requests)
		}
	}
}

// TestPreflightWithoutReading tests that a write of a file that a rule asks before reading is
// the edit that it will be.
func TestPreflightWithoutReading(t *testing.T) {
	m := memory.New(nil)
	put(t, m, "a", "one\n")
	put(t, m, "moved", "one\n")
	fsys, err := policy.Restrict(m, policy.Rules{FirstMatch: []policy.Rule{{Ask: []policy.Op{policy.OpRead}, Paths: []string{"**"}}}})
	if err != nil {
		t.Fatal(err)
	}
	set := careful(t, fsys)
	ctx := policy.WithApprover(t.Context(), policy.NewApprover(func(context.Context, policy.Request) (policy.Answer, error) {
		return policy.Answer{Allow: true}, nil
	}, nil))
	for _, c := range [][2]string{{"read_file", `{"path": "moved"}`}, {"move", `{"source": "moved", "destination": "b"}`}} {
		if result, err := set.Call(ctx, c[0], json.RawMessage(c[1])); err != nil || result.IsError {
			t.Fatalf("%s = %+v, %v", c[0], result, err)
		}
	}
	for _, c := range []struct {
		args object
		want []policy.Op
	}{
		{object{"path": "a", "content": "two\n", "append": true}, []policy.Op{policy.OpRead, policy.OpEdit}},
		{object{"path": "n", "content": "two\n", "append": true}, []policy.Op{policy.OpRead, policy.OpWrite}},
		{object{"path": "a", "content": "two\n"}, []policy.Op{policy.OpWrite}},
		{object{"path": "b", "content": "two\n"}, []policy.Op{policy.OpEdit}},
	} {
		requests, err := preflight(t, set, "write_file", c.args)
		var got []policy.Op
		for _, r := range requests {
			got = append(got, r.Op)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("Preflight of write_file(%v) = %v (-want +got):\n%s", c.args, err, diff)
		}
	}
}

// randomArguments returns arguments for the tool op that are mostly valid.
func randomArguments(t *rapid.T, op string) json.RawMessage {
	name := rapid.SampledFrom([]string{"a", "b", "d", "d/a", "d/e/f", "/a", "./d//a", ".", ".."})
	content := rapid.SampledFrom([]string{"one\n", "one\ntwo\n", "", "\x00", "two two"})
	yes := rapid.Bool()
	args := object{}
	switch op {
	case "glob", "grep":
		args["pattern"], args["path"] = rapid.SampledFrom([]string{"*", "o.", "**", "["}).Draw(t, "pattern"), name.Draw(t, "path")
	case "move", "copy":
		args["source"], args["destination"] = name.Draw(t, "source"), name.Draw(t, "destination")
	default:
		args["path"] = name.Draw(t, "path")
	}
	switch op {
	case "write_file":
		args["content"] = content.Draw(t, "content")
		if yes.Draw(t, "conditional") {
			args["createOnly"] = yes.Draw(t, "createOnly")
		}
	case "edit_file":
		args["oldText"], args["newText"], args["dryRun"] = "one", content.Draw(t, "newText"), yes.Draw(t, "dryRun")
		if yes.Draw(t, "glob") {
			args["path"], args["replaceAll"] = rapid.SampledFrom([]string{"*", "**", "d/*", "{a,b}"}).Draw(t, "pattern"), true
		}
	case "rm", "mkdir":
		args["recursive"] = yes.Draw(t, "recursive")
	case "read_file":
		args["encoding"] = rapid.SampledFrom([]string{"utf-8", "base64"}).Draw(t, "encoding")
	}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestDiffAfterQuestion changes a file while a person is asked about a write: the result
// compares with what the write replaced.
func TestDiffAfterQuestion(t *testing.T) {
	for name, tt := range map[string]struct {
		meanwhile func(m *memory.FS)
		diff      string
		created   bool
	}{
		"changed":   {func(m *memory.FS) { put(t, m, "a", "two\n") }, "-two\n+three", false},
		"removed":   {func(m *memory.FS) { _ = m.Rm(t.Context(), "a", nil) }, "", true},
		"as it was": {func(*memory.FS) {}, "-one\n+three", false},
	} {
		m := memory.New(nil)
		put(t, m, "a", "one\n")
		fsys, err := policy.Restrict(m, policy.Rules{FirstMatch: []policy.Rule{{Ask: []policy.Op{policy.OpWrite}, Paths: []string{"**"}}}})
		if err != nil {
			t.Fatal(err)
		}
		set := newSetOf(t, workspace.New("test", fsys, nil), nil)
		var once sync.Once
		approver := policy.NewApprover(func(context.Context, policy.Request) (policy.Answer, error) {
			once.Do(func() { tt.meanwhile(m) })
			return policy.Answer{Allow: true}, nil
		}, nil)
		tool, _ := set.Lookup("write_file")
		result, err := tool.Call(policy.WithApprover(t.Context(), approver), json.RawMessage(`{"path": "a", "content": "three\n"}`))
		if err != nil {
			t.Fatal(err)
		}
		out := members(t, result.Structured)
		if diff, _ := out["diff"].(string); !strings.Contains(diff, tt.diff) || tt.diff == "" && diff != "" || out["created"] != tt.created {
			t.Errorf("%s: write_file = %v, want the diff %q, created %t", name, out, tt.diff, tt.created)
		}
	}
}

// TestQuestionsOfTools tests that a call of a tool is one question for each thing that
// it is for, and none for what it looks up beside that.
func TestQuestionsOfTools(t *testing.T) {
	m := memory.New(nil)
	put(t, m, "a", "one\n")
	fsys, err := policy.Restrict(m, policy.Rules{FirstMatch: []policy.Rule{{Ask: policy.Ops(), Paths: []string{"**"}}}})
	if err != nil {
		t.Fatal(err)
	}
	set := newSetOf(t, workspace.New("test", fsys, nil), nil)
	var asked []string
	approver := policy.NewApprover(func(_ context.Context, r policy.Request) (policy.Answer, error) {
		asked = append(asked, string(r.Op)+" "+r.Path+" "+r.Workspace)
		return policy.Answer{Allow: true}, nil
	}, nil)
	ctx := policy.WithApprover(t.Context(), approver)
	for _, c := range []struct {
		op, args string
		want     []string
	}{
		{"read_file", `{"path": "a"}`, []string{"read a test"}},
		{"read_file", `{"path": "b"}`, []string{"read b test"}},
		{"write_file", `{"path": "a", "content": "two\n"}`, []string{"write a test"}},
		{"edit_file", `{"path": "a", "oldText": "two", "newText": "2"}`, []string{"read a test", "edit a test"}},
		{"grep", `{"pattern": "2"}`, []string{"read . test"}},
		{"ls", `{}`, []string{"list . test"}},
		{"rm", `{"path": "missing"}`, []string{"delete missing test"}},
		{"rm", `{"path": "a"}`, []string{"delete a test"}},
	} {
		tool, _ := set.Lookup(c.op)
		if _, err := tool.Preflight(ctx, json.RawMessage(c.args)); err != nil && c.op != "edit_file" {
			t.Errorf("Preflight of %s(%s) = %v", c.op, c.args, err)
		}
		if asked != nil {
			t.Errorf("Preflight of %s(%s) asks %v", c.op, c.args, asked)
		}
		if _, err := tool.Call(ctx, json.RawMessage(c.args)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, asked); diff != "" {
			t.Errorf("questions of %s(%s) (-want +got):\n%s", c.op, c.args, diff)
		}
		asked = nil
	}
}
