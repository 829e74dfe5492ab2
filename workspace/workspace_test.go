package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// rooted is a provider that people know under an absolute path.
type rooted struct{ *memory.FS }

func (rooted) Root() string { return "/srv/work" }

func newWorkspace(t *testing.T, opts *workspace.Options, files map[string]string) *workspace.Workspace {
	t.Helper()
	ws := workspace.New("test", rooted{memory.New(nil)}, &workspace.Options{MaxFileSize: -1})
	for name, content := range files {
		if _, err := ws.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	if opts == nil {
		return ws
	}
	return workspace.New("test", ws, opts)
}

func TestWorkspaceCleansNames(t *testing.T) {
	ws := newWorkspace(t, nil, map[string]string{"src/a": "x", "a-top": "x"})
	for _, name := range []string{"src/a", "/src/a", "./src/a", "src//a/", "/srv/work/src/a", "src/../src/a"} {
		if data, err := ws.ReadFile(t.Context(), name); err != nil || string(data) != "x" {
			t.Errorf("ReadFile(%q) = %q, %v, want x", name, data, err)
		}
	}
	for _, name := range []string{"../a", "/srv/work/../../a", "src/../../a"} {
		if _, err := ws.ReadFile(t.Context(), name); !errors.Is(err, workspace.ErrEscape) {
			t.Errorf("ReadFile(%q) = %v, want ErrEscape", name, err)
		}
	}
}

// started is a provider that learns its root at its first use.
type started struct {
	*memory.FS
	root string
}

func (s *started) Root() string { return s.root }

func TestWorkspaceOfALaterRoot(t *testing.T) {
	fsys := &started{FS: memory.New(nil)}
	ws := workspace.New("test", fsys, nil)
	if _, err := ws.WriteFile(t.Context(), "src/a", []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	fsys.root = "/srv/work"
	if got := ws.Root(); got != fsys.root {
		t.Errorf("Root() after the start = %q, want %q", got, fsys.root)
	}
	if data, err := ws.ReadFile(t.Context(), "/srv/work/src/a"); err != nil || string(data) != "x" {
		t.Errorf("ReadFile = %q, %v, want x", data, err)
	}
	if paths, err := ws.Glob(t.Context(), "/srv/work/src/*", nil); err != nil || len(paths) != 1 {
		t.Errorf("Glob = %q, %v, want one path", paths, err)
	}
}

func TestWorkspaceCleansPatterns(t *testing.T) {
	ws := newWorkspace(t, nil, map[string]string{"src/a.go": "x", "a.go": "x", "src/b.txt": "x"})
	for pattern, want := range map[string][]string{
		"**/*.go":           {"a.go", "src/a.go"},
		"/src/*.go":         {"src/a.go"},
		"./src/*.go":        {"src/a.go"},
		"/srv/work/src/*":   {"src/a.go", "src/b.txt"},
		"//srv/work/src/*":  {"src/a.go", "src/b.txt"},
		"/.//srv/work//*":   {"a.go"},
		"srv/work/*":        {},
		".//./src/*.go":     {"src/a.go"},
		"/srv/work-evil/**": {},
	} {
		got, err := ws.Glob(t.Context(), pattern, nil)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("Glob(%q) = %v, %v, want %v", pattern, got, err, want)
		}
	}
	for include, want := range map[string]int{"*.go": 2, "/*.go": 1, "./*.go": 1, "/srv/work/*.go": 1, "//srv/work/*.go": 1, "src/*": 2, "/srv/work/src/*": 2} {
		result, err := ws.Grep(t.Context(), "x", &workspace.GrepOptions{IncludeGlob: include})
		if err != nil || len(result.Matches) != want {
			t.Errorf("Grep(x, IncludeGlob: %q) = %v, %v, want %d matches", include, result, err, want)
		}
	}
}

func TestWorkspaceLimits(t *testing.T) {
	ws := newWorkspace(t, &workspace.Options{MaxFileSize: 10}, map[string]string{"small": "0123456789", "large": "0123456789A"})
	ctx := t.Context()
	if _, err := ws.ReadFile(ctx, "small"); err != nil {
		t.Errorf("ReadFile of 10 bytes = %v, want nil", err)
	}
	_, readErr := ws.ReadFile(ctx, "large")
	_, writeErr := ws.WriteFile(ctx, "new", make([]byte, 11), nil)
	_, _, editErr := ws.Edit(ctx, "small", func(old []byte) ([]byte, error) { return append(old, 'A'), nil })
	_, rangeErr := ws.ReadRange(ctx, "large", 0, 0)
	_, copyErr := ws.Copy(ctx, "large", "copy")
	for call, err := range map[string]error{
		"ReadFile": readErr, "WriteFile": writeErr, "Edit": editErr, "ReadRange": rangeErr, "Copy": copyErr,
	} {
		if !errors.Is(err, workspace.ErrTooLarge) || !strings.Contains(err.Error(), "11 bytes, and the limit is 10") {
			t.Errorf("%s of 11 bytes = %v, want ErrTooLarge with size and limit", call, err)
		}
	}
	if _, err := ws.Stat(ctx, "copy"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat(copy) after the refused Copy = %v, want ErrNotExist", err)
	}
	if data, err := ws.ReadRange(ctx, "large", 9, 5); err != nil || string(data) != "9A" {
		t.Errorf("ReadRange(large, 9, 5) = %q, %v, want 9A", data, err)
	}
	result, err := ws.Grep(ctx, "0", &workspace.GrepOptions{MaxFileSize: 100})
	want := []workspace.Skipped{{Path: "large", Reason: workspace.SkipTooLarge}}
	if err != nil || len(result.Matches) != 1 || !cmp.Equal(result.Skipped, want) {
		t.Errorf("Grep = %+v, %v, want one match and %v", result, err, want)
	}
	if _, err := ws.Copy(ctx, "small", "copy"); err != nil {
		t.Errorf("Copy of 10 bytes = %v, want nil", err)
	}
}

// breaking has no copy of its own, and its streams break off.
type breaking struct {
	workspace.FileSystem
	reads, writes error
}

func (b breaking) Capabilities() workspace.Capabilities {
	return workspace.Capabilities{Write: true, ConditionalWrite: true}
}

func (b breaking) Open(context.Context, string, *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	content := io.Reader(strings.NewReader("content"))
	if b.reads != nil {
		content = iotest.ErrReader(b.reads)
	}
	return io.NopCloser(content), workspace.FileInfo{}, nil
}

func (b breaking) Create(context.Context, string, *workspace.WriteOptions) (workspace.Writer, error) {
	return brokenWriter{err: b.writes}, nil
}

type brokenWriter struct {
	workspace.Writer
	err error
}

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }
func (w brokenWriter) Close() error              { return nil }

