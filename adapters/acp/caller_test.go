package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/adapters/acp"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// screen is a client that keeps what it is shown.
type screen struct {
	permit  func(context.Context, sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error)
	updates []sdk.SessionNotification
	asked   []sdk.RequestPermissionRequest
	broken  error // of every update
}

func (s *screen) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	s.updates = append(s.updates, n)
	return s.broken
}

func (s *screen) RequestPermission(ctx context.Context, req sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	s.asked = append(s.asked, req)
	return s.permit(ctx, req)
}

// choose returns the answer of a user.
func choose(option string) func(context.Context, sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	return func(context.Context, sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
		return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(sdk.PermissionOptionId(option))}, nil
	}
}

func newCaller(t *testing.T, s *screen, fsys workspace.FileSystem) *acp.Caller {
	t.Helper()
	set, err := tools.New(workspace.New("main", fsys, nil), &tools.Options{Naming: "{op}"})
	if err != nil {
		t.Fatal(err)
	}
	return acp.NewCaller(s, "s", "/work", set, nil)
}

// report is what a client is shown of a call, in short.
type report struct {
	Title, Kind, Status, End string
	Locations                []string
	Content                  []string // when it begins
	Result                   string   // the beginning of the content when it has ended
}

func reportOf(t *testing.T, updates []sdk.SessionNotification) report {
	t.Helper()
	if len(updates) != 2 || updates[0].Update.ToolCall == nil || updates[1].Update.ToolCallUpdate == nil {
		t.Fatalf("the client was shown %s, want the beginning and the end of a call", asJSON(t, updates))
	}
	start, end := updates[0].Update.ToolCall, updates[1].Update.ToolCallUpdate
	if start.ToolCallId == "" || start.ToolCallId != end.ToolCallId {
		t.Errorf("the call is %q and then %q, want one id", start.ToolCallId, end.ToolCallId)
	}
	r := report{Title: start.Title, Kind: string(start.Kind), Status: string(start.Status), End: string(*end.Status), Content: shown(start.Content)}
	for _, l := range start.Locations {
		text := l.Path
		if l.Line != nil {
			text += fmt.Sprintf(":%d", *l.Line)
		}
		r.Locations = append(r.Locations, text)
	}
	r.Result, _, _ = strings.Cut(strings.Join(shown(end.Content), "|"), "\n")
	return r
}

func shown(content []sdk.ToolCallContent) (texts []string) {
	for _, c := range content {
		switch {
		case c.Diff != nil && c.Diff.OldText == nil:
			texts = append(texts, fmt.Sprintf("%s: nothing -> %q", c.Diff.Path, c.Diff.NewText))
		case c.Diff != nil:
			texts = append(texts, fmt.Sprintf("%s: %q -> %q", c.Diff.Path, *c.Diff.OldText, c.Diff.NewText))
		case c.Content != nil && c.Content.Content.Text != nil:
			texts = append(texts, c.Content.Content.Text.Text)
		default:
			texts = append(texts, "unknown")
		}
	}
	return texts
}

