package conformance

import (
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// mkdirCases are the cases for Mkdir. A bucket has no directories. What a
// provider does instead must behave like one, as an agent cannot know where it
// works.
var mkdirCases = []testCase{
	{"new", "M1", needWrite, mkdirNew},
	{"in-directory", "M1", needWrite, mkdirInDirectory},
	{"existing", "M2 E1 E2 E5", needWrite, mkdirExisting},
	{"missing-parent", "M3 E1 E2 E5", needWrite, mkdirMissingParent},
	{"recursive", "M4", needWrite, mkdirRecursive},
	{"recursive-existing", "M5", needWrite, mkdirRecursiveExisting},
	{"recursive-file", "M6 E1 E2 E5", needWrite, mkdirRecursiveFile},
	{"file-in-new-directory", "M1 W1", needWrite, mkdirThenWrite},
	{"after-rm", "M1 X2", needWrite, mkdirAfterRm},
}

// mkdirNew tests that a new directory exists, is listed and is empty. The
// object that stands for it must not be listed in it.
func mkdirNew(e *env) {
	e.mkdir("dir", nil)
	e.leaves(files{"dir/": ""}, "Mkdir(%q)", "dir")
	if info := e.stat("dir"); !info.IsDir() {
		e.Errorf("Stat(%q) = %+v, want a directory", "dir", info)
	}
}

// mkdirInDirectory tests that Mkdir leaves the other names of the parent
// alone.
func mkdirInDirectory(e *env) {
	e.given(files{"dir/file": "x"})
	e.mkdir("dir/new", &workspace.MkdirOptions{})
	e.equal(e.names("dir", nil), []string{"file", "new"}, "Ls(%q)", "dir")
}

// mkdirExisting tests that a name that exists is refused, whatever it is. Two
// agents that make a directory in order to own it must not both succeed.
func mkdirExisting(e *env) {
	e.given(files{"file": "x", "dir/file": "x", "empty/": ""})
	before := e.tree()
	for _, name := range []string{"file", "dir", "empty", "dir/file", "."} {
		err := e.fsys.Mkdir(e.ctx, name, nil)
		e.refused(err, fs.ErrExist, at(ops.Mkdir, name), "Mkdir(%q)", name)
	}
	e.unchanged(before, "Mkdir of names that exist")
}

// mkdirMissingParent tests that Mkdir creates no parents by itself. A store
// without directories creates any name at once. The error tells a model that it
// has misspelled the parent, and no directory of the wrong name may stay.
func mkdirMissingParent(e *env) {
	e.given(files{"dir/file": "x"})
	before := e.tree()
	for _, name := range []string{"none/new", "dir/none/new", "none/none/new"} {
		err := e.fsys.Mkdir(e.ctx, name, nil)
		e.refused(err, fs.ErrNotExist, at(ops.Mkdir, name), "Mkdir(%q)", name)
	}
	e.unchanged(before, "Mkdir without a parent")
}

// mkdirRecursive tests that Recursive creates the missing parents. Each parent
// has an entry of its own, at any depth.
func mkdirRecursive(e *env) {
	e.mkdir("a/b/c", &workspace.MkdirOptions{Recursive: true})
	e.mkdir("a/d", &workspace.MkdirOptions{Recursive: true})
	e.mkdir("1/2/3/4/5/6", &workspace.MkdirOptions{Recursive: true})
	e.leaves(files{
		"1/": "", "1/2/": "", "1/2/3/": "", "1/2/3/4/": "", "1/2/3/4/5/": "", "1/2/3/4/5/6/": "",
		"a/": "", "a/b/": "", "a/b/c/": "", "a/d/": "",
	}, "Mkdir(Recursive)")
}

// mkdirRecursiveExisting tests that Recursive accepts a directory that exists
// and changes nothing.
func mkdirRecursiveExisting(e *env) {
	e.given(files{"dir/sub/file": "x", "empty/": ""})
	before := e.tree()
	for _, name := range []string{"dir", "dir/sub", "empty", "."} {
		e.mkdir(name, &workspace.MkdirOptions{Recursive: true})
	}
	e.unchanged(before, "Mkdir(Recursive) of directories that exist")
}

// mkdirRecursiveFile tests that Recursive refuses a file, and names below one.
// ErrNotDir says what is in the way. ErrExist would sound as if the directory
// were there.
func mkdirRecursiveFile(e *env) {
	e.given(files{"file": "x", "dir/file": "y"})
	before := e.tree()
	for _, name := range []string{"file", "dir/file", "dir/file/new", "file/a/b"} {
		err := e.fsys.Mkdir(e.ctx, name, &workspace.MkdirOptions{Recursive: true})
		e.refused(err, workspace.ErrNotDir, at(ops.Mkdir, name), "Mkdir(%q, Recursive)", name)
	}
	e.unchanged(before, "Mkdir(Recursive) of files")
}

// mkdirThenWrite tests that a new directory takes files, and stays when they
// are removed. A marker that is replaced by the first file leaves no directory
// when that file is removed.
func mkdirThenWrite(e *env) {
	e.mkdir("dir", nil)
	e.write("dir/file", "x")
	e.equal(e.names("dir", nil), []string{"file"}, "Ls(%q)", "dir")
	e.rm("dir/file", nil)
	e.equal(e.names(".", nil), []string{"dir"}, "Ls(%q)", ".")
}

// mkdirAfterRm tests that a removed directory can be created again.
func mkdirAfterRm(e *env) {
	for range 2 {
		e.mkdir("dir", nil)
		e.rm("dir", nil)
	}
	e.equal(e.names(".", nil), []string{}, "Ls(%q)", ".")
}
