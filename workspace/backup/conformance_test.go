package backup_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// hiddenDir is a directory for backups that no listing of a test shows.
const hiddenDir = ".backups"

// newFS returns fsys with backups.
func newFS(t testing.TB, fsys workspace.FileSystem, opts *backup.Options) *backup.FS {
	t.Helper()
	b, err := backup.New(fsys, opts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func openLocal(t testing.TB, dir string) *localbash.FS {
	t.Helper()
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

// TestPrivate looks at the modes of backups in a folder: they have what private files had.
func TestPrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	for name, store := range map[string]*localbash.FS{"the same folder": nil, "another folder": openLocal(t, t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys, opts := openLocal(t, t.TempDir()), &backup.Options{}
			root := fallback.Root(fsys)
			if store != nil {
				opts.Store, root = store, fallback.Root(store)
			}
			b := newFS(t, fsys, opts)
			for _, content := range []string{"a secret", "another"} {
				if _, err := b.WriteFile(t.Context(), "file", []byte(content), nil); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := b.Undo(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			err := filepath.WalkDir(filepath.Join(filepath.FromSlash(root), ".workspacekit"), func(path string, d fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := d.Info()
				if err == nil && !d.IsDir() && info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s has the mode %v, want one for its owner alone", path, info.Mode())
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// symlinkIn creates a symlink in a folder.
func symlinkIn(t *testing.T, fsys workspace.FileSystem, target, name string) {
	t.Helper()
	path := filepath.Join(filepath.FromSlash(fallback.Root(fsys)), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.FromSlash(target), path); err != nil {
		t.Fatal(err)
	}
}

// TestConformance runs the suite with the store in the same FileSystem, and what changes
// files with the store in another one, and in a folder.
func TestConformance(t *testing.T) {
	only := exhaustive.Some(t, "what changes nothing", nil,
		[]string{"WriteFile", "Create", "Rm", "Mkdir", "Move", "Copy", "Symlink", "Exact", "Concurrency", "Property/random-operations"})
	t.Run("memory", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) workspace.FileSystem {
			return newFS(t, memory.New(nil), &backup.Options{Dir: hiddenDir})
		}, &conformance.Options{Short: !exhaustive.IsLong()})
	})
	t.Run("memory-store", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) workspace.FileSystem {
			return newFS(t, memory.New(nil), &backup.Options{Store: memory.New(nil)})
		}, &conformance.Options{Short: !exhaustive.On(), Only: only})
	})
	t.Run("local", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) workspace.FileSystem {
			return newFS(t, openLocal(t, t.TempDir()), &backup.Options{Dir: hiddenDir})
		}, &conformance.Options{Symlink: symlinkIn, Short: !exhaustive.On(), Only: only})
	})
	t.Run("bucket", func(t *testing.T) {
		exhaustive.Need(t, "the suite with backups in a bucket")
		conformance.Run(t, func(t *testing.T) workspace.FileSystem {
			return newFS(t, openBucket(t), &backup.Options{Dir: hiddenDir})
		}, &conformance.Options{Short: true})
	})
}