// TestReports is what a client is shown of calls of each kind.
func TestReports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool, args string
		want       report
	}{
		{"read_file", `{"path":"dir/a"}`, report{Title: "Read file dir/a", Kind: "read", Locations: []string{"/work/dir/a"}, End: "completed", Result: "[dir/a: lines 1-12 of 12, version 2]"}},
		{"ls", `{}`, report{Title: "List directory .", Kind: "search", Locations: []string{"/work"}, End: "completed", Result: "[.: 2 entries]"}},
		{"grep", `{"pattern":"5"}`, report{Title: "Search text .", Kind: "search", Locations: []string{"/work"}, End: "completed", Result: "1 match in 1 file"}},
		{"write_file", `{"path":"new","content":"text\n"}`, report{Title: "Write file new", Kind: "edit", Locations: []string{"/work/new:1"}, End: "completed",
			Content: []string{`/work/new: nothing -> "text\n"`}}},
		{"edit_file", `{"path":"dir/a","edits":[{"oldText":"line 2\n","newText":"two\n"},{"oldText":"line 11\n","newText":""}]}`,
			report{Title: "Edit file dir/a", Kind: "edit", Locations: []string{"/work/dir/a:2"}, End: "completed", Content: []string{
				`/work/dir/a: "line 1\nline 2\nline 3\nline 4\nline 5\n" -> "line 1\ntwo\nline 3\nline 4\nline 5\n"`,
				`/work/dir/a: "line 8\nline 9\nline 10\nline 11\nline 12" -> "line 8\nline 9\nline 10\nline 12"`,
			}}},
		{"edit_file", `{"path":"dir/a","edits":[{"oldText":"none","newText":"x"}]}`,
			report{Title: "Edit file dir/a", Kind: "edit", Locations: []string{"/work/dir/a"}, End: "failed", Result: "PATTERN_NOT_FOUND: dir/a: text not found"}},
		{"edit_file", `{"path":"none","oldText":"a","newText":"x"}`,
			report{Title: "Edit file none", Kind: "edit", Locations: []string{"/work/none"}, End: "failed", Result: "FILE_NOT_FOUND: none: file does not exist"}},
		{"edit_file", `{"path":"dir/a","oldText":"(","newText":"x","regexp":true}`,
			report{Title: "Edit file dir/a", Kind: "edit", Locations: []string{"/work/dir/a"}, End: "failed", Result: "INVALID_PATTERN: dir/a: oldText is no regular expression: missing closing ): `(`"}},
		{"edit_file", `{"path":"../a","oldText":"a","newText":"x"}`,
			report{Title: "Edit file", Kind: "edit", End: "failed", Result: "INVALID_PATH: ../a: name leads out of the workspace"}},
		{"edit_file", `{"path":"*/*","oldText":"line 2\n","newText":"two\n","replaceAll":true}`,
			report{Title: "Edit file dir/a", Kind: "edit", Locations: []string{"/work/dir/a:2"}, End: "completed", Content: []string{
				`/work/dir/a: "line 1\nline 2\nline 3\nline 4\nline 5\n" -> "line 1\ntwo\nline 3\nline 4\nline 5\n"`,
			}}},
		{"apply_patch", `{"patch":"--- a/dir/a\n+++ b/dir/a\n@@ -1 +1 @@\n-none\n+x\n"}`,
			report{Title: "Apply patch dir/a", Kind: "edit", Locations: []string{"/work/dir/a"}, End: "failed", Result: `PATTERN_NOT_FOUND: dir/a: the hunk does not apply: hunk 1 (@@ -1,1 +1,1 @@): line 1 of the file is "line 1", and the patch has "none"`}},
		{"rm", `{"path":"dir","recursive":true}`, report{Title: "Remove dir", Kind: "delete", Locations: []string{"/work/dir"}, End: "completed", Result: "Removed dir."}},
		{"move", `{"source":"b","destination":"c"}`, report{Title: "Move or rename b to c", Kind: "move", Locations: []string{"/work/b", "/work/c"}, End: "completed", Result: "Moved b to c."}},
		{"mkdir", `{"path":"x\u0007"}`, report{Title: `Make directory x\x07`, Kind: "edit", Locations: []string{"/work/x\a"}, End: "completed", Result: `Made the directory "x\a".`}},
		{"read_file", `{"path":"none"}`, report{Title: "Read file none", Kind: "read", Locations: []string{"/work/none"}, End: "failed", Result: "FILE_NOT_FOUND: none: file does not exist"}},
		{"read_file", `nonsense`, report{Title: "Read file", Kind: "other", End: "failed", Result: "INVALID_ARGUMENTS: arguments are not valid JSON"}},
	} {
		s := &screen{}
		lines := ""
		for i := range 12 {
			lines += fmt.Sprintf("line %d\n", i+1)
		}
		caller := newCaller(t, s, newMemory(t, map[string]string{"dir/a": strings.TrimSuffix(lines, "\n"), "b": "text"}))
		if _, err := caller.Call(t.Context(), "", c.tool, json.RawMessage(c.args)); err != nil {
			t.Fatal(err)
		}
		c.want.Status = "in_progress"
		if diff := cmp.Diff(c.want, reportOf(t, s.updates)); diff != "" {
			t.Errorf("%s %s: the report differs (-want +got):\n%s", c.tool, c.args, diff)
		}
	}
}

// machine is memory that says that it can run commands.
type machine struct{ *memory.FS }

func (m machine) Capabilities() workspace.Capabilities {
	c := m.FS.Capabilities()
	c.Run = true
	return c
}

