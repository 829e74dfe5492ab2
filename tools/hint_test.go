package tools_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/localbash"
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

// Resolve resolves the symlink to the pipe, and not the loop.
func (f *oddFS) Resolve(_ context.Context, name string) (string, error) {
	switch name {
	case "to-pipe":
		return "pipe", nil
	case "loop":
		return "", ops.Error(ops.Resolve, name, fs.ErrInvalid, nil)
	}
	return name, nil
}

func (f *oddFS) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	if strings.HasPrefix(name, "out") { // a symlink to elsewhere
		return nil, "", ops.Error(ops.ReadFile, name, workspace.ErrEscape, nil)
	}
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
	if err := inner.Mkdir(t.Context(), "dir", nil); err != nil {
		t.Fatal(err)
	}
	odd := &oddFS{FS: inner, types: map[string]workspace.FileType{"pipe": workspace.TypeOther, "to-pipe": workspace.TypeSymlink, "loop": workspace.TypeSymlink}}
	odd.faults = map[string]error{"lasting": nil, "refused": fs.ErrPermission, "lacking": errors.ErrUnsupported, "passing": workspace.ErrUnavailable}
	set := newSetOf(t, workspace.New("test", odd, nil), nil)
	for _, tt := range []struct {
		name, op string
		args     object
		code     tools.Code
		has, not string
	}{
		{"escape", "read_file", object{"path": "../x"}, tools.CodeInvalid, "Give a path from the root", "device"},
		{"escape-glob", "glob", object{"pattern": "../*"}, tools.CodeInvalid, "Give a path from the root", "symlink"},
		{"escape-alternative", "glob", object{"pattern": "{hid,.}/{a,../a}"}, tools.CodeInvalid, "Give a path from the root", "symlink"},
		{"escape-include", "grep", object{"pattern": "x", "includeGlob": "../*"}, tools.CodeInvalid, "Give a path from the root", "symlink"},
		{"escape-symlink", "read_file", object{"path": "out"}, tools.CodeInvalid, "A symlink in the path leads out", "Give a path"},
		{"escape-below-symlink", "read_file", object{"path": "out/a"}, tools.CodeInvalid, "A symlink in the path leads out", "Give a path"},
		{"long-name", "read_file", object{"path": strings.Repeat("a", 300)}, tools.CodeInvalid, "Give another name: of at most 4096 bytes, with 255 in an element", "Give a path"},
		{"very-long-name", "write_file", object{"path": strings.Repeat("a/", 3000) + "a", "content": ""}, tools.CodeInvalid, "Give another name: of at most 4096 bytes", "Give a path"},
		{"nul", "read_file", object{"path": "a\x00b"}, tools.CodeInvalid, "without NUL", "Give a path"},
		{"reserved-name", "read_file", object{"path": ".workspacekit-tmp-x"}, tools.CodeInvalid, "Give another name", "Give a path"},
		{"read-pipe", "read_file", object{"path": "pipe"}, tools.CodeInvalid, "a device, a socket or a pipe", "Give a path"},
		{"read-symlink-to-pipe", "read_file", object{"path": "to-pipe"}, tools.CodeInvalid, "a device, a socket or a pipe", "leads back"},
		{"read-loop", "read_file", object{"path": "loop"}, tools.CodeInvalid, "a symlink that leads back to itself", "Give a path"},
		{"below-a-file", "read_file", object{"path": "filr/a"}, tools.CodeNotExist, "See what is there", "Did you mean"},
		{"ls-pipe", "ls", object{"path": "pipe"}, tools.CodeNotDir, "a device, a socket or a pipe", "read_file"},
		{"ls-file", "ls", object{"path": "file"}, tools.CodeNotDir, "It is a file: read it with", "device"},
		{"ls-below-a-file", "ls", object{"path": "file/a/b"}, tools.CodeNotDir, `"file" is a file: read it with`, "It is"},
		{"move-below-itself", "move", object{"source": "dir", "destination": "dir/sub/x"}, tools.CodeInvalid, "Choose a destination outside the directory.", ""},
		{"copy-below-itself", "copy", object{"source": "dir", "destination": "dir/x", "recursive": true}, tools.CodeInvalid, "Choose a destination outside the directory.", ""},
		{"copy-root", "copy", object{"source": ".", "destination": "x", "recursive": true}, tools.CodeInvalid, "Copy what is in the root by itself.", ""},
		{"move-root", "move", object{"source": ".", "destination": "x"}, tools.CodeInvalid, "Give the name of something in it.", "outside"},
		{"rm-root", "rm", object{"path": "/", "recursive": true}, tools.CodeInvalid, "Give the name of something in it.", "Give a path"},
		{"glob", "glob", object{"pattern": "["}, tools.CodePattern, "Globs know", "Regular expressions"},
		{"grep", "grep", object{"pattern": "("}, tools.CodePattern, "Regular expressions", "Globs"},
		{"grep-long", "grep", object{"pattern": strings.Repeat("a", 40_000)}, tools.CodePattern, "Divide it", "Escape"},
		{"grep-line-break", "grep", object{"pattern": "a\nb", "literal": true}, tools.CodePattern, "Search for a part of it that is on one line, or set multiline", "literal"},
		{"grep-line-break-escaped", "grep", object{"pattern": `a\nb`}, tools.CodePattern, "Search for a part of it that is on one line, or set multiline", "literal"},
		{"grep-include", "grep", object{"pattern": "x", "includeGlob": "["}, tools.CodePattern, "Globs know", "Regular expressions"},
		{"grep-exclude", "grep", object{"pattern": "x", "excludeGlob": "{a"}, tools.CodePattern, "Globs know", "Regular expressions"},
		{"full", "write_file", object{"path": "a", "content": "x"}, tools.CodeNoSpace, "Ask the user for space", "again"},
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

// TestHintsOfSymlinks tests what is said of a symlink that is not followed.
func TestHintsOfSymlinks(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "d"), 0o755), os.WriteFile(filepath.Join(dir, "d", "a"), []byte("one\n"), 0o644),
		os.Symlink("d/a", filepath.Join(dir, "link")), os.Symlink("d", filepath.Join(dir, "dir")), os.Symlink("loop", filepath.Join(dir, "loop")),
		os.Symlink("none", filepath.Join(dir, "dangling")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	exact, err := fsys.Exact()
	if err != nil {
		t.Fatal(err)
	}
	patch := func(name string) object {
		return object{"patch": "*** Begin Patch\n*** Update File: " + name + "\n@@\n-one\n+two\n*** End Patch"}
	}
	const linkHint = "A patch follows no symlink. Delete the link itself with workspace__test__rm. Rename the link itself with workspace__test__move. Nothing was written."
	for _, tt := range []struct {
		files workspace.FileSystem
		op    string
		args  object
		code  tools.Code
		want  string
	}{
		{fsys, "apply_patch", patch("link"), tools.CodeInvalid, "No symlink is followed here. Give the name that it stands for: d/a."},
		{fsys, "apply_patch", patch("dir/a"), tools.CodeInvalid, "No symlink is followed here. Give the name that it stands for: d/a."},
		{fsys, "apply_patch", object{"patch": "*** Begin Patch\n*** Delete File: link\n*** End Patch"}, tools.CodeInvalid, linkHint},
		{fsys, "apply_patch", object{"patch": "--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"}, tools.CodeInvalid, linkHint},
		{fsys, "apply_patch", object{"patch": "*** Begin Patch\n*** Update File: link\n*** Move to: new\n*** End Patch"}, tools.CodeInvalid, linkHint},
		{fsys, "apply_patch", object{"patch": "diff --git a/link b/new\nsimilarity index 100%\nrename from link\nrename to new\n"}, tools.CodeInvalid, linkHint},
		{fsys, "apply_patch", object{"patch": "*** Begin Patch\n*** Delete File: dir/a\n*** End Patch"}, tools.CodeInvalid, "No symlink is followed here. Give the name that it stands for: d/a."},
		{fsys, "apply_patch", patch("loop"), tools.CodeInvalid, "It is a symlink that leads back to itself, or through too many others. Leave it alone, or ask the user."},
		{fsys, "read_file", object{"path": "loop"}, tools.CodeInvalid, "It is a symlink that leads back to itself, or through too many others. Leave it alone, or ask the user."},
		{exact, "read_file", object{"path": "link"}, tools.CodeInvalid, "No symlink is followed here. Give a name without one."},
		{fsys, "read_file", object{"path": "dangling"}, tools.CodeNotExist, `"dangling" is a symlink whose target does not exist.`},
		{fsys, "read_file", object{"path": "dangling/a"}, tools.CodeNotExist, `"dangling" is a symlink whose target does not exist.`},
	} {
		set := newSetOf(t, workspace.New("test", tt.files, nil), nil)
		if err := bad(t, set, tt.op, tt.args, tt.code); err.Hint != tt.want {
			t.Errorf("%s(%v): hint %q, want %q", tt.op, tt.args, err.Hint, tt.want)
		}
	}
}

