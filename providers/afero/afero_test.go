package afero_test

import (
	"archive/zip"
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"github.com/spf13/afero/zipfs"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	bridge "github.com/workspacekit/workspacekit/providers/afero"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, func(*testing.T) workspace.FileSystem {
		return bridge.FromAfero(afero.NewMemMapFs(), nil)
	}, nil)
}

// TestReadOnlyConformance runs the suite on backends that cannot be written to:
// one that is known by its type, and one that only its owner knows.
func TestReadOnlyConformance(t *testing.T) {
	exhaustive.NotShort(t, "runs the suite a second time")
	for name, open := range map[string]func(afs afero.Fs) *bridge.FS{
		"known":  func(afs afero.Fs) *bridge.FS { return bridge.FromAfero(afero.NewReadOnlyFs(afs), nil) },
		"option": func(afs afero.Fs) *bridge.FS { return bridge.FromAfero(afs, &bridge.Options{ReadOnly: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			var below sync.Map // from a bridge to one that can write
			conformance.Run(t, func(*testing.T) workspace.FileSystem {
				afs := afero.NewMemMapFs()
				fsys := open(afs)
				below.Store(fsys, bridge.FromAfero(afs, nil))
				return fsys
			}, &conformance.Options{
				Peer: func(_ *testing.T, fsys workspace.FileSystem) workspace.FileSystem {
					writable, _ := below.Load(fsys)
					return writable.(workspace.FileSystem)
				},
			})
		})
	}
}

// TestRmOfUnnamedChildren removes directories whose only children have names that no method
// accepts: a list shows nothing, but they are not empty.
func TestRmOfUnnamedChildren(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"d/\xff", "d/" + strings.Repeat("n", 300)} {
		afs := afero.NewMemMapFs()
		if err := afero.WriteFile(afs, name, []byte("kept"), 0o666); err != nil {
			t.Fatal(err)
		}
		fsys := bridge.FromAfero(afs, nil)
		if err := fsys.Rm(t.Context(), "d", nil); !errors.Is(err, workspace.ErrNotEmpty) {
			t.Errorf("Rm of a directory with %q = %v, want ErrNotEmpty", name, err)
		}
		if data, err := afero.ReadFile(afs, name); err != nil || string(data) != "kept" {
			t.Errorf("%q after Rm = %q, %v, want it kept", name, data, err)
		}
		if err := fsys.Rm(t.Context(), "d", &workspace.RmOptions{Recursive: true}); err != nil {
			t.Errorf("Rm(Recursive) of a directory with %q = %v, want nil", name, err)
		}
	}
}