// TestReportOfProcesses is what a client is shown of a call that names no file.
func TestReportOfProcesses(t *testing.T) {
	t.Parallel()
	s := &screen{}
	set, err := tools.New(workspace.New("main", machine{memory.New(nil)}, nil), &tools.Options{Naming: "{op}", Run: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := acp.NewCaller(s, "s", "/work", set, nil).Call(t.Context(), "", "processes", json.RawMessage(`{"action":"list"}`)); err != nil {
		t.Fatal(err)
	}
	if kind := s.updates[0].Update.ToolCall.Kind; kind != sdk.ToolKindOther {
		t.Errorf("the kind of processes = %q, want %q", kind, sdk.ToolKindOther)
	}
}

// TestCallIDs has two Callers in one session, which name no calls.
func TestCallIDs(t *testing.T) {
	t.Parallel()
	s, fsys := &screen{}, newMemory(t, nil)
	for range 2 {
		if _, err := newCaller(t, s, fsys).Call(t.Context(), "", "ls", nil); err != nil {
			t.Fatal(err)
		}
	}
	if first, second := s.updates[0].Update.ToolCall.ToolCallId, s.updates[2].Update.ToolCall.ToolCallId; first == second {
		t.Errorf("both calls are %q", first)
	}
}

// TestCallErrors makes calls that nobody can make or see.
func TestCallErrors(t *testing.T) {
	t.Parallel()
	fsys := newMemory(t, map[string]string{"a": "old"})
	s := &screen{}
	if _, err := newCaller(t, s, fsys).Call(t.Context(), "", "none", nil); err == nil || s.updates != nil {
		t.Errorf("a call of no tool = %v, and the client was shown %v", err, s.updates)
	}
	s = &screen{broken: errors.New("closed")}
	if _, err := newCaller(t, s, fsys).Call(t.Context(), "", "write_file", json.RawMessage(`{"path":"a","content":"new"}`)); !errors.Is(err, s.broken) {
		t.Errorf("a call that cannot be shown = %v, want %v", err, s.broken)
	}
	if got := saved(t, fsys, "a"); got != "old" {
		t.Errorf("after a call that cannot be shown, a holds %q, want %q", got, "old")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s = &screen{}
	if _, err := newCaller(t, s, fsys).Call(ctx, "", "read_file", json.RawMessage(`{"path":"a"}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("a call whose context has ended = %v, want %v", err, context.Canceled)
	}
}

// asking returns files for whose changes a rule asks.
func asking(t *testing.T) *policy.RestrictedFS {
	t.Helper()
	rule := policy.Rule{Paths: []string{"**"}, Ask: []policy.Op{policy.OpWrite, policy.OpEdit, policy.OpDelete}}
	fsys, err := policy.Restrict(newMemory(t, map[string]string{"a": "one\n", "b": "one\n"}), policy.Rules{FirstMatch: []policy.Rule{rule}})
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

// TestPermissions is what comes of the answers of a client.
func TestPermissions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		permit func(context.Context, sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error)
		want   string // of a and b
		asked  int
	}{
		{"allow once", choose("allow-once"), "two two", 2},
		{"allow in the session", choose("allow-session"), "two two", 1},
		{"reject", choose("reject-once"), "one one", 2},
		{"an option that was not offered", choose("allow"), "one one", 2},
		{"no option", choose(""), "one one", 2},
		{"cancelled", func(context.Context, sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
			return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
		}, "one one", 2},
		{"nothing", func(context.Context, sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
			return sdk.RequestPermissionResponse{}, nil
		}, "one one", 2},
		{"an error with an approval", func(context.Context, sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
			answer, _ := choose("allow-once")(nil, sdk.RequestPermissionRequest{})
			return answer, errors.New("failed")
		}, "one one", 2},
	} {
		s := &screen{permit: c.permit}
		fsys := asking(t)
		caller := newCaller(t, s, fsys)
		for _, name := range []string{"a", "b"} {
			args := fmt.Sprintf(`{"path":%q,"edits":[{"oldText":"one","newText":"two"}]}`, name)
			if _, err := caller.Call(t.Context(), "model-"+name, "edit_file", json.RawMessage(args)); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.TrimSpace(saved(t, fsys, "a")) + " " + strings.TrimSpace(saved(t, fsys, "b")); got != c.want || len(s.asked) != c.asked {
			t.Errorf("%s: the files hold %s, and the client was asked %d times, want %s and %d", c.name, got, len(s.asked), c.want, c.asked)
			continue
		}
		got := asJSON(t, s.asked[0])
		want := `{"options":[{"kind":"allow_once","name":"Allow once","optionId":"allow-once"},` +
			`{"kind":"allow_always","name":"Allow all that the same rules ask about, in this session","optionId":"allow-session"},` +
			`{"kind":"reject_once","name":"Reject","optionId":"reject-once"}],"sessionId":"s","toolCall":{"content":[` +
			`{"content":{"text":"edit a, in the workspace main\nasked by: rules[0]","type":"text"},"type":"content"},` +
			`{"newText":"two\n","oldText":"one\n","path":"/work/a","type":"diff"}],"kind":"edit",` +
			`"locations":[{"line":1,"path":"/work/a"}],"status":"pending","title":"Edit file a","toolCallId":"model-a"}}`
		if got != want {
			t.Errorf("%s: the question is\n%s, want\n%s", c.name, got, want)
		}
	}
}

// TestNobodyAnswers waits for a client that does not answer.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &screen{permit: func(ctx context.Context, _ sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
			<-ctx.Done()
			return sdk.RequestPermissionResponse{}, ctx.Err()
		}}
		fsys := asking(t)
		result, err := newCaller(t, s, fsys).Call(t.Context(), "", "rm", json.RawMessage(`{"path":"a"}`))
		if err != nil || !result.IsError || !strings.Contains(result.Text, "nobody answered in time") {
			t.Errorf("a call without an answer = %v, %v, want a refusal", result, err)
		}
		if got := saved(t, fsys, "a"); got != "one\n" {
			t.Errorf("a holds %q, want what was there", got)
		}
	})
}
