package conformance

import (
	"fmt"
	"io/fs"

	"github.com/workspacekit/workspacekit/conformance/internal/compare"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// copyCases are the cases for Copy. An agent copies a file before a change that
// it is not sure about, so the copy must be whole, and must not follow the
// original.
var copyCases = []testCase{
	{"file", "CP1", needWrite | needCopy, copyFile},
	{"missing-parents", "CP2", needWrite | needCopy, copyMissingParents},
	{"existing-destination", "CP3 E1 E2 E5", needWrite | needCopy, copyExisting},
	{"onto-itself", "CP3 E5", needWrite | needCopy, copyOntoItself},
	{"directory", "CP4 E1 E2 E5", needWrite | needCopy, copyDirectory},
	{"independent", "CP1", needWrite | needCopy, copyIndependent},
	{"large", "CP1", needWrite | needCopy, copyLarge},
	{"version", "CP5 V7", needWrite | needCopy | needVersions, copyVersion},
	{"race-for-destination", "CP6", needWrite | needCopy, copyRace},
}

// copyTo copies, and ends the case if that fails.
func (e *env) copyTo(source, destination string) workspace.Version {
	e.Helper()
	version, err := workspace.Copy(e.ctx, e.fsys, source, destination)
	if err != nil {
		e.Fatalf("Copy(%q, %q) = %v, want nil", source, destination, err)
	}
	return version
}

// copyFile tests that a copy has the same bytes, also for an empty file. A
// store that copies by ranges has no range to name for an empty file. The
// source must still be there, which finds a Copy that moves.
func copyFile(e *env) {
	e.given(files{"file": everyByte(), "empty": "", "dir/": ""})
	e.copyTo("file", "dir/copy")
	e.copyTo("empty", "empty too")
	e.leaves(files{"file": everyByte(), "empty": "", "empty too": "", "dir/": "", "dir/copy": everyByte()}, "Copy(%q, %q)", "file", "dir/copy")
}

// copyMissingParents tests that Copy creates the parents of the destination.
// They are directories of their own, listed and with nothing else in them.
func copyMissingParents(e *env) {
	e.given(files{"file": "x"})
	e.copyTo("file", "new/parents/copy")
	e.leaves(files{"file": "x", "new/": "", "new/parents/": "", "new/parents/copy": "x"}, "Copy(%q, %q)", "file", "new/parents/copy")
}

// copyExisting tests that Copy replaces neither a file nor a directory. Most
// stores replace the destination, and the program cp copies into a directory
// instead. A model that chooses a name that is taken would destroy a file that
// it has never read.
func copyExisting(e *env) {
	e.given(files{"file": "f", "other": "o", "dir/child": "d", "empty/": ""})
	before := e.tree()
	for _, destination := range []string{"other", "dir", "empty", "dir/child", "."} {
		_, err := workspace.Copy(e.ctx, e.fsys, "file", destination)
		e.refused(err, fs.ErrExist, at(ops.Copy, destination), "Copy(%q, %q)", "file", destination)
	}
	e.unchanged(before, "Copy to names that exist")
}

// copyOntoItself tests that a copy to the same name is refused and keeps the
// file. A copy that opens its destination first empties the file that it is
// about to read.
func copyOntoItself(e *env) {
	e.given(files{"file": "f"})
	_, err := workspace.Copy(e.ctx, e.fsys, "file", "file")
	e.refusedAny(err, []error{fs.ErrExist, fs.ErrInvalid}, at(ops.Copy, "file"), "Copy(%q, %q)", "file", "file")
	e.leaves(files{"file": "f"}, "Copy(%q, %q)", "file", "file")
}

// copyDirectory tests that Copy refuses directories, also empty ones and the
// root. For a bucket a directory is no object, so a copy finds nothing and says
// that it does not exist, or makes an empty file. A model that is told that it
// is a directory can copy the files one by one. No parent of the destination is
// made.
func copyDirectory(e *env) {
	e.given(files{"dir/child": "d", "empty/": ""})
	before := e.tree()
	for _, source := range []string{"dir", "empty", "."} {
		_, err := workspace.Copy(e.ctx, e.fsys, source, "new/destination")
		e.refused(err, workspace.ErrIsDir, at(ops.Copy, source), "Copy(%q, %q)", source, "new/destination")
	}
	e.unchanged(before, "Copy of directories")
}

// copyIndependent tests that the two files share no bytes. A hard link, or two
// names with one content in memory, would let an edit of the file change the
// copy that was made to keep it.
func copyIndependent(e *env) {
	e.write("file", "one")
	e.copyTo("file", "copy")
	e.write("file", "two")
	e.has("copy", "one")
	e.write("copy", "three")
	e.has("file", "two")
	e.rm("file", nil)
	e.has("copy", "three")
}

// copyLarge tests a file that a store may copy in parts. Parts that overlap, or
// leave a byte out between them, show in the bytes: no two blocks of the
// content are the same.
func copyLarge(e *env) {
	e.write("large", large())
	e.copyTo("large", "copy")
	if got := e.read("copy"); got != large() {
		e.Errorf("ReadFile(%q) = %s, want the %d bytes of the source", "copy", compare.Brief(got), len(large()))
	}
}

// copyVersion tests that Copy returns the version that the copy has, and that the
// source keeps its own. The version of the source would be a conflict in the next
// edit of the copy.
func copyVersion(e *env) {
	version := e.write("file", "content")
	e.sameVersion("dir", "dir/copy", e.copyTo("file", "dir/copy"))
	if got := e.stat("file").Version; got != version {
		e.Errorf("Stat(%q).Version after a Copy of it = %q, want %q as before", "file", got, version)
	}
}

// copyRace copies several files to one name. It finds a look at the destination
// and then a copy: two would succeed, and the first one's caller believes that
// its bytes are there.
func copyRace(e *env) {
	const copiers = 16
	errs := make([]error, copiers)
	want := make(files)
	for i := range copiers {
		name := fmt.Sprintf("source%02d", i)
		want[name] = name
	}
	e.given(want)
	together(copiers, func(i int) {
		_, errs[i] = workspace.Copy(e.ctx, e.fsys, fmt.Sprintf("source%02d", i), "destination")
	})
	for i, err := range errs {
		source := fmt.Sprintf("source%02d", i)
		if err == nil {
			want["destination"] += source
			continue
		}
		e.refused(err, fs.ErrExist, at(ops.Copy, "destination"), "Copy(%q, %q) by one of %d", source, "destination", copiers)
	}
	e.leaves(want, "%d concurrent Copy to %q", copiers, "destination")
}