// TestCopyNamesWhatFails copies by two streams. One of them fails.
func TestCopyNamesWhatFails(t *testing.T) {
	failed := func(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission} }
	for want, fsys := range map[string]breaking{
		"from": {reads: failed("open", "from")},
		"to":   {writes: failed("create", "to")},
	} {
		_, err := workspace.Copy(t.Context(), fsys, "from", "to")
		if diff := cmp.Diff(failed("copy", want).Error(), fmt.Sprint(err)); diff != "" {
			t.Errorf("Copy whose stream of %s fails (-want +got):\n%s", want, diff)
		}
	}
}

func TestEditLosesNothing(t *testing.T) {
	ws := newWorkspace(t, nil, map[string]string{"counter": "0"})
	const editors, edits = 2, 200
	var group sync.WaitGroup
	for range editors {
		group.Go(func() {
			for range edits {
				if _, _, err := ws.Edit(t.Context(), "counter", increment); err != nil {
					t.Errorf("Edit = %v, want nil", err)
				}
			}
		})
	}
	group.Wait()
	if data, err := ws.ReadFile(t.Context(), "counter"); err != nil || string(data) != strconv.Itoa(editors*edits) {
		t.Errorf("counter = %s, %v, want %d", data, err, editors*edits)
	}
}

func increment(old []byte) ([]byte, error) {
	n, err := strconv.Atoi(string(old))
	return strconv.AppendInt(nil, int64(n+1), 10), err
}

