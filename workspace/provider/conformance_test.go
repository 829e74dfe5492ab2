package provider_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestConformance runs the suite on the provider of the example, which leaves
// all that it may to the layer.
func TestConformance(t *testing.T) {
	conformance.Run(t, func(*testing.T) workspace.FileSystem { return New() }, nil)
}

func TestCompare(t *testing.T) {
	conformance.Compare(t,
		func(*testing.T) workspace.FileSystem { return memory.New(nil) },
		func(*testing.T) workspace.FileSystem { return New() }, nil)
}
