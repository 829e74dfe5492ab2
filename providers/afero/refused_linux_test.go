package afero_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/workspacekit/workspacekit/internal/mounttest"
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
				mounttest.Tmpfs(t, dir, c.options)
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
