package osfile_test

import (
	"bytes"
	stdcmp "cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/internal/osfile"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// names are what random operations work on: few, so that they meet.
var names = []string{"a", "b", "d", "d/a", "d/e", "d/e/f", "a/x"}

var flags = []int{
	os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_CREATE, os.O_RDWR | os.O_CREATE | os.O_TRUNC,
	os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_CREATE | os.O_EXCL, os.O_WRONLY | os.O_CREATE | os.O_APPEND, os.O_RDWR | os.O_APPEND,
}

// file is what an *os.File and an *osfile.File have in common.
type file interface {
	io.ReadWriteSeeker
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	Readdir(n int) ([]fs.FileInfo, error)
}

// system is package os in a folder, or an FS.
type system interface {
	OpenFile(name string, flag int) (file, error)
	Stat(name string) (fs.FileInfo, error)
	Mkdir(name string) error
	MkdirAll(name string) error
	Remove(name string) error
	RemoveAll(name string) error
	Rename(from, to string) error
}

type folder string

func (d folder) at(name string) string { return filepath.Join(string(d), name) }

func (d folder) OpenFile(name string, flag int) (file, error) {
	return os.OpenFile(d.at(name), flag, 0o644)
}
func (d folder) Stat(name string) (fs.FileInfo, error) { return os.Stat(d.at(name)) }
func (d folder) Mkdir(name string) error               { return os.Mkdir(d.at(name), 0o755) }
func (d folder) MkdirAll(name string) error            { return os.MkdirAll(d.at(name), 0o755) }
func (d folder) Remove(name string) error              { return os.Remove(d.at(name)) }
func (d folder) RemoveAll(name string) error           { return os.RemoveAll(d.at(name)) }
func (d folder) Rename(from, to string) error          { return os.Rename(d.at(from), d.at(to)) }

type view struct{ *osfile.FS }

func (v view) OpenFile(name string, flag int) (file, error) {
	return v.FS.OpenFile(name, flag, 0o644)
}

// TestLikePackageOS runs random operations on a folder with package os and on a
// workspace with an FS. They return the same.
func TestLikePackageOS(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "osfile")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		m := memory.New(nil)
		systems := [2]system{folder(dir), view{osfile.New(t.Context(), workspace.New("test", m, nil), nil)}}
		for range rapid.IntRange(1, 30).Draw(t, "operations") {
			name := rapid.SampledFrom(names).Draw(t, "name")
			compare(t, systems, operation(t, name))
		}
		for _, name := range names {
			compare(t, systems, content(name))
		}
	})
}

// step is done with a system, and returns what the systems must agree on.
type step func(s system) string

func compare(t *rapid.T, systems [2]system, do step) {
	if want, got := do(systems[0]), do(systems[1]); got != want {
		t.Fatalf("an FS returns %s, and package os %s", got, want)
	}
}

// operation draws what to do with name.
func operation(t *rapid.T, name string) step {
	switch rapid.SampledFrom([]string{"use", "use", "use", "mkdir", "mkdirall", "remove", "removeall", "rename", "stat"}).Draw(t, "operation") {
	case "mkdir":
		return func(s system) string { return outcome(s.Mkdir(name)) }
	case "mkdirall":
		return func(s system) string { return outcome(s.MkdirAll(name)) }
	case "remove":
		return func(s system) string { return outcome(s.Remove(name)) }
	case "removeall":
		return func(s system) string { return outcome(s.RemoveAll(name)) }
	case "rename":
		to := rapid.SampledFrom(names).Draw(t, "to")
		return func(s system) string { return renamed(s.Rename(name, to)) }
	case "stat":
		return content(name)
	}
	return use(t, name)
}

// use draws what to do with an open file.
func use(t *rapid.T, name string) step {
	flag := rapid.SampledFrom(flags).Draw(t, "flag")
	type call func(f file, s system) string
	var calls []call
	for range rapid.IntRange(0, 8).Draw(t, "calls") {
		data := rapid.SliceOfN(rapid.Byte(), 1, 8).Draw(t, "data")
		at := rapid.Int64Range(-1, 12).Draw(t, "at")
		whence := rapid.IntRange(0, 2).Draw(t, "whence")
		other := rapid.SampledFrom(names).Draw(t, "other")
		calls = append(calls, rapid.SampledFrom([]call{
			func(f file, _ system) string { n, err := f.Write(data); return outcome(err, n) },
			func(f file, _ system) string { n, err := f.WriteAt(data, at); return outcome(err, n) },
			func(f file, _ system) string { n, err := f.Read(data); return outcome(err, n, data[:n]) },
			func(f file, _ system) string { n, err := f.ReadAt(data, at); return outcome(err, n, data[:n]) },
			func(f file, _ system) string { n, err := f.Seek(at, whence); return outcome(err, n) },
			func(f file, _ system) string { return outcome(f.Truncate(at)) },
			func(f file, _ system) string { info, err := f.Stat(); return described(info, err) },
			func(_ file, s system) string { return renamed(s.Rename(name, other)) },
			func(_ file, s system) string { return outcome(s.RemoveAll(name)) },
			func(_ file, s system) string { return content(name)(s) },
			func(_ file, s system) string { return content(filepath.Dir(name))(s) },
		}).Draw(t, "call"))
	}
	return func(s system) string {
		f, err := s.OpenFile(name, flag)
		if err != nil {
			return "open: " + outcome(err)
		}
		info, err := f.Stat()
		if err != nil || info.IsDir() {
			return described(info, errors.Join(err, f.Close()))
		}
		var b strings.Builder
		for _, call := range calls {
			b.WriteString(call(f, s) + ", ")
		}
		b.WriteString(outcome(f.Close()) + ", " + outcome(f.Close()))
		return b.String()
	}
}

