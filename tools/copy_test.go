package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/shell/bashtool"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
	"github.com/workspacekit/workspacekit/workspace/quota"
)

// treeOf returns the names below a directory, and what the files hold.
func treeOf(t *testing.T, ws *workspace.Workspace, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := ws.Walk(t.Context(), dir, nil, func(info workspace.FileInfo, err error) error {
		name := strings.TrimPrefix(info.Path, dir+"/")
		if info.Type != workspace.TypeFile || err != nil {
			found[name] = string(info.Type)
			return err
		}
		data, err := ws.ReadFile(t.Context(), info.Path)
		found[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestCopyTooManyEntries tests that a directory with too many entries is not copied in part,
// and that the hint is not the one for a file that is too large.
func TestCopyTooManyEntries(t *testing.T) {
	t.Parallel()
	const most = 10_000
	fsys := memory.New(nil)
	for i := range most {
		put(t, fsys, fmt.Sprint("src/", i), "")
	}
	ws := workspace.New("test", fsys, nil)
	set := newSetOf(t, ws, nil)
	good(t, set, "copy", object{"source": "src", "destination": "whole", "recursive": true})
	put(t, fsys, "src/more", "")
	err := bad(t, set, "copy", object{"source": "src", "destination": "dst", "recursive": true}, tools.CodeTooLarge)
	contains(t, "message", err.Message, "src: ", "the directory has more than 10,000 entries")
	if want := "Copy what is in it with several calls. Nothing was copied."; err.Hint != want {
		t.Errorf("hint = %q, want %q", err.Hint, want)
	}
	if _, err := ws.Stat(t.Context(), "dst"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat(dst) = %v, want %v", err, fs.ErrNotExist)
	}
	set = newSetOf(t, ws, &tools.Options{Bash: bashtool.New(nil)})
	err = bad(t, set, "copy", object{"source": "src", "destination": "dst", "recursive": true}, tools.CodeTooLarge)
	contains(t, "hint", err.Hint, "Copy it with cp -r in workspace__test__bash. ")
	good(t, set, "bash", object{"script": "cp -r src dst"})
	if got := len(treeOf(t, ws, "dst")); got != most+1 {
		t.Errorf("cp -r copies %d files, want %d", got, most+1)
	}
}

func TestCopyDirectory(t *testing.T) {
	set, ws := newSet(t, map[string]string{"src/a": "one", "src/sub/b": "two", "src/sub/deep/c": "\x00", "src-b/x": "", "file": ""}, nil)
	if err := ws.Mkdir(t.Context(), "src/empty", nil); err != nil {
		t.Fatal(err)
	}
	result := call(t, set, "copy", object{"source": "src", "destination": "new/dst", "recursive": true})
	if want := "Copied src to new/dst (3 files, 4 directories, 7 bytes)."; result.Text != want {
		t.Errorf("text = %q, want %q", result.Text, want)
	}
	if diff := cmp.Diff(treeOf(t, ws, "src"), treeOf(t, ws, "new/dst")); diff != "" {
		t.Errorf("the copy differs (-want +got):\n%s", diff)
	}
	before := treeOf(t, ws, ".")
	for _, c := range []struct {
		source, destination string
		code                tools.Code
		at                  string
	}{
		{"src", "src", tools.CodeInvalid, "src"},
		{"src", "src/sub/x", tools.CodeInvalid, "src"},
		{".", "x", tools.CodeInvalid, "."},
		{"src", "file", tools.CodeExist, "file"},
		{"src", "src-b", tools.CodeExist, "src-b"},
		{"src", "file/x", tools.CodeNotDir, "file/x"},
		{"nope", "x", tools.CodeNotExist, "nope"},
		{"src", "../x", tools.CodeInvalid, "../x"},
	} {
		if err := bad(t, set, "copy", object{"source": c.source, "destination": c.destination, "recursive": true}, c.code); err.Path != c.at {
			t.Errorf("copy of %s to %s: path at fault = %q, want %q", c.source, c.destination, err.Path, c.at)
		}
	}
	if diff := cmp.Diff(before, treeOf(t, ws, ".")); diff != "" {
		t.Errorf("a refused copy changed something (-want +got):\n%s", diff)
	}
	good(t, set, "copy", object{"source": "src", "destination": "src2", "recursive": true}) // which src is a prefix of
	good(t, set, "copy", object{"source": "file", "destination": "file2", "recursive": true})
	contains(t, "hint", bad(t, set, "copy", object{"source": "src", "destination": "y"}, tools.CodeIsDir).Hint, "Set recursive")
}

// TestUnlistable copies a directory to one that may be written and not listed, and makes that
// one, which exists, again.
func TestUnlistable(t *testing.T) {
	t.Parallel()
	_, ws := newSet(t, map[string]string{"s/a": "", "t/b": ""}, nil)
	fsys, err := policy.Restrict(ws, policy.Rules{FirstMatch: []policy.Rule{
		{Allow: []policy.Op{policy.OpWrite, policy.OpMkdir}, Paths: []string{"t/**"}}, {Deny: policy.Ops(), Paths: []string{"t/**"}}, {Allow: policy.Ops(), Paths: []string{"**"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	set := newSetOf(t, workspace.New("test", fsys, nil), nil)
	if err := bad(t, set, "copy", object{"source": "s", "destination": "t/c", "recursive": true}, tools.CodePolicy); err.Path != "t/c" {
		t.Errorf("copy fails with %+v, want the path t/c", err)
	}
	if got, want := bad(t, set, "mkdir", object{"path": "t"}, tools.CodeExist).Hint, "It is there already. Choose another name."; got != want {
		t.Errorf("the hint of mkdir is %q, want %q", got, want)
	}
}

// TestCopyOfUnreadable tests that the error of a copy names the directory that cannot be read.
func TestCopyOfUnreadable(t *testing.T) {
	_, ws := newSet(t, map[string]string{"a/locked/b": "", "a/c": ""}, nil)
	fsys := restricted{&lockedDir{FileSystem: ws}, workspace.Capabilities{Write: true, ConditionalWrite: true}}
	set := newSetOf(t, workspace.New("test", fsys, nil), nil)
	for source, want := range map[string]string{"a": "a/locked", "a/locked": "a/locked"} {
		err := bad(t, set, "copy", object{"source": source, "destination": "z", "recursive": true}, tools.CodePermission)
		if err.Path != want {
			t.Errorf("copy of %s fails with %+v, want the path %s", source, err, want)
		}
	}
}

// TestCopyOfFileListsNothing copies files where a rule asks about list, or denies it.
func TestCopyOfFileListsNothing(t *testing.T) {
	t.Parallel()
	list := []policy.Op{policy.OpList}
	for name, rule := range map[string]policy.Rule{"ask": {Ask: list, Paths: []string{"**"}}, "deny": {Deny: list, Paths: []string{"**"}}} {
		_, ws := newSet(t, map[string]string{"a": "", "large": "more than 8 bytes", "d/f": ""}, nil)
		fsys, err := policy.Restrict(ws, policy.Rules{FirstMatch: []policy.Rule{rule}})
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		ctx := policy.WithApprover(t.Context(), policy.NewApprover(func(context.Context, policy.Request) (policy.Answer, error) {
			asked++
			return policy.Answer{Allow: true}, nil
		}, nil))
		set := newSetOf(t, workspace.New("test", fsys, &workspace.Options{MaxFileSize: 8}), nil)
		copies := func(source string, recursive bool) bool {
			args := fmt.Sprintf(`{"source": %q, "destination": "%s %t", "recursive": %t}`, source, source, recursive, recursive)
			result, err := set.Call(ctx, "copy", json.RawMessage(args))
			return err == nil && !result.IsError
		}
		for _, recursive := range []bool{false, true} {
			if !copies("a", recursive) || copies("large", recursive) || asked > 0 {
				t.Errorf("%s list, recursive %t: a small file is not copied, or a large one is, or there are questions (%d)", name, recursive, asked)
			}
		}
		if got := copies("d", true); got != (name == "ask") || got != (asked > 0) {
			t.Errorf("%s list: copy of a directory = %t after %d questions", name, got, asked)
		}
	}
}

// failingCopy fails the copies of some files.
type failingCopy struct {
	*memory.FS
	fails func(source string) error
}

func (f failingCopy) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	if err := f.fails(source); err != nil {
		return "", ops.Error(ops.Copy, source, err, nil)
	}
	return f.FS.Copy(ctx, source, destination)
}

// TestCopyPartly tests the report of a copy in which files fail.
func TestCopyPartly(t *testing.T) {
	full := false
	copies := 0
	fsys := failingCopy{memory.New(nil), func(source string) error {
		copies++
		switch {
		case full:
			return workspace.ErrNoSpace
		case strings.Contains(source, "bad"):
			return workspace.ErrPolicy
		}
		return nil
	}}
	ws := workspace.New("test", fsys, nil)
	for n := range 9 {
		for _, kind := range []string{"bad", "good"} {
			if _, err := ws.WriteFile(t.Context(), fmt.Sprintf("src/%s%d", kind, n), []byte("ab"), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	set := newSetOf(t, ws, nil)
	err := bad(t, set, "copy", object{"source": "src", "destination": "dst", "recursive": true}, tools.CodePolicy)
	contains(t, "message", err.Message, "src: 9 of 18 files (18 bytes) copied to dst, not copied: src/bad0: ", "; src/bad4: ", "; and 4 more")
	contains(t, "hint", err.Hint, "What was copied stays.")
	if got := treeOf(t, ws, "dst"); len(got) != 9 || got["good8"] != "ab" {
		t.Errorf("the copy has %v", got)
	}
	full, copies = true, 0
	err = bad(t, set, "copy", object{"source": "src", "destination": "dst2", "recursive": true}, tools.CodeNoSpace)
	contains(t, "message", err.Message, "0 of 18 files")
	if want := "What was copied stays. Ask the user for space."; err.Hint != want {
		t.Errorf("hint = %q, want %q", err.Hint, want)
	}
	if copies != 1 {
		t.Errorf("%d copies were tried in a store that is full, want 1", copies)
	}
}

// TestCopyBeyondQuota tests that nobody is told to copy what a quota refuses.
func TestCopyBeyondQuota(t *testing.T) {
	t.Parallel()
	fsys := memory.New(nil)
	put(t, fsys, "src/a", "a")
	put(t, fsys, "src/b", "b")
	limited, err := quota.New(fsys, quota.Limits{Files: 1})
	if err != nil {
		t.Fatal(err)
	}
	set := newSetOf(t, workspace.New("test", limited, nil), nil)
	failed := bad(t, set, "copy", object{"source": "src", "destination": "to", "recursive": true}, tools.CodePolicy)
	contains(t, "message", failed.Message, "1 of 2 files (1 byte) copied to to, not copied: to/b: ")
	if want := "What was copied stays. Tell the user what is missing."; failed.Hint != want {
		t.Errorf("hint = %q, want %q", failed.Hint, want)
	}
}

// TestCopyWithoutDirectory tests that a directory that may not be made is not made by a file
// in it.
func TestCopyWithoutDirectory(t *testing.T) {
	t.Parallel()
	fsys := memory.New(nil)
	put(t, fsys, "src/a", "a")
	put(t, fsys, "src/d/b", "b")
	rules, err := policy.Restrict(fsys, policy.Rules{FirstMatch: []policy.Rule{{Deny: []policy.Op{"mkdir"}, Paths: []string{"to/d"}}}})
	if err != nil {
		t.Fatal(err)
	}
	set := newSetOf(t, workspace.New("test", rules, nil), nil)
	failed := bad(t, set, "copy", object{"source": "src", "destination": "to", "recursive": true}, tools.CodePolicy)
	contains(t, "message", failed.Message, "1 of 2 files (1 byte) copied to to, not copied: to/d: ")
	if _, err := fsys.Stat(t.Context(), "to/d"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat of what may not be made = %v", err)
	}
	holds(t, fsys, "to/a", "a")
}

// TestCopyRepository copies a repository where rules protect its ".git" directory, and that
// of a part of it.
func TestCopyRepository(t *testing.T) {
	t.Parallel()
	fsys := memory.New(nil)
	for _, name := range []string{"src/.git/HEAD", "src/a", "src/part/.GIT", "src/part/b"} {
		put(t, fsys, name, "a")
	}
	rules, err := policy.Restrict(fsys, policy.Rules{DenySensitive: true})
	if err != nil {
		t.Fatal(err)
	}
	set := newSetOf(t, workspace.New("test", rules, nil), nil)
	result := call(t, set, "copy", object{"source": "src", "destination": "to", "recursive": true})
	if want := "Copied src to to (2 files, 2 directories, 2 bytes). Not copied, as not files or protected: src/.git, src/part/.GIT."; result.Text != want {
		t.Errorf("text = %q, want %q", result.Text, want)
	}
	if diff := cmp.Diff(map[string]string{"a": "a", "part": "directory", "part/b": "a"}, treeOf(t, workspace.New("raw", fsys, nil), "to")); diff != "" {
		t.Errorf("the copy differs (-want +got):\n%s", diff)
	}
}

// TestCopySymlinks tests that a copy follows no symlinks in the tree, and that none
// leads it into itself.
func TestCopySymlinks(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "src", "sub"), 0o755), os.WriteFile(filepath.Join(dir, "src", "a"), []byte("one"), 0o644),
		os.Symlink("..", filepath.Join(dir, "src", "sub", "up")), os.Symlink("src", filepath.Join(dir, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	set := newSetOfFolder(t, dir)
	bad(t, set, "copy", object{"source": "src", "destination": "link/sub/x", "recursive": true}, tools.CodeInvalid)
	bad(t, set, "copy", object{"source": "link", "destination": "src/sub/x", "recursive": true}, tools.CodeInvalid)
	result := call(t, set, "copy", object{"source": "link", "destination": "dst", "recursive": true})
	if want := "Copied link to dst (1 file, 2 directories, 3 bytes). Not copied, as not files or protected: src/sub/up."; result.Text != want {
		t.Errorf("text = %q, want %q", result.Text, want)
	}
}
