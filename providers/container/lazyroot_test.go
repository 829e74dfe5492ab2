package container_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/providers/container"
	bash "github.com/workspacekit/workspacekit/shell"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/observe"
	"github.com/workspacekit/workspacekit/workspace/policy"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

// TestLazyAbsoluteNames has calls with absolute names as the first, where nobody knows the
// root before the start, also if the options have another name for it. Below the root the same
// name exists once more, with other files.
func TestLazyAbsoluteNames(t *testing.T) {
	dir := inRoot(t)
	below := filepath.Join(dir, dir)
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{dir + "/file": "right", below + "/file": "wrong"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, call := range map[string]func(ctx context.Context, w *workspace.Workspace) (string, error){
		"read": func(ctx context.Context, w *workspace.Workspace) (string, error) {
			data, err := w.ReadFile(ctx, dir+"/file")
			return string(data), err
		},
		"write": func(ctx context.Context, w *workspace.Workspace) (string, error) {
			if _, err := w.WriteFile(ctx, dir+"/new", []byte("right"), nil); err != nil {
				return "", err
			}
			data, err := os.ReadFile(dir + "/new")
			return string(data), err
		},
		"glob": func(ctx context.Context, w *workspace.Workspace) (string, error) {
			names, err := w.Glob(ctx, dir+"/f*", nil)
			return strings.ReplaceAll(strings.Join(names, " "), "file", "right"), err
		},
		"grep": func(ctx context.Context, w *workspace.Workspace) (string, error) {
			found, err := w.Grep(ctx, ".*", &workspace.GrepOptions{IncludeGlob: dir + "/f*"})
			if err != nil || len(found.Matches) != 1 {
				return "", errors.Join(err, errors.New("not one match"))
			}
			return found.Matches[0].Line, nil
		},
		"tool": func(ctx context.Context, w *workspace.Workspace) (string, error) {
			set, err := tools.New(w, nil)
			if err != nil {
				return "", err
			}
			tool, _ := set.Lookup("read_file")
			args, _ := json.Marshal(map[string]string{"path": dir + "/file"})
			result, err := tool.Call(ctx, args)
			if err != nil || strings.Contains(result.Text, "wrong") || !strings.Contains(result.Text, "right") {
				return result.Text, err
			}
			return "right", nil
		},
	} {
		for layer, wrap := range map[string]func(fsys workspace.FileSystem) (workspace.FileSystem, error){
			"none":  func(fsys workspace.FileSystem) (workspace.FileSystem, error) { return fsys, nil },
			"exact": workspace.Exact,
			"policy": func(fsys workspace.FileSystem) (workspace.FileSystem, error) {
				return policy.Restrict(fsys, policy.Rules{DeniedPaths: []string{"secret"}})
			},
			"sub": func(fsys workspace.FileSystem) (workspace.FileSystem, error) { return policy.Sub(fsys, ".") },
			"observer": func(fsys workspace.FileSystem) (workspace.FileSystem, error) {
				return observe.New(fsys, "w", observe.Func(func(context.Context, observe.Event) {})), nil
			},
			"undo": func(fsys workspace.FileSystem) (workspace.FileSystem, error) { return transaction.New(fsys, nil) },
			"policy over limits": func(fsys workspace.FileSystem) (workspace.FileSystem, error) {
				return policy.Restrict(workspace.New("w", fsys, nil), policy.Rules{DeniedPaths: []string{"secret"}})
			},
			"limits": func(fsys workspace.FileSystem) (workspace.FileSystem, error) {
				return workspace.New("w", fsys, nil), nil
			},
		} {
			for _, root := range []string{"", link} {
				t.Run(name+"/"+layer+"/"+filepath.Base(root), func(t *testing.T) {
					fsys, err := wrap(open(t, &container.Options{Executor: container.Command{}, Root: root, Lazy: true}))
					if err != nil {
						t.Fatal(err)
					}
					w := workspace.New("w", fsys, nil)
					if text, err := call(t.Context(), w); err != nil || text != "right" || w.Root() != dir {
						t.Errorf("%s of a name below the root before the start = %q, %v, want %q, and the root is %q, want %q", name, text, err, "right", w.Root(), dir)
					}
				})
			}
		}
	}
}

// TestLazyAbsoluteNameInShell has a script that begins with a name below the root, which can
// be below the scratch space of a shell, /tmp.
func TestLazyAbsoluteNameInShell(t *testing.T) {
	for _, parent := range []string{"/var/tmp", "/tmp"} {
		t.Run(parent, func(t *testing.T) { lazyAbsoluteNameInShell(t, parent) })
	}
}

func lazyAbsoluteNameInShell(t *testing.T, parent string) {
	dir, err := os.MkdirTemp(parent, "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	link := filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.WriteFile(dir+"/file", []byte("right"), 0o644), os.Symlink(dir, link)); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"cat " + dir + "/file", "cd " + dir + " && cat file", "cat <" + dir + "/file"} {
		for _, root := range []string{"", link} {
			w := workspace.New("w", open(t, &container.Options{Executor: container.Command{}, Root: root, Lazy: true}), nil)
			var out bytes.Buffer
			result, err := bash.New([]*workspace.Workspace{w}, nil).Run(t.Context(), script, &bash.RunOptions{Stdout: &out, Stderr: &out})
			if err != nil || result.ExitCode != 0 || out.String() != "right" {
				t.Errorf("%s in the root %q before the start = %+v, %v, and prints %q, want %q", script, root, result, err, out.String(), "right")
			}
		}
	}
}

// TestLazyAbsoluteNameOfFailedStart has a name that cannot be cleaned, as the start fails.
func TestLazyAbsoluteNameOfFailedStart(t *testing.T) {
	dir := inRoot(t)
	d := &door{}
	d.refuse.Store(true)
	w := workspace.New("w", open(t, &container.Options{Executor: d, Lazy: true}), nil)
	isPathError(t, second(w.Stat(t.Context(), dir+"/file")), "stat", dir+"/file", workspace.ErrUnavailable)
	d.refuse.Store(false)
	isPathError(t, second(w.Stat(t.Context(), dir+"/file")), "stat", "file", fs.ErrNotExist)
}

// inRoot makes a new directory the working directory, which is the root of a container
// without one in its options, and returns its path.
func inRoot(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	return dir
}
