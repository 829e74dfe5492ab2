package tools_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// oddFS has names that memory cannot have, and is full.
type oddFS struct {
	*memory.FS
	types  map[string]workspace.FileType
	faults map[string]error // the kinds of those of names that only a person can do something about
}

// brokenEngine is an error with a remedy.
type brokenEngine struct{}

func (brokenEngine) Error() string  { return "the engine is broken" }
func (brokenEngine) Remedy() string { return "mend it" }

func (f *oddFS) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	if t, ok := f.types[name]; ok {
		return workspace.FileInfo{Name: name, Path: name, Type: t}, nil
	}
	return f.FS.Stat(ctx, name)
}

func (f *oddFS) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	if kind, ok := f.faults[name]; ok {
		return nil, "", ops.Error(ops.ReadFile, name, kind, brokenEngine{})
	}
	if _, ok := f.types[name]; ok {
		return nil, "", ops.Error(ops.ReadFile, name, fs.ErrInvalid, nil)
	}
	return f.FS.ReadVersioned(ctx, name, limit)
}

func (f *oddFS) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	if _, ok := f.types[dir]; ok {
		return nil, ops.Error(ops.Ls, dir, workspace.ErrNotDir, nil)
	}
	return f.FS.Ls(ctx, dir, opts)
}

func (f *oddFS) WriteFile(_ context.Context, name string, _ []byte, _ *workspace.WriteOptions) (workspace.Version, error) {
	return "", ops.Error(ops.WriteFile, name, workspace.ErrNoSpace, nil)
}

func (f *oddFS) Mkdir(_ context.Context, name string, _ *workspace.MkdirOptions) error {
	return ops.Error(ops.Mkdir, name, fs.ErrNotExist, nil)
}

// TestHintsFit tests that the advice is about what is wrong.
func TestHintsFit(t *testing.T) {
	inner := memory.New(nil)
	if _, err := inner.WriteFile(t.Context(), "file", []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	odd := &oddFS{FS: inner, types: map[string]workspace.FileType{"pipe": workspace.TypeOther, "loop": workspace.TypeSymlink}}
	odd.faults = map[string]error{"lasting": nil, "refused": fs.ErrPermission, "lacking": errors.ErrUnsupported, "passing": workspace.ErrUnavailable}
	set := newSetOf(t, workspace.New("test", odd, nil), nil)
	for _, tt := range []struct {
		name, op string
		args     object
		code     tools.Code
		has, not string
	}{
		{"escape", "read_file", object{"path": "../x"}, tools.CodeInvalid, "Give a path from the root", "device"},
		{"read-pipe", "read_file", object{"path": "pipe"}, tools.CodeInvalid, "a device, a socket or a pipe", "Give a path"},
		{"read-loop", "read_file", object{"path": "loop"}, tools.CodeInvalid, "a symlink that leads back to itself", "Give a path"},
		{"ls-pipe", "ls", object{"path": "pipe"}, tools.CodeNotDir, "a device, a socket or a pipe", "read_file"},
		{"ls-file", "ls", object{"path": "file"}, tools.CodeNotDir, "read_file", "device"},
		{"rm-root", "rm", object{"path": "."}, tools.CodeInvalid, "", "Give a path"},
		{"glob", "glob", object{"pattern": "["}, tools.CodePattern, "Globs know", "Regular expressions"},
		{"grep", "grep", object{"pattern": "("}, tools.CodePattern, "Regular expressions", "Globs"},
		{"grep-include", "grep", object{"pattern": "x", "includeGlob": "["}, tools.CodePattern, "Globs know", "Regular expressions"},
		{"grep-exclude", "grep", object{"pattern": "x", "excludeGlob": "{a"}, tools.CodePattern, "Globs know", "Regular expressions"},
		{"full", "write_file", object{"path": "a", "content": "x"}, tools.CodeNoSpace, "Delete files that are not needed", "again"},
		{"lasting", "read_file", object{"path": "lasting"}, tools.CodeInternal, "Trying again will not help. Tell the user: mend it.", "same call"},
		{"refused", "read_file", object{"path": "refused"}, tools.CodePermission, "Trying again will not help. Tell the user: mend it.", "same call"},
		{"lacking", "read_file", object{"path": "lacking"}, tools.CodeUnsupported, "Trying again will not help. Tell the user: mend it.", "same call"},
		{"passing", "read_file", object{"path": "passing"}, tools.CodeUnavailable, "Try the same call again; if that fails too, tell the user: mend it.", "not help"},
		{"mkdir", "mkdir", object{"path": "a/b"}, tools.CodeNotExist, "Set recursive", ""},
		{"mkdir-recursive", "mkdir", object{"path": "a/b", "recursive": true}, tools.CodeNotExist, "Choose another place", "recursive"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := bad(t, set, tt.op, tt.args, tt.code)
			if !strings.Contains(err.Hint, tt.has) || tt.not != "" && strings.Contains(err.Hint, tt.not) {
				t.Errorf("hint = %q, want one with %q and without %q", err.Hint, tt.has, tt.not)
			}
		})
	}
}