// failing fails everything that changes something, with an error of one kind.
type failing struct {
	*memory.FS
	kind error
}

func (f failing) WriteFile(_ context.Context, name string, _ []byte, _ *workspace.WriteOptions) (workspace.Version, error) {
	return "", ops.Error(ops.WriteFile, name, f.kind, nil)
}

func (f failing) Rm(_ context.Context, name string, _ *workspace.RmOptions) error {
	return ops.Error(ops.Rm, name, f.kind, nil)
}

func (f failing) Mkdir(_ context.Context, name string, _ *workspace.MkdirOptions) error {
	return ops.Error(ops.Mkdir, name, f.kind, nil)
}

func (f failing) Move(_ context.Context, _, name string) error {
	return ops.Error(ops.Move, name, f.kind, nil)
}

func (f failing) Copy(_ context.Context, _, name string) (workspace.Version, error) {
	return "", ops.Error(ops.Copy, name, f.kind, nil)
}

// TestHintsRemoveNothing tests that no hint proposes to remove what the call did not
// name.
func TestHintsRemoveNothing(t *testing.T) {
	kinds := []error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid, errors.ErrUnsupported, workspace.ErrIsDir,
		workspace.ErrNotDir, workspace.ErrNotEmpty, workspace.ErrConflict, workspace.ErrTooLarge, workspace.ErrBinary,
		workspace.ErrPolicy, workspace.ErrNoSpace, workspace.ErrUnavailable, nil}
	calls := map[string][]object{
		"write_file": {{"path": "src/a.go", "content": ""}, {"path": "src/a.go", "content": "", "createOnly": true}, {"path": "src/b.go", "content": ""}, {"path": "src", "content": ""}},
		"edit_file":  {{"path": "src/a.go", "oldText": "a", "newText": "b"}, {"path": "src/b.go", "oldText": "a", "newText": "b"}},
		"mkdir":      {{"path": "src"}, {"path": "src/a.go"}, {"path": "src/new"}},
		"rm":         {{"path": "src"}, {"path": "src/a.go"}, {"path": "src/b.go"}, {"path": "scr/a.go"}},
		"move":       {{"source": "src/a.go", "destination": "src"}, {"source": "src/a.go", "destination": "src/a.go"}, {"source": "src/b.go", "destination": "x"}},
		"copy":       {{"source": "src/a.go", "destination": "src"}, {"source": "src/a.go", "destination": "src/a.go"}, {"source": "src/b.go", "destination": "x"}},
	}
	for _, kind := range kinds {
		synctest.Test(t, func(t *testing.T) { // an edit tries again for a minute
			fsys := failing{memory.New(nil), kind}
			if _, err := fsys.FS.WriteFile(t.Context(), "src/a.go", []byte("a"), nil); err != nil {
				t.Fatal(err)
			}
			set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Naming: "tool_{op}"})
			for op, list := range calls {
				for _, args := range list {
					result := call(t, set, op, args)
					if !result.IsError {
						t.Fatalf("%s(%v) succeeds", op, args)
					}
					hint := strings.ReplaceAll(result.Error.Hint, "Only recursive removes a directory", "")
					for _, word := range []string{"tool_rm", "remove", "delete"} {
						if strings.Contains(strings.ToLower(hint), word) {
							t.Errorf("hint of %s(%v) with %v = %q", op, args, kind, hint)
						}
					}
					if op == "rm" && args["path"] != "src/a.go" && strings.Contains(hint, "a.go") {
						t.Errorf("hint of %s(%v) with %v names another file: %q", op, args, kind, hint)
					}
				}
			}
		})
	}
}

