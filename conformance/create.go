package conformance

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/conformance/internal/compare"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// createCases are the cases for streams that write. They run with the fallback
// that collects the bytes for one WriteFile, and with the stream of a provider
// that is a Creator.
var createCases = []testCase{
	{"new", "CR2", needWrite, createNew},
	{"replace", "CR2", needWrite, createReplace},
	{"invisible-before-commit", "CR1", needWrite, createInvisible},
	{"close-discards", "CR3", needWrite, createDiscards},
	{"close-after-commit", "CR3", needWrite, createCloseAfterCommit},
	{"large-in-parts", "CR2", needWrite, createLarge},
	{"many-small-writes", "CR2", needWrite, createManyWrites},
	{"version", "CR2 V7", needWrite | needVersions, createVersion},
	{"data-not-retained", "CR2 W5", needWrite, createDataNotRetained},
	{"directory", "CR4 W6 E1 E2 E5", needWrite, createDirectory},
	{"if-not-exist", "CR4 V1 E1 E2 E5", needWrite | needConditional, createIfNotExist},
	{"if-version", "CR4 V3 E1 E2 E5", needWrite | needConditional, createIfVersion},
	{"large-conditions", "CR4 V1 V3 E5", needWrite | needConditional | needTime, createLargeConditions},
	{"condition-at-commit", "CR4", needWrite | needConditional, createConditionAtCommit},
	{"overtaken-by-a-directory", "CR4 W6 E3 E1 E2 E5", needWrite, createOvertaken},
	{"moved-directory", "CR2 CR4 E1 E2 E5", needWrite | needMove, createMovedDirectory},
	{"canceled", "CR5 E5", needWrite, createCanceled},
	{"canceled-write", "CR5", needWrite | needCreator, createCanceledWrite},
	{"two-writers", "CR1 CR2", needWrite, createTwo},
}

// begin returns a writer into which content has been written. The caller
// commits or closes it. All bytes must be accepted: a short count without an
// error is a failure.
func (e *env) begin(ctx context.Context, name, content string) workspace.Writer {
	e.Helper()
	w, err := workspace.Create(ctx, e.fsys, name, nil)
	if err != nil {
		e.Fatalf("Create(%q) = %v, want nil", name, err)
	}
	if n, err := io.WriteString(w, content); err != nil || n != len(content) {
		e.Fatalf("Create(%q), Write of %d bytes = %d, %v, want all and nil", name, len(content), n, err)
	}
	return w
}

// commit commits, and ends the case if that fails.
func (e *env) commit(w workspace.Writer, name string) workspace.Version {
	e.Helper()
	version, err := w.Commit()
	if err != nil {
		e.Fatalf("Create(%q), Commit = %v, want nil", name, err)
	}
	return version
}

// create writes a whole stream, and ends the case if that fails.
func (e *env) create(name, content string) workspace.Version {
	e.Helper()
	version, err := create(e.ctx, e.fsys, name, content, nil)
	if err != nil {
		e.Fatalf("Create(%q) to its Commit = %v, want nil", name, err)
	}
	return version
}

// createNew tests that a stream creates a file with its parents, also an empty
// one. An upload in parts has no part for the empty file, which some stores
// refuse to complete.
func createNew(e *env) {
	for name, content := range map[string]string{"file": "content", "a/b/file": everyByte(), "empty": ""} {
		e.create(name, content)
		e.has(name, content)
	}
}

// createReplace tests that a stream replaces the whole content, also with less.
// The end of the longer old content must not stay after the new bytes.
func createReplace(e *env) {
	e.write("file", "a long old content")
	e.create("file", "new")
	e.has("file", "new")
	e.leaves(files{"file": "new"}, "Create(%q)", "file")
}

