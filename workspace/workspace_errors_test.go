package workspace_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// call is one method of a Workspace, given a name.
type call struct {
	name, op string
	do       func(ctx context.Context, ws *workspace.Workspace, name string) error
}

func calls() []call {
	return []call{
		{"ReadFile", ops.ReadFile, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			_, err := ws.ReadFile(ctx, name)
			return err
		}},
		{"ReadVersioned", ops.ReadFile, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			_, _, err := ws.ReadVersioned(ctx, name, 0)
			return err
		}},
		{"ReadVersioned/negative", ops.ReadFile, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			_, _, err := ws.ReadVersioned(ctx, name, -1)
			return err
		}},
		{"ReadRange", ops.ReadFile, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			_, err := ws.ReadRange(ctx, name, 0, 0)
			return err
		}},
		{"ReadRange/negative", ops.ReadFile, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			_, err := ws.ReadRange(ctx, name, -1, 0)
			return err
		}},
		{"Open", ops.Open, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			_, _, err := ws.Open(ctx, name, nil)
			return err
		}},
		{"Open/negative", ops.Open, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			_, _, err := ws.Open(ctx, name, &workspace.OpenOptions{Offset: -1})
			return err
		}},
		{"WriteFile", ops.WriteFile, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			_, err := ws.WriteFile(ctx, name, make([]byte, 11), nil)
			return err
		}},
		{"Create", ops.Create, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			w, err := ws.Create(ctx, name, &workspace.WriteOptions{IfNotExist: true, IfVersion: "v"})
			if err != nil {
				return err
			}
			_, err = w.Commit()
			return err
		}},
		{"Edit", ops.EditFile, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			_, _, err := ws.Edit(ctx, name, func(old []byte) ([]byte, error) { return make([]byte, 11), nil })
			return err
		}},
		{"Ls", ops.Ls, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			_, err := ws.Ls(ctx, name, &workspace.LsOptions{Limit: -1})
			return err
		}},
		{"Glob", ops.Glob, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			_, err := ws.Glob(ctx, "*", &workspace.GlobOptions{Dir: name})
			return err
		}},
		{"Grep", ops.Grep, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			_, err := ws.Grep(ctx, "x", &workspace.GrepOptions{Path: name, Before: -1})
			return err
		}},
		{"Grep/negative", ops.Grep, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			_, err := ws.Grep(ctx, "x", &workspace.GrepOptions{Path: name, MaxFileSize: -1})
			return err
		}},
		{"Stat", ops.Stat, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			_, err := ws.Stat(ctx, name)
			return err
		}},
		{"Rm", ops.Rm, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			return ws.Rm(ctx, name, nil)
		}},
		{"Mkdir", ops.Mkdir, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			return ws.Mkdir(ctx, name, nil)
		}},
		{"Watch", ops.Watch, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			_, err := ws.Watch(ctx, name, &workspace.WatchOptions{Buffer: -1})
			return err
		}},
		{"Walk", ops.Walk, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			return ws.Walk(ctx, name, nil, func(workspace.FileInfo, error) error { return nil })
		}},
		{"Move/source", ops.Move, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			return ws.Move(ctx, name, "to")
		}},
		{"Move/destination", ops.Move, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			return ws.Move(ctx, "file", name)
		}},
		{"Copy/source", ops.Copy, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			_, err := ws.Copy(ctx, name, "to")
			return err
		}},
		{"Copy/destination", ops.Copy, func(ctx context.Context, ws *workspace.Workspace, name string) error {
			_, err := ws.Copy(ctx, "file", name)
			return err
		}},
	}
}

// bare is rooted without any other optional interface.
type bare struct{ workspace.FileSystem }

func (bare) Root() string { return rooted{}.Root() }

func (b bare) Capabilities() workspace.Capabilities { return workspace.CapabilitiesOf(b.FileSystem) }

// TestErrorsNameTheOperationAndTheCleanName calls every method so that it
// fails, with names that have to be cleaned.
func TestErrorsNameTheOperationAndTheCleanName(t *testing.T) {
	t.Run("provider", func(t *testing.T) { testErrors(t, func(m *memory.FS) workspace.FileSystem { return rooted{m} }) })
	t.Run("fallback", func(t *testing.T) { testErrors(t, func(m *memory.FS) workspace.FileSystem { return bare{m} }) })
}

func testErrors(t *testing.T, wrap func(*memory.FS) workspace.FileSystem) {
	begin := func(opts *workspace.Options) *workspace.Workspace {
		m := memory.New(nil)
		for name, content := range map[string]string{"file": "content", "big": "the content of big"} {
			if _, err := m.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
				t.Fatal(err)
			}
		}
		return workspace.New("test", wrap(m), opts)
	}
	for _, c := range calls() {
		t.Run(c.name, func(t *testing.T) {
			if _, ok := workspace.As[workspace.Mover](wrap(nil)); !ok && c.op == ops.Move {
				t.Skip("there is no fallback for Move")
			}
			for name, want := range map[string]string{
				"/srv/work//file/./x": "file/x",            // a file in the middle
				"a/../../b":           "a/../../b",         // which cannot be cleaned
				"./big":               "big",               // over the limit, or there already
				"./" + reservedName:   "./" + reservedName, // not valid once it is clean
			} {
				err := c.do(t.Context(), begin(&workspace.Options{MaxFileSize: 10}), name)
				if name == "./big" && succeeds(c.name) {
					if err != nil {
						t.Errorf("%s(%q) = %v, want nil", c.name, name, err)
					}
					continue
				}
				c.check(t, name, err, want)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			err := c.do(ctx, begin(nil), "./file")
			if c.name == "Move/destination" || c.name == "Copy/destination" {
				return // the error may be about either name
			}
			c.check(t, "./file", err, "file")
		})
	}
}

const reservedName = ops.ReservedPrefix + "x"

// succeeds reports whether the call is right for a file that is there and has
// no limit.
func succeeds(name string) bool {
	switch name {
	case "Open", "Stat", "Rm", "Move/source":
		return true
	}
	return false
}

func (c call) check(t *testing.T, name string, err error, want string) {
	t.Helper()
	var pathError *fs.PathError
	if !errors.As(err, &pathError) {
		t.Fatalf("%s(%q) = %v, want a *fs.PathError", c.name, name, err)
	}
	op := pathError.Op
	if c.op == ops.Create && op == ops.WriteFile { // in which it ends
		op = c.op
	}
	if op != c.op || pathError.Path != want {
		t.Errorf("%s(%q) = %v, an error of %s %q, want %s %q", c.name, name, err, pathError.Op, pathError.Path, c.op, want)
	}
}
