package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sessionid "github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/providers/afero"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/policy"

	aferolib "github.com/spf13/afero"
)

// careful returns the tools of fsys, which change only what was read.
func careful(t *testing.T, fsys workspace.FileSystem) *tools.Set {
	t.Helper()
	return newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{ReadBeforeWrite: []string{"test"}})
}

func put(t *testing.T, fsys workspace.FileSystem, name, content string) {
	t.Helper()
	if _, err := fsys.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, fsys workspace.FileSystem, name, want string) {
	t.Helper()
	if data, err := fsys.ReadFile(t.Context(), name); err != nil || string(data) != want {
		t.Errorf("%s holds %q, %v, want %q", name, data, err, want)
	}
}

const five = "one\ntwo\nthree\nfour\nfive\n"

// TestReadRequired tries to change files that were not read, or not all of what is
// changed.
func TestReadRequired(t *testing.T) {
	for store, open := range map[string]func(t *testing.T) workspace.FileSystem{
		"memory": func(*testing.T) workspace.FileSystem { return memory.New(nil) },
		"local": func(t *testing.T) workspace.FileSystem {
			fsys, err := localbash.Open(t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { fsys.Close() })
			return fsys
		},
	} {
		t.Run(store, func(t *testing.T) {
			fsys := open(t)
			put(t, fsys, "a", five)
			put(t, fsys, "b", "other\n")
			info, err := fsys.Stat(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			set := careful(t, fsys)
			// What shows a file without its lines does not count.
			good(t, set, "ls", object{})
			good(t, set, "stat", object{"path": "a"})
			good(t, set, "glob", object{"pattern": "**"})
			good(t, set, "grep", object{"pattern": "three", "before": 5, "after": 5})
			good(t, set, "edit_file", object{"path": "b", "oldText": "other", "newText": "x", "dryRun": true}) // shows b, changes nothing
			edit := object{"path": "a", "oldText": "three", "newText": "3"}
			for _, c := range []struct {
				op   string
				args object
			}{
				{"write_file", object{"path": "a", "content": "x"}},
				{"write_file", object{"path": "/a", "content": "x"}},
				{"write_file", object{"path": "./b/../a", "content": "x"}},
				{"write_file", object{"path": "a", "content": "x", "ifVersion": info.Version}},
				{"edit_file", edit},
				{"edit_file", object{"path": "a", "oldText": "not in it", "newText": "x"}},
				{"rm", object{"path": "a"}},
				{"move", object{"source": "a", "destination": "c"}},
				{"edit_file", object{"path": "b", "oldText": "other", "newText": "x"}},
			} {
				err := bad(t, set, c.op, c.args, tools.CodeReadRequired)
				contains(t, "hint", err.Hint, "Read it with workspace__test__read_file")
				if strings.Contains(err.Hint+err.Message, "two") {
					t.Errorf("%s shows what the file holds: %+v", c.op, err)
				}
			}
			bad(t, set, "write_file", object{"path": "new", "content": "1\n", "ifVersion": info.Version}, tools.CodeConflict)
			good(t, set, "write_file", object{"path": "new", "content": "1\n"})
			good(t, set, "write_file", object{"path": "new", "content": "2\n"}) // its own
			good(t, set, "edit_file", object{"path": "new", "oldText": "2", "newText": "3"})

			good(t, set, "read_file", object{"path": "a", "line": 2, "limit": 2})
			partial := bad(t, set, "write_file", object{"path": "a", "content": "x"}, tools.CodeReadRequired)
			contains(t, "message", partial.Message, "only the lines 2-3 of 5 were read")
			put(t, fsys, "p", "1\n2\n")
			good(t, set, "read_file", object{"path": "p", "limit": 1})
			put(t, fsys, "p", "1\n2\n3\n")
			bad(t, set, "write_file", object{"path": "p", "content": "x"}, tools.CodeConflict)
			bad(t, set, "edit_file", object{"path": "a", "oldText": "four", "newText": "4"}, tools.CodeReadRequired)
			bad(t, set, "edit_file", object{"path": "a", "oldText": "three\nfour", "newText": "4"}, tools.CodeReadRequired)
			good(t, set, "edit_file", object{"path": "a", "oldText": "two", "newText": "2\n2.5"})
			good(t, set, "edit_file", edit)
			bad(t, set, "edit_file", object{"path": "a", "oldText": "four", "newText": "4"}, tools.CodeReadRequired)
			bad(t, set, "edit_file", object{"path": "a", "oldText": "one", "newText": "1"}, tools.CodeReadRequired)
			holds(t, fsys, "a", "one\n2\n2.5\n3\nfour\nfive\n")
			good(t, set, "read_file", object{"path": "a", "limit": 1})
			good(t, set, "read_file", object{"path": "a", "tail": 2})
			good(t, set, "write_file", object{"path": "a", "content": five})
			good(t, set, "move", object{"source": "a", "destination": "c"})
			good(t, set, "edit_file", object{"path": "c", "oldText": "two", "newText": "2"})
			good(t, set, "copy", object{"source": "c", "destination": "copies/c"})
			good(t, set, "copy", object{"source": "copies", "destination": "more", "recursive": true})
			good(t, set, "write_file", object{"path": "more/c", "content": "x"})
			good(t, set, "copy", object{"source": "b", "destination": "copies/b"})
			bad(t, set, "write_file", object{"path": "copies/b", "content": "x"}, tools.CodeReadRequired)
			bad(t, set, "edit_file", object{"path": "a", "oldText": "two", "newText": "2"}, tools.CodeNotExist)
			put(t, fsys, "a", "somebody else's")
			bad(t, set, "write_file", object{"path": "a", "content": "x"}, tools.CodeReadRequired)
			good(t, set, "rm", object{"path": "c"})
			holds(t, fsys, "a", "somebody else's")
		})
	}
}

// TestForeignChange changes what a session has read.
func TestForeignChange(t *testing.T) {
	fsys := memory.New(nil)
	set := careful(t, fsys)
	for _, c := range []struct {
		op   string
		args object
	}{
		{"write_file", object{"path": "a", "content": "x"}},
		{"edit_file", object{"path": "a", "oldText": "two", "newText": "2"}},
		{"rm", object{"path": "a"}},
		{"move", object{"source": "a", "destination": "b"}},
	} {
		put(t, fsys, "a", five)
		good(t, set, "read_file", object{"path": "a"})
		put(t, fsys, "a", five+"six\n")
		err := bad(t, set, c.op, c.args, tools.CodeConflict)
		contains(t, "hint", err.Hint, "It has changed since it was read.")
		if c.op == "write_file" || c.op == "edit_file" {
			contains(t, "hint", err.Hint, "+six")
		}
		holds(t, fsys, "a", five+"six\n")
	}
	good(t, set, "read_file", object{"path": "a"})
	good(t, set, "edit_file", object{"path": "a", "oldText": "six", "newText": "6"})
}

// TestReadRequiredOfPatchThatDoesNotApply tests that the error of a hunk, which quotes the file,
// is only for a session that has read the file as it is.
func TestReadRequiredOfPatchThatDoesNotApply(t *testing.T) {
	fsys := memory.New(nil)
	put(t, fsys, "a", "one\n")
	put(t, fsys, "b", "one\n")
	set := careful(t, fsys)
	twice := object{"patch": "*** Begin Patch\n*** Update File: a\n@@\n-zwei\n+two\n@@\n-drei\n+three\n*** End Patch"}
	contains(t, "hint", bad(t, set, "apply_patch", twice, tools.CodeReadRequired).Hint, "Read it with")
	patch := object{"patch": "*** Begin Patch\n*** Update File: a\n@@\n-zwei\n+two\n*** Update File: b\n@@\n-zwei\n+two\n" +
		"*** Add File: c\n+c\n*** Update File: c\n@@\n-d\n+e\n*** End Patch"}
	if err := bad(t, set, "apply_patch", patch, tools.CodeReadRequired); strings.Contains(err.Message, "one") {
		t.Errorf("the message %q quotes a file that was not read", err.Message)
	} else {
		contains(t, "hint", err.Hint, "Read these 2 files first: a, b.")
	}
	both := object{"patch": strings.ReplaceAll(patch["patch"].(string)[:strings.Index(patch["patch"].(string), "*** Add")], "zwei", "one") + "*** End Patch"}
	contains(t, "hint", bad(t, set, "apply_patch", both, tools.CodeReadRequired).Hint, "Read these 2 files first: a, b.")
	good(t, set, "read_file", object{"path": "a"})
	good(t, set, "read_file", object{"path": "b"})
	contains(t, "message", bad(t, set, "apply_patch", patch, tools.CodeTextNotFound).Message, `line 1 of the file is "one"`)
	put(t, fsys, "a", "eins\n")
	contains(t, "hint", bad(t, set, "apply_patch", patch, tools.CodeConflict).Hint, "+eins")
}

// TestForeignRemoval removes what a session has read, all of it or a part. The next write
// says so, and the one after it creates the file.
func TestForeignRemoval(t *testing.T) {
	for name, read := range map[string]object{"all": {"path": "a"}, "part": {"path": "a", "limit": 1}} {
		t.Run(name, func(t *testing.T) {
			fsys := memory.New(nil)
			set := careful(t, fsys)
			put(t, fsys, "a", five)
			version := good(t, set, "read_file", read)["version"]
			if err := fsys.Rm(t.Context(), "a", nil); err != nil {
				t.Fatal(err)
			}
			write := object{"path": "a", "content": "x"}
			err := bad(t, set, "write_file", write, tools.CodeConflict)
			contains(t, "hint", err.Hint, "It no longer exists. The same write now creates it.")
			bad(t, set, "write_file", object{"path": "a", "content": "x", "ifVersion": version}, tools.CodeConflict)
			good(t, set, "write_file", write)
			holds(t, fsys, "a", "x")

			put(t, fsys, "a", five)
			version = good(t, set, "read_file", read)["version"]
			if err := fsys.Rm(t.Context(), "a", nil); err != nil {
				t.Fatal(err)
			}
			err = bad(t, set, "write_file", object{"path": "a", "content": "y", "ifVersion": version}, tools.CodeConflict)
			contains(t, "hint", err.Hint, "The same write without ifVersion creates it.")
			good(t, set, "write_file", object{"path": "a", "content": "y"})
		})
	}
}

// TestPreflightOfForeignRemoval plans to append to a file that somebody else has deleted: the call
// says so, and the next one creates it.
func TestPreflightOfForeignRemoval(t *testing.T) {
	fsys := memory.New(nil)
	set := careful(t, fsys)
	put(t, fsys, "a", five)
	call(t, set, "read_file", object{"path": "a"})
	if err := fsys.Rm(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	write := object{"path": "a", "content": "six\n", "append": true}
	got, err := preflight(t, set, "write_file", write)
	if err != nil || len(got) != 2 || got[1].Op != policy.OpWrite {
		t.Errorf("Preflight = %+v, %v, want a read and a write", got, err)
	}
	failed := bad(t, set, "write_file", write, tools.CodeConflict)
	contains(t, "hint", failed.Hint, "It no longer exists. The same write now creates it.")
	good(t, set, "write_file", write)
	holds(t, fsys, "a", "six\n")
}

// TestSessions tests that each session has read what it has read, also after it
// was stored.
func TestSessions(t *testing.T) {
	fsys := memory.New(nil)
	put(t, fsys, "a", five)
	put(t, fsys, "b", five)
	set := careful(t, fsys)
	as := func(s *tools.Session, op, args string) *tools.Result {
		tool, _ := set.Lookup(op)
		result, err := tool.Call(tools.WithSession(t.Context(), s), json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	const edit = `{"path": "a", "oldText": "two", "newText": "zwei"}`
	first, second := tools.NewSession(), tools.NewSession()
	as(first, "read_file", `{"path": "a"}`)
	as(first, "read_file", `{"path": "b", "line": 2, "limit": 2}`)
	if result := as(second, "edit_file", edit); !result.IsError || result.Error.Code != tools.CodeReadRequired {
		t.Errorf("an edit in another session = %s, want %s", result.Text, tools.CodeReadRequired)
	}
	stored, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(stored), "three") {
		t.Errorf("the stored session has contents: %s", stored)
	}
	again := &tools.Session{}
	if err := json.Unmarshal(stored, again); err != nil {
		t.Fatal(err)
	}
	if again.ID() != first.ID() || first.ID() == second.ID() {
		t.Errorf("ids: the first %q, stored %q, the second %q", first.ID(), again.ID(), second.ID())
	}
	if result := as(again, "edit_file", edit); result.IsError {
		t.Errorf("an edit in the stored session = %s", result.Text)
	}
	if result := as(again, "write_file", `{"path": "b", "content": ""}`); !result.IsError || !strings.Contains(result.Text, "lines 2-3 of 5") {
		t.Errorf("a write over a part in the stored session = %s", result.Text)
	}
	if result := as(first, "edit_file", `{"path": "a", "oldText": "one", "newText": "eins"}`); !result.IsError || result.Error.Code != tools.CodeConflict {
		t.Errorf("an edit of what another session has changed = %s, want %s", result.Text, tools.CodeConflict)
	}
	unnamed := &tools.Session{}
	if err := json.Unmarshal([]byte(`{"files": []}`), unnamed); err != nil || unnamed.ID() == "" {
		t.Errorf("a stored session without an id has the id %q, %v", unnamed.ID(), err)
	}
	for _, damaged := range []string{`[]`, `null`, `{}`, `{"id": "a", "name": "b"}`, `{"id": "../x", "files": []}`, `{"id": "", "files": []}`, `{"files": [{"path": "a"}]}`, strings.Replace(string(stored), "[[2,3]]", "[[3,2]]", 1), strings.Replace(string(stored), "[[2,3]]", "[[2,30]]", 1)} {
		if err := json.Unmarshal([]byte(damaged), &tools.Session{}); err == nil {
			t.Errorf("%s is taken for a session", damaged)
		}
	}
}

// TestReadRequiredWithoutVersions uses a store that has neither versions nor
// conditional writes.
func TestReadRequiredWithoutVersions(t *testing.T) {
	fsys := afero.FromAfero(aferolib.NewMemMapFs(), nil)
	put(t, fsys, "a", five)
	set := careful(t, fsys)
	bad(t, set, "write_file", object{"path": "a", "content": "x"}, tools.CodeReadRequired)
	good(t, set, "write_file", object{"path": "new", "content": "x"})
	good(t, set, "read_file", object{"path": "a"})
	put(t, fsys, "a", "changed\n")
	bad(t, set, "write_file", object{"path": "a", "content": "x"}, tools.CodeConflict)
	good(t, set, "read_file", object{"path": "a"})
	good(t, set, "write_file", object{"path": "a", "content": "x"})
	holds(t, fsys, "a", "x")
}

// TestWriteOfNoFile tests that only what can be read has to be read: where there is no file,
// a write is what it is without a session.
func TestWriteOfNoFile(t *testing.T) {
	dir := t.TempDir()
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Skipf("this computer makes no sockets here: %v", err)
	}
	defer socket.Close()
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "d"), 0o755), os.WriteFile(filepath.Join(dir, "a"), []byte("one"), 0o644),
		os.Symlink("loop", filepath.Join(dir, "loop")), os.Symlink("../b", filepath.Join(dir, "outside")), os.Symlink("a/b", filepath.Join(dir, "below")), os.Symlink("a", filepath.Join(dir, "link")), os.Symlink("d", filepath.Join(dir, "dirlink")),
		os.Symlink("new", filepath.Join(dir, "dangling")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	unconditional := restricted{fsys, workspace.Capabilities{Write: true}}
	for name, set := range map[string]*tools.Set{
		"careful": careful(t, fsys), "unconditional": careful(t, unconditional), "free": newSetOf(t, workspace.New("test", fsys, nil), nil),
	} {
		t.Run(name, func(t *testing.T) {
			for path, want := range map[string]tools.Code{
				"d": tools.CodeIsDir, "dirlink": tools.CodeIsDir, "socket": tools.CodeInvalid, "loop": tools.CodeInvalid,
				"outside": tools.CodeInvalid, "below": tools.CodeNotDir,
			} {
				bad(t, set, "write_file", object{"path": path, "content": "x"}, want)
				if name != "unconditional" {
					bad(t, set, "write_file", object{"path": path, "content": "x", "append": true}, want)
				}
			}
			if name != "free" {
				bad(t, set, "write_file", object{"path": "link", "content": "x"}, tools.CodeReadRequired)
			}
			out := good(t, set, "write_file", object{"path": "dangling", "content": "1"})
			if out["path"] != "dangling" || out["created"] != true {
				t.Errorf("write_file to a symlink without a target = %v", out)
			}
			good(t, set, "write_file", object{"path": "dangling", "content": "2"}) // its own
			holds(t, fsys, "new", "2")
			if err := os.Remove(filepath.Join(dir, "new")); err != nil {
				t.Fatal(err)
			}
			if name == "unconditional" { // which has no append
				return
			}
			if name == "careful" {
				bad(t, set, "write_file", object{"path": "dangling", "content": "1", "append": true}, tools.CodeConflict)
			}
			good(t, set, "write_file", object{"path": "dangling", "content": "1", "append": true})
			good(t, set, "write_file", object{"path": "dangling", "content": "2", "append": true})
			holds(t, fsys, "new", "12")
			if err := os.Remove(filepath.Join(dir, "new")); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestReadRequiredAfterMove tests that a session knows a file by its new name, in stores
// whose versions change with the name and in others.
func TestReadRequiredAfterMove(t *testing.T) {
	local, err := localbash.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, fsys := range map[string]workspace.FileSystem{"memory": memory.New(nil), "localbash": local} {
		for op, args := range map[string]object{
			"write_file": {"content": "x"},
			"edit_file":  {"oldText": "two", "newText": "zwei"},
			"rm":         {},
			"move":       {"source": "", "destination": "again"},
		} {
			t.Run(name+"/"+op, func(t *testing.T) {
				set := careful(t, fsys)
				for _, other := range []bool{false, true} {
					old, path := "old-"+op, "new-"+op+fmt.Sprint(other)
					put(t, fsys, old, five)
					good(t, set, "read_file", object{"path": old})
					good(t, set, "move", object{"source": old, "destination": path})
					if args["path"] = path; op == "move" {
						delete(args, "path")
						args["source"] = path
					}
					if !other {
						good(t, set, op, args)
						continue
					}
					put(t, fsys, path, "changed by somebody else\n")
					bad(t, set, op, args, tools.CodeConflict)
				}
			})
		}
	}
}

// TestSessionKeepsContentsAfterMoves moves files to names that the session has old records
// for: it still keeps the contents of others for its diffs.
func TestSessionKeepsContentsAfterMoves(t *testing.T) {
	fsys := memory.New(nil)
	set := careful(t, fsys)
	put(t, fsys, "other", five)
	good(t, set, "read_file", object{"path": "other"})
	for range 8 { // of 3 MiB each are more than the 16 MiB that a session keeps
		put(t, fsys, "new", strings.Repeat("line\n", 600<<10))
		good(t, set, "read_file", object{"path": "new"})
		if err := fsys.Rm(t.Context(), "new", nil); err != nil {
			t.Fatal(err)
		}
		put(t, fsys, "old", "one\n")
		good(t, set, "read_file", object{"path": "old"})
		good(t, set, "move", object{"source": "old", "destination": "new"})
	}
	put(t, fsys, "other", five+"six\n")
	contains(t, "hint", bad(t, set, "rm", object{"path": "other"}, tools.CodeConflict).Hint, "+six")
}

// unsteady is a file system whose Stat or ReadFile does not work at the moment.
type unsteady struct {
	workspace.FileSystem
	op *string // which of them
}

func (f unsteady) fails(op, name string) error {
	if *f.op == op {
		return &fs.PathError{Op: op, Path: name, Err: workspace.ErrUnavailable}
	}
	return nil
}

func (f unsteady) Capabilities() workspace.Capabilities {
	return workspace.Capabilities{Write: true, Move: true}
}

func (f unsteady) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	if err := f.fails("stat", name); err != nil {
		return workspace.FileInfo{}, err
	}
	return f.FileSystem.Stat(ctx, name)
}

func (f unsteady) ReadFile(ctx context.Context, name string) ([]byte, error) {
	if err := f.fails("read_file", name); err != nil {
		return nil, err
	}
	return f.FileSystem.ReadFile(ctx, name)
}

func (f unsteady) Move(ctx context.Context, source, destination string) error {
	return workspace.Move(ctx, f.FileSystem, source, destination)
}

// TestReadRequiredWhileTheStoreFails tests that a question that the store does not
// answer is not taken for a yes.
func TestReadRequiredWhileTheStoreFails(t *testing.T) {
	store, op := memory.New(nil), ""
	put(t, store, "a", five)
	put(t, store, "b", five)
	set := careful(t, unsteady{store, &op})
	good(t, set, "read_file", object{"path": "b"})
	op = "stat"
	bad(t, set, "write_file", object{"path": "a", "content": "x"}, tools.CodeUnavailable)
	bad(t, set, "rm", object{"path": "a"}, tools.CodeUnavailable)
	bad(t, set, "move", object{"source": "a", "destination": "c"}, tools.CodeUnavailable)
	op = "read_file"
	bad(t, set, "write_file", object{"path": "b", "content": "x"}, tools.CodeUnavailable)
	holds(t, store, "a", five)
	holds(t, store, "b", five)
}

// TestForeignChangeWithoutVersions tests move and rm on a store that has no
// versions to compare.
func TestForeignChangeWithoutVersions(t *testing.T) {
	store, op := memory.New(nil), ""
	set := careful(t, versionless{unsteady{store, &op}})
	for _, c := range []struct {
		op   string
		args object
	}{{"rm", object{"path": "a"}}, {"move", object{"source": "a", "destination": "b"}}} {
		put(t, store, "a", five)
		good(t, set, "read_file", object{"path": "a"})
		put(t, store, "a", "changed\n")
		bad(t, set, c.op, c.args, tools.CodeConflict)
		holds(t, store, "a", "changed\n")
	}
}

// versionless is a file system whose files have no versions.
type versionless struct{ unsteady }

func (v versionless) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	info, err := v.unsteady.Stat(ctx, name)
	info.Version = ""
	return info, err
}

// TestEditedIsShown tests that a session may change what its own edits have
// written, and no line that it has not seen.
func TestEditedIsShown(t *testing.T) {
	fsys := memory.New(nil)
	set := careful(t, fsys)
	put(t, fsys, "a", "one\n")
	good(t, set, "read_file", object{"path": "a"})
	good(t, set, "edit_file", object{"path": "a", "oldText": "one\n", "newText": "1\n2"})
	good(t, set, "write_file", object{"path": "a", "content": five})

	put(t, fsys, "b", five)
	good(t, set, "read_file", object{"path": "b", "line": 1, "limit": 1})
	good(t, set, "read_file", object{"path": "b", "line": 3, "limit": 2})
	good(t, set, "edit_file", object{"path": "b", "edits": []object{
		{"oldText": "one", "newText": "1\n1.5"}, {"oldText": "three\n", "newText": ""}, {"oldText": "four", "newText": "4"},
	}})
	holds(t, fsys, "b", "1\n1.5\ntwo\n4\nfive\n")
	good(t, set, "edit_file", object{"path": "b", "oldText": "1.5", "newText": "x"})
	good(t, set, "edit_file", object{"path": "b", "oldText": "4\n", "newText": "y\n"})
	for _, unseen := range []string{"two", "five", "y\nfive"} {
		bad(t, set, "edit_file", object{"path": "b", "oldText": unseen, "newText": "z"}, tools.CodeReadRequired)
	}
}

// identified records the ids of the sessions that read.
type identified struct {
	workspace.FileSystem
	ids *[]string
}

func (f identified) ReadFile(ctx context.Context, name string) ([]byte, error) {
	*f.ids = append(*f.ids, sessionid.ID(ctx))
	return f.FileSystem.ReadFile(ctx, name)
}

// TestSessionID tests that the layers below learn which session an operation is of,
// also if the tools need none.
func TestSessionID(t *testing.T) {
	store := memory.New(nil)
	put(t, store, "a", five)
	var ids []string
	ws := workspace.New("test", identified{store, &ids}, nil)
	set := newSetOf(t, ws, nil)
	good(t, set, "read_file", object{"path": "a"})
	s := tools.NewSession()
	ctx := tools.WithSession(t.Context(), s)
	tool, _ := set.Lookup("read_file")
	if _, err := tool.Call(ctx, json.RawMessage(`{"path": "a"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := ws.ReadFile(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if len(ids) != 3 || ids[0] == "" || ids[0] == s.ID() || ids[1] != s.ID() || ids[2] != s.ID() {
		t.Errorf("the session %q reads as %q, want its own id after one of the Set", s.ID(), ids)
	}
}

// TestZeroSession tests that a session that nobody made, as after one that cannot be restored, is
// one of its own: it undoes no change of another one.
func TestZeroSession(t *testing.T) {
	t.Parallel()
	backups, err := backup.New(memory.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	put(t, backups, "a", five)
	set := careful(t, backups)
	write := func(s *tools.Session, op, args string) {
		t.Helper()
		tool, _ := set.Lookup(op)
		if result, err := tool.Call(tools.WithSession(t.Context(), s), json.RawMessage(args)); err != nil || result.IsError {
			t.Fatalf("%s(%s) = %v, %v", op, args, result, err)
		}
	}
	var zero, saved tools.Session
	if err := json.Unmarshal([]byte(`{"id": "x"}`), &zero); err == nil {
		t.Fatal("Unmarshal of no session did not fail")
	}
	write(tools.NewSession(), "write_file", `{"path": "b", "content": "theirs"}`)
	if changes, err := zero.Undo(t.Context(), backups, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Undo = %v, %v, want that there is nothing to undo", changes, err)
	}
	write(&zero, "read_file", `{"path": "a"}`)
	write(&zero, "write_file", `{"path": "a", "content": "mine"}`)
	if data, err := json.Marshal(&saved); err != nil || json.Unmarshal(data, &zero) != nil || zero.ID() == "" || zero.ID() != saved.ID() {
		t.Errorf("the session %q is restored from %s, %v as %q", saved.ID(), data, err, zero.ID())
	}
	holds(t, backups, "b", "theirs")
}

// TestReadRequiredNoLines edits a file after the only line that was read has been deleted.
func TestReadRequiredNoLines(t *testing.T) {
	fsys := memory.New(nil)
	put(t, fsys, "a", "one\ntwo\nthree\n")
	set := careful(t, fsys)
	good(t, set, "read_file", object{"path": "a", "line": 2, "limit": 1})
	good(t, set, "edit_file", object{"path": "a", "oldText": "two\n", "newText": ""})
	err := bad(t, set, "edit_file", object{"path": "a", "oldText": "one", "newText": "1"}, tools.CodeReadRequired)
	contains(t, "message", err.Message, "none of its lines was read")
}

// TestReadRequiredNothingShown removes a file after a read that had no room for a line of it.
func TestReadRequiredNothingShown(t *testing.T) {
	fsys := memory.New(nil)
	put(t, fsys, "a", "one\ntwo\n")
	set := careful(t, fsys)
	good(t, set, "read_files", object{"paths": []string{"a"}, "maxBytes": 1})
	bad(t, set, "rm", object{"path": "a"}, tools.CodeReadRequired)
	good(t, set, "read_files", object{"paths": []string{"a"}, "maxBytes": 5})
	good(t, set, "rm", object{"path": "a"})
}

// TestReadRequiredOfBinaryFile tests that a file that is not text can be removed after a read
// of it, which is an error in some dialects.
func TestReadRequiredOfBinaryFile(t *testing.T) {
	for dialect, c := range map[tools.Dialect]struct {
		read, remove string
		name, patch  object
	}{
		tools.DialectAgentkit: {"fs_read_file", "fs_delete", object{"path": "a"}, nil},
		tools.DialectFS:       {"file_read", "file_delete", object{"path": "a"}, nil},
		tools.DialectOpenAI:   {"read_file", "apply_patch", object{"file_path": "a"}, object{"input": "*** Begin Patch\n*** Delete File: a\n*** End Patch"}},
	} {
		t.Run(string(dialect), func(t *testing.T) {
			fsys := memory.New(nil)
			put(t, fsys, "a", "\x00\x01")
			set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{Dialect: dialect, ReadBeforeWrite: []string{"test"}})
			args := c.name
			if c.patch != nil {
				args = c.patch
			}
			for _, step := range []struct {
				op   string
				args object
				fail bool
			}{{c.remove, args, true}, {c.read, c.name, true}, {c.remove, args, false}} {
				if result := call(t, set, step.op, step.args); result.IsError != step.fail {
					t.Fatalf("%s(%v) = %s, want an error: %v", step.op, step.args, result.Text, step.fail)
				}
			}
		})
	}
}

// TestReadRequiredOfLargeFile tests that nobody is told to read a file that is too large for
// that.
func TestReadRequiredOfLargeFile(t *testing.T) {
	fsys := memory.New(nil)
	put(t, fsys, "a", strings.Repeat("x", 100))
	set := newSetOf(t, workspace.New("test", fsys, &workspace.Options{MaxFileSize: 99}), &tools.Options{ReadBeforeWrite: []string{"test"}})
	for op, args := range map[string]object{
		"rm": {"path": "a"}, "move": {"source": "a", "destination": "b"}, "write_file": {"path": "a", "content": "x"},
	} {
		err := bad(t, set, op, args, tools.CodeReadRequired)
		if want := "It is too large to be read here. Ask the user."; err.Hint != want {
			t.Errorf("%s: hint = %q, want %q", op, err.Hint, want)
		}
	}
}

// TestReadRequiredWithoutReadFile tests that the hint names a tool that the set has.
func TestReadRequiredWithoutReadFile(t *testing.T) {
	fsys := memory.New(nil)
	put(t, fsys, "a", strings.Repeat("x\n", 3000))
	set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{ReadBeforeWrite: []string{"test"}, Disable: []string{"read_file"}})
	remove := object{"path": "a"}
	if err := bad(t, set, "rm", remove, tools.CodeReadRequired); err.Hint != "Read it with workspace__test__read_files, and then do this again." {
		t.Errorf("hint of rm = %q", err.Hint)
	}
	good(t, set, "read_files", object{"paths": []string{"a"}})
	err := bad(t, set, "write_file", object{"path": "a", "content": "x"}, tools.CodeReadRequired)
	if err.Hint != "With workspace__test__edit_file you can change those that were read." {
		t.Errorf("hint of write_file = %q", err.Hint)
	}
	put(t, fsys, "a", "new\n")
	err = bad(t, set, "rm", remove, tools.CodeConflict)
	contains(t, "hint", err.Hint, "Read it again with workspace__test__read_files, and then decide.")
	good(t, set, "read_files", object{"paths": []string{"a"}})
	good(t, set, "rm", remove)
}
