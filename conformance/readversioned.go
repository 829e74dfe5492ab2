package conformance

import (
	"fmt"
	"io/fs"
	"math"
	"sync"
	"sync/atomic"

	"github.com/workspacekit/workspacekit/conformance/internal/compare"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// readVersionedCases are the cases for ReadVersioned. It is how an edit
// begins.
var readVersionedCases = []testCase{
	{"content", "RV1", needFiles, readVersionedContent},
	{"version-of-the-bytes", "RV2", needWrite | needVersions, readVersionedWhileWritten},
	{"version-for-a-write", "RV2 V3", needWrite | needConditional | needVersions, readVersionedForWrite},
	{"limit", "RV3 E1 E2", needFiles, readVersionedLimit},
	{"negative-limit", "O2 E1 E2", needFiles, readVersionedNegative},
	{"directory", "RV1 R2 E1 E2", needFiles, readVersionedDirectory},
	{"bytes-are-the-callers", "B1", needFiles, readVersionedBytes},
}

// readVersioned reads a file with its version, and ends the case if that
// fails.
func (e *env) readVersioned(name string, limit int64) (string, workspace.Version) {
	e.Helper()
	data, version, err := workspace.ReadVersioned(e.ctx, e.fsys, name, limit)
	if err != nil {
		e.Fatalf("ReadVersioned(%q, limit %d) = %v, want nil", name, limit, err)
	}
	return string(data), version
}

// readVersionedContent tests that content and version are those of ReadFile
// and Stat.
func readVersionedContent(e *env) {
	for name, content := range map[string]string{"file": "content", "dir/empty": "", "bytes": everyByte()} {
		e.given(files{name: content})
		data, version := e.readVersioned(name, 0)
		if data != content {
			e.Errorf("ReadVersioned(%q) = %s, want %s", name, compare.Brief(data), compare.Brief(content))
		}
		if want := e.stat(name).Version; version != want {
			e.Errorf("ReadVersioned(%q) = version %q, want %q as Stat", name, version, want)
		}
	}
}

// readVersionedWhileWritten reads while others write, and then looks up with
// which bytes each version was written. The mistake is a read and then a Stat:
// the bytes are old and the version new. The edit that follows passes its
// condition, and undoes what was written in between.
func readVersionedWhileWritten(e *env) {
	e.readWhileWritten("ReadVersioned", func() (string, workspace.Version, error) {
		data, version, err := workspace.ReadVersioned(e.ctx, e.fsys, "file", 0)
		return string(data), version, err
	})
}

// readWhileWritten fails the case unless each version that read returns for "file" belongs to
// the bytes, while others write.
func (e *env) readWhileWritten(method string, read func() (string, workspace.Version, error)) {
	e.Helper()
	const writers, reads = 4, 100
	written := versions{contents: map[workspace.Version]string{e.write("file", "start"): "start"}}
	var done atomic.Bool
	var writing sync.WaitGroup
	for writer := range writers {
		writing.Go(func() {
			for i := 0; !done.Load() && i < 1000; i++ {
				written.write(e, fmt.Sprintf("%d of %d", i, writer))
			}
		})
	}
	var seen [reads]struct {
		data    string
		version workspace.Version
	}
	for i := range seen {
		var err error
		if seen[i].data, seen[i].version, err = read(); err != nil {
			e.Errorf("%s(%q) beside writers = %v, want nil", method, "file", err)
		}
	}
	done.Store(true)
	writing.Wait()
	for _, r := range seen {
		if want, ok := written.contents[r.version]; !ok || r.data != want {
			e.Errorf("%s(%q) = %q with version %q, with which %q was written", method, "file", r.data, r.version, want)
		}
	}
}

// versions remembers the content of each version that was written.
type versions struct {
	mu       sync.Mutex // guards contents
	contents map[workspace.Version]string
}

// write writes a file and remembers which bytes the version stands for.
func (v *versions) write(e *env, content string) {
	version, err := e.fsys.WriteFile(e.ctx, "file", []byte(content), nil)
	if err != nil {
		e.Errorf("WriteFile(%q) beside others = %v, want nil", "file", err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.contents[version] = content
}

// readVersionedForWrite tests that the version of a read is a condition that
// holds.
func readVersionedForWrite(e *env) {
	e.write("file", "one")
	_, version := e.readVersioned("file", 0)
	if _, err := e.writeIf("file", "two", workspace.WriteOptions{IfVersion: version}); err != nil {
		e.Errorf("WriteFile(%q, IfVersion of ReadVersioned) = %v, want nil", "file", err)
	}
	e.has("file", "two")
}

// readVersionedLimit tests the limit at its exact value. One byte more is
// enough to refuse. A model that opens a disk image must not fill the memory.
func readVersionedLimit(e *env) {
	e.given(files{"file": "12345", "empty": "", "large": large()})
	for _, limit := range []int64{0, 5, 6, 1 << 40, math.MaxInt64} {
		if data, _ := e.readVersioned("file", limit); data != "12345" {
			e.Errorf("ReadVersioned(%q, limit %d) = %q, want all", "file", limit, data)
		}
	}
	for _, limit := range []int64{1, math.MaxInt64} {
		e.readVersioned("empty", limit)
	}
	for name, limit := range map[string]int64{"file": 4, "large": 1 << 20} {
		_, _, err := workspace.ReadVersioned(e.ctx, e.fsys, name, limit)
		e.refused(err, workspace.ErrTooLarge, at(ops.ReadFile, name), "ReadVersioned(%q, limit %d)", name, limit)
	}
}

// readVersionedNegative asks the file system itself, too: the function of
// package workspace does not let such a limit through. A program can
// call the method directly.
func readVersionedNegative(e *env) {
	e.given(files{"file": "content"})
	read := map[string]func() error{"workspace.ReadVersioned": func() error {
		_, _, err := workspace.ReadVersioned(e.ctx, e.fsys, "file", -1)
		return err
	}}
	if reader, ok := workspace.As[workspace.VersionedReader](e.fsys); ok {
		read["ReadVersioned"] = func() error {
			_, _, err := reader.ReadVersioned(e.ctx, "file", -1)
			return err
		}
	}
	for call, do := range read {
		e.refused(do(), fs.ErrInvalid, at(ops.ReadFile, "file"), "%s(%q, limit -1)", call, "file")
	}
}

// readVersionedDirectory tests that a directory cannot be read.
func readVersionedDirectory(e *env) {
	e.given(files{"dir/file": "x"})
	for _, name := range []string{"dir", "."} {
		_, _, err := workspace.ReadVersioned(e.ctx, e.fsys, name, 0)
		e.refused(err, workspace.ErrIsDir, at(ops.ReadFile, name), "ReadVersioned(%q)", name)
	}
}

// readVersionedBytes tests that the caller may change the bytes that it read. A
// provider with this method has a second way to return its own bytes.
func readVersionedBytes(e *env) {
	for _, content := range aroundBuffers() {
		e.given(files{"file": content})
		data, _, err := workspace.ReadVersioned(e.ctx, e.fsys, "file", 0)
		if err != nil {
			e.Fatalf("ReadVersioned(%q) = %v, want nil", "file", err)
		}
		clear(data)
		if again, _ := e.readVersioned("file", 0); again != content {
			e.Errorf("ReadVersioned(%q) after an earlier result was changed = %s, want %s", "file", compare.Brief(again), compare.Brief(content))
		}
	}
}
