package conformance

import (
	"errors"
	"io/fs"
	"testing/fstest"

	"github.com/workspacekit/workspacekit/workspace"
)

// iofsCases returns the cases for the view as an [fs.FS].
func iofsCases() []testCase {
	return []testCase{
		{"fstest", "U3", needFiles, iofsTest},
		{"fstest-empty", "U3", 0, iofsEmpty},
		{"errors", "U3", needFiles, iofsErrors},
	}
}

// view returns the view of a workspace as an fs.FS.
func (e *env) view() fs.FS { return workspace.New("test", e.fsys, nil).FS(e.ctx) }

// iofsTest runs fstest.TestFS on the view.
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
func iofsErrors(e *env) {
	e.given(files{"file": "x"})
	for name, want := range map[string]error{"none": fs.ErrNotExist, "/file": fs.ErrInvalid, "": fs.ErrInvalid, "../file": fs.ErrInvalid} {
		if _, err := fs.ReadFile(e.view(), name); !errors.Is(err, want) {
			e.Errorf("fs.ReadFile(%q) of the view as fs.FS = %v, want %q", name, err, want)
		}
	}
}
