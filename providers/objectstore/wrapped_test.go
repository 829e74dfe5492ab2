package objectstore_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// TestWrappedConformance runs the suite on what users put around a bucket.
func TestWrappedConformance(t *testing.T) {
	exhaustive.Need(t, "the suite with wrappers around a bucket")
	s := inProcess(s3test.New(t, modest()), otherCompat())
	t.Run("workspace", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) workspace.FileSystem {
			return workspace.New("test", s.empty(t), &workspace.Options{MaxFileSize: -1})
		}, &conformance.Options{CleanNames: true, Short: true})
	})
	t.Run("sub", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) workspace.FileSystem {
			fsys := s.empty(t)
			if err := fsys.Mkdir(t.Context(), "sub", nil); err != nil {
				t.Fatal(err)
			}
			sub, err := policy.Sub(fsys, "sub")
			if err != nil {
				t.Fatal(err)
			}
			return sub
		}, &conformance.Options{Short: true})
	})
}