// createInvisible tests that a writer that has not been committed changes
// nothing that anybody can see. The mistakes are a file that is truncated when
// the stream begins, and one that grows with each Write: a build that starts
// meanwhile compiles half a file.
func createInvisible(e *env) {
	e.write("old", "old")
	before := e.tree()
	for _, name := range []string{"old", "new"} {
		w := e.begin(e.ctx, name, "written and not committed")
		defer w.Close()
		e.unchanged(before, "Create(%q) without Commit", name)
	}
}

// createDiscards tests that Close without Commit leaves neither a file nor a
// parent. A stream ends without Commit whenever its source fails. The tree must
// then have neither the part that has come nor the directories that were made
// for it.
func createDiscards(e *env) {
	e.write("old", "old")
	before := e.tree()
	for _, name := range []string{"old", "new", "dir/new"} {
		w := e.begin(e.ctx, name, "discarded")
		if err := w.Close(); err != nil {
			e.Errorf("Create(%q), Close = %v, want nil", name, err)
		}
	}
	e.unchanged(before, "Create and Close without Commit")
}

// createCloseAfterCommit tests that Close after Commit does nothing, however
// often it is called. Close is deferred beside every Commit, so one that
// removes the temporary file by its name must not find the finished file there,
// and its error would be read as a failed write.
func createCloseAfterCommit(e *env) {
	w := e.begin(e.ctx, "file", "content")
	e.commit(w, "file")
	for range 2 {
		if err := w.Close(); err != nil {
			e.Errorf("Create(%q), Close after Commit = %v, want nil", "file", err)
		}
	}
	e.has("file", "content")
}

// createLarge writes in odd parts what may need several requests. The 15 MiB
// are more than one part of an upload, and 100,003 divides none of the usual
// sizes of parts, so parts end within a Write.
func createLarge(e *env) {
	content := large() + large() + large()
	w := e.begin(e.ctx, "large", "")
	defer w.Close()
	for rest := content; rest != ""; {
		n := min(100_003, len(rest))
		if _, err := io.WriteString(w, rest[:n]); err != nil {
			e.Fatalf("Create(%q), Write = %v, want nil", "large", err)
		}
		rest = rest[n:]
	}
	e.commit(w, "large")
	if got := e.read("large"); got != content {
		e.Errorf("ReadFile(%q) = %s, want the %d bytes that were written", "large", compare.Brief(got), len(content))
	}
}

// createManyWrites tests many writes that are smaller than any buffer. It finds
// a provider that keeps a list of pieces and loses some of a thousand.
func createManyWrites(e *env) {
	content := large()[:70_000]
	w := e.begin(e.ctx, "file", "")
	defer w.Close()
	for i := 0; i < len(content); i += 70 {
		if _, err := io.WriteString(w, content[i:i+70]); err != nil {
			e.Fatalf("Create(%q), Write at %d = %v, want nil", "file", i, err)
		}
	}
	e.commit(w, "file")
	e.has("file", content)
}

// createVersion tests that Commit returns the version that the file has.
func createVersion(e *env) {
	first := e.create("dir/file", "one")
	e.sameVersion("dir", "dir/file", first)
	second := e.create("dir/file", "two")
	e.sameVersion("dir", "dir/file", second)
	if first == second {
		e.Errorf("Create(%q), Commit of other bytes = version %q, want another than before", "dir/file", second)
	}
}

// createDataNotRetained tests that the caller may change the bytes after Write,
// whether or not they fit into a buffer. io.Copy uses one buffer for all its
// writes, so a provider that keeps the slice until the Commit stores the last
// part again and again.
func createDataNotRetained(e *env) {
	w := e.begin(e.ctx, "file", "")
	defer w.Close()
	want := ""
	for _, content := range aroundBuffers() {
		part := []byte(content)
		if _, err := w.Write(part); err != nil {
			e.Fatalf("Create(%q), Write = %v, want nil", "file", err)
		}
		clear(part)
		want += content
	}
	e.commit(w, "file")
	e.has("file", want)
}