// overtaken is a provider in which someone else always wins.
type overtaken struct{ *memory.FS }

func (o overtaken) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	if _, err := o.FS.WriteFile(ctx, name, []byte("theirs"), nil); err != nil {
		return "", err
	}
	return o.FS.WriteFile(ctx, name, data, opts)
}

func TestEditEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	fsys := overtaken{memory.New(nil)}
	if _, err := fsys.FS.WriteFile(ctx, "a", nil, nil); err != nil {
		t.Fatal(err)
	}
	calls := 0
	_, _, err := workspace.New("test", fsys, nil).Edit(ctx, "a", func([]byte) ([]byte, error) {
		if calls++; calls == 3 {
			cancel()
		}
		return []byte("ours"), nil
	})
	if !errors.Is(err, context.Canceled) || calls != 3 {
		t.Errorf("Edit = %v after %d tries, want context.Canceled after 3", err, calls)
	}
}

// restless is a provider without ReadVersioned whose file changes while it is
// first read.
type restless struct {
	workspace.FileSystem
	reads *int
}

func (r restless) ReadFile(ctx context.Context, name string) ([]byte, error) {
	data, err := r.FileSystem.ReadFile(ctx, name)
	if *r.reads++; *r.reads == 1 && err == nil {
		_, err = r.FileSystem.WriteFile(ctx, name, []byte("new"), nil)
	}
	return data, err
}

func TestReadVersionedReadsAgain(t *testing.T) {
	fsys := restless{memory.New(nil), new(int)}
	if _, err := fsys.WriteFile(t.Context(), "a", []byte("old"), nil); err != nil {
		t.Fatal(err)
	}
	data, version, err := workspace.ReadVersioned(t.Context(), fsys, "a", 0)
	info, statErr := fsys.Stat(t.Context(), "a")
	if err != nil || statErr != nil || string(data) != "new" || version != info.Version {
		t.Errorf("ReadVersioned = %q, %q, %v, want new and %q", data, version, err, info.Version)
	}
}

// selfChanging is a provider without ReadVersioned whose every read changes the file, as a
// log of reads does.
type selfChanging struct{ workspace.FileSystem }

func (s selfChanging) ReadFile(ctx context.Context, name string) ([]byte, error) {
	data, err := s.FileSystem.ReadFile(ctx, name)
	if err != nil {
		return nil, err
	}
	_, err = s.FileSystem.WriteFile(ctx, name, append(data, '.'), nil)
	return data, err
}

func (s selfChanging) Capabilities() workspace.Capabilities {
	return workspace.CapabilitiesOf(s.FileSystem)
}

// TestReadVersionedEnds tests that a file that each read changes is not read for ever.
func TestReadVersionedEnds(t *testing.T) {
	fsys := memory.New(nil)
	if _, err := fsys.WriteFile(t.Context(), "a", []byte("."), nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, _, err := workspace.ReadVersioned(ctx, selfChanging{fsys}, "a", 0); !errors.Is(err, workspace.ErrUnavailable) {
		t.Errorf("ReadVersioned = %v, want ErrUnavailable", err)
	}
}

func TestEditErrors(t *testing.T) {
	ws := newWorkspace(t, nil, map[string]string{"a": "x"})
	refused := errors.New("refused")
	_, _, err := ws.Edit(t.Context(), "a", func([]byte) ([]byte, error) { return nil, refused })
	if !errors.Is(err, refused) {
		t.Errorf("Edit = %v, want the error of change", err)
	}
	calls := 0
	_, _, err = ws.Edit(t.Context(), "a", func([]byte) ([]byte, error) { calls++; return nil, workspace.ErrConflict })
	if !errors.Is(err, workspace.ErrConflict) || calls != 1 {
		t.Errorf("Edit = %v after %d calls of change, want its error after the first", err, calls)
	}
	_, _, err = ws.Edit(t.Context(), "missing", increment)
	var pathError *fs.PathError
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &pathError) || pathError.Op != ops.EditFile {
		t.Errorf("Edit(missing) = %v, want ErrNotExist of edit_file", err)
	}
	plain := workspace.New("plain", struct{ workspace.FileSystem }{memory.New(nil)}, nil)
	if _, _, err := plain.Edit(t.Context(), "a", increment); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Edit without conditional writes = %v, want ErrUnsupported", err)
	}
}

