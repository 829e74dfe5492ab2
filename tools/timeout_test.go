package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// stuck does not answer before its context ends and released is closed.
type stuck struct {
	*memory.FS
	released <-chan struct{}
}

func (s stuck) wait(ctx context.Context, op, name string) error {
	<-ctx.Done()
	<-s.released
	return ops.Error(op, name, workspace.ErrUnavailable, ctx.Err())
}

func (s stuck) Ls(ctx context.Context, dir string, _ *workspace.LsOptions) ([]workspace.FileInfo, error) {
	return nil, s.wait(ctx, ops.Ls, dir)
}

func (s stuck) Grep(ctx context.Context, _ string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	return nil, s.wait(ctx, ops.Grep, opts.Path)
}

func (s stuck) WriteFile(ctx context.Context, name string, _ []byte, _ *workspace.WriteOptions) (workspace.Version, error) {
	return "", s.wait(ctx, ops.WriteFile, name)
}

// released is the channel of a file system that answers when its context ends.
func released() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func toolOf(t *testing.T, released <-chan struct{}, opts *tools.Options, op string) *tools.Tool {
	t.Helper()
	set := newSetOf(t, workspace.New("test", stuck{memory.New(nil), released}, nil), opts)
	tool, ok := set.Lookup(op)
	if !ok {
		t.Fatalf("no tool for %s", op)
	}
	return tool
}

func TestCallHasTimeout(t *testing.T) {
	tests := []struct {
		name, op, args string
		opts           *tools.Options
		want           time.Duration
		hint           string
	}{
		{"default", "ls", `{}`, nil, 2 * time.Minute, "Ask for less"},
		{"option", "grep", `{"pattern": "x"}`, &tools.Options{Timeout: time.Second}, time.Second, "Ask for less"},
		{"sizes", "list_directory_with_sizes", `{"path": "/"}`, &tools.Options{Dialect: tools.DialectMCPFilesystem}, 2 * time.Minute, "Ask for less"},
		{"write", "write_file", `{"path": "a", "content": "x", "createOnly": true}`, nil, 2 * time.Minute, "workspace__test__stat"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tool, begin := toolOf(t, released(), tt.opts, tt.op), time.Now()
				result, err := tool.Call(t.Context(), json.RawMessage(tt.args))
				if err != nil || !result.IsError || result.Error.Code != tools.CodeTimeout {
					t.Fatalf("%s of a store that does not answer = %+v, %v, want %s", tt.op, result, err, tools.CodeTimeout)
				}
				checkResult(t, tool, result)
				if took := time.Since(begin); took != tt.want {
					t.Errorf("%s took %v, want %v", tt.op, took, tt.want)
				}
				contains(t, "message", result.Error.Message, "longer than "+tt.want.String()+" and was stopped")
				contains(t, "hint", result.Error.Hint, tt.hint)
				contains(t, "hint", result.Error.Hint, "tools.timeout") // a start that takes longer never succeeds otherwise
			})
		})
	}
}

// TestHintHasTimeout lets the call fail at once, and the search for a hint never
// end.
func TestHintHasTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool, begin := toolOf(t, released(), nil, "read_file"), time.Now()
		result, err := tool.Call(t.Context(), json.RawMessage(`{"path": "none"}`))
		if err != nil || !result.IsError || result.Error.Code != tools.CodeNotExist || time.Since(begin) != tools.DefaultTimeout {
			t.Errorf("read_file = %+v, %v after %v, want %s after %v", result, err, time.Since(begin), tools.CodeNotExist, tools.DefaultTimeout)
		}
	})
}

// TestCallWithoutTimeout ends by the context of the caller alone.
func TestCallWithoutTimeout(t *testing.T) {
	for _, limit := range []time.Duration{-1, 0} {
		synctest.Test(t, func(t *testing.T) {
			const given = time.Minute
			ctx, cancel := context.WithTimeout(t.Context(), given)
			defer cancel()
			tool, begin := toolOf(t, released(), &tools.Options{Timeout: limit}, "ls"), time.Now()
			if result, err := tool.Call(ctx, nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != given {
				t.Errorf("ls = %+v, %v after %v, want the error of the context after %v", result, err, time.Since(begin), given)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*tools.DefaultTimeout)
		defer cancel()
		tool := toolOf(t, released(), &tools.Options{Timeout: -1}, "ls")
		if result, err := tool.Call(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ls without a timeout = %+v, %v, want the error of the context", result, err)
		}
	})
}

// TestCallReturnsWithoutFileSystem calls a file system that ignores its
// context. The bubble ends only when every goroutine has.
func TestCallReturnsWithoutFileSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		defer close(never)
		tool, begin := toolOf(t, never, nil, "ls"), time.Now()
		result, err := tool.Call(t.Context(), nil)
		if err != nil || !result.IsError || result.Error.Code != tools.CodeTimeout {
			t.Fatalf("ls of a store that ignores its context = %+v, %v, want %s", result, err, tools.CodeTimeout)
		}
		contains(t, "message", result.Error.Message, "was given up; it may still run")
		if took := time.Since(begin); took <= tools.DefaultTimeout || took > tools.DefaultTimeout+time.Minute {
			t.Errorf("ls took %v, want a little more than %v", took, tools.DefaultTimeout)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := tool.Call(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("ls with a canceled context = %v, want %v", err, context.Canceled)
		}
	})
}

// TestCallWithoutTimeoutReturns checks that the end of the context is enough.
func TestCallWithoutTimeoutReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		tool, begin := toolOf(t, never, &tools.Options{Timeout: -1}, "ls"), time.Now()
		giveUp := time.AfterFunc(time.Hour, func() { close(never) })
		if result, err := tool.Call(ctx, nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 2*time.Minute {
			t.Errorf("ls of a store that ignores its context = %+v, %v after %v, want the error of the context soon after its end", result, err, time.Since(begin))
		}
		if giveUp.Stop() {
			close(never)
		}
	})
}

// panics fails as a bug does.
type panics struct{ *memory.FS }

func (panics) Ls(context.Context, string, *workspace.LsOptions) ([]workspace.FileInfo, error) {
	panic("a bug")
}

// TestCallPanicsWhereItIsCalled checks that a caller can recover.
func TestCallPanicsWhereItIsCalled(t *testing.T) {
	tool, _ := newSetOf(t, workspace.New("test", panics{memory.New(nil)}, nil), nil).Lookup("ls")
	defer func() {
		if recover() == nil {
			t.Error("Call did not panic")
		}
	}()
	tool.Call(t.Context(), nil)
}