// TestHintOfUnlistedNames tests what is said of a directory that is not empty and has only
// names that no listing shows.
func TestHintOfUnlistedNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"unlisted/.workspacekit-tmp-x", "mixed/.workspacekit-tmp-x", "mixed/a"} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	set := newSetOfFolder(t, dir)
	for path, want := range map[string]string{
		"unlisted": "Only recursive removes a directory with everything below it, also what no listing shows.",
		"mixed":    "It is not empty: see what is in it with workspace__test__ls. Only recursive removes a directory with everything below it.",
	} {
		if err := bad(t, set, "rm", object{"path": path}, tools.CodeNotEmpty); err.Hint != want {
			t.Errorf("hint of rm of %s = %q, want %q", path, err.Hint, want)
		}
	}
}

// TestHintOfWhatIsLeft tests what is said of a recursive removal that leaves something. It
// does not advise to do what was done.
func TestHintOfWhatIsLeft(t *testing.T) {
	fsys := failing{memory.New(nil), workspace.ErrNotEmpty}
	put(t, fsys.FS, "src/a.go", "a")
	if err := fsys.FS.Mkdir(t.Context(), "unlisted", nil); err != nil {
		t.Fatal(err)
	}
	set := newSetOf(t, workspace.New("test", fsys, nil), nil)
	for path, want := range map[string]string{
		"unlisted": "Names that no listing shows are left. Tell the user.",
		"src":      "Some of it is left: see what with workspace__test__ls. It was written meanwhile, or holds names that no listing shows.",
	} {
		if err := bad(t, set, "rm", object{"path": path, "recursive": true}, tools.CodeNotEmpty); err.Hint != want {
			t.Errorf("hint of rm of %s = %q, want %q", path, err.Hint, want)
		}
	}
}

