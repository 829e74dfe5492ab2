package afero_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	bridge "github.com/workspacekit/workspacekit/providers/afero"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestRefusedCallsMakeNoParents wants calls that fail after they have made the parents of a
// name to leave none (E5).
func TestRefusedCallsMakeNoParents(t *testing.T) {
	long := strings.Repeat(strings.Repeat("n", 254)+"/", 16) + "name" // too long below the folder
	for _, c := range []struct {
		name, file, options string
		want                error
	}{
		{"full", "n/e/w", "size=4k", workspace.ErrNoSpace},
		{"without inodes", "n/e/w", "nr_inodes=4", workspace.ErrNoSpace},
		{"long path", long, "", fs.ErrInvalid},
		{"long name", "n/e/" + strings.Repeat("w", 256), "", fs.ErrInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.options != "" {
				mount(t, dir, c.options)
			}
			if err := os.Mkdir(filepath.Join(dir, "old"), 0o777); err != nil {
				t.Fatal(err)
			}
			fsys := bridge.FromAfero(afero.NewBasePathFs(afero.NewOsFs(), dir), nil)
			if _, err := fsys.WriteFile(t.Context(), "old/"+c.file, make([]byte, 8<<10), nil); !errors.Is(err, c.want) {
				t.Errorf("WriteFile = %v, want %v", err, c.want)
			}
			if c.name != "full" { // where there is room for directories
				err := fsys.Mkdir(t.Context(), "old/"+c.file+"/d", &workspace.MkdirOptions{Recursive: true})
				if !errors.Is(err, c.want) {
					t.Errorf("Mkdir = %v, want %v", err, c.want)
				}
			}
			if left, err := afero.ReadDir(afero.NewOsFs(), filepath.Join(dir, "old")); err != nil || len(left) != 0 {
				t.Errorf("the calls left %v, %v, want nothing", left, err)
			}
		})
	}
}

// mount mounts a file system that is empty at dir, and skips the test if it may not.
func mount(t *testing.T, dir, options string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("the right to mount a file system, which root has, is missing: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("Unmount(%q) = %v", dir, err)
		}
	})
}
