package objectstore_test

import (
	"sync"
	"testing"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
)

// TestSharedClient makes file systems of one client at the same time, which the
// race detector watches.
func TestSharedClient(t *testing.T) {
	p := profiles()[0]
	s := inProcess(s3test.New(t, p.options), p.compat)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			f, err := objectstore.New(s.client, &objectstore.Options{Bucket: bucket, Compat: &s.compat})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := f.Ls(t.Context(), ".", nil); err != nil {
				t.Errorf("Ls(%q) = %v, want nil", ".", err)
			}
		})
	}
	group.Wait()
}
