package objectstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
)

// TestAbortAfterCancel cancels a stream in a store that takes longer to abort its upload than
// Close of the stream may wait. Close of the workspace waits for it.
func TestAbortAfterCancel(t *testing.T) {
	server := newFaultServer(profiles()[0], nil)
	t.Cleanup(server.Close)
	fsys := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{})
	fsys.SetPartSizes(partSize)
	server.Inject(func(r s3test.Request) s3test.Fault {
		if r.Op != "AbortMultipartUpload" {
			return s3test.Fault{}
		}
		return s3test.Fault{Delay: time.Second}
	})
	ctx, cancel := context.WithCancel(t.Context())
	w, err := fsys.Create(ctx, "f", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 2*partSize)); err != nil {
		t.Fatal(err)
	}
	cancel()
	begun := time.Now()
	w.Close()
	if took := time.Since(begun); took > 900*time.Millisecond {
		t.Errorf("Close of the stream took %v, want about half a second", took)
	}
	if err := fsys.Close(); err != nil {
		t.Fatal(err)
	}
	if uploads := server.Uploads(); len(uploads) > 0 {
		t.Errorf("uploads %v are left when the workspace is closed, want none", uploads)
	}
}