// versionless is a provider that declares versions, and whose reads bring none.
type versionless struct{ *memory.FS }

func (v versionless) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	data, _, err := v.FS.ReadVersioned(ctx, name, limit)
	return data, "", err
}

// versionlessPlain is versionless without optional interfaces but Capable.
type versionlessPlain struct{ workspace.FileSystem }

func (v versionlessPlain) Capabilities() workspace.Capabilities {
	return workspace.CapabilitiesOf(v.FileSystem)
}

func (v versionlessPlain) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	info, err := v.FileSystem.Stat(ctx, name)
	info.Version = ""
	return info, err
}

func TestEditWithoutVersion(t *testing.T) {
	for _, fsys := range []workspace.FileSystem{versionless{memory.New(nil)}, versionlessPlain{memory.New(nil)}} {
		if _, err := fsys.WriteFile(t.Context(), "a", []byte("1"), nil); err != nil {
			t.Fatal(err)
		}
		_, _, err := workspace.New("test", fsys, nil).Edit(t.Context(), "a", increment)
		if !errors.Is(err, workspace.ErrUnavailable) {
			t.Errorf("%T: Edit of a file that is read without a version = %v, want ErrUnavailable", fsys, err)
		}
		if data, err := fsys.ReadFile(t.Context(), "a"); string(data) != "1" || err != nil {
			t.Errorf("%T: after the Edit the file is %q, %v, want it as it was", fsys, data, err)
		}
	}
	undeclared := undeclaredVersions{memory.New(nil)}
	if _, _, err := workspace.New("test", undeclared, nil).Edit(t.Context(), "a", increment); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Edit without versions = %v, want ErrUnsupported", err)
	}
}

// undeclaredVersions has conditional writes, and no versions to use in them.
type undeclaredVersions struct{ *memory.FS }

func (u undeclaredVersions) Capabilities() workspace.Capabilities {
	caps := u.FS.Capabilities()
	caps.Versions = false
	return caps
}

// logged is a neutral wrapper.
type logged struct{ workspace.FileSystem }

func (l logged) Unwrap() workspace.FileSystem { return l.FileSystem }

func TestAsLooksThroughNeutralWrappersOnly(t *testing.T) {
	m := memory.New(nil)
	if _, ok := workspace.As[workspace.Mover](logged{logged{m}}); !ok {
		t.Error("As[Mover] does not find what two neutral wrappers wrap")
	}
	if _, ok := workspace.As[workspace.Mover](struct{ workspace.FileSystem }{m}); ok {
		t.Error("As[Mover] finds what a wrapper without Unwrap hides")
	}
	if caps := workspace.CapabilitiesOf(struct{ workspace.FileSystem }{m}); caps != (workspace.Capabilities{}) {
		t.Errorf("CapabilitiesOf(a wrapper without any) = %+v, want none", caps)
	}
}

// closedDir does not list the directory "d".
type closedDir struct{ workspace.FileSystem }

func (c closedDir) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	if dir == "d" {
		return nil, &fs.PathError{Op: ops.Ls, Path: dir, Err: fs.ErrPermission}
	}
	return c.FileSystem.Ls(ctx, dir, opts)
}

