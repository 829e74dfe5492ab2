package conformance

import (
	"errors"
	"io/fs"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// wrapperCases are the cases for wrappers with Unwrap. A logger between a tool
// and a bucket must not turn a server-side copy into a download, or hide that
// the files have versions.
var wrapperCases = []testCase{
	{"capabilities", "U1", 0, wrappedCapabilities},
	{"reading", "U1", needFiles, wrappedReading},
	{"creating", "U1", needWrite, wrappedCreating},
	{"moving", "U1", needWrite | needMove, wrappedMoving},
	{"copying", "U1", needWrite | needCopy, wrappedCopying},
	{"workspace", "U2", needFiles, wrappedWorkspace},
}

// neutral is a wrapper as a logger or a retry is one: as an embedded interface
// it has the nine methods and none of the optional ones.
type neutral struct{ workspace.FileSystem }

// Unwrap implements [fallback.Unwrapper].
func (n neutral) Unwrap() workspace.FileSystem { return n.FileSystem }

var _ fallback.Unwrapper = neutral{}

// wrapped returns e on its file system in two neutral wrappers. Two, because an
// Unwrap that is called once finds the inner wrapper.
func (e *env) wrapped() *env {
	w := *e
	w.fsys = neutral{neutral{e.fsys}}
	w.caps = workspace.CapabilitiesOf(w.fsys)
	return &w
}

// wrappedCapabilities tests that capabilities and root are found through
// wrappers.
func wrappedCapabilities(e *env) {
	if got := e.wrapped().caps; got != e.caps {
		e.Errorf("CapabilitiesOf through a wrapper = %+v, want %+v", got, e.caps)
	}
	if got, want := fallback.Root(e.wrapped().fsys), fallback.Root(e.fsys); got != want {
		e.Errorf("fallback.Root through a wrapper = %q, want %q", got, want)
	}
}

// wrappedReading tests that the optional ways of reading are found through
// wrappers.
func wrappedReading(e *env) {
	e.given(files{"dir/file": "content", "dir/sub/x": ""})
	w := e.wrapped()
	data, version := e.readVersioned("dir/file", 0)
	gotData, gotVersion := w.readVersioned("dir/file", 0)
	if gotData != data || gotVersion != version {
		e.Errorf("ReadVersioned(%q) through a wrapper = %q, %q, want %q, %q", "dir/file", gotData, gotVersion, data, version)
	}
	w.streams("dir/file", workspace.OpenOptions{Offset: 3, Length: 2}, "te")
	e.equal(w.walked(".", "dir", nil), []string{"dir/file", "dir/sub", "dir/sub/x"}, "Walk(%q, After: %q) through a wrapper", ".", "dir")
	w.resolves("dir/file", "dir/file")
}

// wrappedCreating tests that Create is found through wrappers.
func wrappedCreating(e *env) {
	e.wrapped().create("dir/file", "content")
	e.leaves(files{"dir/": "", "dir/file": "content"}, "Create(%q) through a wrapper", "dir/file")
}

// wrappedMoving tests that Move is found through wrappers.
func wrappedMoving(e *env) {
	e.given(files{"a/x": "1"})
	e.wrapped().move("a", "b")
	e.leaves(files{"b/": "", "b/x": "1"}, "Move(%q, %q) through a wrapper", "a", "b")
}

// wrappedCopying tests that Copy is found through wrappers.
func wrappedCopying(e *env) {
	e.given(files{"a": "1"})
	e.wrapped().copyTo("a", "b")
	e.leaves(files{"a": "1", "b": "1"}, "Copy(%q, %q) through a wrapper", "a", "b")
}

// wrappedWorkspace reads by the names that only a Workspace accepts. A model
// repeats the absolute paths that it has seen in the output of commands, so
// names below the root's own path are accepted. What is returned has the clean
// name.
func wrappedWorkspace(e *env) {
	e.given(files{"dir/file": "content"})
	w := *e
	w.fsys = workspace.New("test", e.fsys, nil)
	for _, name := range []string{"/dir/file", "./dir/file", "dir//file", "dir/../dir/file"} {
		w.has(name, "content")
	}
	if root := fallback.Root(e.fsys); root != "" {
		w.has(root+"/dir/file", "content")
	}
	if diff := cmp.Diff(e.stat("dir/file"), w.stat("/dir/file")); diff != "" {
		e.Errorf("Stat(%q) through a Workspace (-direct +workspace):\n%s", "/dir/file", diff)
	}
}

// iofsCases are the cases for the view as an [fs.FS]. Templates, archives and
// other code of the standard library read a workspace by this view.
var iofsCases = []testCase{
	{"fstest", "U3", needFiles, iofsTest},
	{"fstest-empty", "U3", 0, iofsEmpty},
	{"errors", "U3", needFiles, iofsErrors},
}

// view returns the view of a workspace as an fs.FS.
func (e *env) view() fs.FS { return workspace.New("test", e.fsys, nil).FS(e.ctx) }

// iofsTest runs fstest.TestFS on the view. It opens, reads, lists and globs
// everything, in parts as well, and compares what these say about each file.
func iofsTest(e *env) {
	e.given(files{
		"file": "content", "empty": "", "bytes": everyByte(), ".hidden/file": "x",
		"a-b": "1", "a/b": "2", "a/c/d": "3", "dir/empty/": "",
	})
	expected := []string{"file", "empty", "bytes", ".hidden/file", "a-b", "a/b", "a/c/d", "dir/empty"}
	if err := fstest.TestFS(e.view(), expected...); err != nil {
		e.Errorf("fstest.TestFS of the view as fs.FS = %v, want nil", err)
	}
}

// iofsEmpty tests the view of an empty workspace.
func iofsEmpty(e *env) {
	if err := fstest.TestFS(e.view()); err != nil {
		e.Errorf("fstest.TestFS of the view as fs.FS, when empty, = %v, want nil", err)
	}
}

// iofsErrors tests that errors of the view have the kinds that io/fs expects.
// io/fs has no cleaned names: each that is not valid is fs.ErrInvalid, although
// the Workspace below would accept some.
func iofsErrors(e *env) {
	e.given(files{"file": "x"})
	for name, want := range map[string]error{"none": fs.ErrNotExist, "/file": fs.ErrInvalid, "": fs.ErrInvalid, "../file": fs.ErrInvalid} {
		if _, err := fs.ReadFile(e.view(), name); !errors.Is(err, want) {
			e.Errorf("fs.ReadFile(%q) of the view as fs.FS = %v, want %q", name, err, want)
		}
	}
}