// TestTooLongPaths lists a directory with a child whose path is too long to be read.
func TestTooLongPaths(t *testing.T) {
	t.Parallel()
	afs := afero.NewMemMapFs()
	dir := strings.TrimSuffix(strings.Repeat(strings.Repeat("d", 199)+"/", 20), "/")
	for _, name := range []string{"fits", strings.Repeat("n", 200)} {
		if err := afero.WriteFile(afs, dir+"/"+name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	fsys := bridge.FromAfero(afs, nil)
	infos, err := fsys.Ls(t.Context(), dir, nil)
	if err != nil || len(infos) != 1 || infos[0].Name != "fits" {
		t.Errorf("Ls of a long directory = %v, %v, want the child that can be read", infos, err)
	}
	paths, err := fsys.Glob(t.Context(), "**", nil)
	if want := []string{dir + "/fits"}; err != nil || !slices.Equal(paths, want) {
		t.Errorf("Glob = %v, %v, want %v", paths, err, want)
	}
}

// TestContextOfSlowBackend ends contexts while the backend works, which knows no contexts.
func TestContextOfSlowBackend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		afs := afero.NewMemMapFs()
		if err := afero.WriteFile(afs, "a", []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
		fsys := bridge.FromAfero(slowFs{afs}, nil)
		for call, test := range map[string]struct {
			seconds int // that the call takes
			do      func(ctx context.Context) error
		}{
			"ReadFile":  {2, func(ctx context.Context) error { _, err := fsys.ReadFile(ctx, "a"); return err }},
			"Open":      {2, func(ctx context.Context) error { _, _, err := fsys.Open(ctx, "a", nil); return err }},
			"Stat":      {1, func(ctx context.Context) error { _, err := fsys.Stat(ctx, "a"); return err }},
			"Ls":        {2, func(ctx context.Context) error { _, err := fsys.Ls(ctx, ".", nil); return err }},
			"WriteFile": {3, func(ctx context.Context) error { _, err := fsys.WriteFile(ctx, "a", []byte("new"), nil); return err }},
			"Mkdir":     {2, func(ctx context.Context) error { return fsys.Mkdir(ctx, "b", nil) }},
			"Rm":        {1, func(ctx context.Context) error { return fsys.Rm(ctx, "a", nil) }},
		} {
			for second := range test.seconds {
				limit := time.Duration(second)*time.Second + time.Millisecond
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				if err := test.do(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s whose context ends after %v = %v, want DeadlineExceeded", call, limit, err)
				}
				cancel()
			}
		}
		if data, err := afero.ReadFile(afs, "a"); err != nil || string(data) != "old" {
			t.Errorf("the content is then %q, %v, want %q", data, err, "old")
		}
		if infos, err := afero.ReadDir(afs, "."); err != nil || len(infos) != 1 {
			t.Errorf("the root then has %v, %v, want the file alone", infos, err)
		}
	})
}

// slowFs is a backend that takes a second, on the clock of the bubble of synctest, for each look
// at a file.
type slowFs struct{ afero.Fs }

func (s slowFs) Stat(name string) (fs.FileInfo, error) {
	time.Sleep(time.Second)
	return s.Fs.Stat(name)
}

func (s slowFs) Open(name string) (afero.File, error) {
	time.Sleep(time.Second)
	return s.Fs.Open(name)
}

func (s slowFs) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	time.Sleep(time.Second)
	return s.Fs.OpenFile(name, flag, mode)
}

func TestFromAferoOpensAZip(t *testing.T) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	// Directories need no entries of their own, which many programs leave out.
	for name, content := range map[string]string{
		"src/a.go": "package a\n", "src/deep/b.go": "package b\n", "README": "hello\n",
	} {
		file, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		t.Fatal(err)
	}
	fsys := bridge.FromAfero(afero.FromIOFS{FS: r}, nil)
	if data, err := fsys.ReadFile(t.Context(), "src/a.go"); err != nil || string(data) != "package a\n" {
		t.Errorf("ReadFile(src/a.go) = %q, %v", data, err)
	}
	paths, err := fsys.Glob(t.Context(), "**/*.go", nil)
	if diff := cmp.Diff([]string{"src/a.go", "src/deep/b.go"}, paths); err != nil || diff != "" {
		t.Errorf("Glob(**/*.go) = %v (-want +got):\n%s", err, diff)
	}
	result, err := fsys.Grep(t.Context(), "^package", nil)
	if err != nil || len(result.Matches) != 2 {
		t.Errorf("Grep(^package) = %+v, %v, want two matches", result, err)
	}
	if _, err := fsys.WriteFile(t.Context(), "new", nil, nil); !errors.Is(err, fs.ErrPermission) || fsys.Capabilities().Write {
		t.Errorf("WriteFile into a zip = %v, and its capabilities %+v, want ErrPermission and no Write", err, fsys.Capabilities())
	}
}