// createDirectory tests that a stream to a directory is refused, at the latest
// by Commit. A stream to a temporary file does not meet the directory before
// its rename.
func createDirectory(e *env) {
	e.given(files{"dir/file": "x"})
	before := e.tree()
	for _, name := range []string{"dir", "."} {
		_, err := create(e.ctx, e.fsys, name, "new", nil)
		e.refused(err, workspace.ErrIsDir, at(ops.Create, name), "Create(%q) to its Commit", name)
	}
	e.unchanged(before, "Create of directories")
}

// createIfNotExist tests that IfNotExist holds for a stream. The options must
// reach the step that makes the file visible.
func createIfNotExist(e *env) {
	opts := &workspace.WriteOptions{IfNotExist: true}
	if _, err := create(e.ctx, e.fsys, "file", "first", opts); err != nil {
		e.Fatalf("Create(%q, IfNotExist) to its Commit = %v, want nil", "file", err)
	}
	_, err := create(e.ctx, e.fsys, "file", "second", opts)
	e.refused(err, fs.ErrExist, at(ops.Create, "file"), "Create(%q, IfNotExist) to its Commit", "file")
	e.leaves(files{"file": "first"}, "Create(%q, IfNotExist)", "file")
}

// createIfVersion tests that IfVersion holds for a stream. A stream that
// forgets the condition replaces what somebody wrote while it ran, and streams
// run long. One that is refused leaves no parents either.
func createIfVersion(e *env) {
	old := e.write("file", "one")
	opts := &workspace.WriteOptions{IfVersion: old}
	if _, err := create(e.ctx, e.fsys, "file", "two", opts); err != nil {
		e.Fatalf("Create(%q, IfVersion) to its Commit = %v, want nil", "file", err)
	}
	for _, name := range []string{"file", "none/none"} {
		_, err := create(e.ctx, e.fsys, name, "three", opts)
		e.refused(err, workspace.ErrConflict, at(ops.Create, name), "Create(%q, IfVersion of the write before the last) to its Commit", name)
	}
	e.leaves(files{"file": "two"}, "Create(IfVersion) of other versions")
}

// createLargeConditions writes what a store may take in several requests. A
// provider that changes from one request to an upload in parts has two places
// for the condition. What a refused upload has already sent must not show
// either.
func createLargeConditions(e *env) {
	content := large() + large()
	ifNotExist := &workspace.WriteOptions{IfNotExist: true}
	old := e.write("file", "one")
	e.write("file", "two")
	_, err := create(e.ctx, e.fsys, "file", content, ifNotExist)
	e.refused(err, fs.ErrExist, at(ops.Create, "file"), "Create(%q, IfNotExist) of 10 MiB to its Commit", "file")
	_, err = create(e.ctx, e.fsys, "file", content, &workspace.WriteOptions{IfVersion: old})
	e.refused(err, workspace.ErrConflict, at(ops.Create, "file"), "Create(%q, IfVersion of the write before the last) of 10 MiB to its Commit", "file")
	e.leaves(files{"file": "two"}, "Create(%q) with conditions that are false", "file")
	if _, err := create(e.ctx, e.fsys, "new", content, ifNotExist); err != nil {
		e.Fatalf("Create(%q, IfNotExist) of 10 MiB to its Commit = %v, want nil", "new", err)
	}
	e.has("new", content)
}

// createConditionAtCommit makes a condition false while the file is written.
// The mistake is a test when the stream begins: the download of a large file
// would then replace what was written while it ran.
func createConditionAtCommit(e *env) {
	w, err := workspace.Create(e.ctx, e.fsys, "file", &workspace.WriteOptions{IfNotExist: true})
	if err != nil {
		e.Fatalf("Create(%q, IfNotExist) = %v, want nil", "file", err)
	}
	defer w.Close()
	_, err = io.WriteString(w, "slow")
	e.write("file", "quick")
	if err == nil {
		_, err = w.Commit()
	}
	e.refused(err, fs.ErrExist, at(ops.Create, "file"), "Create(%q, IfNotExist), overtaken, to its Commit", "file")
	e.has("file", "quick")
}