// content opens name, and reads the file or directory.
func content(name string) step {
	return func(s system) string {
		info, err := s.Stat(name)
		if err != nil {
			return described(info, err)
		}
		f, err := s.OpenFile(name, os.O_RDONLY)
		if err != nil {
			return outcome(err)
		}
		defer f.Close()
		if !info.IsDir() {
			data, err := io.ReadAll(f)
			return outcome(err, described(info, nil), data)
		}
		children, err := f.Readdir(0)
		if err != nil {
			return outcome(err)
		}
		listed := []string{}
		for _, child := range children {
			listed = append(listed, child.Name()+": "+described(child, nil))
		}
		slices.Sort(listed)
		return strings.Join(listed, ", ")
	}
}

// described is what the systems agree on about a file or directory.
func described(info fs.FileInfo, err error) string {
	switch {
	case err != nil:
		return outcome(err)
	case info.IsDir():
		return "a directory " + info.Name()
	}
	return fmt.Sprintf("a file of %d bytes", info.Size())
}

// outcome is the kind of an error, and without one the results. Package os has numbers
// of the system where package workspace has kinds.
func outcome(err error, results ...any) string {
	switch {
	case err == nil:
		return fmt.Sprint(results...)
	case err == io.EOF:
		return "EOF " + fmt.Sprint(results...)
	case os.IsNotExist(err):
		return "not exist"
	case os.IsExist(err) && !errors.Is(err, syscall.ENOTEMPTY):
		return "exist"
	}
	return "error"
}

// renamed is the outcome of a Rename. One that is wrong for several reasons may report
// any of them.
func renamed(err error) string {
	if err != nil {
		return "error"
	}
	return ""
}

func newFS(t *testing.T, opts *osfile.Options) (*osfile.FS, *workspace.Workspace) {
	t.Helper()
	ws := workspace.New("test", memory.New(nil), &workspace.Options{MaxFileSize: 100})
	return osfile.New(t.Context(), ws, opts), ws
}