// TestWalkOfClosedDirectory tests that the error of a directory is the walk's (E1), and left out
// like the directory itself (WK3).
func TestWalkOfClosedDirectory(t *testing.T) {
	files := memory.New(nil)
	for _, name := range []string{"c", "d/x", "e"} {
		if _, err := files.WriteFile(t.Context(), name, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	for after, want := range map[string][]string{
		"": {"c", "d", "d: walk d: permission denied", "e"}, "c": {"d", "d: walk d: permission denied", "e"}, "d": {"e"}, "d/x": {"e"}, "d0": {"e"},
	} {
		var got []string
		err := workspace.Walk(t.Context(), closedDir{files}, ".", &workspace.WalkOptions{After: after}, func(info workspace.FileInfo, err error) error {
			if err != nil {
				info.Path += ": " + err.Error()
			}
			got = append(got, info.Path)
			return nil
		})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("Walk(After: %q) = %v, and reports (-want +got):\n%s", after, err, diff)
		}
	}
}

func TestCloseClosesTheProvider(t *testing.T) {
	closed := false
	ws := workspace.New("test", closing{memory.New(nil), &closed}, nil)
	if err := ws.Close(); err != nil || !closed {
		t.Errorf("Close = %v, closed %v, want the provider closed", err, closed)
	}
	if err := workspace.New("test", memory.New(nil), nil).Close(); err != nil {
		t.Errorf("Close of what has no Close = %v, want nil", err)
	}
}

type closing struct {
	*memory.FS
	closed *bool
}

func (c closing) Close() error {
	*c.closed = true
	return nil
}

// links is a FileSystem without versions whose files Stat calls symlinks.
type links struct{ plainFS }

func (l links) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	info, err := l.plainFS.Stat(ctx, name)
	info.Type, info.Version = workspace.TypeSymlink, ""
	return info, err
}

// TestOpenSymlink wants no time rather than that of a symlink for what it leads to (OP2).
func TestOpenSymlink(t *testing.T) {
	fsys := links{plainFS{memory.New(nil)}}
	if _, err := fsys.WriteFile(t.Context(), "link", []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	stream, info, err := workspace.Open(t.Context(), fsys, "link", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if info.Type != workspace.TypeFile || !info.ModTime.IsZero() {
		t.Errorf("Open(link) describes %+v, want a file without a time", info)
	}
}

// TestCopyOfUnknownSize tests that the limit holds for a source whose size only a question, or
// nobody, may find out: the copy is what is approved.
func TestCopyOfUnknownSize(t *testing.T) {
	m := memory.New(nil)
	if _, err := m.WriteFile(t.Context(), "big", make([]byte, 11), nil); err != nil {
		t.Fatal(err)
	}
	paths := []string{"big*"}
	for name, rules := range map[string][]policy.Rule{
		"ask both":            {{Ask: []policy.Op{policy.OpRead, policy.OpList}, Paths: paths}},
		"deny list, ask read": {{Deny: []policy.Op{policy.OpList}, Paths: paths}, {Ask: []policy.Op{policy.OpRead}, Paths: paths}},
	} {
		restricted, err := policy.Restrict(m, policy.Rules{FirstMatch: rules})
		if err != nil {
			t.Fatal(err)
		}
		approver := policy.NewApprover(func(context.Context, policy.Request) (policy.Answer, error) { return policy.Answer{Allow: true}, nil }, nil)
		ctx := policy.WithApprover(t.Context(), approver)
		for _, test := range []struct {
			size, below int64 // the limits of a workspace, and of the one below it
			want        error
		}{{10, -1, workspace.ErrTooLarge}, {11, -1, nil}, {10, 11, workspace.ErrTooLarge}, {11, 10, workspace.ErrTooLarge}, {11, 12, nil}} {
			below := workspace.New("below", restricted, &workspace.Options{MaxFileSize: test.below})
			ws := workspace.New("test", below, &workspace.Options{MaxFileSize: test.size})
			if _, err := ws.Copy(ctx, "big", fmt.Sprintf("%s %d %d", name, test.size, test.below)); !errors.Is(err, test.want) {
				t.Errorf("%s: Copy of 11 bytes with the limits %d and %d = %v, want %v", name, test.size, test.below, err, test.want)
			}
		}
	}
}
