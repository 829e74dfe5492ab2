package conformance

import (
	"strings"

	"github.com/workspacekit/workspacekit/conformance/internal/compare"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// writeFileCases are the cases for WriteFile. A model gives whole files to
// WriteFile, and rarely looks afterwards whether they arrived.
var writeFileCases = []testCase{
	{"new", "W1", needWrite, writeNew},
	{"replace", "W3", needWrite, writeReplace},
	{"empty", "W4", needWrite, writeEmpty},
	{"nil-data", "W4", needWrite, writeNil},
	{"every-byte", "W1", needWrite, writeEveryByte},
	{"five-mebibytes", "W1", needWrite, writeLarge},
	{"missing-parents", "W2", needWrite, writeMissingParents},
	{"keeps-siblings", "W1 W2", needWrite, writeKeepsSiblings},
	{"directory", "W6 E1 E2 E5", needWrite, writeDirectory},
	{"data-not-retained", "W5", needWrite, writeDataNotRetained},
	{"zero-options", "O1", needWrite, writeZeroOptions},
	{"leaves-nothing-else", "W1", needWrite, writeLeavesNothingElse},
}

// writeNew tests that a new file has its bytes and its size.
func writeNew(e *env) {
	e.write("file", "content")
	e.has("file", "content")
	if info := e.stat("file"); info.Type != workspace.TypeFile || info.Size != 7 {
		e.Errorf("Stat(%q) = %+v, want a file of 7 bytes", "file", info)
	}
}

// writeReplace tests that a write replaces the whole content, also with less.
// The rest of a longer content must not stay, and nothing is appended.
func writeReplace(e *env) {
	for _, content := range []string{"first", "a longer second", "3rd", "4th"} {
		e.write("file", content)
		e.has("file", content)
	}
	e.equal(e.names(".", nil), []string{"file"}, "Ls(%q)", ".")
}

// writeEmpty tests that a file can be empty, from the start or later.
// __init__.py and .gitkeep are empty files. A store may regard no bytes as no
// file.
func writeEmpty(e *env) {
	e.write("new", "")
	e.has("new", "")
	e.write("old", "content")
	e.write("old", "")
	e.has("old", "")
	e.equal(e.names(".", nil), []string{"new", "old"}, "Ls(%q)", ".")
}

// writeNil tests that nil data is an empty file. To Go code nil and empty
// slices are the same bytes.
func writeNil(e *env) {
	if _, err := e.fsys.WriteFile(e.ctx, "file", nil, nil); err != nil {
		e.Fatalf("WriteFile(%q, nil) = %v, want nil", "file", err)
	}
	e.has("file", "")
}

// writeEveryByte also writes 4, 32 and 64 KiB, which fill usual buffers
// exactly. A full buffer that is sent twice, or not at all, shows at these
// sizes.
func writeEveryByte(e *env) {
	for _, times := range []int{1, 8, 64, 128} {
		content := strings.Repeat(everyByte(), times)
		e.write("bytes", content)
		e.has("bytes", content)
	}
}

// writeLarge tests a file that is larger than usual buffers. It is as large as
// the smallest part of an upload to S3, and then small, which is another way of
// writing in many providers.
func writeLarge(e *env) {
	e.write("large", large())
	if got := e.read("large"); got != large() {
		e.Errorf("ReadFile(%q) = %s, want the %d bytes that were written", "large", compare.Brief(got), len(large()))
	}
	e.write("large", "small")
	e.has("large", "small")
}

// writeMissingParents tests that a write creates parents, which are
// directories. A model writes src/new/file.go without asking for the directory
// first.
func writeMissingParents(e *env) {
	e.write("a/b/c/file", "content")
	e.has("a/b/c/file", "content")
	for _, dir := range []string{"a", "a/b", "a/b/c"} {
		if info := e.stat(dir); !info.IsDir() {
			e.Errorf("Stat(%q) = %+v, want a directory", dir, info)
		}
	}
	e.equal(e.names(".", nil), []string{"a"}, "Ls(%q)", ".")
}

// writeKeepsSiblings tests that a write changes no other file. The names are
// those that a provider may choose for its own temporary file or backup, or
// find by a prefix of keys.
func writeKeepsSiblings(e *env) {
	tree := files{
		"dir/": "", "dir/one": "1", "dir/two": "2", "one": "top",
		"dir/three.txt": "t", "dir/three.": "d", "dir/three~": "b", "dir/threefold": "f", "dir/.three.tmp": "h",
	}
	e.given(tree)
	for _, content := range []string{"new", "replaced"} {
		e.write("dir/three", content)
		tree["dir/three"] = content
		e.leaves(tree, "WriteFile(%q, %q)", "dir/three", content)
	}
}

// writeDirectory tests that a directory cannot be written, the root neither. A
// bucket accepts an object of that name, and then a name is a file and a
// directory at once.
func writeDirectory(e *env) {
	e.given(files{"dir/file": "x", "empty/": ""})
	before := e.tree()
	for _, name := range []string{"dir", "empty", "."} {
		_, err := e.fsys.WriteFile(e.ctx, name, []byte("new"), nil)
		e.refused(err, workspace.ErrIsDir, at(ops.WriteFile, name), "WriteFile(%q)", name)
	}
	e.unchanged(before, "WriteFile of a directory")
}

// writeDataNotRetained tests that the caller may change the data after a write,
// and that a write does not change it. A store in memory, or an upload that
// goes on after the call, keeps the slice, and a caller that uses its buffer
// again changes the file.
func writeDataNotRetained(e *env) {
	for _, content := range aroundBuffers() {
		data := []byte(content)
		if _, err := e.fsys.WriteFile(e.ctx, "file", data, nil); err != nil {
			e.Fatalf("WriteFile(%q) = %v, want nil", "file", err)
		}
		if string(data) != content {
			e.Errorf("WriteFile(%q) changed its data to %s", "file", compare.Brief(string(data)))
		}
		copy(data, strings.Repeat("#", len(data)))
		e.has("file", content)
	}
}

// writeZeroOptions tests that zero options are no condition.
func writeZeroOptions(e *env) {
	for _, content := range []string{"one", "two"} {
		if _, err := e.fsys.WriteFile(e.ctx, "file", []byte(content), &workspace.WriteOptions{}); err != nil {
			e.Fatalf("WriteFile(%q, zero options) = %v, want nil", "file", err)
		}
		e.has("file", content)
	}
}

// writeLeavesNothingElse looks for temporary files. A search would find every
// match twice, and a commit would include them.
func writeLeavesNothingElse(e *env) {
	e.write("dir/file", "one")
	e.write("dir/file", "two")
	e.leaves(files{"dir/": "", "dir/file": "two"}, "WriteFile(%q), twice,", "dir/file")
}