// TestHintsSayWhatExists tests that a destination that exists is described.
func TestHintsSayWhatExists(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": "", "dir/b": ""}, nil)
	const patchHint = "It is there already. Update it in place of adding it, delete it in an earlier part of the patch, or choose another name. Nothing was written."
	for _, c := range []struct {
		op   string
		args object
		want string
	}{
		{"move", object{"source": "a", "destination": "dir"}, "It is a directory. For a place in it, give the whole new name, such as dir/NAME."},
		{"copy", object{"source": "a", "destination": "dir"}, "It is a directory. For a place in it, give the whole new name, such as dir/NAME."},
		{"move", object{"source": "a", "destination": "dir/b"}, "It is there already, and nothing is replaced. Choose another destination."},
		{"move", object{"source": "a", "destination": "a"}, "It is there already, and nothing is replaced. Choose another destination."},
		{"mkdir", object{"path": "dir"}, "The directory is there already; with recursive that is no error."},
		{"mkdir", object{"path": "a"}, "It is a file or a symlink. Choose another name."},
		{"write_file", object{"path": "dir", "content": "", "createOnly": true}, "It is a directory. Choose another name."},
		{"apply_patch", object{"patch": "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}, patchHint},
		{"apply_patch", object{"patch": "*** Begin Patch\n*** Update File: a\n*** Move to: dir/b\n*** End Patch"}, patchHint},
		{"apply_patch", object{"patch": "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n"}, patchHint},
		{"apply_patch", object{"patch": "*** Begin Patch\n*** Add File: n\n+x\n*** Add File: n\n+x\n*** End Patch"}, "Add the file in one part of the patch. Nothing was written."},
	} {
		if got := bad(t, set, c.op, c.args, tools.CodeExist).Hint; got != c.want {
			t.Errorf("hint of %s(%v) = %q, want %q", c.op, c.args, got, c.want)
		}
	}
}

// twoFS is on two file systems, one of them in "mount".
type twoFS struct{ *memory.FS }

func (f twoFS) Move(_ context.Context, _, destination string) error {
	return ops.Error(ops.Move, destination, errors.ErrUnsupported, syscall.EXDEV)
}

func (f twoFS) Exact() (workspace.FileSystem, error) { return f, nil }

// TestHintOfMoveBetweenFileSystems tests that a move that the store cannot do is told from
// one that only a copy can do, also in a dialect.
func TestHintOfMoveBetweenFileSystems(t *testing.T) {
	for dialect, op := range map[tools.Dialect]string{"": "move", tools.DialectMCPFilesystem: "move_file"} {
		fsys := twoFS{memory.New(nil)}
		put(t, fsys.FS, "a", "one\n")
		set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: dialect})
		err := bad(t, set, op, object{"source": "a", "destination": "mount/a"}, tools.CodeUnsupported)
		if want := "The names are on two file systems, or it is a directory in a layer of one. Copy it, and then delete it."; err.Hint != want {
			t.Errorf("%s: hint = %q, want %q", op, err.Hint, want)
		}
	}
}

