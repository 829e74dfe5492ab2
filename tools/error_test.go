package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"testing"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

func TestMissingNames(t *testing.T) {
	set, _ := newSet(t, map[string]string{"src/main.go": "", "src/util/strings.go": "", "README.md": ""}, nil)
	tests := []struct{ name, path, want string }{
		{"typo", "src/mian.go", `Did you mean "src/main.go"?`},
		{"case", "readme.md", `Did you mean "README.md"?`},
		{"directory", "scr/main.go", `Did you mean "src/main.go"?`},
		{"deep-directory", "src/utils/strings.go", `Did you mean "src/util/strings.go"?`},
		{"two-elements", "SRC/Main.go", `Did you mean "src/main.go"?`},
		{"three-elements", "SRC/Util/string.go", `Did you mean "src/util/strings.go"?`},
		{"not-in-the-sibling", "SRC/none.txt", `There is no "SRC" either. See what is there with workspace__test__ls of "src"`},
		{"below-a-file", "SRC/main.go/x", `There is no "SRC" either. See what is there with workspace__test__ls of "src"`},
		{"nothing-near", "src/completely-different.txt", `workspace__test__ls of "src", or find it with workspace__test__glob`},
		{"no-directory", "elsewhere/a/b", `There is no "elsewhere" either. See what is there with workspace__test__ls of "."`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, op := range []string{"read_file", "stat", "ls"} {
				err := bad(t, set, op, object{"path": tt.path}, tools.CodeNotExist)
				contains(t, "hint of "+op, err.Hint, tt.want)
				if err.Path != tt.path {
					t.Errorf("path = %q, want %q", err.Path, tt.path)
				}
			}
		})
	}
}

// TestDenialsDiffer tests that a caller in Go can tell denials apart, and that only what nobody
// has answered can be asked again.
func TestDenialsDiffer(t *testing.T) {
	t.Parallel()
	restricted, err := policy.Restrict(memory.New(nil), policy.Rules{FirstMatch: []policy.Rule{
		{Deny: []policy.Op{policy.OpWrite}, Paths: []string{"denied"}}, {Ask: []policy.Op{policy.OpWrite}, Paths: []string{"**"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context, r policy.Request) (policy.Answer, error) {
		if r.Path == "late" {
			<-ctx.Done()
		}
		return policy.Answer{Reason: "no"}, nil
	}
	for _, c := range []struct {
		path      string
		approver  *policy.Approver
		effect    policy.Effect
		kind      error
		retryable bool
		hint      string
	}{
		{"denied", nil, policy.Deny, nil, false, "This is not allowed here"},
		{"nobody", nil, policy.Ask, policy.ErrNoApprover, false, "This needs an approval, which it did not get."},
		{"refused", policy.NewApprover(ask, nil), policy.Ask, policy.ErrRefused, false, "This needs an approval, which it did not get."},
		{"late", policy.NewApprover(ask, &policy.ApproverOptions{Timeout: 1}), policy.Ask, policy.ErrNoAnswer, true, "nobody answered. Ask the user, then make the same call again."},
	} {
		t.Run(c.path, func(t *testing.T) {
			for _, dialect := range []tools.Dialect{tools.DialectWorkspace, tools.DialectClaudeCode} {
				set, args := newSetOf(t, workspace.New("test", restricted, nil), &tools.Options{Dialect: dialect}), `{"path": "`+c.path+`", "content": "x"}`
				name := "write_file"
				if dialect == tools.DialectClaudeCode {
					name, args = "Write", `{"file_path": "/`+c.path+`", "content": "x"}`
				}
				result, err := set.Call(policy.WithApprover(t.Context(), c.approver), name, json.RawMessage(args))
				if err != nil || result.Error == nil {
					t.Fatalf("%s = %+v, %v, want an error for the model", name, result, err)
				}
				var denied *policy.DeniedError
				if !errors.As(result.Error, &denied) || denied.Decision().Effect != c.effect || !errors.Is(denied, c.kind) && c.kind != nil || c.kind == nil && errors.Unwrap(denied) != nil {
					t.Errorf("%s wraps %v, want a denial that is %v with the effect %s", name, errors.Unwrap(result.Error), c.kind, c.effect)
				}
				if result.Error.Code != tools.CodePolicy || result.Error.Retryable != c.retryable {
					t.Errorf("%s = %+v, want %s, retryable %t", name, result.Error, tools.CodePolicy, c.retryable)
				}
				contains(t, "hint", result.Error.Hint, c.hint)
			}
		})
	}
}

func TestMissingParents(t *testing.T) {
	set, _ := newSet(t, map[string]string{"src/util/strings.go": ""}, nil)
	for path, want := range map[string]string{
		"SRC/new":         `Did you mean "src/new"?`,
		"scr/utils/new":   `Did you mean "src/util/new"?`,
		"src/other/new":   "The parent directory does not exist. Set recursive to make it too.",
		"src/util/x/y/zz": "The parent directory does not exist. Set recursive to make it too.",
	} {
		contains(t, "hint of "+path, bad(t, set, "mkdir", object{"path": path}, tools.CodeNotExist).Hint, want)
	}
}

func TestHintsNameToolsOfTheSet(t *testing.T) {
	_, ws := newSet(t, map[string]string{"dir/a": "x"}, nil)
	set := newSetOf(t, ws, &tools.Options{Disable: []string{"ls", "glob"}})
	if hint := bad(t, set, "read_file", object{"path": "dir"}, tools.CodeIsDir).Hint; hint != "It is a directory." {
		t.Errorf("hint = %q", hint)
	}
	if hint := bad(t, set, "read_file", object{"path": "zzzzzz"}, tools.CodeNotExist).Hint; hint != "" {
		t.Errorf("hint = %q", hint)
	}
}

func TestProviderErrors(t *testing.T) {
	tests := []struct {
		name      string
		err       error
		code      tools.Code
		retryable bool
	}{
		{"unavailable", workspace.ErrUnavailable, tools.CodeUnavailable, true},
		{"timeout-of-the-store", context.DeadlineExceeded, tools.CodeTimeout, true},
		{"permission", fs.ErrPermission, tools.CodePermission, false},
		{"policy", workspace.ErrPolicy, tools.CodePolicy, false},
		{"unsupported", errors.ErrUnsupported, tools.CodeUnsupported, false},
		{"unknown", errors.New("out of cheese"), tools.CodeInternal, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ws := workspace.New("test", faulty{memory.New(nil), tt.err}, nil)
			for _, op := range []string{"read_file", "stat"} {
				err := bad(t, newSetOf(t, ws, nil), op, object{"path": "a"}, tt.code)
				if err.Retryable != tt.retryable || err.Path != "a" {
					t.Errorf("%s: error = %+v", op, err)
				}
				contains(t, "message", err.Message, "a: ", tt.err.Error())
			}
		})
	}
}

// TestClosedWorkspace tests that no tool advises to try again once the workspace is closed.
func TestClosedWorkspace(t *testing.T) {
	for _, dialect := range []tools.Dialect{tools.DialectWorkspace, tools.DialectFS, tools.DialectClaudeCode} {
		fsys := memory.New(nil)
		set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: dialect})
		fsys.Close()
		for _, tool := range set.Tools() {
			var args string
			switch tool.Op {
			case "read_file", "ls", "file_read", "fs_list_directory":
				args = `{"path":"a"}`
			case "Read":
				args = `{"file_path":"/a"}`
			default:
				continue
			}
			result, err := tool.Call(t.Context(), json.RawMessage(args))
			if err != nil || result.Error == nil {
				t.Fatalf("%s = %v, %v, want an error for the model", tool.Op, result, err)
			}
			got := result.Error
			if got.Code != tools.CodeUnavailable || got.Retryable || got.Hint != "The workspace is closed, and trying again will not help. Tell the user." {
				t.Errorf("%s of a closed workspace: %+v", tool.Op, got)
			}
		}
	}
}

func TestEndedContextIsAGoError(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": "x"}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tool := range set.Tools() {
		result, err := tool.Call(ctx, json.RawMessage(`{"path":"a"}`))
		if !errors.Is(err, context.Canceled) || result != nil {
			t.Errorf("%s: %v, %v", tool.Op, result, err)
		}
	}
}

