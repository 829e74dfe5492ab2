package objectstore_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestRmFullLastPage removes a marked directory whose last page of keys is full, so that the
// marker is one key more than a request may have.
func TestRmFullLastPage(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "removes 2,999 objects")
	server := s3test.New(t, nil)
	seed(server, append(numbered("d/f%05d", 2998), "d/")...)
	fsys := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{})
	if err := fsys.Rm(t.Context(), "d", &workspace.RmOptions{Recursive: true}); err != nil {
		t.Errorf("Rm(%q) recursively = %v, want nil", "d", err)
	}
	if left := server.Objects(bucket); len(left) > 0 {
		t.Errorf("Rm(%q) leaves %d objects, want none", "d", len(left))
	}
}
