package repotest_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/workspace"
)

const seeded = "workspaces: {main: {provider: {kind: memory, seed: seed}}}"

// TestSeed tests that a workspace in memory begins as a copy of a folder.
func TestSeed(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "seed", "a", "b.txt"), "b")
	writeFile(t, filepath.Join(dir, "seed", "c.bin"), "\x00\xff")
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "seed", "empty"), 0o777),
		os.Symlink("a/b.txt", filepath.Join(dir, "seed", "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	ws := lookup(t, open(t, writeConfig(t, dir, seeded)), "main")
	got := map[string]string{}
	err := ws.Walk(ctx, ".", nil, func(info workspace.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			got[info.Path] = "directory"
			return err
		}
		data, err := ws.ReadFile(ctx, info.Path)
		got[info.Path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a": "directory", "a/b.txt": "b", "c.bin": "\x00\xff", "empty": "directory", "link": "b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the files (-want +got):\n%s", diff)
	}
	if _, err := ws.WriteFile(ctx, "c.bin", nil, nil); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "seed", "c.bin")); string(data) != "\x00\xff" {
		t.Errorf("the file of the folder is %q, %v after a write, want it as it was", data, err)
	}
}

func TestSeedRefuses(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, seed string)
		kind error
		want string
	}{
		{"missing", func(t *testing.T, seed string) { remove(t, seed) }, os.ErrNotExist, ": create the folder first, or correct its path"},
		{"leads-out", func(t *testing.T, seed string) {
			writeFile(t, filepath.Join(seed, "..", "secret"), "secret")
			symlink(t, "../secret", filepath.Join(seed, "link"))
		}, workspace.ErrEscape, "link: name leads out of the workspace: let the symlink lead to a file in the folder"},
		{"to-a-directory", func(t *testing.T, seed string) {
			writeFile(t, filepath.Join(seed, "dir", "a"), "")
			symlink(t, "dir", filepath.Join(seed, "link"))
		}, workspace.ErrIsDir, "link: is a directory: let the symlink lead to a file in the folder"},
		{"dangling", func(t *testing.T, seed string) { symlink(t, "none", filepath.Join(seed, "link")) }, os.ErrNotExist, "link: file does not exist: let the symlink lead to a file in the folder"},
		{"too-large", func(t *testing.T, seed string) {
			symlink(t, "large", filepath.Join(seed, "a"))
			writeFile(t, filepath.Join(seed, "large"), "")
			if err := os.Truncate(filepath.Join(seed, "large"), 256<<20+1); err != nil {
				t.Fatal(err)
			}
		}, workspace.ErrTooLarge, "seed: open a: file too large: it has more than 100000 files or 256 MiB, which are not held in memory"},
		{"file", func(t *testing.T, seed string) { remove(t, seed); writeFile(t, seed, "") }, workspace.ErrNotDir, "seed: not a directory: name the folder that holds the file"},
		{"name", func(t *testing.T, seed string) { unusual(t, filepath.Join(seed, "a\xff")) }, fs.ErrInvalid, `seed: open a\xff: name is not valid UTF-8: rename it in the folder`},
		{"dir-name", func(t *testing.T, seed string) { unusual(t, filepath.Join(seed, "b\xff", "c")) }, fs.ErrInvalid, `seed: open b\xff: name is not valid UTF-8: rename it in the folder`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "seed"), 0o777); err != nil {
				t.Fatal(err)
			}
			tt.make(t, filepath.Join(dir, "seed"))
			_, err := workspacekit.Open(t.Context(), writeConfig(t, dir, seeded))
			if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want+"\n") {
				t.Errorf("Open = %v, want %v, and a line that ends in %q", err, tt.kind, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), dir+string(filepath.Separator)+"seed") {
				t.Logf("the error names the folder: %v", err)
			}
		})
	}
}

// unusual writes a file whose name not every system takes.
func unusual(t *testing.T, path string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux takes any bytes as a name")
	}
	writeFile(t, path, "")
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}
