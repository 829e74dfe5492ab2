package localbash_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// TestSubConformance runs the suite on a directory of a folder, so that a
// symlink can lead out of the directory and yet not out of the folder.
func TestSubConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T) workspace.FileSystem {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "sub"), 0o777); err != nil {
			t.Fatal(err)
		}
		sub, err := policy.Sub(open(t, dir, nil), "sub")
		if err != nil {
			t.Fatal(err)
		}
		return sub
	}, &conformance.Options{Symlink: symlink, Short: !exhaustive.On(), Only: ofNames()})
}
