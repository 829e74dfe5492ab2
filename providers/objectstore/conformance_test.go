package objectstore_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestConformance runs the whole suite on a server of this process, and leaves out
// the long cases elsewhere. Over TLS only the checksums of what is sent differ, which then come in trailers.
func TestConformance(t *testing.T) {
	short := conformance.Options{Short: true}
	sent := conformance.Options{Only: []string{
		"ReadFile/every-byte", "ReadFile/five-mebibytes", "WriteFile/five-mebibytes", "WriteFile/every-byte", "WriteFile/empty",
		"WriteFile/if-version-race", "WriteFile/large-conditions", "Create/large-in-parts", "Create/large-conditions",
		"Copy/large", "Move/file", "Rm/recursive", "Concurrency/never-torn-streams",
	}}
	for name, s := range map[string]struct {
		open  func(*testing.T) store
		suite conformance.Options
	}{
		"aws":      {func(t *testing.T) store { return inProcess(s3test.New(t, nil), awsCompat()) }, conformance.Options{}},
		"modest":   {func(t *testing.T) store { return inProcess(s3test.New(t, modest()), otherCompat()) }, short},
		"tls":      {func(t *testing.T) store { return inProcess(s3test.New(t, &s3test.Options{TLS: true}), awsCompat()) }, sent},
		"external": {func(t *testing.T) store { return external(t) }, short},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "modest" {
				t.Skip("-short: one kind of store is enough")
			}
			bucket := s.open(t)
			conformance.Run(t, func(t *testing.T) workspace.FileSystem { return bucket.empty(t) }, &s.suite)
		})
	}
}
