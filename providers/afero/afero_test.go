package afero_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"github.com/spf13/afero/zipfs"

	"github.com/workspacekit/workspacekit/conformance"
	bridge "github.com/workspacekit/workspacekit/providers/afero"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, func(*testing.T) workspace.FileSystem {
		return bridge.FromAfero(afero.NewMemMapFs(), nil)
	}, nil)
}

// TestReadOnlyConformance runs the suite on backends that cannot be written to:
// one that is known by its type, and one that only its owner knows.
func TestReadOnlyConformance(t *testing.T) {
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

func TestFromAferoOpensAZip(t *testing.T) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	// afero sees the directories that are entries of their own, as zip -r makes
	// them.
	for name, content := range map[string]string{
		"src/": "", "src/a.go": "package a\n", "src/deep/": "", "src/deep/b.go": "package b\n", "README": "hello\n",
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
	fsys := bridge.FromAfero(zipfs.New(r), nil)
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
	if _, err := fsys.ReadFile(t.Context(), "missing"); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), dir) {
		t.Errorf("ReadFile(missing) = %v, want ErrNotExist without the host's path", err)
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
	m := memory.New(nil)
	if _, err := m.WriteFile(t.Context(), "dir/a", []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	view := bridge.ToAfero(t.Context(), workspace.New("test", m, nil))
	if data, err := afero.ReadFile(view, "dir/a"); err != nil || string(data) != "x" {
		t.Errorf("afero.ReadFile(dir/a) = %q, %v, want x", data, err)
	}
	if infos, err := afero.ReadDir(view, "dir"); err != nil || len(infos) != 1 || infos[0].Name() != "a" {
		t.Errorf("afero.ReadDir(dir) = %v, %v, want a", infos, err)
	}
	if err := afero.WriteFile(view, "dir/a", nil, 0o666); err == nil {
		t.Error("afero.WriteFile through the view = nil, want an error")
	}
}
