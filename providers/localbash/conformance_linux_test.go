package localbash_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestConformanceOldKernel runs the suite on the way that other operating
// systems go.
func TestConformanceOldKernel(t *testing.T) {
	conformance.Run(t, func(t *testing.T) workspace.FileSystem {
		return open(t, t.TempDir(), nil).WithoutOpenat2()
	}, &conformance.Options{Symlink: symlink})
}

func TestExactConformanceOldKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the same suite on the plain view is enough")
	}
	conformance.Run(t, func(t *testing.T) workspace.FileSystem {
		return exact(t, open(t, t.TempDir(), nil).WithoutOpenat2())
	}, nil)
}
