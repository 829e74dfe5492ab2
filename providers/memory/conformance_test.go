package memory_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, func(*testing.T) workspace.FileSystem { return memory.New(nil) }, nil)
}