// TestHintOfPatchBetweenFileSystems tests that a patch that renames a file to another file
// system says what to do instead.
func TestHintOfPatchBetweenFileSystems(t *testing.T) {
	fsys := twoFS{memory.New(nil)}
	put(t, fsys.FS, "a", "one\n")
	set := newSetOf(t, workspace.New("test", fsys, nil), nil)
	rename := "*** Begin Patch\n*** Update File: a\n*** Move to: mount/a\n*** End Patch"
	err := bad(t, set, "apply_patch", object{"patch": rename}, tools.CodeUnsupported)
	if want := "The old and the new name are on two file systems. Copy the file, patch the copy, and then delete the old one."; err.Hint != want {
		t.Errorf("hint = %q, want %q", err.Hint, want)
	}
}

// TestPatchHintHolds tests that a file that an earlier part of the patch deletes can be added,
// as the hint says.
func TestPatchHintHolds(t *testing.T) {
	set, ws := newSet(t, map[string]string{"a": "old\n"}, nil)
	good(t, set, "apply_patch", object{"patch": "*** Begin Patch\n*** Delete File: a\n*** Add File: a\n+new\n*** End Patch"})
	if data, err := ws.ReadFile(t.Context(), "a"); string(data) != "new\n" {
		t.Errorf("a = %q, %v, want the added text", data, err)
	}
}

// TestHintOfWriteOverDeletedFile tests that a write with the version of a file that no longer
// exists, or never did, is not told to read the file.
func TestHintOfWriteOverDeletedFile(t *testing.T) {
	set, ws := newSet(t, map[string]string{"a": "old\n"}, nil)
	args := object{"path": "a", "content": "new\n", "ifVersion": "other"}
	if err := bad(t, set, "write_file", args, tools.CodeConflict); !strings.Contains(err.Hint, "read it again with workspace__test__read_file") {
		t.Errorf("hint for a file that has changed = %q", err.Hint)
	}
	if err := ws.Rm(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "never"} {
		args["path"] = name
		err := bad(t, set, "write_file", args, tools.CodeConflict)
		if want := "The same write without ifVersion creates it."; err.Message != name+": file does not exist" || err.Hint != want {
			t.Errorf("error = %q with the hint %q, want that there is no file and %q", err.Message, err.Hint, want)
		}
	}
	delete(args, "ifVersion")
	good(t, set, "write_file", args)
}

// TestHintsOfDeletedRoot tests that nobody is told to look at a root that no longer exists.
func TestHintsOfDeletedRoot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	set := newSetOfFolder(t, dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		op   string
		args object
	}{
		{"mkdir", object{"path": "a/d", "recursive": true}}, {"ls", object{}}, {"read_file", object{"path": "f"}}, {"read_file", object{"path": "a/b/c"}}, {"mkdir", object{"path": "d"}},
		{"rm", object{"path": "f"}}, {"glob", object{"pattern": "**"}}, {"grep", object{"pattern": "x"}},
		{"write_file", object{"path": "f", "content": "x"}}, {"write_file", object{"path": "a/f", "content": "x"}},
		{"apply_patch", object{"patch": "*** Begin Patch\n*** Add File: f\n+x\n*** End Patch"}},
	} {
		err := bad(t, set, c.op, c.args, tools.CodeNotExist)
		if want := "The workspace itself does not exist. Tell the user to create it, and to restart."; err.Hint != want {
			t.Errorf("hint of %s(%v) = %q, want %q", c.op, c.args, err.Hint, want)
		}
	}
}
