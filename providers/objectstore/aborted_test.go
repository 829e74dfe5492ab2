package objectstore_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestUploadAborted has a rule of the bucket abort an upload before it is completed. Nothing is
// stored, whatever the condition, and the error says so at once.
func TestUploadAborted(t *testing.T) {
	for _, p := range profiles() {
		server := newFaultServer(p, nil)
		t.Cleanup(server.Close)
		fsys := inProcess(server, p.compat).open(t, "p", objectstore.Options{})
		fsys.SetPartSizes(partSize)
		version, err := fsys.WriteFile(t.Context(), "old", []byte("old"), nil)
		if err != nil {
			t.Fatal(err)
		}
		server.Inject(func(r s3test.Request) s3test.Fault {
			if r.Op == "CompleteMultipartUpload" {
				return s3test.Fault{Status: http.StatusNotFound, Code: "NoSuchUpload"}
			}
			return s3test.Fault{}
		})
		write := func(name string, opts workspace.WriteOptions) error {
			w, err := fsys.Create(t.Context(), name, &opts)
			if err != nil {
				return err
			}
			defer w.Close()
			if _, err := w.Write(make([]byte, 2*partSize)); err != nil {
				return err
			}
			_, err = w.Commit()
			return err
		}
		for name, do := range map[string]func() error{
			"write":       func() error { return write("new", workspace.WriteOptions{}) },
			"ifNotExist":  func() error { return write("new", workspace.WriteOptions{IfNotExist: true}) },
			"ifVersion":   func() error { return write("old", workspace.WriteOptions{IfVersion: version}) },
			"copyInParts": func() error { _, err := fsys.Copy(t.Context(), "old", "new"); return err },
		} {
			if name == "copyInParts" && p.compat.ConditionalCopy {
				continue
			}
			server.ResetRequests()
			err := do()
			if !errors.Is(err, workspace.ErrUnavailable) {
				t.Errorf("%s: %s = %v, want %v", p.name, name, err, workspace.ErrUnavailable)
			}
			completed := 0
			for _, r := range server.Requests() {
				if r.Op == "CompleteMultipartUpload" {
					completed++
				}
			}
			if completed != 1 {
				t.Errorf("%s: %s is completed %d times, want once", p.name, name, completed)
			}
		}
	}
}