func write(t *testing.T, ws workspace.FileSystem, name, content string) {
	t.Helper()
	if _, err := ws.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, f *osfile.FS, name string, flag int) *osfile.File {
	t.Helper()
	file, err := f.OpenFile(name, flag, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func writeString(t *testing.T, file io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(file, text); err != nil {
		t.Fatal(err)
	}
}

// TestOnlyCloseShows has a file written in parts: others see the old content until Close,
// and this FS sees the new one at once.
func TestOnlyCloseShows(t *testing.T) {
	t.Parallel()
	f, ws := newFS(t, nil)
	write(t, ws, "a", "old")
	for _, flag := range []int{os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_APPEND, os.O_WRONLY} {
		before, err := ws.ReadFile(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		file := open(t, f, "a", flag)
		for range 3 {
			writeString(t, file, "new")
			if got, err := ws.ReadFile(t.Context(), "a"); err != nil || !bytes.Equal(got, before) {
				t.Errorf("flags %#x: while it is written, the file has %q, %v, want %q", flag, got, err, before)
			}
		}
		here := open(t, f, "a", os.O_RDONLY)
		if got, err := io.ReadAll(here); err != nil || !strings.HasSuffix(string(got), "newnewnew") {
			t.Errorf("flags %#x: the FS reads %q, %v, want what was written", flag, got, err)
		}
		if err := errors.Join(file.Close(), here.Close()); err != nil {
			t.Fatal(err)
		}
		if got, err := ws.ReadFile(t.Context(), "a"); err != nil || !strings.HasSuffix(string(got), "newnewnew") {
			t.Errorf("flags %#x: after Close, the file has %q, %v", flag, got, err)
		}
	}
}

// TestChangedByOthers has somebody else change a file while it is open for writing.
func TestChangedByOthers(t *testing.T) {
	t.Parallel()
	nothing := func(*osfile.File) error { return nil }
	tests := map[string]struct {
		before string
		flag   int
		write  func(file *osfile.File) error
		kind   error
		want   string
	}{
		"truncated":           {"old", os.O_WRONLY | os.O_TRUNC, appendMine, nil, "mine"},
		"changed":             {"old", os.O_RDWR, appendMine, workspace.ErrConflict, "theirs"},
		"appended":            {"old", os.O_WRONLY | os.O_APPEND, appendMine, nil, "theirsmine"},
		"appended, new":       {"", os.O_WRONLY | os.O_APPEND | os.O_CREATE, appendMine, nil, "theirsmine"},
		"new":                 {"", os.O_WRONLY | os.O_CREATE, appendMine, fs.ErrExist, "theirs"},
		"exclusive":           {"", os.O_WRONLY | os.O_CREATE | os.O_EXCL, appendMine, fs.ErrExist, "theirs"},
		"exclusive, appended": {"", os.O_WRONLY | os.O_CREATE | os.O_EXCL | os.O_APPEND, appendMine, fs.ErrExist, "theirs"},
		"exclusive, empty":    {"", os.O_WRONLY | os.O_CREATE | os.O_EXCL, nothing, fs.ErrExist, "theirs"},
		"new, empty":          {"", os.O_WRONLY | os.O_CREATE, nothing, nil, "theirs"},
		"created":             {"", os.O_WRONLY | os.O_CREATE | os.O_TRUNC, appendMine, nil, "mine"},
		"unchanged":           {"old", os.O_RDWR, nothing, nil, "theirs"},
		"discarded": {"old", os.O_WRONLY | os.O_TRUNC, func(file *osfile.File) error {
			file.Discard()
			return nil
		}, nil, "theirs"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, ws := newFS(t, nil)
			if test.before != "" {
				write(t, ws, "a", test.before)
			}
			file := open(t, f, "a", test.flag)
			if err := test.write(file); err != nil {
				t.Fatal(err)
			}
			write(t, ws, "a", "theirs")
			if err := file.Close(); !errors.Is(err, test.kind) {
				t.Errorf("Close() = %v, want %v", err, test.kind)
			}
			if got, err := ws.ReadFile(t.Context(), "a"); err != nil || string(got) != test.want {
				t.Errorf("the file has %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// TestChangedAfterStore has somebody else change a file after one of two files that are open for
// writing has stored it, and before the other does.
func TestChangedAfterStore(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		first, second int
		again         bool // the file is opened with O_TRUNC once more
		kind          error
		want          string
	}{
		{os.O_WRONLY | os.O_TRUNC, os.O_RDWR, false, workspace.ErrConflict, "theirs"},
		{os.O_WRONLY | os.O_TRUNC, os.O_WRONLY | os.O_APPEND, false, nil, "theirsmine"},
		{os.O_WRONLY | os.O_TRUNC, os.O_RDWR, true, nil, "mine"},
		{os.O_WRONLY, os.O_RDWR, false, workspace.ErrConflict, "theirs"},
		{os.O_WRONLY, os.O_WRONLY | os.O_APPEND, false, nil, "theirsmine"},
		{os.O_WRONLY, os.O_RDWR, true, nil, "mine"},
	} {
		f, ws := newFS(t, nil)
		write(t, ws, "a", "old")
		first, second := open(t, f, "a", test.first), open(t, f, "a", test.second)
		writeString(t, first, "first")
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if test.again {
			again := open(t, f, "a", os.O_WRONLY|os.O_TRUNC)
			defer again.Close()
		}
		write(t, ws, "a", "theirs")
		writeString(t, second, "mine")
		if err := second.Close(); !errors.Is(err, test.kind) {
			t.Errorf("%+v: Close() = %v, want %v", test, err, test.kind)
		}
		if got, err := ws.ReadFile(t.Context(), "a"); err != nil || string(got) != test.want {
			t.Errorf("%+v: the file has %q, %v, want %q", test, got, err, test.want)
		}
	}
}

func appendMine(file *osfile.File) error {
	_, err := io.WriteString(file, "mine")
	return err
}

// TestLimit tests that a file that is open for writing is not larger than the limit, and
// that larger files can be read.
func TestLimit(t *testing.T) {
	t.Parallel()
	m := memory.New(nil)
	large := bytes.Repeat([]byte("0123456789abcdef"), 200_000) // several windows
	write(t, m, "large", string(large))
	ws := workspace.New("test", m, &workspace.Options{MaxFileSize: 100})
	f := osfile.New(t.Context(), ws, nil)

	file := open(t, f, "a", os.O_RDWR|os.O_CREATE)
	writeString(t, file, strings.Repeat("x", 100))
	if err := file.Sync(); err != nil {
		t.Error(err)
	}
	writeString(t, open(t, f, "a", os.O_WRONLY), "lost")
	_, errWrite := file.Write([]byte("y"))
	_, errWriteAt := file.WriteAt([]byte("y"), 100)
	_, errWriteFar := file.WriteAt([]byte("xyz"), math.MaxInt64-1)
	for call, err := range map[string]error{"Write": errWrite, "WriteAt": errWriteAt, "WriteAt of the largest number": errWriteFar, "Truncate": file.Truncate(101), "Sync": file.Sync()} {
		if !errors.Is(err, workspace.ErrTooLarge) || !strings.Contains(fmt.Sprint(err), "100 bytes") {
			t.Errorf("%s beyond the limit = %v, want ErrTooLarge with the limit", call, err)
		}
	}
	if err := file.Close(); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("Close after a Write that failed = %v, want ErrTooLarge", err)
	}
	if got, err := m.ReadFile(t.Context(), "a"); err != nil || string(got) != strings.Repeat("x", 100) {
		t.Errorf("after it the file has %q, %v, want what Sync has stored", got, err)
	}
	again := open(t, f, "a", os.O_WRONLY|os.O_TRUNC)
	writeString(t, again, "short")
	if err := again.Close(); err != nil {
		t.Errorf("Close after the content was dropped = %v, want nil", err)
	}
	if _, err := f.OpenFile("large", os.O_RDWR, 0); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("OpenFile(large, O_RDWR) = %v, want ErrTooLarge", err)
	}

	file = open(t, f, "large", os.O_RDONLY)
	if got, err := io.ReadAll(file); err != nil || !bytes.Equal(got, large) {
		t.Errorf("ReadAll(large) = %d bytes, %v, want all %d", len(got), err, len(large))
	}
	part := make([]byte, 10)
	if _, err := file.ReadAt(part, 5); err != nil || !bytes.Equal(part, large[5:15]) {
		t.Errorf("ReadAt(5) = %q, %v, want %q", part, err, large[5:15])
	}
	write(t, m, "large", string(large[1:])+"!")
	if _, err := file.ReadAt(part, 2<<20); !errors.Is(err, workspace.ErrConflict) {
		t.Errorf("ReadAt of a large file that has changed = %v, want ErrConflict", err)
	}

	for _, pair := range [][2]string{{"large", "a"}, {"b", "a"}} {
		write(t, m, "b", "small")
		want, err := m.ReadFile(t.Context(), pair[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Rename(pair[0], pair[1]); err != nil {
			t.Errorf("Rename(%s, %s) = %v", pair[0], pair[1], err)
		}
		if got, err := m.ReadFile(t.Context(), pair[1]); err != nil || !bytes.Equal(got, want) {
			t.Errorf("after Rename(%s, %s), %s has %d bytes, %v, want %d", pair[0], pair[1], pair[1], len(got), err, len(want))
		}
	}
	if children, err := m.Ls(t.Context(), ".", nil); err != nil || len(children) != 1 {
		t.Errorf("after the renames there are %v, %v, want one file", children, err)
	}
}

// TestErrors tests the kinds and the names of errors.
func TestErrors(t *testing.T) {
	t.Parallel()
	f, ws := newFS(t, nil)
	write(t, ws, "d/a", "")
	open := func(name string, flag int) error {
		_, err := f.OpenFile(name, flag, 0)
		return err
	}
	readOnly := osfile.New(t.Context(), workspace.New("test", readOnlyFS{memory.New(nil)}, nil), nil)
	_, errReadOnly := readOnly.OpenFile("a", os.O_WRONLY|os.O_CREATE, 0)
	for _, test := range []struct {
		call string
		err  error
		kind error
		path string
	}{
		{"open missing", open("/x", os.O_RDONLY), fs.ErrNotExist, "/x"},
		{"create without parent", open("x/y", os.O_WRONLY|os.O_CREATE), fs.ErrNotExist, "x/y"},
		{"create exclusively", open("d/a", os.O_WRONLY|os.O_CREATE|os.O_EXCL), fs.ErrExist, "d/a"},
		{"write directory", open("d", os.O_WRONLY), workspace.ErrIsDir, "d"},
		{"truncate directory", open("d", os.O_WRONLY|os.O_TRUNC), workspace.ErrIsDir, "d"},
		{"escape", open("../x", os.O_RDONLY), workspace.ErrEscape, "../x"},
		{"reserved", open(".workspacekit-tmp-x", os.O_RDONLY), fs.ErrInvalid, ".workspacekit-tmp-x"},
		{"mkdir", f.Mkdir("d"), fs.ErrExist, "d"},
		{"remove", f.Remove("d"), workspace.ErrNotEmpty, "d"},
		{"remove root", f.RemoveAll("/"), fs.ErrInvalid, "/"},
		{"read-only", errReadOnly, fs.ErrPermission, "a"},
	} {
		var pathError *fs.PathError
		if !errors.Is(test.err, test.kind) || !errors.As(test.err, &pathError) || pathError.Path != test.path {
			t.Errorf("%s: %v, want %v about %s", test.call, test.err, test.kind, test.path)
		}
		if os.IsNotExist(test.err) != (test.kind == fs.ErrNotExist) || os.IsExist(test.err) != (test.kind == fs.ErrExist) {
			t.Errorf("%s: %v is not what package os expects", test.call, test.err)
		}
	}
	if err := f.RemoveAll("missing"); err != nil {
		t.Errorf("RemoveAll(missing) = %v, want nil", err)
	}
}

// readOnlyFS hides that a file system can be written to.
type readOnlyFS struct{ *memory.FS }

func (readOnlyFS) Capabilities() workspace.Capabilities { return workspace.Capabilities{} }

// TestRenameReplaces renames over a file while others read it: they see the old content or
// the new one.
func TestRenameReplaces(t *testing.T) {
	t.Parallel()
	f, ws := newFS(t, nil)
	write(t, ws, "target", "0")
	ctx, cancel := context.WithCancel(t.Context())
	read := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if data, err := ws.ReadFile(t.Context(), "target"); err != nil || len(data) != 1 {
				read <- fmt.Errorf("ReadFile(target) = %q, %v", data, err)
				return
			}
		}
		read <- nil
	}()
	for i := range 200 {
		write(t, ws, "source", fmt.Sprint(i%10))
		if err := f.Rename("source", "target"); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-read; err != nil {
		t.Error(err)
	}
}

// TestRenameRefused renames over what exists where rules do not let the source go: both are
// as they were.
func TestRenameRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	local, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	write(t, local, "kept", "kept")
	write(t, local, "file", "file")
	write(t, local, "elsewhere", "elsewhere")
	if err := os.Symlink("elsewhere", filepath.Join(dir, "link")); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
	for _, test := range []struct {
		without policy.Op
		path    string
		target  string
	}{
		{policy.OpRead, "kept", "file"},
		{policy.OpRead, "kept", "link"},
		{policy.OpMove, "kept", "link"},
		{policy.OpDelete, "kept", "file"},
		{policy.OpDelete, "*", "link"},
	} {
		rules, err := policy.Restrict(local, policy.Rules{FirstMatch: []policy.Rule{{Deny: []policy.Op{test.without}, Paths: []string{test.path}}}})
		if err != nil {
			t.Fatal(err)
		}
		f := osfile.New(t.Context(), workspace.New("test", rules, nil), nil)
		if err := f.Rename("kept", test.target); err == nil {
			t.Errorf("without %s, Rename(kept, %s) is no error", test.without, test.target)
		}
		children, err := local.Ls(t.Context(), ".", nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, child := range children {
			data, err := local.ReadFile(t.Context(), child.Path)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s: %s with %s", child.Name, child.Type, data))
		}
		want := []string{"elsewhere: file with elsewhere", "file: file with file", "kept: file with kept", "link: symlink with elsewhere"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after Rename(kept, %s) without %s (-want +got):\n%s", test.target, test.without, diff)
		}
	}
}

// forgetful is a file system whose removals take place although they fail.
type forgetful struct{ workspace.FileSystem }

func (f forgetful) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	return stdcmp.Or(f.FileSystem.Rm(ctx, name, opts), workspace.ErrUnavailable)
}

// TestRenameAnswerLost renames over a file where the answer to the removal is lost: the new
// content stays, as nothing else has it.
func TestRenameAnswerLost(t *testing.T) {
	t.Parallel()
	m := memory.New(nil)
	write(t, m, "source", "new")
	write(t, m, "target", "old")
	f := osfile.New(t.Context(), workspace.New("test", forgetful{m}, nil), nil)
	if err := f.Rename("source", "target"); !errors.Is(err, workspace.ErrUnavailable) {
		t.Errorf("Rename() = %v, want ErrUnavailable", err)
	}
	if data, err := m.ReadFile(t.Context(), "target"); err != nil || string(data) != "new" {
		t.Errorf("target has %q, %v, want what source had", data, err)
	}
}

// overtaken is a file system where somebody else makes edits, by name, once target has been
// written.
type overtaken struct {
	*memory.FS
	edits map[string]string
}

func (o *overtaken) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	version, err := o.FS.WriteFile(ctx, name, data, opts)
	if name == "target" {
		for edited, content := range o.edits {
			_, editErr := o.FS.WriteFile(ctx, edited, []byte(content), nil)
			err = stdcmp.Or(err, editErr)
		}
		o.edits = nil
	}
	return version, err
}

// unversioned is a file system without versions.
type unversioned struct{ workspace.FileSystem }

func (unversioned) Capabilities() workspace.Capabilities { return workspace.Capabilities{Write: true} }

func (u unversioned) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	info, err := u.FileSystem.Stat(ctx, name)
	info.Version = ""
	return info, err
}

// TestRenameOvertaken has somebody else edit a file after a rename over another has read it. The
// rename is refused and undone, but an edit of the other file stays.
func TestRenameOvertaken(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		edits       map[string]string
		unversioned bool
		target      string
	}{
		{"source", map[string]string{"source": "edited"}, false, "old"},
		{"both", map[string]string{"source": "edited", "target": "edited, too"}, false, "edited, too"},
		{"without versions", map[string]string{"source": "edited"}, true, "old"},
	} {
		m := memory.New(nil)
		write(t, m, "source", "new")
		write(t, m, "target", "old")
		var fsys workspace.FileSystem = &overtaken{m, test.edits}
		if test.unversioned {
			fsys = unversioned{fsys}
		}
		f := osfile.New(t.Context(), workspace.New("test", fsys, nil), nil)
		if err := f.Rename("source", "target"); !errors.Is(err, workspace.ErrConflict) {
			t.Errorf("%s: Rename() = %v, want ErrConflict", test.name, err)
		}
		for name, want := range map[string]string{"source": "edited", "target": test.target} {
			if data, err := m.ReadFile(t.Context(), name); err != nil || string(data) != want {
				t.Errorf("%s: %s has %q, %v, want %q", test.name, name, data, err, want)
			}
		}
	}
}

// TestWithoutMoves renames in a workspace that cannot move.
func TestWithoutMoves(t *testing.T) {
	t.Parallel()
	m := memory.New(nil)
	write(t, m, "d/a", "content")
	if _, err := m.WriteFile(t.Context(), "b", nil, nil); err != nil {
		t.Fatal(err)
	}
	f := osfile.New(t.Context(), workspace.New("test", plainFS{m}, nil), nil)
	if err := f.Rename("d/a", "b"); err != nil {
		t.Errorf("Rename(d/a, b) = %v", err)
	}
	if got, err := m.ReadFile(t.Context(), "b"); err != nil || string(got) != "content" {
		t.Errorf("b has %q, %v, want the content", got, err)
	}
	if err := f.Rename("d", "e"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Rename of a directory = %v, want ErrUnsupported", err)
	}
	if _, err := m.Stat(t.Context(), "d"); err != nil {
		t.Errorf("after a rename that failed: %v", err)
	}
	file, err := f.OpenFile("b", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	writeString(t, file, "!")
	if err := file.Close(); err != nil {
		t.Errorf("Close() without conditional writes = %v", err)
	}
}

// plainFS is a file system that can write, and nothing else.
type plainFS struct{ workspace.FileSystem }

func (plainFS) Capabilities() workspace.Capabilities { return workspace.Capabilities{Write: true} }

// TestRenameNew gives a file a name that must be new. Others create it before, between the steps,
// or have it open here.
func TestRenameNew(t *testing.T) {
	t.Parallel()
	for _, moves := range []bool{true, false} {
		m := memory.New(nil)
		write(t, m, "source", "mine")
		write(t, m, "stored", "theirs")
		var fsys workspace.FileSystem = created{m, "between"}
		if !moves {
			fsys = conditionalFS{fsys}
		}
		f := osfile.New(t.Context(), workspace.New("test", fsys, nil), nil)
		file := open(t, f, "open", os.O_WRONLY|os.O_CREATE)
		writeString(t, file, "theirs")
		for _, target := range []string{"stored", "between", "open", "source"} {
			if err := f.RenameNew("source", target); !errors.Is(err, fs.ErrExist) {
				t.Errorf("RenameNew(source, %s) with moves %t = %v, want ErrExist", target, moves, err)
			}
		}
		if err := errors.Join(file.Close(), f.RenameNew("source", "new")); err != nil {
			t.Errorf("with moves %t: %v", moves, err)
		}
		for name, want := range map[string]string{"stored": "theirs", "between": "theirs", "open": "theirs", "new": "mine"} {
			if data, err := m.ReadFile(t.Context(), name); err != nil || string(data) != want {
				t.Errorf("with moves %t, %s has %q, %v, want %q", moves, name, data, err, want)
			}
		}
	}
}

// created is a file system where somebody else creates a file after the first look at it.
type created struct {
	*memory.FS
	name string
}

func (c created) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	info, err := c.FS.Stat(ctx, name)
	if name == c.name && err != nil {
		_, writeErr := c.FS.WriteFile(ctx, name, []byte("theirs"), nil)
		err = stdcmp.Or(writeErr, err)
	}
	return info, err
}

// conditionalFS is a file system that cannot move.
type conditionalFS struct{ workspace.FileSystem }

func (conditionalFS) Capabilities() workspace.Capabilities {
	return workspace.Capabilities{Write: true, Versions: true, ConditionalWrite: true}
}

// TestOpenFilesAreFound uses a file that is not closed by its name.
func TestOpenFilesAreFound(t *testing.T) {
	t.Parallel()
	f, ws := newFS(t, &osfile.Options{Parents: true})
	file, err := f.OpenFile("d/a", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	writeString(t, file, "content")
	if _, err := f.OpenFile("d/a", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0); !os.IsExist(err) {
		t.Errorf("the second OpenFile with O_EXCL = %v, want ErrExist", err)
	}
	if info, err := f.Stat("d/a"); err != nil || info.Size() != 7 || info.Mode() != 0o755 {
		t.Errorf("Stat(d/a) = %+v, %v, want 7 bytes that can be executed", info, err)
	}
	if err := f.Rename("d", "e"); !os.IsNotExist(err) {
		t.Errorf("Rename(d) = %v, want ErrNotExist, as nothing is stored below it", err)
	}
	if err := f.Rename("d/a", "e/b"); err != nil {
		t.Error(err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	paths, err := ws.Glob(t.Context(), "**", nil)
	if diff := cmp.Diff([]string{"e/b"}, paths); err != nil || diff != "" {
		t.Errorf("Glob(**) = %v (-want +got):\n%s", err, diff)
	}
	if info, err := f.Stat("e/b"); err != nil || info.Mode() != 0o755 {
		t.Errorf("Stat(e/b) = %+v, %v, want that it can still be executed", info, err)
	}
	file = open(t, f, "e/b", os.O_WRONLY|os.O_TRUNC)
	if err := f.Remove("e/b"); err != nil {
		t.Error(err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	if _, err := ws.Stat(t.Context(), "e/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Remove and Close: %v, want ErrNotExist", err)
	}
}

// TestRenameKeepsCondition renames a file that is open and that somebody else has changed, or
// not: what they wrote is not replaced.
func TestRenameKeepsCondition(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flag  int
		other string // what somebody else appends before the rename
		exist bool   // whether there is a file of the new name
		want  string
		err   error
	}{
		{os.O_RDWR, "", false, "mine\n", nil},
		{os.O_RDWR, "", true, "mine\n", nil},
		{os.O_RDWR, "other\n", false, "old\nother\n", workspace.ErrConflict},
		{os.O_RDWR, "other\n", true, "old\nother\n", workspace.ErrConflict},
		{os.O_WRONLY | os.O_APPEND, "", false, "old\nmine\n", nil},
		{os.O_WRONLY | os.O_APPEND, "other\n", false, "old\nother\nmine\n", nil},
	} {
		for _, local := range []bool{false, true} {
			t.Run(fmt.Sprint(test, local), func(t *testing.T) {
				t.Parallel()
				var fsys workspace.FileSystem = memory.New(nil)
				if local {
					folder, err := localbash.Open(t.TempDir(), nil)
					if err != nil {
						t.Fatal(err)
					}
					defer folder.Close()
					fsys = folder
				}
				write(t, fsys, "d/a", "old\n")
				if test.exist {
					write(t, fsys, "d/b", "there\n")
				}
				f := osfile.New(t.Context(), workspace.New("test", fsys, nil), nil)
				file := open(t, f, "d/a", test.flag)
				if test.other != "" {
					write(t, fsys, "d/a", "old\n"+test.other)
				}
				if err := f.Rename("d/a", "d/b"); err != nil {
					t.Fatal(err)
				}
				at := "d/b"
				if !test.exist {
					at = "e/b"
					if err := f.Rename("d", "e"); err != nil {
						t.Fatal(err)
					}
				}
				writeString(t, file, "mine\n")
				if err := file.Close(); !errors.Is(err, test.err) {
					t.Errorf("Close() = %v, want %v", err, test.err)
				}
				if got, err := fsys.ReadFile(t.Context(), at); err != nil || string(got) != test.want {
					t.Errorf("%s has %q, %v, want %q", at, got, err, test.want)
				}
			})
		}
	}
}

// TestRenameThenEdited has somebody else change a file that is open by its new name, as soon as it
// has that. What they wrote is not replaced.
func TestRenameThenEdited(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flag int
		err  error
		want string
	}{
		{os.O_RDWR, workspace.ErrConflict, "old, theirs"},
		{os.O_WRONLY | os.O_APPEND, nil, "old, theirsmine"},
	} {
		for _, target := range []string{"new", "there"} {
			fsys := &hooked{FS: memory.New(nil)}
			write(t, fsys, "a", "old")
			write(t, fsys, "there", "there")
			edit := func() { write(t, fsys, target, "old, theirs") }
			fsys.moved, fsys.removed = edit, edit // a file is copied to a name that exists
			f := osfile.New(t.Context(), workspace.New("test", fsys, nil), nil)
			file := open(t, f, "a", test.flag)
			writeString(t, file, "mine")
			if err := f.Rename("a", target); err != nil {
				t.Fatal(err)
			}
			if err := file.Close(); !errors.Is(err, test.err) {
				t.Errorf("flags %#x: after Rename(a, %s), Close() = %v, want %v", test.flag, target, err, test.err)
			}
			if data, err := fsys.ReadFile(t.Context(), target); err != nil || string(data) != test.want {
				t.Errorf("flags %#x: after Rename(a, %s), it has %q, %v, want %q", test.flag, target, data, err, test.want)
			}
		}
	}
}

// TestRenameOfNewFile renames a new file while it is open. What somebody else has stored under the
// new name since is not replaced; what was there before is.
func TestRenameOfNewFile(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flag          int
		before, after string // what the new name holds before the rename, and what is stored there after it
		want          string
		err           error
	}{
		{os.O_EXCL, "", "", "mine\n", nil},
		{os.O_EXCL, "before\n", "", "mine\n", nil},
		{os.O_EXCL, "", "theirs\n", "theirs\n", fs.ErrExist},
		{os.O_EXCL, "before\n", "theirs\n", "mine\n", nil},
		{os.O_APPEND, "before\n", "", "mine\n", nil},
		{os.O_APPEND, "", "theirs\n", "theirs\nmine\n", nil},
	} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			t.Parallel()
			fsys := memory.New(nil)
			if test.before != "" {
				write(t, fsys, "b", test.before)
			}
			f := osfile.New(t.Context(), workspace.New("test", fsys, nil), nil)
			file := open(t, f, "a", os.O_WRONLY|os.O_CREATE|test.flag)
			if err := f.Rename("a", "b"); err != nil {
				t.Fatal(err)
			}
			if test.after != "" {
				write(t, fsys, "b", test.after)
			}
			writeString(t, file, "mine\n")
			if err := file.Close(); !errors.Is(err, test.err) {
				t.Errorf("Close() = %v, want %v", err, test.err)
			}
			if got, err := fsys.ReadFile(t.Context(), "b"); err != nil || string(got) != test.want {
				t.Errorf("b has %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// TestRenameOfRemovedFile renames an open file that somebody else has removed: only what was written
// to it can be stored by the new name.
func TestRenameOfRemovedFile(t *testing.T) {
	t.Parallel()
	for flag, want := range map[int]error{os.O_RDWR: fs.ErrNotExist, os.O_RDWR | os.O_TRUNC: nil} {
		for _, target := range []string{"new", "there"} {
			f, ws := newFS(t, nil)
			write(t, ws, "a", "content")
			write(t, ws, "there", "there")
			file := open(t, f, "a", flag)
			if err := ws.Rm(t.Context(), "a", nil); err != nil {
				t.Fatal(err)
			}
			if err := f.Rename("a", target); !errors.Is(err, want) {
				t.Errorf("Rename(a, %s) = %v, want %v", target, err, want)
			}
			if err := file.Close(); err != nil {
				t.Errorf("Close() = %v", err)
			}
			if data, err := ws.ReadFile(t.Context(), target); want == nil && (err != nil || len(data) != 0) {
				t.Errorf("%s has %q, %v, want an empty file", target, data, err)
			}
		}
	}
}

// TestRenameToItself renames a file to another name that leads to it.
func TestRenameToItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	write(t, fsys, "real/a", "content")
	f := osfile.New(t.Context(), workspace.New("test", fsys, nil), nil)
	for _, to := range []string{"link/a", "real/a"} {
		if err := f.Rename("real/a", to); err != nil {
			t.Errorf("Rename(real/a, %s) = %v", to, err)
		}
		if data, err := fsys.ReadFile(t.Context(), "real/a"); err != nil || string(data) != "content" {
			t.Errorf("after Rename(real/a, %s), the file has %q, %v, want its content", to, data, err)
		}
	}
}

// TestRenameOfSymlink renames a symlink to what it leads to, which stays, and what a symlink
// leads to over it, which replaces the symlink. A symlink that cannot be followed, and so could
// lead to the file, is refused.
func TestRenameOfSymlink(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		leads, from, to, file string
		want                  error
	}{
		{"file", "link", "file", "file", nil},
		{"dir/../file", "link", "file", "file", nil},
		{"file", "file", "link", "link", nil},
		{"missing", "link", "other", "file", nil},
		{"link", "link", "file", "file", fs.ErrInvalid},
		{"../outside", "link", "file", "file", workspace.ErrEscape},
	} {
		dir := t.TempDir()
		if err := errors.Join(os.Mkdir(filepath.Join(dir, "dir"), 0o777), os.Symlink(test.leads, filepath.Join(dir, "link"))); err != nil {
			t.Skipf("no symlinks here: %v", err)
		}
		fsys, err := localbash.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer fsys.Close()
		write(t, fsys, "file", "content")
		write(t, fsys, "other", "other")
		f := osfile.New(t.Context(), workspace.New("test", fsys, nil), nil)
		var opened *osfile.File
		if test.to == "file" { // what is written to it is not dropped, as it stays
			opened = open(t, f, "file", os.O_WRONLY|os.O_TRUNC)
			writeString(t, opened, "content")
			write(t, fsys, "file", "old")
		}
		if err := f.Rename(test.from, test.to); !errors.Is(err, test.want) {
			t.Errorf("Rename(%s, %s) with a symlink to %s = %v, want %v", test.from, test.to, test.leads, err, test.want)
		}
		if opened != nil && opened.Close() != nil {
			t.Errorf("Close() is an error after Rename(%s, %s) with a symlink to %s", test.from, test.to, test.leads)
		}
		if info, err := fsys.Stat(t.Context(), test.file); err != nil || info.Type != workspace.TypeFile {
			t.Errorf("after Rename(%s, %s) with a symlink to %s, %s is a %s, %v", test.from, test.to, test.leads, test.file, info.Type, err)
		}
		if data, err := fsys.ReadFile(t.Context(), test.file); err != nil || string(data) != "content" {
			t.Errorf("after Rename(%s, %s) with a symlink to %s, %s has %q, %v", test.from, test.to, test.leads, test.file, data, err)
		}
	}
}

// TestRenameOfUnsavedFileToSymlink renames a file that only its writer knows over a symlink, which
// is replaced. What it led to stays.
func TestRenameOfUnsavedFileToSymlink(t *testing.T) {
	t.Parallel()
	for _, flag := range []int{os.O_TRUNC, os.O_EXCL, os.O_APPEND} {
		dir := t.TempDir()
		if err := os.Symlink("precious", filepath.Join(dir, "current")); err != nil {
			t.Skipf("no symlinks here: %v", err)
		}
		fsys, err := localbash.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer fsys.Close()
		write(t, fsys, "precious", "precious")
		f := osfile.New(t.Context(), workspace.New("test", fsys, nil), nil)
		file := open(t, f, "temp", os.O_WRONLY|os.O_CREATE|flag)
		writeString(t, file, "new")
		if err := f.Rename("temp", "current"); err != nil {
			t.Errorf("flag %#x: Rename(temp, current) = %v", flag, err)
		}
		writeString(t, file, ", and more")
		if err := file.Close(); err != nil {
			t.Errorf("flag %#x: Close() = %v", flag, err)
		}
		for name, want := range map[string]string{"precious": "precious", "current": "new, and more"} {
			if data, err := fsys.ReadFile(t.Context(), name); err != nil || string(data) != want {
				t.Errorf("flag %#x: %s has %q, %v, want %q", flag, name, data, err, want)
			}
		}
		if infos, err := fsys.Ls(t.Context(), ".", nil); err != nil || len(infos) != 2 || infos[0].Type != workspace.TypeFile {
			t.Errorf("flag %#x: Ls = %v, %v, want the files current and precious", flag, infos, err)
		}
	}
}

// TestSymlinkGoneWhileOpen removes, replaces or renames a symlink through which a file is being
// written, or what it is in. The file that it led to stays, and gets what is written when it is
// closed, unless somebody else has changed it.
func TestSymlinkGoneWhileOpen(t *testing.T) {
	t.Parallel()
	const whole = os.O_WRONLY | os.O_TRUNC
	for _, test := range []struct {
		open  string
		flag  int
		other string // what somebody else writes to the file
		gone  string
		do    func(f *osfile.FS) error
		file  string
		want  string
		err   error // of Close
	}{
		{"link", whole, "", "Remove(link)", func(f *osfile.FS) error { return f.Remove("link") }, "file", "half whole", nil},
		{"link", whole, "", "Rename(other, link)", func(f *osfile.FS) error { return f.Rename("other", "link") }, "file", "half whole", nil},
		{"link", whole, "", "Rename(link, new)", func(f *osfile.FS) error { return f.Rename("link", "new") }, "file", "half whole", nil},
		{"dangling", whole | os.O_CREATE, "", "Remove(dangling)", func(f *osfile.FS) error { return f.Remove("dangling") }, "missing", "half whole", nil},
		{"d/link", whole, "", "RemoveAll(d)", func(f *osfile.FS) error { return f.RemoveAll("d") }, "file", "half whole", nil},
		{"tree/file", whole, "", "Remove(tree)", func(f *osfile.FS) error { return f.Remove("tree") }, "dir/file", "half whole", nil},
		{"tree/file", whole, "", "RemoveAll(tree)", func(f *osfile.FS) error { return f.RemoveAll("tree") }, "dir/file", "half whole", nil},
		{"tree/file", whole, "", "Rename(other, tree)", func(f *osfile.FS) error { return f.Rename("other", "tree") }, "dir/file", "half whole", nil},
		{"dir/file", whole, "", "RemoveAll(dir)", func(f *osfile.FS) error { return f.RemoveAll("dir") }, "dir/file", "", nil},
		{"link", os.O_WRONLY, "theirs", "Remove(link)", func(f *osfile.FS) error { return f.Remove("link") }, "file", "theirs", workspace.ErrConflict},
		{"link", os.O_WRONLY, "theirs", "Rename(other, link)", func(f *osfile.FS) error { return f.Rename("other", "link") }, "file", "theirs", workspace.ErrConflict},
	} {
		t.Run(test.open+" "+test.gone, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			err := os.Mkdir(filepath.Join(dir, "d"), 0o777)
			for name, target := range map[string]string{"link": "file", "dangling": "missing", "tree": "dir", "d/link": "../file"} {
				err = errors.Join(err, os.Symlink(target, filepath.Join(dir, name)))
			}
			if err != nil {
				t.Skipf("no symlinks here: %v", err)
			}
			fsys, err := localbash.Open(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer fsys.Close()
			for _, name := range []string{"file", "dir/file", "other"} {
				write(t, fsys, name, "old")
			}
			f := osfile.New(t.Context(), workspace.New("test", fsys, nil), nil)
			file := open(t, f, test.open, test.flag)
			writeString(t, file, "half ")
			stored := "old"
			if test.other != "" {
				stored = test.other
				write(t, fsys, test.file, stored)
			}
			if err := test.do(f); err != nil {
				t.Error(err)
			}
			if data, err := fsys.ReadFile(t.Context(), test.file); err == nil && string(data) != stored {
				t.Errorf("before Close, %s has %q, want %q", test.file, data, stored)
			}
			writeString(t, file, "whole")
			if err := file.Close(); !errors.Is(err, test.err) {
				t.Errorf("Close() = %v, want %v", err, test.err)
			}
			data, err := fsys.ReadFile(t.Context(), test.file)
			if string(data) != test.want || test.want == "" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s has %q, %v, want %q", test.file, data, err, test.want)
			}
		})
	}
}

// TestRulesOfSymlink opens a file through a symlink, for whose name a rule forbids it, while the
// file itself is open for writing.
func TestRulesOfSymlink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink("file", filepath.Join(dir, "link")); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
	local, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	write(t, local, "file", "old")
	for op, flag := range map[policy.Op]int{policy.OpRead: os.O_RDONLY, policy.OpWrite: os.O_WRONLY | os.O_TRUNC} {
		rules, err := policy.Restrict(local, policy.Rules{FirstMatch: []policy.Rule{{Deny: []policy.Op{op, policy.OpEdit}, Paths: []string{"link"}}}})
		if err != nil {
			t.Fatal(err)
		}
		f := osfile.New(t.Context(), workspace.New("test", rules, nil), nil)
		file := open(t, f, "file", os.O_RDWR|os.O_APPEND)
		link, err := f.OpenFile("link", flag, 0)
		if err == nil && op == policy.OpWrite {
			err = errors.Join(appendMine(link), link.Close())
		}
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("without %s, link is used: %v", op, err)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
		if data, err := local.ReadFile(t.Context(), "file"); err != nil || string(data) != "old" {
			t.Errorf("without %s, link is written: file has %q, %v", op, data, err)
		}
	}
}

// TestDanglingSymlink creates the target of a symlink, as WriteFile does, unless somebody else
// has created it meanwhile, or the flags or a caller mean that the name itself is new.
func TestDanglingSymlink(t *testing.T) {
	t.Parallel()
	const create = os.O_RDWR | os.O_CREATE
	for _, test := range []struct {
		name      string
		flag      int
		meanwhile string // what somebody else writes; empty for nothing
		require   bool
		want      string // in the target; empty for fs.ErrExist
	}{
		{"create", create, "", false, "mine"},
		{"append", create | os.O_APPEND, "", false, "mine"},
		{"truncate", create | os.O_TRUNC, "", false, "mine"},
		{"exclusive", create | os.O_EXCL, "", false, ""},
		{"required", create, "", true, ""},
		{"create-beside", create, "theirs,", false, ""},
		{"append-beside", create | os.O_APPEND, "theirs,", false, "theirs,mine"},
	} {
		for _, conditional := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s-%v", test.name, conditional), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				if err := os.Symlink("target", filepath.Join(dir, "link")); err != nil {
					t.Skipf("no symlinks here: %v", err)
				}
				local, err := localbash.Open(dir, nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { local.Close() })
				var fsys workspace.FileSystem = local
				if !conditional {
					fsys = unconditional{local}
				}
				file := open(t, osfile.New(t.Context(), workspace.New("test", fsys, nil), nil), "link", test.flag)
				if test.require {
					file.Require(workspace.WriteOptions{IfNotExist: true})
				}
				writeString(t, file, "mine")
				if test.meanwhile != "" {
					write(t, local, "target", test.meanwhile)
				}
				err = file.Sync()
				if test.want == "" {
					if !errors.Is(err, fs.ErrExist) {
						t.Errorf("Sync = %v, want %v", err, fs.ErrExist)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				writeString(t, file, ", again")
				if err := file.Close(); err != nil {
					t.Fatal(err)
				}
				if data, err := local.ReadFile(t.Context(), "target"); err != nil || string(data) != test.want+", again" {
					t.Errorf("the target has %q, %v, want %q", data, err, test.want+", again")
				}
			})
		}
	}
}

// unconditional is a folder without conditional writes.
type unconditional struct{ *localbash.FS }

func (unconditional) Capabilities() workspace.Capabilities {
	return workspace.Capabilities{Write: true}
}