// deaf describes a file whether the context has ended or not.
type deaf struct{ workspace.FileSystem }

func (deaf) Stat(context.Context, string) (workspace.FileInfo, error) {
	return workspace.FileInfo{Path: "a", Type: workspace.TypeFile}, nil
}

func TestEndedContextDoesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tool, _ := newSetOf(t, workspace.New("test", deaf{memory.New(nil)}, nil), nil).Lookup("stat")
	if result, err := tool.Call(ctx, json.RawMessage(`{"path":"a"}`)); !errors.Is(err, context.Canceled) || result != nil {
		t.Errorf("Call = %v, %v, want context.Canceled", result, err)
	}
}

// canceler ends a context in the middle of an operation.
type canceler struct {
	workspace.FileSystem
	cancel context.CancelFunc
}

func (c canceler) Ls(_ context.Context, dir string, _ *workspace.LsOptions) ([]workspace.FileInfo, error) {
	c.cancel()
	return nil, ops.Error(ops.Ls, dir, workspace.ErrUnavailable, nil)
}

func TestContextThatEndsDuringACall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	set := newSetOf(t, workspace.New("test", canceler{memory.New(nil), cancel}, nil), nil)
	tool, _ := set.Lookup("ls")
	if result, err := tool.Call(ctx, nil); !errors.Is(err, context.Canceled) || result != nil {
		t.Errorf("Call = %v, %v, want context.Canceled", result, err)
	}
}

func TestErrorText(t *testing.T) {
	set, _ := newSet(t, map[string]string{"main.go": ""}, nil)
	result := call(t, set, "read_file", object{"path": "mian.go"})
	if want := "FILE_NOT_FOUND: mian.go: file does not exist\nDid you mean \"main.go\"?"; result.Text != want {
		t.Errorf("text = %q, want %q", result.Text, want)
	}
	want := `{"code":"FILE_NOT_FOUND","message":"mian.go: file does not exist","path":"mian.go","hint":"Did you mean \"main.go\"?","retryable":false}`
	if string(result.Structured) != want {
		t.Errorf("structured = %s, want %s", result.Structured, want)
	}
}
