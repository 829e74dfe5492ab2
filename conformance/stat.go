package conformance

import (
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// statCases are the cases for Stat. Tools decide by Type and Size whether and
// how they read a name.
var statCases = []testCase{
	{"file", "T1", needFiles, statFile},
	{"directory", "T2", needFiles, statDirectory},
	{"root", "T2 N6", 0, statRoot},
	{"size-follows", "T1", needWrite, statSizeFollows},
	{"mod-time", "T3", needWrite, statModTime},
	{"mod-time-moves", "T3", needWrite, statModTimeMoves},
}

// statFile tests the description of a file.
func statFile(e *env) {
	e.given(files{"file": "12345", "dir/sub/empty": ""})
	e.described("file", workspace.FileInfo{Name: "file", Path: "file", Type: workspace.TypeFile, Size: 5})
	e.described("dir/sub/empty", workspace.FileInfo{Name: "empty", Path: "dir/sub/empty", Type: workspace.TypeFile})
}

// statDirectory tests the description of a directory, which has no size: the
// size of a disk's block would look like one.
func statDirectory(e *env) {
	e.given(files{"dir/sub/file": "12345", "dir/empty/": ""})
	for name, base := range map[string]string{"dir": "dir", "dir/sub": "sub", "dir/empty": "empty"} {
		e.described(name, workspace.FileInfo{Name: base, Path: name, Type: workspace.TypeDirectory})
		if version := e.stat(name).Version; version != "" {
			e.Errorf("Stat(%q).Version = %q, want none for a directory", name, version)
		}
	}
}

// statRoot tests the description of the root. Its path in the store, or "",
// would be no name that another call accepts.
func statRoot(e *env) {
	e.described(".", workspace.FileInfo{Name: ".", Path: ".", Type: workspace.TypeDirectory})
}

// described compares all but time and version.
func (e *env) described(name string, want workspace.FileInfo) {
	e.Helper()
	got := e.stat(name)
	got.ModTime, got.Version = time.Time{}, ""
	if got != want {
		e.Errorf("Stat(%q) = %+v, want %+v", name, got, want)
	}
}

// statSizeFollows tests that the size is the size of the last write. A shorter
// content finds a size that only grows.
func statSizeFollows(e *env) {
	for _, content := range []string{"12345", "", "1234567890", "1"} {
		e.write("file", content)
		if size := e.stat("file").Size; size != int64(len(content)) {
			e.Errorf("Stat(%q).Size = %d, want %d", "file", size, len(content))
		}
	}
}

// statModTime leaves room for a store whose clock differs from the clock of the
// test. A day is more than that: the time is from 1970, for example, or was
// read in other units.
func statModTime(e *env) {
	e.write("file", "one")
	first := e.stat("file").ModTime
	if first.IsZero() {
		e.Skip("the store does not say when files change")
	}
	if off := time.Since(first).Abs(); off > 24*time.Hour {
		e.Errorf("Stat(%q).ModTime = %v just after a write, which is %v off", "file", first, off)
	}
	e.write("file", "two")
	if second := e.stat("file").ModTime; second.Before(first) {
		e.Errorf("Stat(%q).ModTime = %v after a second write, want not before %v", "file", second, first)
	}
}

// statModTimeMoves writes until the time is another. A store's clock ticks
// every few milliseconds, every second, or every two. A copy made then is newer
// than its source. It finds the time of the creation, which a model that looks
// for the latest change is misled by.
func statModTimeMoves(e *env) {
	const tick = 5 * time.Second
	e.write("source", "old")
	e.write("file", "one")
	first := e.stat("file").ModTime
	if first.IsZero() {
		e.Skip("the store does not say when files change")
	}
	for begin := time.Now(); time.Since(begin) < tick; {
		e.write("file", "two")
		if e.stat("file").ModTime.After(first) {
			e.copyIsNew("source", "copy")
			return
		}
	}
	e.Errorf("Stat(%q).ModTime = %v, as at first, after %v of writes", "file", first, tick)
}

// copyIsNew fails the case if a copy, where there are copies, keeps the time of
// its source, which must be older than the last tick of the store's clock.
func (e *env) copyIsNew(source, destination string) {
	e.Helper()
	if !e.caps.Copy {
		return
	}
	e.copyTo(source, destination)
	if old, got := e.stat(source).ModTime, e.stat(destination).ModTime; !got.After(old) {
		e.Errorf("Stat(%q).ModTime = %v after Copy(%q, %q), want after %v of the source", destination, got, source, destination, old)
	}
}
