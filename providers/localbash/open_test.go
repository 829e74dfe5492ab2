package localbash_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestOpenErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "file", "")
	link(t, "nowhere", "dangling")
	for _, test := range []struct {
		name, dir string
		kind      error
		remedy    string
	}{
		{"empty", "", fs.ErrInvalid, `"."`},
		{"missing", "nowhere/at/all", fs.ErrNotExist, "create the folder"},
		{"dangling", "dangling", fs.ErrNotExist, "create the folder"},
		{"file", "file", workspace.ErrNotDir, "name the folder"},
		{"below-file", "file/dir", workspace.ErrNotDir, "name the folder"},
		{"nul", "a\x00b", fs.ErrInvalid, "invalid"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := localbash.Open(test.dir, nil)
			if !errors.Is(err, test.kind) {
				t.Fatalf("Open(%q) = %v, want %q", test.dir, err, test.kind)
			}
			var pathError *fs.PathError
			if !errors.As(err, &pathError) || pathError.Path != test.dir {
				t.Errorf("Open(%q) = %#v, want a *fs.PathError with that Path", test.dir, err)
			}
			if !strings.Contains(err.Error(), test.remedy) {
				t.Errorf("Open(%q) = %v, want %q in the text", test.dir, err, test.remedy)
			}
			if wd, _ := os.Getwd(); strings.Contains(err.Error(), wd) {
				t.Errorf("Open(%q) = %v, want no path that the caller did not write", test.dir, err)
			}
		})
	}
}

func TestOpenRelative(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	put(t, "ws/file", "content")
	fsys := open(t, "ws", nil)
	if got, want := fsys.Root(), filepath.ToSlash(filepath.Join(dir, "ws")); got != want {
		t.Errorf("Root() = %q, want %q", got, want)
	}
	t.Chdir("/") // the folder has been found already
	data, err := fsys.ReadFile(context.Background(), "file")
	if err != nil || string(data) != "content" {
		t.Errorf("ReadFile(%q) = %q, %v, want %q", "file", data, err, "content")
	}
}

func TestOpenThroughSymlink(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "real", "sub", "file"), "content")
	link(t, "real", filepath.Join(dir, "link"))
	for _, relaxed := range []bool{false, true} {
		fsys := open(t, filepath.Join(dir, "link"), &localbash.Options{Relaxed: relaxed})
		if got, want := fsys.Root(), filepath.ToSlash(filepath.Join(dir, "link")); got != want {
			t.Errorf("Root() = %q, want %q", got, want)
		}
		w := workspace.New("x", fsys, nil)
		data, err := w.ReadFile(context.Background(), fsys.Root()+"/sub/file")
		if err != nil || string(data) != "content" {
			t.Errorf("ReadFile below Root() = %q, %v, want %q", data, err, "content")
		}
		write(t, fsys, "sub/file", "content")
	}
}

func TestClose(t *testing.T) {
	ctx := context.Background()
	for _, opts := range []localbash.Options{{}, {Relaxed: true}} {
		fsys := open(t, t.TempDir(), &opts)
		write(t, fsys, "file", "content")
		stream, _, err := fsys.Open(ctx, "file", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		for range 2 {
			if err := fsys.Close(); err != nil {
				t.Errorf("Close() = %v, want nil", err)
			}
		}
		for _, op := range operations() {
			if _, err := op.do(ctx, fsys, "file"); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s after Close with %+v = %v, want %q", op.name, opts, err, fs.ErrClosed)
			}
		}
		if data, err := io.ReadAll(stream); string(data) != "content" || err != nil {
			t.Errorf("ReadAll of a stream from before Close = %q, %v, want %q", data, err, "content")
		}
	}
}

// TestLongestName uses a name as long as any can be, which is longer than the
// paths that the kernel takes.
func TestLongestName(t *testing.T) {
	ctx := context.Background()
	fsys := open(t, t.TempDir(), nil)
	name := strings.Repeat(strings.Repeat("d", 127)+"/", 31) + strings.Repeat("f", 128)
	if len(name) != ops.MaxNameLength {
		t.Fatalf("the name has %d bytes, want %d", len(name), ops.MaxNameLength)
	}
	write(t, fsys, name, "content")
	data, err := fsys.ReadFile(ctx, name)
	if err != nil || string(data) != "content" {
		t.Errorf("ReadFile of the longest name = %q, %v, want %q", data, err, "content")
	}
	if _, err := fsys.Stat(ctx, name); err != nil {
		t.Errorf("Stat of the longest name = %v, want nil", err)
	}
	paths, err := fsys.Glob(ctx, "**", nil)
	if err != nil || len(paths) != 1 || paths[0] != name {
		t.Errorf("Glob = %d paths, %v, want the longest name", len(paths), err)
	}
	if err := fsys.Rm(ctx, name[:127], &workspace.RmOptions{Recursive: true}); err != nil {
		t.Errorf("Rm of the tree = %v, want nil", err)
	}
}