// TestFromAferoOnDisk looks from outside at what the bridge does to real files.
func TestFromAferoOnDisk(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("old"), 0o755); err != nil {
		t.Fatal(err)
	}
	fsys := bridge.FromAfero(afero.NewBasePathFs(afero.NewOsFs(), dir), nil)
	if _, err := fsys.WriteFile(t.Context(), "script", []byte("new"), nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(script)
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("after WriteFile the mode is %v, %v, want 0755", info.Mode(), err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("after WriteFile the folder has %v, %v, want script alone", entries, err)
	}
	if _, err := fsys.WriteFile(t.Context(), "new", []byte("new"), nil); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, nil, 0o666); err != nil { // which the umask applies to
		t.Fatal(err)
	}
	got, err := os.Stat(filepath.Join(dir, "new"))
	want, err2 := os.Stat(other)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if got.Mode() != want.Mode() {
		t.Errorf("a new file has the mode %v, want %v as any program's", got.Mode(), want.Mode())
	}
	if _, err := fsys.ReadFile(t.Context(), "missing"); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), dir) {
		t.Errorf("ReadFile(missing) = %v, want ErrNotExist without the host's path", err)
	}
}

// TestDeniedBehindSymlinks wants no policy over a backend that may follow a symlink to what
// is denied.
func TestDeniedBehindSymlinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	onDisk := afero.NewBasePathFs(afero.NewOsFs(), dir)
	if err := afero.WriteReader(onDisk, "secret/file", strings.NewReader("secret")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("secret/file", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	inMemory := afero.NewReadOnlyFs(afero.NewMemMapFs())
	for _, c := range []struct {
		name string
		fsys *bridge.FS
		want error
	}{
		{"OsFs", bridge.FromAfero(afero.NewOsFs(), nil), errors.ErrUnsupported},
		{"BasePathFs", bridge.FromAfero(onDisk, nil), errors.ErrUnsupported},
		{"ReadOnlyFs", bridge.FromAfero(afero.NewReadOnlyFs(onDisk), nil), errors.ErrUnsupported},
		{"DirFS", bridge.FromAfero(afero.FromIOFS{FS: os.DirFS(dir)}, nil), errors.ErrUnsupported},
		{"unknown", bridge.FromAfero(inMemory, nil), errors.ErrUnsupported},
		{"option", bridge.FromAfero(inMemory, &bridge.Options{NoSymlinks: true}), nil},
		{"MemMapFs", bridge.FromAfero(afero.NewMemMapFs(), nil), nil},
		{"zipfs", bridge.FromAfero(zipfs.New(new(zip.Reader)), nil), nil},
		{"zip", bridge.FromAfero(afero.FromIOFS{FS: new(zip.Reader)}, nil), nil},
		{"embed", bridge.FromAfero(afero.FromIOFS{FS: embed.FS{}}, nil), nil},
		{"pointer to zip", bridge.FromAfero(&afero.FromIOFS{FS: new(zip.ReadCloser)}, nil), nil},
	} {
		r, err := policy.Restrict(c.fsys, policy.Rules{DeniedPaths: []string{"secret/**"}})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: Restrict() = %v, want %v", c.name, err, c.want)
		}
		if err != nil && !strings.Contains(err.Error(), "localbash") {
			t.Errorf("%s: Restrict() = %v, want what to use", c.name, err)
		}
		if r == nil {
			continue
		}
		if data, err := r.ReadFile(t.Context(), "link"); err == nil {
			t.Errorf("%s: ReadFile(link) = %q, nil, want an error", c.name, data)
		}
	}
}

func TestFromAferoHidesTemporaryFiles(t *testing.T) {
	afs := afero.NewMemMapFs()
	const left = ".workspacekit-tmp-LEFT"
	if err := afero.WriteFile(afs, left, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	fsys := bridge.FromAfero(afs, nil)
	if infos, err := fsys.Ls(t.Context(), ".", nil); err != nil || len(infos) != 0 {
		t.Errorf("Ls(.) = %v, %v, want nothing", infos, err)
	}
	if _, err := fsys.WriteFile(t.Context(), left, nil, nil); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("WriteFile(%s) = %v, want ErrInvalid", left, err)
	}
}

