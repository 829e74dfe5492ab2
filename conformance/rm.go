package conformance

import (
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// rmCases are the cases for Rm. What is removed by mistake is lost: where an
// agent works, there is often no trash.
var rmCases = []testCase{
	{"file", "X1", needWrite, rmFile},
	{"empty-directory", "X2", needWrite, rmEmptyDirectory},
	{"not-empty", "X3 E1 E2 E5", needWrite, rmNotEmpty},
	{"recursive", "X4", needWrite, rmRecursive},
	{"recursive-file", "X4", needWrite, rmRecursiveFile},
	{"recursive-empty-directory", "X4", needWrite, rmRecursiveEmptyDirectory},
	{"recursive-missing", "X5 E1 E2", needWrite, rmRecursiveMissing},
	{"root", "X6 E1 E2 E5", needWrite, rmRoot},
	{"empty-root", "X6 E1 E2", needWrite, rmEmptyRoot},
	{"last-file-leaves-directory", "X7", needWrite, rmLastFile},
	{"prefix-of-siblings", "X8", needWrite, rmPrefix},
	{"twice", "X1 E4", needWrite, rmTwice},
	{"and-write-again", "X1 W1", needWrite, rmAndWriteAgain},
	{"recursive-eleven-hundred", "X4", needWrite | needTime, rmEleven},
}

// rmFile tests that Rm removes a file, which can then neither be found nor
// read. A cache must not serve it any longer, neither its description nor its
// bytes.
func rmFile(e *env) {
	e.given(files{"dir/": "", "dir/file": "x", "dir/other": "y"})
	e.rm("dir/file", nil)
	e.leaves(files{"dir/": "", "dir/other": "y"}, "Rm(%q)", "dir/file")
	_, err := e.fsys.Stat(e.ctx, "dir/file")
	e.refused(err, fs.ErrNotExist, at(ops.Stat, "dir/file"), "Stat(%q) after Rm", "dir/file")
	_, err = e.fsys.ReadFile(e.ctx, "dir/file")
	e.refused(err, fs.ErrNotExist, at(ops.ReadFile, "dir/file"), "ReadFile(%q) after Rm", "dir/file")
}

// rmEmptyDirectory tests that Rm removes an empty directory and leaves its
// parent.
func rmEmptyDirectory(e *env) {
	e.given(files{"dir/empty/": ""})
	e.rm("dir/empty", &workspace.RmOptions{})
	e.leaves(files{"dir/": ""}, "Rm(%q)", "dir/empty")
}

// rmNotEmpty tests that Rm refuses a directory with children, hidden ones too.
// A model that believes a directory to be empty must not lose what it has not
// seen. The mistake is a listing without hidden names, and a removal that fails
// half-way, after the first files, of one child or of several.
func rmNotEmpty(e *env) {
	e.given(files{"dir/file": "x", "several/a": "", "several/b": "", "parent/empty/": "", "hidden/.file": "", "checkout/.git/": "", "deep/.a/.b/.c": ""})
	before := e.tree()
	for _, name := range []string{"dir", "several", "parent", "hidden", "checkout", "deep", "deep/.a"} {
		for _, opts := range []*workspace.RmOptions{nil, {}} {
			err := e.fsys.Rm(e.ctx, name, opts)
			e.refused(err, workspace.ErrNotEmpty, at(ops.Rm, name), "Rm(%q)", name)
		}
	}
	e.unchanged(before, "Rm of directories with children")
}

// rmRecursive tests that Recursive removes a tree and nothing beside it. Hidden
// names and empty directories are a part of the tree.
func rmRecursive(e *env) {
	e.given(files{"keep/": "", "keep/file": "x", "dir/a/b/c": "deep", "dir/file": "x", "dir/empty/": "", "dir/.hidden": "x"})
	e.rm("dir", &workspace.RmOptions{Recursive: true})
	e.leaves(files{"keep/": "", "keep/file": "x"}, "Rm(%q, Recursive)", "dir")
	_, err := e.fsys.Stat(e.ctx, "dir/a/b/c")
	e.refused(err, fs.ErrNotExist, at(ops.Stat, "dir/a/b/c"), "Stat(%q) after Rm", "dir/a/b/c")
}

// rmRecursiveFile tests that Recursive removes a file as well. A bucket that
// removes all keys below "file/" finds none, and must not stop there.
func rmRecursiveFile(e *env) {
	e.given(files{"file": "x", "other": "y"})
	e.rm("file", &workspace.RmOptions{Recursive: true})
	e.leaves(files{"other": "y"}, "Rm(%q, Recursive)", "file")
}

// rmRecursiveEmptyDirectory tests that Recursive removes an empty directory as
// well.
func rmRecursiveEmptyDirectory(e *env) {
	e.given(files{"empty/": "", "other": "y"})
	e.rm("empty", &workspace.RmOptions{Recursive: true})
	e.leaves(files{"other": "y"}, "Rm(%q, Recursive)", "empty")
}

// rmRecursiveMissing tests that Recursive does not hide that a name does not
// exist. The option -f of rm hides it, and a bucket removes what is not there
// without an error: a model that has misspelled the name believes that the tree
// is removed.
func rmRecursiveMissing(e *env) {
	e.given(files{"dir/file": "x"})
	for _, name := range []string{"none", "dir/none", "di", "none/none"} {
		err := e.fsys.Rm(e.ctx, name, &workspace.RmOptions{Recursive: true})
		e.refused(err, fs.ErrNotExist, at(ops.Rm, name), "Rm(%q, Recursive)", name)
	}
}

// rmRoot tests that the root cannot be removed. The tree stays whole: a
// provider that removes the children before it fails at the root itself has
// removed the user's project.
func rmRoot(e *env) {
	e.given(files{"dir/": "", "dir/file": "x"})
	for _, opts := range []*workspace.RmOptions{nil, {Recursive: true}} {
		err := e.fsys.Rm(e.ctx, ".", opts)
		e.refused(err, fs.ErrInvalid, at(ops.Rm, "."), "Rm(%q, %+v)", ".", opts)
	}
	e.unchanged(files{"dir/": "", "dir/file": "x"}, "Rm(%q)", ".")
}

// rmEmptyRoot tests that the root cannot be removed either if it is empty. A
// folder without its root is of no use to any later call.
func rmEmptyRoot(e *env) {
	for _, opts := range []*workspace.RmOptions{nil, {Recursive: true}} {
		err := e.fsys.Rm(e.ctx, ".", opts)
		e.refused(err, fs.ErrInvalid, at(ops.Rm, "."), "Rm(%q, %+v)", ".", opts)
	}
	rootExists(e)
}

// rmLastFile tests that a directory stays when its last file is removed. In a
// bucket a directory is nothing but its keys. An agent that has removed the
// only file of a directory must not be told that the directory does not exist.
func rmLastFile(e *env) {
	e.write("dir/sub/file", "x")
	e.rm("dir/sub/file", nil)
	e.leaves(files{"dir/": "", "dir/sub/": ""}, "Rm(%q)", "dir/sub/file")
	e.write("other/sub/file", "x")
	e.rm("other/sub", &workspace.RmOptions{Recursive: true})
	e.leaves(files{"dir/": "", "dir/sub/": "", "other/": ""}, "Rm(%q, Recursive)", "other/sub")
}

// rmPrefix removes names that others begin with: in a bucket all of them have
// the removed name as a prefix of their keys.
func rmPrefix(e *env) {
	rest := files{
		"a-b": "1", "a.txt": "2", "a0": "3", "ab/": "", "ab/c": "4", "dir/": "", "dir/a-b": "5", "dir/ab": "6",
		"sub/": "", "sub/b-b": "7", "sub/b.d/": "", "sub/b.d/x": "8", "sub/bc/": "", "sub/bc/x": "9",
	}
	e.given(rest)
	e.given(files{"a/b": "x", "dir/a": "x", "sub/b/x": "x"})
	e.rm("dir/a", nil)
	e.rm("sub/b", &workspace.RmOptions{Recursive: true})
	e.rm("a", &workspace.RmOptions{Recursive: true})
	e.leaves(rest, "Rm(%q, Recursive)", "a")
}

// rmTwice tests that the second Rm finds nothing. A store that deletes a
// missing object without an error must be asked first.
func rmTwice(e *env) {
	e.given(files{"file": "x"})
	e.rm("file", nil)
	err := e.fsys.Rm(e.ctx, "file", nil)
	e.refused(err, fs.ErrNotExist, at(ops.Rm, "file"), "Rm(%q), again,", "file")
}

// rmAndWriteAgain tests that a removed name is free for a file or a directory.
// What a provider remembers about the name, such as that it is a file, must not
// outlive it.
func rmAndWriteAgain(e *env) {
	e.write("dir/name", "file")
	e.rm("dir/name", nil)
	e.write("dir/name/below", "now a directory")
	e.has("dir/name/below", "now a directory")
	e.rm("dir/name", &workspace.RmOptions{Recursive: true})
	e.write("dir/name", "a file again")
	e.has("dir/name", "a file again")
}

// rmEleven removes more than the thousand files that stores remove at a time.
// It finds a provider that removes the first page of a listing, and reports
// success, and one that removes the directory and leaves some of what was below it.
func rmEleven(e *env) {
	names := e.many("dir/sub", 1100)
	e.given(files{"dir/keep": "x"})
	e.rm("dir/sub", &workspace.RmOptions{Recursive: true})
	e.leaves(files{"dir/": "", "dir/keep": "x"}, "Rm(%q, Recursive)", "dir/sub")
	e.nothingBelow("dir/sub", "dir/sub/"+names[1099])
}

// nothingBelow fails the case if last, the last of many names that were below dir, still has
// a description, or a new directory with the name of dir has children.
func (e *env) nothingBelow(dir, last string) {
	e.Helper()
	_, err := e.fsys.Stat(e.ctx, last)
	e.refused(err, fs.ErrNotExist, at(ops.Stat, last), "Stat(%q), whose directory does not exist any longer,", last)
	e.mkdir(dir, nil)
	e.equal(e.names(dir, nil), []string{}, "Ls(%q) of a new directory", dir)
}
