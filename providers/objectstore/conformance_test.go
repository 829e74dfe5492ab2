package objectstore_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestConformance(t *testing.T) {
	for name, s := range map[string]func(*testing.T) store{
		"aws":      func(t *testing.T) store { return inProcess(s3test.New(t, nil), awsCompat()) },
		"modest":   func(t *testing.T) store { return inProcess(s3test.New(t, modest()), otherCompat()) },
		"tls":      func(t *testing.T) store { return inProcess(s3test.New(t, &s3test.Options{TLS: true}), awsCompat()) },
		"external": func(t *testing.T) store { return external(t) },
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "modest" {
				t.Skip("-short: one kind of store is enough")
			}
			bucket := s(t)
			conformance.Run(t, func(t *testing.T) workspace.FileSystem { return bucket.empty(t) }, nil)
		})
	}
}