// createOvertaken creates a directory of the name, and a file of the parent's name,
// while the file is written. A store without directories has both then, unless Commit
// looks again: a directory disappears under a file, with all that is in it.
func createOvertaken(e *env) {
	sizes := []string{"content"}
	if !e.short {
		sizes = append(sizes, large()+large())
	}
	for _, content := range sizes {
		file, below := e.begin(e.ctx, "dir", content), e.begin(e.ctx, "file/x", content)
		defer file.Close()
		defer below.Close()
		e.write("dir/child", "child")
		e.write("file", "file")
		_, err := file.Commit()
		e.refused(err, workspace.ErrIsDir, at(ops.Create, "dir"), "Create(%q) of %d bytes, overtaken, Commit", "dir", len(content))
		_, err = below.Commit()
		e.refused(err, workspace.ErrNotDir, at(ops.Create, "file/x"), "Create(%q) of %d bytes, overtaken, Commit", "file/x", len(content))
		e.leaves(files{"dir/": "", "dir/child": "child", "file": "file"}, "Create of names that were taken")
		e.rm("dir", &workspace.RmOptions{Recursive: true})
		e.rm("file", nil)
	}
}

// createMovedDirectory moves the directory of a file that is being written. A writer that keeps
// the directory open would commit the file to where that is now, which may be a place that
// rules deny.
func createMovedDirectory(e *env) {
	e.write("a/dir/other", "other")
	w := e.begin(e.ctx, "a/dir/file", "content")
	defer w.Close()
	e.move("a/dir", "moved")
	want := files{"a/": "", "moved/": "", "moved/other": "other"}
	if _, err := w.Commit(); err != nil {
		e.refused(err, workspace.ErrUnavailable, at(ops.Create, "a/dir/file"), "Create(%q), Commit after its directory moved", "a/dir/file")
	} else {
		want["a/dir/"], want["a/dir/file"] = "", "content"
	}
	e.leaves(want, "Create(%q), Commit after its directory moved", "a/dir/file")
}

// createCanceled tests that Commit fails once the context has ended, and
// changes nothing. All bytes have been written by then, so only the Commit is
// left to notice. An agent that is stopped must not see its file appear
// afterwards.
func createCanceled(e *env) {
	e.write("file", "old")
	before := e.tree()
	for _, name := range []string{"file", "new", "dir/new"} {
		ctx, cancel := context.WithCancel(e.ctx)
		w := e.begin(ctx, name, "written before the end")
		cancel()
		_, err := w.Commit()
		e.refused(err, context.Canceled, at(ops.Create, name), "Create(%q), canceled, Commit", name)
		w.Close()
	}
	e.unchanged(before, "Create with an ended context")
}

// createCanceledWrite writes more than a provider may buffer. A copy of an
// endless source ends by nothing else. What has come of it must not be stored.
func createCanceledWrite(e *env) {
	ctx, cancel := context.WithCancel(e.ctx)
	w := e.begin(ctx, "file", "before")
	defer w.Close()
	cancel()
	if _, err := io.Copy(w, strings.NewReader(large())); !errors.Is(err, context.Canceled) {
		e.Errorf("Create(%q), Write after its context was canceled = %v, want %q", "file", err, context.Canceled)
	}
	_, err := w.Commit()
	e.refused(err, context.Canceled, at(ops.Create, "file"), "Create(%q), Commit after a Write that failed", "file")
	e.leaves(nil, "Create(%q), a Write and a Commit that failed", "file")
}

// createTwo tests that two writers of one name do not mix: the last Commit
// wins. Two streams with one temporary name would write into each other's
// bytes.
func createTwo(e *env) {
	first, second := e.begin(e.ctx, "file", "first"), e.begin(e.ctx, "file", "second")
	defer first.Close()
	defer second.Close()
	e.commit(second, "file")
	e.has("file", "second")
	e.commit(first, "file")
	e.has("file", "first")
}