func TestToAfero(t *testing.T) {
	t.Parallel()
	ws := workspace.New("test", memory.New(nil), nil)
	view := bridge.ToAfero(t.Context(), ws)
	if err := afero.WriteReader(view, "/dir/a", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	if err := afero.SafeWriteReader(view, "/dir/a", strings.NewReader("y")); err == nil {
		t.Error("SafeWriteReader replaced a file")
	}
	temp, err := afero.TempFile(view, "dir", "temp")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := temp.WriteString("z"); err != nil {
		t.Fatal(err)
	}
	if err := temp.Close(); err != nil {
		t.Fatal(err)
	}
	if err := view.Rename(temp.Name(), "dir/b"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"dir/a": "x", "dir/b": "z"} {
		if data, err := ws.ReadFile(t.Context(), name); err != nil || string(data) != want {
			t.Errorf("ReadFile(%s) = %q, %v, want %s", name, data, err, want)
		}
	}
	var walked []string
	err = afero.Walk(view, "dir", func(path string, _ fs.FileInfo, err error) error {
		walked = append(walked, path)
		return err
	})
	if diff := cmp.Diff([]string{"dir", "dir/a", "dir/b"}, walked); err != nil || diff != "" {
		t.Errorf("Walk(dir) = %v (-want +got):\n%s", err, diff)
	}
	if err := fstest.TestFS(afero.NewIOFS(view), "dir/a", "dir/b"); err != nil {
		t.Error(err)
	}
	for call, err := range map[string]error{"Chown": view.Chown("dir/a", 1, 1), "Chtimes": view.Chtimes("dir/a", time.Now(), time.Now())} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s() = %v, want ErrUnsupported", call, err)
		}
	}
	if err := view.RemoveAll("/dir"); err != nil {
		t.Error(err)
	}
	if empty, err := afero.IsEmpty(view, "/"); err != nil || !empty {
		t.Errorf("IsEmpty(/) = %v, %v after RemoveAll, want true", empty, err)
	}
}

// TestToAferoBelowOthers uses the view as the layer of afero's own file systems that
// changes go to, and as one that cannot be changed.
func TestToAferoBelowOthers(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	if err := afero.WriteFile(base, "a", []byte("base"), 0o666); err != nil {
		t.Fatal(err)
	}
	ws := workspace.New("test", memory.New(nil), nil)
	view := bridge.ToAfero(t.Context(), ws)
	both := afero.NewCopyOnWriteFs(base, view)
	if err := afero.WriteFile(both, "b", []byte("view"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "base", "b": "view"} {
		if data, err := afero.ReadFile(both, name); err != nil || string(data) != want {
			t.Errorf("afero.ReadFile(%s) = %q, %v, want %s", name, data, err, want)
		}
	}
	if paths, err := ws.Glob(t.Context(), "**", nil); err != nil || !slices.Equal(paths, []string{"b"}) {
		t.Errorf("Glob(**) = %v, %v, want b", paths, err)
	}
	if err := afero.WriteFile(afero.NewReadOnlyFs(view), "b", nil, 0o666); err == nil {
		t.Error("WriteFile through a read-only view = nil, want an error")
	}
}

func ExampleToAfero() {
	ctx := context.Background()
	ws := workspace.New("notes", memory.New(nil), nil)
	afs := bridge.ToAfero(ctx, ws)
	if err := afero.WriteFile(afs, "/hello.txt", []byte("Hello, afero!"), 0o666); err != nil {
		fmt.Println(err)
		return
	}
	data, err := ws.ReadFile(ctx, "hello.txt")
	fmt.Println(string(data), err)
	// Output: Hello, afero! <nil>
}

func ExampleFromAfero() {
	ctx := context.Background()
	afs := afero.NewMemMapFs()
	fsys := bridge.FromAfero(afs, nil)
	if _, err := fsys.WriteFile(ctx, "hello.txt", []byte("Hello, workspace!"), nil); err != nil {
		fmt.Println(err)
		return
	}
	data, err := afero.ReadFile(afs, "hello.txt")
	fmt.Println(string(data), err)
	// Output: Hello, workspace! <nil>
}
