package conformance_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// A provider's package has these three lines in a function TestConformance.
func ExampleRun() {
	var t *testing.T
	conformance.Run(t, func(t *testing.T) workspace.FileSystem { return memory.New(nil) }, nil)
}

// Compare runs random sequences of operations in two file systems and fails where they
// differ.
func ExampleCompare() {
	var t *testing.T
	newReference := func(t *testing.T) workspace.FileSystem { return memory.New(nil) }
	newMine := func(t *testing.T) workspace.FileSystem { return memory.New(nil) } // yours
	conformance.Compare(t, newReference, newMine, nil)
}
