package conformance

import (
	"strings"
	"sync"

	"github.com/workspacekit/workspacekit/conformance/internal/compare"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// readFileCases are the cases for ReadFile. A model replaces text in what it
// has read and writes the result. A byte that is changed on the way is changed
// in the file.
var readFileCases = []testCase{
	{"content", "R1", needFiles, readContent},
	{"empty", "R1 W4", needFiles, readEmpty},
	{"every-byte", "R1", needFiles, readEveryByte},
	{"five-mebibytes", "R1", needFiles, readLarge},
	{"directory", "R2 E1 E2", needFiles, readDirectory},
	{"bytes-are-the-callers", "B1", needFiles, readBytesAreTheCallers},
	{"repeated", "R1", needFiles, readRepeated},
}

// readContent tests that a file has the content that was written. A "\r\n" that
// arrives as "\n" makes a diff of every line.
func readContent(e *env) {
	e.given(files{"file": "content\r\nof file\n", "dir/file": "another"})
	e.has("file", "content\r\nof file\n")
	e.has("dir/file", "another")
}

// readEmpty tests that an empty file is content, not an error. A store may
// answer without a body, or without a length.
func readEmpty(e *env) {
	e.given(files{"empty": ""})
	e.has("empty", "")
}

// everyByte is every byte value, in an order that is not text in any encoding.
// It begins with a NUL, so a search regards it as binary.
func everyByte() string {
	var b strings.Builder
	for i := range 256 {
		b.WriteByte(byte(i))
	}
	for i := range 256 {
		b.WriteByte(byte(255 - i))
	}
	return b.String()
}

// readEveryByte tests that no byte is changed on the way.
func readEveryByte(e *env) {
	e.given(files{"bytes": everyByte()})
	e.has("bytes", everyByte())
}

// large is 5 MiB in which no two blocks are the same. It is the same on every
// call. A part that is missing, repeated or in the wrong place changes it.
var large = sync.OnceValue(func() string {
	data := make([]byte, 5<<20)
	state := uint32(1)
	for i := range data {
		state = state*1664525 + 1013904223
		data[i] = byte(state >> 24)
	}
	return string(data)
})

// readLarge tests a file that is larger than usual buffers.
func readLarge(e *env) {
	e.given(files{"large": large()})
	if got := e.read("large"); got != large() {
		e.Errorf("ReadFile(%q) = %s, want the %d bytes that were written", "large", compare.Brief(got), len(large()))
	}
}

// readDirectory tests that a directory cannot be read. An empty content would
// say that there is an empty file.
func readDirectory(e *env) {
	e.given(files{"dir/file": "x", "empty/": ""})
	for _, name := range []string{"dir", "empty", "."} {
		_, err := e.fsys.ReadFile(e.ctx, name)
		e.refused(err, workspace.ErrIsDir, at(ops.ReadFile, name), "ReadFile(%q)", name)
	}
}

// readBytesAreTheCallers tests that the caller may change the bytes that it
// read. Both the bytes and the room behind them are tried: a cache that returns
// its own slice is changed by an edit that was never written.
func readBytesAreTheCallers(e *env) {
	for _, content := range aroundBuffers() {
		e.given(files{"file": content})
		data, err := e.fsys.ReadFile(e.ctx, "file")
		if err != nil {
			e.Fatalf("ReadFile(%q) = %v, want nil", "file", err)
		}
		for i := range data {
			data[i] = '#'
		}
		_ = append(data, "more"...)
		e.has("file", content)
	}
}

// aroundBuffers are contents of sizes on both sides of the usual buffers, which
// are treated in different ways.
func aroundBuffers() []string {
	all := large()
	return []string{"content", all[:5<<10], all[:40<<10], all[:1<<20+1]}
}

// readRepeated tests that every read returns the same. A stream that was kept
// open is at its end the second time.
func readRepeated(e *env) {
	e.given(files{"file": "content"})
	for range 3 {
		e.has("file", "content")
	}
}
