package backup_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// openBucket returns a bucket of a server in memory.
func openBucket(t testing.TB) workspace.FileSystem {
	t.Helper()
	server := s3test.New(t, &s3test.Options{Public: true})
	fsys, err := objectstore.Open(t.Context(), &objectstore.Options{
		Bucket: "workspace", Endpoint: server.URL, Region: server.Region, Anonymous: true,
		Compat: &objectstore.Compat{PathStyle: true, ConditionalCopy: true, ConditionalDelete: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}
